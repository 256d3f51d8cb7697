import type { FileIdentity, Plan } from '../../../src-preload/contract/model'
import { canonicalJson, hmac, sha256 } from '../ledger'

/** The digest of a plan: SHA-256 over the canonical JSON of everything that was agreed to. */
export function planDigest(plan: Omit<Plan, 'digest'>): string {
  const { digest: _digest, ...rest } = plan as Plan
  return sha256(canonicalJson(rest))
}

/** Closes a plan with its digest. */
export const sealPlan = (plan: Omit<Plan, 'digest'>): Plan => ({ ...plan, digest: planDigest(plan) })

/** What the ledger keeps of a plan: a digest that tells nothing of a secret in it to whoever lacks the key. */
export const planMac = (key: Uint8Array, plan: Plan): string => hmac(key, plan.digest)

const FIELD_WORDS: Readonly<Partial<Record<keyof Plan, string>>> = {
  agent: 'who asked for it',
  session: 'the session',
  kind: 'the target',
  executable: 'the program file',
  programs: 'the program file',
  boundFile: 'the script file',
  cwd: 'the working folder',
  folder: 'the working folder',
  limits: 'the limits',
  user: 'the user',
  env: 'the environment',
  endpoint: "the host's address or login",
  hostKeys: "the host's known keys",
  policyVersion: 'the policy',
  target: 'the target',
  script: 'the command',
  argv: 'the command',
  sandbox: 'the sandbox',
  verify: 'the verifying command',
  input: 'what it is given to read',
}

/** Names in words what differs between two plans, a file by its name; empty when nothing does. */
export function planDrift(agreed: Plan, now: Plan): readonly string[] {
  const changed = new Set<string>()
  for (const key of Object.keys(agreed) as (keyof Plan)[]) {
    if (key === 'digest') continue
    if (canonicalJson(agreed[key]) === canonicalJson(now[key])) continue
    const name = differingFile(agreed[key], now[key])
    changed.add(`${FIELD_WORDS[key] ?? key}${name === null ? '' : ` "${name}"`}`)
  }
  return [...changed]
}

type Field = Plan[keyof Plan]

/** The file, as it was typed, that is not the same in two values of a field; null for a field that holds no files. */
function differingFile(agreed: Field, now: Field): string | null {
  const [before, after] = [filesIn(agreed), filesIn(now)]
  const lost = before.find((file) => !after.some((other) => canonicalJson(other) === canonicalJson(file)))
  const added = after.find((file) => !before.some((other) => canonicalJson(other) === canonicalJson(file)))
  return (lost ?? added)?.path ?? null
}

const filesIn = (value: Field): readonly FileIdentity[] => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((one): one is FileIdentity => typeof one === 'object' && one !== null && 'realpath' in one)
}
