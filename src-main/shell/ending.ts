import { app, BrowserWindow, dialog } from 'electron'

/** Asks before an end that would stop what runs. */
export interface Ending {
  /** False: it is being asked, and the window closes by itself after a yes. */
  mayClose(window: BrowserWindow): boolean
  /** False: it is being asked, and Nomos quits by itself after a yes. */
  mayQuit(): boolean
}

export interface EndingConfig {
  /** How many commands an end would stop. */
  readonly running: () => number
  /** Whether Nomos goes on without a window. */
  readonly stays: () => boolean
}

export function createEnding({ running, stays }: EndingConfig): Ending {
  let asking = false
  let quitting = false
  const agreed = new WeakSet<BrowserWindow>()

  /** Not the synchronous form: until somebody answers it would hold up everything, Stop and time-outs included. */
  function ask(parent: BrowserWindow | null, detail: string, yes: string, then: () => void): void {
    if (asking) return
    asking = true
    const count = running()
    const options: Electron.MessageBoxOptions = {
      type: 'question',
      message: count === 1 ? 'One command is running.' : `${count} commands are running.`,
      detail,
      buttons: ['Keep running', yes],
      defaultId: 0,
      cancelId: 0,
    }
    void (parent === null ? dialog.showMessageBox(options) : dialog.showMessageBox(parent, options)).then(
      ({ response }) => {
        asking = false
        if (response === 1) then()
      },
    )
  }

  return {
    mayClose(window) {
      const last = BrowserWindow.getAllWindows().length === 1
      if (!last || quitting || agreed.has(window) || stays() || running() === 0) return true
      ask(window, 'Closing the last window ends Nomos and stops what it runs.', 'Stop and close', () => {
        agreed.add(window)
        // What follows from this close was agreed to with it.
        quitting = BrowserWindow.getAllWindows().length === 1 && !stays()
        if (!window.isDestroyed()) window.close()
      })
      return false
    },
    mayQuit() {
      if (!quitting && running() > 0) {
        const parent = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0] ?? null
        ask(parent, 'Quitting ends Nomos and stops what it runs.', 'Stop and quit', () => {
          quitting = true
          app.quit()
        })
        return false
      }
      quitting = true
      return true
    },
  }
}
