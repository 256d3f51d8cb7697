import type {
  ApprovalState,
  ApprovalView,
  Classification,
  Decision,
  Dependent,
  ExecutionState,
  ExecutionView,
  HistoryFilter,
  Host,
  LedgerEntry,
  LedgerKind,
  LedgerReport,
  Message,
  Principal,
  Risk,
  Session,
  Settlement,
  UndoOffer,
} from '../../src-preload/contract/model'

/** What was found out at the request and is shown on the card; all text redacted. Stored as it is. */
export interface ExecutionFacts {
  /** Requests with the same key ask for the same thing at the same place. */
  readonly group: string
  /** The target and the known targets the command is carried on to. */
  readonly reached: readonly string[]
  readonly undo: UndoOffer | null
  /** The execution that this one takes back. */
  readonly undoOf: string | null
}

/** A new row of `executions`, written in one transaction with its approval (if any) and its ledger entry. All text is redacted. */
export interface NewExecution {
  readonly id: string
  readonly principal: Principal
  readonly target: string
  readonly user: string | null
  readonly cwd: string | null
  readonly command: string
  readonly redacted: boolean
  readonly purpose: string | null
  readonly verify: string | null
  readonly declaredRisk: string | null
  readonly classification: Classification
  readonly risk: Risk
  readonly decision: Decision
  readonly state: ExecutionState
  readonly stateReason: string | null
  readonly failure: string | null
  readonly requestedAt: number
  readonly retryOf: string | null
  readonly facts: ExecutionFacts
  /** HMAC of principal, session, target, command, cwd and env: the same pending request gives the same key. */
  readonly dedupKey: string
  readonly planDigest: string
  readonly planMac: string
  /** The plan's JSON when it may be stored, its encrypted bytes when it holds a secret, null when it lives in memory only. */
  readonly plan: { readonly json: string } | { readonly sealed: Uint8Array } | null
}

export interface NewApproval {
  readonly id: string
  readonly executionId: string
  readonly outcome: 'ask' | 'confirm'
  readonly phrase: string | null
  readonly digest: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** Something a run was about to change, as it is kept. */
export interface KeptRow {
  readonly n: number
  readonly kind: 'file' | 'unit' | 'container'
  /** Redacted. */
  readonly subject: string
  /** JSON of the service that keeps it; never content. */
  readonly before: string
  readonly after: string | null
  /** True when there is a content. */
  readonly content: boolean
  /** The content is encrypted by the keyring. */
  readonly sealed: boolean
  readonly at: number
}

export type NewKept = Omit<KeptRow, 'n' | 'after' | 'content' | 'at'> & {
  /** Sealed already where `sealed` says so; else it is stored compressed. */
  readonly content: Uint8Array | null
}

export interface LedgerDraft {
  readonly kind: LedgerKind
  readonly actor: string
  readonly executionId: string | null
  readonly approvalId: string | null
  readonly data: Readonly<Record<string, unknown>>
}

export interface FinishedRun {
  readonly state: ExecutionState
  readonly stateReason: string | null
  readonly failure: string | null
  readonly finishedAt: number
  readonly exitCode: number | null
  readonly signal: string | null
  readonly outputBytes: number
  /** At most 4,096 bytes of UTF-8, cut at a character, NUL and invalid sequences already replaced. */
  readonly output: string
  readonly truncated: boolean
  /** What the verifying command said; null when there was none. Kept in the ledger. */
  readonly verified: boolean | null
}

/**
 * The durable truth. Every method is synchronous and one transaction; what decides or begins something is on the disk
 * (synchronous FULL) when it returns, the end of a run shortly after. Every method that changes an execution or approval writes its ledger entry in the same
 * transaction.
 */
export interface Store {
  readonly path: string

  createExecution(execution: NewExecution, approval: NewApproval | null, at: number): void
  /** The pending execution with this key, if any. */
  pendingByKey(dedupKey: string): string | null
  addPurpose(executionId: string, purpose: string, at: number): void
  execution(id: string): ExecutionView | null
  executions(query: {
    states?: readonly ExecutionState[]
    before: string | null
    limit: number
    filter?: HistoryFilter | undefined
  }): readonly ExecutionView[]
  /** Those that an id of their own or of their approval, whole, names; or the beginning of one, with or without what it says of the kind. */
  executionsNamed(id: string, limit: number): readonly ExecutionView[]
  executionsOfSession(session: string, ids: readonly string[]): readonly ExecutionView[]
  openExecutions(): readonly ExecutionView[]
  /** The stored plan of an execution: its JSON, its sealed bytes, or null when it was never stored or is already dropped. */
  storedPlan(executionId: string): { readonly json: string } | { readonly sealed: Uint8Array } | null
  planMac(executionId: string): { readonly digest: string; readonly mac: string } | null

