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

/** What happens when nobody can be asked, strictest first. */
export const FALLBACKS = ['deny', 'allowlist', 'full'] as const
export const Fallback = z.enum(FALLBACKS)
export type Fallback = z.infer<typeof Fallback>

/** The two files a policy is made of: what this side asks for, and what the host that executes allows. */
export const PolicyFileName = z.enum(['config', 'host'])
export type PolicyFileName = z.infer<typeof PolicyFileName>

/** `/elevated`: what a session is raised to until it is switched off or the app ends. */
export const Elevated = z.enum(['full'])

/** The merged exec policy with where it comes from. */
export const PolicyView = z
  .object({
    source: z.enum(['absent', 'file', 'broken']),
    path: z.string(),
    problem: z.string().nullable(),
    security: Security,
    ask: Ask,
    askFallback: Fallback,
    autoAllowReadOnly: z.boolean(),
    riskGate: z.boolean(),
    strictInlineEval: z.boolean(),
    askAboutEverything: z.boolean(),
    pauseAutomatic: z.boolean(),
    /** Targets at which nothing runs by itself. */
    neverAuto: z.array(z.string()).readonly(),
    /** Sessions raised by `/elevated full`: a red strip stands there while it holds. The host's file still caps them. */
    elevated: z.array(z.string()).readonly(),
    /** True while nothing at all is asked any more (full, off, no risk gate): the red banner. */
    open: z.boolean(),
    version: z.string(),
  })
  .readonly()
export type PolicyView = z.infer<typeof PolicyView>

/** A value of a layer and where it was written: `agents.main`, `defaults`, `tools.exec`, `session`, `built-in`. */
const from = <T extends z.ZodType>(value: T) => z.object({ value, from: z.string() }).readonly()

/** One layer, field by field, with the source of each. */
export const PolicyLayerView = z
  .object({
    security: from(Security),
    ask: from(Ask),
    askFallback: from(Fallback),
    autoAllowReadOnly: from(z.boolean()),
    riskGate: from(z.boolean()),
    strictInlineEval: from(z.boolean()),
  })
  .readonly()
export type PolicyLayerView = z.infer<typeof PolicyLayerView>

/** The fields of a layer as they are written down. Left out: stays as it is. null: taken out, so that it inherits. */
export const PolicyFields = z
  .strictObject({
    security: Security.nullable().optional(),
    ask: Ask.nullable().optional(),
    askFallback: Fallback.nullable().optional(),
    autoAllowReadOnly: z.boolean().nullable().optional(),
    /** In the host's file only. */
    autoAllowSkills: z.boolean().nullable().optional(),
    riskGate: z.boolean().nullable().optional(),
    /** In `config.json` only. */
    strictInlineEval: z.boolean().nullable().optional(),
    /** In `config.json` only. */
    commandHighlighting: z.boolean().nullable().optional(),
  })
  .readonly()
export type PolicyFields = z.infer<typeof PolicyFields>

/** What a person or an approval writes into an allowlist. `expiresAt` in ms since the epoch; without a target scope: this computer only. */
export const AllowlistInput = z
  .strictObject({
    pattern: z.string().min(1).max(4096),
    argPattern: z.string().max(65_536).optional(),
    scope: z
      .strictObject({ target: z.string().max(128).optional(), session: z.string().max(64).optional() })
      .readonly()
      .optional(),
    expiresAt: z.number().int().positive().optional(),
    /** True: only for a command behind a plain `sudo`. Without it the entry does not match behind `sudo`. */
    sudo: z.boolean().optional(),
    commandText: z.string().max(65_536).optional(),
  })
  .readonly()
export type AllowlistInput = z.infer<typeof AllowlistInput>

/** An entry as it is shown, redacted. */
export const AllowlistEntryView = z
  .object({
    id: z.string(),
    pattern: z.string(),
    argPattern: z.string().nullable(),
    scope: z.object({ target: z.string().nullable(), session: z.string().nullable() }).readonly(),
    expiresAt: z.number().nullable(),
    sudo: z.boolean(),
    source: z.string().nullable(),
    commandText: z.string().nullable(),
    lastUsedAt: z.number().nullable(),
    lastUsedCommand: z.string().nullable(),
    lastResolvedPath: z.string().nullable(),
    /** Why it never matches (a pattern that does not compile, an expired entry); null when it can. */
    problem: z.string().nullable(),
    /** What its writer should know, e.g. an argument pattern without anchors. */
    warnings: z.array(z.string()).readonly(),
  })
  .readonly()
export type AllowlistEntryView = z.infer<typeof AllowlistEntryView>

/** A file of the policy as it stands. `version` names its content: an edit of another version is refused. */
export const PolicyFileView = z
  .object({
    path: z.string(),
    source: z.enum(['absent', 'file', 'broken']),
    problem: z.string().nullable(),
    version: z.string(),
    /** A last good copy is there that a broken file can be restored from. */
    restorable: z.boolean(),
  })
  .readonly()
export type PolicyFileView = z.infer<typeof PolicyFileView>

/** "Reads and restarts on host:x for 30 minutes." Never reaches destructive or `self`. Times in ms since the epoch. */
export const GrantView = z
  .object({
    id: z.string(),
    agent: z.string(),
    target: z.string(),
    /** Ids of `policies/grants.yaml`. */
    kinds: z.array(z.string()).readonly(),
    createdAt: z.number(),
    expiresAt: z.number(),
    /** Why it was given, redacted; may be empty. */
    note: z.string(),
  })
  .readonly()
export type GrantView = z.infer<typeof GrantView>

