import { create } from 'zustand'
import type {
  ExecutionState,
  ExecutionView,
  Failure,
  HealthProblem,
  Host,
  Message,
  PolicyView,
  Session,
  SettingsView,
  Target,
} from '../../src-preload/contract'
import type { OutputText } from './texts'

/** What is true of the whole app. */
export interface World {
  readonly phase: 'starting' | 'ready'
  /** Why the state could not be read, when it could not. */
  readonly failure: Failure | null
  readonly version: string
  readonly home: string
  readonly targets: readonly Target[]
  readonly sessions: readonly Session[]
  readonly settings: SettingsView | null
  readonly policy: PolicyView | null
  /** Grows whenever something of the policy may have changed, so that what shows more of it reads again. */
  readonly policyHeard: number
  readonly health: readonly HealthProblem[]
  readonly hosts: readonly Host[] | null
  readonly hostsFailure: Failure | null
  /** The newest ledger entry that was heard of. */
  readonly ledgerHead: number
}

export const useWorld = create<World>(() => ({
  phase: 'starting',
  failure: null,
  version: '',
  home: '',
  targets: [],
  sessions: [],
  settings: null,
  policy: null,
  policyHeard: 0,
  health: [],
  hosts: null,
  hostsFailure: null,
  ledgerHead: 0,
}))

/** Newest first, as the list shows them. */
export function sortSessions(sessions: readonly Session[]): readonly Session[] {
  return [...sessions].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
}

/** Every state that can still change. */
const OPEN = ['requested', 'pending_approval', 'approved', 'running'] as const satisfies readonly ExecutionState[]

/** True while the execution can still change. */
export const isOpen = (state: ExecutionState): boolean => (OPEN as readonly ExecutionState[]).includes(state)

export interface Executions {
  readonly byId: Readonly<Record<string, ExecutionView>>
  /** Oldest first. */
  readonly waiting: readonly ExecutionView[]
  readonly running: readonly ExecutionView[]
  readonly approved: readonly ExecutionView[]
  /** Grows with each execution that settled, so that histories know when to read again. */
  readonly settled: number
}

export const useExecutions = create<Executions>(() => ({
  byId: {},
  waiting: [],
  running: [],
  approved: [],
  settled: 0,
}))

/** Final cards that are kept at most; one that is shown again after being dropped is read again. */
const MOST_KEPT = 1000

/** A view as text, to tell whether another one says the same; hundreds are compared each few seconds. */
const texts = new WeakMap<ExecutionView, string>()

function textOf(view: ExecutionView): string {
  const have = texts.get(view)
  if (have !== undefined) return have
  const made = JSON.stringify(view)
  texts.set(view, made)
  return made
}

/** Takes views that were read from main. */
export function putExecutions(views: readonly ExecutionView[]): void {
  if (views.length === 0) return
  useExecutions.setState((old) => {
    const byId: Record<string, ExecutionView> = { ...old.byId }
    let settled = old.settled
    let changed = false
    for (const view of views) {
      const before = byId[view.id]
      // An answer that was under way while a newer one arrived must not turn a settled card back.
      if (before !== undefined && !isOpen(before.state) && isOpen(view.state)) continue
      if (before === undefined || (before !== view && textOf(before) !== textOf(view))) {
        byId[view.id] = view
        changed = true
      }
      if (!isOpen(view.state) && (before === undefined || isOpen(before.state))) settled += 1
    }
    if (!changed) return old
    const all = Object.values(byId)
    if (all.length > MOST_KEPT * 1.2) {
      const final = all.filter((view) => !isOpen(view.state)).sort((a, b) => a.requestedAt - b.requestedAt)
      for (const view of final.slice(0, all.length - MOST_KEPT)) delete byId[view.id]
    }
    return { byId, settled, ...openOf(byId) }
  })
}

function openOf(byId: Executions['byId']): Pick<Executions, 'waiting' | 'running' | 'approved'> {
  const open = Object.values(byId)
    .filter((view) => isOpen(view.state))
    .sort((a, b) => a.requestedAt - b.requestedAt)
  return {
    waiting: open.filter((view) => view.state === 'pending_approval'),
    running: open.filter((view) => view.state === 'running'),
    approved: open.filter((view) => view.state === 'approved'),
  }
}

/** Forgets an execution that main does not know. */
export function dropExecution(id: string): void {
  useExecutions.setState((old) => {
    if (old.byId[id] === undefined) return old
    const { [id]: _, ...byId } = old.byId
    return { byId, ...openOf(byId) }
  })
}

export interface Conversation {
  readonly messages: readonly Message[]
  readonly more: boolean
  readonly loading: boolean
  readonly failure: Failure | null
}

export const useConversations = create<{ readonly bySession: Readonly<Record<string, Conversation>> }>(() => ({
  bySession: {},
}))

/** Puts messages into their places by `seq`; the same id is replaced. */
export function mergeMessages(have: readonly Message[], more: readonly Message[]): readonly Message[] {
  const byId = new Map(have.map((message) => [message.id, message]))
  for (const message of more) byId.set(message.id, message)
  return [...byId.values()].sort((a, b) => a.seq - b.seq)
}

/** Joins the newest page to what is known. Text that streamed in while the page was being read is not taken back. */
export function joinPage(known: readonly Message[], page: readonly Message[]): readonly Message[] {
  const first = page[0]
  if (first === undefined) return page
  // Whole pages may have been missed; a hole in a conversation would read as if nothing had been said.
  const reaches = known.some((message) => message.seq >= first.seq)
  const kept = reaches ? known : []
  const texts = new Map(kept.map((message) => [message.id, message.text ?? '']))
  const fresh = page.map((message) => {
    const have = texts.get(message.id)
    return message.streaming && have !== undefined && have.length > (message.text ?? '').length
      ? { ...message, text: have }
      : message
  })
  return mergeMessages(kept, fresh)
}

export interface Outputs {
  readonly byId: Readonly<Record<string, OutputText>>
  /** All bytes the command wrote so far, as the feed said last. */
  readonly bytes: Readonly<Record<string, number>>
}

export const useOutputs = create<Outputs>(() => ({ byId: {}, bytes: {} }))

/** What is going on at a card: the request under way, and the failure of the last one. */
export interface CardNote {
  readonly busy: 'approve' | 'deny' | 'changes' | 'stop' | 'start' | 'again' | 'undo' | null
  readonly problem: Failure | null
  /** The new request that "Run again…" made. */
  readonly again: string | null
  /** The new request that "Undo…" made. */
  readonly undo: string | null
}

export const NO_NOTE: CardNote = { busy: null, problem: null, again: null, undo: null }

export const useCardNotes = create<{ readonly byId: Readonly<Record<string, CardNote>> }>(() => ({ byId: {} }))
