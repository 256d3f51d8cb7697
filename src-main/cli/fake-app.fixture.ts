import { join } from 'node:path'
import type { Envelope, ErrorCode, FeedEvent, Numbered } from '../../src-preload/contract'
import { NomosError } from '../../src-preload/contract/errors'
import type { ApprovalView, ExecutionState, ExecutionView } from '../../src-preload/contract/model'
import { type ControlServer, createControlServer } from '../adapters/control-socket'
import type { Caller, Feed } from '../ports'

export interface FakeApp {
  readonly server: ControlServer
  readonly executions: Map<string, ExecutionView>
  readonly calls: { readonly caller: Caller; readonly route: string; readonly input: unknown }[]
  readonly refused: string[]
  output: string
  outputStart: number
  publish(event: FeedEvent): void
  /** Changes an execution and tells it. */
  change(id: string, change: Partial<ExecutionView>): void
  onRequest: (view: ExecutionView) => void
  onCancel: (id: string) => void
  /** Answers of further routes; what throws becomes a failure, as in the app. */
  readonly answers: Map<string, (input: Readonly<Record<string, unknown>>) => unknown>
}

export function approvalOf(id: string, change: Partial<ApprovalView> = {}): ApprovalView {
  return {
    id: `apr_${id}`,
    executionId: `exe_${id}`,
    state: 'pending',
    outcome: 'ask',
    phrase: null,
    digest: `digest-${id}`,
    createdAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
    settlement: null,
    ...change,
  }
}

export function executionOf(id: string, state: ExecutionState, change: Partial<ExecutionView> = {}): ExecutionView {
  const command = change.command ?? `touch ${id}`
  return {
    id: `exe_${id}`,
    session: null,
    turn: null,
    principal: { kind: 'agent', id: 'main', session: null, turn: null },
    target: 'local',
    user: null,
    cwd: null,
    command,
    redacted: false,
    purpose: 'because',
    verify: null,
    declaredRisk: null,
    classification: {
      risk: 'config_mutation',
      reasons: [{ rule: 'unknown', risk: 'config_mutation', span: null, sentence: 'It changes something.' }],
      effects: [],
      coverage: 'partial',
      spans: [{ start: 0, end: 5, risk: 'config_mutation' }],
      flags: {
        self: false,
        inlineEval: false,
        compound: false,
        unending: false,
        interactive: false,
        tooLarge: false,
        tooDeep: false,
        invisible: false,
      },
    },
    risk: 'config_mutation',
    decision: { outcome: 'ask', risk: 'config_mutation', trace: [] },
    state,
    stateReason: null,
    failure: null,
    requestedAt: 1_700_000_000_000,
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    signal: null,
    outputBytes: 0,
    output: '',
    truncated: false,
    retryOf: null,
    approval: null,
    ...change,
  }
}

/** A real control socket before an app of a few lines. */
export async function fakeApp(home: string, host: 'window' | 'headless' = 'headless'): Promise<FakeApp> {
  const listeners = new Set<(event: Numbered) => void>()
  let seq = 0
  const feed: Feed = {
    boot: 'boot_1',
    get seq() {
      return seq
    },
    publish(event) {
      seq += 1
      for (const listener of listeners) listener({ boot: 'boot_1', seq, event })
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const fail = (code: ErrorCode, message: string): Envelope<never> => ({
    ok: false,
    error: { code, message, field: null, detail: null },
  })
  const answer = (caller: Caller, route: string, given: unknown): Envelope<unknown> => {
    const input = given as Record<string, never>
    app.calls.push({ caller, route, input: given })
    const view = app.executions.get(input.id ?? '')
    switch (route) {
      case 'executions.request': {
        const made = executionOf('new', 'running', { command: input.command ?? '', target: input.target ?? '' })
        app.executions.set(made.id, made)
        setImmediate(() => app.onRequest(made))
        return { ok: true, value: made }
      }
      case 'executions.get':
        return view === undefined ? fail('not_found', 'There is no such execution.') : { ok: true, value: view }
      case 'executions.list':
        return { ok: true, value: { executions: [...app.executions.values()], more: false } }
      case 'executions.cancel':
        app.onCancel(input.id ?? '')
        return { ok: true, value: app.executions.get(input.id ?? '') }
      case 'executions.start':
        app.change(input.id ?? '', { state: 'running' })
        return { ok: true, value: app.executions.get(input.id ?? '') }
      case 'executions.output': {
        const from = Math.max(input.offset ?? 0, app.outputStart)
        const text = app.output.slice(from, from + (input.limit ?? 0))
        return { ok: true, value: { text, offset: from, start: app.outputStart, end: app.output.length, live: true } }
      }
      case 'approvals.pending':
        return { ok: true, value: [...app.executions.values()].filter((one) => one.approval?.state === 'pending') }
      case 'approvals.answer': {
        const asked = [...app.executions.values()].find((one) => one.approval?.id === input.id)
        if (asked?.approval == null) return fail('not_found', 'There is no such approval.')
        if (asked.approval.state !== 'pending') return fail('already_settled', 'It is already settled by the window.')
        const { kind, phrase } = input.answer as unknown as { kind: string; phrase?: string | null }
        const approves = kind === 'approve' || kind === 'approve-always'
        if (kind === 'approve' && asked.approval.phrase !== null && phrase !== asked.approval.phrase)
          return fail('wrong_phrase', 'That is not the phrase.')
        const approval: ApprovalView = { ...asked.approval, state: approves ? 'approved' : 'denied' }
        app.change(asked.id, { approval, state: approves ? 'running' : 'denied' })
        return { ok: true, value: approval }
      }
      default: {
        const given = app.answers.get(route)
        if (given === undefined) return fail('unknown_route', route)
        try {
          return { ok: true, value: given(input) }
        } catch (error) {
          if (!(error instanceof NomosError)) throw error
          return {
            ok: false,
            error: { code: error.code, message: error.message, field: error.field, detail: error.detail },
          }
        }
      }
    }
  }
  const refused: string[] = []
  const server = createControlServer({
    folder: join(home, 'run'),
    feed,
    host,
    runs: () => [],
    hostPid: 0,
    onRefused: (reason) => refused.push(reason),
    log: { info: () => {}, warn: () => {}, error: () => {} },
    dispatch: async (caller, route, input) => answer(caller, route, input),
  })
  const app: FakeApp = {
    server,
    refused,
    executions: new Map(),
    calls: [],
    output: '',
    outputStart: 0,
    publish: (event) => feed.publish(event),
    change(id, change) {
      const before = app.executions.get(id)
      if (before === undefined) throw new Error(`no ${id}`)
      const after = { ...before, ...change }
      app.executions.set(id, after)
      if (after.approval !== null && change.approval !== undefined)
        feed.publish({ type: 'approval', id: after.approval.id, executionId: id })
      feed.publish({ type: 'execution', id, session: null, state: after.state })
    },
    onRequest: () => {},
    onCancel: () => {},
    answers: new Map(),
  }
  await server.start()
  return app
}
