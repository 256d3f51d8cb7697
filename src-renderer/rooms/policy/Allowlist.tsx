import { type FormEvent, useState } from 'react'
import type { AllowlistEntryView, AllowlistInput, Failure, PolicyInspection } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { useScope } from '../../bridge/scope'
import { useWorld } from '../../bridge/stores'
import { Choice } from '../../parts/Choice'
import { EXPIRIES, EXPIRY_WORD, type Expiry, expiryAt } from '../../parts/expiry'
import { FailureText } from '../../parts/FailureText'
import { Field } from '../../parts/Field'
import { byTestId, focusIfLost } from '../../parts/focus'
import { Pick } from '../../parts/Pick'
import { Switch } from '../../parts/Switch'
import { ago, clock, counted, timeLeft } from '../../parts/time'
import { useNow } from '../../parts/useNow'
import { Visible } from '../../parts/Visible'
import { visibleText } from '../../parts/visible'
import { Undo } from './Holds'
import { ReplayLine } from './ReplayLine'
import { readInspection, useRoom } from './room'

const SOURCE_WORD: Readonly<Record<string, string>> = { approval: 'an approval', operator: 'your own hand' }

/** As many are drawn at once; the rest is found by its words. */
const SHOWN = 100

/** What an argument pattern without anchors lets through, said before it is saved. */
export function anchorWarning(argPattern: string): string | null {
  if (argPattern === '') return null
  const start = argPattern.startsWith('^')
  const end = /(?:^|[^\\])(?:\\\\)*\$$/.test(argPattern)
  if (start && end) return null
  const missing = start
    ? 'no $ at its end'
    : end
      ? 'no ^ at its beginning'
      : 'no ^ at its beginning and no $ at its end'
  return `The pattern has ${missing}, so it also matches arguments that only hold such a text somewhere.`
}

/** The text an entry is looked for by. */
export function entryText(entry: AllowlistEntryView): string {
  return [
    entry.id,
    entry.pattern,
    entry.argPattern,
    entry.commandText,
    entry.scope.target,
    entry.source,
    entry.lastUsedCommand,
    entry.lastResolvedPath,
  ]
    .filter((part) => part !== null)
    .join(' ')
    .toLowerCase()
}

/** What is written again when only the end of an entry changes. */
function inputOf(entry: AllowlistEntryView, expiresAt: number | null): AllowlistInput {
  const { target, session } = entry.scope
  return {
    pattern: entry.pattern,
    ...(entry.argPattern === null ? {} : { argPattern: entry.argPattern }),
    ...(target === null && session === null
      ? {}
      : { scope: { ...(target === null ? {} : { target }), ...(session === null ? {} : { session }) } }),
    ...(expiresAt === null ? {} : { expiresAt }),
    ...(entry.sudo ? { sudo: true } : {}),
    ...(entry.commandText === null ? {} : { commandText: entry.commandText }),
  }
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words text-ink-2">{children}</dd>
    </div>
  )
}

function Mono({ text }: { readonly text: string }) {
  return (
    <code className="logical break-all font-mono text-code">
      <Visible text={text} />
    </code>
  )
}

/** What is shown is redacted; written again, the sign for it would stand in the place of what it hides. */
export const isRedacted = (entry: AllowlistEntryView): boolean =>
  [entry.pattern, entry.argPattern, entry.commandText].some((text) => text?.includes('‹redacted') === true)

/** A failure where it happened; the allowlist is read again whatever came of it. */
async function change(job: () => Promise<unknown>, setFailure: (failure: Failure | null) => void): Promise<boolean> {
  setFailure(null)
  let good = true
  try {
    await job()
  } catch (error) {
    good = false
    setFailure(failureOf(error))
  }
  await readInspection()
  return good
}

