import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { app, dialog } from 'electron'
import { nomosHome, resourcesFolder } from './adapters/system/paths'
import { answerRequests, forwardEvents } from './shell/ipc'
import { installMenu } from './shell/menu'
import { registerScheme, serveWindow } from './shell/scheme'
import { systemSecrets } from './shell/secrets'
import { denyPermissions } from './shell/session'
import { openWindow, showExisting } from './shell/window'

// 1. Before Electron is ready: where data lives, one app for each folder, our own scheme.
const home = nomosHome()
mkdirSync(home, { recursive: true, mode: 0o700 })
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
app
  .whenReady()
  .then(begin)
  .catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error)
    process.stderr.write(`Nomos cannot start: ${text}\n`)
    if (process.env.CI === undefined) dialog.showErrorBox('Nomos cannot start', text)
    app.exit(1)
  })

async function begin(): Promise<void> {
  const resources = resourcesFolder()
  const running = new Set<string>()
  const open = () =>
    openWindow({
      home,
      preload: join(import.meta.dirname, '../preload/index.cjs'),
      icon: join(resources, 'resources', 'icon.png'),
      running: () => running.size,
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
