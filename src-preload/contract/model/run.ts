import { z } from 'zod'
import { AnswerPlace, BlastRadius, UndoOffer, UndoState } from './desk'
import { Decision } from './policy'
import { Classification, DecodedWord, Risk, Token } from './risk'

/** Who asks. `id` is the policy agent: `operator`, `main` for the chat agent, `mcp:<client>`, `runbook:<id>`, `health`. */
export const Principal = z
  .object({
    kind: z.enum(['operator', 'agent', 'mcp', 'runbook', 'health']),
    id: z.string(),
    session: z.string().nullable(),
    turn: z.string().nullable(),
  })
  .readonly()
export type Principal = z.infer<typeof Principal>

/** The place an answer or a request came in by. It is set by the transport, never by an argument. */
export const SURFACES = ['window', 'chat', 'cli', 'headless', 'agent', 'mcp', 'notification', 'tray', 'system'] as const
export const Surface = z.enum(SURFACES)
export type Surface = z.infer<typeof Surface>

/** A place commands run at. `slug` is what people type: `local` or `host:<name>`. */
export const Target = z
  .object({
    slug: z.string(),
    kind: z.enum(['local', 'ssh', 'lxc']),
    tags: z.array(z.string()).readonly(),
    policySource: z.enum(['app', 'node']),
  })
  .readonly()
export type Target = z.infer<typeof Target>

/**
 * Identity of a file that will be executed, pinned at plan time. `path` is as typed, `found` where that led, `realpath` behind all links.
 * `mode` holds type and rights; `ctimeNs` moves with any change, also one that puts the other times back. `sha256` is null for files of
 * the system folders, and for a program that may be executed and not read.
 */
export const FileIdentity = z
  .object({
    path: z.string(),
    found: z.string(),
    realpath: z.string(),
    dev: z.string(),
    ino: z.string(),
    mode: z.number(),
    uid: z.number(),
    gid: z.number(),
    size: z.number(),
    mtimeMs: z.number(),
    ctimeNs: z.string(),
    sha256: z.string().nullable(),
  })
  .readonly()
export type FileIdentity = z.infer<typeof FileIdentity>

export const Endpoint = z
  .object({
    address: z.string(),
    port: z.number().int(),
    auth: z.enum(['agent', 'key']),
    keyPath: z.string().nullable(),
  })
  .readonly()
export type Endpoint = z.infer<typeof Endpoint>

/** A file that has to stay what it is from the approval to the run: a program, by the name it is called by. */
export interface ProgramPin {
  /** As typed. */
  readonly typed: string
  /** The name to look for on PATH, or a path; a relative one counts from `folder`, and one that begins with `~/` from the home folder. */
  readonly name: string
  /** Where the command has gone by then (`cd x && …`), from the folder it starts in; the empty text for that folder itself. */
  readonly folder: string
  /** Looked for in the packages installed around the folder instead of on PATH; null for a plain program. */
  readonly fromPackage: { readonly runner: string; readonly orPath: boolean } | null
}

/** The one script file an interpreter is given. */
export interface ScriptOperand {
  readonly typed: string
  /** A path as in `ProgramPin.name`. */
  readonly path: string
  readonly folder: string
  /** Looked for on PATH first when it has no slash (`source x`, `perl -S x`). */
  readonly searched: boolean
}

/** Everything that was agreed to. The digest is SHA-256 over the canonical JSON of all other fields. */
export const Plan = z
  .object({
    v: z.literal(1),
    /** Who asked (`Principal.id`) and in which session: what was approved for one runs for no other. */
    agent: z.string(),
    session: z.string().nullable(),
    target: z.string(),
    kind: z.enum(['local', 'ssh', 'lxc']),
    user: z.string().nullable(),
    cwd: z.string().nullable(),
    /** The folder that `cwd` was, so that another one under its name is told apart; null where the place cannot be asked. */
    folder: z.object({ dev: z.string(), ino: z.string() }).readonly().nullable(),
    argv: z.array(z.string()).readonly().nullable(),
    script: z.string().nullable(),
    verify: z.string().nullable(),
    /** What the command gets on its standard input: kept bytes, named by their hash. Absent or null: nothing. */
    input: z.object({ sha256: z.string(), bytes: z.number().int(), what: z.string() }).readonly().nullable().optional(),
    env: z.record(z.string(), z.string()).readonly(),
    /** The first program that was found, and all others that the command names, with what a script's first line names. */
    executable: FileIdentity.nullable(),
    programs: z.array(FileIdentity).readonly(),
    boundFile: FileIdentity.nullable(),
    endpoint: Endpoint.nullable(),
    hostKeys: z
      .array(z.object({ algorithm: z.string(), fingerprint: z.string() }).readonly())
      .readonly()
      .nullable(),
    sandbox: z.string().nullable(),
    limits: z.object({ timeoutMs: z.number().int(), outputBytes: z.number().int() }).readonly(),
    policyVersion: z.string(),
    digest: z.string(),
  })
  .readonly()