function Entry({
  entry,
  agent,
  now,
}: {
  readonly entry: AllowlistEntryView
  readonly agent: string
  readonly now: number
}) {
  const sessions = useWorld((world) => world.sessions)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [busy, setBusy] = useState(false)
  const [ending, setEnding] = useState(false)
  const ended = entry.expiresAt !== null && entry.expiresAt <= now
  const name = visibleText(entry.commandText ?? `${entry.pattern} ${entry.argPattern ?? ''}`).slice(0, 80)
  const remove = async (): Promise<void> => {
    setBusy(true)
    await change(() => request('policy.allowlistRemove', { agent, id: entry.id, baseVersion: null }), setFailure)
    setBusy(false)
    focusIfLost(() => byTestId('allow-add'))
  }
  const setEnd = async (choice: Expiry): Promise<void> => {
    setBusy(true)
    await change(async () => {
      const added = await request('policy.allowlistAdd', {
        agent,
        entry: inputOf(entry, expiryAt(choice, Date.now())),
        baseVersion: null,
      })
      // The new one is there before the old one goes: a crash in between leaves both rather than none.
      if (added.id !== entry.id) {
        await request('policy.allowlistRemove', { agent, id: entry.id, baseVersion: null })
      }
    }, setFailure)
    setEnding(false)
    setBusy(false)
    focusIfLost(() => byTestId('allow-add'))
  }
  const session = sessions.find((one) => one.id === entry.scope.session)
  return (
    <li className="space-y-1 py-2.5" data-entry={entry.pattern} data-testid={`allow-${entry.id}`}>
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1">
        <div className="min-w-0 flex-1 basis-72">
          {entry.commandText === null ? null : (
            <code className="exact block font-mono text-code text-ink">
              <Visible text={entry.commandText} />
            </code>
          )}
          <code className={`exact block font-mono text-code ${entry.commandText === null ? 'text-ink' : 'text-ink-3'}`}>
            <Visible text={entry.pattern} />
            {entry.argPattern === null ? null : (
              <span className="text-ink-2">
                {' '}
                <Visible text={entry.argPattern} />
              </span>
            )}
          </code>
        </div>
        <span className="tabular whitespace-nowrap text-ink-2" data-testid="allow-end">
          {entry.expiresAt === null
            ? 'no end'
            : ended
              ? `ended ${clock(entry.expiresAt, now)}`
              : timeLeft(entry.expiresAt, now)}
        </span>
        <span className="flex gap-2">
          {isRedacted(entry) ? null : (
            <button
              aria-expanded={ending}
              aria-label={`Change its end: ${name}`}
              className="btn btn-plain btn-small"
              data-testid={`allow-end-${entry.id}`}
              disabled={busy}
              onClick={() => setEnding(!ending)}
              type="button"
            >
              Change its end…
            </button>
          )}
          <button
            aria-label={`Remove: ${name}`}
            className="btn btn-small"
            data-testid={`allow-remove-${entry.id}`}
            disabled={busy}
            onClick={() => void remove()}
            type="button"
          >
            Remove
          </button>
        </span>
      </div>
      {ending ? (
        <fieldset className="flex flex-wrap items-center gap-2">
          <legend className="visually-hidden">When it ends</legend>
          <span className="text-ink-2">Allow it from now</span>
          {EXPIRIES.map((choice) => (
            <button
              className="btn btn-small"
              data-testid={`allow-end-${choice}`}
              disabled={busy}
              key={choice}
              onClick={() => void setEnd(choice)}
              type="button"
            >
              {EXPIRY_WORD[choice]}
            </button>
          ))}
        </fieldset>
      ) : null}
      {entry.problem === null ? null : (
        <p className="break-words text-destructive" data-testid="allow-problem">
          <span aria-hidden="true">✕ </span>Never matches: <Visible text={entry.problem} />
        </p>
      )}
      {entry.warnings.map((warning) => (
        <p className="break-words text-change" data-testid="allow-warning" key={warning}>
          <span aria-hidden="true">■ </span>
          <Visible text={warning} />
        </p>
      ))}
      <dl className="grid grid-cols-[76px_minmax(0,1fr)] gap-x-3 text-meta">
        <Fact name="holds on">
          <Visible text={entry.scope.target ?? 'this computer'} />
          {entry.scope.session === null ? '' : `, in the session ${visibleText(session?.title || entry.scope.session)}`}
          {entry.sudo ? ', behind sudo only' : ''}
        </Fact>
        <Fact name="last used">
          {entry.lastUsedAt === null ? (
            'never'
          ) : (
            <>
              {ago(entry.lastUsedAt, now)}
              {entry.lastUsedCommand === null ? null : (
                <>
                  {' · '}
                  <Mono text={entry.lastUsedCommand} />
                </>
              )}
            </>
          )}
        </Fact>
        {entry.lastResolvedPath === null ? null : (
          <Fact name="was found at">
            <Mono text={entry.lastResolvedPath} />
          </Fact>
        )}
        {entry.source === null ? null : (
          <Fact name="came from">
            <Visible text={SOURCE_WORD[entry.source] ?? entry.source} />
          </Fact>
        )}
      </dl>
      {failure === null ? null : <FailureText failure={failure} />}
    </li>
  )
}

