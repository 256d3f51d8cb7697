import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { LedgerEntry, type LedgerReport } from '../../../src-preload/contract/model'
import { entryHash, GENESIS, type Head, type RawEntry, verifyChain } from '../../domain/ledger'
import { redact } from '../../domain/redact'
import type { LedgerDraft } from '../../ports'

interface LedgerRow {
  readonly seq: number
  readonly v: number
  readonly at: number
  readonly kind: string
  readonly actor: string
  readonly execution_id: string | null
  readonly approval_id: string | null
  readonly data: string
  readonly prev_hash: string
  readonly hash: string
}

const HEAD_BYTES = 96

/** Reads `<seq> <hash>` from the head file; null when there is none or it is unreadable. */
export function readHead(file: string): Head | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // Missing and unreadable come to the same: nothing is remembered, which is told as a problem of its own.
    return null
  }
  const match = /^(\d{1,15}) ([0-9a-f]{64})\s*$/.exec(text)
  return match ? { seq: Number(match[1]), hash: match[2] ?? '' } : null
}

/** A stored row as an entry, or why it is none. Nothing of a row is trusted before. */
function rawEntry(row: LedgerRow): RawEntry {
  let data: unknown
  try {
    data = JSON.parse(row.data)
  } catch {
    return { seq: row.seq, error: 'its data is not JSON' }
  }
  const parsed = LedgerEntry.safeParse({
    v: row.v,
    seq: row.seq,
    at: row.at,
    kind: row.kind,
    actor: row.actor,
    executionId: row.execution_id,
    approvalId: row.approval_id,
    data,
    prevHash: row.prev_hash,
    hash: row.hash,
  })
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    return { seq: row.seq, error: `its field "${issue?.path.join('.') ?? ''}" is not valid` }
  }
  return { entry: parsed.data }
}

/** The chain in its table, its head in a small file beside the database. */
export class Ledger {
  private readonly last: Database.Statement<[], LedgerRow>
  private readonly insert: Database.Statement
  private readonly pageBefore: Database.Statement<[number, number], LedgerRow>
  private readonly all: Database.Statement<[], LedgerRow>
  private head: Head
  private headFd: number | null = null

  constructor(
    db: Database.Database,
    private readonly headFile: string | null,
  ) {
    this.last = db.prepare('SELECT * FROM ledger ORDER BY seq DESC LIMIT 1')
    this.insert = db.prepare(
      `INSERT INTO ledger (seq, v, at, kind, actor, execution_id, approval_id, data, prev_hash, hash)
       VALUES (@seq, @v, @at, @kind, @actor, @executionId, @approvalId, @data, @prevHash, @hash)`,
    )
    this.pageBefore = db.prepare('SELECT * FROM ledger WHERE seq < ? ORDER BY seq DESC LIMIT ?')
    this.all = db.prepare('SELECT * FROM ledger ORDER BY seq')
    this.head = this.readLast()
  }

  private readLast(): Head {
    const row = this.last.get()
    return row ? { seq: row.seq, hash: row.hash } : { seq: 0, hash: GENESIS }
  }

  /** Appends inside the caller's transaction. `afterCommit` must be called once that transaction is through, or `rolledBack`. */
  append(draft: LedgerDraft, at: number): LedgerEntry {
    // What is hashed must be what is read back: a value such as `undefined` or a Date would not survive JSON. And whatever the
    // caller has done before: a chain cannot take a secret back, so every text passes the redactor here once more.
    const data = JSON.parse(JSON.stringify(draft.data), (_key, value: unknown) =>
      typeof value === 'string' ? redact(value).text : value,
    ) as Record<string, unknown>
    const open = {
      v: 1 as const,
      seq: this.head.seq + 1,
      at,
      kind: draft.kind,
      actor: draft.actor,
      executionId: draft.executionId,
      approvalId: draft.approvalId,
      data,
      prevHash: this.head.hash,
    }
    const entry: LedgerEntry = { ...open, hash: entryHash(open) }
    this.insert.run({ ...entry, data: JSON.stringify(data) })
    this.head = { seq: entry.seq, hash: entry.hash }
    return entry
  }

  /** Remembers the new end beside the database: one write of one fixed-size line in place, so that no reader sees half of it. */
  afterCommit(): void {
    if (this.headFile === null) return
    this.headFd ??= openSync(this.headFile, existsSync(this.headFile) ? 'r+' : 'w+', 0o600)
    writeSync(this.headFd, `${this.head.seq} ${this.head.hash}`.padEnd(HEAD_BYTES - 1).concat('\n'), 0)
  }

  rolledBack(): void {
    this.head = this.readLast()
  }

  /** Compares the remembered head with the table without walking the chain; null when they fit. */
  headProblem(): string | null {
    if (this.headFile === null) return null
    const kept = readHead(this.headFile)
    const end = this.readLast()
    if (kept === null) return end.seq === 0 ? null : 'the remembered head beside the database is missing or unreadable'
    if (kept.seq > end.seq)
      return `the end of the ledger is cut off: the remembered head is row ${kept.seq}, the last row is ${end.seq}`
    if (kept.seq === 0) return null
    const row = this.pageBefore.get(kept.seq + 1, 1)
    return row?.seq === kept.seq && row.hash === kept.hash
      ? null
      : `row ${kept.seq} is not the one that the remembered head names`
  }

  page(before: number | null, limit: number): LedgerEntry[] {
    const rows = this.pageBefore.all(before ?? Number.MAX_SAFE_INTEGER, limit)
    return rows.flatMap((row) => {
      const raw = rawEntry(row)
      return 'entry' in raw ? [raw.entry] : []
    })
  }

  verify(): LedgerReport {
    const rows = this.all
    function* entries(): Iterable<RawEntry> {
      for (const row of rows.iterate()) yield rawEntry(row)
    }
    return verifyChain(entries(), this.headFile === null ? this.readLast() : readHead(this.headFile))
  }

  close(): void {
    if (this.headFd !== null) closeSync(this.headFd)
    this.headFd = null
  }
}
