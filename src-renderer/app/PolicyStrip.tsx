import { useState } from 'react'
import type { Failure } from '../../src-preload/contract'
import { failureOf, request } from '../bridge/client'
import { openPolicy } from '../bridge/scope'
import { useWorld } from '../bridge/stores'
import { FailureText } from '../parts/FailureText'
import { Icon } from '../parts/icons'
import { Visible } from '../parts/Visible'
import { visibleText } from '../parts/visible'

/** Above every room while nothing is asked any more, or while a session is raised by `/elevated`. */
export function PolicyStrip() {
  const open = useWorld((world) => world.policy?.open ?? false)
  const elevated = useWorld((world) => world.policy?.elevated)
  const sessions = useWorld((world) => world.sessions)
  const [busy, setBusy] = useState<string | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const raised = elevated ?? []
  if (!open && raised.length === 0) return null
  const end = async (session: string): Promise<void> => {
    setBusy(session)
    setFailure(null)
    try {
      useWorld.setState({ policy: await request('policy.clearSession', { session }) })
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(null)
  }
  return (
    <aside aria-label="Policy that is open" data-testid="policy-strip">
      <ul>
        {open ? (
          <li
            className="flex flex-wrap items-center gap-x-3 gap-y-1 bg-destructive px-4 py-1.5 text-page"
            data-testid="open-strip"
          >
            <Icon name="warning" />
            <span className="min-w-0 flex-1 basis-72">
              <strong className="font-semibold">No questions are asked.</strong> Commands run at once, also those that
              cannot be undone.
            </span>
            <button className="btn btn-small" onClick={() => openPolicy('presets')} type="button">
              Choose another policy
            </button>
          </li>
        ) : null}
        {raised.map((session) => {
          const title = sessions.find((one) => one.id === session)?.title ?? ''
          const name = title === '' ? 'A session without a name' : title
          return (
            <li
              className="flex flex-wrap items-center gap-x-3 gap-y-1 bg-destructive px-4 py-1.5 text-page"
              data-testid={`elevated-${session}`}
              key={session}
            >
              <Icon name="warning" />
              <span className="min-w-0 flex-1 basis-72 break-words">
                <strong className="font-semibold">
                  <Visible text={name} /> is raised.
                </strong>{' '}
                Its changes run without a question as far as the host’s policy allows, until you end that or Nomos ends.
                What cannot be undone still takes its phrase.
              </span>
              <button
                aria-label={`End it: ${visibleText(name)}`}
                className="btn btn-small"
                data-testid={`elevated-end-${session}`}
                disabled={busy !== null}
                onClick={() => void end(session)}
                type="button"
              >
                {busy === session ? 'Ending…' : 'End it'}
              </button>
            </li>
          )
        })}
        {failure === null ? null : (
          <li className="bg-raised px-4 py-2">
            <FailureText failure={failure} />
          </li>
        )}
      </ul>
    </aside>
  )
}
