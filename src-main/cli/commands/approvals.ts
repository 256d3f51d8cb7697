import type { ExecutionView } from '../../../src-preload/contract/model'
import { MAIN_AGENT } from '../../domain/policy'
import { policyAgent } from '../../services/policy'
import { atTerminal, codePrompt } from '../answering'
import { type App, ask, unwrap, withApp } from '../app'
import { card, listLine } from '../cards'
import { entryShown, reachShown } from '../entries'
import { CliFailure, EXIT, usage } from '../exits'
import type { Io } from '../io'
import { readOptions } from '../options'
import { type Command, pick } from '../program'
import { settledSentence, waitingOne } from '../settled'
import type { Terminal } from '../terminal'
import { type Paint, painter, visibleLine } from '../visible'
import { readMoment } from '../when'
import { allowlistCommand } from './allowlist'
import { getApprovals, setApprovals } from './approvals-file'
import { historyCommand } from './history'

/** How often what waits is read again when no event came. */
const LOOK_MS = 5_000

/** `nomos approvals pending|approve|deny|changes|history|watch|get|set|allowlist` */
export const approvalsCommand: Command = async (args, io) => {
  const { part, args: rest } = pick('approvals', args, {
    pending,
    approve,
    deny,
    changes,
    history: historyCommand,
    watch,
    get: getApprovals,
    set: setApprovals,
    allowlist: allowlistCommand,
  })
  return await part(rest, io)
}

const pending: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 0) throw usage(`nomos approvals pending takes no ${JSON.stringify(rest[0])}.`)
  return await withApp(io, async (app) => {
    const views = await ask(app, 'approvals.pending', {})
    if (options.json) io.stdout.write(`${JSON.stringify(views)}\n`)
    else if (views.length === 0) io.stdout.write('Nothing waits for an answer.\n')
    else {
      const paint = painter(io.stdout, io.env)
      for (const alike of groupsOf(views)) io.stdout.write(pendingLine(alike, paint))
    }
    return EXIT.done
  })
}

/** Requests of the same command at the same place stand together, in the order of the first. */
function groupsOf(views: readonly ExecutionView[]): readonly (readonly [ExecutionView, ...ExecutionView[]])[] {
  const groups = new Map<string, [ExecutionView, ...ExecutionView[]]>()
  for (const view of views) {
    const key = view.group ?? view.id
    const alike = groups.get(key)
    if (alike === undefined) groups.set(key, [view])
    else alike.push(view)
  }
  return [...groups.values()]
}

const MOST_ALIKE = 6

function pendingLine([first, ...others]: readonly [ExecutionView, ...ExecutionView[]], paint: Paint): string {
  const line = `${first.approval?.id ?? ''}  ${listLine(first, paint)}`
  if (others.length === 0) return `${line}\n`
  const named = others.slice(0, MOST_ALIKE).map((view) => view.approval?.id ?? view.id)
  const more = others.length > named.length ? ` and ${others.length - named.length} more` : ''
  return `${line}  ${paint('bold', `×${others.length + 1}`)} (the same: ${named.join(', ')}${more})\n`
}

const approve: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    phrase: { kind: 'text' },
    always: { kind: 'flag' },
    expires: { kind: 'text' },
    'session-only': { kind: 'flag' },
  })
  const id = oneId('approve', rest)
  if (!options.always && (options.expires !== null || options['session-only']))
    throw usage('--expires and --session-only say how far --always reaches; add --always.')
  if (options.always && options.phrase !== null)
    throw usage('--always is not for what takes a typed phrase: that is asked about each time.')
  const always: Always | null = options.always
    ? {
        expiresAt: options.expires === null ? null : readMoment('--expires', options.expires, Date.now()),
        scope: options['session-only'] ? 'session' : 'target',
      }
    : null
  return await atTerminal(io, 'approvals approve', (app, terminal) =>
    withOne(app, io, terminal, id, options.json, (view) =>
      always === null
        ? approveOne(app, io, terminal, view, options.phrase)
        : approveAlways(app, io, terminal, view, always),
    ),
  )
}

const deny: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' }, note: { kind: 'text' } })
  const id = oneId('deny', rest)
  return await atTerminal(io, 'approvals deny', (app, terminal) =>
    withOne(app, io, terminal, id, options.json, (view) => denyOne(app, terminal, view, options.note)),
  )
}

