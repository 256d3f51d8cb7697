import { join } from 'node:path'
import { app, BrowserWindow, dialog } from 'electron'
import { makeHome, nomosHome, resourcesFolder } from './adapters/system/paths'
import type { Core } from './compose'
import { answerRequests, forwardEvents } from './shell/ipc'
import { installMenu } from './shell/menu'
import { registerScheme, serveWindow } from './shell/scheme'
import { systemSecrets } from './shell/secrets'
import { denyPermissions } from './shell/session'
import { openWindow, showExisting } from './shell/window'

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

function begin(): void {
  const resources = resourcesFolder()
  const running = new Set<string>()
  let told = false
  const open = () =>
    openWindow({
      home,
      preload: join(import.meta.dirname, '../preload/index.cjs'),
      icon: join(resources, 'resources', 'icon.png'),
      // Whoever ends Nomos from outside (a signal, the end of the login) is not asked: nobody might be there to answer.
      running: () => (told ? 0 : running.size),
    })

  // The window's files are served by this same thread, so the core is read once they are out: with the first request of the window.
  let loading: Promise<Core> | null = null
  const core = (): Promise<Core> => {
    loading ??= import('./compose')
      .then(({ createCore }) =>
        createCore({ home, resources, version: app.getVersion(), secrets: systemSecrets(), headless: false }),
      )
      .then((made) => {
        forwardEvents((listener) => made.subscribe(listener))
        made.subscribe(({ event }) => {
          if (event.type !== 'execution') return
          if (event.state === 'running') running.add(event.id)
          else running.delete(event.id)
        })
        void made.start()
        return made
      })
    return loading
  }
  denyPermissions()
  serveWindow(join(import.meta.dirname, '../renderer'))
  answerRequests(async (caller, route, input) => (await core()).dispatch(caller, route, input))
  // A page that never comes as far as a request must not keep the command line from the core.
  open().webContents.once('did-finish-load', () => void core().catch(cannotStart))

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      told = true
      app.quit()
    })
  }

  // 3. The menu, a second start, the end.
  installMenu(open)
  app.on('second-instance', () => showExisting(open))
  app.on('activate', () => showExisting(open))
  app.on('window-all-closed', () => app.quit())
  let ending = false
  app.on('will-quit', (event) => {
    if (ending) return
    // Runs are stopped and their ends written before the process goes.
    event.preventDefault()
    ending = true
    const stopped = loading === null ? Promise.resolve() : core().then((made) => made.stop())
    void stopped.finally(() => app.exit(0))
  })
}
