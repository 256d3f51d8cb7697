import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import type { InspectedPlace, InspectWish, PathSeen } from '../../ports'
import { withoutDots } from './identity'

const MODE_BITS = 0o7777n

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

/** Looks at files of this computer, one after the other: what is asked about is little. */
export async function inspectFiles(
  { cwd }: Pick<InspectedPlace, 'cwd'>,
  wishes: readonly InspectWish[],
): Promise<readonly PathSeen[]> {
  const seen: PathSeen[] = []
  for (const { path, content } of wishes) {
    const at = withoutDots(isAbsolute(path) ? path : `${cwd ?? homedir()}/${path}`)
    seen.push(await lookAt(at, content))
  }
  return seen
}

async function lookAt(at: string, most: number): Promise<PathSeen> {
  try {
    const found = await lstat(at, { bigint: true })
    if (found.isSymbolicLink()) {
      // A name that is no text could not be put back as it was.
      const target = await readlink(at, { encoding: 'buffer' })
      const text = target.toString('utf8')
      if (!Buffer.from(text, 'utf8').equals(target)) return { kind: 'other', at }
      return { kind: 'link', at, target: text, toFolder: await leadsToFolder(at) }
    }
    const owned = ownedBy(found)
    if (found.isDirectory()) return { kind: 'folder', at, ...owned }
    if (!found.isFile()) return { kind: 'other', at }
    if (most === 0) return { kind: 'file', at, ...owned, ...measures(found), content: null, without: 'not-wanted' }
    return await read(at, owned.id, most)
  } catch (error) {
    const code = codeOf(error)
    return { kind: code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'hidden', at }
  }
}

async function leadsToFolder(at: string): Promise<boolean> {
  try {
    return (await stat(at)).isDirectory()
  } catch {
    return false
  }
}

const measures = (found: { size: bigint; mtimeNs: bigint }): { size: number; mtime: string } => ({
  size: Number(found.size),
  mtime: `${found.mtimeNs / 1_000_000_000n}.${String(found.mtimeNs % 1_000_000_000n).padStart(9, '0')}`,
})

/** State and content of one and the same file: whatever takes its place meanwhile, both are of what was opened. */
async function read(at: string, expected: string, most: number): Promise<PathSeen> {
  let file: FileHandle
  try {
    // A pipe or a link that was put there meanwhile is not waited for and not followed.
    file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) !== 'EACCES' && codeOf(error) !== 'EPERM') throw error
    const found = await lstat(at, { bigint: true })
    if (!found.isFile() || `${found.dev}:${found.ino}` !== expected) return { kind: 'hidden', at }
    return { kind: 'file', at, ...ownedBy(found), ...measures(found), content: null, without: 'denied' }
  }
  try {
    const found = await file.stat({ bigint: true })
    if (!found.isFile()) return { kind: 'other', at }
    const state = { kind: 'file' as const, at, ...ownedBy(found), ...measures(found) }
    if (state.size > most) return { ...state, content: null, without: 'too-large' }
    // Files of /proc say 0 and hold more; a growing one is held to the limit as well.
    const content = Buffer.alloc(most + 1)
    let length = 0
    while (length < content.length) {
      const { bytesRead } = await file.read(content, length, content.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    if (length > most) return { ...state, content: null, without: 'too-large' }
    return { ...state, size: length, content: Uint8Array.prototype.slice.call(content, 0, length), without: null }
  } finally {
    await file.close()
  }
}

const ownedBy = (found: {
  mode: bigint
  uid: bigint
  gid: bigint
  dev: bigint
  ino: bigint
}): { mode: number; uid: number; gid: number; id: string } => ({
  mode: Number(found.mode & MODE_BITS),
  uid: Number(found.uid),
  gid: Number(found.gid),
  id: `${found.dev}:${found.ino}`,
})