const EMPTY = { pattern: '', argPattern: '', target: '', sudo: false }

function AddForm({
  agent,
  version,
  onDone,
}: {
  readonly agent: string
  readonly version: string
  readonly onDone: () => void
}) {
  const targets = useWorld((world) => world.targets)
  const scoped = useScope((scope) => scope.target)
  const [form, setForm] = useState({ ...EMPTY, target: scoped === 'local' ? '' : scoped })
  const [expiry, setExpiry] = useState<Expiry>('month')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const entry: AllowlistInput = {
    pattern: form.pattern.trim(),
    ...(form.argPattern === '' ? {} : { argPattern: form.argPattern }),
    ...(form.target === '' ? {} : { scope: { target: form.target } }),
    ...(form.sudo ? { sudo: true } : {}),
  }
  const at = failure?.field?.split('.').at(-1) ?? null
  const warning = anchorWarning(form.argPattern)
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (entry.pattern === '' || busy) return
    setBusy(true)
    const end = expiryAt(expiry, Date.now())
    const good = await change(
      () =>
        request('policy.allowlistAdd', {
          agent,
          entry: end === null ? entry : { ...entry, expiresAt: end },
          baseVersion: version,
        }),
      setFailure,
    )
    setBusy(false)
    if (good) onDone()
  }
  return (
    <form
      className="space-y-3 rounded border border-edge bg-panel px-3 py-3"
      data-testid="allow-form"
      onSubmit={(event) => void save(event)}
    >
      <h3 className="font-semibold">Allow a program for {agent}</h3>
      <Field
        error={at === 'pattern' ? (failure?.message ?? null) : null}
        hint="A path with * and ** (/usr/bin/systemctl), or a bare name for what is typed without a path (rg)."
        autoFocus
        label="Program"
        mono
        onChange={(event) => setForm({ ...form, pattern: event.target.value })}
        testId="allow-pattern"
        value={form.pattern}
      />
      <Field
        error={at === 'argPattern' ? (failure?.message ?? null) : null}
        hint="A regular expression over all arguments joined by one space. Empty: any arguments. Example: ^restart caddy$"
        label="Arguments"
        mono
        onChange={(event) => setForm({ ...form, argPattern: event.target.value })}
        testId="allow-args"
        value={form.argPattern}
      />
      {warning === null ? null : (
        <p className="text-change" data-testid="allow-anchor">
          <span aria-hidden="true">■ </span>
          {warning}
        </p>
      )}
      <Pick
        label="Where"
        onChange={(event) => setForm({ ...form, target: event.target.value })}
        options={[
          { value: '', label: 'this computer' },
          ...targets
            .filter((target) => target.kind !== 'local')
            .map((target) => ({ value: target.slug, label: target.slug })),
        ]}
        testId="allow-target"
        value={form.target}
      />
      <Choice
        legend="How long"
        onChange={setExpiry}
        options={EXPIRIES.map((value) => ({ value, label: EXPIRY_WORD[value] }))}
        testId="allow-expiry"
        value={expiry}
      />
      <Switch
        hint="Without it the entry does not match behind sudo; with it, only there."
        label="Behind sudo"
        on={form.sudo}
        onChange={(sudo) => setForm({ ...form, sudo })}
        testId="allow-sudo"
      />
      {entry.pattern === '' ? null : <ReplayLine agent={agent} draft={{ add: [entry] }} />}
      {failure === null || at === 'pattern' || at === 'argPattern' ? null : (
        <FailureText failure={failure} testId="allow-failure" />
      )}
      <div className="flex gap-2">
        <button className="btn" onClick={onDone} type="button">
          Cancel
        </button>
        <button className="btn" data-testid="allow-save" disabled={busy || entry.pattern === ''} type="submit">
          {busy ? 'Saving…' : 'Allow it'}
        </button>
      </div>
    </form>
  )
}

