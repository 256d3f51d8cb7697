import { z } from 'zod'

export const LEDGER_KINDS = [
  'ledger.opened',
  'execution.requested',
  'execution.started',
  'execution.finished',
  'execution.settled',
  'approval.requested',
  'approval.settled',
  'approval.refused',
  'approval.announced',
  'undo.kept',
  'host.saved',
  'host.removed',
  'host.key-trusted',
  'setting.changed',
  'policy.changed',
  'recovery',
] as const
export const LedgerKind = z.enum(LEDGER_KINDS)
export type LedgerKind = z.infer<typeof LedgerKind>

/** One link of the chain. `hash` covers every other field, `prevHash` is the hash of the entry before (64 zeros at first). */
export const LedgerEntry = z
  .object({
    v: z.literal(1),
    seq: z.number().int().positive(),
    at: z.number(),
    kind: LedgerKind,
    actor: z.string(),
    executionId: z.string().nullable(),
    approvalId: z.string().nullable(),
    data: z.record(z.string(), z.unknown()).readonly(),
    prevHash: z.string(),
    hash: z.string(),
  })
  .readonly()
export type LedgerEntry = z.infer<typeof LedgerEntry>

export const LedgerReport = z
  .object({
    intact: z.boolean(),
    entries: z.number().int(),
    /** The first row that does not fit, with what is wrong about it. */
    problem: z.object({ seq: z.number().int(), what: z.string() }).nullable(),
  })
  .readonly()
export type LedgerReport = z.infer<typeof LedgerReport>
