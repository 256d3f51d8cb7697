import { useCallback, useEffect, useMemo, useState } from 'react'
import type { ExecutionState, Failure } from '../../../src-preload/contract'
import { RoomBody, RoomHead } from '../../app/RoomHead'
import { failureOf, request } from '../../bridge/client'
import { LiveCard } from '../../bridge/LiveCard'
import { putExecutions, useExecutions } from '../../bridge/stores'
import { openSession, setDraft, useUi } from '../../bridge/ui'
import { FailureText } from '../../parts/FailureText'
import { STATE_WORD } from '../../parts/words'
import { steadyOrder } from './order'

const PAGE = 50

const FILTERS = {
  all: ['completed', 'failed', 'timed_out', 'cancelled', 'denied', 'expired', 'undeliverable', 'unknown'],
  completed: ['completed'],
  failed: ['failed', 'timed_out'],
  unknown: ['unknown'],
  denied: ['denied'],
  cancelled: ['cancelled'],
  expired: ['expired', 'undeliverable'],
} as const satisfies Record<string, readonly ExecutionState[]>

type Filter = keyof typeof FILTERS

const FILTER_WORD: Readonly<Record<Filter, string>> = {
  all: 'everything',
  completed: STATE_WORD.completed,
  failed: 'failed or timed out',
  unknown: STATE_WORD.unknown,
  denied: STATE_WORD.denied,
  cancelled: STATE_WORD.cancelled,
  expired: 'expired or undeliverable',
}

function History({ elsewhere }: { readonly elsewhere: ReadonlySet<string> }) {
  const settled = useExecutions((state) => state.settled)
  const [filter, setFilter] = useState<Filter>('all')
  const [ids, setIds] = useState<readonly string[] | null>(null)
  const [more, setMore] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)

  const read = useCallback(async (chosen: Filter, before: string | null): Promise<void> => {
    setBusy(true)
    try {
      const page = await request('executions.list', { states: [...FILTERS[chosen]], before, limit: PAGE })
      putExecutions(page.executions)
      const got = page.executions.map((view) => view.id)
      setIds((old) => (before === null || old === null ? got : [...old, ...got.filter((id) => !old.includes(id))]))
      setMore(page.more)
      setFailure(null)
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is read again whenever something settles
  useEffect(() => {
    // Several may settle at once; one read a moment later is enough.
    const timer = setTimeout(() => void read(filter, null), ids === null ? 0 : 250)
    return () => clearTimeout(timer)
  }, [filter, settled, read])

  const listed = (ids ?? []).filter((id) => !elsewhere.has(id))
  return (
    <section aria-labelledby="history" className="space-y-3">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="grow font-semibold" id="history">
          Settled
        </h2>
        <label className="flex items-center gap-2 text-ink-2">
          Show
          <select
            className="input w-auto"
            data-testid="history-filter"
            onChange={(event) => {
              const next = (Object.keys(FILTERS) as Filter[]).find((name) => name === event.target.value)
              if (next !== undefined) setFilter(next)
            }}
            value={filter}
          >
            {(Object.keys(FILTERS) as Filter[]).map((name) => (
              <option key={name} value={name}>
                {FILTER_WORD[name]}
              </option>
            ))}
          </select>
        </label>
      </div>
      {failure === null ? null : <FailureText failure={failure} />}
      {ids === null ? null : listed.length === 0 ? (
        <p className="text-ink-3">Nothing of this kind so far.</p>
      ) : (
        <ul className="space-y-3">
          {listed.map((id) => (
            <li key={id}>
              <LiveCard id={id} outputOpen={false} />
            </li>
          ))}
        </ul>
      )}
      {more ? (
        <button className="btn" disabled={busy} onClick={() => void read(filter, ids?.at(-1) ?? null)} type="button">
          {busy ? 'Reading…' : 'Show older'}
        </button>
      ) : null}
    </section>
  )
}

/**
 * The waiting cards, newest first, and those among them that were settled while this room is open: a card stays where it was
 * answered, so that its outcome is seen and nothing slips under the pointer. For the same reason new ones are held back while
 * the pointer is over an answer.
 */
function useSteadyOrder(waiting: readonly string[]): { readonly shown: readonly string[]; readonly held: number } {
  const [shown, setShown] = useState(waiting)
  useEffect(() => {
    const update = (): void => {
      if (document.querySelector('[data-answer]:hover') !== null) return
      setShown((old) => steadyOrder(old, waiting))
    }
    update()
    const timer = setInterval(update, 500)
    return () => clearInterval(timer)
  }, [waiting])
  return { shown, held: waiting.filter((id) => !shown.includes(id)).length }
}

/** What waits for an answer, newest first, then what was settled. */
export default function Approvals() {
  const waiting = useExecutions((state) => state.waiting)
  const approved = useExecutions((state) => state.approved)
  const running = useExecutions((state) => state.running)
  const wanted = useUi((ui) => ui.reveal)
  const [opened, setOpened] = useState<string | null>(null)
  const key = [...waiting]
    .reverse()
    .map((view) => view.id)
    .join(' ')
  const ids = useMemo(() => (key === '' ? [] : key.split(' ')), [key])
  const { shown, held } = useSteadyOrder(ids)
  const here = useMemo(() => new Set(shown), [shown])
  const active = [...approved, ...running].filter((view) => !here.has(view.id)).reverse()

  useEffect(() => {
    if (wanted !== null) setOpened(wanted)
  }, [wanted])

  const elsewhere =
    opened !== null && !here.has(opened) && !ids.includes(opened) && !active.some((view) => view.id === opened)
  const extra = elsewhere ? opened : null
  return (
    <>
      <RoomHead title="Approvals" />
      <RoomBody>
        {extra === null ? null : (
          <section aria-labelledby="opened" className="space-y-3">
            <h2 className="font-semibold" id="opened">
              Opened
            </h2>
            <LiveCard id={extra} key={extra} />
          </section>
        )}
        <section aria-labelledby="pending" className="space-y-3">
          <h2 className="font-semibold" id="pending">
            Waiting for your answer <span className="tabular font-normal text-ink-2">({waiting.length})</span>
          </h2>
          {held > 0 ? <p className="text-ink-2">{held} more arrived</p> : null}
          {shown.length === 0 ? (
            <div className="space-y-2 text-ink-2">
              <p>Nothing waits. What changes a machine waits here for your answer, for example:</p>
              <button
                className="btn font-normal"
                onClick={() => {
                  openSession(useUi.getState().session)
                  setDraft(useUi.getState().session, '/run local mkdir /tmp/nomos-example')
                }}
                type="button"
              >
                <code className="break-all font-mono text-code">/run local mkdir /tmp/nomos-example</code>
              </button>
            </div>
          ) : (
            <ul className="space-y-3">
              {shown.map((id) => (
                <li key={id}>
                  <LiveCard id={id} />
                </li>
              ))}
            </ul>
          )}
        </section>
        {active.length === 0 ? null : (
          <section aria-labelledby="active" className="space-y-3">
            <h2 className="font-semibold" id="active">
              Approved and running <span className="tabular font-normal text-ink-2">({active.length})</span>
            </h2>
            <ul className="space-y-3">
              {active.map((view) => (
                <li key={view.id}>
                  <LiveCard id={view.id} />
                </li>
              ))}
            </ul>
          </section>
        )}
        <History elsewhere={here} />
      </RoomBody>
    </>
  )
}
