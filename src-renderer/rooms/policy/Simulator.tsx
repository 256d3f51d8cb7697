import { type FormEvent, useCallback, useEffect, useId, useState } from 'react'
import type { Failure, Simulation, TraceStep } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { useScope } from '../../bridge/scope'
import { useWorld } from '../../bridge/stores'
import { RiskBadge } from '../../parts/badges'
import { FailureText } from '../../parts/FailureText'
import { Pick } from '../../parts/Pick'
import { Switch } from '../../parts/Switch'
import { Visible } from '../../parts/Visible'
import { layerWord, OUTCOME_WORD } from '../../parts/words'
import { draftOfEdit, useRoom } from './room'
import { agentOptions } from './scope-options'

const BY_WORD = { allowlist: 'allowlist', 'safe-bin': 'safe program', skill: 'skill' } as const

const OUTCOME_COLOUR = {
  auto: 'text-read-only',
  ask: 'text-change',
  confirm: 'text-destructive',
  deny: 'text-destructive',
} as const
const OUTCOME_SIGN = { auto: '✓', ask: '?', confirm: '▲', deny: '✕' } as const

function Segments({ simulation }: { readonly simulation: Simulation }) {
  const { segments } = simulation
  return (
    <div className="space-y-1">
      <h3 className="font-medium">Who vouches for which part</h3>
      {segments === null ? (
        <p className="text-ink-2" data-testid="sim-no-segments">
          The words of this command are only known when it runs, so no entry of a list can match it.
        </p>
      ) : (
        <ol className="divide-y divide-line border-line border-y">
          {segments.map((segment, index) => (
            <li
              className="grid gap-x-3 py-1.5 mid:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]"
              data-by={segment.by ?? 'nobody'}
              data-testid="sim-segment"
              // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place
              key={index}
            >
              <div className="min-w-0">
                <code className="exact block font-mono text-code">
                  {segment.viaSudo ? <span className="text-ink-3">sudo </span> : null}
                  <Visible text={segment.argv.join(' ')} />
                </code>
                <span className="block break-all text-meta text-ink-3">
                  {segment.path === null ? 'where it is found is not known here' : <Visible text={segment.path} />}
                </span>
              </div>
              <div className="min-w-0 break-words">
                <span className={segment.by === null ? 'text-ink-2' : 'text-read-only'}>
                  {segment.by === null ? 'nobody' : `✓ ${BY_WORD[segment.by]}`}
                </span>
                {segment.entryId === null ? null : (
                  <code className="ml-2 break-all font-mono text-code text-ink-3">
                    <Visible text={segment.entryId} />
                  </code>
                )}
                <span className="block text-meta text-ink-3">
                  <Visible text={segment.why} />
                </span>
              </div>
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

function Step({ step, deciding }: { readonly step: TraceStep; readonly deciding: boolean }) {
  return (
    <li
      className={`grid gap-x-3 border-l-2 py-1 pl-3 mid:grid-cols-[180px_minmax(0,1fr)] ${deciding ? 'border-ink bg-raised' : 'border-line'}`}
      data-deciding={deciding}
    >
      <span className="text-ink-3">
        {layerWord(step.layer)}
        {deciding ? <span className="ml-1.5 font-medium text-ink">decides</span> : null}
      </span>
      <span className="min-w-0 break-words">
        <Visible text={step.sentence} />{' '}
        <code className="logical break-all font-mono text-code text-ink-3">
          <Visible text={step.rule} />
        </code>
      </span>
    </li>
  )
}

function Result({ simulation }: { readonly simulation: Simulation }) {
  const { decision, deciding } = simulation
  const at =
    deciding === null
      ? -1
      : decision.trace.findIndex((step) => step.rule === deciding.rule && step.layer === deciding.layer)
  return (
    <div className="space-y-4" data-testid="sim-result">
      <div className="space-y-1 rounded border border-line bg-panel px-3 py-2.5">
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <span
            className={`font-semibold text-read ${OUTCOME_COLOUR[decision.outcome]}`}
            data-outcome={decision.outcome}
            data-testid="sim-verdict"
          >
            <span aria-hidden="true">{OUTCOME_SIGN[decision.outcome]} </span>
            It {OUTCOME_WORD[decision.outcome]}
          </span>
          <RiskBadge risk={decision.risk} />
        </p>
        <p className="break-words text-ink-2" data-testid="sim-deciding">
          {deciding === null ? (
            'No single rule decided.'
          ) : (
            <>
              <Visible text={deciding.sentence} />{' '}
              <code className="logical break-all font-mono text-code text-ink-3">
                <Visible text={deciding.rule} />
              </code>
            </>
          )}
        </p>
      </div>
      <Segments simulation={simulation} />
      <div className="space-y-1">
        <h3 className="font-medium">The way there</h3>
        <ol className="space-y-1" data-testid="sim-path">
          {decision.trace.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place
            <Step deciding={index === at} key={index} step={step} />
          ))}
        </ol>
      </div>
    </div>
  )
}

/** Kept beside the part that shows it, so that a look at another part loses nothing. */
let lastCommand = ''

const EXAMPLES = ['df -h', 'systemctl restart caddy', 'rm -rf /srv/old'] as const

/** What would happen to a command, without running it. */
export function Simulator() {
  const targets = useWorld((world) => world.targets)
  const heard = useWorld((world) => world.policyHeard)
  const scope = useScope()
  const edit = useRoom((room) => room.edit)
  const inspection = useRoom((room) => room.inspection)
  const [command, setCommand] = useState(lastCommand)
  const [tried, setTried] = useState<string | null>(lastCommand === '' ? null : lastCommand)
  const [target, setTarget] = useState(scope.target)
  const [agent, setAgent] = useState(scope.agent ?? 'main')
  const [withEdit, setWithEdit] = useState(true)
  const [simulation, setSimulation] = useState<Simulation | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [busy, setBusy] = useState(false)
  const id = useId()
  const draft = draftOfEdit(edit, scope.agent)
  const draftText = draft === null || !withEdit ? '' : JSON.stringify(draft)

  const simulate = useCallback(
    async (text: string, isGone: () => boolean): Promise<void> => {
      setBusy(true)
      try {
        const made = await request('policy.simulate', {
          command: text,
          target,
          agent,
          session: scope.session,
          ...(draftText === '' ? {} : { draft: JSON.parse(draftText) }),
        })
        if (isGone()) return
        setSimulation(made)
        setFailure(null)
      } catch (error) {
        if (isGone()) return
        setSimulation(null)
        setFailure(failureOf(error))
      }
      setBusy(false)
    },
    [target, agent, scope.session, draftText],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: a policy that changed may say something else of the same command
  useEffect(() => {
    if (tried === null) return
    let gone = false
    void simulate(tried, () => gone)
    return () => {
      gone = true
    }
  }, [tried, simulate, heard])

  const attempt = (text: string): void => {
    if (text.trim() === '') return
    lastCommand = text
    setTried(text)
  }
  return (
    <section aria-labelledby="simulator" className="space-y-4">
      <h2 className="font-semibold" id="simulator">
        What would happen
      </h2>
      <form
        className="space-y-3"
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          attempt(command)
        }}
      >
        <div>
          <label className="mb-1 block font-medium" htmlFor={id}>
            Command
          </label>
          <textarea
            autoComplete="off"
            className="input font-mono text-code"
            data-testid="sim-command"
            id={id}
            onChange={(event) => setCommand(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
              event.preventDefault()
              attempt(command)
            }}
            rows={2}
            spellCheck={false}
            value={command}
          />
        </div>
        <div className="grid items-end gap-3 mid:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto]">
          <Pick
            label="Where"
            onChange={(event) => setTarget(event.target.value)}
            options={[
              ...targets.map((one) => ({ value: one.slug, label: one.slug })),
              ...(targets.some((one) => one.slug === target) ? [] : [{ value: target, label: target }]),
            ]}
            testId="sim-target"
            value={target}
          />
          <Pick
            label="Asked by"
            onChange={(event) => setAgent(event.target.value)}
            options={agentOptions(inspection, agent)}
            testId="sim-agent"
            value={agent}
          />
          <button className="btn" data-testid="sim-run" disabled={busy || command.trim() === ''} type="submit">
            {busy ? 'Looking…' : 'Try it'}
          </button>
        </div>
        {draft === null ? null : (
          <Switch
            hint="The change you began under “What holds” and have not saved."
            label="With the unsaved change"
            on={withEdit}
            onChange={setWithEdit}
            testId="sim-draft"
          />
        )}
      </form>
      {failure === null ? null : <FailureText failure={failure} testId="sim-failure" />}
      {simulation === null ? (
        tried === null ? (
          <p className="text-ink-2">
            Nothing runs and nothing is recorded. Try{' '}
            {EXAMPLES.map((example, index) => (
              <span key={example}>
                {index === 0 ? '' : index === EXAMPLES.length - 1 ? ' or ' : ', '}
                <button
                  className="link font-mono text-code"
                  onClick={() => {
                    setCommand(example)
                    attempt(example)
                  }}
                  type="button"
                >
                  {example}
                </button>
              </span>
            ))}
            .
          </p>
        ) : null
      ) : (
        <Result simulation={simulation} />
      )}
    </section>
  )
}
