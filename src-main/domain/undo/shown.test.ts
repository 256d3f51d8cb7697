import { describe, expect, it } from 'vitest'
import { shownName } from './shown'

describe('a name on a line of its own', () => {
  it('has nothing in it that ends the line, moves letters about or cannot be seen', () => {
    expect(shownName('/etc/ünï "a".conf')).toBe('/etc/ünï "a".conf')
    expect(shownName('a\n+ b')).toBe('"a\\n+ b"')
    for (const [name, shown] of [
      ['a\u202eb', '"a\\u{202e}b"'],
      ['a\u2028b', '"a\\u{2028}b"'],
      ['a\u0085b', '"a\\u{85}b"'],
      ['a\u{e0041}b', '"a\\u{e0041}b"'],
    ] as const)
      expect(shownName(name)).toBe(shown)
  })
})
