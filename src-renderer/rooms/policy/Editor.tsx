import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import type { Failure, PolicyInspection } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { FailureText } from '../../parts/FailureText'
import { byTestId, focusIfLost } from '../../parts/focus'
import {
  type Choices,
  changedFields,
  choicesOf,
  differing,
  FIELD_WORD,
  type Field,
  fieldsOf,
  fromWord,
  LAYER_NAME,
  type Layer,
  meaningOf,
  VALUES,
  wordOf,
} from './fields'
import { ReplayLine } from './ReplayLine'
import { draftOfEdit, type Edit, readInspection, useRoom } from './room'

/** Begins to change a layer, from what stands in the files now. */
export function beginEdit(inspection: PolicyInspection, layer: Layer, agent: string | null): void {
  const start = choicesOf(inspection, layer, agent)
  useRoom.setState({
    saved: null,
    edit: {
      layer,
      start,
      now: start,
      hostVersion: inspection.host.file.version,
      configVersion: inspection.requested.file.version,
    },
  })
}

const scopeName = (agent: string | null): string => (agent === null ? 'all agents' : agent)

function nowOf(inspection: PolicyInspection, layer: Layer, field: Field): string {
  if (field === 'autoAllowSkills') return wordOf(inspection.autoAllowSkills)
  const host = inspection.host.layer[field].value
  const requested = inspection.requested.layer[field].value
  if (layer === 'host') return wordOf(host)
  if (layer === 'requested' || host === requested) return wordOf(requested)
  return `requested ${wordOf(requested)}, host ${wordOf(host)}`
}

function inheritLabel(inspection: PolicyInspection, layer: Layer, agent: string | null, field: Field): string {
  if (field !== 'autoAllowSkills' && layer !== 'both') {
    const { value, from } = inspection[layer].layer[field]
    if (from === 'built-in' || (agent !== null && (from === 'defaults' || from === 'tools.exec')))
      return `not written: ${wordOf(value)}, ${fromWord(from)}`
  }
  return agent === null ? 'not written: the built-in value' : 'not written: as for all agents'
}

