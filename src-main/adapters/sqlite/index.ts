import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import type { LedgerEntry, LedgerReport } from '../../../src-preload/contract/model'
import type { LedgerDraft, Store } from '../../ports'
import { Chat } from './chat'
import { openDatabase } from './driver'
import { Executions } from './executions'
import { Fleet } from './fleet'
import { Ledger } from './ledger'
import { migrate } from './migrations'
import { UndoKept } from './undo'

export const DATABASE_FILE = 'nomos.db'
export const HEAD_FILE = 'ledger.head'

/** How long an end of a run may be known to the system alone. */
const CATCH_UP_MS = 200

/** Largest file that is checked page by page at every start; a larger one is checked by `nomos doctor`. */
const QUICK_CHECK_BYTES = 32 * 1024 * 1024

/** Why a database could not be opened. */
export class StoreProblem extends Error {
  constructor(
    readonly code: 'corrupt' | 'newer' | 'unavailable',
    readonly path: string,
    message: string,
  ) {
    super(message)
    this.name = 'StoreProblem'
  }
}

function configure(db: Database.Database): void {
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.pragma('foreign_keys = ON')
  db.pragma('busy_timeout = 2000')
  db.pragma('trusted_schema = OFF')
}

function open(path: string): Database.Database {
  let db: Database.Database | null = null
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    db = openDatabase(path)
    configure(db)
    if (path !== ':memory:') {
      chmodSync(path, 0o600)
      if (statSync(path).size <= QUICK_CHECK_BYTES) {
        const found = db.pragma('quick_check(1)', { simple: true })
        if (found !== 'ok') throw new StoreProblem('corrupt', path, `The database ${path} is damaged: ${String(found)}`)
      }
    }
    migrate(db)
    return db
  } catch (error) {
    db?.close()
    if (error instanceof StoreProblem) throw error
    const code = (error as { code?: string }).code ?? ''
    const text = error instanceof Error ? error.message : String(error)
    if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') {
      throw new StoreProblem('corrupt', path, `The database ${path} is damaged: ${text}`)
    }
    if (text.startsWith('The database has schema')) throw new StoreProblem('newer', path, text)
    throw new StoreProblem('unavailable', path, `The database ${path} cannot be opened: ${text}`)
  }
}

export interface SqliteStore extends Store {
  /** Why the remembered head and the table do not fit; null when they do. Cheap: no walk. */
  ledgerHeadProblem(): string | null
  /** Takes the table's end as the head after the operator has accepted what was found; writes a `recovery` entry. */
  acceptLedger(actor: string, found: string, at: number): void
}

/**
 * Opens (or makes) `nomos.db` in `home`; null keeps everything in memory, which serves only to show what is wrong with a file.
 * @throws StoreProblem when the file is damaged, from a newer Nomos or not to be opened.
 */
