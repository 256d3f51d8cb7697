import { describe, expect, it } from 'vitest'
import type { Numbered } from '../../src-preload/contract'
import { FeedCursor } from './feed'

const at = (seq: number, boot = 'one'): Numbered => ({ boot, seq, event: { type: 'ledger', seq } })
const event = (seq: number) => at(seq).event

describe('FeedCursor', () => {
  it('applies events in their order and ignores those it has seen', () => {
    const cursor = new FeedCursor()
    expect(cursor.synced('one', 4)).toEqual([])
    expect(cursor.accept(at(5))).toEqual([event(5)])
    expect(cursor.accept(at(5))).toEqual([])
    expect(cursor.accept(at(3))).toEqual([])
    expect(cursor.accept(at(6))).toEqual([event(6)])
  })

  it('asks for everything after a gap and after another boot', () => {
    const cursor = new FeedCursor()
    cursor.synced('one', 4)
    expect(cursor.accept(at(6))).toBe('resync')
    cursor.synced('one', 6)
    expect(cursor.accept(at(7, 'two'))).toBe('resync')
    cursor.synced('two', 1)
    expect(cursor.accept(at(2, 'two'))).toEqual([event(2)])
  })

  it('holds what comes while a snapshot is read and replays what the snapshot does not have', () => {
    const cursor = new FeedCursor()
    cursor.reading()
    expect(cursor.accept(at(5))).toEqual([])
    expect(cursor.accept(at(6))).toEqual([])
    expect(cursor.accept(at(7))).toEqual([])
    expect(cursor.synced('one', 5)).toEqual([event(6), event(7)])
    expect(cursor.accept(at(8))).toEqual([event(8)])
  })

  it('asks again when what was held has a gap, is of another boot, or was too much to hold', () => {
    const cursor = new FeedCursor()
    cursor.reading()
    cursor.accept(at(8))
    expect(cursor.synced('one', 5)).toBe('resync')
    cursor.reading()
    cursor.accept(at(1, 'two'))
    expect(cursor.synced('one', 5)).toBe('resync')
    cursor.reading()
    for (let seq = 1; seq <= 5001; seq += 1) cursor.accept(at(seq))
    expect(cursor.synced('one', 5001)).toBe('resync')
  })
})
