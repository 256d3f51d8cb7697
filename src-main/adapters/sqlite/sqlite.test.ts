import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Settlement } from '../../../src-preload/contract/model'
import type { NewExecution, NewKept } from '../../ports'
import { DATABASE_FILE, HEAD_FILE, holdHome, openReadOnlyLedger, openStore, type SqliteStore, StoreProblem } from '.'
import { openDatabase } from './driver'

let home: string
let store: SqliteStore
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'nomos-store-'))
  store = openStore(home)
})
afterEach(() => {
  store.close()
  rmSync(home, { recursive: true, force: true })
})

const NASTY = 'a "quoted" \'word\' \\ back\r\n\u0000 nul \ud83d\ude00 \ud800 lone {"json": [1]} \u202e'

const execution = (id: string, more: Partial<NewExecution> = {}): NewExecution => ({
  id,
  principal: { kind: 'operator', id: 'operator', session: null, turn: null },
  target: 'local',
  user: 'op',
  cwd: '/',
  command: 'touch x',
  redacted: false,
  purpose: null,
  verify: null,
  declaredRisk: null,
  classification: {
    risk: 'config_mutation',
    reasons: [],
    effects: [],
    coverage: 'full',
    spans: [],
    flags: {
      self: false,
      inlineEval: false,
      compound: false,
      unending: false,
      interactive: false,
      tooLarge: false,
      tooDeep: false,
      invisible: false,
    },
  },
  risk: 'config_mutation',
  decision: { outcome: 'ask', risk: 'config_mutation', trace: [] },
  state: 'pending_approval',
  stateReason: null,
  failure: null,
  requestedAt: 1000,
  retryOf: null,
  facts: { group: 'g', reached: ['local'], undo: null, undoOf: null },
  dedupKey: `key-${id}`,
  planDigest: 'd',
  planMac: 'm',
  plan: { json: '{}' },
  ...more,
})
const approval = (executionId: string) => ({
  id: `apr_${executionId}`,
  executionId,
  outcome: 'ask' as const,
  phrase: null,
  digest: 'd',
  createdAt: 1000,
  expiresAt: 2000,
})
const by: Settlement = { by: 'operator', surface: 'window', words: null, note: null, at: 1500 }