export type Plan = z.infer<typeof Plan>

export const EXECUTION_STATES = [
  'requested',
  'pending_approval',
  'approved',
  'running',
  'completed',
  'failed',
  'timed_out',
  'cancelled',
  'denied',
  'expired',
  'undeliverable',
  'unknown',
] as const
export const ExecutionState = z.enum(EXECUTION_STATES)
export type ExecutionState = z.infer<typeof ExecutionState>

export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'cancelled', 'revoked'] as const
export const ApprovalState = z.enum(APPROVAL_STATES)
export type ApprovalState = z.infer<typeof ApprovalState>

/** Who settled an approval, through which surface, with which words, and when (ms since the epoch). */
export const Settlement = z
  .object({
    by: z.string(),
    surface: Surface,
    words: z.string().nullable(),
    note: z.string().nullable(),
    at: z.number(),
  })
  .readonly()
export type Settlement = z.infer<typeof Settlement>

export const ApprovalView = z
  .object({
    id: z.string(),
    executionId: z.string(),
    state: ApprovalState,
    /** `ask` takes a plain approval, `confirm` the typed phrase. */
    outcome: z.enum(['ask', 'confirm']),
    /** What has to be typed, e.g. `rm local`; null when none is needed. */
    phrase: z.string().nullable(),
    digest: z.string(),
    createdAt: z.number(),
    expiresAt: z.number(),
    settlement: Settlement.nullable(),
  })
  .readonly()
export type ApprovalView = z.infer<typeof ApprovalView>

/** What a card shows. All text is redacted; spans refer to the redacted `command`. Times are ms since the epoch. */
export const ExecutionView = z
  .object({
    id: z.string(),
    session: z.string().nullable(),
    turn: z.string().nullable(),
    principal: Principal,
    target: z.string(),
    user: z.string().nullable(),
    cwd: z.string().nullable(),
    command: z.string(),
    redacted: z.boolean(),
    purpose: z.string().nullable(),
    /** A command that only reads and runs after a good end, to confirm it; it is agreed to together with `command`. */
    verify: z.string().nullable(),
    declaredRisk: z.string().nullable(),
    classification: Classification,
    risk: Risk,
    decision: Decision,
    state: ExecutionState,
    /** Why it is in this state, one sentence; null when the state says it all. */
    stateReason: z.string().nullable(),
    /** Machine-readable kind of a failure, e.g. `host_key_changed`. */
    failure: z.string().nullable(),
    requestedAt: z.number(),
    startedAt: z.number().nullable(),
    finishedAt: z.number().nullable(),
    exitCode: z.number().nullable(),
    signal: z.string().nullable(),
    /** All bytes the command wrote, shown or not. */
    outputBytes: z.number(),
    /** The persisted copy (at most 4,096 bytes, cut at a character) or the live head. */
    output: z.string(),
    truncated: z.boolean(),
    retryOf: z.string().nullable(),
    /** The sandbox of its plan; null or absent when it runs without one. A card says "sandboxed" only where it is set. */
    sandbox: z.string().nullable().optional(),
    approval: ApprovalView.nullable(),
    /** Requests with the same key ask for the same command at the same place: one card with a count. Absent on old rows. */
    group: z.string().optional(),
    /** The target and the known targets that the command is carried on to. Absent on old rows. */
    reached: z.array(z.string()).readonly().optional(),
    /** Where it may be answered; worked out when the view is shown, absent unless it waits. */
    answerAt: AnswerPlace.optional(),
    /** What depends on the places it changes; worked out when the view is shown, absent unless it waits. */
    blast: BlastRadius.optional(),
    /** What can be put back afterwards, as seen at the request; null or absent where nobody looked. */
    undo: UndoOffer.nullable().optional(),
    /** Whether it can be taken back now; null or absent where nothing was kept. */
    undoState: UndoState.nullable().optional(),
    /** The execution that this one takes back; null or absent when it takes back none. */
    undoOf: z.string().nullable().optional(),
    /** What a preview of it would show ("What apt-get would do"); null or absent where there is none. Only while it waits. */
    preview: z.string().nullable().optional(),
    /** The parts of `command` for colour, in order; absent where the text was not taken apart. Worked out when the view is shown. */
    tokens: z.array(Token).readonly().optional(),
    /**
     * The decoded words of each simple command of `command`, in order; null when all of them stand there as they are typed, or
     * when the text is not understood well enough to tell.
     */
    argv: z.array(z.array(DecodedWord).readonly()).readonly().nullable().optional(),
  })
  .readonly()
export type ExecutionView = z.infer<typeof ExecutionView>

/** States that never change again. */
export const FINAL_STATES: readonly ExecutionState[] = [
  'completed',
  'failed',
  'timed_out',
  'cancelled',
  'denied',
  'expired',
  'undeliverable',
  'unknown',
]