/** "Request changes": denied, with a note that goes back to whoever asked. */
const changes: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const [id, ...words] = rest
  const note = words.join(' ').trim()
  if (id === undefined || note === '')
    throw usage('say for which one and what should change: nomos approvals changes ID "use apt instead"')
  return await atTerminal(io, 'approvals changes', (app, terminal) =>
    withOne(app, io, terminal, id, options.json, (view) => changesOne(app, terminal, view, note)),
  )
}

function oneId(name: string, rest: readonly string[]): string {
  const [id, ...others] = rest
  if (id === undefined) throw usage(`nomos approvals ${name} needs an id. See: nomos approvals pending`)
  if (others.length > 0) throw usage(`nomos approvals ${name} takes one id, so that each command is looked at.`)
  return id
}

interface Answered {
  readonly sentence: string
  readonly exit: number
  readonly approval: ExecutionView['approval']
}

async function withOne(
  app: App,
  io: Io,
  terminal: Terminal,
  id: string,
  json: boolean,
  answer: (view: ExecutionView) => Promise<Answered>,
): Promise<number> {
  const view = await waitingOne(app, id)
  terminal.write(card(view, painter({ isTTY: true }, io.env)))
  const { sentence, exit, approval } = await answer(view)
  if (json) io.stdout.write(`${JSON.stringify({ answered: approval !== null, approval })}\n`)
  else io.stdout.write(`${visibleLine(sentence)}\n`)
  return exit
}

async function approveOne(
  app: App,
  io: Io,
  terminal: Terminal,
  view: ExecutionView,
  given: string | null,
  signal?: AbortSignal,
): Promise<Answered> {
  const approval = approvalOf(view)
  let phrase = approval.outcome === 'confirm' ? given : null
  if (approval.outcome === 'confirm') {
    if (app.welcome.host === 'window')
      throw new CliFailure(
        EXIT.notOperator,
        'forbidden',
        `${approval.id} takes a typed phrase, and that is typed on its card in the window. Here it can be denied.`,
      )
    if (phrase === null) {
      const paint = painter({ isTTY: true }, io.env)
      const typed = await terminal.ask(
        `Type ${paint('bold', visibleLine(approval.phrase ?? ''))} to approve, anything else leaves it: `,
        signal,
      )
      if (typed.kind !== 'line' || typed.text.trim() === '') return left(approval.id)
      phrase = typed.text
    }
  }
  const answer = await app.client.answerWithChallenge(
    'approvals.answer',
    { id: approval.id, answer: { kind: 'approve', phrase }, digest: approval.digest },
    codePrompt(terminal, 'approve', signal),
  )
  if (!answer.ok && answer.error.code === 'forbidden' && signal?.aborted) return left(approval.id)
  const settled = unwrap(answer)
  return { sentence: `${settled.id} is ${settled.state}.`, exit: EXIT.done, approval: settled }
}

interface Always {
  /** ms since the epoch, null for no end. */
  readonly expiresAt: number | null
  readonly scope: 'target' | 'session'
}

/** Runs it, and lets the same words run unasked from then on; what is stored is shown first. */
async function approveAlways(
  app: App,
  io: Io,
  terminal: Terminal,
  view: ExecutionView,
  { expiresAt, scope }: Always,
): Promise<Answered> {
  const approval = approvalOf(view)
  const offer = await ask(app, 'approvals.alwaysOffer', { id: approval.id })
  if (offer.refusal !== null || offer.entries.length === 0)
    throw new CliFailure(
      EXIT.failed,
      'not_offered',
      `${approval.id} cannot be allowed for always: ${offer.refusal ?? 'there is nothing to store'} It can be approved once.`,
    )
  if (scope === 'session' && view.session === null)
    throw new CliFailure(
      EXIT.failed,
      'bad_input',
      `--session-only: ${approval.id} was asked for in no session. Leave it out, or give it an end: --expires 1h`,
    )
  const now = Date.now()
  const agent = policyAgent(view.principal)
  const reach = {
    expiresAt,
    scope: { target: view.target, session: scope === 'session' ? view.session : null },
  }
  const paint = painter({ isTTY: true }, io.env)
  terminal.write(
    `  ${paint('bold', 'From now on unasked')}, for ${visibleLine(agent)} ${reachShown(reach, now)}:\n${offer.entries.map((entry) => `    ${entryShown(entry)}\n`).join('')}`,
  )
  const settled = unwrap(
    await app.client.answerWithChallenge(
      'approvals.answer',
      { id: approval.id, answer: { kind: 'approve-always', expiresAt, scope }, digest: approval.digest },
      codePrompt(terminal, 'approve always'),
    ),
  )
  return {
    sentence: `${settled.id} is ${settled.state}. See: nomos approvals allowlist list${agent === MAIN_AGENT ? '' : ` --agent ${agent}`}`,
    exit: EXIT.done,
    approval: settled,
  }
}