describe('the store', () => {
  it('settles an approval once, with its execution, in one step', () => {
    store.createExecution(execution('e1'), approval('e1'), 1000)
    expect(store.settleApproval('apr_e1', 'approved', by, { state: 'approved', reason: null })).toBe(true)
    expect(store.settleApproval('apr_e1', 'denied', by, { state: 'denied', reason: null })).toBe(false)
    expect(store.execution('e1')).toMatchObject({ state: 'approved', approval: { state: 'approved', settlement: by } })
  })

  it('lets exactly one of many processes settle an approval, and one claim it', () => {
    store.createExecution(execution('e1'), approval('e1'), 1000)
    // Other processes race on the same file through the same statement that the store uses.
    const script = `
      const { createRequire } = require('node:module')
      const req = createRequire(${JSON.stringify(join(import.meta.dirname, 'driver.ts'))})
      const napi10 = Number(process.versions.napi) >= 10
      const db = napi10 ? new (req('better-sqlite3'))(process.argv[1]) : new (req('better-sqlite3-napi9'))(process.argv[1], { nativeBinding: process.argv[2] })
      db.pragma('busy_timeout = 5000')
      const n = db.prepare("UPDATE approvals SET state = 'denied', settlement = '{}' WHERE id = 'apr_e1' AND state = 'pending'").run().changes
      process.stdout.write(String(n))`
    const binding = join(
      process.cwd(),
      'node_modules/.nomos/better-sqlite3',
      `node-v${process.versions.modules}`,
      'better_sqlite3.node',
    )
    const others = Array.from({ length: 4 }, () =>
      spawnSync(process.execPath, ['-e', script, store.path, binding], { encoding: 'utf8' }),
    )
    const mine = store.settleApproval('apr_e1', 'approved', by, { state: 'approved', reason: null }) ? 1 : 0
    expect(others.map(({ stderr }) => stderr).join('')).toBe('')
    expect(others.reduce((sum, { stdout }) => sum + Number(stdout), mine)).toBe(1)
  })

  it('claims once', () => {
    store.createExecution(execution('e1', { state: 'requested' }), null, 1000)
    expect([1, 2, 3].map((at) => store.claim('e1', 'requested', at))).toEqual([true, false, false])
    expect(store.execution('e1')).toMatchObject({ state: 'running', startedAt: 1 })
  })

  it('never changes a risk class, a settled approval or a ledger row, also by hand', () => {
    store.createExecution(execution('e1'), approval('e1'), 1000)
    store.settleApproval('apr_e1', 'denied', by, { state: 'denied', reason: null })
    const db = openDatabase(store.path)
    expect(() => db.exec("UPDATE executions SET risk = 'read_only'")).toThrow(/never changes/)
    expect(() => db.exec("UPDATE approvals SET state = 'approved'")).toThrow(/settled approval/)
    expect(() => db.exec("UPDATE ledger SET actor = 'x'")).toThrow(/append-only/)
    expect(() => db.exec('DELETE FROM ledger')).toThrow(/append-only/)
    db.close()
  })

  it('keeps any text as it is', () => {
    store.createExecution(execution('e1', { state: 'requested', command: NASTY, purpose: NASTY }), null, 1000)
    store.claim('e1', 'requested', 1)
    store.finish(
      'e1',
      {
        state: 'completed',
        stateReason: NASTY,
        failure: null,
        finishedAt: 2,
        exitCode: 0,
        signal: null,
        outputBytes: 3,
        output: NASTY,
        truncated: false,
        verified: null,
      },
      'gate',
    )
    // A lone surrogate cannot be written as UTF-8 (12.x makes three signs of it, 13 one); everything else comes back as it went in.
    const kept = NASTY.replace('\ud800', '\ufffd')
    const row = store.execution('e1')
    const read = [row?.command, row?.purpose, row?.stateReason, row?.output].map((text) =>
      text?.replace(/\ufffd+/g, '\ufffd'),
    )
    expect(read).toEqual([kept, kept, kept, kept])
    store.createSession({ id: 's', title: NASTY, createdAt: 1, updatedAt: 1, turn: 'idle' })
    const message = store.addMessage({
      id: 'm',
      session: 's',
      turn: 't',
      role: 'user',
      text: NASTY,
      toolCalls: [{ callId: 'c', name: 'run', arguments: NASTY }],
      callId: null,
      executionId: null,
      error: null,
      at: 1,
    })
    expect(message.toolCalls[0]?.arguments).toBe(NASTY)
    expect(message.seq).toBe(1)
    expect(store.verifyLedger().intact).toBe(true)
  })

  it('drops the plan once an execution is final', () => {
    store.createExecution(execution('e1'), approval('e1'), 1000)
    expect(store.storedPlan('e1')).toEqual({ json: '{}' })
    store.settleApproval('apr_e1', 'denied', by, { state: 'denied', reason: null })
    expect(store.storedPlan('e1')).toBeNull()
  })

  it('writes nothing of a transaction that fails, and the chain goes on', () => {
    store.createExecution(execution('e1'), approval('e1'), 1000)
    const before = store.ledgerPage(null, 10).length
    expect(() => store.createExecution(execution('e2', { dedupKey: 'key-e1' }), approval('e2'), 1000)).toThrow(/UNIQUE/)
    expect(store.execution('e2')).toBeNull()
    expect(store.ledgerPage(null, 10)).toHaveLength(before)
    store.createExecution(execution('e3'), approval('e3'), 1000)
    expect(store.verifyLedger()).toMatchObject({ intact: true })
  })

  it('pages messages and executions by key', () => {
    store.createSession({ id: 's', title: '', createdAt: 1, updatedAt: 1, turn: 'idle' })
    for (let n = 1; n <= 7; n++) {
      store.addMessage({
        id: `m${n}`,
        session: 's',
        turn: 't',
        role: 'user',
        text: `${n}`,
        toolCalls: [],
        callId: null,
        executionId: null,
        error: null,
        at: n,
      })
      store.createExecution(execution(`e${n}`), approval(`e${n}`), n)
    }
    expect(store.messages('s', null, 3).map(({ text }) => text)).toEqual(['5', '6', '7'])
    expect(store.messages('s', 5, 3).map(({ text }) => text)).toEqual(['2', '3', '4'])
    expect(store.executions({ before: 'e4', limit: 2 }).map(({ id }) => id)).toEqual(['e3', 'e2'])
    expect(store.executions({ states: ['denied'], before: null, limit: 2 })).toEqual([])
  })

  it('counts dependents over any number of steps and in circles', () => {
    const host = (slug: string) =>
      store.saveHost({ slug, address: 'a', port: 22, user: 'u', auth: 'agent', keyPath: null, tags: [] }, null, 1)
    for (const slug of ['a', 'b', 'c']) host(slug)
    const db = openDatabase(store.path)
    const link = db.prepare("INSERT INTO relationships VALUES (?, 'depends_on', ?)")
    link.run('host:b', 'host:a')
    link.run('host:c', 'host:b')
    link.run('host:a', 'host:c')
    db.close()
    expect(store.dependents('host:a')).toBe(2)
    expect(store.dependents('local')).toBe(0)
  })
})

