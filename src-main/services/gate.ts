import { NomosError } from '../../src-preload/contract/errors'
import {
  type Classification,
  type Decision,
  type Endpoint,
  type ExecutionState,
  type ExecutionView,
  FINAL_STATES,
  Plan,
  type Posture,
  type Principal,
  RISKS,
  type Surface,
  type Target,
  type TraceStep,
} from '../../src-preload/contract/model'
import { phraseFor, planDrift, planMac, sealPlan } from '../domain/approval'
import { canonicalJson, hmac, sha256 } from '../domain/ledger'
import { compoundAlone, decide, fallbackOf, type Question, type Switches } from '../domain/policy'
import { mapSpan, redact } from '../domain/redact'
import { phraseVerb, type RuleSet } from '../domain/risk'
import type { Destination } from '../domain/shell'
import { literalArgv } from '../domain/shell'
import type { Clock, Feed, Ids, Log, Runner, SecondParser, Secrets, Store } from '../ports'
import { createGateJudge, type Looked, tagsOf, validate } from './gate-judge'
import { resultText } from './gate-result'
import { AUTOMATIC_LIMIT_MS, createGateRuns } from './gate-runs'
import type { Health } from './health'
import { type Layers, type Policy, type PolicyFiles, policyAgent, type Vouch } from './policy'
import { classifierTrace, redactClassification } from './understanding'
import type { Taken, Undo } from './undo'

/** How long an approval waits, in ms. */
export const APPROVAL_MS = 60 * 60 * 1000
/** How long a run that was agreed to may take, in ms. */
export const AGREED_LIMIT_MS = 60 * 60 * 1000
const OUTPUT_LIMIT = 1024 * 1024 * 1024

/** What may be asked of the gate. Principal and surface come from the caller's channel, never from here. */
export interface RunRequest {
  readonly target: string
  readonly command: string
  readonly purpose: string | null
  readonly declaredRisk: string | null
  readonly cwd: string | null
  readonly verify: string | null
  readonly env?: Readonly<Record<string, string>>
  readonly retryOf?: string | null
  /** What the command reads from its standard input, and what that is, in words. */
  readonly input?: { readonly bytes: Uint8Array; readonly what: string } | null
  /** The execution that this one takes back. */
  readonly undoOf?: string | null
}

/** What is weighed without being asked for. */
export interface Weighable {
  readonly target: string
  readonly command: string
  readonly cwd: string | null
  readonly env?: Readonly<Record<string, string>>
  readonly declaredRisk?: string | null
}

/** A place that was resolved to a live entity. */
export interface ResolvedTarget {
  readonly target: Target
  readonly user: string | null
  readonly endpoint: Endpoint | null
  /** How many others are known to depend on it. */
  readonly dependents: number
}

export interface GateDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly feed: Feed
  readonly log: Log
  readonly health: Health
  readonly secrets: Secrets
  readonly runners: readonly Runner[]
  /** Key of the digests that the ledger keeps of plans. */
  readonly macKey: Uint8Array
  readonly home: string
  /** The user's own folder here, which `~` stands for. */
  readonly homeFolder: string
  readonly rules: () => RuleSet
  readonly posture: () => Posture
  readonly secondParser: SecondParser
  readonly policy: Pick<Policy, 'layers' | 'vouch' | 'used' | 'placeRefusal' | 'locates'> & {
    switches(): Switches
    neverAuto?(): readonly string[]
  }
  /** Left out: nothing is kept. */
  readonly undo?: Pick<Undo, 'offer' | 'take' | 'keep' | 'input'>
  /** False when nobody can be asked at this moment; then `askFallback` decides at once. Left out: somebody always can. */
  readonly reachable?: () => boolean
  /** Throws `target_unknown` with which targets exist. */
  readonly resolve: (slug: string) => ResolvedTarget
  /** Those of the destinations of a command that are known targets. */
  readonly reached: (destinations: readonly Destination[]) => readonly ResolvedTarget[]
}

