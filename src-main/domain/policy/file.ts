import { z } from 'zod'
import { Ask, Security } from '../../../src-preload/contract/model'

const Fallback = z.enum(['deny', 'allowlist', 'full'])

const Fields = {
  security: Security.optional(),
  ask: Ask.optional(),
  askFallback: Fallback.optional(),
  autoAllowReadOnly: z.boolean().optional(),
  autoAllowSkills: z.boolean().optional(),
  riskGate: z.boolean().optional(),
}

/** One allowlist entry of the host's file. */
const AllowlistEntry = z.looseObject({
  id: z.string().optional(),
  pattern: z.string(),
  argPattern: z.string().optional(),
  scope: z.looseObject({ target: z.string().optional(), session: z.string().optional() }).optional(),
  expiresAt: z.number().optional(),
})

/** `exec-approvals.json` of the host that executes (DESIGN.md, section 5). Unknown fields are kept, wrong ones refused. */
export const ApprovalsFile = z.looseObject({
  version: z.literal(1),
  socket: z.looseObject({ path: z.string().optional(), token: z.string().optional() }).optional(),
  defaults: z.looseObject(Fields).optional(),
  agents: z.record(z.string(), z.looseObject({ ...Fields, allowlist: z.array(AllowlistEntry).optional() })).optional(),
})
export type ApprovalsFile = z.infer<typeof ApprovalsFile>

/** One complete set of rules of one layer. */
export interface PolicyLayer {
  readonly security: z.infer<typeof Security>
  readonly ask: z.infer<typeof Ask>
  readonly askFallback: z.infer<typeof Fallback>
  readonly autoAllowReadOnly: boolean
  readonly riskGate: boolean
  readonly strictInlineEval: boolean
}

/** What holds when nothing is written: reads run, changes ask, what cannot be undone needs a phrase, no answer means no. */
export const CAUTIOUS: PolicyLayer = {
  security: 'allowlist',
  ask: 'on-miss',
  askFallback: 'deny',
  autoAllowReadOnly: true,
  riskGate: true,
  strictInlineEval: true,
}

/** What holds when the host's file is there and cannot be understood. */
export const CLOSED: PolicyLayer = { ...CAUTIOUS, security: 'deny', ask: 'always', autoAllowReadOnly: false }

/** The host's layer for one agent: its own fields, else the file's defaults, else cautious. */
export function hostLayer(file: ApprovalsFile | null, agent: string): PolicyLayer {
  if (file === null) return CAUTIOUS
  const own = file.agents?.[agent]
  const pick = <K extends 'security' | 'ask' | 'askFallback' | 'autoAllowReadOnly' | 'riskGate'>(
    field: K,
  ): PolicyLayer[K] => (own?.[field] ?? file.defaults?.[field] ?? CAUTIOUS[field]) as PolicyLayer[K]
  return {
    security: pick('security'),
    ask: pick('ask'),
    askFallback: pick('askFallback'),
    autoAllowReadOnly: pick('autoAllowReadOnly'),
    riskGate: pick('riskGate'),
    // The file has no such field: an inline program is the requesting side's setting, and on unless that says otherwise.
    strictInlineEval: CAUTIOUS.strictInlineEval,
  }
}
