import { z } from 'zod'
import {
  AllowlistEntryView,
  AllowlistInput,
  AlwaysOffer,
  AnswerResult,
  ApprovalView,
  Compound,
  DesktopSettings,
  DoctorCheck,
  ExecutionState,
  ExecutionView,
  GrantKindView,
  GrantView,
  HealthProblem,
  HistoryFilter,
  Host,
  HostInput,
  HostTest,
  LedgerEntry,
  LedgerReport,
  Message,
  ModelSettingsInput,
  PolicyDraft,
  PolicyFields,
  PolicyFileName,
  PolicyInspection,
  PolicySaved,
  PolicyView,
  PresetName,
  PreviewView,
  Replay,
  Session,
  SettingsView,
  Shown,
  Simulation,
  Target,
} from './model'

const Id = z.string().min(1).max(64)
const Nothing = z.object({}).strict()
const Done = z.object({ done: z.literal(true) })
/** Name of a policy agent: `main`, `mcp:<client>`, `runbook:<id>`. */
const Agent = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/,
    'use letters, digits and "_", ".", ":", "-", for example main or mcp:editor',
  )
/** The content an edit started from; another one that stands there now is a conflict. null: whatever stands there. */
const Base = z.string().max(64).nullable()
const list = <T extends z.ZodType>(item: T) => z.array(item).readonly()

/** What may be remembered of the window: small JSON values by name. It never decides anything. */
const UiState = z.record(z.string().max(64), z.union([z.string().max(65_536), z.number(), z.boolean(), z.null()]))

