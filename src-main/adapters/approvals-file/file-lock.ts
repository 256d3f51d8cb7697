import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { z } from 'zod'
import { NomosError } from '../../../src-preload/contract/errors'

/** Who holds a lock. `started` tells a process from a later one with the same number; null where the system does not say. */
const Owner = z.object({ pid: z.number().int(), started: z.string().nullable(), host: z.string(), nonce: z.string() })
type Owner = z.infer<typeof Owner>

/** How long a change waits for another one. An edit takes some milliseconds, so this is a holder that hangs. */
const WAIT_MS = 10_000
/** A lock of another machine (a shared folder) cannot be asked whether its holder lives; after this time it does not count. */
const FOREIGN_MS = 60_000

/** The start time of a process in ticks since the boot, from the kernel; null elsewhere, '' when there is no such process. */
function startOf(pid: number): string | null {
  if (process.platform !== 'linux') return null
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name stands in brackets and may hold anything; a zombie (Z) runs no more.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}

/** Whether a process of this machine is there. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function ownerOf(path: string): Owner | 'none' | 'unreadable' {
  try {
    return Owner.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'none' : 'unreadable'
  }
}

function ageOf(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return 0
  }
}

/** True when the holder of a lock is surely not at work any more. */
function isStale(path: string, owner: Owner | 'unreadable'): boolean {
  // A lock appears with its text in it, so one that cannot be read was damaged or made by somebody else.
  if (owner === 'unreadable' || owner.host !== hostname()) return ageOf(path) > FOREIGN_MS
  if (!alive(owner.pid)) return true
  return owner.started !== null && owner.started !== startOf(owner.pid)
}

function place(path: string, owner: Owner): string {
  const draft = `${path}.${owner.pid}.${owner.nonce}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, JSON.stringify(owner))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return draft
}

/** Makes `path` a name of `draft` unless it is one already: with its text in it or not at all. */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

const nonceOf = (owner: Owner | 'none' | 'unreadable'): string => (typeof owner === 'string' ? owner : owner.nonce)

/**
 * Takes over the lock of a holder that is gone. Two that find it at the same time must not both succeed, and none may take the lock of
 * whoever was quicker: so the one dead lock (by its nonce) is claimed first, and only who has the claim may put another in its place.
 */
export function takeOver(path: string, dead: Owner | 'unreadable', draft: string): boolean {
  const claim = `${path}.${nonceOf(dead)}.claim`
  if (!linked(draft, claim)) {
    const claimant = ownerOf(claim)
    if (claimant === 'none' || !isStale(claim, claimant)) return false
    // Whoever claimed it died as well. Its claim is a lock like any other.
    if (!takeOver(claim, claimant, draft)) return false
  }
  try {
    const now = ownerOf(path)
    if (now === 'none' || nonceOf(now) !== nonceOf(dead)) return false
    const again = `${draft}.again`
    linkSync(draft, again)
    renameSync(again, path)
    return true
  } finally {
    rmSync(claim, { force: true })
  }
}

/**
 * Takes the lock `path`, waiting for another holder; the answer gives it back. One whose process is gone (killed in the middle of a save)
 * is taken over at once.
 * @throws NomosError `unavailable` naming the holder after ten seconds.
 */
export async function acquire(path: string): Promise<() => void> {
  const owner: Owner = {
    pid: process.pid,
    started: startOf(process.pid),
    host: hostname(),
    nonce: randomBytes(9).toString('hex'),
  }
  const draft = place(path, owner)
  const until = Date.now() + WAIT_MS
  try {
    for (;;) {
      if (linked(draft, path)) break
      const holder = ownerOf(path)
      if (holder === 'none') continue
      if (isStale(path, holder) && takeOver(path, holder, draft)) break
      if (Date.now() > until) {
        const who = holder === 'unreadable' ? 'somebody' : `process ${holder.pid}`
        throw new NomosError(
          'unavailable',
          `${who} has held ${path} for too long, so nothing was saved. End it, or remove that file when it is of no process.`,
        )
      }
      await new Promise((go) => setTimeout(go, 2 + Math.random() * 15))
    }
  } finally {
    rmSync(draft, { force: true })
  }
  return () => {
    if (nonceOf(ownerOf(path)) === owner.nonce) rmSync(path, { force: true })
  }
}
