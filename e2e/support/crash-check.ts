import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { openReadOnlyLedger, openStore } from '../../src-main/adapters/sqlite'
import { openDatabase } from '../../src-main/adapters/sqlite/driver'

/** What was left after cores were killed: how many requests, in which states, and how long the ledger is. */
export interface CrashReport {
  readonly executions: number
  readonly states: Readonly<Record<string, number>>
  readonly ledger: number
}

/**
 * Holds the database of a killed core against the files its commands wrote. Every command is `echo N >> FILE`, once per file: more than
 * one line is a command that ran twice. Fails where something ran twice, ran without having been claimed, was settled without a row in
 * the ledger, is lost (`asked`: ids that a caller was told), or where the chain is broken.
 */
export function checkCrash(home: string, asked: Iterable<string>): CrashReport {
  const ledger = openReadOnlyLedger(home)
  const report = ledger.verify()
  ledger.close()
  expect(report).toMatchObject({ intact: true, problem: null })

  const store = openStore(home)
  const db = openDatabase(store.path)
  const rows = db.prepare("SELECT id, command, state FROM executions WHERE command LIKE 'echo %'").all() as {
    id: string
    command: string
    state: string
  }[]
  const started = new Map(
    (
      db
        .prepare(
          "SELECT execution_id AS id, count(*) AS n FROM ledger WHERE kind = 'execution.started' GROUP BY execution_id",
        )
        .all() as { id: string; n: number }[]
    ).map(({ id, n }) => [id, n]),
  )
  const settled = new Set(
    (db.prepare("SELECT approval_id AS id FROM ledger WHERE kind = 'approval.settled'").all() as { id: string }[]).map(
      ({ id }) => id,
    ),
  )
  const states: Record<string, number> = {}
  for (const { id, command, state } of rows) {
    const file = command.split('>> ')[1] ?? ''
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0
    states[state] = (states[state] ?? 0) + 1
    expect([command, (started.get(id) ?? 0) <= 1]).toEqual([command, true])
    if (lines > 0) expect([command, started.get(id)]).toEqual([command, 1])
    if (state === 'completed') expect([command, state, lines]).toEqual([command, state, 1])
    else if (state === 'running' || state === 'unknown') expect(lines).toBeLessThanOrEqual(1)
    else expect([command, state, lines]).toEqual([command, state, 0])
  }
  for (const id of asked) expect([id, rows.some((row) => row.id === id)]).toEqual([id, true])
  const decided = db.prepare("SELECT id FROM approvals WHERE state <> 'pending'").all() as { id: string }[]
  for (const { id } of decided) expect([id, settled.has(id)]).toEqual([id, true])
  db.close()
  store.close()
  return { executions: rows.length, states, ledger: report.entries }
}