/** Every request a window or the command line can make: name → input and output. Handlers are checked against this at compile time. */
export const routes = {
  'app.snapshot': {
    input: Nothing,
    output: z.object({
      boot: z.string(),
      seq: z.number(),
      version: z.string(),
      home: z.string(),
      targets: list(Target),
      sessions: list(Session),
      /** Everything that waits, runs, or is approved and not started, oldest first. */
      open: list(ExecutionView),
      settings: SettingsView,
      policy: PolicyView,
      health: list(HealthProblem),
      ui: UiState,
    }),
  },
  'ui.save': { input: UiState, output: Done },
  'health.act': { input: z.object({ code: z.string(), action: z.string() }), output: Done },

  'sessions.create': { input: z.object({ title: z.string().trim().max(200).optional() }), output: Session },
  'sessions.rename': { input: z.object({ id: Id, title: z.string().trim().min(1).max(200) }), output: Session },
  'sessions.remove': { input: z.object({ id: Id }), output: Done },
  /** The last `limit` messages before `before` (a message seq), in order. */
  'sessions.messages': {
    input: z.object({ id: Id, before: z.number().int().nullable(), limit: z.number().int().min(1).max(500) }),
    output: z.object({ messages: list(Message), executions: list(ExecutionView), more: z.boolean() }),
  },

  /** A message, or `/run <target> [--why "…"] <command>`; main reads which. */
  'chat.send': {
    input: z.object({
      session: Id,
      text: z.string().max(262_144),
      /** The waiting cards that stood in this conversation when the message was sent: words reach nothing else. */
      shown: list(Shown).optional(),
    }),
    output: z.object({
      /** `answer`: the words settled something, or were told why not; `queued`: they reach the agent once what waits is answered. */
      kind: z.enum(['message', 'run', 'policy', 'answer', 'queued']),
      executionId: z.string().nullable(),
      /** What was done, for `policy` (`/exec`, `/elevated`). */
      sentence: z.string().nullable().optional(),
    }),
  },
  'chat.stop': { input: z.object({ session: Id }), output: Done },
  'chat.retry': { input: z.object({ session: Id }), output: Done },

  'executions.get': { input: z.object({ id: Id }), output: ExecutionView },
  'executions.list': {
    input: z.object({
      states: z.array(ExecutionState).max(12).optional(),
      before: z.string().max(64).nullable(),
      limit: z.number().int().min(1).max(200),
      filter: HistoryFilter.optional(),
    }),
    output: z.object({ executions: list(ExecutionView), more: z.boolean() }),
  },
  'executions.request': {
    input: z.object({
      target: z.string().max(128),
      command: z.string().max(1_048_576),
      purpose: z.string().max(2000).nullable(),
      session: Id.nullable(),
    }),
    output: ExecutionView,
  },
  'executions.cancel': { input: z.object({ id: Id }), output: ExecutionView },
  /** Starts one that was approved and not started (after a crash), with the same digest. */
  'executions.start': { input: z.object({ id: Id }), output: ExecutionView },
  /** A new request with the same command; the old one stays as it is. */
  'executions.again': { input: z.object({ id: Id }), output: ExecutionView },
  /** Redacted output kept in memory, by UTF-16 offset; `start` is the first offset that is still there. */
  'executions.output': {
    input: z.object({ id: Id, offset: z.number().int().nonnegative(), limit: z.number().int().min(1).max(1_048_576) }),
    output: z.object({ text: z.string(), offset: z.number(), start: z.number(), end: z.number(), live: z.boolean() }),
  },

  /** Runs the reads that show what a waiting command would do. `conflict` when there is no preview, or it would itself have to ask. */
  'executions.preview': { input: z.object({ id: Id }), output: PreviewView },
  /** Asks for taking back what a run changed: a new request with its own card. */
  'executions.undo': { input: z.object({ id: Id }), output: ExecutionView },

  'approvals.pending': { input: Nothing, output: list(ExecutionView) },
  'approvals.answer': {
    input: z.object({
      id: Id,
      answer: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('approve'), phrase: z.string().max(500).nullable() }),
        /**
         * Runs it, and stores exactly these words for this agent: at this target (`target`), or there and in this session only. `expiresAt` in
         * ms since the epoch, null for no end. Only what `approvals.alwaysOffer` offers.
         */
        z.object({
          kind: z.literal('approve-always'),
          expiresAt: z.number().int().positive().nullable(),
          scope: z.enum(['target', 'session']),
        }),
        z.object({ kind: z.literal('deny'), note: z.string().max(2000).nullable() }),
        /** "Request changes": denied, with a note that goes back to whoever asked. */
        z.object({
          kind: z.literal('changes'),
          note: z.string().trim().min(1, 'say what should be changed').max(2000),
        }),
      ]),
      /** The digest of what the answerer saw; another one is refused as drift. */
      digest: z.string().max(128),
    }),
    output: ApprovalView,
  },
  /** Several at once, each settled on its own. Approving reaches none that takes its card or a phrase. */
  'approvals.answerMany': {
    input: z.object({
      items: z.array(Shown).min(1).max(1000),
      answer: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('approve') }),
        z.object({ kind: z.literal('deny'), note: z.string().max(2000).nullable() }),
      ]),
    }),
    output: z.object({ results: list(AnswerResult) }),
  },
  /** A window tells which waiting cards it has really drawn, in sight of somebody. */
  'approvals.shown': { input: z.object({ items: z.array(Shown).max(1000) }), output: Done },
  'approvals.alwaysOffer': { input: z.object({ id: Id }), output: AlwaysOffer },

  'ledger.page': {
    input: z.object({ before: z.number().int().nullable(), limit: z.number().int().min(1).max(200) }),
    output: z.object({ entries: list(LedgerEntry), more: z.boolean() }),
  },
  'ledger.verify': { input: Nothing, output: LedgerReport },

  'hosts.list': { input: Nothing, output: list(Host) },
  'hosts.save': { input: z.object({ host: HostInput, replaces: z.string().max(64).nullable() }), output: Host },
  'hosts.remove': { input: z.object({ slug: z.string().max(64) }), output: Done },
  /** `passphrase` unlocks the key for this app run; it is kept in memory only. */
  'hosts.test': {
    input: z.object({ host: HostInput, passphrase: z.string().max(1024).nullable() }),
    output: HostTest,
  },
  /** Writes the key that the last test of this host showed into Nomos's own known_hosts file. */
  'hosts.trust': {
    input: z.object({ host: HostInput, fingerprint: z.string().max(128) }),
    output: Done,
  },

  'settings.get': { input: Nothing, output: SettingsView },
  'settings.saveModel': { input: ModelSettingsInput, output: SettingsView },
  'settings.savePreferences': {
    input: z.object({
      theme: z.enum(['system', 'light', 'dark']),
      letterShortcuts: z.boolean(),
      /** Left out, it stays as it is. */
      commandHighlighting: z.boolean().optional(),
    }),
    output: SettingsView,
  },
  'settings.saveDesktop': { input: DesktopSettings, output: SettingsView },
  'policy.show': { input: Nothing, output: PolicyView },
  'policy.setSwitch': {
    input: z.object({ name: z.enum(['askAboutEverything', 'pauseAutomatic']), on: z.boolean() }),
    output: PolicyView,
  },
  /** "Never automatic here", for one target. */
  'policy.setNeverAuto': {
    input: z.object({ target: z.string().min(1).max(128), on: z.boolean() }),
    output: PolicyView,
  },
  'policy.inspect': {
    input: z.object({ agent: Agent, target: z.string().max(128), session: Id.nullable() }),
    output: PolicyInspection,
  },
  /**
   * Writes fields of a layer. `both` writes them to the two files in one step (fields that one of them does not have are left out there).
   * `agent` null: for all agents. `conflict` shows both versions when another one was saved meanwhile.
   */
  'policy.save': {
    input: z.object({
      layer: z.enum(['host', 'requested', 'both']),
      agent: Agent.nullable(),
      fields: PolicyFields,
      baseVersion: Base,
      baseConfigVersion: Base.optional(),
    }),
    output: PolicySaved,
  },
  'policy.allowlistAdd': {
    input: z.object({ agent: Agent, entry: AllowlistInput, baseVersion: Base }),
    output: AllowlistEntryView,
  },
  'policy.allowlistRemove': {
    input: z.object({ agent: Agent, id: z.string().min(1).max(128), baseVersion: Base }),
    output: Done,
  },
  /** The canonical text of a file, without the socket's token; of a broken one the text as it is. */
  'policy.fileGet': {
    input: z.object({ file: PolicyFileName }),
    output: z.object({
      path: z.string(),
      source: z.enum(['absent', 'file', 'broken']),
      problem: z.string().nullable(),
      text: z.string(),
      version: z.string(),
    }),
  },
  /** Puts a text (JSON5) in the place of a file. Socket and token stay; a backup is kept. With `dryRun` only the difference is answered. */
  'policy.fileSet': {
    input: z.object({
      file: PolicyFileName,
      text: z.string().max(8 * 1024 * 1024),
      baseVersion: Base,
      dryRun: z.boolean(),
    }),
    output: PolicySaved,
  },
  /** Writes a preset into both files in one step. */
  'policy.preset': { input: z.object({ name: PresetName, dryRun: z.boolean() }), output: PolicySaved },
  /** Takes back the last save of this app; refused when the files were changed since. */
  'policy.undo': { input: Nothing, output: PolicySaved },
  /** Ends `/exec` and `/elevated` of a session. */
  'policy.clearSession': { input: z.object({ session: Id }), output: PolicyView },
  'policy.simulate': {
    input: z.object({
      command: z.string().max(1_048_576),
      target: z.string().max(128),
      agent: Agent,
      session: Id.nullable(),
      draft: PolicyDraft.optional(),
    }),
    output: Simulation,
  },
  'policy.replay': {
    input: z.object({ agent: Agent, draft: PolicyDraft, limit: z.number().int().min(1).max(1000) }),
    output: Replay,
  },
  'grants.kinds': { input: Nothing, output: list(GrantKindView) },
  /** Those that have not run out, soonest end first. */
  'grants.list': { input: Nothing, output: list(GrantView) },
  'grants.add': {
    input: z.object({
      agent: Agent,
      target: z.string().min(1).max(128),
      kinds: z.array(z.string().max(64)).min(1).max(32).readonly(),
      /** At most 24 hours from now. */
      minutes: z.number().int().min(1).max(1440),
      note: z.string().max(500).nullable(),
    }),
    output: GrantView,
  },
  'grants.revoke': { input: z.object({ id: Id }), output: Done },
  'policy.setCompound': { input: z.object({ compound: Compound }), output: SettingsView },
  'doctor.run': { input: Nothing, output: list(DoctorCheck) },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>

export type Routes = typeof routes
export type RouteName = keyof Routes
export type RouteInput<R extends RouteName> = z.output<Routes[R]['input']>
/** What a caller writes (before defaults and transforms). */
export type RouteArgument<R extends RouteName> = z.input<Routes[R]['input']>
export type RouteOutput<R extends RouteName> = z.output<Routes[R]['output']>
