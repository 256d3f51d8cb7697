import { Visible } from '../Visible'
import { ActionButton } from './ActionButton'
import { nameOf } from './name'
import type { ActionCardProps } from './props'

/** Running it again and taking it back, each as a new request. */
export function FollowUp({
  view,
  busy,
  madeAgain,
  madeUndo = null,
  actions,
}: Pick<ActionCardProps, 'view' | 'busy' | 'madeAgain' | 'madeUndo' | 'actions'>) {
  const name = nameOf(view)
  const again = view.state === 'failed' || view.state === 'timed_out' || view.state === 'unknown'
  const undo = view.undoState ?? null
  const asked = undo?.executionId ?? madeUndo
  const undoing = undo?.state === 'ready' && asked === null
  if (!again && undo === null) return null
  return (
    <div className="space-y-1">
      {undo === null ? null : (
        <p className="break-words text-ink-2" data-state={undo.state} data-testid="undo-state">
          <Visible text={undo.sentence} />{' '}
          {asked === null ? null : (
            <button className="link" data-testid="undo-show" onClick={() => actions.show(asked)} type="button">
              Show the request
            </button>
          )}
        </p>
      )}
      {again || undoing ? (
        <div className="flex flex-wrap items-center gap-2">
          {undoing ? (
            <ActionButton
              name={name}
              className="btn btn-small"
              data-testid="undo"
              disabled={busy !== null}
              onClick={actions.undo}
            >
              {busy === 'undo' ? 'Asking…' : 'Undo…'}
            </ActionButton>
          ) : null}
          {again ? (
            <ActionButton
              name={name}
              className="btn btn-small"
              data-testid="again"
              disabled={busy !== null}
              onClick={actions.again}
            >
              {busy === 'again' ? 'Asking…' : 'Run again…'}
            </ActionButton>
          ) : null}
          {madeAgain ? (
            <span className="text-ink-2">
              Asked again as a new request.{' '}
              <button className="link" onClick={actions.showAgain} type="button">
                Show it
              </button>
            </span>
          ) : null}
        </div>
      ) : null}
    </div>
  )
}
