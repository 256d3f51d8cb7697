import type { ExecutionView, FeedEvent, Message, Numbered, RouteOutput } from '../../src-preload/contract'
import { failureOf, request } from './client'
import { FeedCursor } from './feed'
import { tellAgain } from './seen'
import {
  dropExecution,
  isOpen,
  joinPage,
  mergeMessages,
  putExecutions,
  sortSessions,
  useConversations,
  useExecutions,
  useOutputs,
  useWorld,
} from './stores'
import { adoptOutput, appendOutput, endOf, joinText, OUTPUT_CAP } from './texts'
import { leaveLostSession, restoreUi, saveUiNow, useUi } from './ui'

const POLL_MS = 4000
const PAGE = 200
const OUTPUT_READ = 262_144

const cursor = new FeedCursor()
let readySignal: () => void = () => undefined
/** Resolves when the first snapshot is in: requests that need a session wait for it. */
export const ready: Promise<void> = new Promise((resolve) => {
  readySignal = resolve
})

/**
 * Runs one job for a key at a time. A call while it runs makes it run once more afterwards, so the last answer is never older
 * than the last call, and a hundred events cost two reads.
 */
function coalesced(job: (key: string) => Promise<void>): (key: string) => Promise<void> {
  const running = new Map<string, { again: boolean; done: Promise<void> }>()
  return (key) => {
    const current = running.get(key)
    if (current !== undefined) {
      current.again = true
      return current.done
    }
    const entry = { again: false, done: Promise.resolve() }
    const loop = async (): Promise<void> => {
      do {
        entry.again = false
        await job(key)
      } while (entry.again)
    }
    entry.done = loop().finally(() => running.delete(key))
    running.set(key, entry)
    return entry.done
  }
}

/** Reads one execution again. A failure leaves the card as it was; the next poll asks again. */
export const refreshExecution = coalesced(async (id) => {
  try {
    putExecutions([await request('executions.get', { id })])
  } catch (error) {
    // What main does not know any more (another database, say) must not wait or run here for ever; else the shown state stays.
    if (failureOf(error).code === 'not_found') dropExecution(id)
  }
})

/** Reads the newest page of a conversation, or the next older one. */
export async function loadMessages(session: string, older: boolean): Promise<void> {
  const have = useConversations.getState().bySession[session]
  const before = older ? (have?.messages[0]?.seq ?? null) : null
  const put = (patch: Partial<NonNullable<typeof have>>): void =>
    useConversations.setState((state) => ({
      bySession: {
        ...state.bySession,
        [session]: {
          ...(state.bySession[session] ?? { messages: [], more: false, loading: false, failure: null }),
          ...patch,
        },
      },
    }))
  put({ loading: true, failure: null })
  try {
    const page = await request('sessions.messages', { id: session, before, limit: PAGE })
    putExecutions(page.executions)
    const known = useConversations.getState().bySession[session]?.messages ?? []
    if (older) put({ messages: mergeMessages(known, page.messages), more: page.more, loading: false })
    else {
      const joined = joinPage(known, page.messages)
      const reachesBack = joined[0] !== undefined && joined[0].seq < (page.messages[0]?.seq ?? 0)
      put({ messages: joined, more: reachesBack ? (have?.more ?? page.more) : page.more, loading: false })
    }
  } catch (error) {
    put({ loading: false, failure: failureOf(error) })
  }
}

const reloadConversation = coalesced((session) => loadMessages(session, false))

function adoptSnapshot(snapshot: RouteOutput<'app.snapshot'>): void {
  useWorld.setState((world) => ({
    phase: 'ready',
    failure: null,
    version: snapshot.version,
    home: snapshot.home,
    targets: snapshot.targets,
    sessions: sortSessions(snapshot.sessions),
    settings: snapshot.settings,
    policy: snapshot.policy,
    policyHeard: world.policyHeard + 1,
    health: snapshot.health,
  }))
  const open = new Set(snapshot.open.map((view) => view.id))
  putExecutions(snapshot.open)
  for (const view of Object.values(useExecutions.getState().byId)) {
    if (isOpen(view.state) && !open.has(view.id)) void refreshExecution(view.id)
  }
}

/** Reads the app's state again without touching the numbering (targets and health come only this way). */
const rereadWorld = coalesced(async () => {
  try {
    adoptSnapshot(await request('app.snapshot', {}))
  } catch (error) {
    useWorld.setState({ failure: failureOf(error) })
  }
})

let syncing = false
let again = false
let lastBoot: string | null = null

