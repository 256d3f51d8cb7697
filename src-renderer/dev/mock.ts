import { dissect } from '../../src-main/domain/shell/tokens'
import type {
  Envelope,
  ErrorCode,
  ExecutionView,
  FeedEvent,
  HostTest,
  Message,
  Numbered,
  RouteArgument,
  RouteName,
  RouteOutput,
  Session,
  SettingsView,
} from '../../src-preload/contract'
import type { Bridge } from '../../src-preload/contract/bridge'
import { POLICY_TABS, useScope } from '../bridge/scope'
import * as data from './fixtures'
import { playPolicy } from './mock-policy'

/** Plays the core for the window: fixtures instead of machines. Only ever loaded by dev/index.html. */
const scene = new URLSearchParams(location.search).get('scene') ?? 'busy'
const room = new URLSearchParams(location.search).get('room') ?? 'chat'
const empty = scene === 'empty' || scene === 'new'

const executions = new Map<string, ExecutionView>()
const scenes: Readonly<Record<string, readonly ExecutionView[]>> = {
  long: data.longExecutions,
  words: data.wordsExecutions,
  desk: data.deskExecutions,
  many: data.manyExecutions,
}
const shown = (scenes[scene] ?? (empty ? [] : data.busyExecutions)).map((view) => ({
  ...view,
  ...dissect(view.command),
}))
for (const view of shown) executions.set(view.id, view)
const messages = new Map<string, readonly Message[]>()
if (!empty)
  messages.set('s1', data.conversation(scene === 'many' ? shown.slice(-3) : shown.filter((v) => v.session === 's1')))
if (scene === 'desk') {
  messages.set('s1', [
    ...(messages.get('s1') ?? []),
    data.message({
      role: 'notice',
      text: 'Exec finished (exe_undoready): systemctl stop smbd on host:media, done in 5.3 s.',
      executionId: 'exe_undoready',
    }),
    data.message({ role: 'user', text: 'ok go ahead' }),
    data.message({
      role: 'notice',
      text: 'Approved by your words “ok go ahead”: ufw allow 8443/tcp on local. Not approved: rm -rf /srv/backups/2019 on host:media, which takes its typed phrase on the card.',
    }),
  ])
}
if (scene === 'error') {
  messages.set('s1', [
    data.message({ text: 'what fills the disk of media?' }),
    data.message({ role: 'assistant', text: 'I look at the' }),
    data.message({
      role: 'notice',
      text: 'The model at http://127.0.0.1:11434/v1 refused the request: 401, the key is not accepted. Check the key in Settings, then try again.',
      error: { code: 'model_failed', retry: true },
    }),
  ])
}
let sessions: readonly Session[] = empty ? [] : data.sessions
if (scene === 'error') sessions = sessions.map((one) => ({ ...one, turn: 'idle' as const }))
let settings: SettingsView = {
  ...data.settings,
  commandHighlighting: new URLSearchParams(location.search).has('colours'),
  ...(scene === 'long' ? { desktopStatus: data.bareDesktop } : {}),
}
if (scene === 'empty')
  settings = { ...settings, model: { ...settings.model, baseUrl: '', model: '', keyStorage: 'none' } }
const basePolicy =
  scene === 'error'
    ? { ...data.policy, source: 'broken' as const, problem: 'Line 12: a comma is missing.' }
    : scene === 'desk'
      ? { ...data.policy, pauseAutomatic: true, neverAuto: ['host:strong'] }
      : data.policy
let hosts = empty ? [] : data.hosts
let seq = 0
const listeners = new Set<(event: Numbered) => void>()

function emit(event: FeedEvent): void {
  seq += 1
  for (const listener of listeners) listener({ boot: 'played', seq, event })
}

class Refused extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly field: string | null = null,
  ) {
    super(message)
  }
}

function need(id: string): ExecutionView {
  const view = executions.get(id)
  if (view === undefined) throw new Refused('not_found', `There is no request ${id}.`)
  return view
}

function put(view: ExecutionView): ExecutionView {
  executions.set(view.id, view)
  emit({ type: 'execution', id: view.id, session: view.session, state: view.state })
  return view
}

