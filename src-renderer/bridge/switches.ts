import type { DesktopSettings, Failure, SettingsView } from '../../src-preload/contract'
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

/** "Never automatic here", for one target. */
export async function setNeverAuto(target: string, on: boolean): Promise<Failure | null> {
  try {
    useWorld.setState({ policy: await request('policy.setNeverAuto', { target, on }) })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Saves how Nomos lives on the desktop. */
export async function saveDesktop(patch: Partial<DesktopSettings>): Promise<Failure | null> {
  const settings = useWorld.getState().settings
  if (settings === null) return null
  try {
    useWorld.setState({ settings: await request('settings.saveDesktop', { ...settings.desktop, ...patch }) })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Saves how the window looks and listens. */
export async function savePreferences(
  patch: Partial<Pick<SettingsView, 'theme' | 'letterShortcuts' | 'commandHighlighting'>>,
): Promise<Failure | null> {
  const settings = useWorld.getState().settings
  if (settings === null) return null
  try {
    const { theme, letterShortcuts, commandHighlighting } = { ...settings, ...patch }
    useWorld.setState({
      settings: await request('settings.savePreferences', { theme, letterShortcuts, commandHighlighting }),
    })
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** Sets whether a line of several commands may count as a read. */
export async function saveCompound(compound: SettingsView['compound']): Promise<Failure | null> {
  try {
    useWorld.setState({ settings: await request('policy.setCompound', { compound }) })
    return null
  } catch (error) {
    return failureOf(error)
  }
}