function FieldChoice({
  inspection,
  edit,
  agent,
  field,
}: {
  readonly inspection: PolicyInspection
  readonly edit: Edit
  readonly agent: string | null
  readonly field: Field
}) {
  const id = useId()
  const choice = edit.now[field] ?? 'inherit'
  const changed = edit.start[field] !== choice
  const meaning = VALUES[field].includes(choice) ? meaningOf(field, choice) : ''
  const set = (value: string): void =>
    useRoom.setState((room) =>
      room.edit === null ? room : { edit: { ...room.edit, now: { ...room.edit.now, [field]: value } } },
    )
  return (
    <div className="grid gap-x-4 gap-y-1 py-2 mid:grid-cols-[190px_minmax(0,1fr)]">
      <label className="pt-1 text-ink-2" htmlFor={id}>
        {FIELD_WORD[field]}
        {changed ? <span className="ml-2 text-change">■ changed</span> : null}
      </label>
      <div className="min-w-0">
        <select
          aria-describedby={meaning === '' ? undefined : `${id}-means`}
          className="input"
          data-testid={`edit-${field}`}
          id={id}
          onChange={(event) => set(event.target.value)}
          value={choice}
        >
          {edit.start[field] === 'keep' ? (
            <option value="keep">leave as it is: {nowOf(inspection, edit.layer, field)}</option>
          ) : null}
          <option value="inherit">{inheritLabel(inspection, edit.layer, agent, field)}</option>
          {VALUES[field].map((value) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </select>
        {meaning === '' ? null : (
          <p className="mt-1 text-meta text-ink-3" id={`${id}-means`}>
            {meaning}
          </p>
        )}
      </div>
    </div>
  )
}

const shown = (choice: string | undefined): string =>
  choice === undefined ? '–' : choice === 'inherit' ? 'not written' : choice === 'keep' ? 'as it is' : choice

/** Both versions of what was changed elsewhere meanwhile. */
function Stale({
  edit,
  there,
  onKeep,
  onTake,
}: {
  readonly edit: Edit
  readonly there: Choices
  readonly onKeep: () => void
  readonly onTake: () => void
}) {
  const fields = fieldsOf(edit.layer).filter(
    (field) => edit.start[field] !== there[field] || edit.start[field] !== edit.now[field],
  )
  return (
    <div className="space-y-2 rounded border border-change px-3 py-2" data-testid="edit-stale" role="alert">
      <p>
        <strong className="font-semibold">This was changed elsewhere while you were at it.</strong> Nothing of yours is
        saved yet. These are both versions:
      </p>
      <div className="overflow-x-auto">
        <table className="w-full text-left">
          <thead className="text-ink-3">
            <tr>
              <th className="py-1 pr-3 font-normal" scope="col">
                Field
              </th>
              <th className="py-1 pr-3 font-normal" scope="col">
                When you began
              </th>
              <th className="py-1 pr-3 font-normal" scope="col">
                There now
              </th>
              <th className="py-1 font-normal" scope="col">
                Yours
              </th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr className="border-line border-t" key={field}>
                <th className="py-1 pr-3 font-normal text-ink-2" scope="row">
                  {FIELD_WORD[field]}
                </th>
                <td className="py-1 pr-3 font-mono text-code text-ink-2">{shown(edit.start[field])}</td>
                <td className="py-1 pr-3 font-mono text-code" data-testid={`stale-there-${field}`}>
                  {shown(there[field])}
                </td>
                <td className="py-1 font-mono text-code" data-testid={`stale-mine-${field}`}>
                  {edit.now[field] === edit.start[field] ? 'unchanged' : shown(edit.now[field])}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="flex flex-wrap gap-2">
        <button className="btn" data-testid="edit-take-theirs" onClick={onTake} type="button">
          Take what is there
        </button>
        <button className="btn" data-testid="edit-keep-mine" onClick={onKeep} type="button">
          Put my changes on top
        </button>
      </div>
    </div>
  )
}

/** The form for one layer: what it would have meant is shown before it is saved, and another one's change is never written over. */
export function Editor({
  inspection,
  edit,
  agent,
}: {
  readonly inspection: PolicyInspection
  readonly edit: Edit
  readonly agent: string | null
}) {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const there = choicesOf(inspection, edit.layer, agent)
  const moved =
    inspection.host.file.version !== edit.hostVersion || inspection.requested.file.version !== edit.configVersion
  const stale = moved && differing(edit.start, there).length > 0
  const draft = draftOfEdit(edit, agent)

  useEffect(() => {
    // The file moved and none of these fields did (a command was allowed meanwhile, say): there is nothing to ask about.
    if (!moved || stale) return
    useRoom.setState((room) =>
      room.edit === null
        ? room
        : {
            edit: {
              ...room.edit,
              hostVersion: inspection.host.file.version,
              configVersion: inspection.requested.file.version,
            },
          },
    )
  }, [moved, stale, inspection])

  // The button that opened it is gone, so the form takes the keyboard; its buttons do not.
  useEffect(() => {
    form.current?.focus({ preventScroll: true })
    form.current?.scrollIntoView({ block: 'nearest' })
  }, [])

  const backToButton = (): void => focusIfLost(() => byTestId(`policy-edit-${edit.layer}`))
  const end = (): void => {
    useRoom.setState({ edit: null })
    backToButton()
  }
  const keepMine = (): void => {
    const now: Partial<Record<Field, string>> = { ...there }
    for (const field of differing(edit.start, edit.now)) {
      const mine = edit.now[field]
      if (mine !== undefined) now[field] = mine
    }
    useRoom.setState({
      edit: {
        layer: edit.layer,
        start: there,
        now,
        hostVersion: inspection.host.file.version,
        configVersion: inspection.requested.file.version,
      },
    })
    setFailure(null)
  }
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (draft === null || busy || stale) return
    setBusy(true)
    setFailure(null)
    try {
      const saved = await request('policy.save', {
        layer: edit.layer,
        agent,
        fields: changedFields(edit.start, edit.now),
        baseVersion: edit.layer === 'requested' ? edit.configVersion : edit.hostVersion,
        baseConfigVersion: edit.configVersion,
      })
      useRoom.setState({
        edit: null,
        saved: { what: `Saved ${LAYER_NAME[edit.layer]} for ${scopeName(agent)}.`, diff: saved.diff },
      })
      await readInspection()
      backToButton()
    } catch (error) {
      const known = failureOf(error)
      const fresh = known.code === 'conflict' ? await readInspection() : null
      const same = fresh === null || differing(edit.start, choicesOf(fresh, edit.layer, agent)).length === 0
      // What can be shown side by side needs no sentence beside it.
      if (known.code !== 'conflict' || same) setFailure(known)
    }
    setBusy(false)
  }
  return (
    <form
      aria-labelledby={`${id}-title`}
      className="space-y-3 rounded border border-edge bg-panel px-3 py-3"
      data-testid="policy-editor"
      ref={form}
      tabIndex={-1}
      onSubmit={(event) => void save(event)}
    >
      <h3 className="font-semibold" id={`${id}-title`}>
        Change {LAYER_NAME[edit.layer]} for {scopeName(agent)}
      </h3>
      {edit.layer === 'both' ? null : (
        <p className="text-ink-2">The stricter of the two layers holds, so a looser value here may change nothing.</p>
      )}
      <div className="divide-y divide-line">
        {fieldsOf(edit.layer).map((field) => (
          <FieldChoice agent={agent} edit={edit} field={field} inspection={inspection} key={field} />
        ))}
      </div>
      {stale ? <Stale edit={edit} onKeep={keepMine} onTake={end} there={there} /> : null}
      {draft === null || stale ? null : <ReplayLine agent={agent} draft={draft} />}
      {failure === null ? null : <FailureText failure={failure} testId="edit-failure" />}
      <div className="flex flex-wrap gap-2">
        <button className="btn" data-testid="edit-cancel" onClick={end} type="button">
          Cancel
        </button>
        <button className="btn" data-testid="edit-save" disabled={draft === null || busy || stale} type="submit">
          {busy ? 'Saving…' : 'Save'}
        </button>
        {draft === null ? <span className="self-center text-ink-3">Nothing is changed yet.</span> : null}
      </div>
    </form>
  )
}
