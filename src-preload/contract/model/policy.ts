import { z } from 'zod'
import { Risk, Span } from './risk'

/** What happens to a request, in ascending strictness. */
export const OUTCOMES = ['auto', 'ask', 'confirm', 'deny'] as const
export const Outcome = z.enum(OUTCOMES)
export type Outcome = z.infer<typeof Outcome>

export const SECURITIES = ['deny', 'allowlist', 'full'] as const
export const ASKS = ['off', 'on-miss', 'always'] as const
export const Security = z.enum(SECURITIES)
export const Ask = z.enum(ASKS)
export type Security = z.infer<typeof Security>
export type Ask = z.infer<typeof Ask>

/** One step on the way to a verdict: which layer, which rule, what it said and in one sentence why. */
export const TraceStep = z
  .object({
    layer: z.enum(['declared', 'classifier', 'gate', 'target', 'requested-policy', 'host-policy', 'session', 'table']),
    rule: z.string(),
    verdict: z.string(),
    sentence: z.string(),
    spans: z.array(Span).readonly(),
  })
  .readonly()
export type TraceStep = z.infer<typeof TraceStep>

/** The one record of a verdict; cards, `--explain`, simulator and replay all read it. */
export const Decision = z.object({ outcome: Outcome, risk: Risk, trace: z.array(TraceStep).readonly() }).readonly()
export type Decision = z.infer<typeof Decision>

/** The merged exec policy with where it comes from. */
export const PolicyView = z
  .object({
    source: z.enum(['absent', 'file', 'broken']),
    path: z.string(),
    problem: z.string().nullable(),
    security: Security,
    ask: Ask,
    askFallback: z.enum(['deny', 'allowlist', 'full']),
    autoAllowReadOnly: z.boolean(),
    riskGate: z.boolean(),
    strictInlineEval: z.boolean(),
    askAboutEverything: z.boolean(),
    pauseAutomatic: z.boolean(),
    version: z.string(),
  })
  .readonly()
export type PolicyView = z.infer<typeof PolicyView>
