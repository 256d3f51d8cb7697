export interface Chunk {
  /** The place of its first character in the whole output: it stays the same while more arrives. */
  readonly at: number
  readonly text: string
}

const CHUNK = 8192

/**
 * Cuts output at line ends into pieces of about 8 KB. While output grows only the last piece changes, so the others need not be
 * drawn again.
 */
export function chunksOf(text: string, start: number, least: number = CHUNK): readonly Chunk[] {
  const chunks: Chunk[] = []
  let from = 0
  while (from < text.length) {
    let to = text.length
    if (text.length - from > least) {
      const line = text.indexOf('\n', from + least)
      // A line without end must not make one piece of everything.
      if (line !== -1 && line - from < least * 4) to = line + 1
      else if (text.length - from > least * 4) to = from + least * 4
    }
    chunks.push({ at: start + from, text: text.slice(from, to) })
    from = to
  }
  return chunks
}

/** How many lines a text has; a last line without an end counts. */
export function lineCount(text: string): number {
  if (text === '') return 0
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return text.endsWith('\n') ? count : count + 1
}
