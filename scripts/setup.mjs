import { mkdirSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { killAllChildren } from './setup/child.mjs'
import { describeError, SetupError } from './setup/errors.mjs'
import { releaseAllLocks, withLock } from './setup/lock.mjs'
import { cacheRoot, checkoutLockName, sweepTemp } from './setup/paths.mjs'
import { requireNode } from './setup/requirements.mjs'

/** Set-up speaks on standard error: standard output belongs to the command that needed it. */
export function logToStderr(line) {
  process.stderr.write(`nomos: ${line}\n`)
}

/**
 * @typedef {object} Need
 * @property {boolean} [electron] a runtime that opens windows
 * @property {boolean} [build] the bundles in `out/`
 * @property {boolean} [sqliteNode] SQLite for this Node
 * @property {boolean} [sqliteElectron] SQLite for the Electron runtime
 */

/**
 * Brings what is missing and nothing else. With nothing missing it only looks, which takes milliseconds. Safe to be
 * called by several processes at once and to be interrupted at any point.
 * @param {{need: Need, log?: (line: string) => void}} options
 * @returns {Promise<{didWork: boolean}>}
 */
export async function ensureSetup({ need, log = logToStderr }) {
  requireNode()
  if ((await missingParts(need)).length === 0) return { didWork: false }
  const stopWatching = endCleanlyOnSignals()
  try {
    mkdirSync(cacheRoot(), { recursive: true })
    const locks = path.join(cacheRoot(), 'locks')
    await withLock(checkoutLockName(), () => bringMissing(need, log), { folder: locks, log, sayTakeover: true })
  } finally {
    stopWatching()
  }
  return { didWork: true }
}

/**
 * What set-up would have to do, cheaply and without doing it.
 * @param {Need} need
 * @returns {Promise<string[]>}
 */
export async function missingParts(need) {
  const { packagesReady } = await import('./setup/packages.mjs')
  if (!packagesReady()) return ['packages']
  const missing = []
  if ((need.electron || need.sqliteElectron) && !(await runtimeReady())) missing.push('runtime')
  if ((await missingBuilds(need)).length > 0) missing.push('sqlite')
  if (need.build) {
    const { buildFresh } = await import('./setup/build.mjs')
    if (!buildFresh()) missing.push('build')
  }
  return missing
}

async function runtimeReady() {
  const { readyRuntime } = await import('./setup/runtime.mjs')
  return readyRuntime() !== undefined
}

async function missingBuilds(need) {
  const { buildReady, neededBuilds } = await import('./setup/sqlite.mjs')
  const { readyRuntime } = await import('./setup/runtime.mjs')
  const electron = need.sqliteElectron === true && readyRuntime()?.kind === 'development'
  return neededBuilds({ node: need.sqliteNode === true, electron }).filter((build) => !buildReady(build))
}

async function bringMissing(need, log) {
  sweepTemp()
  const { installPackages, packagesReady } = await import('./setup/packages.mjs')
  if (!packagesReady()) await installPackages(log)
  await bringNative(need, log)
  if (!need.build) return
  const { buildApp, buildFresh } = await import('./setup/build.mjs')
  if (!buildFresh()) await buildApp(log)
}

/** The long steps do not depend on one another: one waits for the network while the others use the processors. */
async function bringNative(need, log) {
  const { assembleDevelopmentRuntime, chooseRuntime, readyRuntime } = await import('./setup/runtime.mjs')
  const { buildReady, ensureBuilds, neededBuilds } = await import('./setup/sqlite.mjs')
  const wantsElectron = need.electron === true || need.sqliteElectron === true
  const choice = wantsElectron ? await chooseRuntime(log) : undefined
  const development = choice?.kind === 'development'
  const assemble = development && !readyRuntime()
  if (assemble) log(`using the development runtime of Electron (${choice.reason})`)
  const electron = need.sqliteElectron === true && development
  const builds = neededBuilds({ node: need.sqliteNode === true, electron }).filter((build) => !buildReady(build))
  const steps = [ensureBuilds(builds, log)]
  if (assemble) steps.push(assembleDevelopmentRuntime(log))
  await allOrFirstFailure(steps, log)
}

/** Lets every step come to its end, so that its result is kept, and says at once when one has failed. */
async function allOrFirstFailure(steps, log) {
  const watched = steps.map((running) =>
    running.catch((error) => {
      if (steps.length > 1) log(`a step failed, the others are finished first: ${error.message}`)
      throw error
    }),
  )
  const results = await Promise.allSettled(watched)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/**
 * Ends with the whole tree of children when told to. What is half done lies in folders the next run sweeps away.
 * @returns {() => void} stops listening
 */
export function endCleanlyOnSignals() {
  const numbers = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 }
  const handlers = Object.entries(numbers).map(([signal, number]) => {
    const handler = () => {
      killAllChildren()
      releaseAllLocks()
      process.stderr.write('\nnomos: interrupted; the next start goes on from here\n')
      process.exit(128 + number)
    }
    process.on(signal, handler)
    return [signal, handler]
  })
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}

/**
 * True when Node was started with this very file. Compared by real path: a checkout may be reached through a link.
 * @param {string} url `import.meta.url` of the asking module
 */
export function isMain(url) {
  const started = process.argv[1]
  return started !== undefined && url === pathToFileURL(realpathSync(started)).href
}

/**
 * Runs the main function of a script: an error is shown as a person needs it, and the exit code says that it failed.
 * @param {() => Promise<number | undefined>} main
 */
export async function runScript(main) {
  try {
    process.exitCode = (await main()) ?? 0
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`)
    process.exitCode = error instanceof SetupError ? 1 : 70
  }
}

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const need = { electron: true, build: true, sqliteNode: true, sqliteElectron: true }
    const { didWork } = await ensureSetup({ need })
    logToStderr(didWork ? 'set-up is complete' : 'everything is in place')
    const { readyRuntime } = await import('./setup/runtime.mjs')
    const runtime = readyRuntime()
    logToStderr(`Electron ${runtime?.version} (${runtime?.kind} runtime: ${runtime?.reason})`)
  })
}
