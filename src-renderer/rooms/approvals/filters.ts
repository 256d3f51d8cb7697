import type { ExecutionState, HistoryFilter, Risk } from '../../../src-preload/contract'
import type { HistoryChoice } from '../../bridge/ui'
import { RISKS } from '../../parts/command'
import { STATE_WORD } from '../../parts/words'

export const STATES = {
  all: ['completed', 'failed', 'timed_out', 'cancelled', 'denied', 'expired', 'undeliverable', 'unknown'],
  completed: ['completed'],
  failed: ['failed'],
  timed_out: ['timed_out'],
  unknown: ['unknown'],
  denied: ['denied'],
  cancelled: ['cancelled'],
  expired: ['expired'],
  undeliverable: ['undeliverable'],
} as const satisfies Record<string, readonly ExecutionState[]>

export type StateChoice = keyof typeof STATES

export const STATE_CHOICES = Object.keys(STATES) as readonly StateChoice[]

export const STATE_CHOICE_WORD: Readonly<Record<StateChoice, string>> = {
  all: 'every end',
  completed: STATE_WORD.completed,
  failed: STATE_WORD.failed,
  timed_out: STATE_WORD.timed_out,
  unknown: STATE_WORD.unknown,
  denied: STATE_WORD.denied,
  cancelled: STATE_WORD.cancelled,
  expired: STATE_WORD.expired,
  undeliverable: STATE_WORD.undeliverable,
}

/** A remembered choice of states, or all when it is none. */
export const stateChoiceOf = (value: string): StateChoice => STATE_CHOICES.find((name) => name === value) ?? 'all'

/** What main is asked for. A choice that is none narrows nothing. */
export function queryOf(choice: HistoryChoice): { readonly states: ExecutionState[]; readonly filter: HistoryFilter } {
  const risk: Risk | undefined = RISKS.find((one) => one === choice.risk)
  const text = choice.text.trim()
  return {
    states: [...STATES[stateChoiceOf(choice.state)]],
    filter: {
      ...(risk === undefined ? {} : { risks: [risk] }),
      ...(choice.target === '' ? {} : { target: choice.target }),
      ...(choice.agent === '' ? {} : { agent: choice.agent }),
      ...(choice.surface === '' ? {} : { surface: choice.surface }),
      ...(choice.asked ? { asked: true } : {}),
      ...(text === '' ? {} : { text }),
    },
  }
}
