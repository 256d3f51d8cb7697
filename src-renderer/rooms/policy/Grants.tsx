import { type FormEvent, useEffect, useState } from 'react'
import type { Failure, GrantKindView, GrantView, Target } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { useScope } from '../../bridge/scope'
import { useWorld } from '../../bridge/stores'
import { Choice } from '../../parts/Choice'
import { endOfDay } from '../../parts/expiry'
import { FailureText } from '../../parts/FailureText'
import { Field } from '../../parts/Field'
import { byTestId, focusIfLost } from '../../parts/focus'
import { Pick } from '../../parts/Pick'
import { clock, timeLeft } from '../../parts/time'
import { useNow } from '../../parts/useNow'
import { Visible } from '../../parts/Visible'
import { visibleText } from '../../parts/visible'
import { readInspection, useRoom } from './room'
import { agentOptions } from './scope-options'

/** The rule files say it in the middle of a sentence. */
const asSentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

/** Where a grant can hold: one target, or all that carry a tag. */
export function placesOf(
  targets: readonly Target[],
  chosen: string,
): readonly { readonly value: string; readonly label: string }[] {
  const groups = [...new Set(targets.flatMap(({ tags }) => tags))].sort().map((tag) => `group:${tag}`)
  const all = [...targets.map(({ slug }) => slug), ...groups]
  return (all.includes(chosen) ? all : [...all, chosen]).map((value) => ({
    value,
    label: value.startsWith('group:') ? `everything tagged ${value.slice(6)}` : value,
  }))
}

const SPANS = ['15', '30', '60', '240', 'tonight'] as const
type Span = (typeof SPANS)[number]

const SPAN_WORD: Readonly<Record<Span, string>> = {
  '15': '15 minutes',
  '30': '30 minutes',
  '60': '1 hour',
  '240': '4 hours',
  tonight: 'until tonight',
}

/** Minutes that a choice made at `now` means; never more than a day, never none. */
export function minutesOf(span: Span, now: number): number {
  if (span !== 'tonight') return Number(span)
  return Math.max(1, Math.min(1440, Math.floor((endOfDay(now) - now) / 60_000)))
}

function Row({
  grant,
  kinds,
  now,
}: {
  readonly grant: GrantView
  readonly kinds: readonly GrantKindView[]
  readonly now: number
}) {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const titles = grant.kinds.map((id) => kinds.find((kind) => kind.id === id)?.title ?? id)
  const revoke = async (): Promise<void> => {
    setBusy(true)
    setFailure(null)
    try {
      await request('grants.revoke', { id: grant.id })
    } catch (error) {
      setFailure(failureOf(error))
    }
    await readInspection()
    setBusy(false)
    focusIfLost(() => byTestId('grants'))
  }
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-2.5" data-testid={`grant-${grant.id}`}>
      <div className="min-w-0 flex-1 basis-72 break-words">
        <Visible text={titles.join(', ')} /> <span className="text-ink-2">on</span>{' '}
        <code className="break-all font-mono text-code">
          <Visible text={grant.target} />
        </code>{' '}
        <span className="text-ink-2">
          for <Visible text={grant.agent} />
        </span>
        {grant.note === '' ? null : (
          <p className="text-ink-2">
            <Visible text={grant.note} />
          </p>
        )}
        {failure === null ? null : <FailureText failure={failure} />}
      </div>
      <span
        className="tabular whitespace-nowrap text-ink-2"
        data-testid="grant-left"
        title={clock(grant.expiresAt, now)}
      >
        {timeLeft(grant.expiresAt, now) ?? 'over'}
      </span>
      <button
        aria-label={`Revoke: ${visibleText(titles.join(', '))} on ${visibleText(grant.target)}`}
        className="btn btn-small"
        data-testid={`grant-revoke-${grant.id}`}
        disabled={busy}
        onClick={() => void revoke()}
        type="button"
      >
        {busy ? 'Revoking…' : 'Revoke'}
      </button>
    </li>
  )
}

