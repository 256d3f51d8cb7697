import { join } from 'node:path'
import { app, BrowserWindow, dialog } from 'electron'
import { makeHome, nomosHome, resourcesFolder } from './adapters/system/paths'
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

// 2. Once Electron is ready: the window first, the core while the window loads; requests wait for it. (Electron is not ready before
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

async function begin(): Promise<void> {
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
  denyPermissions()
  serveWindow(join(import.meta.dirname, '../renderer'))
  const loading = import('./compose').then(({ createCore }) =>
    createCore({ home, resources, version: app.getVersion(), secrets: systemSecrets(), headless: false }),
  )
  answerRequests(async (caller, route, input) => (await loading).dispatch(caller, route, input))
  open()

  const core = await loading
  forwardEvents((listener) => core.subscribe(listener))
  core.subscribe(({ event }) => {
    if (event.type !== 'execution') return
    if (event.state === 'running') running.add(event.id)
    else running.delete(event.id)
  })

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      told = true
      app.quit()
    })
  }

  // 3. Afterwards: the menu, the control socket, a second start, the end.
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
    void core.stop().finally(() => app.exit(0))
  })
  await core.start()
}
