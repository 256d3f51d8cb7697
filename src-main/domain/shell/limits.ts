/** The longest text that is parsed, in UTF-16 units. */
export const MAX_LENGTH = 16 * 1024
/** The deepest nesting of brackets and substitutions that is parsed. */
export const MAX_DEPTH = 40
/** The most openings in all: nested substitutions are read once per level, so their number bounds the work. */
export const MAX_OPENINGS = 600
/** How deep wrappers are taken off (`sudo env nice sh -c …`), and how much text in all is parsed again on the way. */
export const MAX_WRAPPERS = 16
export const MAX_CARRIED = 4 * MAX_LENGTH

export interface Nesting {
  readonly depth: number
  readonly openings: number
}

/**
 * Counts brackets without understanding quotes: too much is harmless here, too little is not. A closing bracket in quotes could
 * lower the depth, which is why all openings are counted as well.
 */
export function measureNesting(text: string): Nesting {
  let depth = 0
  let deepest = 0
  let openings = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 40 /* ( */ || (c === 123 /* { */ && text.charCodeAt(i - 1) === 36) /* ${ */) {
      openings++
      if (++depth > deepest) deepest = depth
    } else if (c === 96 /* ` */) openings++
    else if ((c === 41 || c === 125) && depth > 0) depth--
  }
  return { depth: deepest, openings }
}

/** Ranges of characters a reader does not see or takes for something else: controls, bidi marks, zero width, odd spaces, private use, tags. */
const INVISIBLE: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xd800, 0xf8ff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xe0000, 0xe0fff],
  [0xf0000, 0x10ffff],
]

/** The first such character, or null. Tab and new line are not among them. */
export function findInvisible(text: string): { start: number; end: number } | null {
  if (!/[^\t\n\x20-\x7e]/.test(text)) return null
  for (let i = 0; i < text.length; ) {
    const point = text.codePointAt(i) as number
    const size = point > 0xffff ? 2 : 1
    if (point < 0x20 || point > 0x7e)
      for (const [from, to] of INVISIBLE) {
        if (point < from) break
        if (point <= to) return { start: i, end: i + size }
      }
    i += size
  }
  return null
}