/** Reads everything: at the start, after a gap, after another boot of main. */
export async function resync(): Promise<void> {
  if (syncing) {
    again = true
    return
  }
  syncing = true
  try {
    do {
      again = false
      cursor.reading()
      const snapshot = await request('app.snapshot', {})
      restoreUi(snapshot.ui, new Set(snapshot.sessions.map((session) => session.id)))
      adoptSnapshot(snapshot)
      // Another core (its database may have been set aside) does not know the sessions of the one before.
      if (lastBoot !== null && lastBoot !== snapshot.boot)
        leaveLostSession(new Set(snapshot.sessions.map(({ id }) => id)))
      if (lastBoot !== snapshot.boot) tellAgain()
      lastBoot = snapshot.boot
      const session = useUi.getState().session
      // Other conversations are forgotten rather than read: they are read when they are opened.
      useConversations.setState((state) => {
        const keep = session === null ? undefined : state.bySession[session]
        return { bySession: keep === undefined || session === null ? {} : { [session]: keep } }
      })
      if (session !== null) void reloadConversation(session)
      if (useWorld.getState().hosts !== null) void loadHosts()
      readySignal()
      const step = cursor.synced(snapshot.boot, snapshot.seq)
      if (step === 'resync') again = true
      else for (const event of step) apply(event)
    } while (again)
  } catch (error) {
    useWorld.setState({ failure: failureOf(error) })
    setTimeout(() => void resync(), POLL_MS)
  } finally {
    syncing = false
  }
}

/** Reads the list of hosts. */
export async function loadHosts(): Promise<void> {
  try {
    useWorld.setState({ hosts: await request('hosts.list', {}), hostsFailure: null })
  } catch (error) {
    useWorld.setState({ hostsFailure: failureOf(error) })
  }
}

/** Main keeps the beginning up to here and the end only after the run, so what was read of the middle is not final. */
const HEAD_KEPT = OUTPUT_CAP - 4096

const readOutput = coalesced(async (id) => {
  try {
    for (;;) {
      const have = useOutputs.getState().byId[id]
      const page = await request('executions.output', {
        id,
        offset: have === undefined ? 0 : endOf(have),
        limit: OUTPUT_READ,
      })
      // Forgotten meanwhile, to be read from its beginning: a piece from the middle must not take that place.
      if (have !== undefined && useOutputs.getState().byId[id] === undefined) continue
      const far = page.end - OUTPUT_CAP
      if (page.offset + page.text.length < far) {
        // Much too far behind for a card: go on with the last part.
        const tail = await request('executions.output', { id, offset: Math.max(far, page.start), limit: OUTPUT_READ })
        putOutput(id, { start: tail.offset, text: tail.text })
        if (tail.text === '') return
        continue
      }
      const current = useOutputs.getState().byId[id]
      putOutput(id, adoptOutput(current, page.offset, page.text))
      if (page.text === '' || page.offset + page.text.length >= page.end) return
    }
  } catch {
    // Nothing of it is kept any more: the card shows its persisted part.
  }
})

/** Long outputs that were read once more after their end. */
const readWhole = new Set<string>()

/** Reads what is known of an output from where this window's copy ends; of an ended run that was too long, all of it again. */
export function catchUpOutput(id: string, ended: boolean): Promise<void> {
  const have = useOutputs.getState().byId[id]
  if (ended && have !== undefined && endOf(have) >= HEAD_KEPT && !readWhole.has(id)) {
    readWhole.add(id)
    useOutputs.setState((state) => {
      const byId = { ...state.byId }
      delete byId[id]
      return { ...state, byId }
    })
  }
  return readOutput(id)
}

function putOutput(id: string, output: { readonly start: number; readonly text: string }): void {
  useOutputs.setState((state) =>
    state.byId[id] === output ? state : { ...state, byId: { ...state.byId, [id]: output } },
  )
}

type Streamed = Extract<FeedEvent, { type: 'output' | 'delta' }>
let pending: Streamed[] = []
let frame: number | null = null
let fallback: ReturnType<typeof setTimeout> | null = null

/** Streamed text is applied once a frame: a model or a command may send hundreds of pieces in one. */
function later(event: Streamed): void {
  pending.push(event)
  if (frame !== null) return
  frame = requestAnimationFrame(flush)
  // A hidden window gets no frames, and must not collect without end.
  fallback = setTimeout(flush, 250)
}

