import { app, BrowserWindow } from 'electron'
import type { Attention } from '../ports'
import { isOurWindow } from './window'

const ours = (): readonly BrowserWindow[] =>
  BrowserWindow.getAllWindows().filter((window) => !window.isDestroyed() && isOurWindow(window.webContents))

/** Where the operator's eyes may be, by our own windows. */
export function attentionNow(): Attention {
  const seen = ours().filter((window) => window.isVisible() && !window.isMinimized())
  if (seen.some((window) => window.isFocused())) return 'focused'
  return seen.length > 0 ? 'visible' : 'hidden'
}

/** Calls back whenever it may be another. */
export function watchAttention(listener: () => void): void {
  const follow = (window: BrowserWindow): void => {
    // Asked afterwards: in the middle of its own event a window is still what it was.
    const later = (): void => void setImmediate(listener)
    window.on('focus', later)
    window.on('blur', later)
    window.on('show', later)
    window.on('hide', later)
    window.on('minimize', later)
    window.on('restore', later)
    window.on('closed', later)
  }
  for (const window of BrowserWindow.getAllWindows()) follow(window)
  app.on('browser-window-created', (_event, window) => follow(window))
}
