import type { Span } from '../../src-preload/contract/model'

/** Everything that a terminal would obey, hide or reorder instead of showing it. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]|(?! )\p{Zs}/u
const HIDDEN_ALL = new RegExp(HIDDEN.source, 'gu')
const WIDE =
  /[\u1100-\u115e\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '␡'
  return `\\u{${code.toString(16)}}`
}

/** One line in which nothing is hidden: control and invisible characters become pictures or `\u{…}`. */
export function visibleLine(text: string): string {
  return text.replace(HIDDEN_ALL, picture)
}

/** The same, with line breaks and tabs left as they are: for text that is read, not obeyed. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_ALL, (character) =>
    character === '\n' || character === '\t' ? character : picture(character),
  )
}

/** One character of a text as it is shown, with the columns it takes. */
export interface Glyph {
  readonly start: number
  readonly end: number
  readonly shown: string
  readonly width: number
  /** It would not have been seen and is shown by a name. */
  readonly hidden: boolean
}

/** Every character of a text, shown. Offsets are UTF-16 units. */
export function glyphsOf(text: string): readonly Glyph[] {
  const glyphs: Glyph[] = []
  let at = 0
  for (const character of text) {
    const hidden = HIDDEN.test(character)
    const shown = hidden ? picture(character) : character
    const width = hidden ? shown.length : WIDE.test(shown) ? 2 : /\p{M}/u.test(shown) ? 0 : 1
    glyphs.push({ start: at, end: at + character.length, shown, width, hidden })
    at += character.length
  }
  return glyphs
}

/**
 * A command as lines for a terminal, every character seen, with `^` under the spans.
 * Spans are UTF-16 units of `text`; a line break is shown as ␊ at the end of its line.
 */
export function markedLines(
  text: string,
  spans: readonly Span[],
): readonly { readonly text: string; readonly marks: string }[] {
  const lines: { text: string; marks: string }[] = []
  let line = ''
  let marks = ''
  for (const { start, end, shown, width } of glyphsOf(text)) {
    const marked = spans.some((span) => span.start < end && span.end > start)
    line += shown
    marks += (marked ? '^' : ' ').repeat(width)
    if (text[start] === '\n') {
      lines.push({ text: line, marks: marks.trimEnd() })
      line = ''
      marks = ''
    }
  }
  if (line !== '' || lines.length === 0) lines.push({ text: line, marks: marks.trimEnd() })
  return lines
}

const COLOURS = { red: 31, green: 32, yellow: 33, blue: 34, bold: 1, dim: 2, inverse: 7 } as const
export type Paint = (colour: keyof typeof COLOURS, text: string) => string

/** Colours for a terminal, plain text for everything else and under NO_COLOR. */
export function painter(out: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const on = out.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
  return (colour, text) => (on ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text)
}
