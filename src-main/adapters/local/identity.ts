import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
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

/** Pins a file. Files of the system's folders are pinned by inode, size and time, others by their content as well. */
export async function fileIdentity(typed: string, path: string): Promise<FileIdentity> {
  const real = await realpath(path)
  const file = await open(real, 'r')
  try {
    const found = await file.stat({ bigint: true })
    let sha256: string | null = null
    if (!inSystem(real) && found.size <= BigInt(HASH_BYTES)) {
      const hash = createHash('sha256')
      for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Uint8Array)
      sha256 = hash.digest('hex')
    }
    return {
      path: typed,
      realpath: real,
      dev: String(found.dev),
      ino: String(found.ino),
      size: Number(found.size),
      mtimeMs: Number(found.mtimeMs),
      sha256,
    }
  } finally {
    await file.close()
  }
}

export interface Resolved {
  readonly program: string
  readonly path: string | null
  /** True for what the shell runs itself and for a file of the system's folders that not everybody may write. */
  readonly trusted: boolean
}

async function executable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** Finds what the shell would start for a name, in the order of `searchPath`. */
export async function resolveProgram(program: string, cwd: string, searchPath: string): Promise<Resolved> {
  if (BUILTINS.has(program)) return { program, path: null, trusted: true }
  const candidates = program.includes('/')
    ? [isAbsolute(program) ? program : resolve(cwd, program)]
    : searchPath
        .split(delimiter)
        .filter((folder) => isAbsolute(folder))
        .map((folder) => join(folder, program))
  // All places at once: one after the other would cost a trip to the thread pool each.
  const runnable = await Promise.all(candidates.map(executable))
  const path = candidates.find((_, index) => runnable[index])
  if (path === undefined) return { program, path: null, trusted: false }
  const real = await realpath(path)
  const open = ((await stat(real)).mode & 0o002) !== 0
  return {
    program,
    path,
    trusted: inSystem(path) && (inSystem(real) || real.startsWith('/etc/alternatives/')) && !open,
  }
}
