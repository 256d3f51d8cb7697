import { useState } from 'react'
import type { AnswerResult, ExecutionView, Failure } from '../../src-preload/contract'
import { RiskBadge, StateBadge } from '../parts/badges'
import { CommandText } from '../parts/CommandText'
import { Dialog } from '../parts/Dialog'
import { FailureText } from '../parts/FailureText'
import { Fold } from '../parts/Fold'
import { focusIfLost } from '../parts/focus'
import { counted } from '../parts/time'
import { Visible } from '../parts/Visible'
import { cardState, principalWord } from '../parts/words'
import { answerMany } from './desk'
import { alone } from './groups'
import { useExecutions } from './stores'
import { useUi } from './ui'

/** How many of what waits may be approved together. */
export const useApprovable = (): number =>
  useExecutions((state) => state.waiting.reduce((count, view) => count + (alone(view) === null ? 1 : 0), 0))

/** Opens the list of what would be approved. It approves nothing by itself. */
export const openApproveAll = (): void => useUi.setState({ overlay: 'approve-all' })

/** Longer commands are folded to their beginning; their whole is one key away. */
const LINES = 6

function Row({ view, result }: { readonly view: ExecutionView; readonly result: AnswerResult | undefined }) {
  const now = useExecutions((state) => state.byId[view.id] ?? view)
  const lines = view.command.split('\n')
  const long = lines.length > LINES + 2
  return (
    <li
      className="out-of-sight space-y-1 rounded border border-line bg-page px-3 py-2"
      data-testid={`approve-all-${view.id}`}
      style={{ containIntrinsicBlockSize: 'auto 70px' }}
    >
      <div className="flex flex-wrap items-center gap-x-3">
        <RiskBadge risk={view.risk} />
        <span className="min-w-0 break-all font-mono text-code">
          <Visible text={view.target} />
        </span>
        <span className="ml-auto text-ink-2">
          {now.state === 'pending_approval' ? (
            `asked by ${principalWord(view.principal)}`
          ) : (
            <StateBadge state={cardState(now)} />
          )}
        </span>
      </div>
      {long ? (
        <Fold
          label={
            <span>
              <CommandText command={lines.slice(0, LINES).join('\n')} spans={view.classification.spans} />
              <span className="text-ink-3">{counted(lines.length - LINES, 'more line', 'more lines')}</span>
            </span>
          }
        >
          <CommandText command={view.command} spans={view.classification.spans} />
        </Fold>
      ) : (
        <CommandText command={view.command} spans={view.classification.spans} />
      )}
      {view.cwd === null ? null : (
        <p className="break-words text-meta text-ink-3">
          in{' '}
          <code className="logical break-all font-mono">
            <Visible text={view.cwd} />
          </code>
        </p>
      )}
      {result === undefined || result.ok ? null : (
        <p className="break-words text-destructive" role="alert">
          <Visible text={result.sentence} />
        </p>
      )}
    </li>
  )
}

/**
 * Lists exactly what one answer would approve, and what is left out and why. What comes while it is open is not in it. The focus begins
 * on Close.
 */
export function ApproveAll() {
  const close = (): void => useUi.setState({ overlay: null })
  // What is listed is what is sent: with the digests of this moment, whatever changes meanwhile.
  const [listed] = useState(() => {
    const waiting = [...useExecutions.getState().waiting].reverse()
    const reasons = waiting.map((view) => ({ view, why: alone(view) }))
    return {
      all: waiting,
      approvable: reasons.flatMap(({ view, why }) => (why === null ? [view] : [])),
      left: reasons.flatMap(({ view, why }) => (why === null ? [] : [{ view, why }])),
    }
  })
  const waiting = useExecutions((state) => state.waiting)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [results, setResults] = useState<readonly AnswerResult[] | null>(null)
  const still = new Set(waiting.map((view) => view.id))
  const open = listed.approvable.filter((view) => still.has(view.id))
  const known = new Set(listed.all.map((view) => view.id))
  const arrived = waiting.filter((view) => !known.has(view.id)).length
  const resultOf = new Map((results ?? []).map((result) => [result.id, result]))
  const refused = (results ?? []).filter(({ ok }) => !ok).length
  const confirm = (): void => {
    setBusy(true)
    setFailure(null)
    void answerMany(open, 'approve').then((answered) => {
      setBusy(false)
      if ('failure' in answered) {
        setFailure(answered.failure)
        return
      }
      setResults(answered.results)
      if (!answered.results.every(({ ok }) => ok)) return
      close()
      // The button that opened this may have gone with what it counted.
      focusIfLost(() => document.getElementById('main'))
    })
  }
  const shown =
    results === null
      ? listed.approvable
      : listed.approvable.filter((view) => {
          const result = resultOf.get(view.approval?.id ?? '')
          return result !== undefined && !result.ok
        })
  return (
    <Dialog onClose={close} title="Approve all non-destructive" wide>
      <section
        aria-label="What would be approved"
        className="min-h-0 space-y-4 overflow-y-auto px-4 py-3"
        data-testid="approve-all-list"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {results === null ? (
          <p className="text-ink-2">
            {listed.approvable.length === 0
              ? 'Nothing that waits can be approved together.'
              : `${counted(listed.approvable.length, 'request is', 'requests are')} approved once, exactly as listed here.`}
          </p>
        ) : (
          <p role="status">
            {counted(results.length - refused, 'request was', 'requests were')} approved,{' '}
            {refused === 1 ? 'this one was' : `these ${refused} were`} not:
          </p>
        )}
        <ul className="space-y-2">
          {shown.map((view) => (
            <Row key={view.id} result={resultOf.get(view.approval?.id ?? '')} view={view} />
          ))}
        </ul>
        {listed.left.length === 0 || results !== null ? null : (
          <section aria-labelledby="left-out" className="space-y-2">
            <h3 className="font-semibold" id="left-out">
              Left out <span className="tabular font-normal text-ink-2">({listed.left.length})</span>
            </h3>
            <ul className="space-y-1.5" data-testid="approve-all-left">
              {listed.left.map(({ view, why }) => (
                <li className="flex flex-wrap items-baseline gap-x-3" key={view.id}>
                  <RiskBadge risk={view.risk} />
                  <code className="logical min-w-0 break-all font-mono text-code">
                    <Visible text={`${view.command.split('\n')[0]?.slice(0, 120) ?? ''} on ${view.target}`} />
                  </code>
                  <span className="text-ink-2">{why}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </section>
      <div className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-2">
        <button className="btn btn-plain" onClick={close} type="button">
          Close
        </button>
        {results !== null || listed.approvable.length === 0 ? null : (
          <button
            className="btn"
            data-testid="approve-all-confirm"
            disabled={busy || open.length === 0}
            onClick={(event) => (event.detail > 1 ? undefined : confirm())}
            type="button"
          >
            {busy ? 'Approving…' : open.length === 1 ? 'Approve this one' : `Approve these ${open.length}`}
          </button>
        )}
        {arrived > 0 && results === null ? (
          <span className="text-ink-2">
            {counted(arrived, 'more arrived since and is', 'more arrived since and are')} not in this list.
          </span>
        ) : null}
        {failure === null ? null : <FailureText failure={failure} />}
      </div>
    </Dialog>
  )
}
