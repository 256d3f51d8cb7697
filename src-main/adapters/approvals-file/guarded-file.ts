import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import JSON5 from 'json5'
import type { z } from 'zod'
import { NomosError } from '../../../src-preload/contract/errors'
import { sha256 } from '../../domain/ledger'
import { fieldFaults } from '../../domain/policy'
import type { SourceRead } from '../../ports'
import { canonicalText, contentVersion } from './canonical'
import { acquire, alive } from './file-lock'

type Json = Readonly<Record<string, unknown>>

/** A change that fits and is not written yet. */
export interface Prepared {
  readonly version: string
  /** The canonical texts, the socket's token taken out. '' for a file that is not there. */
  readonly before: string
  readonly after: string
}

/** A file while its lock is held. */
export interface Editing<T> {
  read(): SourceRead<T>
  /** Looks whether `next` may be written. Throws `bad_input` with path, value and what is allowed; nothing is written. */
  prepare(next: Json): Prepared
  /** Writes what was prepared last, whole or not at all. Answers where the file of before was kept; null when there was none. */
  commit(stamp: string): string | null
  /** Writes without keeping what was there: for what only says when something was used. */
  touch(next: Json): void
}

export interface GuardedFile<T> {
  readonly path: string
  /** Looks at the disk whenever it is asked, so that an outside edit counts from the next decision on. Parsed once for each content. */
  read(): SourceRead<T>
  /** The only way to write: under the lock, so that two editors never lose each other's change. */
  edit<R>(work: (file: Editing<T>) => R | Promise<R>): Promise<R>
  /** A text as the object it holds. Throws `bad_input` with the line for what is no JSON5; fields are looked at when it is prepared. */
  parse(text: string): Json
  /** The content of the last good copy or of a backup; null when it is not there or not good. */
  kept(path?: string): Json | null
  /** The canonical text of an object, the socket's token taken out. */
  shown(raw: Json): string
  /** Moves the file into `<home>/quarantine/` and answers where it is now. */
  setAside(stamp: string): string
}

export interface FileKind<T> {
  readonly name: string
  readonly schema: z.ZodType<T>
  /** Brings an older form into today's: names moved, ids filled. Same content, same answer. */
  readonly normalise: (raw: Json) => Json
  /** Mode bits that nobody but the owner may have. */
  readonly forbidden: number
  /** What the schema cannot say; null when all is well. */
  readonly check: (file: T) => string | null
}

/** Largest file that is read; a policy of that size is a mistake, and reading it would hold up every decision. */
const MAX_BYTES = 8 * 1024 * 1024
/** Backups of one file that are kept. */
const BACKUPS = 20

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The first faults in one text; a file of nonsense has thousands. */
function faultsIn(error: z.ZodError, data: unknown): string {
  const faults = fieldFaults(error, data)
  const told = faults.slice(0, 5).map(({ sentence }) => sentence)
  if (faults.length > told.length) told.push(`There are ${faults.length - told.length} more faults.`)
  return told.join(' ').replace(/\.$/, '')
}

/** A text without the secret of its socket. */
function withoutToken(raw: Json): Json {
  if (!isJson(raw.socket)) return raw
  const { token: _token, ...socket } = raw.socket
  return { ...raw, socket }
}

function shownText(raw: Json): string {
  return canonicalText(withoutToken(raw))
}

/** Why a file may not be trusted as it lies there; null when it may. */
function placeProblem(found: Stats, forbidden: number): string | null {
  if (found.isSymbolicLink())
    return 'it is a link, and what it leads to can be changed elsewhere; put the file itself there'
  if (!found.isFile()) return 'it is no file; remove it'
  if (found.size > MAX_BYTES) return `it is ${found.size} bytes, at most ${MAX_BYTES} are read`
  if (process.platform === 'win32') return null
  const uid = process.getuid?.() ?? 0
  if (found.uid !== uid && found.uid !== 0) return `it belongs to another user (${found.uid}); run "chown ${uid}" on it`
  if ((found.mode & 0o022 & forbidden) !== 0) return 'others may write it; run "chmod 600" on it'
  if ((found.mode & forbidden) !== 0) return 'others may read it; run "chmod 600" on it'
  return null
}

