import type Database from 'better-sqlite3'
import { z } from 'zod'
import {
  type ApprovalState,
  ApprovalView,
  type ExecutionState,
  ExecutionView,
  FINAL_STATES,
  type HistoryFilter,
  type Settlement,
  UndoOffer,
} from '../../../src-preload/contract/model'
import type { FinishedRun, NewApproval, NewExecution } from '../../ports'
import { preparedStatements } from './statements'

type Row = Readonly<Record<string, string | number | null | Uint8Array>>

const SELECT = `
  SELECT e.*, a.id AS a_id, a.state AS a_state, a.outcome AS a_outcome, a.phrase AS a_phrase, a.digest AS a_digest,
         a.created_at AS a_created_at, a.expires_at AS a_expires_at, a.settlement AS a_settlement
  FROM executions e LEFT JOIN approvals a ON a.id = e.approval_id`

const OPEN = "e.state IN ('requested', 'pending_approval', 'approved', 'running')"

const json = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : null)

function approvalOf(row: Row): ApprovalView | null {
  if (row.a_id === null) return null
  return ApprovalView.parse({
    id: row.a_id,
    executionId: row.id,
    state: row.a_state,
    outcome: row.a_outcome,
    phrase: row.a_phrase,
    digest: row.a_digest,
    createdAt: row.a_created_at,
    expiresAt: row.a_expires_at,
    settlement: json(row.a_settlement),
  })
}

/** Rows of before 002 have none. */
const Facts = z.object({
  group: z.string().optional(),
  reached: z.array(z.string()).optional(),
  undo: UndoOffer.nullable().optional(),
  undoOf: z.string().nullable().optional(),
})

/** The plan itself is not kept; the trace names the sandbox it had. */
function sandboxIn({ trace }: ExecutionView['decision']): string | null {
  const step = trace.find(({ layer, rule }) => layer === 'gate' && rule.startsWith('sandbox.'))
  return step?.rule.slice('sandbox.'.length) ?? null
}

function viewOf(row: Row): ExecutionView {
  const view = ExecutionView.parse({
    id: row.id,
    session: row.session,
    turn: row.turn,
    principal: json(row.principal),
    target: row.target,
    user: row.user,
    cwd: row.cwd,
    command: row.command,
    redacted: row.redacted === 1,
    purpose: row.purpose,
    verify: row.verify,
    declaredRisk: row.declared_risk,
    classification: json(row.classification),
    risk: row.risk,
    decision: json(row.decision),
    state: row.state,
    stateReason: row.state_reason,
    failure: row.failure,
    requestedAt: row.requested_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    exitCode: row.exit_code,
    signal: row.signal,
    outputBytes: row.output_bytes,
    output: row.output,
    truncated: row.truncated === 1,
    retryOf: row.retry_of,
    approval: approvalOf(row),
  })
  const facts = Facts.parse(json(row.facts) ?? {})
  return { ...view, ...facts, sandbox: sandboxIn(view.decision) }
}

/** The executions and approvals tables. Transactions and ledger entries are the store's; these are the plain statements. */
export class Executions {
  private readonly statement: (sql: string) => Database.Statement<unknown[], Row>

  constructor(db: Database.Database) {
    this.statement = preparedStatements<Row>(db)
  }

  insertApproval(approval: NewApproval): void {
    this.statement(
      `INSERT INTO approvals (id, state, outcome, phrase, digest, created_at, expires_at)
       VALUES (@id, 'pending', @outcome, @phrase, @digest, @createdAt, @expiresAt)`,
    ).run(approval)
  }

  insert(execution: NewExecution, approvalId: string | null): void {
    const final = FINAL_STATES.includes(execution.state)
    this.statement(
      `INSERT INTO executions (id, principal, session, turn, target, user, cwd, command, redacted, purpose, verify, declared_risk,
         classification, risk, decision, state, state_reason, failure, requested_at, finished_at, retry_of, approval_id,
         dedup_key, plan_digest, plan_mac, plan_json, plan_sealed, facts)
       VALUES (@id, @principal, @session, @turn, @target, @user, @cwd, @command, @redacted, @purpose, @verify, @declaredRisk,
         @classification, @risk, @decision, @state, @stateReason, @failure, @requestedAt, @finishedAt, @retryOf, @approvalId,
         @dedupKey, @planDigest, @planMac, @planJson, @planSealed, @facts)`,
    ).run({
      ...execution,
      principal: JSON.stringify(execution.principal),
      session: execution.principal.session,
      turn: execution.principal.turn,
      redacted: execution.redacted ? 1 : 0,
      classification: JSON.stringify(execution.classification),
      decision: JSON.stringify(execution.decision),
      finishedAt: final ? execution.requestedAt : null,
      approvalId,
      planJson: execution.plan !== null && 'json' in execution.plan ? execution.plan.json : null,
      planSealed: execution.plan !== null && 'sealed' in execution.plan ? execution.plan.sealed : null,
      plan: null,
      facts: JSON.stringify(execution.facts),
    })
  }

