import { describe, expect, it } from 'vitest'
import { plainOutput, visiblePieces, visibleText } from './visible'

describe('visible', () => {
  it('leaves plain text, tabs, newlines and letters of any script alone', () => {
    const text = 'ls -l\t/srv\n# größe 大小 حجم 😀'
    expect(visiblePieces(text)).toEqual([{ kind: 'text', text }])
    expect(visibleText('')).toBe('')
  })

  it.each([
    ['\u202e', '\\u202E'],
    ['\u2066', '\\u2066'],
    ['\u200b', '\\u200B'],
    ['\u00a0', '\\u00A0'],
    ['\u3000', '\\u3000'],
    ['\u2028', '\\u2028'],
    ['\ufeff', '\\uFEFF'],
    ['\u00ad', '\\u00AD'],
    ['\u3164', '\\u3164'],
    ['\u2800', '\\u2800'],
    ['\ufe0f', '\\uFE0F'],
    ['\u{e0041}', '\\u{E0041}'],
    ['\ud800', '\\uD800'],
    ['\u0085', '\\u0085'],
    ['\ue000', '\\uE000'],
    ['\u{10fffd}', '\\u{10FFFD}'],
    ['\ufffe', '\\uFFFE'],
    ['\u0000', '\\0'],
    ['\u001b', '\\x1b'],
    ['\u007f', '\\x7f'],
    ['\r', '\\r'],
    ['\b', '\\b'],
  ])('shows %j by its name', (hidden, label) => {
    expect(visibleText(`a${hidden}b`)).toBe(`a${label}b`)
    const mark = visiblePieces(`a${hidden}b`)[1]
    expect(mark?.kind).toBe('mark')
  })

  it('names tab and newline inside a single word', () => {
    expect(visiblePieces('a\tb\nc d', true).map((piece) => (piece.kind === 'text' ? piece.text : piece.label))).toEqual(
      ['a', '\\t', 'b', '\\n', 'c d'],
    )
  })

  it('counts long runs instead of filling the card with them', () => {
    expect(visibleText(`a${'\u200b'.repeat(500)}b`)).toBe('a\\u200B ×500b')
    expect(visibleText('\r\r\u200b\u200b')).toBe('\\r\\r\\u200B\\u200B')
    expect(visiblePieces('\ra\r').length).toBe(3)
  })
})

describe('plainOutput', () => {
  it('drops colours and titles, makes line ends one kind, and leaves other controls to be marked', () => {
    expect(plainOutput('\u001b[1;32mok\u001b[0m\r\nnext\u001b]0;title\u0007')).toBe('ok\nnext')
    expect(plainOutput(`a${'\r'.repeat(50_000)}b`)).toBe('a\nb')
    expect(plainOutput('10 %\r20 %\r100 %\n')).toBe('10 %\n20 %\n100 %\n')
    expect(visibleText(plainOutput('\u001b[2Jx\u001b[8mhidden'))).toBe('xhidden')
    expect(visibleText(plainOutput('\u001b[5Ax'))).toBe('\\x1b[5Ax')
  })
})
