import { NomosError } from '../../src-preload/contract/errors'
import type { Classification, Plan, Posture, Reason } from '../../src-preload/contract/model'
import { sealPlan } from '../domain/approval'
import { compoundAlone, type ResolvedSegment, type Segment, segmentsOf } from '../domain/policy'
import { classify, type RuleSet, sandboxOf } from '../domain/risk'
import { carriedBy, type Destination, doubtOf, literalArgv, programsOf } from '../domain/shell'
import type { PlanDraft, Prepared, Runner, SecondParser } from '../ports'
import type { ResolvedTarget, RunRequest } from './gate'
import type { Policy, PolicyFiles } from './policy'

/** A place as it was seen: who it is, and what it holds for the command that was asked about. */
export interface Looked {
  readonly resolved: ResolvedTarget
  readonly prepared: Prepared
  /** Known targets that the command is carried on to (`ssh web1 …` from here): their tags and dependents count as well. */
  readonly reached: readonly ResolvedTarget[]
  /** The programs the command starts with their words and what each is at the place; null where the words cannot be known. */
  readonly segments: readonly ResolvedSegment[] | null
}

export interface GateJudgeDeps {
  readonly runnerFor: (kind: Plan['kind']) => Runner
  readonly resolve: (slug: string) => ResolvedTarget
  readonly reached: (destinations: readonly Destination[]) => readonly ResolvedTarget[]
  readonly rules: () => RuleSet
  readonly home: string
  readonly homeFolder: string
  /** Whether a compound command may count as a read when every part of it is one. */
  readonly posture: () => Posture
  readonly secondParser: SecondParser
  readonly policy: Pick<Policy, 'locates'>
}

/** Whose allowlist the programs are looked up for, and whether a connection may be made for that. */
export interface LookedUpFor {
  readonly agent: string
  readonly files?: PolicyFiles | undefined
  readonly connect: boolean
}

/** What is looked at a place for. `sandbox` null: none was agreed to, so none is looked for. */
type AskedOf = Pick<Plan, 'script' | 'cwd' | 'env'> & Partial<Pick<Plan, 'sandbox'>>
type AgreedOf = Pick<Plan, 'agent' | 'session' | 'script' | 'env' | 'verify' | 'limits' | 'argv' | 'sandbox' | 'input'>

/** The gate's first half: what a command means at its place, and the plan that would be agreed to. It changes nothing. */
export interface GateJudge {
  /** What the place looks like at this moment for a command. `lookUp` null: no allowlist will be compared with it. */
  look(slug: string, command: AskedOf, lookUp: LookedUpFor | null): Promise<Looked>
  /**
   * The plan as it would be made at this moment. Without an `argv` agreed to, a shell runs the script; with one it is derived again, and
   * so is the sandbox.
   */
  planOf(looked: Looked, agreed: AgreedOf, policyVersion: string): Plan
  /** The classifier's word for a text at a place, raised by what the place itself shows. */
  judge(
    command: string,
    declaredRisk: string | null,
    env: Readonly<Record<string, string>>,
    looked: Looked,
  ): Classification
  /** Throws `bad_input` unless a verifying command would run unasked at that place. */
  requireRead(verify: string, slug: string, cwd: string | null, env: Readonly<Record<string, string>>): Promise<void>
}

/** The tags of the target and of those that a command is carried on to. */
export const tagsOf = ({ resolved, reached }: Looked): readonly string[] => [
  ...new Set([resolved, ...reached].flatMap(({ target }) => target.tags)),
]

/** Steps that need the world come after the classifier and may only raise. */
function raiseByWorld(
  classification: Classification,
  command: string,
  env: Readonly<Record<string, string>>,
  prepared: Prepared,
  secondParser: SecondParser,
): Classification {
  const started = new Set(programsOf(command).programs)
  const reasons: Reason[] = []
  const raise = (rule: string, sentence: string): void => {
    reasons.push({ rule, risk: 'config_mutation', span: null, sentence })
  }
  // A line of reads that is asked about for being several is let through by a grant for reads, so it is looked at as a read is.
  if (
    classification.risk === 'read_only' ||
    classification.risk === 'reversible_low' ||
    compoundAlone(classification)
  ) {
    for (const { program, path, trusted } of prepared.resolved) {
      // Others were looked up for the allowlist alone.
      if (trusted || !started.has(program)) continue
      raise(
        path === null ? 'gate.program-not-found' : 'gate.program-not-of-the-system',
        path === null
          ? `"${program}" was not found, so nobody knows what it would do.`
          : `"${program}" would be ${path}, which is not in a folder of the system.`,
      )
    }
    for (const { rule, sentence } of prepared.findings) raise(rule, sentence)
    for (const text of [command, ...carriedBy(command).scripts]) {
      const doubt = doubtOf(text, secondParser.commandNames(text))
      if (doubt !== null) raise('gate.second-parser', doubt)
    }
    const [variable] = Object.keys(env)
    if (variable !== undefined) {
      raise('gate.environment', `It gets the variable "${variable}", which may change what it does.`)
    }
  }
  if (reasons.length === 0) return classification
  return { ...classification, risk: 'config_mutation', reasons: [...classification.reasons, ...reasons] }
}

/** Refuses what no record can be made of, naming the field and the remedy. */
export function validate(request: RunRequest): void {
  if (request.command.includes('\0')) {
    throw new NomosError('command_nul', 'The command holds a NUL character, which a shell drops silently. Remove it.', {
      field: 'command',
    })
  }
  if (/\p{Surrogate}/u.test(request.command)) {
    throw new NomosError(
      'bad_input',
      'The command holds half of a character, which no shell can be given. Remove it.',
      {
        field: 'command',
      },
    )
  }
  if (request.command.trim() === '')
    throw new NomosError('command_empty', 'The command is empty. Write what should run.', { field: 'command' })
  for (const name of Object.keys(request.env ?? {})) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new NomosError('bad_input', `"${name}" is not a name of a variable. Use letters, digits and underscores.`, {
        field: 'env',
      })
    }
  }
}

