import { useState } from 'react'
import type { Failure } from '../../src-preload/contract'
import { failureOf, request } from '../bridge/client'
import { openPolicy } from '../bridge/scope'
import { useWorld } from '../bridge/stores'
import { setNeverAuto, setSwitch } from '../bridge/switches'
import { useUi } from '../bridge/ui'
import { FailureText } from '../parts/FailureText'
import { Icon } from '../parts/icons'
import { Visible } from '../parts/Visible'
import { visibleText } from '../parts/visible'

interface On {
  readonly id: string
  readonly says: string
  /** What the button's spoken name adds. */
  readonly name: string
  readonly off: () => Promise<Failure | null>
}

/** The switches that are on, each with the way to switch it off. Calm: they only make Nomos ask more. */
function SwitchStrip() {
  const policy = useWorld((world) => world.policy)
  const [busy, setBusy] = useState<string | null>(null)
  const failure = useUi((ui) => ui.switchFailure)
  if (policy === null) return null
  const on: On[] = []
  if (policy.pauseAutomatic) {
    on.push({
      id: 'pause',
      says: 'Automatic runs are paused',
      name: 'Pause automatic runs',
      off: () => setSwitch('pauseAutomatic', false),
    })
  }
  if (policy.askAboutEverything) {
    on.push({
      id: 'ask',
      says: 'Everything is asked about',
      name: 'Ask about everything',
      off: () => setSwitch('askAboutEverything', false),
    })
  }
  for (const slug of policy.neverAuto) {
    on.push({
      id: slug,
      says: `Never automatic on ${visibleText(slug)}`,
      name: `Never automatic on ${visibleText(slug)}`,
      off: () => setNeverAuto(slug, false),
    })
  }
  if (on.length === 0 && failure === null) return null
  const off = (one: On): void => {
    setBusy(one.id)
    void one.off().then((answer) => {
      useUi.setState({ switchFailure: answer })
      setBusy(null)
    })
  }
  return (
    <aside
      aria-label="Switches that are on"
      className="border-line border-b bg-raised px-4 py-1"
      data-testid="switch-strip"
    >
      <ul className="flex max-h-[20vh] flex-wrap items-center gap-x-5 gap-y-0.5 overflow-y-auto">
        {on.map((one) => (
          <li className="flex min-w-0 items-center gap-1.5" key={one.id}>
            <Icon className="text-ink-2" name="policy" size={14} />
            <span className="min-w-0 break-words">{one.says}</span>
            <button
              aria-label={`Switch off: ${one.name}`}
              className="btn btn-plain btn-small underline underline-offset-3"
              data-testid={`switch-off-${one.id}`}
              disabled={busy !== null}
              onClick={() => off(one)}
              type="button"
            >
              {busy === one.id ? 'Switching off…' : 'Switch off'}
            </button>
          </li>
        ))}
      </ul>
      {failure === null ? null : <FailureText failure={failure} />}
    </aside>
  )
}

/** Above every room: while nothing is asked any more or a session is raised by `/elevated`, and calmer while a switch is on. */
export function PolicyStrip() {
  return (
    <>
      <OpenStrip />
      <SwitchStrip />
    </>
  )
}

function OpenStrip() {
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
