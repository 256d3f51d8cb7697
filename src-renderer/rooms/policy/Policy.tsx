import { useEffect, useState } from 'react'
import type { Failure, PolicyView, SettingsView } from '../../../src-preload/contract'
import { RoomBody, RoomHead } from '../../app/RoomHead'
import { failureOf, request } from '../../bridge/client'
import { useWorld } from '../../bridge/stores'
import { saveCompound, setSwitch } from '../../bridge/switches'
import { FailureText } from '../../parts/FailureText'
import { Switch } from '../../parts/Switch'
import { Visible } from '../../parts/Visible'

const SECURITY_WORD: Readonly<Record<PolicyView['security'], string>> = {
  deny: 'Nothing may run.',
  allowlist: 'What is allowed by name may run by itself; everything else asks or is refused.',
  full: 'Everything may run; what asks is decided below.',
}

const ASK_WORD: Readonly<Record<PolicyView['ask'], string>> = {
  off: 'Never asks below destructive: what is not allowed is refused.',
  'on-miss': 'Asks about what is not allowed by name.',
  always: 'Asks about everything.',
}

const COMPOUND = [
  [
    'never',
    'Always ask',
    'A pipe, a list with && or ;, a shell or a command for another machine is asked about, however harmless its parts are.',
  ],
  [
    'every-segment',
    'Run when every part only reads',
    'Such a line runs by itself when each of its parts would do so alone. One part that changes something, writes to a file or is not understood, and the whole line is asked about.',
  ],
] as const satisfies readonly (readonly [SettingsView['compound'], string, string])[]

const FALLBACK_WORD: Readonly<Record<PolicyView['askFallback'], string>> = {
  deny: 'It is closed without running.',
  allowlist: 'It runs only if every part of it is allowed by name.',
  full: 'It runs, unless it is destructive.',
}

function Rows({ rows }: { readonly rows: readonly (readonly [string, string, string])[] }) {
  return (
    <dl className="divide-y divide-line">
      {rows.map(([name, value, meaning]) => (
        <div className="grid gap-x-4 py-2 mid:grid-cols-[220px_minmax(0,1fr)]" key={name}>
          <dt className="text-ink-2">{name}</dt>
          <dd>
            {meaning} <code className="font-mono text-code text-ink-3">{value}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function sourceText(policy: PolicyView): string {
  if (policy.source === 'file') return 'From the exec-approvals file:'
  if (policy.source === 'absent')
    return 'There is no exec-approvals file, so the cautious default holds. It would be at:'
  return 'The exec-approvals file cannot be read, so nothing may run until it is mended or set aside:'
}

/** What holds now, in plain words. */
export default function Policy() {
  const policy = useWorld((world) => world.policy)
  const compound = useWorld((world) => world.settings?.compound ?? null)
  const [failure, setFailure] = useState<Failure | null>(null)

  useEffect(() => {
    request('policy.show', {}).then(
      (shown) => useWorld.setState({ policy: shown }),
      (error) => setFailure(failureOf(error)),
    )
  }, [])

  const change = (name: 'askAboutEverything' | 'pauseAutomatic', on: boolean): void => {
    void setSwitch(name, on).then(setFailure)
  }
  const onOff = (value: boolean): string => (value ? 'on' : 'off')
  return (
    <>
      <RoomHead title="Policy" />
      <RoomBody>
        {failure === null ? null : <FailureText failure={failure} />}
        {policy === null ? null : (
          <>
            <section aria-labelledby="switches" className="space-y-3">
              <h2 className="font-semibold" id="switches">
                Switches
              </h2>
              <Switch
                hint="Nothing is automatic: reads ask as well, whatever the file allows."
                label="Ask about everything"
                on={policy.askAboutEverything}
                onChange={(on) => change('askAboutEverything', on)}
                testId="policy-ask"
              />
              <Switch
                hint="Unattended runs stop, and reads ask. What you approve still runs."
                label="Pause automatic runs"
                on={policy.pauseAutomatic}
                onChange={(on) => change('pauseAutomatic', on)}
                testId="policy-pause"
              />
            </section>
            <section aria-labelledby="compound" className="space-y-3">
              <h2 className="font-semibold" id="compound">
                Lines of several commands
              </h2>
              <fieldset disabled={compound === null}>
                <legend className="mb-1 text-ink-2">
                  What happens to a line like <code className="font-mono text-code text-ink">df -h | sort -k5</code>
                </legend>
                <div className="space-y-2">
                  {COMPOUND.map(([value, label, hint]) => (
                    <div className="flex items-start gap-2" key={value}>
                      <input
                        aria-describedby={`compound-${value}-hint`}
                        checked={compound === value}
                        className="mt-1"
                        data-testid={`compound-${value}`}
                        id={`compound-${value}`}
                        name="compound"
                        onChange={() => void saveCompound(value).then(setFailure)}
                        type="radio"
                      />
                      <div className="min-w-0">
                        <label htmlFor={`compound-${value}`}>{label}</label>
                        <p className="text-meta text-ink-3" id={`compound-${value}-hint`}>
                          {hint}
                        </p>
                      </div>
                    </div>
                  ))}
                </div>
              </fieldset>
              <p className="text-meta text-ink-3">
                A change is written into the ledger. What was approved before and has not run yet has to be approved
                again.
              </p>
            </section>
            <section aria-labelledby="holds" className="space-y-2">
              <h2 className="font-semibold" id="holds">
                What holds
              </h2>
              <p className={policy.source === 'broken' ? 'text-destructive' : 'text-ink-2'} data-testid="policy-source">
                {sourceText(policy)}{' '}
                <code className="break-all font-mono text-code text-ink">
                  <Visible text={policy.path} />
                </code>
              </p>
              {policy.problem === null ? null : (
                <p className="text-destructive">
                  <Visible text={policy.problem} />
                </p>
              )}
              <Rows
                rows={[
                  ['What may run', policy.security, SECURITY_WORD[policy.security]],
                  ['When it asks', policy.ask, ASK_WORD[policy.ask]],
                  ['When nobody can be asked', policy.askFallback, FALLBACK_WORD[policy.askFallback]],
                  [
                    'Reads',
                    onOff(policy.autoAllowReadOnly),
                    policy.autoAllowReadOnly
                      ? 'What only reads runs by itself.'
                      : 'What only reads asks like everything else.',
                  ],
                  [
                    'Risk gate',
                    onOff(policy.riskGate),
                    policy.riskGate
                      ? 'Destructive commands need a typed phrase.'
                      : 'Destructive commands are treated like other changes.',
                  ],
                  [
                    'Programs on the command line',
                    onOff(policy.strictInlineEval),
                    policy.strictInlineEval
                      ? 'python -c, awk and their kind always ask, even when allowed by name.'
                      : 'python -c, awk and their kind are treated like other commands.',
                  ],
                ]}
              />
              <p className="text-meta text-ink-3">
                Version <code className="break-all font-mono">{policy.version}</code>
              </p>
            </section>
          </>
        )}
      </RoomBody>
    </>
  )
}
