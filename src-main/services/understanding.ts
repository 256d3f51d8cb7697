import type { Classification, ExecutionView, Span, TraceStep } from '../../src-preload/contract/model'
import { type Found, mapSpan, redact } from '../domain/redact'
import { type Dissected, dissect } from '../domain/shell'

/** A classification whose texts are redacted and whose spans fit the redacted command: the only form that leaves the gate. */
export function redactClassification(classification: Classification, found: readonly Found[]): Classification {
  const moved = (span: Span): Span => mapSpan(found, span)
  return {
    ...classification,
    reasons: classification.reasons.map((reason) => ({
      ...reason,
      span: reason.span === null ? null : moved(reason.span),
      sentence: redact(reason.sentence).text,
    })),
    effects: classification.effects.map((effect) => ({ ...effect, detail: redact(effect.detail).text })),
    spans: classification.spans.map((span) => ({ ...moved(span), risk: span.risk })),
  }
}

/** The classifier's part of the trace, one step for each reason. */
export const classifierTrace = (classification: Classification): TraceStep[] =>
  classification.reasons.map((reason) => ({
    layer: reason.rule === 'declared' ? 'declared' : 'classifier',
    rule: reason.rule,
    verdict: reason.risk,
    sentence: reason.sentence,
    spans: reason.span === null ? [] : [reason.span],
  }))

/** The same card is read again and again while it waits; its text never changes. */
const KEPT = 512
const kept = new Map<string, Dissected>()

/** Adds what a card shows beside the text: the parts for colour and the decoded words, both of the redacted command. */
export function withParts(execution: ExecutionView): ExecutionView {
  let parts = kept.get(execution.command)
  if (parts === undefined) {
    parts = dissect(execution.command)
    if (kept.size >= KEPT) kept.clear()
    kept.set(execution.command, parts)
  }
  const { tokens, argv } = parts
  return tokens === undefined ? { ...execution, argv } : { ...execution, tokens, argv }
}
