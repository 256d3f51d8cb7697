import type { Endpoint, FileIdentity, KeyFingerprint, Plan } from '../../src-preload/contract/model'

/** What a runner needs to know to prepare a plan at its place. */
export interface PlanDraft {
  readonly target: string
  readonly script: string
  /** Names of programs the command starts with, as typed, when it could be parsed; the first one is what gets pinned. */
  readonly programs: readonly string[]
  /** The one file an interpreter is given to execute (`sh ./x.sh`), as typed; null when there is none. */
  readonly fileOperand: string | null
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
  readonly endpoint: Endpoint | null
  readonly user: string | null
}

/** What the runner found out about its place; these fields go into the plan as they are. */
export interface Prepared {
  readonly user: string | null
  readonly cwd: string | null
  readonly executable: FileIdentity | null
  readonly boundFile: FileIdentity | null
  readonly hostKeys: readonly KeyFingerprint[] | null
  /** Where every program was looked up; null for one that was not found. Empty where the place cannot be asked without running something. */
  readonly resolved: readonly { readonly program: string; readonly path: string | null; readonly trusted: boolean }[]
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
 * - `failed`: it was never started; `code` is machine-readable, `sentence` says what happened, why and what to do
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
}

/** The only thing that may start a process or open a channel. Reached by the gate alone. */
export interface Runner {
  readonly kind: Plan['kind']
  /** Looks without changing anything; called for the plan and again right before the start. */
  prepare(draft: PlanDraft): Promise<Prepared>
  /** Starts a plan whose digest has just been re-derived. `plan.script` is run by a shell, byte for byte. */
  start(plan: Plan, mode: RunMode, sink: RunSink): RunHandle
  /** Ends every run and closes every connection. */
  close(): Promise<void>
}