export function openStore(home: string | null): SqliteStore {
  const path = home === null ? ':memory:' : join(home, DATABASE_FILE)
  const db = open(path)
  const ledger = new Ledger(db, home === null ? null : join(home, HEAD_FILE))
  const executions = new Executions(db)
  const kept = new UndoKept(db)
  const chat = new Chat(db)
  const fleet = new Fleet(db)
  const oneSetting = db.prepare<[string], { value: string }>('SELECT value FROM settings WHERE name = ?')
  const settingsOf = db.prepare<[{ prefix: string }], { name: string; value: string }>(
    'SELECT name, value FROM settings WHERE substr(name, 1, length(@prefix)) = @prefix',
  )
  const begin = db.transaction((work: () => unknown) => work())

  let catchUp: NodeJS.Timeout | null = null

  /** One transaction that is on the disk when it returns, with the head remembered after it. */
  function durable<T>(work: () => T): T {
    db.pragma('synchronous = FULL')
    let result: T
    try {
      result = begin.immediate(work) as T
    } catch (error) {
      ledger.rolledBack()
      throw error
    } finally {
      db.pragma('synchronous = NORMAL')
    }
    if (catchUp !== null) clearTimeout(catchUp)
    catchUp = null
    ledger.afterCommit()
    return result
  }

  /**
   * One transaction that reaches the disk with the next durable one. The remembered head stays behind until then: it must never
   * name a row that a power cut could take away.
   */
  function soon<T>(work: () => T): T {
    try {
      const result = begin.immediate(work) as T
      catchUp ??= setTimeout(flush, CATCH_UP_MS).unref()
      return result
    } catch (error) {
      ledger.rolledBack()
      throw error
    }
  }

  /** Brings to the disk what was written soon, then remembers the head. */
  function flush(): void {
    if (catchUp === null) return
    clearTimeout(catchUp)
    catchUp = null
    try {
      // The log holds it all until a checkpoint, and syncing a file through one descriptor syncs it for all.
      if (existsSync(`${path}-wal`)) {
        const log = openSync(`${path}-wal`, 'r+')
        try {
          fsyncSync(log)
        } finally {
          closeSync(log)
        }
      }
      ledger.afterCommit()
    } catch {
      // Nobody waits for this, and the rows are committed: the head stays behind, which is its safe side, and the next durable
      // transaction meets the same disk with somebody there to be told.
    }
  }

  const settled = (
    kind: LedgerDraft['kind'],
    actor: string,
    executionId: string | null,
    approvalId: string | null,
    data: Readonly<Record<string, unknown>>,
  ): LedgerDraft => ({ kind, actor, executionId, approvalId, data })

  return {
    path,

    createExecution(execution, approval, at) {
      // What runs by itself is claimed within the same moment, and that commit takes this one to the disk with it.
      const write = execution.state === 'requested' ? soon : durable
      write(() => {
        if (approval !== null) executions.insertApproval(approval)
        executions.insert(execution, approval?.id ?? null)
        ledger.append(
          settled('execution.requested', execution.principal.id, execution.id, approval?.id ?? null, {
            principal: execution.principal,
            target: execution.target,
            user: execution.user,
            cwd: execution.cwd,
            command: execution.command,
            redacted: execution.redacted,
            purpose: execution.purpose,
            verify: execution.verify,
            declaredRisk: execution.declaredRisk,
            risk: execution.risk,
            decision: execution.decision,
            state: execution.state,
            stateReason: execution.stateReason,
            failure: execution.failure,
            planMac: execution.planMac,
            retryOf: execution.retryOf,
            facts: execution.facts,
          }),
          at,
        )
        if (approval !== null) {
          ledger.append(
            settled('approval.requested', execution.principal.id, execution.id, approval.id, {
              outcome: approval.outcome,
              phrase: approval.phrase,
              expiresAt: approval.expiresAt,
            }),
            at,
          )
        }
      })
    },
    pendingByKey: (key) => executions.pendingByKey(key),
    addPurpose(id, purpose, at) {
      durable(() => {
        executions.addPurpose(id, purpose)
        ledger.append(settled('execution.requested', 'system', id, null, { purpose, again: true }), at)
      })
    },
    execution: (id) => executions.byId(id),
    executions: (query) => executions.list(query),
    executionsNamed: (id, limit) => executions.named(id, limit),
    executionsOfSession: (_session, ids) => executions.byIds(ids),
    openExecutions: () => executions.open(),
    storedPlan: (id) => executions.storedPlan(id),
    planMac: (id) => executions.planMac(id),

    approval: (id) => executions.approval(id),
    pendingApprovals: () => executions.pendingApprovals(),
    pendingIds: () => executions.pendingIds(),
    settleApproval(id, to, settlement, execution) {
      return durable(() => {
        if (!executions.settleApproval(id, 'pending', to, settlement)) return false
        const executionId = executions.executionOfApproval(id)
        if (executionId !== null) {
          executions.move(executionId, ['pending_approval'], execution.state, {
            reason: execution.reason,
            failure: null,
            at: settlement.at,
          })
        }
        ledger.append(
          settled('approval.settled', settlement.by, executionId, id, {
            to,
            execution: execution.state,
            surface: settlement.surface,
            words: settlement.words,
            note: settlement.note,
          }),
          settlement.at,
        )
        return true
      })
    },
    revokeApproval(executionId, reason, failure, settlement) {
      return durable(() => {
        const approvalId = executions.byId(executionId)?.approval?.id ?? null
        // One that ran out was denied by nobody.
        const to = failure === 'expired' ? 'expired' : 'denied'
        if (!executions.move(executionId, ['approved'], to, { reason, failure, at: settlement.at })) return false
        if (approvalId !== null) executions.settleApproval(approvalId, 'approved', 'revoked', settlement)
        ledger.append(
          settled('approval.settled', settlement.by, executionId, approvalId, { to: 'revoked', reason, failure }),
          settlement.at,
        )
        return true
      })
    },

    claim(executionId, from, at) {
      return durable(() => {
        if (!executions.move(executionId, [from], 'running', { reason: null, failure: null, at })) return false
        const row = executions.planMac(executionId)
        ledger.append(settled('execution.started', 'gate', executionId, null, { from, planMac: row?.mac ?? null }), at)
        return true
      })
    },
    finish(executionId, end, actor) {
      // A power cut that takes an end away leaves an execution whose end was not seen, which is the truth.
      return soon(() => {
        if (!executions.finish(executionId, end)) return false
        ledger.append(settled('execution.finished', actor, executionId, null, { ...end }), end.finishedAt)
        return true
      })
    },
    settleExecution(executionId, state, reason, failure, at, actor) {
      return durable(() => {
        if (
          !executions.move(executionId, ['requested', 'pending_approval', 'approved', 'running'], state, {
            reason,
            failure,
            at,
          })
        ) {
          return false
        }
        ledger.append(settled('execution.settled', actor, executionId, null, { state, reason, failure }), at)
        return true
      })
    },

    appendLedger: (draft, at) => durable(() => ledger.append(draft, at)),
    ledgerPage: (before, limit) => ledger.page(before, limit),
    // Without a folder this is only a stand-in for a database that cannot be read: there is nothing to vouch for.
    verifyLedger: () =>
      home === null
        ? { intact: false, entries: 0, problem: { seq: 0, what: 'the database cannot be read' } }
        : ledger.verify(),
    ledgerHeadProblem: () => ledger.headProblem(),
    acceptLedger(actor, found, at) {
      durable(() => ledger.append(settled('recovery', actor, null, null, { what: 'ledger head accepted', found }), at))
    },

    keepUndo(executionId, rows, entry, limits, at) {
      durable(() => {
        kept.insert(executionId, rows, at)
        kept.trim(limits, executionId)
        ledger.append(settled('undo.kept', 'gate', executionId, null, entry), at)
      })
    },
    undoKept: (executionId) => kept.rows(executionId),
    undoContent: (executionId, n) => kept.content(executionId, n),
    saveUndoAfter(executionId, after) {
      begin.immediate(() => {
        for (const [n, state] of after) kept.saveAfter(executionId, n, state)
      })
    },
    undosOf: (executionId) => executions.undosOf(executionId),
    saveUndoInput: (mac, executionId, parts, at) => kept.saveInput(mac, executionId, parts, at),
    undoInput: (mac) => kept.input(mac),

    createSession: (session) => chat.createSession(session),
    updateSession: (id, change) => chat.updateSession(id, change),
    removeSession: (id) => chat.removeSession(id),
    sessions: () => chat.sessions(),
    session: (id) => chat.session(id),
    addMessage: (message) => begin.immediate(() => chat.add(message)) as ReturnType<Chat['add']>,
    updateMessage: (id, change) => begin.immediate(() => chat.update(id, change)) as ReturnType<Chat['update']>,
    removeMessage: (id) => chat.remove(id),
    message: (id) => chat.byId(id),
    messages: (session, before, limit) => chat.page(session, before, limit),
    openToolMessages: (session) => chat.openTools(session),

    hosts: () => fleet.hosts(),
    host: (slug) => fleet.host(slug),
    saveHost(host, replaces, at) {
      durable(() => {
        fleet.save(host, replaces, at)
        ledger.append(settled('host.saved', 'operator', null, null, { host, replaces }), at)
      })
    },
    removeHost(slug, at) {
      return durable(() => {
        if (!fleet.remove(slug)) return false
        ledger.append(settled('host.removed', 'operator', null, null, { slug }), at)
        return true
      })
    },

    dependents: (slug) => fleet.dependents(slug),
    dependentsOf: (slugs, limit) => fleet.dependentsOf(slugs, limit),

    setting(name) {
      return oneSetting.get(name)?.value ?? null
    },
    settings(prefix) {
      const rows = settingsOf.all({ prefix })
      return Object.fromEntries(rows.map((row) => [row.name.slice(prefix.length), row.value]))
    },
    saveSetting(name, value) {
      if (value === null) db.prepare('DELETE FROM settings WHERE name = ?').run(name)
      else {
        db.prepare(
          'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        ).run(name, value)
      }
    },

    close() {
      flush()
      ledger.close()
      db.close()
    },
  }
}

/**
 * The ledger of `home` without the app, read-only: for `nomos ledger`.
 * @throws StoreProblem when there is no database or it cannot be read.
 */
export function openReadOnlyLedger(home: string): {
  verify(): LedgerReport
  tail(count: number): readonly LedgerEntry[]
  close(): void
} {
  const path = join(home, DATABASE_FILE)
  if (!existsSync(path))
    throw new StoreProblem('unavailable', path, `There is no database at ${path}. Nothing has been recorded yet.`)
  try {
    const db = openDatabase(path, { readonly: true })
    const ledger = new Ledger(db, join(home, HEAD_FILE))
    return {
      verify: () => ledger.verify(),
      tail: (count) => ledger.page(null, count).reverse(),
      close: () => db.close(),
    }
  } catch (error) {
    throw new StoreProblem(
      'corrupt',
      path,
      `The ledger in ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/**
 * Takes the folder for this process and no other, until the returned function is called or the process ends, however it ends:
 * an exclusive transaction on a small file of its own, whose lock the system itself gives back. Null when another process has it.
 */
export function holdHome(home: string): (() => void) | null {
  const db = openDatabase(join(home, 'nomos.lock'), { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
    return () => db.close()
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return null
    throw error
  }
}