async function denyOne(
  app: App,
  terminal: Terminal,
  view: ExecutionView,
  note: string | null,
  signal?: AbortSignal,
): Promise<Answered> {
  return await refuseOne(app, terminal, view, { kind: 'deny', note }, 'deny', signal)
}

async function changesOne(
  app: App,
  terminal: Terminal,
  view: ExecutionView,
  note: string,
  signal?: AbortSignal,
): Promise<Answered> {
  terminal.write(`  Goes back to ${visibleLine(view.principal.id)}: ${visibleLine(note)}\n`)
  return await refuseOne(app, terminal, view, { kind: 'changes', note }, 'deny it and ask for changes', signal)
}

async function refuseOne(
  app: App,
  terminal: Terminal,
  view: ExecutionView,
  answer: { readonly kind: 'deny'; readonly note: string | null } | { readonly kind: 'changes'; readonly note: string },
  verb: string,
  signal?: AbortSignal,
): Promise<Answered> {
  const approval = approvalOf(view)
  const given = await app.client.answerWithChallenge(
    'approvals.answer',
    { id: approval.id, answer, digest: approval.digest },
    codePrompt(terminal, verb, signal),
  )
  if (!given.ok && given.error.code === 'forbidden' && signal?.aborted) return left(approval.id)
  const settled = unwrap(given)
  const asked = answer.kind === 'changes' ? ', with what should change' : ''
  return { sentence: `${settled.id} is ${settled.state}${asked}.`, exit: EXIT.done, approval: settled }
}

function left(id: string): Answered {
  return { sentence: `${id} was left as it is.`, exit: EXIT.failed, approval: null }
}

function approvalOf(view: ExecutionView): NonNullable<ExecutionView['approval']> {
  if (view.approval === null) throw new CliFailure(EXIT.failed, 'not_found', `${view.id} waits for no answer.`)
  return view.approval
}

const watch: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 0) throw usage(`nomos approvals watch takes no ${JSON.stringify(rest[0])}.`)
  if (options.json) return await withApp(io, (app) => watchAsJson(app, io))
  return await atTerminal(io, 'approvals watch', (app, terminal) => watchAndAnswer(app, io, terminal))
}

/** One line each time what waits has changed. It answers nothing, so it needs no terminal and counts as no surface. */
async function watchAsJson(app: App, io: Io): Promise<number> {
  let before = ''
  let over = false
  const bell = makeBell()
  const offInterrupt = io.onInterrupt(() => {
    over = true
    bell.ring()
  })
  const looking = setInterval(bell.ring, LOOK_MS)
  void app.client.ended.then(bell.ring)
  try {
    await app.client.subscribe({ onEvent: ({ event }) => event.type === 'approval' && bell.ring() })
    while (!over) {
      const views = await ask(app, 'approvals.pending', {})
      const now = views.map((view) => view.approval?.id ?? '').join(' ')
      if (now !== before || before === '') {
        if (now !== before || views.length > 0) io.stdout.write(`${JSON.stringify({ pending: views })}\n`)
        before = now
      }
      await bell.rung()
    }
    return EXIT.interrupted
  } finally {
    clearInterval(looking)
    offInterrupt()
  }
}