/** The segments of a command with what the place says their programs are. A place that says nothing knows no path. */
function resolvedSegments(segments: readonly Segment[] | null, prepared: Prepared): readonly ResolvedSegment[] | null {
  if (segments === null) return null
  const found = new Map(prepared.resolved.map((one) => [one.program, one]))
  return segments.map((segment) => {
    const own = found.get(segment.argv[0] ?? '')
    return {
      ...segment,
      path: own?.path ?? null,
      real: own?.real ?? null,
      trusted: own?.path != null && own.trusted,
      wrappersTrusted: segment.wrappers.every((wrapper) => {
        const one = found.get(wrapper)
        return one?.path != null && one.trusted
      }),
    }
  })
}

const draftOf = (
  plan: AskedOf & Pick<Plan, 'target' | 'endpoint' | 'user'>,
  segments: readonly Segment[] | null,
  rules: RuleSet,
  locate: PlanDraft['locate'],
): PlanDraft => {
  const script = plan.script ?? ''
  const { programs, pins, fileOperand, sourced, unpinnable } = programsOf(script)
  const argv = literalArgv(script)
  return {
    target: plan.target,
    script,
    argv,
    sandbox: argv === null || plan.sandbox === null ? null : sandboxOf(argv, rules),
    // What is pinned comes first; the rest is only looked up, to be compared with the allowlist.
    programs: [
      ...new Set([...programs, ...(segments ?? []).flatMap(({ argv, wrappers }) => [argv[0] ?? '', ...wrappers])]),
    ],
    locate,
    pins,
    fileOperand,
    sourced,
    unpinnable,
    cwd: plan.cwd,
    env: plan.env,
    endpoint: plan.endpoint,
    user: plan.user,
  }
}

/** Makes the first half; what a part of it throws is a `NomosError`. */
export function createGateJudge(deps: GateJudgeDeps): GateJudge {
  /** Where two parsers see different programs, nobody knows which words an entry would let through. */
  const doubted = (script: string): boolean => doubtOf(script, deps.secondParser.commandNames(script)) !== null

  /** What the place looks like at this moment for a command. */
  async function look(slug: string, command: AskedOf, lookUp: LookedUpFor | null): Promise<Looked> {
    const resolved = deps.resolve(slug)
    const { target, endpoint, user } = resolved
    const segments = segmentsOf(command.script ?? '')
    const needed =
      lookUp !== null &&
      target.kind !== 'local' &&
      segments !== null &&
      deps.policy.locates(lookUp.agent, slug, lookUp.files)
    const locate = !needed ? 'no' : lookUp.connect ? 'connect' : 'connected'
    const draft = draftOf({ ...command, target: slug, endpoint, user }, segments, deps.rules(), locate)
    const [prepared] = await Promise.all([deps.runnerFor(target.kind).prepare(draft), deps.secondParser.ready()])
    return {
      resolved,
      prepared,
      segments: doubted(command.script ?? '') ? null : resolvedSegments(segments, prepared),
      reached: deps.reached(carriedBy(command.script ?? '').destinations),
    }
  }

  /** The plan as it would be made at this moment. */
  function planOf(looked: Looked, agreed: AgreedOf, policyVersion: string): Plan {
    const { prepared, resolved } = looked
    const argv = agreed.argv === null ? null : literalArgv(agreed.script ?? '')
    return sealPlan({
      v: 1,
      agent: agreed.agent,
      session: agreed.session,
      target: resolved.target.slug,
      kind: resolved.target.kind,
      user: prepared.user,
      cwd: prepared.cwd,
      folder: prepared.folder,
      argv,
      script: agreed.script,
      verify: agreed.verify,
      ...(agreed.input ? { input: agreed.input } : {}),
      env: agreed.env,
      executable: prepared.executable,
      programs: prepared.programs,
      boundFile: prepared.boundFile,
      endpoint: resolved.endpoint,
      hostKeys: prepared.hostKeys,
      sandbox: argv === null || agreed.sandbox === null ? null : prepared.sandbox,
      limits: agreed.limits,
      policyVersion,
    })
  }

  /** The classifier's word for a text at a place, raised by what the place itself shows. */
  function judge(
    command: string,
    declaredRisk: string | null,
    env: Readonly<Record<string, string>>,
    looked: Looked,
  ): Classification {
    const { resolved, prepared } = looked
    const judged = classify(command, {
      rules: deps.rules(),
      declaredRisk,
      posture: deps.posture(),
      targetKind: resolved.target.kind,
      tags: tagsOf(looked),
      nomosHome: deps.home,
      cwd: prepared.cwd,
      homeFolder: resolved.target.kind === 'local' ? deps.homeFolder : null,
    })
    return raiseByWorld(judged, command, env, prepared, deps.secondParser)
  }

  /** A verifying command runs unasked after the other, so it has to be one that would run unasked at that place. */
  async function requireRead(
    verify: string,
    slug: string,
    cwd: string | null,
    env: Readonly<Record<string, string>>,
  ): Promise<void> {
    const check = judge(verify, null, env, await look(slug, { script: verify, cwd, env }, null))
    if (check.risk === 'read_only') return
    const why = check.reasons.find(({ risk }) => risk !== 'read_only')?.sentence ?? check.risk
    throw new NomosError('bad_input', `The verifying command must only read, and this one does not: ${why}`, {
      field: 'verify',
    })
  }

  return { look, planOf, judge, requireRead }
}
