/**
 * Private keys as blocks of lines: whole ones, cut-off ones, and those that came without their first line (`tail -n +2 key`) or upside
 * down (`tac key`). What stands between the marker lines is known by its looks; everything is bounded, so that a stream can hold it back.
 */
export interface KeyBlock {
  readonly start: number
  readonly end: number
  /** The END line that is still awaited; null when the block is closed. */
  readonly awaits: string | null
  /** The block reaches the end of the text, and what follows may belong to it. */
  readonly pending: boolean
  /** False for a lone END marker: it tells no secret, and only a stream has to know of it as long as it is pending. */
  readonly secret: boolean
}

const MARKER = /-----(BEGIN|END) ((?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?)-----/g

/** A body without its BEGIN line is looked for this far; the largest keys in use (RSA 16384) take 13 KB. */
const MAX_BODY = 16 * 1024
/** The same within one line (a key in JSON); less than a stream keeps of a long line. */
const MAX_INLINE = 1900
/** A longer line is not held back by a stream. */
const MAX_LINE = 8 * 1024
/** The last line of a body and, for PGP, its checksum are shorter than the others. */
const SHORT_LINES = 2

/** A line may be numbered, quoted or indented (`grep -n`, `diff`, YAML). */
const LEAD = String.raw`^[\t >|+:-]{0,16}(?:\d{1,6}[\t :-]{1,8})?`
const BODY = new RegExp(`${LEAD}(?<base>[A-Za-z0-9+/]{24,})={0,2}\\s{0,4}$`)
const SHORT = new RegExp(`${LEAD}=?[A-Za-z0-9+/]{1,100}={0,2}\\s{0,4}$`)
const BEGIN_LINE = new RegExp(`${LEAD}-----BEGIN [A-Z0-9 ]{0,90}PRIVATE KEY(?: BLOCK)?-----`)

/** Random-looking base64: hashes in hex, words and most paths lack one of the three. */
function isBody(line: string): boolean {
  const base = BODY.exec(line)?.groups?.base
  return base !== undefined && /[0-9]/.test(base) && /[A-Z]/.test(base) && /[a-z]/.test(base)
}

/** Where the body begins that ends right before the line that begins at `lineStart`; `lineStart` itself when there is none. */
function bodyBefore(text: string, lineStart: number, limit: number): number {
  let start = lineStart
  let at = lineStart
  let shorts = 0
  while (at > limit) {
    const from = at < 2 ? 0 : Math.max(text.lastIndexOf('\n', at - 2) + 1, limit)
    if (lineStart - from > MAX_BODY || at - from > MAX_LINE) break
    const line = text.slice(from, at - 1)
    if (isBody(line)) start = from
    else if (start < lineStart || shorts === SHORT_LINES || !SHORT.test(line)) break
    else shorts++
    at = from
  }
  return start
}

/** Where the upside-down body ends that follows an END marker that ends at `from`; `from` when there is none. */
function bodyAfter(text: string, from: number): { end: number; pending: boolean } {
  const blank = /^[ \t\r]{0,8}(\n|$)/.exec(text.slice(from, from + 16))
  if (!blank) return { end: from, pending: false }
  if (blank[1] === '') return { end: from, pending: true }
  let end = from
  let shorts = 0
  for (let at = from + blank[0].length; ; ) {
    const newline = text.indexOf('\n', at)
    const to = newline < 0 ? text.length : newline
    if (to - from > MAX_BODY || to - at > MAX_LINE) return { end, pending: false }
    const line = text.slice(at, to)
    const begin = end > from ? BEGIN_LINE.exec(line) : null
    if (begin) return { end: at + begin[0].length, pending: false }
    const body = isBody(line)
    if (body) end = to
    else if (newline >= 0 && (end > from || shorts === SHORT_LINES || !SHORT.test(line))) return { end, pending: false }
    else shorts++
    if (newline < 0) return { end, pending: true }
    at = newline + 1
  }
}

/** Every private key in a text, in order. */
export function findKeys(text: string): KeyBlock[] {
  const blocks: KeyBlock[] = []
  if (!text.includes('PRIVATE KEY')) return blocks
  MARKER.lastIndex = 0
  let limit = 0
  for (let match = MARKER.exec(text); match; match = MARKER.exec(text)) {
    const behind = match.index + match[0].length
    let block: KeyBlock
    if (match[1] === 'BEGIN') {
      const marker = `-----END ${match[2] as string}-----`
      const at = text.indexOf(marker, behind)
      block =
        at < 0
          ? { start: match.index, end: text.length, awaits: marker, pending: false, secret: true }
          : { start: match.index, end: at + marker.length, awaits: null, pending: false, secret: true }
    } else {
      const { end, pending } = bodyAfter(text, behind)
      const start = startOf(text, match.index, limit)
      block = { start, end, awaits: null, pending, secret: start < match.index || end > behind }
    }
    if (block.secret || block.pending) blocks.push(block)
    limit = block.end
    MARKER.lastIndex = limit
  }
  return blocks
}

/** Where the body begins that ends with the END marker at `marker`: in its own line, or in the lines above. */
function startOf(text: string, marker: number, limit: number): number {
  let at = marker
  const least = Math.max(limit, marker - MAX_INLINE)
  while (at > least && /[A-Za-z0-9+/=\\]/.test(text[at - 1] as string)) at--
  if (at < marker) return at
  const lead = /\n[\t >|+:\d-]{0,24}$/.exec(text.slice(Math.max(limit, marker - 25), marker))
  if (!lead) return marker
  const lineStart = marker - lead[0].length + 1
  const start = bodyBefore(text, lineStart, limit)
  return start < lineStart ? start : marker
}

/** From where a stream has to wait, because an END line that comes next would make a key of what stands there; not before `limit`. */
export function waitingFrom(text: string, limit: number): number {
  const last = text.lastIndexOf('\n') + 1
  return last > limit ? bodyBefore(text, last, limit) : limit
}