async function watchAndAnswer(app: App, io: Io, terminal: Terminal): Promise<number> {
  const paint = painter({ isTTY: true }, io.env)
  const later = new Set<string>()
  const bell = makeBell()
  let waiting: readonly ExecutionView[] = []
  let asking: { readonly id: string; readonly withdraw: AbortController } | null = null
  let over = false
  let lost: string | null = null

  const refresh = async (): Promise<void> => {
    waiting = await ask(app, 'approvals.pending', {})
    if (asking !== null && !waiting.some((view) => view.approval?.id === asking?.id)) asking.withdraw.abort()
  }
  const look = (): void => {
    refresh().then(bell.ring, (error: unknown) => {
      lost ??= error instanceof Error ? error.message : String(error)
      asking?.withdraw.abort()
      bell.ring()
    })
  }
  const offInterrupt = io.onInterrupt(() => {
    over = true
    bell.ring()
  })
  const looking = setInterval(look, LOOK_MS)
  void app.client.ended.then((reason) => {
    lost ??= reason
    asking?.withdraw.abort()
    bell.ring()
  })
  try {
    await app.client.subscribe({
      onEvent: ({ event }) => {
        if (event.type === 'approval' || event.type === 'execution') look()
      },
      onAnnounce: async (notice) => {
        await refresh()
        const listed = waiting.some((view) => view.approval?.id === notice.approvalId)
        if (listed && asking !== null && asking.id !== notice.approvalId)
          terminal.write(`\n(${visibleLine(notice.title)}: waits too, it comes next)\n`)
        bell.ring()
        return listed
      },
      onWithdraw: look,
    })
    await refresh()
    terminal.write(
      `Watching for approvals; Ctrl-C ends. ${waiting.length === 0 ? 'Nothing waits now.' : `${waiting.length} waiting.`}\n`,
    )
    while (!over && lost === null) {
      const view = waiting.find((item) => item.approval !== null && !later.has(item.approval.id))
      if (view === undefined) {
        await bell.rung()
        continue
      }
      const id = approvalOf(view).id
      const withdraw = new AbortController()
      asking = { id, withdraw }
      terminal.write(`\n${card(view, paint)}`)
      over = !(await askOne(app, io, terminal, view, withdraw.signal, later))
      asking = null
      if (withdraw.signal.aborted && lost === null) await sayWhoSettled(app, terminal, view.id)
      if (lost === null) await refresh()
    }
  } finally {
    clearInterval(looking)
    offInterrupt()
  }
  if (lost !== null) throw new CliFailure(EXIT.noApp, 'lost', lost)
  return EXIT.interrupted
}

/** Asks about one card until it is answered, put off or gone. False when the operator ends the watch. */
async function askOne(
  app: App,
  io: Io,
  terminal: Terminal,
  view: ExecutionView,
  signal: AbortSignal,
  later: Set<string>,
): Promise<boolean> {
  const { id } = approvalOf(view)
  for (;;) {
    // No default: an empty line answers nothing.
    const typed = await terminal.ask('approve, deny, request changes, later [a/d/c/l] > ', signal)
    if (typed.kind === 'ended') return false
    if (typed.kind === 'withdrawn') return true
    const word = typed.text.trim().toLowerCase()
    try {
      if (word === 'l' || word === 'later') {
        later.add(id)
        terminal.write(`Put off. Answer it with: nomos approvals approve ${id}\n`)
        return true
      }
      let answered: Answered | null = null
      if (word === 'a' || word === 'approve') answered = await approveOne(app, io, terminal, view, null, signal)
      else if (word === 'd' || word === 'deny') answered = await denyOne(app, terminal, view, null, signal)
      else if (word === 'c' || word === 'changes') {
        const note = await terminal.ask('What should change? > ', signal)
        if (note.kind === 'line' && note.text.trim() !== '')
          answered = await changesOne(app, terminal, view, note.text.trim(), signal)
      }
      if (answered !== null) {
        terminal.write(`${visibleLine(answered.sentence)}\n`)
        if (answered.approval !== null) return true
      }
      if (signal.aborted) return true
    } catch (error) {
      if (!(error instanceof CliFailure)) throw error
      terminal.write(`${visibleLine(error.message)}\n`)
      if (error.code === 'already_settled' || error.code === 'expired' || signal.aborted) return true
    }
  }
}

async function sayWhoSettled(app: App, terminal: Terminal, executionId: string): Promise<void> {
  const answer = await app.client.request('executions.get', { id: executionId })
  if (!answer.ok) return
  terminal.write(`${settledSentence(answer.value, Date.now())}\n`)
}

/** Remembers one ring, so that what happens between looking and waiting is not missed. */
function makeBell(): { ring: () => void; rung: () => Promise<void> } {
  let rang = false
  let wake: (() => void) | null = null
  return {
    ring: () => {
      rang = true
      wake?.()
    },
    rung: async () => {
      if (!rang)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      rang = false
      wake = null
    },
  }
}
