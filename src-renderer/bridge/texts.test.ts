import { describe, expect, it } from 'vitest'
import { adoptOutput, appendOutput, endOf, joinText } from './texts'

describe('joinText', () => {
  it('appends, takes overlaps once, ignores what is known, and names gaps', () => {
    expect(joinText('', 0, 'ab')).toBe('ab')
    expect(joinText('ab', 2, 'cd')).toBe('abcd')
    expect(joinText('ab', 1, 'bcd')).toBe('abcd')
    expect(joinText('abcd', 1, 'bc')).toBe('abcd')
    expect(joinText('ab', 3, 'd')).toBe('gap')
  })
})

describe('appendOutput', () => {
  it('begins only at the beginning', () => {
    expect(appendOutput(undefined, 0, 'ab')).toEqual({ start: 0, text: 'ab' })
    expect(appendOutput(undefined, 3, 'ab')).toBe('gap')
  })

  it('follows offsets whatever the order of repeated pieces', () => {
    const have = { start: 10, text: 'abc' }
    expect(appendOutput(have, 13, 'd')).toEqual({ start: 10, text: 'abcd' })
    expect(appendOutput(have, 12, 'cd')).toEqual({ start: 10, text: 'abcd' })
    expect(appendOutput(have, 5, 'xxxxxabcde')).toEqual({ start: 10, text: 'abcde' })
    expect(appendOutput(have, 10, 'ab')).toBe(have)
    expect(appendOutput(have, 14, 'e')).toBe('gap')
  })

  it('drops the beginning at a line end when it grows past its cap, and keeps the offsets right', () => {
    let have = { start: 0, text: '' }
    let whole = ''
    for (let line = 0; line < 200; line += 1) {
      const piece = `line ${line}\n`
      const next = appendOutput(have, whole.length, piece, 400)
      if (next === 'gap') throw new Error('gap')
      have = next
      whole += piece
    }
    expect(have.text.length).toBeLessThanOrEqual(400)
    expect(endOf(have)).toBe(whole.length)
    expect(whole.endsWith(have.text)).toBe(true)
    expect(have.text.startsWith('line ')).toBe(true)
  })

  it('never begins in the middle of a character', () => {
    const next = appendOutput({ start: 0, text: '' }, 0, '😀'.repeat(100), 101)
    if (next === 'gap') throw new Error('gap')
    expect(next.text.codePointAt(0)).toBe('😀'.codePointAt(0))
    expect(endOf(next)).toBe(200)
  })
})

describe('adoptOutput', () => {
  it('joins a read to what is there, or takes it alone when what is between is gone', () => {
    expect(adoptOutput({ start: 0, text: 'ab' }, 2, 'cd')).toEqual({ start: 0, text: 'abcd' })
    expect(adoptOutput({ start: 0, text: 'ab' }, 90, 'yz')).toEqual({ start: 90, text: 'yz' })
    expect(adoptOutput(undefined, 90, 'yz')).toEqual({ start: 90, text: 'yz' })
  })
})
