// Packed into `resources/default_app.asar` of the development runtime: a packaged build has no default app of its own,
// so `electron <folder>` would do nothing. An ES module, because its top-level `await import()` holds back Electron's
// `ready` until the app's own main module has run: an app has to register its protocol schemes before `ready`.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { app } from 'electron'

const preloads = []
let folder
const words = process.argv.slice(1)
while (words.length > 0 && folder === undefined) {
  const word = words.shift()
  if (word === '-r' || word === '--require') preloads.push(words.shift())
  else if (word.startsWith('--require=')) preloads.push(word.slice('--require='.length))
  else if (!word.startsWith('-')) folder = path.resolve(word)
}
if (folder === undefined) {
  process.stderr.write('The development runtime of Nomos needs the folder of an app: electron <folder>\n')
  app.exit(64)
} else {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  app.setName(manifest.productName ?? manifest.name)
  app.setVersion(manifest.version ?? '0.0.0')
  app.setAppPath(folder)
  const require = createRequire(path.join(folder, 'package.json'))
  for (const file of preloads) require(path.resolve(file))
  try {
    await import(pathToFileURL(path.resolve(folder, manifest.main ?? 'index.js')).href)
  } catch (error) {
    // Without this Electron would stay, with neither a window nor an end.
    process.stderr.write(`The app threw an error while it was loaded:\n${error?.stack ?? error}\n`)
    app.exit(1)
  }
}
