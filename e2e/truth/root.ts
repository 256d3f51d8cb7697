import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { baseEnvironments, SYSTEM_FOLDERS } from '../../src-main/adapters/local'
import { furnish } from './furnish'

/** The home folder of who runs the commands, the one our examples are written for. */
export const HOME = '/home/ann'

/** Started by root, the runs get a user of their own: whatever they broke out of, they would own nothing. */
const NOBODY = 61184

/** Folders of the disposable root that a run may write to; all else is read-only, and writing to it fails. */
const WRITABLE = ['etc', 'home', 'root', 'srv', 'var', 'opt', 'mnt', 'run', 'tmp/work'] as const

/** Bound read-only into the copy of `/var`: large, and only looked at. */
const LOOKED_AT = ['var/lib/dpkg', 'var/lib/apt/lists', 'var/cache/apt'] as const

/**
 * Why nothing can be run in a disposable root here, as a sentence; null when it can. Containers often may not make namespaces of
 * their own.
 */
export function isolationProblem(): string | null {
  if (process.platform !== 'linux') return 'Only Linux has what the truth test needs.'
  const words = [
    '--unshare-user',
    '--uid',
    '1000',
    '--gid',
    '1000',
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
  ]
  const tried = spawnSync('bwrap', [...words, ...NAMESPACES, 'strace', '-f', '--seccomp-bpf', '-qq', 'true'], {
    ...identityHere(),
    cwd: '/',
    encoding: 'utf8',
  })
  if (tried.status === 0) return null
  return `No disposable root can be made here: ${tried.error?.message ?? tried.stderr.trim()}`
}

function identityHere(): { readonly uid?: number; readonly gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
}

/** A root to be thrown away. */
export interface DisposableRoot {
  /** The folder outside that holds what is writable inside. */
  readonly folder: string
  /** Where traces go, outside. */
  readonly traces: string
  /** User and group that `spawn` is to start bubblewrap as; empty when that is who runs already. */
  readonly identity: { readonly uid?: number; readonly gid?: number }
  /** Arguments of bubblewrap; behind them comes the program. */
  readonly arguments: readonly string[]
  /** What an automatic run gets. */
  readonly environment: Readonly<Record<string, string>>
  /** One line for each file that could have changed: path, size, mode, times. */
  manifest(): ReadonlyMap<string, string>
  remove(): void
}

/**
 * Builds a root with made-up homes, logs and a repository. `commands`: files they name are made, so that they have something to read.
 * `tree`: another system whose programs are used instead of this machine's, `/` by default.
 */
export function createDisposableRoot(commands: readonly string[], tree = '/'): DisposableRoot {
  const base = mkdtempSync(join(tmpdir(), 'nomos-truth-'))
  const folder = join(base, 'root')
  const traces = join(base, 'traces')
  mkdirSync(traces)
  for (const name of WRITABLE) mkdirSync(join(folder, name), { recursive: true })
  // Copied and never linked: a write through a link would reach the machine. What cannot be read is not needed.
  spawnSync('cp', ['-r', '--preserve=mode,timestamps,links', '--', join(tree, 'etc'), folder], { stdio: 'ignore' })
  settleNames(join(folder, 'etc'))
  const identity = identityHere()
  furnish(folder, commands)
  if (identity.uid !== undefined) own(base)
  return {
    folder,
    traces,
    identity,
    arguments: [...bubblewrap(folder, traces, tree), ...NAMESPACES],
    environment: {
      ...baseEnvironments({
        PATH: SYSTEM_FOLDERS.join(':'),
        HOME,
        USER: 'ann',
        LOGNAME: 'ann',
        SHELL: '/bin/bash',
        LANG: 'C.UTF-8',
        XDG_RUNTIME_DIR: '/run/user/0',
        DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/0/bus',
      }).automatic,
    },
    manifest: () => manifest(folder),
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
}

function own(path: string): void {
  spawnSync('chown', ['-hR', `${NOBODY}:${NOBODY}`, path])
  chmodSync(path, 0o755)
  chownSync(path, NOBODY, NOBODY)
}

/**
 * Inside, root's home is the one that the rules take for the user's, so that programs that ask the variable and those that ask the user
 * database come to the same place.
 */
function settleNames(etc: string): void {
  const file = join(etc, 'passwd')
  const others = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !/^(root|ann):/.test(line))
    : []
  mkdirSync(etc, { recursive: true })
  writeFileSync(
    file,
    ['root:x:0:0:root:/home/ann:/bin/bash', ...others, 'ann:x:1000:1000::/home/ann:/bin/bash', ''].join('\n'),
  )
}

/**
 * A second set of namespaces inside the first. In it the run is root with all capabilities over namespaces of its own, so that a command
 * that would change something as root is not held back before it tries; and the read-only mounts of the outer set are locked: not even
 * root of the inner one can make them writable.
 */
const NAMESPACES = ['unshare', '--user', '--map-root-user', '--net', '--mount', '--uts', '--ipc'] as const

function bubblewrap(folder: string, traces: string, tree: string): string[] {
  const words = ['--unshare-user', '--uid', '1000', '--gid', '1000', '--unshare-net', '--unshare-pid', '--unshare-ipc']
  words.push('--unshare-uts', '--cap-drop', 'ALL', '--ro-bind', join(tree, 'usr'), '/usr')
  for (const name of ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']) {
    const path = join(tree, name)
    if (!existsSync(path)) continue
    if (lstatSync(path).isSymbolicLink()) words.push('--symlink', `usr/${name}`, `/${name}`)
    else words.push('--ro-bind', path, `/${name}`)
  }
  words.push('--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys', '--dev', '/dev', '--ro-bind', '/sys', '/sys')
  words.push('--tmpfs', '/tmp')
  for (const name of WRITABLE) words.push('--bind', join(folder, name), `/${name}`)
  for (const name of LOOKED_AT) if (existsSync(join(tree, name))) words.push('--ro-bind', join(tree, name), `/${name}`)
  words.push(
    '--bind',
    traces,
    '/.trace',
    '--remount-ro',
    '/',
    '--chdir',
    '/srv/app',
    '--die-with-parent',
    '--new-session',
  )
  return words
}

function manifest(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const open = [folder]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const about = lstatSync(path, { bigint: true })
    const relative = path.slice(folder.length) || '/'
    found.set(relative, [about.ino, about.size, about.mode, about.mtimeNs, about.ctimeNs].join(' '))
    if (about.isDirectory()) for (const name of readdirSync(path)) open.push(join(path, name))
  }
  return found
}
