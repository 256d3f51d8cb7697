import { useState } from 'react'
import type { Failure, HealthProblem } from '../../src-preload/contract'
import { failureOf, request } from '../bridge/client'
import { useWorld } from '../bridge/stores'
import { resync } from '../bridge/sync'
import { FailureText } from '../parts/FailureText'
import { Icon } from '../parts/icons'
import { Visible } from '../parts/Visible'

function Problem({ problem }: { readonly problem: HealthProblem }) {
  const [busy, setBusy] = useState<string | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const act = async (action: string): Promise<void> => {
    setBusy(action)
    setFailure(null)
    try {
      await request('health.act', { code: problem.code, action })
      await resync()
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(null)
  }
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 py-2">
      <Icon className="mt-0.5 text-destructive" name="warning" />
      <div className="min-w-0 flex-1 basis-80 break-words">
        <span className="text-ink">
          <Visible text={problem.sentence} />
        </span>{' '}
        {problem.path === null || problem.sentence.includes(problem.path) ? null : (
          <code className="break-all font-mono text-code text-ink-2">
            <Visible text={problem.path} />
          </code>
        )}{' '}
        {problem.blocksRuns && !problem.sentence.includes('Nothing runs until') ? (
          <strong className="font-semibold">Nothing runs until this is resolved.</strong>
        ) : null}
        {failure === null ? null : <FailureText failure={failure} />}
      </div>
      <div className="flex flex-wrap gap-2">
        {problem.actions.map((action) => (
          <button
            className="btn"
            data-testid={`health-act-${action.id}`}
            disabled={busy !== null}
            key={action.id}
            onClick={() => void act(action.id)}
            type="button"
          >
            <Visible text={action.label} />
          </button>
        ))}
      </div>
    </li>
  )
}

/** What is wrong with Nomos itself, above every room until somebody resolves it. */
export function HealthBar() {
  const health = useWorld((world) => world.health)
  const failure = useWorld((world) => world.failure)
  if (health.length === 0 && failure === null) return null
  return (
    <aside
      aria-label="Problems of Nomos"
      className="max-h-[40vh] overflow-y-auto border-destructive border-b-2 bg-raised"
      data-testid="health-bar"
    >
      <ul className="divide-y divide-line">
        {failure === null ? null : (
          <li className="px-4 py-2">
            <FailureText failure={failure} />
          </li>
        )}
        {health.map((problem) => (
          <Problem key={problem.code} problem={problem} />
        ))}
      </ul>
    </aside>
  )
}
