import { createHash, createHmac } from 'node:crypto'
import type { LedgerEntry, LedgerReport } from '../../../src-preload/contract/model'
import { canonicalJson } from './canonical'

/** What stands before the first entry. */
export const GENESIS = '0'.repeat(64)

/** SHA-256 of a text (as UTF-8) or of bytes, in hexadecimal. */
export const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')

/** HMAC-SHA-256 of a text, in hexadecimal: a digest that tells nothing to whoever lacks the key. */
export const hmac = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text, 'utf8').digest('hex')

/** The hash that closes an entry: over all of it but the hash, the hash before included. */
export function entryHash(entry: Omit<LedgerEntry, 'hash'>): string {
  return sha256(
    canonicalJson({
      v: entry.v,
      seq: entry.seq,
      at: entry.at,
      kind: entry.kind,
      actor: entry.actor,
      executionId: entry.executionId,
      approvalId: entry.approvalId,
      data: entry.data,
      prevHash: entry.prevHash,
    }),
  )
}

/** The last entry as remembered beside the chain: a chain alone cannot show that its end was cut off. */
export interface Head {
  readonly seq: number
  readonly hash: string
}

/** One row as read from storage, before anybody trusts it; `error` says why it could not be read at all. */
export type RawEntry = { readonly entry: LedgerEntry } | { readonly seq: number; readonly error: string }

/**
 * Walks a chain from its first entry and stops at the first one that does not fit.
 * `head` is the remembered end; null when none was kept (a problem of its own unless the chain is empty). The chain may be
 * one entry ahead of it: the head is written right after the commit, and a crash may come between.
 */
export function verifyChain(rows: Iterable<RawEntry>, head: Head | null): LedgerReport {
  let before = GENESIS
  let seq = 0
  let headSeen = head === null || head.seq === 0
  const broken = (at: number, what: string): LedgerReport => ({
    intact: false,
    entries: seq,
    problem: { seq: at, what },
  })
  for (const row of rows) {
    if ('error' in row) return broken(row.seq, row.error)
    const { entry } = row
    if (entry.seq !== seq + 1) return broken(seq + 1, `row ${seq + 1} is missing: the next one found is ${entry.seq}`)
    if (entry.prevHash !== before) return broken(entry.seq, 'it does not continue the row before it')
    if (entryHash(entry) !== entry.hash) return broken(entry.seq, 'its content does not match its hash')
    if (head !== null && entry.seq === head.seq) {
      if (entry.hash !== head.hash) return broken(entry.seq, 'it is not the row that the remembered head names')
      headSeen = true
    }
    before = entry.hash
    seq = entry.seq
  }
  if (seq > 0 && head === null) return broken(seq, 'the remembered head beside the database is missing')
  if (!headSeen && head !== null) return broken(seq + 1, `the end is cut off: the remembered head is row ${head.seq}`)
  return { intact: true, entries: seq, problem: null }
}