const live = new Map<string, string>()
/** Approvals that the window said it has shown, and what came with each message: for tests in the browser. */
const told: string[] = []
const sent: unknown[] = []

function play(id: string): void {
  put({ ...need(id), state: 'running', startedAt: Date.now() })
  let text = live.get(id) ?? ''
  let count = 0
  const timer = setInterval(() => {
    if (need(id).state !== 'running') return clearInterval(timer)
    count += 1
    const piece = `line ${count} of the played output\n`
    emit({ type: 'output', id, offset: text.length, text: piece, bytes: text.length + piece.length })
    text += piece
    live.set(id, text)
    if (count >= 40) {
      clearInterval(timer)
      put({
        ...need(id),
        state: 'completed',
        exitCode: 0,
        finishedAt: Date.now(),
        output: text.slice(0, 4096),
        outputBytes: text.length,
      })
    }
  }, 60)
}

function say(patch: Partial<Message> & { session: string }): Message {
  const made = data.message({ at: Date.now(), ...patch })
  messages.set(patch.session, [...(messages.get(patch.session) ?? []), made])
  emit({ type: 'message', message: made })
  return made
}

type Handlers = { [R in RouteName]: (input: RouteArgument<R>) => RouteOutput<R> | Promise<RouteOutput<R>> }

const done = { done: true as const }
const policy = playPolicy(scene, basePolicy, emit, (code, message, field) => new Refused(code, message, field ?? null))
const open = (): ExecutionView[] =>
  [...executions.values()]
    .filter((view) => ['requested', 'pending_approval', 'approved', 'running'].includes(view.state))
    .sort((a, b) => a.requestedAt - b.requestedAt)