export interface Gate {
  /** Judges and records a request; what may run by itself is started. Throws `NomosError` for input that no record can be made of. */
  request(principal: Principal, request: RunRequest): Promise<ExecutionView>
  /**
   * The same judgement without a record, for the simulator, for replay and for what "allow always" would store. `files` are looked at in
   * the place of those on the disk. `known` is an earlier classification that holds on.
   */
  weigh(asker: Asker, command: Weighable, files?: PolicyFiles, known?: Classification): Promise<Weighed>
  /** The plan of an execution that waits, for what "allow always" would store; null when it is gone. */
  planOf(executionId: string): Plan | null
  /** What is not any more as it was when a plan that waits was made, for people; empty when nothing is. */
  driftOf(plan: Plan, weighed: Pick<Weighed, 'looked' | 'layers'>): readonly string[]
  /**
   * Nobody could be told that this waits: `askFallback` decides, as it is at this moment. Does nothing when it is settled already.
   */
  undelivered(executionId: string): Promise<void>
  /** Starts what was approved and is not claimed yet, with the digest that was agreed to. */
  startApproved(executionId: string): Promise<void>
  /** Ends what was approved and was not started before its approval ran out: nobody is left waiting for it. */
  lapse(): void
  /** Ends a run, or withdraws what still waits. Throws when it is final already. */
  cancel(executionId: string, by: string, surface: Surface): Promise<void>
  output(executionId: string): { readonly text: string; readonly live: boolean; readonly bytes: number } | null
  /** The result for a model: state, exit code, output; a denied request never has any output. */
  resultText(executionId: string): string
  /** True when the plan of an execution can still be had. */
  hasPlan(executionId: string): boolean
  /** The original command and request, for "Run again"; null when it held a secret and is gone. */
  again(executionId: string): RunRequest | null
  /** Settles what the last end of the core left behind. Called once, before anything else. */
  recover(): void
  /** Tells windows and listeners the state of an execution that somebody else (the approval desk) has changed. */
  announce(executionId: string): void
  /** Called for every execution that became final. */
  onSettled(listener: (execution: ExecutionView) => void): void
  /** Stops all runs and waits for their ends to be written. */
  close(): Promise<void>
}

/** A declared risk as it may be written down: one of the four, or that it was none of them. */
const knownRisk = (declared: string | null): string | null =>
  declared === null || declared === '' ? null : (RISKS.find((risk) => risk === declared) ?? 'unknown')

/** Stands in the trace of exactly those runs whose plan has the sandbox `files`; `ExecutionView.sandbox` is read from it. */
const SANDBOXED: TraceStep = {
  layer: 'gate',
  rule: 'sandbox.files',
  verdict: 'read_only',
  sentence: 'Runs in a sandbox: the whole system read-only, no network, no sockets of services, no other processes.',
  spans: [],
}

export { policyAgent } from './policy'

/** What the policy says about a command at its place. Nothing of it is recorded. */
export interface Weighed {
  readonly looked: Looked
  readonly classification: Classification
  /** The same, redacted: the only form that leaves the gate. */
  readonly shown: Classification
  readonly question: Question
  readonly layers: Layers
  readonly vouch: Vouch
  readonly decision: Decision
  /** What an automatic run relied on beside the layers; null when it would have run without. */
  readonly basis: string | null
}

/** Who asks, as far as the policy looks at it. */
export interface Asker {
  readonly agent: string
  readonly session: string | null
  readonly runbook: string | null
}

const askerOf = (principal: Principal): Asker => ({
  agent: policyAgent(principal),
  session: principal.session,
  runbook: principal.kind === 'runbook' ? principal.id.replace(/^runbook:/, '') : null,
})

/** The version of the policy in a plan: its layers and, where a run relied on somebody vouching for it, on what exactly. */
const planVersion = ({ version }: Layers, basis: string | null): string =>
  basis === null ? version : `${version}+${basis}`

