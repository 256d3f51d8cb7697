import { memo, useCallback, useEffect, useMemo, useState } from 'react'
import type { Failure, LedgerEntry, LedgerReport } from '../../../src-preload/contract'
import { RoomBody, RoomHead } from '../../app/RoomHead'
import { failureOf, request } from '../../bridge/client'
import { reveal } from '../../bridge/desk'
import { ExampleCommand } from '../../bridge/ExampleCommand'
import { useWorld } from '../../bridge/stores'
import { FailureText } from '../../parts/FailureText'
import { Fold } from '../../parts/Fold'
import { counted, exactClock } from '../../parts/time'
import { Visible } from '../../parts/Visible'
import { type Subject, sentenceOf } from './sentences'

const PAGE = 100

const Row = memo(function Row({ entry, subject }: { readonly entry: LedgerEntry; readonly subject: Subject | null }) {
  const { sentence, command } = sentenceOf(entry, subject)
  const { executionId } = entry
  return (
    <li
      className="grid grid-cols-[44px_136px_minmax(0,1fr)] gap-x-3 py-1.5 max-mid:grid-cols-[44px_minmax(0,1fr)]"
      data-kind={entry.kind}
      data-testid="ledger-row"
    >
      <span className="tabular text-right text-ink-3">{entry.seq}</span>
      <time className="tabular whitespace-nowrap text-ink-2" dateTime={new Date(entry.at).toISOString()}>
        {exactClock(entry.at)}
      </time>
      <div className="min-w-0 max-mid:col-start-2">
        <Fold label={<span className="break-words text-ink">{sentence}</span>}>
          <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 text-ink-2">
            {Object.entries(entry.data).map(([name, value]) => (
              <div className="contents" key={name}>
                <dt className="text-ink-3">
                  <Visible text={name} />
                </dt>
                <dd className="exact min-w-0 font-mono text-code">
                  <Visible text={typeof value === 'string' ? value : JSON.stringify(value)} />
                </dd>
              </div>
            ))}
            <dt className="text-ink-3">kind</dt>
            <dd className="font-mono text-code">{entry.kind}</dd>
            <dt className="text-ink-3">actor</dt>
            <dd className="font-mono text-code">
              <Visible text={entry.actor} />
            </dd>
            <dt className="text-ink-3">hash</dt>
            <dd className="break-all font-mono text-code">{entry.hash}</dd>
          </dl>
          {executionId === null ? null : (
            <button className="link mt-1" onClick={() => reveal(executionId)} type="button">
              Show its card
            </button>
          )}
        </Fold>
        {command === null ? null : (
          <code className="logical block truncate pl-4 font-mono text-code text-ink-2" title={command}>
            {command}
          </code>
        )}
      </div>
    </li>
  )
})

function Verify() {
  const [report, setReport] = useState<LedgerReport | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [busy, setBusy] = useState(false)
  const verify = async (): Promise<void> => {
    setBusy(true)
    setReport(null)
    setFailure(null)
    try {
      setReport(await request('ledger.verify', {}))
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }
  return (
    <div className="flex flex-wrap items-center gap-3">
      <button className="btn" data-testid="ledger-verify" disabled={busy} onClick={() => void verify()} type="button">
        {busy ? 'Verifying…' : 'Verify the ledger'}
      </button>
      <div data-testid="ledger-report" role="status">
        {report === null ? null : report.intact ? (
          <span className="text-read-only">
            Intact: {counted(report.entries, 'entry', 'entries')}, each fits the one before.
          </span>
        ) : (
          <span className="text-destructive">
            Broken
            {report.problem === null ? '' : ` at entry ${report.problem.seq}: ${report.problem.what}`}. Entries from
            there on cannot be trusted.
          </span>
        )}
      </div>
      {failure === null ? null : <FailureText failure={failure} />}
    </div>
  )
}

/** The ledger, newest first, as sentences. */
export default function Activity() {
  const head = useWorld((world) => world.ledgerHead)
  const [entries, setEntries] = useState<readonly LedgerEntry[] | null>(null)
  const [more, setMore] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)

  const read = useCallback(async (before: number | null): Promise<void> => {
    setBusy(true)
    try {
      const page = await request('ledger.page', { before, limit: PAGE })
      setEntries((old) => {
        const bySeq = new Map([...(old ?? []), ...page.entries].map((entry) => [entry.seq, entry]))
        return [...bySeq.values()].sort((a, b) => b.seq - a.seq)
      })
      setMore((old) => (before === null && old ? old : page.more))
      setFailure(null)
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: new entries are read whenever the ledger grows
  useEffect(() => {
    const timer = setTimeout(() => void read(null), entries === null ? 0 : 400)
    return () => clearTimeout(timer)
  }, [head, read])

  // Only the first entry of a request holds its command; the others are told with it.
  const subjects = useMemo(() => {
    const found = new Map<string, Subject>()
    for (const entry of entries ?? []) {
      const { target, command } = entry.data
      if (entry.executionId === null || typeof target !== 'string' || typeof command !== 'string') continue
      found.set(entry.executionId, { target, command })
    }
    return found
  }, [entries])

  return (
    <>
      <RoomHead title="Activity" />
      <RoomBody>
        <Verify />
        {failure === null ? null : <FailureText failure={failure} />}
        {entries === null ? null : entries.length === 0 ? (
          <div className="space-y-2 text-ink-2">
            <p>The ledger is empty. Everything that is asked, answered and run is written here, for example:</p>
            <ExampleCommand text="/run local uname -a" />
          </div>
        ) : (
          <section aria-labelledby="entries">
            <h2 className="visually-hidden" id="entries">
              Entries
            </h2>
            <ul className="divide-y divide-line">
              {entries.map((entry) => (
                <Row
                  entry={entry}
                  key={entry.seq}
                  subject={entry.executionId === null ? null : (subjects.get(entry.executionId) ?? null)}
                />
              ))}
            </ul>
          </section>
        )}
        {more ? (
          <button
            className="btn"
            data-testid="ledger-older"
            disabled={busy}
            onClick={() => void read(entries?.at(-1)?.seq ?? null)}
            type="button"
          >
            {busy ? 'Reading…' : 'Show older'}
          </button>
        ) : null}
      </RoomBody>
    </>
  )
}
