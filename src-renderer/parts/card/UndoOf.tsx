import type { ExecutionView } from '../../../src-preload/contract'
import { firstLine } from './name'
import { Place } from './Place'

/** Which run this one takes back. */
export function UndoOf({
  view,
  command,
  onShow,
}: {
  readonly view: ExecutionView
  readonly command: string | null
  readonly onShow: (id: string) => void
}) {
  const { undoOf } = view
  if (undoOf === null || undoOf === undefined) return null
  return (
    <p className="break-words text-ink-2" data-testid="undo-of">
      <span className="text-ink-3">takes back </span>
      {command === null ? 'an earlier run' : <Place value={firstLine(command, 160)} />}{' '}
      <button className="link" onClick={() => onShow(undoOf)} type="button">
        Show it
      </button>
    </p>
  )
}