  approval(id: string): ApprovalView | null
  /**
   * The compare-and-set: pending → `to`, with the execution's own state in the same transaction
   * (`approved` → approved, `denied` → denied, `expired` → expired, `cancelled` → cancelled).
   * Answers false when the approval is not pending any more; nothing is then changed.
   */
  settleApproval(
    id: string,
    to: Exclude<ApprovalState, 'pending'>,
    settlement: Settlement,
    execution: { readonly state: ExecutionState; readonly reason: string | null },
  ): boolean
  /** Withdraws a grant that was not claimed yet: approved → revoked, the execution denied with `reason`, or expired where `failure` says so. */
  revokeApproval(executionId: string, reason: string, failure: string, settlement: Settlement): boolean
  pendingApprovals(): readonly ApprovalView[]
  /** What waits, oldest first, by its ids alone: cheap with hundreds of them. */
  pendingIds(): readonly { readonly approvalId: string; readonly executionId: string }[]

  /** requested|approved → running, once, on the disk before it returns. False when somebody else claimed it or it is settled. */
  claim(executionId: string, from: 'requested' | 'approved', at: number): boolean
  finish(executionId: string, end: FinishedRun, actor: string): boolean
  /** Settles an execution that never ran (policy denial, scope fault, cancel). False when it is final already. */
  settleExecution(
    executionId: string,
    state: ExecutionState,
    reason: string | null,
    failure: string | null,
    at: number,
    actor: string,
  ): boolean

  appendLedger(draft: LedgerDraft, at: number): LedgerEntry
  ledgerPage(before: number | null, limit: number): readonly LedgerEntry[]
  verifyLedger(): LedgerReport

  /**
   * Writes down what is kept of a run, with its ledger entry, on the disk when it returns. What is older than `olderThan` goes, and of the rest
   * the oldest runs go until all contents together have at most `mostBytes` as they are stored.
   */
  keepUndo(
    executionId: string,
    rows: readonly NewKept[],
    entry: Readonly<Record<string, unknown>>,
    limits: { readonly mostBytes: number; readonly olderThan: number },
    at: number,
  ): void
  undoKept(executionId: string): readonly KeptRow[]
  /** The content of one row as it was given; null when there is none. */
  undoContent(executionId: string, n: number): { readonly bytes: Uint8Array; readonly sealed: boolean } | null
  /** How the places were once the run had ended, by the numbers of the rows. */
  saveUndoAfter(executionId: string, after: ReadonlyMap<number, string>): void
  /** The executions that take this one back, or were to; the newest first. */
  undosOf(executionId: string): readonly ExecutionView[]
  saveUndoInput(mac: string, executionId: string, parts: readonly number[], at: number): void
  undoInput(mac: string): { readonly executionId: string; readonly parts: readonly number[] } | null

  createSession(session: Session): void
  updateSession(id: string, change: { readonly title?: string; readonly updatedAt?: number }): void
  removeSession(id: string): void
  sessions(): readonly Session[]
  session(id: string): Session | null
  /** Appends with the next `seq` of its session. */
  addMessage(message: Omit<Message, 'seq' | 'streaming'>): Message
  updateMessage(id: string, change: Partial<Pick<Message, 'text' | 'toolCalls' | 'error' | 'executionId'>>): Message
  removeMessage(id: string): void
  message(id: string): Message | null
  messages(session: string, before: number | null, limit: number): readonly Message[]
  /** Tool messages whose result is still missing. */
  openToolMessages(session: string | null): readonly Message[]

  hosts(): readonly Host[]
  host(slug: string): Host | null
  saveHost(host: Host, replaces: string | null, at: number): void
  removeHost(slug: string, at: number): boolean
  /** How many entities are known to depend on this one, over any number of steps. */
  dependents(slug: string): number
  /** Those of `dependents` for several places together, nearest first, at most `limit`, and how many there are in all. */
  dependentsOf(
    slugs: readonly string[],
    limit: number,
  ): { readonly total: number; readonly dependents: readonly Dependent[] }

  setting(name: string): string | null
  settings(prefix: string): Readonly<Record<string, string>>
  saveSetting(name: string, value: string | null): void

  close(): void
}
