import { z } from 'zod'
import { Ask, Security } from '../../../src-preload/contract/model'
import { Fallback } from './file'

export const PRESETS = ['cautious', 'allowlist', 'deny-all', 'yolo'] as const
export type PresetName = (typeof PRESETS)[number]

const Shared = {
  security: Security,
  ask: Ask,
  askFallback: Fallback,
  autoAllowReadOnly: z.boolean(),
  riskGate: z.boolean(),
}

/** `policies/presets/<name>.json`: what is written into both files in one step. */
export const Preset = z.strictObject({
  name: z.enum(PRESETS),
  title: z.string().min(1),
  /** One sentence: what happens to commands from then on. */
  consequences: z.string().min(1),
  /** What it opens that was closed before; empty for presets that open nothing. */
  opens: z.array(z.string().min(1)),
  /** The operator types yes at a terminal first, and a strip stays red while it is on. */
  dangerous: z.boolean(),
  /** For `tools.exec` of config.json. */
  config: z.strictObject({ ...Shared, strictInlineEval: z.boolean() }),
  /** For `defaults` of exec-approvals.json. */
  approvals: z.strictObject({ ...Shared, autoAllowSkills: z.boolean() }),
})
export type Preset = Readonly<z.infer<typeof Preset>>
