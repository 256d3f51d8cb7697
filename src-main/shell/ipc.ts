import { BrowserWindow, type IpcMainInvokeEvent, ipcMain } from 'electron'
import { EVENT_CHANNEL, REQUEST_CHANNEL } from '../../src-preload/channels'
import type { Numbered } from '../../src-preload/contract/events'
import type { Dispatch } from '../ports'
import { ORIGIN } from './scheme'
import { isOurWindow } from './window'

/** Only the top frame of one of our own windows, showing our own page, may ask anything. */
function trusted(event: IpcMainInvokeEvent): boolean {
  const frame = event.senderFrame
  return (
    frame !== null &&
    frame.parent === null &&
    isOurWindow(event.sender) &&
    new URL(frame.url).origin === new URL(ORIGIN).origin
  )
}

/** The one request channel. Who asks is known from the window it came from, never from what it says. */
export function answerRequests(dispatch: Dispatch): void {
  ipcMain.handle(REQUEST_CHANNEL, (event, route: unknown, input: unknown) => {
    if (!trusted(event) || typeof route !== 'string') {
      return {
        ok: false,
        error: { code: 'forbidden', message: 'This page may not ask anything.', field: null, detail: null },
      }
    }
    return dispatch({ surface: 'window', operator: true }, route, input)
  })
}

/** Sends every event to every window. */
export function forwardEvents(subscribe: (listener: (event: Numbered) => void) => () => void): void {
  subscribe((event) => {
    for (const window of BrowserWindow.getAllWindows()) {
      if (isOurWindow(window.webContents) && !window.webContents.isDestroyed())
        window.webContents.send(EVENT_CHANNEL, event)
    }
  })
}
