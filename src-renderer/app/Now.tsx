import { useMemo, useRef, useState } from 'react'
import type { ExecutionView, Failure } from '../../src-preload/contract'
import { openApproveAll, useApprovable } from '../bridge/ApproveAll'
import { reveal, start, stop } from '../bridge/desk'
import { alike } from '../bridge/groups'
import { shownOf, useSeen } from '../bridge/seen'
import { useCardNotes, useExecutions, useWorld } from '../bridge/stores'
import { setSwitch } from '../bridge/switches'
import { goTo, useUi } from '../bridge/ui'
import { RiskBadge, StateBadge } from '../parts/badges'
import { headOf } from '../parts/command'
import { FailureText } from '../parts/FailureText'
import { Icon } from '../parts/icons'
import { Switch } from '../parts/Switch'
import { counted, duration, timeLeft } from '../parts/time'
import { useNow } from '../parts/useNow'
import { Visible } from '../parts/Visible'
import { visibleText } from '../parts/visible'

/** More than this are counted, not listed: the approvals room has them all. */
const MOST_LISTED = 20

const nameOf = (view: ExecutionView): string =>
  `${visibleText(headOf(view.command).line).slice(0, 60)} on ${visibleText(view.target)}`

function Line({ view }: { readonly view: ExecutionView }) {
  const { line, more } = headOf(view.command)
  return (
    <p className="logical line-clamp-2 break-all font-mono text-code text-ink">
      <Visible text={line} />
      {more > 0 ? <span className="text-ink-3"> (+{counted(more, 'line', 'lines')})</span> : null}
    </p>
  )
}

/** One line for a request, or for several that ask for the same: the newest of them stands for all. */
function Waiting({ views, now }: { readonly views: readonly ExecutionView[]; readonly now: number }) {
  const line = useRef<HTMLLIElement>(null)
  const items = useMemo(() => views.flatMap((view) => shownOf(view) ?? []), [views])
  const [view] = views
  useSeen(line, items, 'elsewhere')
  if (view === undefined) return null
  return (
    <li className="space-y-1 rounded border border-edge bg-page px-2.5 py-2" data-testid={`now-${view.id}`} ref={line}>
      <div className="flex flex-wrap items-center gap-x-2">
        <RiskBadge risk={view.risk} />
        <span className="min-w-0 break-all font-mono text-code text-ink-2">
          <Visible text={view.target} />
        </span>
        {views.length === 1 ? null : <span className="text-meta text-ink-2">{views.length} identical</span>}
      </div>
      <Line view={view} />
      <div className="flex items-center gap-2">
        <button
          aria-label={`Review ${nameOf(view)}`}
          className="btn btn-small"
          data-testid="review"
          onClick={() => reveal(view.id)}
          type="button"
        >
          Review
        </button>
        <span className="tabular ml-auto text-meta text-ink-3">
          {view.approval === null ? '' : timeLeft(view.approval.expiresAt, now)}
        </span>
      </div>
    </li>
  )
}

function Running({ view, now }: { readonly view: ExecutionView; readonly now: number }) {
  const busy = useCardNotes((state) => state.byId[view.id]?.busy ?? null)
  const name = nameOf(view)
  return (
    <li className="space-y-1 rounded border border-line bg-page px-2.5 py-2">
      <div className="flex flex-wrap items-center gap-x-2">
        <StateBadge state={view.state} />
        <span className="min-w-0 break-all font-mono text-code text-ink-2">
          <Visible text={view.target} />
        </span>
      </div>
      <Line view={view} />
      <div className="flex items-center gap-2">
        <button aria-label={`Show ${name}`} className="btn btn-small" onClick={() => reveal(view.id)} type="button">
          Show
        </button>
        {view.state === 'running' ? (
          <button
            aria-label={busy === 'stop' ? undefined : `Stop ${name}`}
            className="btn btn-small"
            disabled={busy === 'stop'}
            onClick={() => void stop(view.id)}
            type="button"
          >
            {busy === 'stop' ? 'Stopping…' : 'Stop'}
          </button>
        ) : (
          <button
            aria-label={busy === 'start' ? undefined : `Start ${name}`}
            className="btn btn-small"
            disabled={busy !== null}
            onClick={() => void start(view.id)}
            type="button"
          >
            {busy === 'start' ? 'Starting…' : 'Start'}
          </button>
        )}
        <span className="tabular ml-auto text-meta text-ink-3">
          {view.state === 'running' ? duration(now - (view.startedAt ?? view.requestedAt), true) : ''}
        </span>
      </div>
    </li>
  )
}

