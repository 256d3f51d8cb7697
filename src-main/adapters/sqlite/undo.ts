import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type Database from 'better-sqlite3'
import type { KeptRow, NewKept } from '../../ports'
import { preparedStatements } from './statements'

interface Row {
  readonly n: number
  readonly kind: KeptRow['kind']
  readonly subject: string
  readonly before: string
  readonly after: string | null
  readonly content: Uint8Array | number | null
  readonly sealed: number
  readonly at: number
  readonly execution_id: string
  readonly parts: string
  readonly bytes: number
}

/** What was kept so that runs can be taken back. Transactions and ledger entries are the store's; these are the plain statements. */
export class UndoKept {
  private readonly statement: (sql: string) => Database.Statement<unknown[], Row>

  constructor(db: Database.Database) {
    this.statement = preparedStatements<Row>(db)
  }

  insert(executionId: string, rows: readonly NewKept[], at: number): void {
    for (const [n, row] of rows.entries())
      this.statement(
        `INSERT INTO undo_kept (execution_id, n, kind, subject, before, content, sealed, at)
         VALUES (@executionId, @n, @kind, @subject, @before, @content, @sealed, @at)`,
      ).run({
        executionId,
        n,
        kind: row.kind,
        subject: row.subject,
        before: row.before,
        // What is encrypted does not get smaller.
        content: row.content === null || row.sealed ? row.content : deflateRawSync(row.content),
        sealed: row.sealed ? 1 : 0,
        at,
      })
  }

  /** Drops what is too old, then whole runs, the oldest first and never `spared`, until the rest is small enough. */
  trim(limits: { readonly mostBytes: number; readonly olderThan: number }, spared: string): void {
    this.statement('DELETE FROM undo_inputs WHERE at < ?').run(limits.olderThan)
    this.statement('DELETE FROM undo_kept WHERE at < ?').run(limits.olderThan)
    let total = this.statement('SELECT coalesce(sum(length(content)), 0) AS bytes FROM undo_kept').get()?.bytes ?? 0
    if (total <= limits.mostBytes) return
    const runs = this.statement(
      `SELECT execution_id, sum(length(content)) AS bytes FROM undo_kept WHERE content IS NOT NULL
       GROUP BY execution_id ORDER BY min(at), execution_id`,
    ).all()
    for (const { execution_id, bytes } of runs) {
      if (total <= limits.mostBytes) return
      if (execution_id === spared) continue
      // All of a run or nothing: half of it put back would be neither the one state nor the other.
      this.statement('DELETE FROM undo_inputs WHERE execution_id = ?').run(execution_id)
      this.statement('DELETE FROM undo_kept WHERE execution_id = ?').run(execution_id)
      total -= bytes
    }
  }

  rows(executionId: string): KeptRow[] {
    return this.statement(
      `SELECT n, kind, subject, before, after, content IS NOT NULL AS content, sealed, at FROM undo_kept
       WHERE execution_id = ? ORDER BY n`,
    )
      .all(executionId)
      .map(({ n, kind, subject, before, after, content, sealed, at }) => ({
        n,
        kind,
        subject,
        before,
        after,
        content: content === 1,
        sealed: sealed === 1,
        at,
      }))
  }

  content(executionId: string, n: number): { readonly bytes: Uint8Array; readonly sealed: boolean } | null {
    const row = this.statement('SELECT content, sealed FROM undo_kept WHERE execution_id = ? AND n = ?').get(
      executionId,
      n,
    )
    if (!(row?.content instanceof Uint8Array)) return null
    return row.sealed === 1
      ? { bytes: row.content, sealed: true }
      : { bytes: inflateRawSync(row.content), sealed: false }
  }

  saveAfter(executionId: string, n: number, after: string): void {
    this.statement('UPDATE undo_kept SET after = @after WHERE execution_id = @executionId AND n = @n').run({
      executionId,
      n,
      after,
    })
  }

  saveInput(mac: string, executionId: string, parts: readonly number[], at: number): void {
    this.statement(
      `INSERT INTO undo_inputs (mac, execution_id, parts, at) VALUES (@mac, @executionId, @parts, @at)
       ON CONFLICT (mac) DO UPDATE SET execution_id = excluded.execution_id, parts = excluded.parts, at = excluded.at`,
    ).run({ mac, executionId, parts: JSON.stringify(parts), at })
  }

  input(mac: string): { readonly executionId: string; readonly parts: readonly number[] } | null {
    const row = this.statement('SELECT execution_id, parts FROM undo_inputs WHERE mac = ?').get(mac)
    return row === undefined ? null : { executionId: row.execution_id, parts: JSON.parse(row.parts) as number[] }
  }
}
