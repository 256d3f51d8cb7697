/** Text that grows by pieces with offsets: streamed answers and command output. Pure, so that gaps can be tested. */

/** The most of one output that a card keeps; "open whole" reads the rest from main. */
export const OUTPUT_CAP = 524_288

export interface OutputText {
  /** The place of `text[0]` in the whole output, in UTF-16 units. */
  readonly start: number
  readonly text: string
}

/** Where the known text ends. */
export const endOf = (output: OutputText): number => output.start + output.text.length

/** Joins a piece to a text that began at 0, or says that something between is missing. Pieces known already change nothing. */
export function joinText(text: string, offset: number, piece: string): string | 'gap' {
  if (offset > text.length) return 'gap'
  if (offset + piece.length <= text.length) return text
  return text + piece.slice(text.length - offset)
}

function cut(output: OutputText, cap: number): OutputText {
  if (output.text.length <= cap) return output
  // A quarter at once, so that a long stream does not move every line of the card with each piece.
  let drop = output.text.length - Math.floor(cap * 0.75)
  const code = output.text.charCodeAt(drop)
  if (code >= 0xdc00 && code <= 0xdfff) drop += 1
  const line = output.text.indexOf('\n', drop)
  if (line !== -1 && line - drop < 4096) drop = line + 1
  return { start: output.start + drop, text: output.text.slice(drop) }
}

/** Adds a streamed piece of output; `gap` when pieces before it were missed. */
export function appendOutput(
  have: OutputText | undefined,
  offset: number,
  piece: string,
  cap: number = OUTPUT_CAP,
): OutputText | 'gap' {
  if (have === undefined) return offset === 0 ? cut({ start: 0, text: piece }, cap) : 'gap'
  const end = endOf(have)
  if (offset > end) return 'gap'
  if (offset + piece.length <= end) return have
  return cut({ start: have.start, text: have.text + piece.slice(end - offset) }, cap)
}

/** Takes what main answered to a read; a hole before it means that the older part is gone and this is what there is. */
export function adoptOutput(
  have: OutputText | undefined,
  offset: number,
  text: string,
  cap: number = OUTPUT_CAP,
): OutputText {
  const joined = appendOutput(have, offset, text, cap)
  return joined === 'gap' ? cut({ start: offset, text }, cap) : joined
}
