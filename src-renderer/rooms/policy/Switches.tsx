import { useState } from 'react'
import type { Failure, SettingsView } from '../../../src-preload/contract'
import { useWorld } from '../../bridge/stores'
import { saveCompound, setSwitch } from '../../bridge/switches'
import { Choice } from '../../parts/Choice'
import { FailureText } from '../../parts/FailureText'
import { Switch } from '../../parts/Switch'

const COMPOUND = [
  {
    value: 'never',
    label: 'Always ask',
    hint: 'A pipe, a list with && or ;, a shell or a command for another machine is asked about, however harmless its parts are.',
  },
  {
    value: 'every-segment',
    label: 'Run when every part only reads',
    hint: 'Such a line runs by itself when each of its parts would do so alone. One part that changes something, writes to a file or is not understood, and the whole line is asked about.',
  },
] as const satisfies readonly { value: SettingsView['compound']; label: string; hint: string }[]

/** What the operator can flip at any time. */
export function Switches() {
  const policy = useWorld((world) => world.policy)
  const [failure, setFailure] = useState<Failure | null>(null)
  if (policy === null) return null
  const change = (name: 'askAboutEverything' | 'pauseAutomatic', on: boolean): void => {
    void setSwitch(name, on).then(setFailure)
  }
  return (
    <section aria-labelledby="switches" className="space-y-3">
      <h2 className="font-semibold" id="switches">
        Switches
      </h2>
      {failure === null ? null : <FailureText failure={failure} />}
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
  )
}

/** What happens to a line of several commands. */
export function CompoundSetting() {
  const compound = useWorld((world) => world.settings?.compound ?? null)
  const [failure, setFailure] = useState<Failure | null>(null)
  if (compound === null) return null
  return (
    <section aria-labelledby="compound" className="space-y-3">
      <h2 className="font-semibold" id="compound">
        Lines of several commands
      </h2>
      {failure === null ? null : <FailureText failure={failure} />}
      <Choice
        legend={
          <>
            What happens to a line like <code className="font-mono text-code text-ink">df -h | sort -k5</code>
          </>
        }
        onChange={(value) => void saveCompound(value).then(setFailure)}
        options={COMPOUND}
        stacked
        testId="compound"
        value={compound}
      />
      <p className="text-meta text-ink-3">
        A change is written into the ledger. What was approved before and has not run yet has to be approved again.
      </p>
    </section>
  )
}
