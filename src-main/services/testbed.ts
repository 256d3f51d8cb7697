import { mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FeedEvent } from '../../src-preload/contract/events'
import type { ExecutionView, Principal } from '../../src-preload/contract/model'
import { createApprovalsFile, createConfigFile } from '../adapters/approvals-file'
import { createLocalRunner } from '../adapters/local'
import { loadExecPolicies, loadRiskRules, loadUndoRules } from '../adapters/policy-files'
import { openStore, type SqliteStore } from '../adapters/sqlite'
import { resourcesFolder, systemIds } from '../adapters/system'
import { createTreeSitterParser } from '../adapters/tree-sitter'
import { CAUTIOUS, type NamedLayer, type PolicyLayer, type SkillBins, type Switches } from '../domain/policy'
import type { Clock, Inspector, Log, Runner, SecondParser, Secrets } from '../ports'
import { type ApprovalDesk, createApprovalDesk } from './approval-desk'
import { createFeed } from './feed'
import { createFleet } from './fleet'
import { createGate, type Gate, type RunRequest } from './gate'
import { createHealth, type Health } from './health'
import { createPolicy, type Policy } from './policy'
import { createPolicyDesk, type PolicyDesk } from './policy-desk'
import { createUndo, type Undo } from './undo'
import { createUndoReads } from './undo-reads'

/** A clock that runs by itself and can be moved forward; timers follow the real one. */
export function movableClock(): Clock & { move(ms: number): void } {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    after(ms, callback) {
      const timer = setTimeout(callback, ms)
      timer.unref()
      return () => clearTimeout(timer)
    },
    move(ms) {
      offset += ms
    },
  }
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }

const secondParser = createTreeSitterParser(silentLog)

/** A keyring of the test: turns the bytes around, so that what is stored is not what was given. */
export const testSecrets: Secrets = {
  available: true,
  backend: 'test',
  encrypt: (text) => Buffer.from(text, 'utf8').map((byte) => byte ^ 0x5a),
  decrypt: (bytes) => Buffer.from(bytes.map((byte) => byte ^ 0x5a)).toString('utf8'),
}

const NO_SECRETS: Secrets = {
  available: false,
  backend: 'none',
  encrypt: () => {
    throw new Error('no keyring')
  },
  decrypt: () => {
    throw new Error('no keyring')
  },
}

export interface Testbed {
  readonly home: string
  readonly store: SqliteStore
  readonly gate: Gate
  readonly desk: ApprovalDesk
  readonly health: Health
  readonly clock: ReturnType<typeof movableClock>
  readonly events: FeedEvent[]
  /** The real policy with its files and its desk; only with `files`. */
  readonly real: { readonly policy: Policy; readonly desk: PolicyDesk }
  /** Only with `undo`. */
  readonly undo: Undo
  readonly policy: { requested: PolicyLayer; host: PolicyLayer; switches: Switches; version: string }
  ask(command: string, more?: Partial<RunRequest>, principal?: Principal): Promise<ExecutionView>
  /** Waits until an execution has one of these states. */
  until(id: string, ...states: string[]): Promise<ExecutionView>
  approve(execution: ExecutionView, phrase?: string | null): ReturnType<ApprovalDesk['answer']>
  deny(execution: ExecutionView, note?: string | null): ReturnType<ApprovalDesk['answer']>
  /** Ends this core as a crash would (nothing is written) and starts another on the same folder. */
  restart(): Testbed
  stop(): Promise<void>
}

export const OPERATOR: Principal = { kind: 'operator', id: 'operator', session: null, turn: null }
const rules = loadRiskRules(join(resourcesFolder(), 'policies', 'risk'))
const exec = loadExecPolicies(join(resourcesFolder(), 'policies'))
const undoRules = loadUndoRules(join(resourcesFolder(), 'policies'))
const data = { ...exec, presets: Object.values(exec.presets) }