/** Writes beside and renames, so that the file is the old or the new one, whatever ends this process. */
function writeWhole(path: string, text: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.draft`
  const file = openSync(draft, 'wx', 0o600)
  try {
    try {
      fchmodSync(file, 0o600)
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  if (process.platform === 'win32') return
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

export function createGuardedFile<T>(home: string, kind: FileKind<T>): GuardedFile<T> {
  const path = join(home, kind.name)
  const lastGood = `${path}.last-good`
  const backups = join(home, 'backups')
  let kept: { readonly key: string; readonly value: SourceRead<T> } | null = null

  /** A good file with what it says, or the reason why it is none. */
  function understand(text: string): { readonly file: T; readonly raw: Json } | { readonly problem: string } {
    let data: unknown
    try {
      data = JSON5.parse(text)
    } catch (error) {
      return { problem: words(error).replace(/^JSON5: /, '') }
    }
    if (!isJson(data)) return { problem: 'it holds no object; write { "version": 1 } at least' }
    return accept(data)
  }

  function accept(data: Json): { readonly file: T; readonly raw: Json } | { readonly problem: string } {
    // First as it is, so that a fault is named where it stands.
    const before = kind.schema.safeParse(data)
    if (!before.success) return { problem: faultsIn(before.error, data) }
    const raw = kind.normalise(data)
    const parsed = kind.schema.safeParse(raw)
    if (!parsed.success) return { problem: faultsIn(parsed.error, raw) }
    const problem = kind.check(parsed.data)
    return problem === null ? { file: parsed.data, raw } : { problem }
  }

  function readNow(): SourceRead<T> {
    const broken = (problem: string, text: string): SourceRead<T> => ({
      kind: 'broken',
      path,
      version: `broken-${sha256(`${problem}\n${text}`).slice(0, 16)}`,
      problem,
      text,
    })
    let text = ''
    try {
      const found = lstatSync(path, { throwIfNoEntry: false })
      if (found === undefined) return { kind: 'absent', path, version: 'absent' }
      const problem = placeProblem(found, kind.forbidden)
      if (problem !== null) return broken(problem, '')
      text = readFileSync(path, 'utf8')
    } catch (error) {
      return broken(`it cannot be read: ${words(error)}`, text)
    }
    const understood = understand(text)
    if ('problem' in understood) return broken(understood.problem, text)
    return { kind: 'file', path, version: contentVersion(understood.raw), ...understood }
  }

  function keepLastGood(value: SourceRead<T>): void {
    if (value.kind !== 'file') return
    try {
      const text = canonicalText(value.raw)
      let before: string | null = null
      try {
        before = readFileSync(lastGood, 'utf8')
      } catch {
        before = null
      }
      if (before !== text) writeWhole(lastGood, text)
    } catch {
      // A copy is a comfort: a full disk must not stop the decision that asked.
    }
  }

  function read(): SourceRead<T> {
    let key: string
    try {
      const found = lstatSync(path, { throwIfNoEntry: false, bigint: true })
      key =
        found === undefined ? 'absent' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs} ${found.mode}`
    } catch (error) {
      key = `unreadable ${words(error)}`
    }
    if (kept?.key !== key) {
      kept = { key, value: readNow() }
      keepLastGood(kept.value)
    }
    return kept.value
  }

  function backup(stamp: string): string | null {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch {
      return null
    }
    mkdirSync(backups, { recursive: true, mode: 0o700 })
    const base = `${stamp}-${randomBytes(3).toString('hex')}-${kind.name}`
    const to = join(backups, base)
    writeWhole(to, text)
    const old = readdirSync(backups)
      .filter((name) => name.endsWith(`-${kind.name}`))
      .sort()
    for (const name of old.slice(0, Math.max(0, old.length - BACKUPS))) rmSync(join(backups, name), { force: true })
    return to
  }

  /** What processes left behind that were killed in the middle of a save. Only under the lock: then nobody else writes this file. */
  function sweep(): void {
    for (const name of readdirSync(home)) {
      if (!name.startsWith(`${kind.name}.`)) continue
      const rest = name.slice(kind.name.length)
      // A claim on a dead lock is of no use once somebody has the lock.
      const [, waiting] = /^\.lock\.(\d+)\.[0-9a-f]+(?:\.again)?$/.exec(rest) ?? []
      const left =
        /^\.\d+\.[0-9a-f]{12}\.draft$/.test(rest) ||
        /^\.lock\..+\.claim$/.test(rest) ||
        (waiting !== undefined && !alive(Number(waiting)))
      if (left) rmSync(join(home, name), { force: true })
    }
  }

  return {
    path,
    read,
    async edit(work) {
      const release = await acquire(`${path}.lock`)
      let ready: { readonly text: string } | null = null
      try {
        sweep()
        // Nothing of before the lock counts.
        kept = null
        return await work({
          read,
          prepare(next) {
            const now = read()
            const accepted = accept(next)
            if ('problem' in accepted) throw new NomosError('bad_input', `${accepted.problem}. Nothing was saved.`)
            const text = canonicalText(accepted.raw)
            if (Buffer.byteLength(text) > MAX_BYTES)
              throw new NomosError('bad_input', `It would be more than ${MAX_BYTES} bytes. Nothing was saved.`)
            ready = { text }
            return {
              version: contentVersion(accepted.raw),
              before: now.kind === 'file' ? shownText(now.raw) : now.kind === 'broken' ? now.text : '',
              after: shownText(accepted.raw),
            }
          },
          commit(stamp) {
            if (ready === null) throw new Error('nothing was prepared')
            const to = backup(stamp)
            writeWhole(path, ready.text)
            kept = null
            read()
            return to
          },
          touch(next) {
            const accepted = accept(next)
            if ('problem' in accepted) return
            writeWhole(path, canonicalText(accepted.raw))
            kept = null
            read()
          },
        })
      } finally {
        release()
      }
    },
    parse(text) {
      let data: unknown
      try {
        data = JSON5.parse(text)
      } catch (error) {
        throw new NomosError('bad_input', `${words(error).replace(/^JSON5: /, '')}. Nothing was saved.`, {
          field: 'text',
        })
      }
      if (!isJson(data)) throw new NomosError('bad_input', 'It holds no object. Nothing was saved.', { field: 'text' })
      return data
    },
    kept(from = lastGood) {
      // A backup is named by what was remembered of a save; nothing outside the folder is read.
      if (from !== lastGood && dirname(from) !== backups) return null
      try {
        const understood = understand(readFileSync(from, 'utf8'))
        return 'problem' in understood ? null : understood.raw
      } catch {
        return null
      }
    },
    shown: shownText,
    setAside(stamp) {
      const folder = join(home, 'quarantine')
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const to = join(folder, `${stamp}-${basename(path)}`)
      renameSync(path, to)
      kept = null
      return to
    },
  }
}
