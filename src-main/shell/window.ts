import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { app, BrowserWindow, nativeTheme, screen, type WebContents } from 'electron'
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
  /** False when it has to be asked first. */
  readonly mayClose: (window: BrowserWindow) => boolean
  /** A card to bring into sight at once; null for none. */
  readonly reveal: string | null
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

  window.on('close', (event) => {
    if (!config.mayClose(window)) {
      event.preventDefault()
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
  // Only ids of executions: what stands in an address is read by the page.
  const hash = config.reveal !== null && /^exe_[0-9a-z]+$/.test(config.reveal) ? `#reveal=${config.reveal}` : ''
  void window.loadURL(`${ORIGIN}/${hash}`)
  return window
}

/** Brings a window to the front, opening one if there is none. True when it was there already. */
export function showWindow(open: () => BrowserWindow): boolean {
  const windows = BrowserWindow.getAllWindows().filter(({ webContents }) => ours.has(webContents.id))
  const there = windows.find((window) => window.isFocused()) ?? windows[0]
  const window = there ?? open()
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
  app.focus()
  return there !== undefined
}
