import {
  type Envelope,
  type ExecutionView,
  type Failure,
  NomosError,
  type RouteInput,
  type RouteName,
  type RouteOutput,
  routes,
} from '../../src-preload/contract'
import {
  type AnswerResult,
  type ApprovalView,
  type DoctorCheck,
  FINAL_STATES,
  type Principal,
  type Shown,
} from '../../src-preload/contract/model'
import { answerPlaceOf } from '../domain/approval'
import type { Caller, Clock, Dispatch, Feed, Ids, Log, Store } from '../ports'
import type { AgentLoop } from './agent-loop'
import type { Announcements } from './announcements'
import type { ApprovalDesk } from './approval-desk'
import type { ChatAnswers } from './chat-answers'
import type { Fleet } from './fleet'
import type { Gate, RunRequest } from './gate'
import type { Health } from './health'
import type { Policy } from './policy'
import type { PolicyDesk } from './policy-desk'
import type { Preview } from './preview'
import { parseRunCommand } from './run-command'
import type { Settings } from './settings'
import { withParts } from './understanding'
import type { Undo } from './undo'

export interface ApiDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly feed: Feed
  readonly log: Log
  readonly health: Health
  readonly gate: Gate
  readonly desk: ApprovalDesk
  readonly loop: AgentLoop
  readonly fleet: Fleet
  readonly policy: Policy
  readonly policyDesk: PolicyDesk
  readonly settings: Settings
  readonly chatAnswers: ChatAnswers
  readonly undo: Pick<Undo, 'request' | 'stateOf'>
  readonly preview: Preview
  readonly announcements: Pick<Announcements, 'shown'>
  readonly doctor: () => Promise<readonly DoctorCheck[]>
  readonly version: string
  readonly home: string
}

/** One handler for each route, with its types. Exported for the test that an incomplete table does not compile. */
export type Handlers = {
  readonly [R in RouteName]: (caller: Caller, input: RouteInput<R>) => RouteOutput<R> | Promise<RouteOutput<R>>
}

const done = { done: true } as const
/** More than this cannot be read by anybody; the oldest are asked for page by page. */
const MOST_PENDING = 1000
/** Dependents named on a card; the others are counted. */
const MOST_DEPENDENTS = 30
const ANSWERED_AT_ONCE = 10
const NEW_SESSION = 'New session'
const TITLE_LENGTH = 60

/** Only an operator's transport gets past this: the window, or a terminal that passed the challenge. */
function requireOperator(caller: Caller): void {
  if (!caller.operator) {
    throw new NomosError(
      'forbidden',
      'Only the operator may do this, at the window or at a terminal that passed the challenge.',
    )
  }
}