function List({ inspection, agent }: { readonly inspection: PolicyInspection; readonly agent: string }) {
  const [filter, setFilter] = useState('')
  const [more, setMore] = useState(1)
  const now = useNow(15_000)
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const found = inspection.allowlist.filter((entry) => {
    const text = words.length === 0 ? '' : entryText(entry)
    return words.every((word) => text.includes(word))
  })
  const shown = found.slice(0, SHOWN * more)
  if (inspection.allowlist.length === 0) {
    return (
      <p className="text-ink-2" data-testid="allow-empty">
        Nothing is allowed by name yet. A card’s <b className="font-medium text-ink">Always…</b> adds exactly what it
        shows; here you can allow a program by hand.
      </p>
    )
  }
  return (
    <>
      {inspection.allowlist.length > 8 ? (
        <Field
          label="Find"
          onChange={(event) => {
            setFilter(event.target.value)
            setMore(1)
          }}
          testId="allow-filter"
          value={filter}
        />
      ) : null}
      {found.length === 0 ? <p className="text-ink-2">No entry holds these words.</p> : null}
      <ul className="divide-y divide-line border-line border-y" data-testid="allow-list">
        {shown.map((entry) => (
          <Entry agent={agent} entry={entry} key={entry.id} now={now} />
        ))}
      </ul>
      {found.length > shown.length ? (
        <button className="btn" onClick={() => setMore(more + 1)} type="button">
          Show more of {counted(found.length, 'entry', 'entries')}
        </button>
      ) : null}
    </>
  )
}

/** The programs that one agent may run by name. */
export function AllowlistPart() {
  const inspection = useRoom((room) => room.inspection)
  const agent = useScope((scope) => scope.agent)
  const [adding, setAdding] = useState(false)
  if (agent === null) {
    return (
      <section className="space-y-2">
        <p className="text-ink-2">An allowlist belongs to one agent, and nothing leaks from one to another.</p>
        <button
          className="btn"
          data-testid="allow-main"
          onClick={() => useScope.setState({ agent: 'main' })}
          type="button"
        >
          Show the allowlist of main
        </button>
      </section>
    )
  }
  if (inspection === null) return null
  return (
    <section aria-labelledby="allowlist" className="space-y-3">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="grow font-semibold" id="allowlist">
          Allowed by name for <Visible text={agent} />
        </h2>
        {adding ? null : (
          <button
            className="btn"
            data-testid="allow-add"
            disabled={inspection.host.file.source === 'broken'}
            onClick={() => setAdding(true)}
            type="button"
          >
            Allow a program…
          </button>
        )}
      </div>
      {adding ? (
        <AddForm
          agent={agent}
          onDone={() => {
            setAdding(false)
            focusIfLost(() => byTestId('allow-add'))
          }}
          version={inspection.host.file.version}
        />
      ) : null}
      <List agent={agent} inspection={inspection} />
      <Undo inspection={inspection} />
      <p className="text-meta text-ink-3">
        A line of several commands runs by itself only when every part of it matches. What cannot be undone keeps its
        phrase.
      </p>
    </section>
  )
}