/** The gate and the desk on a real database, with the real local runner. */
export function createTestbed(
  options: {
    home?: string
    keyring?: boolean
    runner?: Runner
    headless?: boolean
    secondParser?: SecondParser
    /** The real policy over files in the home, in the place of the layers that a test sets. */
    files?: boolean
    reachable?: () => boolean
    skills?: readonly SkillBins[]
    /** Keeps what runs change, with the shipped rules. */
    undo?: boolean
    inspector?: Inspector
  } = {},
): Testbed {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'nomos-gate-'))
  const clock = movableClock()
  const events: FeedEvent[] = []
  const feed = createFeed('boot', silentLog)
  feed.subscribe(({ event }) => events.push(event))
  const health = createHealth(feed)
  const store = openStore(home)
  const local = options.runner ?? createLocalRunner()
  const policy = {
    requested: CAUTIOUS,
    host: CAUTIOUS,
    switches: { askAboutEverything: false, pauseAutomatic: false },
    version: 'p1',
  }
  const layers = (): readonly NamedLayer[] => [
    { name: 'requested-policy', layer: policy.requested },
    { name: 'host-policy', layer: policy.host },
  ]
  const fleet = createFleet({
    store,
    clock,
    feed,
    probe: {
      test: () => Promise.reject(new Error('not in this test')),
      trust: () => Promise.reject(new Error('not in this test')),
      forget: () => {},
    },
  })
  const files = { host: createApprovalsFile(home), config: createConfigFile(home) }
  const realPolicy =
    options.files === true
      ? createPolicy({
          ...files,
          data: () => data,
          skills: () => options.skills ?? [],
          store,
          feed,
          health,
          clock,
          log: silentLog,
        })
      : null
  const undo =
    options.undo === true
      ? createUndo({
          store,
          clock,
          feed,
          log: silentLog,
          secrets: options.keyring === false ? NO_SECRETS : testSecrets,
          inspectors: [options.inspector ?? createLocalRunner()],
          reads: createUndoReads({ gate: () => gate, store, feed, clock }),
          macKey: Buffer.alloc(32, 7),
          rules: () => rules,
          undoRules: () => undoRules,
          home,
          homeFolder: homedir(),
          resolve: (slug) => fleet.resolve(slug),
        })
      : null
  const gate: Gate = createGate({
    ...(undo === null ? {} : { undo }),
    store,
    clock,
    ids: systemIds(() => clock.now()),
    feed,
    log: silentLog,
    health,
    secrets: options.keyring === false ? NO_SECRETS : testSecrets,
    runners: [local],
    macKey: Buffer.alloc(32, 7),
    home,
    homeFolder: homedir(),
    rules: () => rules,
    posture: () => 'default',
    secondParser: options.secondParser ?? secondParser,
    policy: realPolicy ?? {
      layers: () => ({ layers: layers(), version: policy.version, toolDenied: false, fallbackSet: false }),
      vouch: () => ({ all: false, match: { all: false, perSegment: [] }, grant: null, steps: [], basis: '' }),
      used: () => {},
      placeRefusal: () => null,
      locates: () => false,
      switches: () => policy.switches,
    },
    ...(options.reachable === undefined ? {} : { reachable: options.reachable }),
    resolve: (slug) => fleet.resolve(slug),
    reached: (destinations) => fleet.reached(destinations),
  })
  const realDesk =
    realPolicy === null
      ? null
      : createPolicyDesk({
          ...files,
          policy: realPolicy,
          data: () => data,
          gate,
          resolve: (slug) => fleet.resolve(slug),
          targets: () => fleet.targets(),
          homeFolder: homedir(),
          store,
          feed,
          clock,
          ids: systemIds(() => clock.now()),
        })
  const desk = createApprovalDesk({
    store,
    clock,
    feed,
    log: silentLog,
    headless: options.headless ?? false,
    start: (id) => gate.startApproved(id),
    lapse: () => gate.lapse(),
    announce: (id) => gate.announce(id),
    always: {
      offer: (execution, more) =>
        realDesk?.alwaysOffer(execution, more) ?? Promise.resolve({ entries: [], refusal: 'Not in this test.' }),
      store: (execution, entries) => realDesk?.storeAlways(execution, entries) ?? Promise.resolve(),
    },
  })
  gate.recover()
  if (undo !== null) gate.onSettled((execution) => void undo.after(execution))
  const caller = { surface: 'window' as const, operator: true }
  const bed: Testbed = {
    home,
    store,
    gate,
    desk,
    health,
    clock,
    events,
    get real() {
      if (realPolicy === null || realDesk === null) throw new Error('this bed has no files')
      return { policy: realPolicy, desk: realDesk }
    },
    get undo() {
      if (undo === null) throw new Error('this bed keeps nothing')
      return undo
    },
    policy,
    ask: (command, more = {}, principal = OPERATOR) =>
      gate.request(principal, {
        target: 'local',
        command,
        purpose: null,
        declaredRisk: null,
        cwd: null,
        verify: null,
        ...more,
      }),
    async until(id, ...states) {
      const deadline = Date.now() + 15_000
      for (;;) {
        const execution = store.execution(id)
        if (execution !== null && states.includes(execution.state)) return execution
        if (Date.now() > deadline)
          throw new Error(`${id} is ${execution?.state}, not ${states.join(' or ')}: ${execution?.stateReason}`)
        await new Promise((go) => setTimeout(go, 5))
      }
    },
    approve: (execution, phrase = null) =>
      desk.answer(caller, execution.approval?.id ?? '', { kind: 'approve', phrase }, execution.approval?.digest ?? ''),
    deny: (execution, note = null) =>
      desk.answer(caller, execution.approval?.id ?? '', { kind: 'deny', note }, execution.approval?.digest ?? ''),
    restart() {
      desk.close()
      store.close()
      return createTestbed({ ...options, home })
    },
    async stop() {
      desk.close()
      await gate.close()
      await realPolicy?.close()
      store.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
  return bed
}
