import type { SettingsView } from '../../../src-preload/contract'

type Theme = SettingsView['theme']
const KEY = 'theme'

/** Sets the theme of the window; `system` follows the desktop. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // Only a first frame in the other theme is lost.
  }
}

/** The theme of the last time, so that the first frame does not flash in the other one. The setting itself is main's. */
export function applyCachedTheme(): void {
  try {
    const theme = localStorage.getItem(KEY)
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch {
    // See above.
  }
}
