import type { Span } from '../../../src-preload/contract/model'
import { findKeys, waitingFrom } from './keys'
import { quoteState } from './quotes'
import { PATTERNS } from './rules'

/** One secret that was taken out: where it stood in the original text and where its replacement stands in the new one. */
export interface Found {
  readonly kind: string
  readonly start: number
  readonly end: number
  readonly newStart: number
  readonly newEnd: number
}

export interface Redaction {
  readonly text: string
  readonly found: readonly Found[]
}

interface Hit {
  readonly kind: string
  readonly start: number
  readonly end: number
}

/** Lines longer than this are looked at in overlapping pieces, so that no pattern ever sees an unbounded text. */
export const MAX_LINE = 8 * 1024
const OVERLAP = 2 * 1024

function findPem(text: string): Hit[] {
  return findKeys(text)
    .filter(({ secret }) => secret)
    .map(({ start, end }) => ({ kind: 'private key', start, end }))
}

/** A wider net that costs one pass: a piece without any of these holds no secret that the patterns know. */
const ANY_SIGN = /[=:@'"_$<]|eyJ|-[a-zA-Z]|A[KSBCI]|SG\.|key-|pass|secret|auth|psk|pw/i

/** What ends a word and starts another command. */
const OPERATOR = /[;|&]/

function findInPiece(piece: string, offset: number, hits: Hit[]): void {
  if (!ANY_SIGN.test(piece)) return
  let quotes: Uint8Array | null = null
  for (const { kind, pattern, sign, real, list } of PATTERNS) {
    if (sign && !sign.test(piece)) continue
    pattern.lastIndex = 0
    for (let match = pattern.exec(piece); match; match = pattern.exec(piece)) {
      const groups = match.groups
      const value = groups ? (groups.value ?? groups.d ?? groups.s ?? groups.p) : match[0]
      if (value === undefined || value === '' || (real && !real(value)) || value.includes('‹redacted')) {
        // Go on right behind the beginning: what was refused may hide another one.
        if (match[0].length === 0) pattern.lastIndex++
        continue
      }
      // The value is the last thing but a quote or a delimiter in every pattern.
      const at = match.index + match[0].lastIndexOf(value)
      let length = value.length
      if (!list && OPERATOR.test(value)) {
        // An operator of the shell outside of quotes ends the value: what comes behind it runs, and has to be seen.
        quotes ??= quoteState(piece)
        if (quotes[at] === 0) length = value.search(OPERATOR)
        if (length < value.length) pattern.lastIndex = at + length
        if (length === 0) continue
      }
      hits.push({ kind, start: offset + at, end: offset + at + length })
    }
  }
}

/** Splits at line ends; a line that is too long is cut at blanks where it has any, and pieces overlap where it has none. */
function forEachPiece(text: string, from: number, to: number, visit: (piece: string, offset: number) => void): void {
  let at = from
  while (at < to) {
    let end = text.indexOf('\n', at)
    if (end < 0 || end > to) end = to
    while (end - at > MAX_LINE) {
      const cut = at + MAX_LINE
      visit(text.slice(at, cut), at)
      at = cut - OVERLAP
    }
    if (end > at) visit(text.slice(at, end), at)
    at = end + 1
  }
}

function find(text: string): Hit[] {
  const pem = findPem(text)
  const hits: Hit[] = [...pem]
  let at = 0
  for (const block of [...pem, null]) {
    const to = block ? block.start : text.length
    forEachPiece(text, at, to, (piece, offset) => findInPiece(piece, offset, hits))
    if (block) at = block.end
  }
  hits.sort((a, b) => a.start - b.start || b.end - a.end)
  return hits
}

function build(text: string, hits: readonly Hit[]): Redaction {
  const found: Found[] = []
  let out = ''
  let at = 0
  for (let i = 0; i < hits.length; ) {
    const first = hits[i] as Hit
    let end = first.end
    let k = i + 1
    // Overlapping finds are one secret: the union is taken out, under the first one's name.
    for (; k < hits.length && (hits[k] as Hit).start < end; k++) end = Math.max(end, (hits[k] as Hit).end)
    out += text.slice(at, first.start)
    const newStart = out.length
    out += `‹redacted: ${first.kind}›`
    found.push({ kind: first.kind, start: first.start, end, newStart, newEnd: out.length })
    at = end
    i = k
  }
  return { text: out + text.slice(at), found }
}

/** The place in the original text of a place in the redacted one; inside a replacement it is the edge of the secret. */
function originalPlace(found: readonly Found[], at: number, edge: 'start' | 'end'): number {
  let low = 0
  let high = found.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((found[middle] as Found).newEnd <= at) low = middle + 1
    else high = middle
  }
  const next = found[low]
  if (next && at > next.newStart) return edge === 'start' ? next.start : next.end
  const before = found[low - 1]
  return before ? at + before.end - before.newEnd : at
}

