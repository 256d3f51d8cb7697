import { z } from 'zod'
import {
  ApprovalView,
  Compound,
  DoctorCheck,
  ExecutionState,
  ExecutionView,
  HealthProblem,
  Host,
  HostInput,
  HostTest,
  LedgerEntry,
  LedgerReport,
  Message,
  ModelSettingsInput,
  PolicyView,
  Session,
  SettingsView,
  Target,
} from './model'

const Id = z.string().min(1).max(64)
const Nothing = z.object({}).strict()
const Done = z.object({ done: z.literal(true) })
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
    input: z.object({ session: Id, text: z.string().max(262_144) }),
    output: z.object({ kind: z.enum(['message', 'run']), executionId: z.string().nullable() }),
  },
  'chat.stop': { input: z.object({ session: Id }), output: Done },
  'chat.retry': { input: z.object({ session: Id }), output: Done },

  'executions.get': { input: z.object({ id: Id }), output: ExecutionView },
  'executions.list': {
    input: z.object({
      states: z.array(ExecutionState).max(12).optional(),
      before: z.string().max(64).nullable(),
      limit: z.number().int().min(1).max(200),
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

  'approvals.pending': { input: Nothing, output: list(ExecutionView) },
  'approvals.answer': {
    input: z.object({
      id: Id,
      answer: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('approve'), phrase: z.string().max(500).nullable() }),
        z.object({ kind: z.literal('deny'), note: z.string().max(2000).nullable() }),
      ]),
      /** The digest of what the answerer saw; another one is refused as drift. */
      digest: z.string().max(128),
    }),
    output: ApprovalView,
  },

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
  'policy.show': { input: Nothing, output: PolicyView },
  'policy.setSwitch': {
    input: z.object({ name: z.enum(['askAboutEverything', 'pauseAutomatic']), on: z.boolean() }),
    output: PolicyView,
  },
  'policy.setCompound': { input: z.object({ compound: Compound }), output: SettingsView },
  'doctor.run': { input: Nothing, output: list(DoctorCheck) },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>

export type Routes = typeof routes
export type RouteName = keyof Routes
export type RouteInput<R extends RouteName> = z.output<Routes[R]['input']>
/** What a caller writes (before defaults and transforms). */
export type RouteArgument<R extends RouteName> = z.input<Routes[R]['input']>
export type RouteOutput<R extends RouteName> = z.output<Routes[R]['output']>
