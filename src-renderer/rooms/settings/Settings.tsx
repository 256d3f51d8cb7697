import { useEffect, useState } from 'react'
import type { Failure, SettingsView } from '../../../src-preload/contract'
import { RoomBody, RoomHead } from '../../app/RoomHead'
import { failureOf, request } from '../../bridge/client'
import { useWorld } from '../../bridge/stores'
import { savePreferences } from '../../bridge/switches'
import { FailureText } from '../../parts/FailureText'
import { Switch } from '../../parts/Switch'
import { Visible } from '../../parts/Visible'
import { Desktop } from './Desktop'
import { Doctor } from './Doctor'
import { ModelForm } from './ModelForm'

const THEMES = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const satisfies readonly (readonly [SettingsView['theme'], string])[]

/** The model, how the window looks and listens, and whether everything is in order. */
export default function Settings() {
  const settings = useWorld((world) => world.settings)
  const home = useWorld((world) => world.home)
  const version = useWorld((world) => world.version)
  const [failure, setFailure] = useState<Failure | null>(null)

  useEffect(() => {
    request('settings.get', {}).then(
      (got) => useWorld.setState({ settings: got }),
      (error) => setFailure(failureOf(error)),
    )
  }, [])

  return (
    <>
      <RoomHead title="Settings" />
      <RoomBody>
        {failure === null ? null : <FailureText failure={failure} />}
        {settings === null ? null : (
          <>
            <ModelForm settings={settings} />
            <section aria-labelledby="window" className="space-y-3">
              <h2 className="font-semibold" id="window">
                Window
              </h2>
              <fieldset>
                <legend className="mb-1 font-medium">Theme</legend>
                <div className="flex flex-wrap gap-x-6 gap-y-1">
                  {THEMES.map(([theme, label]) => (
                    <label className="flex items-center gap-2" key={theme}>
                      <input
                        checked={settings.theme === theme}
                        data-testid={`theme-${theme}`}
                        name="theme"
                        onChange={() => void savePreferences({ theme }).then(setFailure)}
                        type="radio"
                      />
                      {label}
                    </label>
                  ))}
                </div>
              </fieldset>
              <Switch
                hint="A, D, S, J and K act on cards. Outside text fields only."
                label="Single-letter shortcuts"
                on={settings.letterShortcuts}
                onChange={(letterShortcuts) => void savePreferences({ letterShortcuts }).then(setFailure)}
                testId="letter-shortcuts"
              />
              <Switch
                hint="Programs, options and quoted texts in colours of their own. What is risky is underlined either way."
                label="Coloured commands"
                on={settings.commandHighlighting}
                onChange={(commandHighlighting) => void savePreferences({ commandHighlighting }).then(setFailure)}
                testId="command-highlighting"
              />
            </section>
            <Desktop settings={settings} />
          </>
        )}
        <Doctor />
        <section aria-labelledby="data" className="space-y-1">
          <h2 className="font-semibold" id="data">
            Data
          </h2>
          <p className="text-ink-2">
            Sessions, ledger and settings live in{' '}
            <code className="break-all font-mono text-code text-ink" data-testid="data-home">
              <Visible text={home} />
            </code>
            , and nowhere else.
          </p>
          <p className="text-ink-3">Nomos {version}</p>
        </section>
      </RoomBody>
    </>
  )
}
