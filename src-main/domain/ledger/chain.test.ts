import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LedgerEntry } from '../../../src-preload/contract/model'
import { canonicalJson, entryHash, GENESIS, type RawEntry, verifyChain } from '.'

function chain(length: number): LedgerEntry[] {
  const entries: LedgerEntry[] = []
  for (let seq = 1; seq <= length; seq++) {
    const open = {
      v: 1 as const,
      seq,
      at: 1000 + seq,
      kind: 'execution.started' as const,
      actor: 'operator',
      executionId: `exe_${seq}`,
      approvalId: null,
      data: { n: seq, text: 'a "quoted" \\ line\n' },
      prevHash: entries.at(-1)?.hash ?? GENESIS,
    }
    entries.push({ ...open, hash: entryHash(open) })
  }
  return entries
}
const rows = (entries: readonly LedgerEntry[]): RawEntry[] => entries.map((entry) => ({ entry }))
const head = (entries: readonly LedgerEntry[]) => ({
  seq: entries.at(-1)?.seq ?? 0,
  hash: entries.at(-1)?.hash ?? GENESIS,
})

describe('canonical JSON', () => {
  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (record) => {
        const turned = Object.fromEntries(Object.entries(record).reverse())
        expect(canonicalJson(turned)).toBe(canonicalJson(record))
        expect(JSON.parse(canonicalJson(record))).toEqual(JSON.parse(JSON.stringify(record)))
      }),
    )
  })
  it('refuses what JSON would turn into null', () => {
    expect(() => canonicalJson({ n: Number.NaN })).toThrow(/NaN/)
    expect(() => canonicalJson({ n: 1n })).toThrow(/bigint/)
  })
})

describe('the chain', () => {
  it('is intact as written, also when the head is one commit behind', () => {
    const entries = chain(20)
    expect(verifyChain(rows(entries), head(entries))).toEqual({ intact: true, entries: 20, problem: null })
    expect(verifyChain(rows(entries), head(entries.slice(0, 19))).intact).toBe(true)
    expect(verifyChain([], null).intact).toBe(true)
  })
  it('names the row in which any one field was changed', () => {
    const entries = chain(9)
    for (const at of [0, 4, 8]) {
      for (const change of [
        { at: 5 },
        { actor: 'other' },
        { data: { n: 0 } },
        { executionId: null },
        { kind: 'recovery' as const },
      ]) {
        const changed = entries.map((entry, index) => (index === at ? { ...entry, ...change } : entry))
        expect(verifyChain(rows(changed), head(entries)).problem?.seq).toBe(at + 1)
      }
    }
  })
  it('sees a row removed, two rows swapped, a cut end, a rewritten end and a lost head', () => {
    const entries = chain(9)
    expect(verifyChain(rows(entries.filter((entry) => entry.seq !== 4)), head(entries)).problem?.seq).toBe(4)
    const swapped = [...entries.slice(0, 3), entries[4]!, entries[3]!, ...entries.slice(5)]
    expect(verifyChain(rows(swapped), head(entries)).intact).toBe(false)
    expect(verifyChain(rows(entries.slice(0, 7)), head(entries)).problem?.what).toMatch(/cut off/)
    const last = { ...entries[8]!, data: { n: 'forged' } }
    const forged = [...entries.slice(0, 8), { ...last, hash: entryHash(last) }]
    expect(verifyChain(rows(forged), head(entries)).problem?.seq).toBe(9)
    expect(verifyChain(rows(entries), null).problem?.what).toMatch(/head/)
  })
})
