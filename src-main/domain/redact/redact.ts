import type { Span } from '../../../src-preload/contract/model'

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

export interface StreamRedactor {
  /** Takes the next piece and returns what may be shown now. */
  push(text: string): string
  /** Returns what is left. The redactor may be used again afterwards. */
  flush(): string
}

const RULES: readonly { kind: string; pattern: RegExp }[] = [
  { kind: 'private key', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g },
  { kind: 'token', pattern: /\b(?:gh[opsur]_[A-Za-z0-9]{20,255}|glpat-[\w-]{20,64}|sk-[\w-]{20,200})/g },
]

export function redact(text: string): Redaction {
  const hits: { kind: string; start: number; end: number }[] = []
  for (const { kind, pattern } of RULES)
    for (const match of text.matchAll(pattern))
      hits.push({ kind, start: match.index, end: match.index + match[0].length })
  hits.sort((a, b) => a.start - b.start || b.end - a.end)
  const found: Found[] = []
  let out = ''
  let at = 0
  for (const hit of hits) {
    if (hit.start < at) continue
    out += text.slice(at, hit.start)
    const newStart = out.length
    out += `‹redacted: ${hit.kind}›`
    found.push({ ...hit, newStart, newEnd: out.length })
    at = hit.end
  }
  return { text: out + text.slice(at), found }
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

export function createStreamRedactor(): StreamRedactor {
  let held = ''
  return {
    push(text) {
      held += text
      return ''
    },
    flush() {
      const out = redact(held).text
      held = ''
      return out
    },
  }
}