export const GrantKindView = z.object({ id: z.string(), title: z.string(), sentence: z.string() }).readonly()
export type GrantKindView = z.infer<typeof GrantKindView>

export const PRESETS = ['cautious', 'allowlist', 'deny-all', 'yolo'] as const
export const PresetName = z.enum(PRESETS)
export type PresetName = z.infer<typeof PresetName>

export const PresetView = z
  .object({
    name: PresetName,
    title: z.string(),
    /** What it means, in words; one sentence each. */
    consequences: z.array(z.string()).readonly(),
    /** What it opens that was closed before; empty for those that open nothing. */
    opens: z.array(z.string()).readonly(),
    /** It is confirmed first, and a banner stays red while it is on. */
    dangerous: z.boolean(),
    /** True when both files say exactly this. */
    active: z.boolean(),
  })
  .readonly()
export type PresetView = z.infer<typeof PresetView>

/** Everything about one scope, side by side: requested, host, effective, each with where it comes from. */
export const PolicyInspection = z
  .object({
    agent: z.string(),
    target: z.string(),
    session: z.string().nullable(),
    /** `node`: the target has a policy of its own, and what is saved here does not reach it. */
    managedBy: z.enum(['app', 'node']),
    host: z.object({ file: PolicyFileView, layer: PolicyLayerView }).readonly(),
    requested: z.object({ file: PolicyFileView, layer: PolicyLayerView }).readonly(),
    effective: PolicyLayerView,
    /** `tools.deny: [run]` stands for this agent. */
    toolDenied: z.boolean(),
    autoAllowSkills: z.boolean(),
    elevated: z.boolean(),
    allowlist: z.array(AllowlistEntryView).readonly(),
    safeBins: z
      .array(z.object({ name: z.string(), from: z.string(), problem: z.string().nullable() }).readonly())
      .readonly(),
    skills: z.array(z.string()).readonly(),
    grants: z.array(GrantView).readonly(),
    /** Agents that either file or a request of the last time names. */
    agents: z.array(z.string()).readonly(),
    presets: z.array(PresetView).readonly(),
    /** The last saves that can be taken back, newest first. */
    undo: z.array(z.object({ at: z.number(), what: z.string() }).readonly()).readonly(),
    /** Of everything that a decision depends on; another one is another policy. */
    version: z.string(),
  })
  .readonly()
export type PolicyInspection = z.infer<typeof PolicyInspection>

/** A change that is not saved: for the simulator and for replay. */
export const PolicyDraft = z
  .strictObject({
    /** Fields of the host file's `defaults`. */
    defaults: PolicyFields.optional(),
    /** Fields of the host file's section of the agent. */
    agent: PolicyFields.optional(),
    /** Fields of `tools.exec` in config.json. */
    requested: PolicyFields.optional(),
    /** Entries added to the agent's allowlist. */
    add: z.array(AllowlistInput).max(1000).readonly().optional(),
    /** Ids of entries taken out of it. */
    remove: z.array(z.string().max(128)).max(10_000).readonly().optional(),
    /** A preset, applied before the rest. */
    preset: PresetName.optional(),
  })
  .readonly()
export type PolicyDraft = z.infer<typeof PolicyDraft>

/** One simple command of a line and who vouches for it. */
export const SegmentView = z
  .object({
    /** Redacted words as the program is given them. */
    argv: z.array(z.string()).readonly(),
    span: Span,
    viaSudo: z.boolean(),
    /** Where the program was found; null where the place cannot be asked. */
    path: z.string().nullable(),
    by: z.enum(['allowlist', 'safe-bin', 'skill']).nullable(),
    entryId: z.string().nullable(),
    why: z.string(),
  })
  .readonly()
export type SegmentView = z.infer<typeof SegmentView>

/** What would happen to a command, and the way there. Nothing is recorded and nothing runs. */
export const Simulation = z
  .object({
    command: z.string(),
    decision: Decision,
    /** null where the words of the command cannot be known: then no entry matches. */
    segments: z.array(SegmentView).readonly().nullable(),
    /** The first step of the trace that is as strict as the verdict. */
    deciding: TraceStep.nullable(),
    effective: PolicyLayerView,
  })
  .readonly()
export type Simulation = z.infer<typeof Simulation>

/** With a change, of the last `considered` executions so many would have been treated in another way. */
export const Replay = z
  .object({
    considered: z.number().int(),
    /** Were asked about and would now run by themselves. */
    wouldNotAsk: z.number().int(),
    /** Ran by themselves and would now be asked about or denied, or were asked about and would now be denied. */
    wouldAskMore: z.number().int(),
    /** How many of `wouldNotAsk` cannot be undone. */
    destructiveAmongThem: z.number().int(),
    /** Left out: redacted, their place is gone, or too old to judge. */
    skipped: z.number().int(),
    examples: z
      .array(z.object({ executionId: z.string(), command: z.string(), before: Outcome, after: Outcome }).readonly())
      .readonly(),
  })
  .readonly()
export type Replay = z.infer<typeof Replay>

/** What a save did. `diff` has one line each: `- ` was there, `+ ` is there now, two blanks for what stays. */
export const PolicySaved = z
  .object({
    saved: z.boolean(),
    version: z.string(),
    diff: z.array(z.string()).readonly(),
    backup: z.string().nullable(),
  })
  .readonly()
export type PolicySaved = z.infer<typeof PolicySaved>

/** What "allow always" would store, or why it is not offered. */
export const AlwaysOffer = z
  .object({ entries: z.array(AllowlistInput).readonly(), refusal: z.string().nullable() })
  .readonly()
export type AlwaysOffer = z.infer<typeof AlwaysOffer>