/** What is counted and not listed is told as seen with the line that counts it. */
function Rest({ waiting, more }: { readonly waiting: number; readonly more: readonly ExecutionView[] }) {
  const line = useRef<HTMLButtonElement>(null)
  const items = useMemo(() => more.flatMap((view) => shownOf(view) ?? []), [more])
  useSeen(line, items, 'elsewhere')
  return (
    <button className="link mt-2" onClick={() => goTo('approvals')} ref={line} type="button">
      All {waiting} in Approvals
    </button>
  )
}

function Switches() {
  const policy = useWorld((world) => world.policy)
  const [failure, setFailure] = useState<Failure | null>(null)
  const change = (name: 'askAboutEverything' | 'pauseAutomatic', on: boolean): void => {
    void setSwitch(name, on).then(setFailure)
  }
  return (
    <div className="space-y-2 border-line border-t px-3 py-3">
      <Switch
        disabled={policy === null}
        label="Pause automatic runs"
        on={policy?.pauseAutomatic ?? false}
        onChange={(on) => change('pauseAutomatic', on)}
        testId="switch-pause"
      />
      <Switch
        disabled={policy === null}
        label="Ask about everything"
        on={policy?.askAboutEverything ?? false}
        onChange={(on) => change('askAboutEverything', on)}
        testId="switch-ask"
      />
      {failure === null ? null : <FailureText failure={failure} />}
    </div>
  )
}

/** What waits, what runs, the fleet, the switches: the same beside every room. */
export function Now() {
  const waiting = useExecutions((state) => state.waiting)
  const running = useExecutions((state) => state.running)
  const approved = useExecutions((state) => state.approved)
  const targets = useWorld((world) => world.targets)
  const approvable = useApprovable()
  const ticking = waiting.length + running.length > 0
  const now = useNow(ticking ? 1000 : null)
  const hosts = targets.filter((target) => target.kind === 'ssh').length
  // The newest need the eye first, here as in the approvals room.
  const lines = useMemo(() => alike([...waiting].reverse()), [waiting])
  const rest = useMemo(() => lines.slice(MOST_LISTED).flat(), [lines])
  const idle = approved.filter((view) => now - (view.approval?.settlement?.at ?? view.requestedAt) > 2000)
  return (
    <aside aria-label="Now" className="frame-now" data-testid="now">
      <div className="flex h-11 shrink-0 items-center gap-2 border-line border-b px-3">
        <h2 className="grow font-semibold">Now</h2>
        <button
          aria-label="Fold Now away"
          className="btn btn-plain btn-small"
          data-testid="now-fold"
          onClick={() => useUi.setState((ui) => (ui.nowOver ? { nowOver: false } : { nowFolded: true }))}
          title="Fold away"
          type="button"
        >
          <Icon name="chevron" size={14} />
        </button>
      </div>
      <div className="min-h-0 grow space-y-4 overflow-y-auto px-3 py-3">
        <section aria-label="Waiting">
          <h3 className="mb-1.5 font-semibold text-ink-2">
            Waiting <span className="tabular font-normal">({waiting.length})</span>
          </h3>
          {waiting.length === 0 ? (
            <p className="text-ink-3">Nothing waits for you.</p>
          ) : (
            <ul className="space-y-2">
              {lines.slice(0, MOST_LISTED).map((views) => (
                <Waiting key={views.at(-1)?.id} now={now} views={views} />
              ))}
            </ul>
          )}
          {rest.length > 0 ? <Rest more={rest} waiting={waiting.length} /> : null}
          {approvable > 1 ? (
            <button
              className="btn btn-small mt-2 max-w-full"
              data-testid="now-approve-all"
              onClick={openApproveAll}
              type="button"
            >
              Approve all non-destructive ({approvable})…
            </button>
          ) : null}
        </section>
        {idle.length === 0 ? null : (
          <section aria-label="Approved, not started">
            <h3 className="mb-1.5 font-semibold text-ink-2">
              Approved, not started <span className="tabular font-normal">({idle.length})</span>
            </h3>
            <ul className="space-y-2">
              {idle.slice(0, MOST_LISTED).map((view) => (
                <Running key={view.id} now={now} view={view} />
              ))}
            </ul>
          </section>
        )}
        <section aria-label="Running">
          <h3 className="mb-1.5 font-semibold text-ink-2">
            Running <span className="tabular font-normal">({running.length})</span>
          </h3>
          {running.length === 0 ? (
            <p className="text-ink-3">Nothing runs.</p>
          ) : (
            <ul className="space-y-2">
              {running.slice(0, MOST_LISTED).map((view) => (
                <Running key={view.id} now={now} view={view} />
              ))}
            </ul>
          )}
        </section>
        <section aria-label="Fleet">
          <h3 className="mb-1.5 font-semibold text-ink-2">Fleet</h3>
          <button className="link" onClick={() => goTo('fleet')} type="button">
            {hosts === 0 ? 'This computer only' : `This computer and ${counted(hosts, 'host', 'hosts')}`}
          </button>
        </section>
      </div>
      <Switches />
    </aside>
  )
}
