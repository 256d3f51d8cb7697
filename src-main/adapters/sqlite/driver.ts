import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type Database from 'better-sqlite3'

// Not called `require`: the bundler gives that name to its own shim.
const load = createRequire(import.meta.url)

/** Node-API version from which on better-sqlite3 13 with its shipped binaries works; below it crashes the process. */
const NODE_API_OF_13 = 10

/** Where the set-up script puts the compiled 12.x of this runtime, e.g. `node-v115` or `electron-v130`. */
function compiledBinding(from: string): string {
  const runtime = `${process.versions.electron === undefined ? 'node' : 'electron'}-v${process.versions.modules}`
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', '.nomos', 'better-sqlite3', runtime, 'better_sqlite3.node')
    if (existsSync(file)) return file
    if (folder === dirname(folder)) {
      throw new Error(`better-sqlite3 is not built for this runtime (${runtime}). Run "npm run setup" in the checkout.`)
    }
  }
}

/**
 * Opens a database file with the build of better-sqlite3 that fits this runtime: 13 where Node-API 10 is there (Electron 36,
 * Node 22.14), else the 12.x that the set-up script compiled for development. A packaged app never takes the latter.
 */
export function openDatabase(file: string, options: Database.Options = {}): Database.Database {
  if (Number(process.versions.napi) >= NODE_API_OF_13) {
    const current = load('better-sqlite3') as typeof Database
    return new current(file, options)
  }
  if (import.meta.dirname.includes('app.asar')) {
    throw new Error('This package runs on a runtime without Node-API 10. Package it with Electron 36 or newer.')
  }
  const older = load('better-sqlite3-napi9') as typeof Database
  return new older(file, { ...options, nativeBinding: compiledBinding(import.meta.dirname) })
}