/** What was taken out can bring something else to light; more rounds than this were never needed. */
const MAX_ROUNDS = 5

/**
 * Takes every secret it knows out of a text and puts `‹redacted: kind›` there. Linear in the length of the text, and doing it twice
 * changes nothing more.
 */
export function redact(text: string): Redaction {
  let hits = find(text)
  let result = build(text, hits)
  for (let round = 0; round < MAX_ROUNDS && result.found.length > 0; round++) {
    const more = find(result.text)
    if (more.length === 0) break
    const { found } = result
    hits = [
      ...hits,
      ...more.map(({ kind, start, end }) => ({
        kind,
        start: originalPlace(found, start, 'start'),
        end: originalPlace(found, end, 'end'),
      })),
    ].sort((x, y) => x.start - y.start || y.end - x.end)
    result = build(text, hits)
  }
  return result
}

/** Moves a span of the original text to the redacted one; an edge inside a secret goes to the edge of its replacement. */
export function mapSpan(found: readonly Found[], span: Span): Span {
  const place = (at: number, edge: 'start' | 'end'): number => {
    let shift = 0
    for (const hit of found) {
      if (at >= hit.end) shift = hit.newEnd - hit.end
      else if (at > hit.start) return edge === 'start' ? hit.newStart : hit.newEnd
      else break
    }
    return at + shift
  }
  return { start: place(span.start, 'start'), end: place(span.end, 'end') }
}

export interface StreamRedactor {
  /** Takes the next piece and returns what may be shown now. */
  push(text: string): string
  /** Returns what is left. The redactor may be used again afterwards. */
  flush(): string
}

/**
 * The redactor for text that arrives in pieces. It gives out whole lines only and keeps the unfinished one back (to 8 KB; of a longer
 * line the older part goes out once the part behind it has been seen), and nothing of a private-key block before its end is known.
 */
export function createStreamRedactor(): StreamRedactor {
  let held = ''
  /** The END marker of a block that is being swallowed: its replacement has been given out already. */
  let inside: string | null = null
  /** Of the line that has not ended yet. */
  let lineLength = 0

  const swallow = (): void => {
    if (inside === null) return
    const at = held.indexOf(inside)
    if (at >= 0) {
      held = held.slice(at + inside.length)
      inside = null
    } else if (held.length > inside.length) held = held.slice(held.length - inside.length)
  }

  const release = (upTo: number): string => {
    const out = redact(held.slice(0, upTo)).text
    held = held.slice(upTo)
    return out
  }

  const drain = (): string => {
    let out = ''
    for (;;) {
      swallow()
      if (inside !== null) return out
      const blocks = findKeys(held)
      const last = blocks.at(-1)
      if (last && last.awaits !== null) {
        out += release(last.start)
        out += '‹redacted: private key›'
        inside = last.awaits
        continue
      }
      const closed = blocks.findLast((block) => !block.pending)?.end ?? 0
      let upTo = waitingFrom(held, closed)
      if (last?.pending && last.start < upTo) upTo = Math.max(closed, held.lastIndexOf('\n', last.start) + 1)
      if (upTo > 0) out += release(upTo)
      if (held.length - held.lastIndexOf('\n') > MAX_LINE + OVERLAP) {
        // Cut where no secret stands across the cut.
        let cut = held.length - OVERLAP
        for (const hit of find(held)) if (hit.start < cut && hit.end > cut) cut = hit.start
        if (cut > 0) out += release(cut)
      }
      return out
    }
  }

  return {
    push(text) {
      held += text
      // Nothing can be given out before a line ends, a marker ends or the line is too long.
      lineLength += text.length
      if (inside === null && lineLength <= MAX_LINE + OVERLAP && !/[\n-]/.test(text)) return ''
      const out = drain()
      lineLength = held.length - held.lastIndexOf('\n') - 1
      return out
    },
    flush() {
      const rest = inside === null ? redact(held).text : ''
      held = ''
      inside = null
      lineLength = 0
      return rest
    },
  }
}
