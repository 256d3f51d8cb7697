import { join } from 'node:path'
import { app, BrowserWindow, dialog } from 'electron'
import { makeHome, nomosHome, resourcesFolder } from './adapters/system/paths'
import type { Core } from './compose'
import type { Log, NativeDesktop } from './ports'
import { systemAutostart } from './shell/autostart'
import { createDesktop } from './shell/desktop'
import { createEnding } from './shell/ending'
import { answerRequests, forwardEvents } from './shell/ipc'
import { installMenu } from './shell/menu'
import { registerScheme, serveWindow } from './shell/scheme'
import { systemSecrets } from './shell/secrets'
import { denyPermissions } from './shell/session'
import { openWindow, showWindow } from './shell/window'

// 1. Before Electron is ready: where data lives, one app for each folder, our own scheme.
const home = ownFolder()
app.setName('Nomos')
app.setPath('userData', join(home, 'electron'))
app.setPath('sessionData', join(home, 'electron'))
app.setPath('crashDumps', join(home, 'electron', 'crashes'))
app.setAppLogsPath(join(home, 'logs'))
registerScheme()
if (!app.requestSingleInstanceLock()) {
  process.stderr.write(`Nomos is running already with ${home}; its window comes to the front.\n`)
  app.exit(0)
}

// 2. Once Electron is ready: the window first, then the core; requests wait for it. (Electron is not ready before
// this module has been read to its end, so nothing here may be awaited at the top.)
app.whenReady().then(begin).catch(cannotStart)

function ownFolder(): string {
  try {
    const folder = nomosHome()
    makeHome(folder)
    return folder
  } catch (error) {
    return cannotStart(error)
  }
}

function cannotStart(error: unknown): never {
  const text = error instanceof Error ? error.message : String(error)
  process.stderr.write(`Nomos cannot start: ${text}\n`)
  if (app.isReady()) for (const window of BrowserWindow.getAllWindows()) window.destroy()
  if (process.env.CI === undefined) dialog.showErrorBox('Nomos cannot start', text)
  app.exit(1)
  process.exit(1)
}

/** How long a start without a window waits for a panel to come: after a login it may be late. */
const PANEL_AFTER_LOGIN_MS = 10_000
const PANEL_MS = 1_500
/** Notices and tray come after the window has come to rest. */
const REST_MS = 1_000

function begin(): void {
  const resources = resourcesFolder()
  const picture = join(resources, 'resources', 'icon.png')
  const running = new Set<string>()
  let told = false
  const ending = createEnding({
    // Whoever ends Nomos from outside (a signal, the end of the login) is not asked: nobody might be there to answer.
    running: () => (told ? 0 : running.size),
    stays: () => desktop.stays(),
  })
  const open = (reveal: string | null = null) =>
    openWindow({
      home,
      preload: join(import.meta.dirname, '../preload/index.cjs'),
      icon: picture,
      mayClose: ending.mayClose,
      reveal,
    })
  const show = (executionId: string | null): void => {
    showWindow(() => open(executionId))
    // A window that was opened for it reads it from its address; the others are told.
    if (executionId !== null) void core().then((made) => made.reveal(executionId), cannotStart)
  }

  const desktop = createDesktop({
    home,
    resources,
    native: () => nativeDesktop(picture),
    autostart: systemAutostart(process.env, process.env.NOMOS_HOME ? home : null),
    dispatch: async (caller, route, input) => (await core()).dispatch(caller, route, input),
    running: () => running.size,
    show,
    quit: () => app.quit(),
  })

  // The window's files are served by this same thread, so the core is read once they are out: with the first request of the window.
  let loading: Promise<Core> | null = null
  function core(): Promise<Core> {
    loading ??= import('./compose')
      .then(({ createCore }) =>
        createCore({
          home,
          resources,
          version: app.getVersion(),
          secrets: systemSecrets(),
          headless: false,
          desktop: desktop.desktop,
        }),
      )
      .then((made) => {
        forwardEvents((listener) => made.subscribe(listener))
        made.subscribe(({ event }) => {
          if (event.type === 'execution') {
            if (event.state === 'running') running.add(event.id)
            else running.delete(event.id)
          }
          desktop.follow(event)
        })
        void made.start()
        return made
      })
    return loading
  }
  denyPermissions()
  serveWindow(join(import.meta.dirname, '../renderer'))
  answerRequests(async (caller, route, input) => (await core()).dispatch(caller, route, input))
  const byFlag = process.argv.includes('--hidden')
  if (byFlag || desktop.startsHidden) {
    void core().then(async () => {
      const there = await desktop.trayWithin(byFlag ? PANEL_AFTER_LOGIN_MS : PANEL_MS)
      // Nobody could reach it otherwise.
      if (!there && BrowserWindow.getAllWindows().length === 0) open()
    }, cannotStart)
  } else {
    // A page that never comes as far as a request must not keep the command line from the core.
    open().webContents.once('did-finish-load', () => {
      void core().catch(cannotStart)
      setTimeout(() => void desktop.begin(), REST_MS)
    })
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      told = true
      app.quit()
    })
  }

  // 3. The menu, a second start, the end.
  installMenu(() => void open())
  // A second start by the login is none that somebody waits for.
  app.on('second-instance', (_event, words) => {
    if (!words.includes('--hidden')) show(null)
  })
  app.on('activate', () => show(null))
  app.on('before-quit', (event) => {
    if (!ending.mayQuit()) event.preventDefault()
  })
  app.on('window-all-closed', () => {
    if (desktop.stays()) desktop.stayed()
    else app.quit()
  })
  let leaving = false
  app.on('will-quit', (event) => {
    if (leaving) return
    // Runs are stopped and their ends written before the process goes.
    event.preventDefault()
    leaving = true
    const stopped = loading === null ? Promise.resolve() : core().then((made) => made.stop())
    void stopped.finally(() => desktop.close()).finally(() => app.exit(0))
  })
}

/** What this system has for notices, tray and lock: on Linux over D-Bus by ourselves, elsewhere through Electron. */
async function nativeDesktop(icon: string): Promise<{ readonly native: NativeDesktop; readonly log: Log }> {
  const [{ fileLog }, { redact }] = await Promise.all([import('./adapters/system'), import('./domain/redact')])
  const log = fileLog(home, (text) => redact(text).text)
  if (process.platform !== 'linux') return { native: (await import('./shell/elsewhere')).createElsewhere(), log }
  const { createFreedesktop } = await import('./adapters/freedesktop')
  return { native: createFreedesktop({ env: process.env, log, icon, home }), log }
}