describe('the ledger on disk', () => {
  const fill = (count: number) => {
    for (let n = 0; n < count; n++)
      store.appendLedger(
        {
          kind: 'setting.changed',
          actor: 'operator',
          executionId: null,
          approvalId: null,
          data: { n, text: NASTY.replace('\ud800', '') },
        },
        n,
      )
  }

  it('names the row of a changed byte, whichever it is', () => {
    fill(12)
    store.close()
    const whole = readFileSync(join(home, DATABASE_FILE))
    for (const needle of ['"n":7', 'setting.changed', 'operator']) {
      const at = whole.lastIndexOf(needle)
      const bytes = Buffer.from(whole)
      bytes[at + needle.length - 1] = needle === '"n":7' ? 0x38 : 0x58
      writeFileSync(join(home, DATABASE_FILE), bytes)
      const ledger = openReadOnlyLedger(home)
      const report = ledger.verify()
      ledger.close()
      expect(report.intact).toBe(false)
      expect(report.problem?.seq).toBeGreaterThan(0)
      if (needle === '"n":7') expect(report.problem).toEqual({ seq: 8, what: 'its content does not match its hash' })
    }
    writeFileSync(join(home, DATABASE_FILE), whole)
    const ledger = openReadOnlyLedger(home)
    expect(ledger.verify()).toEqual({ intact: true, entries: 12, problem: null })
    expect(ledger.tail(2).map(({ seq }) => seq)).toEqual([11, 12])
    ledger.close()
    store = openStore(home)
  })

  it('is seen to be cut when an older copy is put back', () => {
    fill(3)
    store.close()
    copyFileSync(join(home, DATABASE_FILE), join(home, 'older'))
    store = openStore(home)
    fill(4)
    store.close()
    copyFileSync(join(home, 'older'), join(home, DATABASE_FILE))
    store = openStore(home)
    expect(store.ledgerHeadProblem()).toMatch(/cut off: the remembered head is row 7, the last row is 3/)
    expect(store.verifyLedger()).toMatchObject({ intact: false, problem: { seq: 4 } })
    store.acceptLedger('operator', 'cut', 9)
    expect(store.ledgerHeadProblem()).toBeNull()
    expect(store.verifyLedger()).toMatchObject({ intact: true, entries: 4 })
  })

  it('outlives a head that cannot be written after the end of a run: it stays behind, and that is told at the next start', async () => {
    mkdirSync(join(home, HEAD_FILE))
    store.createExecution(execution('e1', { state: 'requested' }), null, 1000)
    // The catch-up runs in a timer: an error in it would end the process, which vitest reports as a fault of this file.
    await new Promise((go) => setTimeout(go, 400))
    expect(store.execution('e1')).toMatchObject({ state: 'requested' })
    expect(store.ledgerHeadProblem()).toMatch(/missing or unreadable/)
    store.close()
    rmSync(join(home, HEAD_FILE), { recursive: true })
    store = openStore(home)
    expect(store.ledgerPage(null, 5)).toHaveLength(1)
  })

  it('says when the head is missing', () => {
    fill(2)
    store.close()
    rmSync(join(home, HEAD_FILE))
    store = openStore(home)
    expect(store.ledgerHeadProblem()).toMatch(/missing/)
  })
})

describe('opening', () => {
  it('says of a damaged file that it is damaged, and leaves it as it is', () => {
    store.close()
    const path = join(home, DATABASE_FILE)
    const damaged = Buffer.from(
      'this is not a database at all, and longer than a header of one hundred bytes would be, to be sure of it',
    )
    writeFileSync(path, damaged)
    expect(() => openStore(home)).toThrow(StoreProblem)
    try {
      openStore(home)
    } catch (error) {
      expect(error).toMatchObject({ code: 'corrupt', path })
    }
    expect(readFileSync(path)).toEqual(damaged)
    rmSync(path)
    store = openStore(home)
  })

  it('refuses a file of a newer Nomos', () => {
    const db = openDatabase(store.path)
    db.pragma('user_version = 999')
    db.close()
    store.close()
    expect(() => openStore(home)).toThrow(/schema 999/)
    rmSync(join(home, DATABASE_FILE))
    store = openStore(home)
  })

  it('gives a folder to one process at a time', () => {
    const release = holdHome(home)
    expect(release).not.toBeNull()
    expect(holdHome(home)).toBeNull()
    release?.()
    const again = holdHome(home)
    expect(again).not.toBeNull()
    again?.()
    expect(existsSync(join(home, 'nomos.lock'))).toBe(true)
  })
})

