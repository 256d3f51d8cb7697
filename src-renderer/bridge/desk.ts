import type { ExecutionView, Failure } from '../../src-preload/contract'
import type { AlwaysChoice } from '../parts/AlwaysPanel'
import { failureOf, request } from './client'
import { type CardNote, putExecutions, useCardNotes, useConversations, useExecutions } from './stores'
import { refreshExecution } from './sync'
import { useUi } from './ui'

function note(id: string, patch: Partial<CardNote>): void {
  useCardNotes.setState((state) => ({
    byId: { ...state.byId, [id]: { ...(state.byId[id] ?? { busy: null, problem: null, again: null }), ...patch } },
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

/** Denies, with a note when there is one to give. */
export function deny(view: ExecutionView, words: string | null): Promise<void> {
  const { approval } = view
  if (approval === null) return Promise.resolve()
  return fromCard(view.id, 'deny', async () => {
    await request('approvals.answer', {
      id: approval.id,
      answer: { kind: 'deny', note: words },
      digest: approval.digest,
    })
  })
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

/** Brings a card into sight: where it stands in the open conversation, else in the approvals room. */
export function reveal(id: string): void {
  const ui = useUi.getState()
  const view = useExecutions.getState().byId[id]
  const conversation = ui.session === null ? undefined : useConversations.getState().bySession[ui.session]
  const here =
    ui.room === 'chat' &&
    view?.session === ui.session &&
    conversation?.messages.some((message) => message.executionId === id) === true
  useUi.setState({ reveal: id, nowOver: false, listOver: false, room: here ? 'chat' : 'approvals' })
}
