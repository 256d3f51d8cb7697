import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import type { Failure, PolicyInspection, PolicySaved } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { DiffLines } from '../../parts/DiffLines'
import { FailureText } from '../../parts/FailureText'
import { byTestId, focusIfLost } from '../../parts/focus'
import { PhraseField } from '../../parts/PhraseField'
import { Visible } from '../../parts/Visible'
import { Undo } from './Holds'
import { ReplayLine } from './ReplayLine'
import { readInspection, useRoom } from './room'

type Preset = PolicyInspection['presets'][number]

function Apply({
  preset,
  dry,
  onDone,
}: {
  readonly preset: Preset
  readonly dry: PolicySaved
  readonly onDone: () => void
}) {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.focus(), [])
  const ready = !preset.dangerous || typed === preset.name
  const apply = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!ready || busy) return
    setBusy(true)
    setFailure(null)
    try {
      const saved = await request('policy.preset', { name: preset.name, dryRun: false })
      useRoom.setState({ saved: { what: `${preset.title} holds now.`, diff: saved.diff } })
      await readInspection()
      onDone()
    } catch (error) {
      setFailure(failureOf(error))
      setBusy(false)
    }
  }
  return (
    <form
      aria-label={`Write ${preset.title}`}
      className="space-y-3 border-line border-t pt-3"
      ref={form}
      tabIndex={-1}
      onSubmit={(event) => void apply(event)}
    >
      {dry.diff.length === 0 ? (
        <p className="text-ink-2">Both files already say this: nothing would change in them.</p>
      ) : (
        <DiffLines label={`What ${preset.title} changes in the files`} lines={dry.diff} testId="preset-diff" />
      )}
      <ReplayLine agent="main" draft={{ preset: preset.name }} />
      {preset.dangerous ? (
        <PhraseField
          className="max-w-60"
          onChange={setTyped}
          phrase={preset.name}
          purpose="To switch it on"
          testId="preset-phrase"
          value={typed}
        />
      ) : null}
      {failure === null ? null : <FailureText failure={failure} testId="preset-failure" />}
      <div className="flex gap-2">
        <button className="btn" onClick={onDone} type="button">
          Cancel
        </button>
        <button
          className={`btn ${preset.dangerous ? 'btn-danger' : ''}`}
          data-testid="preset-apply"
          disabled={!ready || busy}
          type="submit"
        >
          {busy ? 'Writing…' : `Write ${preset.title} into both files`}
        </button>
      </div>
    </form>
  )
}

function Card({
  preset,
  shown,
  onShow,
  onDone,
}: {
  readonly preset: Preset
  readonly shown: PolicySaved | null
  readonly onShow: () => void
  readonly onDone: () => void
}) {
  const id = useId()
  return (
    <li
      aria-labelledby={id}
      className={`space-y-2 rounded border bg-panel px-3 py-3 ${preset.active ? 'border-ink' : 'border-line'}`}
      data-active={preset.active}
      data-testid={`preset-${preset.name}`}
      tabIndex={-1}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 className={`grow font-semibold ${preset.dangerous ? 'text-destructive' : ''}`} id={id}>
          <Visible text={preset.title} />
          <code className="ml-2 font-mono font-normal text-code text-ink-3">{preset.name}</code>
        </h3>
        {preset.active ? <span className="text-ink-2">✓ in force</span> : null}
        {shown === null && !preset.active ? (
          <button
            aria-label={`Show the difference: ${preset.title}`}
            className="btn btn-small"
            data-testid={`preset-show-${preset.name}`}
            onClick={onShow}
            type="button"
          >
            Show the difference…
          </button>
        ) : null}
      </div>
      {preset.consequences.length === 1 ? (
        <p className="text-ink-2">
          <Visible text={preset.consequences[0] ?? ''} />
        </p>
      ) : (
        <ul className="list-disc space-y-0.5 pl-4 text-ink-2">
          {preset.consequences.map((sentence) => (
            <li key={sentence}>
              <Visible text={sentence} />
            </li>
          ))}
        </ul>
      )}
      {preset.opens.length === 0 ? null : (
        <div>
          <p className="text-destructive">It opens:</p>
          <ul className="list-disc space-y-0.5 pl-4 text-destructive">
            {preset.opens.map((sentence) => (
              <li key={sentence}>
                <Visible text={sentence} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {shown === null ? null : <Apply dry={shown} onDone={onDone} preset={preset} />}
    </li>
  )
}

/** Whole policies by name, with what they mean and what they would change. */
export function Presets() {
  const inspection = useRoom((room) => room.inspection)
  const [shown, setShown] = useState<{ readonly name: string; readonly dry: PolicySaved } | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  if (inspection === null) return null
  const show = async (name: Preset['name']): Promise<void> => {
    setFailure(null)
    try {
      setShown({ name, dry: await request('policy.preset', { name, dryRun: true }) })
    } catch (error) {
      setFailure(failureOf(error))
    }
  }
  return (
    <section aria-labelledby="presets" className="space-y-3">
      <h2 className="font-semibold" id="presets">
        Presets
      </h2>
      <p className="text-ink-2">
        A preset writes what is requested and what the host allows, for all agents, in one step. Allowlists, and what
        single agents are told, stay.
      </p>
      {failure === null ? null : <FailureText failure={failure} testId="presets-failure" />}
      <Undo inspection={inspection} />
      <ul className="space-y-3">
        {inspection.presets.map((preset) => (
          <Card
            key={preset.name}
            onDone={() => {
              setShown(null)
              focusIfLost(() => byTestId(`preset-show-${preset.name}`) ?? byTestId(`preset-${preset.name}`))
            }}
            onShow={() => void show(preset.name)}
            preset={preset}
            shown={shown?.name === preset.name ? shown.dry : null}
          />
        ))}
      </ul>
    </section>
  )
}
