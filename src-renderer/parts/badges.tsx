import type { Risk } from '../../src-preload/contract'
import { RISK_COLOUR, RiskSign, STATE_COLOUR, StateSign } from './icons'
import { type CardState, RISK_WORD, STATE_WORD } from './words'

/** A risk class as shape, word and colour. */
export function RiskBadge({ risk }: { readonly risk: Risk }) {
  return (
    <span className={`inline-flex shrink-0 items-center gap-1.5 font-semibold ${RISK_COLOUR[risk]}`}>
      <RiskSign risk={risk} />
      {RISK_WORD[risk]}
    </span>
  )
}

/** A state as sign, word and colour. */
export function StateBadge({ state }: { readonly state: CardState }) {
  return (
    <span className={`inline-flex items-center gap-1.5 font-medium ${STATE_COLOUR[state]}`}>
      <StateSign state={state} />
      {STATE_WORD[state]}
    </span>
  )
}
