import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './setup/paths.mjs'
import { ensureSetup, runScript } from './setup.mjs'

const cli = path.join(root, 'out', 'main', 'cli.js')

await runScript(async () => {
  // No Electron: the command line runs in plain Node and has to work on machines that never open a window.
  await ensureSetup({ need: { build: true, sqliteNode: true } })
})

if (process.exitCode === 0) {
  // Run in this very process, as if it had been started directly: a second Node would double the time to the answer.
  process.exitCode = undefined
  process.argv = [process.execPath, cli, ...process.argv.slice(2)]
  await import(pathToFileURL(cli).href)
}
