import { createHash } from 'node:crypto'
import { accessSync, type BigIntStats, constants, realpathSync, statSync } from 'node:fs'
import { access, open, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { FileIdentity } from '../../../src-preload/contract/model'
import { SYSTEM_FOLDERS } from './environment'

/** Files larger than this are pinned by inode, size and time alone: hashing them would hold up the answer. */
const HASH_BYTES = 64 * 1024 * 1024

/** What bash runs itself: there is no file to look up. Names from the manual, section "Shell Builtin Commands". */
const BUILTINS: ReadonlySet<string> = new Set(
  (
    '. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable ' +
    'eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd ' +
    'read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias ' +
    'unset wait'
  ).split(' '),
)

const inSystem = (path: string): boolean =>
  SYSTEM_FOLDERS.some((folder) => path.startsWith(`${folder}/`)) ||
  path.startsWith('/usr/lib/') ||
  path.startsWith('/usr/share/')

/**
 * Pins a file. Files of the system's folders are pinned by inode, size and time, others by their content as well. The former are
 * looked at synchronously, which is ten times quicker than a trip to the thread pool for each step; any other place may be on a
 * file system that hangs, and must not hold up the app.
 */
export async function fileIdentity(typed: string, path: string): Promise<FileIdentity> {
  const real = inSystem(path) ? realpathSync(path) : await realpath(path)
  if (inSystem(real)) return identityOf(typed, real, statSync(real, { bigint: true }), null)
  const file = await open(real, 'r')
  try {
    const found = await file.stat({ bigint: true })
    if (found.size > BigInt(HASH_BYTES)) return identityOf(typed, real, found, null)
    const hash = createHash('sha256')
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Uint8Array)
    return identityOf(typed, real, found, hash.digest('hex'))
  } finally {
    await file.close()
  }
}

const identityOf = (typed: string, real: string, found: BigIntStats, sha256: string | null): FileIdentity => ({
  path: typed,
  realpath: real,
  dev: String(found.dev),
  ino: String(found.ino),
  size: Number(found.size),
  mtimeMs: Number(found.mtimeMs),
  sha256,
})

export interface Resolved {
  readonly program: string
  readonly path: string | null
  /** The same with all links followed. */
  readonly real: string | null
  /** True for what the shell runs itself and for a file of the system's folders that not everybody may write. */
  readonly trusted: boolean
}

/** Where a file that may be executed really is, and its mode. */
interface Runnable {
  readonly real: string
  readonly mode: number
}

/** Looks in a folder of the system: an answer is cheaper than an exception, and both are cheaper than the thread pool. */
function runnableOfSystem(path: string): Runnable | null {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return null
    accessSync(path, constants.X_OK)
    const real = realpathSync(path)
    const found = statSync(real)
    return found.isFile() ? { real, mode: found.mode } : null
  } catch {
    return null
  }
}

/** The same for any other folder, which may be on a file system that hangs. */
async function runnableElsewhere(path: string): Promise<Runnable | null> {
  try {
    await access(path, constants.X_OK)
    const real = await realpath(path)
    const found = await stat(real)
    return found.isFile() ? { real, mode: found.mode } : null
  } catch {
    return null
  }
}

/** The first of the places that has it. Those behind a folder of the system that has it need not be looked at. */
async function firstRunnable(paths: readonly string[]): Promise<{ path: string; found: Runnable } | null> {
  let system: { path: string; found: Runnable } | null = null
  const before: string[] = []
  for (const path of paths) {
    if (!inSystem(path)) {
      before.push(path)
      continue
    }
    const found = runnableOfSystem(path)
    if (found === null) continue
    system = { path, found }
    break
  }
  const looked = await Promise.all(before.map(runnableElsewhere))
  const at = looked.findIndex((found) => found !== null)
  const found = looked[at]
  return found ? { path: before[at] as string, found } : system
}

/** Finds what would be started for a name, in the order of `searchPath`: by a shell, or, `asFile`, without one. */
export async function resolveProgram(
  program: string,
  cwd: string,
  searchPath: string,
  asFile = false,
): Promise<Resolved> {
  if (!asFile && BUILTINS.has(program)) return { program, path: null, real: null, trusted: true }
  const candidates = program.includes('/')
    ? [resolve(cwd, program)]
    : searchPath
        .split(delimiter)
        .filter((folder) => isAbsolute(folder))
        .map((folder) => join(folder, program))
  const first = await firstRunnable(candidates)
  if (first === null) return { program, path: null, real: null, trusted: false }
  const { path, found } = first
  const { real, mode } = found
  const everybody = (mode & 0o002) !== 0
  return {
    program,
    path,
    real,
    trusted: inSystem(path) && (inSystem(real) || real.startsWith('/etc/alternatives/')) && !everybody,
  }
}
