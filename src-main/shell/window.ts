import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { app, BrowserWindow, dialog, nativeTheme, screen, type WebContents } from 'electron'
import { z } from 'zod'
import { ORIGIN } from './scheme'

const Bounds = z.object({
  x: z.number().int().optional(),
  y: z.number().int().optional(),
  width: z.number().int().min(320).max(20_000),
  height: z.number().int().min(240).max(20_000),
  maximized: z.boolean(),
})
type Bounds = z.infer<typeof Bounds>

const FIRST: Bounds = { width: 1280, height: 800, maximized: false }
const ours = new Set<number>()

/** True for the contents of a window that was opened here. */
export const isOurWindow = (contents: WebContents): boolean => ours.has(contents.id)

/** The size and place of the last time, if that place is still on a screen. */
function lastBounds(file: string): Bounds {
  try {
    const bounds = Bounds.parse(JSON.parse(readFileSync(file, 'utf8')))
    const { x, y } = bounds
    if (x === undefined || y === undefined) return bounds
    const seen = screen.getAllDisplays().some(({ workArea }) => {
      return (
        x < workArea.x + workArea.width - 40 &&
        x + bounds.width > workArea.x + 40 &&
        y >= workArea.y - 10 &&
        y < workArea.y + workArea.height - 40
      )
    })
    return seen ? bounds : { width: bounds.width, height: bounds.height, maximized: bounds.maximized }
  } catch {
    return FIRST
  }
}

export interface WindowConfig {
  readonly home: string
  readonly preload: string
  readonly icon: string | null
  /** How many commands run right now: closing the last window would end them. */
  readonly running: () => number
}

/** Opens a window on the app's page: sandboxed, unable to go anywhere else or to open anything. */
export function openWindow(config: WindowConfig): BrowserWindow {
  const file = join(config.home, 'window.json')
  const first = BrowserWindow.getAllWindows().length === 0
  const { maximized, width, height, x, y } = lastBounds(file)
  // A second window lies beside the first, not on it.
  const step = first ? 0 : 32
  const window = new BrowserWindow({
    width,
    height,
    ...(x === undefined || y === undefined ? {} : { x: x + step, y: y + step }),
    minWidth: 480,
    minHeight: 400,
    show: true,
    title: 'Nomos',
    autoHideMenuBar: true,
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#0e1116' : '#fbfbfa',
    ...(config.icon === null ? {} : { icon: config.icon }),
    webPreferences: {
      preload: config.preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
      navigateOnDragDrop: false,
    },
  })
  const { webContents } = window
  const { id } = webContents
  ours.add(id)
  if (maximized) window.maximize()

  webContents.on('will-navigate', (event) => event.preventDefault())
  webContents.on('will-redirect', (event) => event.preventDefault())
  webContents.on('will-attach-webview', (event) => event.preventDefault())
  webContents.setWindowOpenHandler(() => ({ action: 'deny' }))

  let asking = false
  let agreed = false
  window.on('close', (event) => {
    const running = config.running()
    if (!agreed && running > 0 && BrowserWindow.getAllWindows().length === 1) {
      event.preventDefault()
      if (asking) return
      asking = true
      // Not the synchronous form: until somebody answers it would hold up everything, Stop and time-outs included.
      void dialog
        .showMessageBox(window, {
          type: 'question',
          message: running === 1 ? 'One command is running.' : `${running} commands are running.`,
          detail: 'Closing the last window ends Nomos and stops what it runs.',
          buttons: ['Keep running', 'Stop and close'],
          defaultId: 0,
          cancelId: 0,
        })
        .then(({ response }) => {
          asking = false
          agreed = response === 1
          if (agreed && !window.isDestroyed()) window.close()
        })
      return
    }
    try {
      const now: Bounds = { ...window.getNormalBounds(), maximized: window.isMaximized() }
      writeFileSync(file, JSON.stringify(now), { mode: 0o600 })
    } catch {
      // The size of a window is not worth an error.
    }
  })
  window.on('closed', () => ours.delete(id))
  void window.loadURL(`${ORIGIN}/`)
  return window
}

/** Brings the app to the front because somebody started it a second time. */
export function showExisting(open: () => BrowserWindow): void {
  const window = BrowserWindow.getAllWindows()[0] ?? open()
  if (window.isMinimized()) window.restore()
  window.show()
  app.focus()
}
