import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { runChild } from './child.mjs'
import { installHint, missingLibraries, packagesForLibraries } from './debian.mjs'
import { SetupError } from './errors.mjs'
import { cacheRoot, checkoutState, root } from './paths.mjs'
import { usableRuntime } from './runtime.mjs'
import { fileSize, readStamp, stampMatches, writeStamp } from './stamp.mjs'

const offerHeadless = 'without any window the headless host does the same work: npm start -- --headless'

/**
 * How to run Electron on a folder: for `npm start`, the tests and the benches. Set-up must have run before.
 * @param {{folder?: string, args?: string[], env?: NodeJS.ProcessEnv}} [options]
 * @returns {{executable: string, args: string[], flags: string[], env: NodeJS.ProcessEnv, kind: 'official' | 'development', version: string, reason: string, notes: string[]}}
 */
export function electronCommand({ folder = root, args = [], env = process.env } = {}) {
  const runtime = usableRuntime({ env })
  if (!runtime) throw new SetupError('There is no Electron runtime yet.', { remedy: 'run `npm run setup` first.' })
  const { flags, notes } = runtimeFlags(runtime, env)
  return {
    executable: runtime.executable,
    args: [...flags, folder, ...args],
    flags,
    env: runtimeEnvironment(env),
    kind: runtime.kind,
    version: runtime.version,
    reason: runtime.reason,
    notes,
  }
}

/**
 * The environment of the app: that of the terminal, with three exceptions. System libraries under Electron write caches
 * of their own into the user's cache folder, and Nomos writes nowhere but into its own folders.
 */
function runtimeEnvironment(env) {
  const result = { ...env }
  // Terminals inside editors that are built on Electron set it; our Electron would then be a plain Node.
  delete result.ELECTRON_RUN_AS_NODE
  if (process.platform !== 'linux') return result
  result.MESA_SHADER_CACHE_DIR ??= path.join(cacheRoot(env), 'shaders')
  // Without a runtime folder there is no desktop session whose settings could be read, and dconf would make a file.
  if (!env.XDG_RUNTIME_DIR) result.GSETTINGS_BACKEND ??= 'memory'
  return result
}

function runtimeFlags(runtime, env) {
  if (process.platform !== 'linux') return { flags: [], notes: [] }
  const flags = []
  const notes = []
  if (process.getuid?.() === 0) {
    flags.push('--no-sandbox')
    notes.push('running as root: Chromium refuses its sandbox there, so it is off')
  } else if (runtime.kind === 'development' && !userNamespaces()) {
    flags.push('--no-sandbox')
    notes.push('this system forbids user namespaces: the sandbox of the development runtime is off')
  }
  // Newer runtimes choose Wayland by themselves.
  if (runtime.kind === 'development' && !env.DISPLAY && env.WAYLAND_DISPLAY) flags.push('--ozone-platform-hint=auto')
  return { flags, notes }
}

/** The namespace sandbox needs them; asked by trying, since kernels and distributions have several switches for it. */
function userNamespaces() {
  const result = spawnSync('unshare', ['--user', '--map-root-user', 'true'], { stdio: 'ignore', timeout: 5_000 })
  return result.error ? existsSync('/proc/self/ns/user') : result.status === 0
}

/**
 * Refuses to start without a display, before anything is downloaded for a window that cannot open.
 * @param {NodeJS.ProcessEnv} [env]
 */
export async function requireDisplay(env = process.env) {
  if (process.platform !== 'linux') return
  const wayland = env.WAYLAND_DISPLAY ? waylandSocket(env) : undefined
  if (wayland && existsSync(wayland)) return
  if (!env.DISPLAY) {
    const problem = wayland
      ? `the Wayland display ${wayland} does not exist`
      : 'neither DISPLAY nor WAYLAND_DISPLAY is set'
    throw noDisplay(`There is no display: ${problem}.`)
  }
  const failure = await localDisplayFailure(env.DISPLAY)
  if (failure) throw noDisplay(`The display ${env.DISPLAY} cannot be reached: ${failure}.`)
}

function waylandSocket(env) {
  return path.resolve(env.XDG_RUNTIME_DIR ?? '/run/user', env.WAYLAND_DISPLAY)
}

function noDisplay(message) {
  return new SetupError(message, {
    remedy:
      'start it from a desktop session, or give it a virtual display: xvfb-run -a npm start ' +
      `(Debian packages: xvfb xauth). Or ${offerHeadless}`,
  })
}

/** Only local displays (":0", "unix:0") are tried; one on another machine is taken at its word. */
async function localDisplayFailure(display) {
  const number = /^(?:unix)?:(\d+)(?:\.\d+)?$/.exec(display)?.[1]
  if (number === undefined) return undefined
  const socket = `/tmp/.X11-unix/X${number}`
  // X servers also listen on an abstract name, the only one a container may share with its host.
  const failures = [await connectFailure(socket), await connectFailure(`\0${socket}`)]
  return failures.every(Boolean) ? failures[0] : undefined
}

function connectFailure(address) {
  return new Promise((resolve) => {
    const socket = net.connect(address)
    const finish = (result) => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(3_000, () => finish('no answer within 3 s'))
    socket.once('connect', () => finish(undefined))
    socket.once('error', (error) => finish(error.code ?? error.message))
  })
}

/**
 * Refuses to start when shared libraries are missing, naming the Debian packages. What was once found complete is not
 * asked again until the runtime changes or `again` says that a launch has failed.
 * @param {string} executable
 * @param {{again?: boolean}} [options]
 */
export async function requireLibraries(executable, { again = false } = {}) {
  if (process.platform !== 'linux') return
  const file = path.join(checkoutState, 'libraries.json')
  const expected = { executable, size: fileSize(executable) }
  if (!again && stampMatches(readStamp(file), expected)) return
  const result = await runChild('ldd', [executable], { timeoutMs: 20_000 })
  // A system without ldd is no reason to refuse; Electron itself says what it lacks.
  if (result.code !== 0) return
  const missing = missingLibraries(result.output)
  if (missing.length > 0) throw librariesMissing(missing)
  writeStamp(file, expected)
}

function librariesMissing(missing) {
  const { packages, unknown } = packagesForLibraries(missing)
  const remedies = []
  if (packages.length > 0) remedies.push(installHint(packages))
  if (unknown.length > 0) remedies.push(`find the packages of ${unknown.join(', ')} (apt-file search <name>)`)
  return new SetupError(`Electron cannot start: shared libraries are missing (${missing.join(', ')}).`, {
    remedy: `${remedies.join('; ')}; then start again. Or ${offerHeadless}`,
  })
}