export function createGate(deps: GateDeps): Gate {
  const { store, clock, ids, feed, log, health } = deps
  /** Plans of open executions, and of those whose plan may not be written. */
  const plans = new Map<string, Plan>()
  /** What was asked for, by execution: for "Run again" of this start of the core. */
  const requests = new Map<string, RunRequest>()
  /** What open executions are to read, by hash. */
  const inputs = new Map<string, Uint8Array>()
  const listeners = new Set<(execution: ExecutionView) => void>()
  let closing = false

  function runnerFor(kind: Plan['kind']): Runner {
    const runner = deps.runners.find((candidate) => candidate.kind === kind)
    if (runner === undefined)
      throw new NomosError('target_unknown', `Targets of kind "${kind}" cannot be run at here.`, { field: 'target' })
    return runner
  }

  const { look, planOf, judge, requireRead } = createGateJudge({ ...deps, runnerFor })
  const runs = createGateRuns({ store, clock, feed, log, health, runnerFor, changed })

  function changed(executionId: string): ExecutionView {
    const execution = requireExecution(executionId)
    feed.publish({ type: 'execution', id: execution.id, session: execution.session, state: execution.state })
    if (FINAL_STATES.includes(execution.state)) {
      const input = plans.get(executionId)?.input
      if (input) inputs.delete(input.sha256)
      plans.delete(executionId)
      for (const listener of listeners) {
        try {
          listener(execution)
        } catch (error) {
          log.error('a listener of settled executions failed', { id: executionId, error: String(error) })
        }
      }
    }
    return execution
  }

  function requireExecution(id: string): ExecutionView {
    const found = store.execution(id)
    if (found === null) throw new NomosError('not_found', `There is no execution "${id}".`, { field: 'id' })
    return found
  }

  /** The operator has switched automatic runs off for the target, or for one that the command reaches. */
  function neverAutoAt({ resolved, reached }: Looked): boolean {
    const off = deps.policy.neverAuto?.() ?? []
    return off.length > 0 && [resolved, ...reached].some(({ target }) => off.includes(target.slug))
  }

  // ---- asking

  async function weigh(
    asker: Asker,
    command: Weighable,
    files?: PolicyFiles,
    known?: Classification,
    connect = false,
  ): Promise<Weighed> {
    const env = command.env ?? {}
    const { agent } = asker
    const looked = await look(
      command.target,
      { script: command.command, cwd: command.cwd, env },
      { agent, files, connect },
    )
    const classification = known ?? judge(command.command, command.declaredRisk ?? null, env, looked)
    // Taken together, behind everything that waits: a change of the policy meanwhile is either in all of it or in none.
    const layers = deps.policy.layers(asker.agent, asker.session, files)
    const { found } = redact(command.command)
    const shown = known ?? redactClassification(classification, found)
    const vouch = vouchFor(asker, looked, env, classification, files)
    const { resolved } = looked
    const alone: Question = {
      risk: classification.risk,
      self: classification.flags.self,
      inlineEval: classification.flags.inlineEval,
      matched: false,
      toolDenied: layers.toolDenied,
      switches: deps.policy.switches(),
      neverAuto: neverAutoAt(looked),
      target: {
        slug: resolved.target.slug,
        tags: tagsOf(looked),
        dependents: Math.max(...[resolved, ...looked.reached].map(({ dependents }) => dependents)),
      },
    }
    const before = classifierTrace(shown)
    const bare = decide(alone, layers.layers, before)
    // Nobody has to vouch for what runs anyway; then nothing is relied on that could change.
    if (bare.outcome === 'auto' || !vouch.all) {
      return { looked, classification, shown, question: alone, layers, vouch, decision: bare, basis: null }
    }
    const question = { ...alone, matched: true }
    const steps = vouch.steps.map((step) => ({ ...step, spans: step.spans.map((span) => mapSpan(found, span)) }))
    const decision = decide(question, layers.layers, [...before, ...steps])
    const basis = decision.outcome === 'auto' ? vouch.basis : null
    return { looked, classification, shown, question, layers, vouch, decision, basis }
  }

  function vouchFor(
    asker: Asker,
    looked: Looked,
    env: Readonly<Record<string, string>>,
    classification: Classification,
    files?: PolicyFiles,
  ): Vouch {
    const { target } = looked.resolved
    // A program with variables of its own is another program.
    return deps.policy.vouch(
      {
        ...asker,
        target: { slug: target.slug, kind: target.kind, tags: target.tags },
        cwd: looked.prepared.cwd ?? '',
        home: target.kind === 'local' ? deps.homeFolder : (looked.prepared.home ?? ''),
        segments: Object.keys(env).length > 0 ? null : looked.segments,
        classification,
      },
      files,
    )
  }

  async function request(principal: Principal, asked: RunRequest): Promise<ExecutionView> {
    // Reading the policy first also looks at its files again: what was mended from outside counts from this request on.
    const asker = askerOf(principal)
    deps.policy.layers(asker.agent, asker.session)
    health.requireRuns()
    validate(asked)
    const { target } = deps.resolve(asked.target)
    const refusal = deps.policy.placeRefusal(asker.agent, asker.session, target.policySource)
    if (refusal !== null) throw new NomosError('forbidden', refusal, { field: 'target' })
    const env = asked.env ?? {}
    const asking = [principal.kind, principal.id, principal.session, target.slug, asked.command, asked.cwd, env]
    const input = asked.input
      ? { sha256: sha256(asked.input.bytes), bytes: asked.input.bytes.length, what: asked.input.what }
      : null
    const key = hmac(
      deps.macKey,
      canonicalJson([...asking, asked.verify, asked.declaredRisk, ...(input === null ? [] : [input.sha256])]),
    )
    const same = pendingTwin(key, asked)
    if (same !== null) return same

    const text = redact(asked.command)
    const weighed = await weigh(asker, asked, undefined, undefined, true)
    const { looked, classification, shown, basis } = weighed
    const { prepared } = looked
    if (asked.verify !== null) await requireRead(asked.verify, target.slug, prepared.cwd, env)
    const limits = {
      timeoutMs: classification.risk === 'read_only' ? AUTOMATIC_LIMIT_MS : AGREED_LIMIT_MS,
      outputBytes: OUTPUT_LIMIT,
    }
    const fallback = withoutAnswer(weighed)
    const decided = fallback?.decision ?? weighed.decision
    const version = planVersion(weighed.layers, fallback?.basis ?? basis)
    // What somebody agrees to runs as it is shown, by a shell. What runs unasked because it only reads needs none.
    const unasked = decided.outcome === 'auto' && classification.risk === 'read_only' && input === null
    const plan = planOf(
      looked,
      {
        agent: principal.id,
        session: principal.session,
        script: asked.command,
        env,
        verify: asked.verify,
        ...(input === null ? {} : { input }),
        limits,
        argv: unasked ? literalArgv(asked.command) : null,
        sandbox: unasked ? prepared.sandbox : null,
      },
      version,
    )
    const decision = plan.sandbox === null ? decided : { ...decided, trace: [...decided.trace, SANDBOXED] }
    const now = clock.now()
    const secret =
      text.found.length > 0 ||
      redact(`${asked.verify ?? ''}\n${JSON.stringify(env)}\n${asked.cwd ?? ''}`).found.length > 0
    // Nobody is asked for something that cannot run; a read goes on and gets the runner's own words for it.
    const unknownHost = plan.kind === 'ssh' && (plan.hostKeys ?? []).length === 0
    const state: ExecutionState =
      decision.outcome === 'deny'
        ? fallback === null
          ? 'denied'
          : 'undeliverable'
        : decision.outcome === 'auto'
          ? 'requested'
          : unknownHost
            ? 'failed'
            : 'pending_approval'
    const [stateReason, failure] =
      state === 'denied'
        ? [denialSentence(decision.trace), 'policy']
        : state === 'undeliverable'
          ? [denialSentence(decision.trace), 'undeliverable']
          : state === 'failed'
            ? [
                `No key of ${target.slug} is known here, so nothing can run there. Test its connection in the fleet room and compare the fingerprint.`,
                'host_key_unknown',
              ]
            : [null, null]
    const executionId = ids.next('exe')
    const approval =
      state === 'pending_approval'
        ? {
            id: ids.next('apr'),
            executionId,
            outcome: decision.outcome === 'confirm' ? ('confirm' as const) : ('ask' as const),
            phrase:
              decision.outcome === 'confirm' ? phraseFor(phraseVerb(asked.command, classification), target.slug) : null,
            digest: plan.digest,
            createdAt: now,
            expiresAt: now + APPROVAL_MS,
          }
        : null
    // A run that only reads changes nothing that could be put back.
    const undo =
      classification.risk === 'read_only' || (state !== 'pending_approval' && state !== 'requested')
        ? null
        : ((await deps.undo?.offer({ command: asked.command, cwd: prepared.cwd }, looked)) ?? null)
    // While the place was being looked at, the same request may have come a second time.
    const twin = state === 'pending_approval' ? pendingTwin(key, asked) : null
    if (twin !== null) return twin
    store.createExecution(
      {
        id: executionId,
        principal,
        target: target.slug,
        user: plan.user,
        cwd: plan.cwd === null ? null : redact(plan.cwd).text,
        command: text.text,
        redacted: text.found.length > 0,
        purpose: asked.purpose === null ? null : redact(asked.purpose).text,
        verify: asked.verify === null ? null : redact(asked.verify).text,
        declaredRisk: knownRisk(asked.declaredRisk),
        classification: shown,
        risk: classification.risk,
        decision,
        state,
        stateReason,
        failure,
        requestedAt: now,
        retryOf: asked.retryOf ?? null,
        dedupKey: key,
        planDigest: plan.digest,
        planMac: planMac(deps.macKey, plan),
        plan: storable(plan, secret),
        facts: {
          // Who asks and in which session does not count: it is the same thing at the same place.
          group: hmac(
            deps.macKey,
            canonicalJson([target.slug, plan.user, plan.cwd, asked.command, env, asked.verify, input?.sha256 ?? null]),
          ).slice(0, 24),
          reached: [...new Set([target, ...looked.reached.map((one) => one.target)].map(({ slug }) => slug))],
          undo,
          undoOf: asked.undoOf ?? null,
        },
      },
      approval,
      now,
    )
    plans.set(executionId, plan)
    if (asked.input && input !== null) inputs.set(input.sha256, asked.input.bytes)
    if (!asked.input) remember(executionId, asked)
    if (approval !== null) feed.publish({ type: 'approval', id: approval.id, executionId })
    if (state !== 'requested') return changed(executionId)
    // The windows hear of it when it runs, a moment later.
    return (await start(executionId, 'requested', plan, principal)) ?? requireExecution(executionId)
  }

  /**
   * What `askFallback` makes of a request that would wait although nobody can be asked; null where it waits. One that nobody has set
   * waits until it runs out: somebody may come and watch.
   */
  function withoutAnswer({
    question,
    layers,
    decision,
    vouch,
  }: Weighed): { readonly decision: Decision; readonly basis: string | null } | null {
    if (decision.outcome !== 'ask' && decision.outcome !== 'confirm') return null
    if (deps.reachable?.() !== false) return null
    const { run, sentence } = fallbackOf(question, layers.layers, decision.outcome)
    if (!run && !layers.fallbackSet) return null
    const step: TraceStep = {
      layer: 'gate',
      rule: 'ask-fallback',
      verdict: run ? 'auto' : 'deny',
      sentence: `${sentence} Decided by the fallback.`,
      spans: [],
    }
    return {
      decision: { ...decision, outcome: run ? 'auto' : 'deny', trace: [...decision.trace, step] },
      basis: run && vouch.all ? vouch.basis : null,
    }
  }

  async function undelivered(executionId: string): Promise<void> {
    const execution = requireExecution(executionId)
    const { approval } = execution
    if (execution.state !== 'pending_approval' || approval === null) return
    const plan = agreedPlan(executionId)
    const asker = askerOf(execution.principal)
    let verdict = { run: false, sentence: 'Nobody can be asked, and what was asked for is not kept any more.' }
    if (plan !== null) {
      const again = { target: plan.target, command: plan.script ?? '', cwd: plan.cwd, env: plan.env }
      try {
        const { question, layers } = await weigh(asker, { ...again, declaredRisk: execution.declaredRisk })
        // What the request was judged to be stays the floor.
        const risk = RISKS[Math.max(RISKS.indexOf(question.risk), RISKS.indexOf(execution.risk))] ?? 'destructive'
        verdict = fallbackOf({ ...question, risk }, layers.layers, approval.outcome)
      } catch (error) {
        // The place is gone, or the policy cannot be read: left alone, it would wait with nobody to see it.
        const why = error instanceof Error ? error.message : String(error)
        verdict = { run: false, sentence: `Nobody can be asked, and it cannot be weighed: ${redact(why).text}` }
      }
    }
    const settlement = {
      by: 'fallback',
      surface: 'system' as const,
      words: null,
      note: `${verdict.sentence} Decided by the fallback.`,
      at: clock.now(),
    }
    const won = verdict.run
      ? store.settleApproval(approval.id, 'approved', settlement, { state: 'approved', reason: null })
      : store.settleApproval(approval.id, 'cancelled', settlement, {
          state: 'undeliverable',
          reason: verdict.sentence,
        })
    if (!won) return
    feed.publish({ type: 'approval', id: approval.id, executionId })
    changed(executionId)
    if (verdict.run) await startApproved(executionId)
  }

  function pendingTwin(key: string, asked: RunRequest): ExecutionView | null {
    const id = store.pendingByKey(key)
    if (id === null) return null
    const purpose = asked.purpose === null ? '' : redact(asked.purpose).text
    if (purpose !== '' && !(requireExecution(id).purpose ?? '').includes(purpose)) {
      store.addPurpose(id, purpose, clock.now())
      return changed(id)
    }
    return requireExecution(id)
  }

  function denialSentence(trace: readonly TraceStep[]): string {
    return trace.find(({ verdict }) => verdict === 'deny')?.sentence ?? 'The policy denies it.'
  }

  function storable(plan: Plan, secret: boolean): { json: string } | { sealed: Uint8Array } | null {
    const json = JSON.stringify(plan)
    if (!secret) return { json }
    return deps.secrets.available ? { sealed: deps.secrets.encrypt(json) } : null
  }

  function remember(executionId: string, asked: RunRequest): void {
    requests.set(executionId, asked)
    const oldest = requests.size > 512 ? requests.keys().next().value : undefined
    if (oldest !== undefined) requests.delete(oldest)
  }

  /** The plan that was agreed to, whole and unchanged; null when it is gone. */
  function agreedPlan(executionId: string): Plan | null {
    const kept = store.planMac(executionId)
    let plan = plans.get(executionId) ?? null
    if (plan === null) {
      const stored = store.storedPlan(executionId)
      if (stored === null) return null
      try {
        plan = Plan.parse(JSON.parse('json' in stored ? stored.json : deps.secrets.decrypt(stored.sealed)))
      } catch (error) {
        log.warn('a stored plan cannot be read', { id: executionId, error: String(error) })
        return null
      }
    }
    // A plan edited in the database does not fit its digest any more, or not the one the ledger knows.
    const { digest, ...open } = plan
    return sealPlan(open).digest === digest && digest === kept?.digest && planMac(deps.macKey, plan) === kept.mac
      ? plan
      : null
  }

  // ---- running

  /** Approved ones that are on their way to their start. */
  const starting = new Set<string>()
  let begun: Promise<void> = Promise.resolve()

  async function startApproved(executionId: string): Promise<void> {
    if (starting.has(executionId)) return
    starting.add(executionId)
    try {
      // Hundreds may be agreed to at once: each begins in a moment of its own, so that everything else goes on in between.
      const turn = begun
      begun = begun.then(() => new Promise((go) => setImmediate(go)))
      await turn
      await startNow(executionId)
    } finally {
      starting.delete(executionId)
    }
  }

  function lapse(): void {
    for (const { id, approval } of store.executions({ states: ['approved'], before: null, limit: 1000 })) {
      if (starting.has(id) || (approval?.expiresAt ?? 0) > clock.now()) continue
      revoke(id, 'The approval ran out before it was started. Nothing ran.', 'expired')
    }
  }

  async function startNow(executionId: string): Promise<void> {
    const execution = requireExecution(executionId)
    if (execution.state !== 'approved') {
      throw new NomosError('conflict', `It is ${execution.state}, so it cannot be started.`, { field: 'id' })
    }
    deps.policy.layers(policyAgent(execution.principal), execution.session)
    health.requireRuns()
    if ((execution.approval?.expiresAt ?? 0) <= clock.now()) {
      revoke(executionId, 'The approval ran out before it was started.', 'expired')
      throw new NomosError('expired', 'The approval ran out before it was started. Ask again.', { field: 'id' })
    }
    const plan = agreedPlan(executionId)
    if (plan === null || execution.approval?.digest !== plan.digest) {
      revoke(executionId, 'What was approved is not there any more in the form that was approved.', 'plan_lost')
      return
    }
    await start(executionId, 'approved', plan, execution.principal)
  }

  function revoke(executionId: string, why: string, failure: string): void {
    const reason = redact(why).text
    const settlement = { by: 'gate', surface: 'system' as const, words: null, note: reason, at: clock.now() }
    if (store.revokeApproval(executionId, reason, failure, settlement)) changed(executionId)
  }

  function refuse(executionId: string, from: 'requested' | 'approved', reason: string, failure: string): void {
    if (from === 'approved') revoke(executionId, reason, failure)
    else if (store.settleExecution(executionId, 'denied', redact(reason).text, failure, clock.now(), 'gate'))
      changed(executionId)
  }

  /** Looks at the place once more, compares the digest, claims, spawns. Returns once it runs, or null when it does not. */
  async function start(
    executionId: string,
    from: 'requested' | 'approved',
    agreed: Plan,
    principal: Principal,
  ): Promise<ExecutionView | null> {
    let taken: Taken | null = null
    let input: Uint8Array | undefined
    let vouched: { vouch: Vouch; segments: Looked['segments']; agent: string; reads: boolean } | null = null
    try {
      const asker = askerOf(principal)
      // Only what somebody vouched for relies on where programs are.
      const relied = from === 'requested' && agreed.policyVersion.includes('+')
      const looked = await look(agreed.target, agreed, relied ? { agent: asker.agent, connect: true } : null)
      const layers = deps.policy.layers(asker.agent, asker.session)
      if (relied) {
        // It runs because somebody vouched for it: looked at once more, word for word.
        const declared = requireExecution(executionId).declaredRisk
        const again = judge(agreed.script ?? '', declared, agreed.env, looked)
        const vouch = vouchFor(asker, looked, agreed.env, again)
        const reads = vouch.grant !== null && compoundAlone(again)
        vouched = { vouch, segments: looked.segments, agent: asker.agent, reads }
      }
      const basis = vouched === null ? null : vouched.vouch.all ? vouched.vouch.basis : 'nobody'
      const { id: agent, session } = principal
      const now = planOf(looked, { ...agreed, agent, session }, planVersion(layers, basis))
      if (now.digest !== agreed.digest) {
        refuse(
          executionId,
          from,
          `Changed since it was agreed to: ${planDrift(agreed, now).join(', ')}. Nothing ran.`,
          'drift',
        )
        return null
      }
      health.requireRuns()
      const switches = deps.policy.switches()
      const never = neverAutoAt(looked)
      if (from === 'requested' && (switches.pauseAutomatic || switches.askAboutEverything || never)) {
        refuse(executionId, from, 'A switch says since that nothing runs by itself. Nothing ran; ask again.', 'drift')
        return null
      }
      if (agreed.input) {
        const bytes = inputs.get(agreed.input.sha256) ?? deps.undo?.input(agreed.input.sha256) ?? null
        if (bytes === null || sha256(bytes) !== agreed.input.sha256) {
          refuse(
            executionId,
            from,
            `What it was to read (${agreed.input.what}) is not kept any more. Nothing ran.`,
            'drift',
          )
          return null
        }
        input = bytes
      }
      taken = (await deps.undo?.take(requireExecution(executionId), agreed)) ?? null
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      refuse(executionId, from, `It could not be prepared again: ${text}`, 'drift')
      return null
    }
    // Somebody may have ended the core, cancelled or started it in the meantime: the claim says who won.
    if (closing || !store.claim(executionId, from, clock.now())) return null
    if (taken !== null) {
      try {
        deps.undo?.keep(executionId, taken)
      } catch (error) {
        // It is claimed: not started is then its end, so that nothing changes that was said to be kept.
        const text = error instanceof Error ? error.message : String(error)
        store.settleExecution(
          executionId,
          'failed',
          redact(`What was to be kept of it could not be written down: ${text}. Nothing ran.`).text,
          'undo_not_kept',
          clock.now(),
          'gate',
        )
        return changed(executionId)
      }
    }
    if (vouched !== null) deps.policy.used(vouched.agent, vouched.vouch, vouched.segments)
    const { risk } = requireExecution(executionId)
    // What the operator has let through by name runs as if it had been agreed to; at another machine no file is pinned, so it is
    // held to the system's folders there, where its path was looked up. A line of reads that was granted as a class runs as its parts alone would.
    const reads = risk === 'read_only' || vouched?.reads === true
    runs.run(executionId, agreed, from === 'requested' && (reads || agreed.kind !== 'local'), input)
    return requireExecution(executionId)
  }

  async function cancel(executionId: string, by: string, surface: Surface): Promise<void> {
    const execution = requireExecution(executionId)
    if (execution.state === 'running' && runs.stop(executionId, by)) return
    const settlement = { by, surface, words: null, note: null, at: clock.now() }
    if (execution.state === 'pending_approval' && execution.approval !== null) {
      if (
        store.settleApproval(execution.approval.id, 'cancelled', settlement, {
          state: 'cancelled',
          reason: `Withdrawn by ${by}.`,
        })
      ) {
        feed.publish({ type: 'approval', id: execution.approval.id, executionId })
        changed(executionId)
        return
      }
    }
    if (execution.state === 'approved' || execution.state === 'requested') {
      if (
        store.settleExecution(
          executionId,
          'cancelled',
          `Cancelled by ${by} before it was started.`,
          null,
          clock.now(),
          by,
        )
      ) {
        changed(executionId)
        return
      }
    }
    throw new NomosError('already_settled', `It is ${requireExecution(executionId).state} already.`, { field: 'id' })
  }

  // ---- answers for others

  function recover(): void {
    const at = clock.now()
    for (const execution of store.openExecutions()) {
      const approval = execution.approval
      const system = { by: 'recovery', surface: 'system' as const, words: null, note: null, at }
      switch (execution.state) {
        case 'running':
          store.settleExecution(
            execution.id,
            'unknown',
            'Nomos ended while it ran. Its end was not seen; it may still be running.',
            'core_ended',
            at,
            'recovery',
          )
          break
        case 'requested':
          store.settleExecution(
            execution.id,
            'cancelled',
            'Nomos ended before it was started. Nothing ran.',
            'core_ended',
            at,
            'recovery',
          )
          break
        case 'pending_approval':
          if (approval !== null && agreedPlan(execution.id) === null) {
            const reason =
              'Plan lost: it held a secret that could not be stored safely, and Nomos was restarted. Ask again.'
            store.settleApproval(approval.id, 'cancelled', { ...system, note: reason }, { state: 'cancelled', reason })
          }
          break
        case 'approved':
          if (agreedPlan(execution.id) === null) {
            store.revokeApproval(
              execution.id,
              'Plan lost: Nomos was restarted before it was started. Nothing ran.',
              'plan_lost',
              system,
            )
          }
          break
        default:
          break
      }
      changed(execution.id)
    }
  }

  return {
    request,
    undelivered,
    startApproved,
    lapse,
    cancel,
    output: (id) => runs.outputs.get(id),
    resultText: (id) => resultText(requireExecution(id), runs.outputs.get(id)?.text ?? null),
    weigh,
    planOf: (id) => agreedPlan(id),
    driftOf(plan, { looked, layers }) {
      const now = planOf(looked, plan, planVersion(layers, null))
      return now.digest === plan.digest ? [] : planDrift(plan, now)
    },
    hasPlan: (id) => agreedPlan(id) !== null,
    again(id) {
      const kept = requests.get(id)
      if (kept !== undefined) return kept
      const execution = requireExecution(id)
      // What it was to read is no part of its words.
      if (execution.undoOf) return null
      // What the redactor took out cannot be run again.
      const shown = [execution.cwd ?? '', execution.verify ?? '']
      if (execution.redacted || shown.some((text) => text.includes('‹redacted'))) return null
      return {
        target: execution.target,
        command: execution.command,
        purpose: execution.purpose,
        declaredRisk: execution.declaredRisk,
        cwd: execution.cwd,
        verify: execution.verify,
      }
    },
    recover,
    announce(executionId) {
      changed(executionId)
    },
    onSettled(listener) {
      listeners.add(listener)
    },
    async close() {
      closing = true
      await runs.close()
    },
  }
}
