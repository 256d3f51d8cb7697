import type { Risk, Token, TokenKind } from '../../src-preload/contract'

/** The classes in ascending order, as the contract has them (its runtime is not bundled into the window). */
export const RISKS = [
  'read_only',
  'reversible_low',
  'config_mutation',
  'destructive',
] as const satisfies readonly Risk[]

/** The place of a class in the ascending order. */
export const rankOf = (risk: Risk): number => RISKS.indexOf(risk)

export interface Segment {
  readonly text: string
  /** The highest risk of the spans that cover it. */
  readonly risk: Risk | null
  /** What it is to the shell, where that is asked for. */
  readonly kind: TokenKind | null
}

interface RiskSpan {
  readonly start: number
  readonly end: number
  readonly risk: Risk
}

/**
 * Cuts a command at its spans and, where there are some, at its tokens. Overlaps take the higher risk; what lies outside the text is
 * cut off.
 */
export function segmentsOf(
  command: string,
  spans: readonly RiskSpan[],
  tokens: readonly Token[] = [],
): readonly Segment[] {
  const edges = new Set([0, command.length])
  const valid: RiskSpan[] = []
  for (const span of spans) {
    const start = Math.min(Math.max(span.start, 0), command.length)
    const end = Math.min(Math.max(span.end, 0), command.length)
    if (start >= end) continue
    valid.push({ start, end, risk: span.risk })
    edges.add(start)
    edges.add(end)
  }
  for (const token of tokens) {
    if (token.start >= command.length) break
    edges.add(token.start)
    edges.add(Math.min(token.end, command.length))
  }
  const cuts = [...edges].sort((a, b) => a - b)
  const segments: { text: string; risk: Risk | null; kind: TokenKind | null }[] = []
  let next = 0
  for (let i = 0; i + 1 < cuts.length; i += 1) {
    const start = cuts[i] ?? 0
    const end = cuts[i + 1] ?? 0
    let risk: Risk | null = null
    for (const span of valid) {
      if (span.start > start || span.end < end) continue
      if (risk === null || rankOf(span.risk) > rankOf(risk)) risk = span.risk
    }
    while ((tokens[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1
    const token = tokens[next]
    const kind = token !== undefined && token.start <= start && token.end >= end ? token.kind : null
    const text = command.slice(start, end)
    const last = segments.at(-1)
    if (last !== undefined && last.risk === risk && last.kind === kind) last.text += text
    else segments.push({ text, risk, kind })
  }
  return segments
}

/** The first line of a command, for places where it is not shown whole; says how many lines follow. */
export function headOf(command: string): { readonly line: string; readonly more: number } {
  const lines = command.split('\n')
  return { line: lines[0] ?? '', more: lines.length - 1 }
}
