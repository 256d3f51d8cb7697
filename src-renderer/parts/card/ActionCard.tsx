import { useId } from 'react'
import type { ExecutionView } from '../../../src-preload/contract'
import { RiskBadge, StateBadge } from '../badges'
import { FailureText } from '../FailureText'
import { Fold } from '../Fold'
import { OutputPane } from '../OutputPane'
import { counted } from '../time'
import { useNow } from '../useNow'
import { Visible } from '../Visible'
import { cardState, STATE_MEANS } from '../words'
import { BlastLine } from './BlastLine'
import { Command, CommandContext } from './Command'
import { Controls, isLeftOver } from './Controls'
import { nameOf } from './name'
import { Preview } from './Preview'
import { Purpose } from './Purpose'
import type { ActionCardProps } from './props'
import { Reasons } from './Reasons'
import { Settlement } from './Settlement'
import { Times } from './Times'
import { UndoLine } from './UndoLine'
import { UndoOf } from './UndoOf'

/** Until it ends a card says what could be put back; afterwards, whether it still can. */
const OFFERS_UNDO: ReadonlySet<ExecutionView['state']> = new Set([
  'requested',
  'pending_approval',
  'approved',
  'running',
])

/**
 * The one card of every request. Its order never changes: risk, target, state and time; the command, whole; why; reasons and
 * effects; what depends on it; what can be put back; preview; buttons; output. Nothing on it is a default, and it never takes the focus by itself.
 */
export function ActionCard(props: ActionCardProps) {
  const { view, output, outputOpen, problem, actions, group, alike = 0 } = props
  const state = cardState(view)
  const live = view.state === 'running' || view.state === 'pending_approval'
  const now = useNow(live || view.state === 'approved' ? 1000 : null)
  const id = useId()
  const text = output ?? {
    text: view.output,
    start: 0,
    bytes: view.outputBytes,
    truncated: view.truncated,
  }
  const bytes = Math.max(text.bytes, view.outputBytes)
  const hasOutput = text.text !== '' || bytes > 0
  const quiet = !live && state !== 'approved'
  const pane = (
    <OutputPane
      bytes={bytes}
      label={`Output of ${nameOf(view)}`}
      live={view.state === 'running'}
      onOpenWhole={actions.openWhole}
      start={text.start}
      text={text.text}
      truncated={text.truncated}
    />
  )
  // A denial by the operator is told once, with who and when.
  const told = state === 'denied' && view.approval?.settlement?.by === 'operator'
  const exit = view.exitCode !== null && view.stateReason === `It ended with exit code ${view.exitCode}.`
  const means =
    told || exit || (state === 'approved' && !isLeftOver(view, now))
      ? null
      : (view.stateReason ?? STATE_MEANS[state] ?? null)
  return (
    <article
      aria-labelledby={`${id}-head`}
      className={`card min-w-0 rounded border bg-panel px-3 py-2.5 text-ui ${state === 'pending_approval' ? 'border-edge' : 'border-line'} ${quiet ? 'card-settled' : ''}`}
      data-card={view.id}
      data-group={group === undefined ? undefined : 'true'}
      data-risk={view.risk}
      data-state={view.state}
      data-testid={group === undefined ? `card-${view.id}` : `group-${view.id}`}
      ref={props.cardRef}
      tabIndex={-1}
    >
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1" id={`${id}-head`}>
        <RiskBadge risk={view.risk} />
        {view.sandbox === 'files' ? (
          <span
            className="rounded border border-edge px-1.5 text-meta text-ink-2"
            data-testid="sandboxed"
            title="It can only read files: no network, no other process, nothing it could write to."
          >
            sandboxed
          </span>
        ) : null}
        <span className="min-w-0 break-all font-mono text-code text-ink">
          <Visible text={view.target} />
        </span>
        {group?.head}
        <span className="ml-auto flex flex-wrap items-center gap-x-2">
          <StateBadge state={state} />
          <Times now={now} view={view} />
        </span>
      </div>
      <div className="space-y-2">
        <Command highlight={props.highlight === true} view={view} />
        <CommandContext view={view} />
        <UndoOf command={props.takesBack ?? null} onShow={actions.show} view={view} />
        <Purpose view={view} />
        <Reasons view={view} />
        {view.blast === undefined || view.state !== 'pending_approval' ? null : <BlastLine blast={view.blast} />}
        {view.undo === null || view.undo === undefined || !OFFERS_UNDO.has(view.state) ? null : (
          <UndoLine undo={view.undo} />
        )}
        {means === null ? null : (
          <p
            className={`break-words ${state === 'unknown' ? 'text-unknown' : state === 'failed' || state === 'timed_out' ? 'text-destructive' : 'text-ink-2'}`}
            data-testid="state-reason"
          >
            <Visible text={means} />
          </p>
        )}
        <Settlement now={now} view={view} />
        <Preview actions={actions} preview={props.preview} view={view} />
        {group === undefined ? (
          <Controls
            actions={actions}
            always={props.always}
            armed={props.armed}
            busy={props.busy}
            madeAgain={props.madeAgain}
            madeUndo={props.madeUndo ?? null}
            now={now}
            view={view}
          />
        ) : (
          group.answer
        )}
        {alike === 0 || group !== undefined ? null : (
          <p className="text-ink-2" data-testid="alike">
            {counted(alike, 'more request asks', 'more requests ask')} for the same.{' '}
            <button className="link" onClick={actions.showAlike} type="button">
              Show them
            </button>
          </p>
        )}
        {problem === null ? null : <FailureText failure={problem} testId="card-problem" />}
        {!hasOutput ? null : outputOpen ? (
          pane
        ) : (
          <Fold label="Output">
            <div className="mt-1">{pane}</div>
          </Fold>
        )}
      </div>
    </article>
  )
}
