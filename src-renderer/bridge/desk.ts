import type { AnswerResult, ExecutionView, Failure } from '../../src-preload/contract'
import type { AlwaysChoice } from '../parts/card/AlwaysPanel'
import { failureOf, request } from './client'
import { shownOf } from './seen'
import {
  type CardNote,
  NO_NOTE,
  putExecutions,
  useCardNotes,
  useConversations,
  useExecutions,
  useWorld,
} from './stores'
import { loadMessages, refreshExecution } from './sync'
import { type RoomName, useUi } from './ui'

function note(id: string, patch: Partial<CardNote>): void {
  useCardNotes.setState((state) => ({
    byId: { ...state.byId, [id]: { ...(state.byId[id] ?? NO_NOTE), ...patch } },
  }))
}

/** One request from a card: marks it busy, shows its failure there, and reads the card again whatever came of it. */
async function fromCard(id: string, busy: NonNullable<CardNote['busy']>, job: () => Promise<void>): Promise<void> {
  const under = useCardNotes.getState().byId[id]?.busy ?? null
  // A stop never waits for anything but another stop: what was just approved may have to be stopped at once.
  if (under === busy || (under !== null && busy !== 'stop')) return
  note(id, { busy, problem: null })
  let problem: Failure | null = null
  try {
    await job()
  } catch (error) {
    problem = failureOf(error)
  }
  await refreshExecution(id)
  const mine = useCardNotes.getState().byId[id]?.busy === busy
  note(id, mine ? { busy: null, problem } : problem === null ? {} : { problem })
}

/** Approves with the digest of what this card showed. */
export function approve(view: ExecutionView, phrase: string | null): Promise<void> {
  const { approval } = view
  if (approval === null) return Promise.resolve()
  return fromCard(view.id, 'approve', async () => {
    await request('approvals.answer', { id: approval.id, answer: { kind: 'approve', phrase }, digest: approval.digest })
  })
}

/** Approves with the digest of what this card showed, and stores exactly what was offered for the time that was chosen. */
export function approveAlways(view: ExecutionView, choice: AlwaysChoice): Promise<void> {
  const { approval } = view
  if (approval === null) return Promise.resolve()
  return fromCard(view.id, 'approve', async () => {
    await request('approvals.answer', {
      id: approval.id,
      answer: { kind: 'approve-always', expiresAt: choice.expiresAt, scope: choice.scope },
      digest: approval.digest,
    })
  })
}

/** Denies. */
export function deny(view: ExecutionView): Promise<void> {
  const { approval } = view
  if (approval === null) return Promise.resolve()
  return fromCard(view.id, 'deny', async () => {
    await request('approvals.answer', {
      id: approval.id,
      answer: { kind: 'deny', note: null },
      digest: approval.digest,
    })
  })
}

/** Denies with what should be different, which goes back to whoever asked. */
export function requestChanges(view: ExecutionView, words: string): Promise<void> {
  const { approval } = view
  if (approval === null) return Promise.resolve()
  return fromCard(view.id, 'changes', async () => {
    await request('approvals.answer', {
      id: approval.id,
      answer: { kind: 'changes', note: words },
      digest: approval.digest,
    })
  })
}

/** What came of one answer to several requests: each of them has its own result, or the whole failed. */
export type ManyAnswered = { readonly results: readonly AnswerResult[] } | { readonly failure: Failure }

/** One answer to several requests, each with the digest that stood there. Every one is settled, or refused, on its own. */
export async function answerMany(views: readonly ExecutionView[], kind: 'approve' | 'deny'): Promise<ManyAnswered> {
  const items = views.flatMap((view) => shownOf(view) ?? [])
  if (items.length === 0) return { results: [] }
  try {
    const { results } = await request('approvals.answerMany', {
      items,
      answer: kind === 'approve' ? { kind } : { kind, note: null },
    })
    const byApproval = new Map(views.map((view) => [view.approval?.id, view.id]))
    // What was settled is heard of by its events; what was refused may be another thing by now.
    for (const { id, ok } of results) {
      const execution = byApproval.get(id)
      if (!ok && execution !== undefined) void refreshExecution(execution)
    }
    return { results }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

/** Stops what runs, or gives up what was approved and not started. */
export function stop(id: string): Promise<void> {
  return fromCard(id, 'stop', async () => putExecutions([await request('executions.cancel', { id })]))
}

/** Starts what was approved before a crash. */
export function start(id: string): Promise<void> {
  return fromCard(id, 'start', async () => putExecutions([await request('executions.start', { id })]))
}

/** Asks for the same command again. It is a new request with its own card. */
export function runAgain(id: string): Promise<void> {
  return fromCard(id, 'again', async () => {
    const view = await request('executions.again', { id })
    putExecutions([view])
    note(id, { again: view.id })
  })
}

/** Asks for taking back what a run changed. It is a new request with its own card. */
export function undo(id: string): Promise<void> {
  return fromCard(id, 'undo', async () => {
    const view = await request('executions.undo', { id })
    putExecutions([view])
    note(id, { undo: view.id })
  })
}

function show(id: string, room: RoomName): void {
  useUi.setState({ reveal: id, nowOver: false, listOver: false, overlay: null, room })
}

const hasCard = (session: string, id: string): boolean =>
  useConversations.getState().bySession[session]?.messages.some((message) => message.executionId === id) === true

/** Brings a card into sight: where it stands in the open conversation, else (or when it is asked for) in the approvals room. */
export function reveal(id: string, where?: 'approvals'): void {
  const ui = useUi.getState()
  const view = useExecutions.getState().byId[id]
  const here =
    where === undefined &&
    ui.room === 'chat' &&
    ui.session !== null &&
    view?.session === ui.session &&
    hasCard(ui.session, id)
  show(id, here ? 'chat' : 'approvals')
}

/** The id of an execution, and nothing else that somebody may put into an address. */
export const EXECUTION_ID = /^exe_[0-9a-z]+$/

/** Brings a card into sight for somebody who clicked it outside the window: in its conversation, else in the approvals room. */
export async function revealFromOutside(id: string): Promise<void> {
  if (!EXECUTION_ID.test(id)) return
  await refreshExecution(id)
  const session = useExecutions.getState().byId[id]?.session ?? null
  if (session !== null && useWorld.getState().sessions.some((one) => one.id === session)) {
    if (!hasCard(session, id)) await loadMessages(session, false)
    if (hasCard(session, id)) {
      useUi.setState({ session })
      show(id, 'chat')
      return
    }
  }
  show(id, 'approvals')
}
