import type {
  Endpoint,
  FileIdentity,
  KeyFingerprint,
  Plan,
  ProgramPin,
  ScriptOperand,
} from '../../src-preload/contract/model'

export interface SandboxDraft {
  readonly profile: 'files'
  /** Words that may name files, as typed. Each has to be a plain readable file that no link leads to, or not be there. */
  readonly operands: readonly string[]
}

/** What a runner needs to know to prepare a plan at its place. */
export interface PlanDraft {
  readonly target: string
  readonly script: string
  /** The words of the command where it is a single literal one (`literalArgv`); its program is then looked up as a file. */
  readonly argv: readonly string[] | null
  /** The sandbox a run of `argv` could be put into, and what the place has to look at first; null when none is wanted. */
  readonly sandbox: SandboxDraft | null
  /** Names of programs the command starts, as typed, when it could be parsed. */
  readonly programs: readonly string[]
  /**
   * Whether a place that has to be logged in to tells what `programs` are there: not at all, over a connection that is open anyway
   * (`connected`), or over one that is made for it (`connect`). Other places always tell.
   */
  readonly locate: 'no' | 'connected' | 'connect'
  /** The program files to pin, in order. */
  readonly pins: readonly ProgramPin[]
  /** The one file an interpreter is given to execute (`sh ./x.sh`); null when there is none. */
  readonly fileOperand: ScriptOperand | null
  /** Further files that a shell reads into itself, pinned as the programs are. */
  readonly sourced: readonly ScriptOperand[]
  /** Why a file that would be executed cannot be named, as a sentence; a place that pins files refuses the command with it. */
  readonly unpinnable: string | null
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
  readonly endpoint: Endpoint | null
  readonly user: string | null
}

/** What the runner found out about its place; these fields go into the plan as they are. */
export interface Prepared {
  readonly user: string | null
  readonly cwd: string | null
  readonly folder: Plan['folder']
  readonly executable: FileIdentity | null
  readonly programs: readonly FileIdentity[]
  readonly boundFile: FileIdentity | null
  readonly hostKeys: readonly KeyFingerprint[] | null
  /**
   * Where every program was looked up; null for one that was not found. A place that has to be logged in to leaves out what it was not
   * asked for (`draft.locate`) and what it cannot tell.
   */
  readonly resolved: readonly {
    readonly program: string
    readonly path: string | null
    /** `path` with all links followed; absent where the place did not say. */
    readonly real?: string | null
    readonly trusted: boolean
  }[]
  /** Home folder of the user at a place that was asked for it (`draft.locate`), absolute. */
  readonly home?: string
  /** The profile of `draft.sandbox` where this place has a sandbox that works and the answer is the same in it; else null. */
  readonly sandbox: 'files' | null
  /** What the place itself holds that makes a plain read more than one, e.g. a repository whose settings name programs. */
  readonly findings: readonly { readonly rule: string; readonly sentence: string }[]
}

export interface RunSink {
  /** The command has begun. `pid` is the process group here, or the far one; null when it could not be learned. */
  started(info: { readonly pid: number | null }): void
  output(stream: 'stdout' | 'stderr', bytes: Uint8Array): void
}

/**
 * How a run ended.
 * - `exited`: its end was seen
 * - `failed`: it was never started, or ended at once (`drift`: a pinned file
 *   changed meanwhile); `code` is machine-readable, `sentence` says what happened, why and what to do
 * - `lost`: it had begun and its end was not seen (connection gone): the execution becomes `unknown`
 */
export type RunEnd =
  | { readonly kind: 'exited'; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly kind: 'failed'; readonly code: string; readonly sentence: string; readonly detail: string | null }
  | { readonly kind: 'lost'; readonly sentence: string }

export interface RunHandle {
  /** Never rejects. */
  readonly end: Promise<RunEnd>
  /** Ends the whole process group, politely first. Safe to call more than once. */
  stop(): void
}

export interface RunMode {
  /** True for a run nobody was asked about: it gets a scrubbed environment. */
  readonly automatic: boolean
  /** What the command reads from its standard input; nothing when left out. Only for a run of `plan.script`. */
  readonly input?: Uint8Array | undefined
}

/** The only thing that may start a process or open a channel. Reached by the gate alone. */
export interface Runner {
  readonly kind: Plan['kind']
  /** Looks without changing anything; called for the plan and again right before the start. */
  prepare(draft: PlanDraft): Promise<Prepared>
  /**
   * Starts a plan whose digest has just been re-derived. `plan.script` is run by a shell, byte for byte; but a run that nobody was asked
   * about and whose plan has an `argv` is started as these words without a shell, in `plan.sandbox` or not at all where it names one.
   */
  start(plan: Plan, mode: RunMode, sink: RunSink): RunHandle
  /** Ends every run and closes every connection. */
  close(): Promise<void>
}
