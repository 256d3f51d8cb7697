import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Failure } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { LiveCard } from '../../bridge/LiveCard'
import { putExecutions, useExecutions, useWorld } from '../../bridge/stores'
import { type HistoryChoice, useUi, WHOLE_HISTORY } from '../../bridge/ui'
import { RISKS } from '../../parts/command'
import { FailureText } from '../../parts/FailureText'
import { Field } from '../../parts/Field'
import { Pick } from '../../parts/Pick'
import { Switch } from '../../parts/Switch'
import { visibleText } from '../../parts/visible'
import { ANSWERED_FROM, RISK_WORD, surfaceWord } from '../../parts/words'
import { CardList } from './CardList'
import { queryOf, STATE_CHOICE_WORD, STATE_CHOICES, stateChoiceOf } from './filters'

const PAGE = 50
/** Typing is looked up in pauses. */
const TYPED_MS = 250

const named = (values: Iterable<string>, chosen: string): readonly { value: string; label: string }[] =>
  [...new Set([...values, ...(chosen === '' ? [] : [chosen])])].map((value) => ({ value, label: visibleText(value) }))

function Filters({
  choice,
  onChange,
}: {
  readonly choice: HistoryChoice
  readonly onChange: (patch: Partial<HistoryChoice>) => void
}) {
  const targets = useWorld((world) => world.targets)
  const byId = useExecutions((state) => state.byId)
  const agents = useMemo(
    () => [...new Set(['operator', 'main', ...Object.values(byId).map((view) => view.principal.id)])].sort(),
    [byId],
  )
  return (
    <div className="space-y-3">
      <div className="grid grid-cols-2 gap-3 mid:grid-cols-3 wide:grid-cols-5">
        <Pick
          label="End"
          onChange={(event) => onChange({ state: event.target.value })}
          options={STATE_CHOICES.map((value) => ({ value, label: STATE_CHOICE_WORD[value] }))}
          testId="history-filter"
          value={stateChoiceOf(choice.state)}
        />
        <Pick
          label="Risk"
          onChange={(event) => onChange({ risk: event.target.value })}
          options={[{ value: '', label: 'every risk' }, ...RISKS.map((value) => ({ value, label: RISK_WORD[value] }))]}
          testId="history-risk"
          value={RISKS.find((one) => one === choice.risk) ?? ''}
        />
        <Pick
          label="Target"
          onChange={(event) => onChange({ target: event.target.value })}
          options={[
            { value: '', label: 'every target' },
            ...named(
              targets.map(({ slug }) => slug),
              choice.target,
            ),
          ]}
          testId="history-target"
          value={choice.target}
        />
        <Pick
          label="Asked by"
          onChange={(event) => onChange({ agent: event.target.value })}
          options={[
            { value: '', label: 'everybody' },
            ...named(agents, choice.agent).map(({ value, label }) => ({
              value,
              label: value === 'operator' ? 'you' : value === 'main' ? 'the agent' : label,
            })),
          ]}
          testId="history-agent"
          value={choice.agent}
        />
        <Pick
          label="Answered"
          onChange={(event) => onChange({ surface: event.target.value })}
          options={[
            { value: '', label: 'anywhere' },
            ...ANSWERED_FROM.map((value) => ({ value, label: surfaceWord(value) })),
          ]}
          testId="history-surface"
          value={ANSWERED_FROM.find((one) => one === choice.surface) ?? ''}
        />
      </div>
      <div className="flex flex-wrap items-end gap-x-6 gap-y-2">
        <div className="min-w-48 flex-1">
          <Field
            label="Part of the command or the purpose"
            maxLength={500}
            mono
            onChange={(event) => onChange({ text: event.target.value })}
            placeholder="systemctl restart"
            testId="history-text"
            type="search"
            value={choice.text}
          />
        </div>
        <div className="pb-1">
          <Switch
            label="Only what was asked"
            on={choice.asked}
            onChange={(asked) => onChange({ asked })}
            testId="history-asked"
          />
        </div>
      </div>
    </div>
  )
}

/** What was settled, newest first, narrowed as the operator likes. */
export function History({ elsewhere }: { readonly elsewhere: ReadonlySet<string> }) {
  const settled = useExecutions((state) => state.settled)
  const choice = useUi((ui) => ui.history)
  const [ids, setIds] = useState<readonly string[] | null>(null)
  const [more, setMore] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const latest = useRef(0)

  const read = useCallback(async (chosen: HistoryChoice, before: string | null): Promise<void> => {
    latest.current += 1
    const mine = latest.current
    setBusy(true)
    try {
      const page = await request('executions.list', { ...queryOf(chosen), before, limit: PAGE })
      // Asked for something else meanwhile: this answer is of no use.
      if (mine !== latest.current) return
      putExecutions(page.executions)
      const got = page.executions.map((view) => view.id)
      setIds((old) => (before === null || old === null ? got : [...old, ...got.filter((id) => !old.includes(id))]))
      setMore(page.more)
      setFailure(null)
    } catch (error) {
      if (mine !== latest.current) return
      setFailure(failureOf(error))
      // What was found for something else must not stand under these filters.
      if (before === null) {
        setIds(null)
        setMore(false)
      }
    }
    setBusy(false)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is read again whenever something settles
  useEffect(() => {
    // Several may settle at once, and words are typed letter by letter; one read a moment later is enough.
    const timer = setTimeout(() => void read(choice, null), ids === null ? 0 : TYPED_MS)
    return () => clearTimeout(timer)
  }, [choice, settled, read])

  const listed = useMemo(() => (ids ?? []).filter((id) => !elsewhere.has(id)), [ids, elsewhere])
  const narrowed = JSON.stringify(choice) !== JSON.stringify(WHOLE_HISTORY)
  return (
    <section aria-labelledby="history" className="space-y-3">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="grow font-semibold" id="history">
          Settled
        </h2>
        {narrowed ? (
          <button
            className="btn btn-plain btn-small"
            data-testid="history-clear"
            onClick={() => useUi.setState({ history: WHOLE_HISTORY })}
            type="button"
          >
            Clear the filters
          </button>
        ) : null}
      </div>
      <Filters
        choice={choice}
        onChange={(patch) => useUi.setState((ui) => ({ history: { ...ui.history, ...patch } }))}
      />
      {failure === null ? null : (
        <div className="space-y-2">
          <FailureText failure={failure} testId="history-problem" />
          <button className="btn btn-small" disabled={busy} onClick={() => void read(choice, null)} type="button">
            Read it again
          </button>
        </div>
      )}
      {ids === null ? null : listed.length === 0 && failure === null ? (
        <p className="text-ink-3" data-testid="history-empty">
          {narrowed
            ? 'Nothing settled fits these filters.'
            : 'Nothing that was asked has been settled yet. Reads that ran by themselves are shown with “Only what was asked” off.'}
        </p>
      ) : (
        <CardList entries={listed.map((id) => ({ key: id, ids: [id] }))} guess={200}>
          {({ key }) => <LiveCard id={key} outputOpen={false} />}
        </CardList>
      )}
      {more ? (
        <button
          className="btn"
          data-testid="history-older"
          disabled={busy}
          onClick={() => void read(choice, ids?.at(-1) ?? null)}
          type="button"
        >
          {busy ? 'Reading…' : 'Show older'}
        </button>
      ) : null}
    </section>
  )
}
