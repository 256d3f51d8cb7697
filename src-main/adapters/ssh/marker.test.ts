import { describe, expect, it } from 'vitest'
import { MarkerFilter } from './marker'

const WORD = 'nomos-0123456789abcdef'

/** Feeds bytes cut at the given places. */
function feed(bytes: Buffer, cuts: readonly number[]): { markers: string[]; after: Buffer; noise: string } {
  const filter = new MarkerFilter(WORD)
  const markers: string[] = []
  const after: Buffer[] = []
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    const result = filter.push(bytes.subarray(from, to))
    if (result.marker !== null) markers.push(result.marker)
    if (result.after !== null) after.push(result.after)
    from = to
  }
  return { markers, after: Buffer.concat(after), noise: filter.noise() }
}

describe('the marker', () => {
  const whole = Buffer.from(`motd\nnomos-0123 not it\n${WORD}:42:g\nout\0put\n${WORD}:43:g\n`)

  it('is found wherever the bytes are cut', () => {
    const expected = feed(whole, [])
    expect(expected.markers).toEqual([':42:g'])
    expect(expected.after.toString()).toBe(`out\0put\n${WORD}:43:g\n`)
    expect(expected.noise).toBe('motd\nnomos-0123 not it')
    for (let a = 0; a <= whole.length; a += 1) {
      for (let b = a; b <= whole.length; b += 3) expect(feed(whole, [a, b])).toEqual(expected)
    }
    expect(feed(whole, Array.from(whole.keys()))).toEqual(expected)
  })

  it('leaves what comes before it out of the output, however much', () => {
    const noise = Buffer.alloc(3_000_000, 'x')
    const filter = new MarkerFilter(WORD)
    for (let i = 0; i < noise.length; i += 65_536) {
      expect(filter.push(noise.subarray(i, i + 65_536))).toEqual({ marker: null, after: null })
    }
    expect(filter.push(Buffer.from(`${WORD}\n`))).toEqual({ marker: '', after: null })
    expect(filter.noise().length).toBe(2048)
  })

  it('tells what was printed when it never came', () => {
    const filter = new MarkerFilter(WORD)
    filter.push(Buffer.from('This account is currently not available.\n'))
    expect(filter.noise()).toBe('This account is currently not available.')
  })
})
