import { useState } from 'react'
import type { DoctorCheck, Failure } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { FailureText } from '../../parts/FailureText'
import { Visible } from '../../parts/Visible'

const STATUS = {
  ok: { word: 'ok', sign: '✓', colour: 'text-read-only' },
  warning: { word: 'look', sign: '■', colour: 'text-change' },
  failed: { word: 'wrong', sign: '✕', colour: 'text-destructive' },
} as const satisfies Record<DoctorCheck['status'], { word: string; sign: string; colour: string }>

/** The numbered checks of Nomos itself, with what to do about each. */
export function Doctor() {
  const [checks, setChecks] = useState<readonly DoctorCheck[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [busy, setBusy] = useState(false)
  const run = async (): Promise<void> => {
    setBusy(true)
    setFailure(null)
    try {
      setChecks(await request('doctor.run', {}))
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }
  return (
    <section aria-labelledby="doctor" className="space-y-3">
      <div className="flex items-center gap-3">
        <h2 className="grow font-semibold" id="doctor">
          Checks
        </h2>
        <button className="btn" data-testid="doctor-run" disabled={busy} onClick={() => void run()} type="button">
          {busy ? 'Checking…' : checks === null ? 'Run the checks' : 'Check again'}
        </button>
      </div>
      {failure === null ? null : <FailureText failure={failure} />}
      {checks === null ? (
        <p className="text-ink-2">
          They look at the database, the ledger, the keyring, SSH and the command-line socket.
        </p>
      ) : (
        <ol className="divide-y divide-line">
          {checks.map((check) => (
            <li
              className="grid grid-cols-[28px_72px_minmax(0,1fr)] gap-x-2 py-1.5"
              data-status={check.status}
              data-testid="doctor-check"
              key={check.number}
            >
              <span className="tabular text-right text-ink-3">{check.number}</span>
              <span className={STATUS[check.status].colour}>
                <span aria-hidden="true">{STATUS[check.status].sign}</span> {STATUS[check.status].word}
              </span>
              <div className="min-w-0 break-words">
                {check.name}:{' '}
                <span className="text-ink-2">
                  <Visible text={check.found} />
                </span>
                {check.remedy === null ? null : (
                  <p>
                    <Visible text={check.remedy} />
                  </p>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
