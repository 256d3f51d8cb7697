import type { ExecutionView } from '../../../src-preload/contract'
import { ActionButton } from './ActionButton'
import { Answer } from './Answer'
import { FollowUp } from './FollowUp'
import { nameOf } from './name'
import type { ActionCardProps } from './props'

/** After an approval the start follows within milliseconds; a Start button that flashes for those would only be in the way. */
const START_SHOWN_AFTER = 2000

/** True when what was approved has had its time to start and did not. */
export const isLeftOver = (view: ExecutionView, now: number): boolean =>
  now - (view.approval?.settlement?.at ?? view.requestedAt) >= START_SHOWN_AFTER

/** What can be done in each state: answering, stopping, starting what was left over, and afterwards again or undo. */
export function Controls({
  view,
  busy,
  armed,
  madeAgain,
  madeUndo,
  always,
  now,
  actions,
}: Pick<ActionCardProps, 'view' | 'busy' | 'armed' | 'always' | 'madeAgain' | 'madeUndo' | 'actions'> & {
  readonly now: number
}) {
  const name = nameOf(view)
  if (view.state === 'pending_approval')
    return <Answer actions={actions} always={always} armed={armed} busy={busy} view={view} />
  if (view.state === 'running') {
    return (
      <ActionButton name={name} data-testid="stop" disabled={busy === 'stop'} onClick={actions.stop}>
        {busy === 'stop' ? 'Stopping…' : 'Stop'}
      </ActionButton>
    )
  }
  if (view.state === 'approved') {
    if (!isLeftOver(view, now)) return null
    return (
      <div className="flex flex-wrap gap-2">
        <ActionButton name={name} disabled={busy !== null} onClick={actions.stop}>
          {busy === 'stop' ? 'Giving up…' : 'Do not start'}
        </ActionButton>
        <ActionButton name={name} data-testid="start" disabled={busy !== null} onClick={actions.start}>
          {busy === 'start' ? 'Starting…' : 'Start'}
        </ActionButton>
      </div>
    )
  }
  return <FollowUp actions={actions} busy={busy} madeAgain={madeAgain} madeUndo={madeUndo ?? null} view={view} />
}