describe('what is kept of runs', () => {
  const row = (content: Uint8Array | null, more: Partial<NewKept> = {}): NewKept => ({
    kind: 'file',
    subject: '/a',
    before: '{"is":"path"}',
    content,
    sealed: false,
    ...more,
  })
  const noise = (bytes: number): Buffer => randomBytes(bytes)
  const LIMITS = { mostBytes: 10_000, olderThan: 0 }
  const keep = (id: string, rows: readonly NewKept[], at: number, limits = LIMITS): void => {
    store.createExecution(execution(id), null, at)
    store.keepUndo(id, rows, { items: rows.length }, limits, at)
  }

  it('comes back as it was given, compressed in the file unless it is sealed', () => {
    const plain = Buffer.alloc(100_000, 'a')
    keep('e1', [row(plain), row(Buffer.from([1, 0, 255]), { sealed: true }), row(null)], 1000)
    expect(store.undoContent('e1', 0)).toEqual({ bytes: plain, sealed: false })
    expect(store.undoContent('e1', 1)).toEqual({ bytes: Buffer.from([1, 0, 255]), sealed: true })
    expect(store.undoContent('e1', 2)).toBeNull()
    expect(store.undoContent('e1', 3)).toBeNull()
    expect(store.undoKept('e1').map(({ n, content, sealed, after }) => [n, content, sealed, after])).toEqual([
      [0, true, false, null],
      [1, true, true, null],
      [2, false, false, null],
    ])
    store.saveUndoAfter('e1', new Map([[2, '{"x":1}']]))
    expect(store.undoKept('e1')[2]?.after).toBe('{"x":1}')
    const db = openDatabase(store.path, { readonly: true })
    expect(db.prepare('SELECT length(content) AS n FROM undo_kept WHERE n = 0').get()).toMatchObject({
      n: expect.toSatisfy((n: number) => n < 1000),
    })
    db.close()
  })

  it('the oldest runs go whole when the room is full, never the one that was just kept', () => {
    keep('e1', [row(noise(4000)), row(null)], 1000)
    keep('e2', [row(noise(4000)), row(noise(100))], 2000)
    store.saveUndoInput('m1', 'e1', [0], 1000)
    keep('e3', [row(noise(4000))], 3000)
    expect(store.undoKept('e1')).toEqual([])
    expect(store.undoInput('m1')).toBeNull()
    expect(store.undoKept('e2')).toHaveLength(2)
    keep('e4', [row(noise(20_000))], 4000)
    expect([store.undoKept('e2'), store.undoKept('e3')]).toEqual([[], []])
    expect(store.undoKept('e4')).toHaveLength(1)
  })

  it('goes when it is too old', () => {
    keep('e1', [row(null)], 1000)
    keep('e2', [row(null)], 2000)
    store.saveUndoInput('m2', 'e2', [3, 1], 2000)
    keep('e3', [row(null)], 3000, { ...LIMITS, olderThan: 1500 })
    expect([store.undoKept('e1').length, store.undoKept('e2').length]).toEqual([0, 1])
    expect(store.undoInput('m2')).toEqual({ executionId: 'e2', parts: [3, 1] })
  })

  it('is one step with its entry in the ledger', () => {
    keep('e1', [row(Buffer.from('x'))], 1000)
    expect(store.ledgerPage(null, 1)[0]).toMatchObject({ kind: 'undo.kept', executionId: 'e1', data: { items: 1 } })
    expect(() => store.keepUndo('e1', [row(null)], {}, LIMITS, 1000)).toThrow()
    expect(store.ledgerPage(null, 10).filter(({ kind }) => kind === 'undo.kept')).toHaveLength(1)
    expect(store.verifyLedger().intact).toBe(true)
  })

  it('finds what takes a run back without reading all runs', () => {
    store.createExecution(execution('e1'), null, 1)
    for (const id of ['e2', 'e3'])
      store.createExecution(execution(id, { facts: { group: 'g', reached: [], undo: null, undoOf: 'e1' } }), null, 1)
    expect(store.undosOf('e1').map(({ id }) => id)).toEqual(['e3', 'e2'])
    expect(store.undosOf('e2')).toEqual([])
    const db = openDatabase(store.path, { readonly: true })
    const plan = db
      .prepare(
        "EXPLAIN QUERY PLAN SELECT e.id FROM executions e WHERE json_extract(e.facts, '$.undoOf') = 'e1' ORDER BY e.id DESC LIMIT 50",
      )
      .all() as { detail: string }[]
    expect(plan.map(({ detail }) => detail).join()).toContain('executions_by_undone')
    db.close()
  })
})