function flush(): void {
  if (frame !== null) cancelAnimationFrame(frame)
  if (fallback !== null) clearTimeout(fallback)
  frame = null
  fallback = null
  const events = pending
  pending = []
  const lost = new Set<string>()
  const outputs = { ...useOutputs.getState().byId }
  const bytes = { ...useOutputs.getState().bytes }
  const conversations = { ...useConversations.getState().bySession }
  let outputChanged = false
  let textChanged = false
  for (const event of events) {
    if (event.type === 'output') {
      bytes[event.id] = event.bytes
      outputChanged = true
      const joined = appendOutput(outputs[event.id], event.offset, event.text)
      if (joined === 'gap') lost.add(event.id)
      else outputs[event.id] = joined
      continue
    }
    const conversation = conversations[event.session]
    if (conversation === undefined) continue
    const index = conversation.messages.findIndex((message) => message.id === event.messageId)
    const message = conversation.messages[index]
    const text = message === undefined ? 'gap' : joinText(message.text ?? '', event.offset, event.text)
    if (message?.streaming === false) continue
    if (message === undefined || text === 'gap') {
      void reloadConversation(event.session)
      continue
    }
    const messages = [...conversation.messages]
    messages[index] = { ...message, text }
    conversations[event.session] = { ...conversation, messages }
    textChanged = true
  }
  if (outputChanged) useOutputs.setState({ byId: outputs, bytes })
  if (textChanged) useConversations.setState({ bySession: conversations })
  for (const id of lost) void readOutput(id)
}

function putMessage(message: Message): void {
  const conversation = useConversations.getState().bySession[message.session]
  if (conversation === undefined) return
  flush()
  useConversations.setState((state) => {
    const now = state.bySession[message.session]
    if (now === undefined) return state
    return {
      bySession: {
        ...state.bySession,
        [message.session]: { ...now, messages: mergeMessages(now.messages, [message]) },
      },
    }
  })
  if (message.executionId !== null && useExecutions.getState().byId[message.executionId] === undefined) {
    void refreshExecution(message.executionId)
  }
}

const revealing = new Set<(executionId: string) => void>()

/** Hears of cards that were asked for outside the window. */
export function onReveal(listener: (executionId: string) => void): void {
  revealing.add(listener)
}

function apply(event: FeedEvent): void {
  switch (event.type) {
    case 'execution':
      void refreshExecution(event.id)
      return
    case 'approval':
      void refreshExecution(event.executionId)
      return
    case 'reveal':
      for (const listener of revealing) listener(event.executionId)
      return
    case 'output':
    case 'delta':
      later(event)
      return
    case 'message':
      putMessage(event.message)
      return
    case 'session':
      useWorld.setState((world) => ({
        sessions: sortSessions([...world.sessions.filter((session) => session.id !== event.session.id), event.session]),
      }))
      return
    case 'session-removed':
      useWorld.setState((world) => ({ sessions: world.sessions.filter((session) => session.id !== event.id) }))
      if (useUi.getState().session === event.id) useUi.setState({ session: null })
      return
    case 'hosts':
      void rereadWorld('world')
      if (useWorld.getState().hosts !== null) void loadHosts()
      return
    case 'health':
      void rereadWorld('world')
      return
    case 'settings':
      request('settings.get', {}).then(
        (settings) => useWorld.setState({ settings }),
        () => undefined,
      )
      return
    case 'policy':
      useWorld.setState((world) => ({ policyHeard: world.policyHeard + 1 }))
      request('policy.show', {}).then(
        (policy) => useWorld.setState({ policy }),
        () => undefined,
      )
      return
    case 'ledger':
      useWorld.setState((world) => ({ ledgerHead: Math.max(world.ledgerHead, event.seq) }))
      return
  }
}

function hear(numbered: Numbered): void {
  const step = cursor.accept(numbered)
  if (step === 'resync') void resync()
  else for (const event of step) apply(event)
}

/** Reads everything that can still change. There is no ceiling: a card that waits all night is read all night. */
async function rereadOpen(): Promise<void> {
  const { waiting, running, approved, byId } = useExecutions.getState()
  let pendingNow: readonly ExecutionView[] = []
  try {
    pendingNow = await request('approvals.pending', {})
  } catch {
    return
  }
  putExecutions(pendingNow)
  const seen = new Set(pendingNow.map((view) => view.id))
  const others = [...waiting, ...running, ...approved, ...Object.values(byId).filter((v) => v.state === 'requested')]
  for (const view of others) if (!seen.has(view.id)) void refreshExecution(view.id)
}

/** Starts listening and reads the first snapshot. Call once. */
export function startSync(): void {
  window.nomos.onEvent(hear)
  void resync()
  window.addEventListener('focus', () => void rereadOpen())
  window.addEventListener('pagehide', saveUiNow)
  setInterval(() => {
    const { waiting, running, approved, byId } = useExecutions.getState()
    const open = waiting.length + running.length + approved.length
    if (open > 0 || Object.values(byId).some((view) => view.state === 'requested')) void rereadOpen()
  }, POLL_MS)
}
