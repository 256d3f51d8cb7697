import type { UndoItem, UndoOffer } from '../../../src-preload/contract'
import { Fold } from '../Fold'
import { size } from '../time'
import { Visible } from '../Visible'

const KIND_WORD: Readonly<Record<UndoItem['kind'], string>> = { file: 'file', unit: 'unit', container: 'container' }

/** What a command is known to change and whether it can be put back, thing by thing on demand. */
export function UndoLine({ undo }: { readonly undo: UndoOffer }) {
  const sentence = <Visible text={undo.sentence} />
  if (undo.items.length === 0) {
    return (
      <p className="break-words text-ink-2" data-testid="undo-offer">
        {sentence}
      </p>
    )
  }
  const kept = undo.items.reduce((sum, item) => sum + (item.bytes ?? 0), 0)
  return (
    <div data-testid="undo-offer">
      <Fold
        label={
          <span className="break-words">
            {sentence}
            {kept > 0 ? <span className="text-ink-3"> ({size(kept)} kept)</span> : null}
          </span>
        }
      >
        <ul className="mt-1 space-y-1">
          {undo.items.map((item) => (
            <li className="min-w-0 break-words text-ink-2" key={`${item.kind} ${item.subject}`}>
              <span className="text-ink-3">{KIND_WORD[item.kind]} </span>
              <code className="logical break-all font-mono text-code text-ink">
                <Visible text={item.subject} />
              </code>{' '}
              <Visible text={item.sentence} />
              {item.bytes === null ? null : <span className="tabular text-ink-3"> {size(item.bytes)}</span>}
            </li>
          ))}
        </ul>
      </Fold>
    </div>
  )
}