/** The one table of what can be asked of the core. A route without a handler does not compile. */
export function createApi(deps: ApiDeps): Dispatch {
  const { store, clock, ids, feed, gate, desk, loop, fleet, policy, policyDesk, settings, health } = deps

  const operator = (session: string | null): Principal => ({ kind: 'operator', id: 'operator', session, turn: null })

  function requireSession(id: string) {
    const session = store.session(id)
    if (session === null)
      throw new NomosError('not_found', `There is no session "${id}" any more.`, { field: 'session' })
    return session
  }

  function requireExecution(id: string): ExecutionView {
    const execution = store.execution(id)
    if (execution === null) throw new NomosError('not_found', `There is no execution "${id}".`, { field: 'id' })
    return withLiveOutput(execution)
  }

  function requireApproval(id: string): ApprovalView {
    const approval = store.approval(id)
    if (approval === null) throw new NomosError('not_found', `There is no approval "${id}".`, { field: 'id' })
    return approval
  }

  /** What stands on a card beside the row: all of it is worked out anew each time, so that it is true at this moment. */
  function shownCard(execution: ExecutionView): ExecutionView {
    const view = withParts(execution)
    const undoState = FINAL_STATES.includes(view.state) ? deps.undo.stateOf(view) : null
    if (view.state !== 'pending_approval') return undoState === null ? view : { ...view, undoState }
    const targets = view.reached ?? [view.target]
    return {
      ...view,
      answerAt: answerPlaceOf(view),
      blast: { targets, ...store.dependentsOf(targets, MOST_DEPENDENTS) },
      preview: deps.preview.labelOf(view),
    }
  }

  /** A running execution shows what has come so far; the store knows only the end. */
  function withLiveOutput(execution: ExecutionView): ExecutionView {
    const shown = shownCard(execution)
    if (execution.state !== 'running') return shown
    const output = gate.output(execution.id)
    return output === null ? shown : { ...shown, output: output.text.slice(0, 4096), outputBytes: output.bytes }
  }

  async function requestInSession(caller: Caller, session: string | null, request: RunRequest): Promise<ExecutionView> {
    if (session !== null) {
      // What the operator typed for a session (`/elevated`, its own entries) is for what the operator asks for in it.
      requireOperator(caller)
      requireSession(session)
    }
    const execution = await gate.request(operator(session), request)
    if (session !== null) showInSession(session, execution)
    return shownCard(execution)
  }

  /** Asks for the way back as it is at this moment. `retryOf`: an undo that did not come to its end. */
  async function requestUndo(caller: Caller, id: string, retryOf: string | null): Promise<ExecutionView> {
    const before = requireExecution(id)
    const { command, purpose, input } = await deps.undo.request(before)
    return requestInSession(
      caller,
      caller.operator && before.session !== null && store.session(before.session) !== null ? before.session : null,
      {
        target: before.target,
        command,
        purpose,
        declaredRisk: null,
        cwd: null,
        verify: null,
        input,
        undoOf: id,
        retryOf,
      },
    )
  }

  /** One card for one execution in a conversation: the same request again while it waits brings no second one. */
  function showInSession(session: string, execution: ExecutionView): void {
    const last = store.messages(session, null, 50)
    if (last.some((message) => message.role === 'run' && message.executionId === execution.id)) return
    const message = store.addMessage({
      id: ids.next('msg'),
      session,
      turn: execution.id,
      role: 'run',
      text: null,
      toolCalls: [],
      callId: null,
      executionId: execution.id,
      error: null,
      at: clock.now(),
    })
    feed.publish({ type: 'message', message })
    const before = requireSession(session)
    const title =
      before.title === NEW_SESSION || before.title === ''
        ? execution.command.split('\n')[0]?.slice(0, TITLE_LENGTH)
        : undefined
    store.updateSession(session, { updatedAt: clock.now(), ...(title ? { title } : {}) })
    feed.publish({ type: 'session', session: loop.withTurn(requireSession(session)) })
  }

  /** Tells in the conversation what was set. */
  function say(session: string, text: string): string {
    const at = clock.now()
    const message = store.addMessage({
      id: ids.next('msg'),
      session,
      turn: ids.next('trn'),
      role: 'notice',
      text,
      toolCalls: [],
      callId: null,
      executionId: null,
      error: null,
      at,
    })
    feed.publish({ type: 'message', message })
    return text
  }

  /** A message: read as an answer to what waits first, then given to the agent. */
  function message(session: string, text: string, shown: readonly Shown[]): RouteOutput<'chat.send'> {
    const outcome = deps.chatAnswers.read(session, text, shown)
    switch (outcome.kind) {
      case 'answer':
      case 'queued':
        loop.append(session, text, outcome.sentence)
        return { kind: outcome.kind, executionId: null, sentence: outcome.sentence }
      case 'message':
        loop.send(session, text, outcome.sentence)
        return { kind: 'message', executionId: null, sentence: outcome.sentence }
    }
  }

  const handlers: Handlers = {
    'app.snapshot': () => ({
      boot: feed.boot,
      seq: feed.seq,
      version: deps.version,
      home: deps.home,
      targets: fleet.targets(),
      sessions: store.sessions().map((session) => loop.withTurn(session)),
      open: store.openExecutions().map(withLiveOutput),
      settings: settings.view(),
      policy: policy.show('main'),
      health: health.list(),
      ui: { ...settings.ui() },
    }),
    'ui.save': (_caller, values) => {
      settings.saveUi(values)
      return done
    },
    'health.act': async (caller, { code, action }) => {
      requireOperator(caller)
      await health.act(code, action)
      return done
    },

    'sessions.create': (_caller, { title }) => {
      const at = clock.now()
      const session = {
        id: ids.next('ses'),
        title: title || NEW_SESSION,
        createdAt: at,
        updatedAt: at,
        turn: 'idle' as const,
      }
      store.createSession(session)
      feed.publish({ type: 'session', session })
      return session
    },
    'sessions.rename': (_caller, { id, title }) => {
      requireSession(id)
      store.updateSession(id, { title })
      const session = loop.withTurn(requireSession(id))
      feed.publish({ type: 'session', session })
      return session
    },
    'sessions.remove': (_caller, { id }) => {
      requireSession(id)
      loop.discard(id)
      policy.clearSession(id, 'operator')
      store.removeSession(id)
      feed.publish({ type: 'session-removed', id })
      return done
    },
    'sessions.messages': (_caller, { id, before, limit }) => {
      requireSession(id)
      const rows = store.messages(id, before, limit + 1)
      const messages = rows.slice(-limit).map((message) => loop.live(message))
      const cards = messages.flatMap(({ executionId }) => executionId ?? [])
      return {
        messages,
        executions: store.executionsOfSession(id, cards).map(withLiveOutput),
        more: rows.length > limit,
      }
    },

    'chat.send': async (caller, { session, text, shown }) => {
      requireSession(session)
      const parsed = parseRunCommand(text)
      switch (parsed.kind) {
        case 'invalid':
          throw new NomosError('bad_input', parsed.message, { field: parsed.field })
        case 'message':
          if (text.trim() === '')
            throw new NomosError('bad_input', 'The message is empty. Write something first.', { field: 'text' })
          requireOperator(caller)
          return message(session, text, shown ?? [])
        case 'approve': {
          requireOperator(caller)
          const sentence = await deps.chatAnswers.approve(parsed, text.trim())
          return { kind: 'answer', executionId: null, sentence: say(session, sentence) }
        }
        case 'run': {
          const execution = await requestInSession(caller, session, {
            target: parsed.target,
            command: parsed.command,
            purpose: parsed.purpose,
            declaredRisk: null,
            cwd: null,
            verify: null,
          })
          return { kind: 'run', executionId: execution.id }
        }
        case 'session': {
          requireOperator(caller)
          policy.setSession(session, parsed.change, 'operator')
          return { kind: 'policy', executionId: null, sentence: say(session, parsed.sentence) }
        }
      }
    },
    'chat.stop': (_caller, { session }) => {
      loop.stop(session)
      return done
    },
    'chat.retry': (_caller, { session }) => {
      loop.retry(session)
      return done
    },

    'executions.get': (_caller, { id }) => requireExecution(id),
    'executions.list': (_caller, { states, before, limit, filter }) => {
      const rows = store.executions({ ...(states ? { states } : {}), before, limit: limit + 1, filter })
      return { executions: rows.slice(0, limit).map(withLiveOutput), more: rows.length > limit }
    },
    'executions.request': (caller, { target, command, purpose, session }) =>
      requestInSession(caller, session, { target, command, purpose, declaredRisk: null, cwd: null, verify: null }),
    'executions.cancel': async (caller, { id }) => {
      await gate.cancel(id, caller.operator ? 'operator' : caller.surface, caller.surface)
      return requireExecution(id)
    },
    'executions.start': async (caller, { id }) => {
      requireOperator(caller)
      await gate.startApproved(id)
      return requireExecution(id)
    },
    'executions.again': async (caller, { id }) => {
      const before = requireExecution(id)
      // What it was to read is not part of its words: without it, it would empty what it was to put back.
      if (before.undoOf) return requestUndo(caller, before.undoOf, id)
      const request = gate.again(id)
      if (request === null) {
        throw new NomosError('conflict', 'It held a secret that is not kept any more. Write the command again.', {
          field: 'id',
        })
      }
      return requestInSession(
        caller,
        // Somebody at the socket asks again on their own.
        caller.operator && before.session !== null && store.session(before.session) !== null ? before.session : null,
        {
          ...request,
          retryOf: id,
        },
      )
    },
    'executions.output': (_caller, { id, offset, limit }) => {
      const execution = requireExecution(id)
      const kept = gate.output(id)
      const text = kept?.text ?? execution.output
      return {
        text: text.slice(offset, offset + limit),
        offset: Math.min(offset, text.length),
        start: 0,
        end: text.length,
        live: kept?.live ?? false,
      }
    },

    'executions.preview': (_caller, { id }) => deps.preview.show(requireExecution(id)),
    'executions.undo': (caller, { id }) => requestUndo(caller, id, null),

    'approvals.pending': () =>
      store.executions({ states: ['pending_approval'], before: null, limit: MOST_PENDING }).map(shownCard),
    'approvals.answerMany': async (caller, { items, answer }) => {
      requireOperator(caller)
      const results: AnswerResult[] = []
      // Each is written to the disk on its own; windows and other surfaces are served in between.
      for (let at = 0; at < items.length; at += ANSWERED_AT_ONCE) {
        if (at > 0) await new Promise((go) => setImmediate(go))
        results.push(...desk.answerMany(caller, items.slice(at, at + ANSWERED_AT_ONCE), answer))
      }
      return { results }
    },
    'approvals.shown': (caller, { items }) => {
      requireOperator(caller)
      deps.announcements.shown(items.map(({ id }) => id))
      return done
    },
    'approvals.answer': (caller, { id, answer, digest }) =>
      answer.kind === 'approve-always'
        ? desk.answerAlways(caller, id, answer, digest)
        : desk.answer(caller, id, answer, digest),

    'ledger.page': (_caller, { before, limit }) => {
      const rows = store.ledgerPage(before, limit + 1)
      return { entries: rows.slice(0, limit), more: rows.length > limit }
    },
    'ledger.verify': () => store.verifyLedger(),

    'hosts.list': () => fleet.hosts(),
    'hosts.save': (caller, { host, replaces }) => {
      requireOperator(caller)
      return fleet.save(host, replaces)
    },
    'hosts.remove': (caller, { slug }) => {
      requireOperator(caller)
      fleet.remove(slug)
      return done
    },
    'hosts.test': (caller, { host, passphrase }) => {
      requireOperator(caller)
      return fleet.test(host, passphrase)
    },
    'hosts.trust': async (caller, { host, fingerprint }) => {
      requireOperator(caller)
      await fleet.trust(host, fingerprint)
      return done
    },

    'settings.get': () => settings.view(),
    'settings.saveModel': (caller, input) => {
      requireOperator(caller)
      return settings.saveModel(input)
    },
    'settings.savePreferences': (caller, input) => {
      requireOperator(caller)
      return settings.savePreferences(input)
    },
    'settings.saveDesktop': (caller, input) => {
      requireOperator(caller)
      return settings.saveDesktop(input)
    },
    'policy.show': () => policy.show('main'),
    'policy.setSwitch': (caller, { name, on }) => {
      requireOperator(caller)
      policy.setSwitch(name, on, 'operator')
      return policy.show('main')
    },
    'policy.setNeverAuto': (caller, { target, on }) => {
      requireOperator(caller)
      // Switched off also for one that is gone, so that nothing is left behind.
      if (on) fleet.resolve(target)
      policy.setNeverAuto(target, on, 'operator')
      return policy.show('main')
    },
    'policy.inspect': (_caller, { agent, target, session }) => policyDesk.inspect(agent, target, session),
    'policy.save': (caller, input) => {
      requireOperator(caller)
      return policyDesk.save(input)
    },
    'policy.allowlistAdd': (caller, { agent, entry, baseVersion }) => {
      requireOperator(caller)
      return policyDesk.allowlistAdd(agent, entry, baseVersion)
    },
    'policy.allowlistRemove': async (caller, { agent, id, baseVersion }) => {
      requireOperator(caller)
      await policyDesk.allowlistRemove(agent, id, baseVersion)
      return done
    },
    'policy.fileGet': (_caller, { file }) => policyDesk.fileGet(file),
    'policy.fileSet': (caller, { file, text, baseVersion, dryRun }) => {
      requireOperator(caller)
      return policyDesk.fileSet(file, text, baseVersion, dryRun)
    },
    'policy.preset': (caller, { name, dryRun }) => {
      requireOperator(caller)
      return policyDesk.preset(name, dryRun)
    },
    'policy.undo': (caller) => {
      requireOperator(caller)
      return policyDesk.undo()
    },
    'policy.clearSession': (caller, { session }) => {
      requireOperator(caller)
      policy.clearSession(session, 'operator')
      return policy.show('main')
    },
    'policy.simulate': (_caller, input) => policyDesk.simulate(input),
    'policy.replay': (_caller, { agent, draft, limit }) => policyDesk.replay(agent, draft, limit),
    'grants.kinds': () => policyDesk.grantKinds(),
    'grants.list': () => policy.grants(),
    'grants.add': (caller, input) => {
      requireOperator(caller)
      return policyDesk.addGrant(input)
    },
    'grants.revoke': (caller, { id }) => {
      requireOperator(caller)
      policyDesk.revokeGrant(id)
      return done
    },
    'approvals.alwaysOffer': (_caller, { id }) =>
      policyDesk.alwaysOffer(requireExecution(requireApproval(id).executionId)),
    'policy.setCompound': (caller, { compound }) => {
      requireOperator(caller)
      return settings.saveCompound(compound)
    },
    'doctor.run': () => deps.doctor(),
  }

  return async (caller, route, input) => {
    try {
      if (!Object.hasOwn(routes, route)) {
        return fail({
          code: 'unknown_route',
          message: `There is no request "${route.slice(0, 100)}".`,
          field: 'route',
          detail: null,
        })
      }
      const name = route as RouteName
      const parsed = routes[name].input.safeParse(input)
      if (!parsed.success) {
        const issue = parsed.error.issues[0]
        const field = issue?.path.map(String).join('.') ?? ''
        return fail({
          code: 'bad_input',
          message: `${field === '' ? 'The input' : `"${field}"`}: ${issue?.message ?? 'not valid'}.`,
          field: field || null,
          detail: null,
        })
      }
      // The table is typed by route; TypeScript cannot follow that the parsed input belongs to the same one.
      const handler = handlers[name] as (caller: Caller, input: unknown) => unknown
      return { ok: true, value: await handler(caller, parsed.data) }
    } catch (error) {
      if (error instanceof NomosError) {
        return fail({ code: error.code, message: error.message, field: error.field, detail: error.detail })
      }
      deps.log.error('a request failed', {
        route,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
      return fail({
        code: 'internal',
        message: `Nomos failed at "${route}": ${error instanceof Error ? error.message : String(error)}. The log file has more.`,
        field: null,
        detail: null,
      })
    }
  }
}

const fail = (error: Failure): Envelope<never> => ({ ok: false, error })
