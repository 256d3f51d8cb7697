import type { Failure, SettingsView } from '../../src-preload/contract'
import { failureOf, request } from './client'
import { useWorld } from './stores'

/** Flips one of the operator's switches; what it really is afterwards comes from main. */
export async function setSwitch(name: 'askAboutEverything' | 'pauseAutomatic', on: boolean): Promise<Failure | null> {
  try {
    useWorld.setState({ policy: await request('policy.setSwitch', { name, on }) })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Saves how the window looks and listens. */
export async function savePreferences(
  patch: Partial<Pick<SettingsView, 'theme' | 'letterShortcuts'>>,
): Promise<Failure | null> {
  const settings = useWorld.getState().settings
  if (settings === null) return null
  try {
    const { theme, letterShortcuts } = { ...settings, ...patch }
    useWorld.setState({ settings: await request('settings.savePreferences', { theme, letterShortcuts }) })
    return null
  } catch (error) {
    return failureOf(error)
  }
}