function MakeForm({ kinds }: { readonly kinds: readonly GrantKindView[] }) {
  const targets = useWorld((world) => world.targets)
  const scope = useScope()
  const inspection = useRoom((room) => room.inspection)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [agent, setAgent] = useState<string>(scope.agent ?? 'main')
  const [target, setTarget] = useState(scope.target)
  const [span, setSpan] = useState<Span>('30')
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [made, setMade] = useState<string | null>(null)
  const make = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (chosen.length === 0 || busy) return
    setBusy(true)
    setFailure(null)
    setMade(null)
    try {
      const grant = await request('grants.add', {
        agent,
        target,
        kinds: chosen,
        minutes: minutesOf(span, Date.now()),
        note: note.trim() === '' ? null : note.trim(),
      })
      setMade(`Granted until ${clock(grant.expiresAt, Date.now())}.`)
      setChosen([])
      setNote('')
    } catch (error) {
      setFailure(failureOf(error))
    }
    await readInspection()
    setBusy(false)
  }
  return (
    <form
      className="space-y-3 rounded border border-edge bg-panel px-3 py-3"
      data-testid="grant-form"
      onSubmit={(event) => void make(event)}
    >
      <h3 className="font-semibold">Grant for a time</h3>
      <fieldset>
        <legend className="mb-1 text-ink-2">What may run without asking</legend>
        <div className="grid gap-x-4 gap-y-2 mid:grid-cols-2">
          {kinds.map((kind) => (
            <div className="flex items-start gap-2" key={kind.id}>
              <input
                aria-describedby={`grant-kind-${kind.id}-hint`}
                checked={chosen.includes(kind.id)}
                className="mt-1"
                data-testid={`grant-kind-${kind.id}`}
                id={`grant-kind-${kind.id}`}
                onChange={(event) =>
                  setChosen(event.target.checked ? [...chosen, kind.id] : chosen.filter((id) => id !== kind.id))
                }
                type="checkbox"
              />
              <div className="min-w-0">
                <label htmlFor={`grant-kind-${kind.id}`}>
                  <Visible text={kind.title} />
                </label>
                <p className="text-meta text-ink-3" id={`grant-kind-${kind.id}-hint`}>
                  <Visible text={asSentence(kind.sentence)} />
                </p>
              </div>
            </div>
          ))}
        </div>
      </fieldset>
      <div className="grid gap-3 mid:grid-cols-2">
        <Pick
          label="Where"
          onChange={(event) => setTarget(event.target.value)}
          options={placesOf(targets, target)}
          testId="grant-target"
          value={target}
        />
        <Pick
          label="For which agent"
          onChange={(event) => setAgent(event.target.value)}
          options={agentOptions(inspection, agent)}
          testId="grant-agent"
          value={agent}
        />
      </div>
      <Choice
        legend="How long"
        onChange={setSpan}
        options={SPANS.map((value) => ({ value, label: SPAN_WORD[value] }))}
        testId="grant-minutes"
        value={span}
      />
      <Field
        hint="For the ledger: why."
        label="Note"
        maxLength={500}
        onChange={(event) => setNote(event.target.value)}
        testId="grant-note"
        value={note}
      />
      {failure === null ? null : <FailureText failure={failure} testId="grant-failure" />}
      <div className="flex flex-wrap items-center gap-3">
        <button className="btn" data-testid="grant-make" disabled={busy || chosen.length === 0} type="submit">
          {busy ? 'Granting…' : 'Grant'}
        </button>
        <span aria-live="polite" className="text-ink-2">
          {made ?? (chosen.length === 0 ? 'Choose what may run.' : '')}
        </span>
      </div>
    </form>
  )
}

/** Kinds of commands that need no question for a time. */
export function Grants() {
  const grants = useRoom((room) => room.grants)
  const [kinds, setKinds] = useState<readonly GrantKindView[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const now = useNow(1000)
  useEffect(() => {
    request('grants.kinds', {}).then(setKinds, (error) => setFailure(failureOf(error)))
  }, [])
  const live = (grants ?? []).filter((grant) => grant.expiresAt > now)
  return (
    <section aria-labelledby="grants" className="space-y-3">
      <h2 className="font-semibold" data-testid="grants" id="grants" tabIndex={-1}>
        Grants for a time
      </h2>
      <p className="text-ink-2">
        A grant lets kinds of commands run without a question until its time is over, for one agent and one place. What
        cannot be undone and what reaches Nomos itself is never among them.
      </p>
      {failure === null ? null : <FailureText failure={failure} testId="grants-failure" />}
      {grants === null ? null : live.length === 0 ? (
        <p className="text-ink-2" data-testid="grants-empty">
          Nothing is granted now.
        </p>
      ) : (
        <ul className="divide-y divide-line border-line border-y" data-testid="grants-list">
          {live.map((grant) => (
            <Row grant={grant} key={grant.id} kinds={kinds ?? []} now={now} />
          ))}
        </ul>
      )}
      {kinds === null ? null : <MakeForm kinds={kinds} />}
    </section>
  )
}