const failedTest: HostTest = {
  ok: false,
  failure: 'host_key_unknown',
  sentence:
    'media.lan showed a key that is in no known_hosts file, so nothing was sent to it. Compare its fingerprint, then trust it.',
  detail: null,
  presented: { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:9nqZ2m0v4yBq3sJrKcE7uW1xY5tA8pLdF6hG0iN2b1w' },
  known: [],
  banner: null,
  durationMs: 120,
}

let trusted = false
let modelMessages = 0

const handlers: Handlers = {
  'approvals.answerMany': ({ items, answer }) => ({
    results: items.map(({ id, digest }, index) => {
      const view = [...executions.values()].find((one) => one.approval?.id === id)
      if (view?.approval == null || view.approval.digest !== digest)
        return { id, ok: false, code: 'not_found', sentence: `There is no request ${id}.` }
      // One of them is always lost to somebody else, so that what was refused can be looked at.
      if (scene === 'desk' && index === 1 && view.group === undefined)
        return { id, ok: false, code: 'already_settled', sentence: 'It was denied at the command line a moment ago.' }
      const approved = answer.kind === 'approve'
      put({
        ...view,
        state: approved ? 'approved' : 'denied',
        approval: {
          ...view.approval,
          state: approved ? 'approved' : 'denied',
          settlement: { by: 'operator', surface: 'window', words: null, note: null, at: Date.now() },
        },
      })
      if (approved) setTimeout(() => play(view.id), 30)
      return { id, ok: true, code: null, sentence: 'It is settled.' }
    }),
  }),
  'approvals.shown': ({ items }) => {
    told.push(...items.map(({ id }) => id))
    return done
  },
  'executions.preview': async ({ id }) => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const preview = data.previews[id]
    if (preview === undefined)
      throw new Refused('conflict', 'apt-get could not be simulated: the package lists are locked. Wait and try again.')
    return { ...preview, at: Date.now() }
  },
  'executions.undo': ({ id }) => {
    const old = need(id)
    const made = put(
      data.execution({
        id: `exe_undo${executions.size}`,
        command: old.command.replace(' stop ', ' start '),
        target: old.target,
        state: 'pending_approval',
        risk: 'reversible_low',
        operator: true,
        purpose: 'takes it back',
        patch: { requestedAt: Date.now(), undoOf: id, answerAt: 'anywhere' },
      }),
    )
    put({
      ...old,
      undoState: { state: 'asked', executionId: made.id, sentence: 'Taking it back was asked for.' },
    })
    return made
  },
  'settings.saveDesktop': (desktop) => {
    settings = { ...settings, desktop }
    return settings
  },
  'app.snapshot': () => ({
    boot: 'played',
    seq,
    version: '0.1.0',
    home: '/home/ada/.config/nomos',
    targets: empty ? data.targets.slice(0, 1) : data.targets,
    sessions,
    open: open(),
    settings,
    policy: policy.shown(),
    health: scene === 'error' ? data.health : [],
    ui: { room, session: empty ? null : 's1' },
  }),
  'ui.save': () => done,
  'health.act': () => {
    throw new Refused(
      'internal',
      'The damaged file could not be moved, because the folder cannot be written. Free it and try again.',
    )
  },
  'sessions.create': () => {
    const made: Session = {
      id: `s-${Date.now()}`,
      title: '',
      createdAt: Date.now(),
      updatedAt: Date.now(),
      turn: 'idle',
    }
    sessions = [...sessions, made]
    emit({ type: 'session', session: made })
    return made
  },
  'sessions.rename': ({ id, title }) => {
    const old = sessions.find((one) => one.id === id)
    if (old === undefined) throw new Refused('not_found', 'There is no such session.')
    const made = { ...old, title }
    sessions = sessions.map((one) => (one.id === id ? made : one))
    emit({ type: 'session', session: made })
    return made
  },
  'sessions.remove': ({ id }) => {
    sessions = sessions.filter((one) => one.id !== id)
    emit({ type: 'session-removed', id })
    return done
  },
  'sessions.messages': ({ id }) => {
    const found = messages.get(id) ?? []
    return {
      messages: found,
      executions: found.flatMap((one) => {
        const view = one.executionId === null ? undefined : executions.get(one.executionId)
        return view === undefined ? [] : [view]
      }),
      more: scene === 'long',
    }
  },
  'chat.send': ({ session, text, shown: standing }) => {
    sent.push(standing)
    if (scene === 'desk' && text === 'and then the logs') {
      say({ session, role: 'user', text })
      return { kind: 'queued', executionId: null }
    }
    const run = /^\/run\s+(\S+)\s+([\s\S]+)$/.exec(text)
    if (run !== null) {
      const target = run[1] ?? ''
      if (!data.targets.some((one) => one.slug === target)) {
        throw new Refused(
          'target_unknown',
          `There is no target ${target}. There are: ${data.targets.map((one) => one.slug).join(', ')}.`,
        )
      }
      const command = run[2] ?? ''
      const id = `x${executions.size}-${Date.now()}`
      const reads = /^(uname|df|uptime)/.test(command)
      put(
        data.execution({
          id,
          command,
          target,
          session,
          operator: true,
          purpose: null,
          risk: command.startsWith('rm') ? 'destructive' : reads ? 'read_only' : 'config_mutation',
          state: reads ? 'running' : 'pending_approval',
          patch: { requestedAt: Date.now() },
        }),
      )
      say({ session, role: 'run', text, executionId: id })
      if (reads) play(id)
      return { kind: 'run', executionId: id }
    }
    if (settings.model.baseUrl === '') {
      throw new Refused(
        'model_unset',
        'No model is set, so nobody can answer. Set one in Settings, or run a command with /run local uname -a.',
      )
    }
    say({ session, role: 'user', text })
    const id = `stream-${Date.now()}`
    say({ session, role: 'assistant', id, text: '', streaming: true })
    const words =
      'The played model answers **word by word**, in a list:\n\n- one `df -h`\n- two\n\nand a paragraph.'.split(
        /(?<= )/,
      )
    let offset = 0
    const step = (): void => {
      const piece = words.shift()
      if (piece === undefined) {
        const full = messages.get(session)?.find((one) => one.id === id)
        if (full !== undefined) emit({ type: 'message', message: { ...full, streaming: false } })
        return
      }
      const list = messages.get(session) ?? []
      messages.set(
        session,
        list.map((one) => (one.id === id ? { ...one, text: (one.text ?? '') + piece } : one)),
      )
      emit({ type: 'delta', session, messageId: id, offset, text: piece })
      offset += piece.length
      setTimeout(step, 30)
    }
    modelMessages += 1
    setTimeout(step, 100)
    return { kind: 'message', executionId: null }
  },
  'chat.stop': () => done,
  'chat.retry': () => {
    throw new Refused('model_failed', `The model was asked again and still refused the key (${modelMessages}).`)
  },
  'executions.get': ({ id }) => need(id),
  'executions.list': ({ states, before, limit, filter = {} }) => {
    if (filter.text === 'fail')
      throw new Refused('unavailable', 'The database is locked by another process. Try again.')
    const all = [...executions.values()]
      .filter((view) => states === undefined || states.includes(view.state))
      .filter((view) => filter.risks === undefined || filter.risks.includes(view.risk))
      .filter((view) => filter.target === undefined || filter.target === view.target)
      .filter((view) => filter.agent === undefined || filter.agent === view.principal.id)
      .filter((view) => filter.surface === undefined || filter.surface === view.approval?.settlement?.surface)
      .filter((view) => filter.asked !== true || view.approval !== null)
      .filter((view) => `${view.command} ${view.purpose}`.toLowerCase().includes((filter.text ?? '').toLowerCase()))
      .sort((a, b) => b.requestedAt - a.requestedAt)
    const from = before === null ? 0 : all.findIndex((view) => view.id === before) + 1
    return { executions: all.slice(from, from + limit), more: all.length > from + limit }
  },
  'executions.request': () => {
    throw new Refused('unavailable', 'The played core takes requests through the chat only.')
  },
  'executions.cancel': ({ id }) => put({ ...need(id), state: 'cancelled', finishedAt: Date.now(), signal: 'SIGTERM' }),
  'executions.start': ({ id }) => {
    play(id)
    return need(id)
  },
  'executions.again': ({ id }) => {
    const old = need(id)
    return put(
      data.execution({
        id: `again-${Date.now()}`,
        command: old.command,
        target: old.target,
        state: 'pending_approval',
        patch: { retryOf: id, requestedAt: Date.now() },
      }),
    )
  },
  'executions.output': ({ id, offset, limit }) => {
    const whole = id === 'e-output' ? data.LONG_OUTPUT : (live.get(id) ?? need(id).output)
    return {
      text: whole.slice(offset, offset + limit),
      offset,
      start: 0,
      end: whole.length,
      live: need(id).state === 'running',
    }
  },
  'approvals.pending': () => open().filter((view) => view.state === 'pending_approval'),
  'approvals.answer': ({ id, answer }) => {
    const view = [...executions.values()].find((one) => one.approval?.id === id)
    const approval = view?.approval
    if (view === undefined || approval == null) throw new Refused('not_found', 'There is no such approval.')
    if (approval.state !== 'pending') {
      throw new Refused('already_settled', 'This was already settled by the command line: denied at 14:02.')
    }
    if (scene === 'race') {
      put({
        ...view,
        state: 'denied',
        approval: {
          ...approval,
          state: 'denied',
          settlement: { by: 'operator', surface: 'cli', words: null, note: null, at: Date.now() },
        },
      })
      throw new Refused('already_settled', 'This was already settled at the command line: denied a moment ago.')
    }
    if (
      answer.kind !== 'deny' &&
      answer.kind !== 'changes' &&
      approval.phrase !== null &&
      (answer.kind === 'approve-always' || answer.phrase !== approval.phrase)
    ) {
      throw new Refused(
        'wrong_phrase',
        `The phrase does not match, so nothing was run. Type exactly: ${approval.phrase}`,
      )
    }
    const refuses = answer.kind === 'deny' || answer.kind === 'changes'
    const settled = {
      ...approval,
      state: refuses ? ('denied' as const) : ('approved' as const),
      settlement: {
        by: 'operator',
        surface: 'window' as const,
        words: answer.kind === 'approve' ? answer.phrase : null,
        note: answer.kind === 'deny' || answer.kind === 'changes' ? answer.note : null,
        at: Date.now(),
      },
    }
    put({ ...view, state: refuses ? 'denied' : 'approved', approval: settled })
    if (!refuses) setTimeout(() => play(view.id), 30)
    return settled
  },
  'ledger.page': ({ before, limit }) => {
    const all = empty ? [] : [...data.ledger].reverse().filter((entry) => before === null || entry.seq < before)
    return { entries: all.slice(0, limit), more: all.length > limit }
  },
  'ledger.verify': () => (scene === 'error' ? data.brokenReport : { intact: true, entries: 140, problem: null }),
  'hosts.list': () => hosts,
  'hosts.save': ({ host }) => {
    if (!/^[a-z0-9][a-z0-9-]*$/.test(host.slug)) {
      throw new Refused(
        'bad_input',
        'Use lower-case letters, digits and dashes, beginning with a letter or digit.',
        'host.slug',
      )
    }
    hosts = [...hosts.filter((one) => one.slug !== host.slug), host]
    emit({ type: 'hosts' })
    return host
  },
  'hosts.remove': ({ slug }) => {
    hosts = hosts.filter((one) => one.slug !== slug)
    emit({ type: 'hosts' })
    return done
  },
  'hosts.test': ({ host, passphrase }) => {
    if (host.auth === 'key' && passphrase === null && trusted) {
      return {
        ...failedTest,
        failure: 'key_passphrase_needed',
        sentence: 'The key is locked with a passphrase. Enter it to test.',
        known: failedTest.presented === null ? [] : [failedTest.presented],
      }
    }
    if (host.slug === 'changed' && failedTest.presented !== null) {
      return {
        ...failedTest,
        failure: 'host_key_changed',
        sentence:
          'The host showed another key than the one that is known, so nothing was sent to it. If it was set up anew, remove the old key; if not, somebody may be in between.',
        known: [{ algorithm: 'ssh-ed25519', fingerprint: 'SHA256:Zk2f0uM9sQ1wE8rT3yU6iO5pA4sD7fG2hJ0kL9zX0aE' }],
      }
    }
    if (!trusted) return failedTest
    return {
      ...failedTest,
      ok: true,
      failure: null,
      sentence: 'The host answers and lets this user in.',
      banner: 'Linux 6.1.0-18-amd64',
      known: failedTest.presented === null ? [] : [failedTest.presented],
    }
  },
  'hosts.trust': () => {
    trusted = true
    return done
  },
  'settings.get': () => settings,
  'settings.saveModel': (input) => {
    if (input.baseUrl !== '' && !input.baseUrl.startsWith('http')) {
      throw new Refused('bad_input', 'Use an address that begins with http:// or https://.', 'baseUrl')
    }
    settings = {
      ...settings,
      model: {
        ...settings.model,
        baseUrl: input.baseUrl,
        model: input.model,
        keyStorage: input.apiKey === null ? settings.model.keyStorage : input.apiKey === '' ? 'none' : 'memory',
      },
    }
    return settings
  },
  'settings.savePreferences': (input) => {
    settings = {
      ...settings,
      ...input,
      commandHighlighting: input.commandHighlighting ?? settings.commandHighlighting,
    }
    return settings
  },
  ...policy.handlers,
  'policy.setCompound': ({ compound }) => {
    settings = { ...settings, compound }
    return settings
  },
  'doctor.run': () => data.doctor,
}

/** So many new requests at once. */
function arrive(count: number): void {
  for (let i = 0; i < count; i += 1) {
    const id = `exe_new${executions.size}`
    put(data.execution({ id, command: `true ${id}`, state: 'pending_approval', patch: { requestedAt: Date.now() } }))
  }
}

const bridge: Bridge & {
  emit: typeof emit
  arrive: typeof arrive
  told: readonly string[]
  sent: readonly unknown[]
} = {
  platform: 'linux',
  emit,
  arrive,
  told,
  sent,
  request: async (route, input): Promise<Envelope<unknown>> => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    try {
      const handler = handlers[route as RouteName] as (input: unknown) => unknown
      return { ok: true, value: structuredClone(await handler(input)) }
    } catch (error) {
      if (error instanceof Refused) {
        return { ok: false, error: { code: error.code, message: error.message, field: error.field, detail: null } }
      }
      throw error
    }
  },
  onEvent: (listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

Object.defineProperty(window, 'nomos', { value: bridge })
const tab = POLICY_TABS.find((one) => one === new URLSearchParams(location.search).get('tab'))
if (tab !== undefined) useScope.setState({ tab, agent: tab === 'allowlist' ? 'main' : null })
