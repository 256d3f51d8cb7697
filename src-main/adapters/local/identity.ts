import { createHash } from 'node:crypto'
import { accessSync, type BigIntStats, constants, realpathSync, statSync } from 'node:fs'
import { access, type FileHandle, open, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
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
 * A path without `.` and doubled slashes. `..` stays: behind a link it leads to another place than its text says, and the system is the one
 * to walk it.
 */
export const withoutDots = (path: string): string => path.replace(/\/(?:\.?\/)+/g, '/')

/** There is something else than a file where one was named: a folder, a pipe, a device. */
export class NotAFile extends Error {}

/**
 * Pins a file. Files of the system's folders are pinned by inode, rights, size and times, others by their content as well. The former are
 * looked at synchronously, which is ten times quicker than a trip to the thread pool for each step; any other place may be on a file
 * system that hangs, and must not hold up the app. `readable`: content that cannot be read is an error; else it is left out.
 */
export async function fileIdentity(typed: string, path: string, readable: boolean): Promise<FileIdentity> {
  const system = inSystem(path)
  const real = system ? realpathSync.native(path) : await realpath(path)
  if (inSystem(real)) return identityOf(typed, path, real, plain(statSync(real, { bigint: true }), real), null)
  let file: FileHandle
  try {
    // A pipe put there would hold up the answer for ever.
    file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (readable || (error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    return identityOf(typed, path, real, plain(await stat(real, { bigint: true }), real), null)
  }
  try {
    const found = plain(await file.stat({ bigint: true }), real)
    if (found.size > BigInt(HASH_BYTES)) return identityOf(typed, path, real, found, null)
    const hash = createHash('sha256')
    for await (const chunk of file.createReadStream({ autoClose: false, start: 0 })) hash.update(chunk as Uint8Array)
    return identityOf(typed, path, real, found, hash.digest('hex'))
  } finally {
    await file.close()
  }
}

function plain(found: BigIntStats, path: string): BigIntStats {
  if (!found.isFile()) throw new NotAFile(path)
  return found
}

const identityOf = (
  typed: string,
  path: string,
  real: string,
  found: BigIntStats,
  sha256: string | null,
): FileIdentity => ({ path: typed, found: path, realpath: real, ...traits(found), sha256 })

/** What tells one file from another, and from itself after a change, without its content. */
export const traits = (found: BigIntStats): Omit<FileIdentity, 'path' | 'found' | 'realpath' | 'sha256'> => ({
  dev: String(found.dev),
  ino: String(found.ino),
  mode: Number(found.mode),
  uid: Number(found.uid),
  gid: Number(found.gid),
  size: Number(found.size),
  mtimeMs: Number(found.mtimeMs),
  ctimeNs: String(found.ctimeNs),
})

/** The first line of a file as far as 256 bytes reach; null when it cannot be read. */
export async function firstLine(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null)
  if (file === null) return null
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0)
    return buffer.toString('latin1', 0, bytesRead).split('\n')[0] ?? null
  } catch {
    return null
  } finally {
    await file.close()
  }
}

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
    const real = realpathSync.native(path)
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
    ? [withoutDots(isAbsolute(program) ? program : `${cwd}/${program}`)]
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
