import type { ExecutionView } from '../../../src-preload/contract'
import { clock } from '../time'
import { Visible } from '../Visible'
import { settledWord } from '../words'

/** Who decided, how, and when. */
export function Settlement({ view, now }: { readonly view: ExecutionView; readonly now: number }) {
  const approval = view.approval
  const settlement = approval?.settlement
  if (approval === null || settlement === undefined || settlement === null) return null
  // What the fallback noted is why it is in this state, which stands above.
  const note = settlement.note === view.stateReason || view.state === 'undeliverable' ? null : settlement.note
  return (
    <p className="break-words text-ink-2" data-testid="settlement">
      {settledWord(view)} at {clock(settlement.at, now)}
      {settlement.words === null ? null : (
        <>
          , with the words “<Visible text={settlement.words} />”
        </>
      )}
      {note === null ? null : (
        <>
          . Note: “<Visible text={note} />”
        </>
      )}
    </p>
  )
}
