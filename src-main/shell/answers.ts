import type { Envelope } from '../../src-preload/contract/errors'
import type { Dispatch, ScreenLock } from '../ports'
import type { AnswerTarget } from './tray-menu'

export type Answer = 'approve' | 'deny'
export type AnswerSurface = 'notification' | 'tray'

/**
 * Answers from outside a window. Whether it counts is the core's to say; when it does not count as it was meant, the card comes up, where it
 * stands who settled it, how, or what is wanted.
 */
export function createAnswers(deps: {
  readonly dispatch: Dispatch
  readonly lock: () => Promise<ScreenLock | null>
  readonly reveal: (executionId: string) => void
}): (surface: AnswerSurface, target: AnswerTarget, answer: Answer) => Promise<void> {
  /** Whether it had been settled in just this way: then the operator has what was wanted, and nothing more needs to be said. */
  async function settledSo(surface: AnswerSurface, target: AnswerTarget, answer: Answer): Promise<boolean> {
    const read = await deps.dispatch({ surface, operator: true }, 'executions.get', { id: target.executionId })
    return approvalState(read) === (answer === 'approve' ? 'approved' : 'denied')
  }

  return async (surface, target, answer) => {
    const lock = await deps.lock()
    const locked = lock === null ? null : await lock.ask()
    const caller = { surface, operator: true, ...(locked === null ? {} : { locked }) }
    const envelope = await deps.dispatch(caller, 'approvals.answer', {
      id: target.approvalId,
      answer: answer === 'approve' ? { kind: 'approve', phrase: null } : { kind: 'deny', note: null },
      digest: target.digest,
    })
    if (envelope.ok) return
    if (envelope.error.code === 'already_settled' && (await settledSo(surface, target, answer))) return
    deps.reveal(target.executionId)
  }
}

function approvalState(envelope: Envelope<unknown>): string | null {
  if (!envelope.ok || envelope.value === null || typeof envelope.value !== 'object') return null
  const { approval } = envelope.value as { readonly approval?: { readonly state?: unknown } | null }
  return typeof approval?.state === 'string' ? approval.state : null
}
