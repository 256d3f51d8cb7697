import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { runChild, whyFailed } from './child.mjs'
import { SetupError } from './errors.mjs'
import { cacheRoot, makeTemp, root } from './paths.mjs'
import { downloadState, step } from './progress.mjs'
import { integrityOf } from './stamp.mjs'

const packLimitMs = 40 * 60_000
const stallMs = 150_000

/**
 * How to run npm: with this very Node where its script can be found, which also spares Windows the `.cmd` detour.
 * @returns {{command: string, args: string[]}}
 */
export function npmCommand(env = process.env, execPath = process.execPath) {
  const bin = path.dirname(execPath)
  const candidates = [
    path.basename(env.npm_execpath ?? '') === 'npm-cli.js' ? env.npm_execpath : undefined,
    path.join(bin, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    path.join(bin, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ]
  const script = candidates.find((file) => file && existsSync(file))
  return script ? { command: execPath, args: [script] } : { command: 'npm', args: [] }
}

/**
 * The environment for npm. Its default cache lies outside our folders, so it is moved into ours; a cache the user chose
 * is the user's word and stays.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function npmEnvironment(env = process.env) {
  const chosen = env.npm_config_cache ?? (await configuredCache(env))
  const byDefault =
    process.platform === 'win32'
      ? path.join(env.LOCALAPPDATA ?? path.join(os.homedir(), 'AppData', 'Local'), 'npm-cache')
      : path.join(os.homedir(), '.npm')
  const moved = !chosen || path.resolve(chosen) === byDefault
  return {
    ...env,
    npm_config_cache: moved ? path.join(cacheRoot(env), 'npm') : chosen,
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }
}

/**
 * Asked with our own cache in the environment: npm makes the folder of its cache whatever the question is, and the
 * user's choice is listed as the one that the environment overrides.
 */
async function configuredCache(env) {
  const npm = npmCommand(env)
  const result = await runChild(npm.command, [...npm.args, 'config', 'list'], {
    cwd: root,
    env: { ...env, npm_config_cache: path.join(cacheRoot(env), 'npm'), npm_config_update_notifier: 'false' },
    timeoutMs: 30_000,
  })
  return result.code === 0 ? cacheInListing(result.output) : undefined
}

/** The cache that a configuration file names, in the output of `npm config list`. */
export function cacheInListing(text) {
  const found = /^; cache = (".*") ; overridden by env$/m.exec(text)
  return found ? JSON.parse(found[1]) : undefined
}

/**
 * Brings one exact package from the registry as a file in `<cache>/downloads`, checked against the integrity written in
 * these scripts. A checked file of an earlier, interrupted run is used again; a wrong one is never kept.
 * @param {{name: string, version: string, integrity: string, bytes?: number, log: (line: string) => void, cache?: string, fetchInto?: typeof packInto}} wanted
 * @returns {Promise<string>} the tarball
 */
export async function fetchPackage({
  name,
  version,
  integrity,
  bytes,
  log,
  cache = cacheRoot(),
  fetchInto = packInto,
}) {
  const spec = `${name}@${version}`
  const folder = path.join(cache, 'downloads')
  const file = path.join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  if (existsSync(file)) {
    if ((await integrityOf(file)) === integrity) return file
    rmSync(file, { force: true })
  }
  const temp = makeTemp('download', cache)
  try {
    const tarball = await step(log, `downloading ${spec}`, (report) => {
      report(() => downloadState(largestFile(temp), bytes))
      return fetchInto(spec, temp)
    })
    await requireIntegrity(tarball, spec, integrity)
    mkdirSync(folder, { recursive: true })
    renameSync(tarball, file)
    return file
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

/**
 * Refuses a downloaded file that is not byte for byte the one these scripts were written for.
 * @param {string} file
 * @param {string} spec
 * @param {string} integrity
 */
export async function requireIntegrity(file, spec, integrity) {
  const actual = await integrityOf(file)
  if (actual === integrity) return
  throw new SetupError(`${spec} was refused: its content is not the expected one.`, {
    output: `expected ${integrity}\nreceived ${actual}`,
    remedy:
      'nothing of it was used. A registry mirror or a proxy between here and the registry may alter packages: ' +
      'compare `npm config get registry` with what you expect, then start again.',
  })
}

/** `npm pack` with a cache of its own inside `temp`: 200 MB need not stay in npm's cache, and its growth can be seen. */
async function packInto(spec, temp) {
  const npm = npmCommand()
  let size = 0
  let grew = Date.now()
  const watch = () => {
    const now = folderSize(temp)
    if (now !== size) grew = Date.now()
    size = now
    return Date.now() - grew > stallMs ? `nothing arrived for ${stallMs / 1000} s` : undefined
  }
  const args = ['pack', spec, '--pack-destination', temp, '--cache', path.join(temp, 'npm'), '--loglevel=error']
  const result = await runChild(npm.command, [...npm.args, ...args], {
    cwd: temp,
    env: { ...(await npmEnvironment()), npm_config_cache: path.join(temp, 'npm') },
    timeoutMs: packLimitMs,
    watch,
  })
  const tarball = readdirSync(temp).find((name) => name.endsWith('.tgz'))
  if (result.code === 0 && tarball) return path.join(temp, tarball)
  throw new SetupError(`npm could not fetch ${spec}: ${whyFailed(result)}.`, {
    output: lastLines(result.output, 12),
    remedy: registryRemedy,
  })
}

export const registryRemedy =
  'check the network and the registry (`npm ping`, `npm config get registry`), then start the same command again; ' +
  'what is already there is kept.'

/** The end of a child's output, short enough to be read. */
export function lastLines(text, count) {
  return text.split('\n').slice(-count).join('\n')
}

/** npm writes a download twice, into its cache and then as a tarball: the larger of the two is how much has arrived. */
function largestFile(folder) {
  const sizes = fileSizes(folder)
  return sizes.length === 0 ? 0 : Math.max(...sizes)
}

/** Bytes in a folder, for progress only: files that vanish while we look are passed over. */
export function folderSize(folder) {
  return fileSizes(folder).reduce((total, size) => total + size, 0)
}

function fileSizes(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const full = path.join(folder, entry.name)
      return entry.isDirectory() ? fileSizes(full) : [statSync(full, { throwIfNoEntry: false })?.size ?? 0]
    })
  } catch {
    return []
  }
}
