/** A stretch of text, or one character that would not be seen and is shown by its name instead. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'mark'; readonly label: string; readonly title: string }

/**
 * Everything that draws nothing, looks like a plain space without being one, or moves other letters about: control and format
 * characters, private use, what has no meaning yet, lone surrogates, line and paragraph separators, every space but U+0020, and
 * what Unicode calls ignorable. What is of private use looks like whatever a font makes of it.
 * Tab and newline stay: they are shown as what they are.
 */
const HIDDEN = /(?![\t\n ])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{DI}\u2800]/gu

/** The same with tab and newline, for one word at a time: there they look like the blank that would end it. */
const HIDDEN_IN_WORD = new RegExp(HIDDEN.source.replace('(?![\\t\\n ])', '(?! )'), 'gu')

const NAMES: Readonly<Record<number, string>> = {
  0: 'null character',
  7: 'bell',
  8: 'backspace',
  9: 'tab',
  10: 'line feed',
  11: 'vertical tab',
  12: 'form feed',
  13: 'carriage return',
  27: 'escape',
  127: 'delete',
  160: 'no-break space',
  173: 'soft hyphen',
  8203: 'zero width space',
  8204: 'zero width non-joiner',
  8205: 'zero width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8232: 'line separator',
  8233: 'paragraph separator',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'pop directional formatting',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'pop directional isolate',
  65279: 'byte order mark',
}

const SHORT: Readonly<Record<number, string>> = {
  0: '\\0',
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
}

function labelOf(code: number): string {
  const short = SHORT[code]
  if (short !== undefined) return short
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  if (code <= 0xffff) return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`
  return `\\u{${code.toString(16).toUpperCase()}}`
}

/**
 * Splits text so that nothing in it can hide. Runs of one hidden character become one mark with a count. With `inWord`, tab and
 * newline are shown by name as well.
 */
export function visiblePieces(text: string, inWord = false): readonly Piece[] {
  const pieces: Piece[] = []
  let from = 0
  let code = -1
  let count = 0
  const close = (): void => {
    if (count === 0) return
    const label = labelOf(code)
    const name = NAMES[code] ?? 'a character that cannot be seen'
    const title = `U+${code.toString(16).toUpperCase().padStart(4, '0')} ${name}`
    if (count <= 3) for (let i = 0; i < count; i += 1) pieces.push({ kind: 'mark', label, title })
    else pieces.push({ kind: 'mark', label: `${label} ×${count}`, title })
    count = 0
  }
  for (const match of text.matchAll(inWord ? HIDDEN_IN_WORD : HIDDEN)) {
    const found = match[0].codePointAt(0) ?? 0
    if (match.index > from || found !== code) close()
    if (match.index > from) pieces.push({ kind: 'text', text: text.slice(from, match.index) })
    code = found
    count += 1
    from = match.index + match[0].length
  }
  close()
  if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) })
  return pieces
}

/** The same as one plain text, for labels and announcements. */
export function visibleText(text: string): string {
  return visiblePieces(text)
    .map((piece) => (piece.kind === 'text' ? piece.text : piece.label))
    .join('')
}

const COLOURS =
  /\u001b\[[0-9;:]*m|\u001b\[[0-9;?]*[KJ]|\u001b\](?:[^\u0007\u001b])*(?:\u0007|\u001b\\)|\u001b\([A-Z0-9]/g

/** Output as a reader wants it: colours and titles of terminals dropped, line ends made one kind. The rest stays to be marked. */
export function plainOutput(text: string): string {
  return text.replace(COLOURS, '').replace(/\r+\n?/g, '\n')
}
