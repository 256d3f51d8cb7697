import { resolve } from 'node:path'
import { loadRiskRules } from '../../../src-main/adapters/policy-files'
import { classify } from '../../../src-main/domain/risk'
import { type Invocation, parseShell, suspectedName, type Unfolded, unfold } from '../../../src-main/domain/shell'
import { MADE, type Tried } from './bash'

export interface Miss {
  readonly kind: 'name' | 'arguments' | 'file'
  readonly script: string
  /** What bash ran. */
  readonly ran: readonly string[]
  /** What we took it for, where that is known. */
  readonly seen: readonly string[] | null
}

export interface Compared {
  /** Something about the text makes the gate ask, whatever its commands are. */
  readonly asked: boolean
  /** Something ran that was not seen, and nothing about the text would have made the gate ask. */
  readonly misses: readonly Miss[]
  /** Scripts where we asked about the text, but a name that ran was not among those the destructive rules see. */
  readonly hidden: readonly string[]
}

const rules = loadRiskRules(resolve(import.meta.dirname, '../../../policies/risk'))

/** Builtins that may run what stands in their arguments, as a script, a subscript or an assignment. */
const EVALUATING = new Set(
  'eval trap source . alias let declare typeset export readonly local printf test [ read mapfile readarray unset complete compgen bind fc hash enable'.split(
    ' ',
  ),
)

/** Whether such a builtin is asked about as it stands here, which has to hold for each that ran something. */
function evaluates({ words }: Invocation): boolean {
  const head = words[0]?.value
  if (head === null || head === undefined || !EVALUATING.has(head)) return false
  const text = words.map(({ shape }) => `'${shape.replaceAll("'", "'\\''")}'`).join(' ')
  return classify(text, { rules, posture: 'every-segment' }).risk !== 'read_only'
}

interface Seen extends Pick<Unfolded, 'invocations' | 'commands'> {
  readonly asked: boolean
}

function see(script: string): Seen {
  const parsed = parseShell(script)
  const { invocations, commands, cut, findings } = unfold(parsed)
  const asked =
    cut ||
    parsed.tooLarge ||
    parsed.tooDeep ||
    parsed.findings.length > 0 ||
    findings.length > 0 ||
    parsed.commands.some(({ words }) => words[0]?.value === null) ||
    invocations.some((invocation) => invocation.words[0]?.value === null || evaluates(invocation))
  return { invocations, commands, asked }
}

/** Whether something about a text makes the gate ask, whatever its commands are. */
export const asks = (script: string): boolean => see(script).asked

/** Compares what a script ran in bash with what we see in its text. */
export function compare(script: string, tried: readonly Tried[]): Compared {
  const { invocations, commands, asked } = see(script)
  const literal = new Map<string, (readonly string[])[]>()
  const shapes = new Set<string>()
  for (const { words } of invocations) {
    const head = words[0]
    if (!head) continue
    shapes.add(head.shape)
    shapes.add(suspectedName(head))
    if (head.value === null) continue
    const argv = words.map((word) => word.value)
    const list = literal.get(head.value) ?? []
    // A word that is only known at run time may come to anything, so such a list is not compared.
    list.push(argv.every((value) => value !== null) ? argv : [])
    literal.set(head.value, list)
  }
  const misses: Miss[] = []
  const hidden: string[] = []
  const targets = commands.flatMap(({ redirections }) => redirections.map(({ target }) => target?.value))
  // A target that is only known at run time may be any file, and asks.
  const anyFile = asked || targets.includes(null)
  for (const ran of tried) {
    const name = ran[0] as string
    if (name === MADE) {
      if (!anyFile && !targets.includes(ran[1])) misses.push({ kind: 'file', script, ran, seen: null })
      continue
    }
    const known = literal.get(name)
    if (known === undefined) {
      if (!asked) misses.push({ kind: 'name', script, ran, seen: null })
      else if (!shapes.has(name)) hidden.push(name)
      continue
    }
    if (asked || known.some((argv) => argv.length === 0)) continue
    const same = known.some((argv) => argv.length === ran.length && argv.every((value, i) => value === ran[i]))
    if (!same) misses.push({ kind: 'arguments', script, ran, seen: known[0] ?? null })
  }
  return { asked, misses, hidden }
}