  byId(id: string): ExecutionView | null {
    const row = this.statement(`${SELECT} WHERE e.id = ?`).get(id)
    return row ? viewOf(row) : null
  }

  pendingByKey(key: string): string | null {
    const row = this.statement(`SELECT id FROM executions WHERE dedup_key = ? AND state = 'pending_approval'`).get(key)
    return typeof row?.id === 'string' ? row.id : null
  }

  list(query: {
    states?: readonly ExecutionState[]
    before: string | null
    limit: number
    filter?: HistoryFilter | undefined
  }): ExecutionView[] {
    const { risks, target, agent, surface, asked, text } = query.filter ?? {}
    // Said in the words of the index of what is open, so that it is read instead of the whole history.
    const open = query.states?.every((state) => !FINAL_STATES.includes(state)) === true
    // One text for every number of states keeps this a single prepared statement.
    return this.statement(
      `${SELECT} WHERE ${open ? `${OPEN} AND` : ''} (@before IS NULL OR e.id < @before)
         AND (@states IS NULL OR e.state IN (SELECT value FROM json_each(@states)))
         AND (@risks IS NULL OR e.risk IN (SELECT value FROM json_each(@risks)))
         AND (@target IS NULL OR e.target = @target)
         AND (@agent IS NULL OR json_extract(e.principal, '$.id') = @agent)
         AND (@surface IS NULL OR json_extract(a.settlement, '$.surface') = @surface)
         AND (@asked IS NULL OR (e.approval_id IS NOT NULL) = @asked)
         AND (@text IS NULL OR instr(lower(e.command || char(10) || coalesce(e.purpose, '')), lower(@text)) > 0)
       ORDER BY e.id DESC LIMIT @limit`,
    )
      .all({
        before: query.before,
        states: query.states ? JSON.stringify(query.states) : null,
        risks: risks ? JSON.stringify(risks) : null,
        target: target || null,
        agent: agent || null,
        surface: surface || null,
        asked: asked === undefined ? null : Number(asked),
        text: text || null,
        limit: query.limit,
      })
      .map(viewOf)
  }

  named(id: string, limit: number): ExecutionView[] {
    const whole = this.statement(`${SELECT} WHERE e.id = @id OR e.approval_id = @id ORDER BY e.id LIMIT @limit`)
    const exact = whole.all({ id, limit })
    if (exact.length > 0) return exact.map(viewOf)
    // What waits comes first: of the others it only counts that there are any.
    return this.statement(
      `${SELECT} WHERE e.id IN (
         SELECT id FROM executions WHERE id >= @id AND id < @id || char(1114111)
         UNION SELECT id FROM executions WHERE id >= 'exe_' || @id AND id < 'exe_' || @id || char(1114111)
         UNION SELECT e.id FROM approvals a JOIN executions e ON e.approval_id = a.id
           WHERE a.id >= @id AND a.id < @id || char(1114111)
         UNION SELECT e.id FROM approvals a JOIN executions e ON e.approval_id = a.id
           WHERE a.id >= 'apr_' || @id AND a.id < 'apr_' || @id || char(1114111))
       ORDER BY e.state <> 'pending_approval', e.id DESC LIMIT @limit`,
    )
      .all({ id, limit })
      .map(viewOf)
  }

  byIds(ids: readonly string[]): ExecutionView[] {
    return this.statement(`${SELECT} WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY e.id`)
      .all(JSON.stringify(ids))
      .map(viewOf)
  }

  /** The newest first. */
  undosOf(id: string): ExecutionView[] {
    return this.statement(`${SELECT} WHERE json_extract(e.facts, '$.undoOf') = ? ORDER BY e.id DESC LIMIT 50`)
      .all(id)
      .map(viewOf)
  }

