import type { ExecutionView } from '../../src-preload/contract/model'
import type { Clock, Feed, Ids, Log, Store } from '../ports'
import { nameOf } from './chat-answers'

/** Lines of Nomos itself in a conversation about its runs: that one still runs, how it ended, that it did not run. */
export interface RunEvents {
  /** To be called for every execution that became final. */
  settled(execution: ExecutionView): void
  close(): void
}

/** A run that takes longer than this is spoken of, in ms. */
export const RUNNING_AFTER_MS = 10_000

const ENDED: Readonly<Partial<Record<ExecutionView['state'], string>>> = {
  completed: 'done',
  failed: 'failed',
  timed_out: 'timed out',
  cancelled: 'cancelled',
  unknown: 'its end was not seen',
}

/** It did not run, and each reason has its own word: what nobody answered in time was not denied. */
const REFUSED: Readonly<Partial<Record<ExecutionView['state'], string>>> = {
  denied: 'denied',
  expired: 'expired',
  undeliverable: 'undeliverable',
}

/** Only core writes these: nothing of them is read from a model, an output or a message. */
export function createRunEvents(deps: {
  readonly store: Store
  readonly feed: Feed
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
}): RunEvents {
  const { store, feed, clock, ids } = deps
  const waiting = new Map<string, () => void>()
  const spokenOf = new Set<string>()

  /** The approval's id is the name of the run, where somebody was asked. */
  const runOf = (execution: ExecutionView): string => execution.approval?.id ?? execution.id

  function say(execution: ExecutionView, text: string): void {
    const { session } = execution
    if (session === null || store.session(session) === null) return
    const message = store.addMessage({
      id: ids.next('msg'),
      session,
      turn: execution.turn ?? execution.id,
      role: 'notice',
      text,
      toolCalls: [],
      callId: null,
      executionId: execution.id,
      error: null,
      at: clock.now(),
    })
    feed.publish({ type: 'message', message })
  }

  function stillRuns(id: string): void {
    waiting.delete(id)
    const execution = store.execution(id)
    if (execution?.state !== 'running') return
    spokenOf.add(id)
    say(
      execution,
      `Exec running (run ${runOf(execution)}): ${nameOf(execution)}, for ${RUNNING_AFTER_MS / 1000} s so far.`,
    )
  }

  const unsubscribe = feed.subscribe(({ event }) => {
    if (event.type !== 'execution' || event.session === null) return
    if (event.state !== 'running' || waiting.has(event.id) || spokenOf.has(event.id)) return
    const { id } = event
    waiting.set(
      id,
      clock.after(RUNNING_AFTER_MS, () => {
        try {
          stillRuns(id)
        } catch (error) {
          deps.log.warn('a line about a run could not be written', { id, error: String(error) })
        }
      }),
    )
  })

  return {
    settled(execution) {
      const { id, state } = execution
      waiting.get(id)?.()
      waiting.delete(id)
      const spoken = spokenOf.delete(id)
      const refused = REFUSED[state]
      const reason = execution.stateReason === null ? '' : ` ${execution.stateReason}`
      if (refused !== undefined) {
        say(execution, `Exec ${refused} (run ${runOf(execution)}): ${nameOf(execution)}.${reason}`)
        return
      }
      // What ran by itself and at once stands on its card; a line more would only be noise.
      if (!spoken && (execution.approval === null || execution.startedAt === null)) return
      const exit = execution.exitCode === null ? '' : `, exit code ${execution.exitCode}`
      say(execution, `Exec finished (run ${runOf(execution)}): ${nameOf(execution)}, ${ENDED[state] ?? state}${exit}.`)
    },
    close() {
      unsubscribe()
      for (const forget of waiting.values()) forget()
      waiting.clear()
    },
  }
}
