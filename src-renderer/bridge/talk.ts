import type { Failure } from '../../src-preload/contract'
import { failureOf, request } from './client'
import { seenInConversation } from './seen'
import { useConversations } from './stores'
import { loadMessages, ready } from './sync'
import { useUi } from './ui'

const QUEUED = 'The agent reads this once what waits is answered.'

export interface Sent {
  /** The session the text belongs to now; it may have been made for it. */
  readonly session: string | null
  readonly failure: Failure | null
  /** What became of a text that the agent gets later; null for all others, of which the conversation tells. */
  readonly queued: string | null
}

/** Sends a message or a `/run`; without a session, makes one first. Waits for the first snapshot when it is not in yet. */
export async function sendText(session: string | null, text: string): Promise<Sent> {
  // What stands there at this moment, not after the wait: words reach no card that came later.
  const shown = session === null ? [] : [...seenInConversation()]
  await ready
  let id = session
  try {
    if (id === null) {
      const made = await request('sessions.create', {})
      id = made.id
      useConversations.setState((state) => ({
        bySession: { ...state.bySession, [made.id]: { messages: [], more: false, loading: false, failure: null } },
      }))
      // Only move along when the operator still looks at the session that did not exist yet.
      if (useUi.getState().session === null) useUi.setState({ session: made.id })
    }
    const { kind, sentence } = await request('chat.send', { session: id, text, shown })
    void loadMessages(id, false)
    return { session: id, failure: null, queued: kind === 'queued' ? (sentence ?? QUEUED) : null }
  } catch (error) {
    return { session: id, failure: failureOf(error), queued: null }
  }
}

/** Stops the turn that streams or waits. */
export async function stopTurn(session: string): Promise<Failure | null> {
  try {
    await request('chat.stop', { session })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Tries the last turn again after its model failed. */
export async function retryTurn(session: string): Promise<Failure | null> {
  try {
    await request('chat.retry', { session })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Gives a session another name. */
export async function renameSession(id: string, title: string): Promise<Failure | null> {
  try {
    await request('sessions.rename', { id, title })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Removes a session with its messages; what ran stays in the ledger. */
export async function removeSession(id: string): Promise<Failure | null> {
  try {
    await request('sessions.remove', { id })
    if (useUi.getState().session === id) useUi.setState({ session: null })
    return null
  } catch (error) {
    return failureOf(error)
  }
}