  open(): ExecutionView[] {
    return this.statement(`${SELECT} WHERE ${OPEN} ORDER BY e.id`).all().map(viewOf)
  }

  addPurpose(id: string, purpose: string): void {
    this.statement(
      `UPDATE executions SET purpose = CASE WHEN purpose IS NULL THEN @purpose ELSE purpose || char(10) || @purpose END
       WHERE id = @id AND (purpose IS NULL OR instr(purpose, @purpose) = 0)`,
    ).run({ id, purpose })
  }

  storedPlan(id: string): { readonly json: string } | { readonly sealed: Uint8Array } | null {
    const row = this.statement('SELECT plan_json, plan_sealed FROM executions WHERE id = ?').get(id)
    if (row === undefined) return null
    if (typeof row.plan_json === 'string') return { json: row.plan_json }
    return row.plan_sealed instanceof Uint8Array ? { sealed: row.plan_sealed } : null
  }

  planMac(id: string): { readonly digest: string; readonly mac: string } | null {
    const row = this.statement('SELECT plan_digest, plan_mac FROM executions WHERE id = ?').get(id)
    return row ? { digest: String(row.plan_digest), mac: String(row.plan_mac) } : null
  }

  approval(id: string): ApprovalView | null {
    const row = this.statement(`${SELECT} WHERE a.id = ? ORDER BY e.id LIMIT 1`).get(id)
    return row ? approvalOf(row) : null
  }

  pendingApprovals(): ApprovalView[] {
    return this.statement(`${SELECT} WHERE a.state = 'pending' ORDER BY a.created_at, a.id`)
      .all()
      .flatMap((row) => approvalOf(row) ?? [])
  }

  pendingIds(): { approvalId: string; executionId: string }[] {
    return this.statement(
      `SELECT a.id AS approval, min(e.id) AS execution FROM approvals a JOIN executions e ON e.approval_id = a.id
       WHERE a.state = 'pending' GROUP BY a.id ORDER BY a.created_at, a.id`,
    )
      .all()
      .map((row) => ({ approvalId: String(row.approval), executionId: String(row.execution) }))
  }

  /** pending → `to`; true for the one caller that changed it. */
  settleApproval(id: string, from: ApprovalState, to: ApprovalState, settlement: Settlement): boolean {
    return (
      this.statement('UPDATE approvals SET state = @to, settlement = @settlement WHERE id = @id AND state = @from').run(
        {
          id,
          from,
          to,
          settlement: JSON.stringify(settlement),
        },
      ).changes === 1
    )
  }

  executionOfApproval(approvalId: string): string | null {
    const row = this.statement('SELECT id FROM executions WHERE approval_id = ? ORDER BY id LIMIT 1').get(approvalId)
    return typeof row?.id === 'string' ? row.id : null
  }

  /** Moves an execution when it is in one of `from`; a final state also drops its plan and stamps the end. */
  move(
    id: string,
    from: readonly ExecutionState[],
    to: ExecutionState,
    change: { readonly reason: string | null; readonly failure: string | null; readonly at: number },
  ): boolean {
    const final = FINAL_STATES.includes(to)
    return (
      this.statement(
        `UPDATE executions SET state = @to, state_reason = @reason, failure = COALESCE(@failure, failure),
           started_at = CASE WHEN @to = 'running' THEN @at ELSE started_at END,
           finished_at = CASE WHEN @final = 1 THEN @at ELSE finished_at END,
           plan_json = CASE WHEN @final = 1 THEN NULL ELSE plan_json END,
           plan_sealed = CASE WHEN @final = 1 THEN NULL ELSE plan_sealed END
         WHERE id = @id AND state IN (SELECT value FROM json_each(@from))`,
      ).run({ id, to, from: JSON.stringify(from), final: final ? 1 : 0, ...change }).changes === 1
    )
  }

  finish(id: string, end: FinishedRun): boolean {
    return (
      this.statement(
        `UPDATE executions SET state = @state, state_reason = @stateReason, failure = @failure, finished_at = @finishedAt,
           exit_code = @exitCode, signal = @signal, output_bytes = @outputBytes, output = @output, truncated = @truncated,
           plan_json = NULL, plan_sealed = NULL
         WHERE id = @id AND state = 'running'`,
      ).run({ ...end, id, truncated: end.truncated ? 1 : 0, verified: null }).changes === 1
    )
  }
}
