import { createHash } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import type { FileIdentity, Plan } from '../../../src-preload/contract/model'
import { traits } from './identity'

/** Linux: a descriptor that names a file or folder and needs no right to read it. Not among the constants of Node. */
const O_PATH = 0o10000000
/** Content up to this size is compared once more right before the start; a larger file by its inode, rights, size and times. */
const COMPARE_BYTES = 1024 * 1024

const DESCRIPTORS = process.platform === 'linux' && existsSync('/proc/self/fd')

/** The files and the folder of a plan, held open from the last look to the start of the run. */
export interface Held {
  /** The folder to start in: by its descriptor where the system can do that, so that no other can take its place. */
  readonly cwd: string | undefined
  /** What is not as it was agreed to at this moment, in words; null when all is. */
  changed(): string | null
  release(): void
}

/**
 * Opens what a plan has pinned. As long as a descriptor is held, its inode cannot come back as another file. The programs themselves are
 * started by their names: run as `/dev/fd/3`, a script would not know where it is ($0, relative imports). So a swap is looked for right
 * before the spawn and once more right behind it, before the shell has come to read a word.
 */
export function hold(plan: Plan): Held {
  const descriptors: number[] = []
  const opened = (path: string, flags: number): number | null => {
    try {
      const descriptor = openSync(path, flags)
      descriptors.push(descriptor)
      return descriptor
    } catch {
      return null
    }
  }
  const folder =
    DESCRIPTORS && plan.cwd !== null && plan.folder !== null
      ? opened(plan.cwd, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
      : null
  const pinned: { readonly file: FileIdentity; readonly words: string; readonly descriptor: number | null }[] = []
  const add = (file: FileIdentity | null, words: string): void => {
    if (file === null || pinned.some((known) => known.file.found === file.found)) return
    // What only root can change needs no descriptor.
    const own = file.sha256 !== null
    pinned.push({
      file,
      words,
      descriptor: own ? opened(file.realpath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK) : null,
    })
  }
  add(plan.boundFile, 'the script file')
  add(plan.executable, 'the program file')
  for (const program of plan.programs) add(program, 'the program file')

  return {
    cwd: folder === null ? (plan.cwd ?? undefined) : `/proc/self/fd/${folder}`,
    changed() {
      if (plan.cwd !== null && plan.folder !== null && !sameFolder(plan.cwd, plan.folder, folder))
        return 'the working folder'
      return pinned.find(({ file, descriptor }) => !same(file, descriptor))?.words ?? null
    },
    release() {
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor)
    },
  }
}

function sameFolder(
  path: string,
  agreed: { readonly dev: string; readonly ino: string },
  held: number | null,
): boolean {
  try {
    const found = held === null ? statSync(path, { bigint: true }) : fstatSync(held, { bigint: true })
    return String(found.dev) === agreed.dev && String(found.ino) === agreed.ino
  } catch {
    return false
  }
}

const TRAITS = ['dev', 'ino', 'mode', 'uid', 'gid', 'size', 'mtimeMs', 'ctimeNs'] as const

function same(file: FileIdentity, descriptor: number | null): boolean {
  try {
    if (realpathSync.native(file.found) !== file.realpath) return false
    const now = traits(statSync(file.realpath, { bigint: true }))
    if (TRAITS.some((trait) => now[trait] !== file[trait])) return false
    if (file.sha256 === null) return true
    // It could be read when it was pinned.
    if (descriptor === null) return false
    const held = fstatSync(descriptor, { bigint: true })
    if (String(held.ino) !== file.ino || String(held.dev) !== file.dev) return false
    return file.size > COMPARE_BYTES || contentOf(descriptor, file.size) === file.sha256
  } catch {
    return false
  }
}

function contentOf(descriptor: number, size: number): string {
  const bytes = Buffer.alloc(size)
  let at = 0
  while (at < size) {
    const got = readSync(descriptor, bytes, at, size - at, at)
    if (got === 0) break
    at += got
  }
  return createHash('sha256').update(bytes.subarray(0, at)).digest('hex')
}
