import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DATABASE_FILE, openStore } from '../adapters/sqlite'
import { EXIT } from './exits'
import { fakeIo, fakeTerminal } from './fake-io.fixture'
import { run } from './program'

let made: string
let home: string
beforeEach(() => {
  made = mkdtempSync(join(tmpdir(), 'ncli-'))
  home = made
})
afterEach(() => rmSync(made, { recursive: true, force: true }))

async function nomos(...args: string[]) {
  const io = fakeIo({ home, terminal: fakeTerminal(() => ({ kind: 'ended' })) })
  return { exit: await run(args, io), out: io.out(), err: io.err() }
}

describe('the command line', () => {
  it('says its version and help on standard output', async () => {
    expect(await nomos('version')).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^nomos \d+\.\d+\.\d+\n$/),
      err: '',
    })
    expect(JSON.parse((await nomos('version', '--json')).out)).toHaveProperty('version')
    expect(JSON.parse((await nomos('--json', 'version')).out)).toHaveProperty('version')
    for (const args of [[], ['help'], ['--help'], ['-h']])
      expect(await nomos(...args)).toMatchObject({ exit: 0, out: expect.stringContaining('Usage: nomos'), err: '' })
    for (const args of [
      ['help', 'run'],
      ['run', '--help'],
      ['approvals', 'watch', '-h'],
    ])
      expect(await nomos(...args)).toMatchObject({
        exit: 0,
        out: expect.stringContaining(`Usage: nomos ${args.find((word) => word !== 'help')}`),
      })
  })

  it.each([
    [['clasify', 'ls'], 'Did you mean "nomos classify"?'],
    [['constructor'], 'See: nomos help'],
    [['executions', 'lst'], 'Did you mean "nomos executions list"?'],
    [['executions', 'list', '--jsn'], 'Did you mean --json?'],
    [['executions', 'list', '--state', 'runing'], 'Did you mean running?'],
    [['executions', 'list', '-n', '0'], 'from 1 to 200'],
    [['executions', 'show'], 'needs an id'],
    [['approvals'], 'pending, approve, deny, changes, history, watch'],
    [['approvals', 'approve', 'a', 'b'], 'takes one id'],
    [['ledger', 'verfy'], 'Did you mean "nomos ledger verify"?'],
    [['ledger', 'toString'], 'verify, tail'],
    [['run'], 'name a target and a command'],
    [['run', 'local'], 'no command to run'],
    [['run', 'local', '  '], 'no command to run'],
    [['doctor', 'x'], 'takes no'],
    [['help', 'runn'], 'Did you mean "nomos help run"?'],
  ])('%j is a usage error', async (args, hint) => {
    const { exit, out, err } = await nomos(...args)
    expect({ exit, out }).toEqual({ exit: EXIT.usage, out: '' })
    expect(err).toMatch(/^nomos: .*\n$/)
    expect(err).toContain(hint)
  })

  it.each([
    [['run', 'local', 'ls']],
    [['executions', 'list']],
    [['executions', 'show', 'x']],
    [['executions', 'cancel', 'x']],
    [['approvals', 'pending']],
    [['approvals', 'approve', 'x']],
    [['approvals', 'deny', 'x']],
    [['approvals', 'watch']],
  ])('%j says that no app runs, and how to start one', async (args) => {
    const { exit, out, err } = await nomos(...args)
    expect({ exit, out }).toEqual({ exit: EXIT.noApp, out: '' })
    expect(err).toBe(
      `nomos: Nomos is not running (no socket at ${join(home, 'run', 'control.sock')}). Start it with npm start, or npm start -- --headless.\n`,
    )
  })

  it('gives its failures as JSON too when that was asked for, but leaves the words of a command alone', async () => {
    const listed = await nomos('executions', 'list', '--json')
    expect(JSON.parse(listed.out)).toMatchObject({ error: { code: 'absent' } })
    expect((await nomos('run', 'local', 'docker', 'ps', '--json')).out).toBe('')
    expect(JSON.parse((await nomos('run', '--json', 'local', 'ls')).out)).toMatchObject({ error: { code: 'absent' } })
  })

  it('refuses a relative NOMOS_HOME', async () => {
    const io = fakeIo({ home: 'relative' })
    expect(await run(['executions', 'list'], io)).toBe(EXIT.usage)
    expect(io.err()).toContain('not an absolute path')
  })

  it.each(['approve', 'deny', 'watch'])('approvals %s takes no answer without a terminal', async (name) => {
    const io = fakeIo({ home, terminal: null })
    expect(await run(['approvals', name, ...(name === 'watch' ? [] : ['x'])], io)).toBe(EXIT.notOperator)
    expect(io.err()).toContain("only at an operator's terminal")
    expect(io.out()).toBe('')
  })
})

describe('ledger', () => {
  const record = () => {
    const store = openStore(home)
    for (const name of ['first', 'second', 'third'])
      store.appendLedger(
        {
          kind: 'setting.changed',
          actor: 'operator',
          executionId: null,
          approvalId: null,
          data: { name: `marker-${name}` },
        },
        1_700_000_000_000,
      )
    return store
  }

  it('says intact with the number of entries, while the app has the file open too', async () => {
    const store = record()
    expect(await nomos('ledger', 'verify')).toEqual({ exit: 0, out: 'intact, 3 entries\n', err: '' })
    store.close()
    expect(JSON.parse((await nomos('ledger', 'verify', '--json')).out)).toEqual({
      intact: true,
      entries: 3,
      problem: null,
    })
  })

  it('names the row when a byte was changed', async () => {
    record().close()
    const path = join(home, DATABASE_FILE)
    const bytes = readFileSync(path)
    const at = bytes.indexOf('marker-second')
    expect(at).toBeGreaterThan(0)
    bytes.write('M', at)
    writeFileSync(path, bytes)
    const { exit, out } = await nomos('ledger', 'verify')
    expect(exit).toBe(EXIT.failed)
    expect(out).toMatch(/^not intact: row 2: .+\n$/)
    expect(JSON.parse((await nomos('ledger', 'verify', '--json')).out)).toMatchObject({
      intact: false,
      problem: { seq: 2 },
    })
  })

  it('shows the last entries in order', async () => {
    record().close()
    const { out } = await nomos('ledger', 'tail', '-n', '2')
    expect(out.split('\n').map((line) => /marker-\w+/.exec(line)?.[0])).toEqual([
      'marker-second',
      'marker-third',
      undefined,
    ])
    expect(JSON.parse((await nomos('ledger', 'tail', '--json')).out)).toHaveLength(3)
  })

  it('says so when nothing was recorded, and when the file is no database', async () => {
    expect(await nomos('ledger', 'verify')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('There is no database'),
    })
    writeFileSync(join(home, DATABASE_FILE), 'no database at all, but long enough to be looked at as one'.repeat(20))
    expect(await nomos('ledger', 'verify')).toMatchObject({ exit: 1, out: '', err: expect.stringMatching(/^nomos: /) })
  })
})

describe('doctor without the app', () => {
  const checks = async () => {
    const { out, exit } = await nomos('doctor', '--json')
    const report = JSON.parse(out) as {
      from: string
      checks: { name: string; status: string; found: string; remedy: string | null }[]
    }
    return { exit, report, of: (name: string) => report.checks.find((check) => check.name === name) }
  }

  it('finds nothing wrong in a fresh folder, numbered', async () => {
    chmodSync(home, 0o700)
    const { exit, report } = await checks()
    expect(exit).toBe(0)
    expect(report.from).toBe('local')
    expect((await nomos('doctor')).out).toMatch(/^ 1\. ok/)
  })

  it('says what is wrong and what to do', async () => {
    chmodSync(home, 0o755)
    writeFileSync(join(home, 'exec-approvals.json'), '{ "version": ')
    writeFileSync(join(home, DATABASE_FILE), 'x'.repeat(5000))
    const { exit, of } = await checks()
    expect(exit).toBe(EXIT.failed)
    expect(of("Nomos's folder")).toMatchObject({ status: 'failed', remedy: `chmod 700 '${home}'` })
    expect(of('Approvals file')).toMatchObject({ status: 'failed', remedy: expect.stringContaining('denied') })
    expect(of('Ledger')).toMatchObject({ status: 'failed' })
  })

  it('names a socket path that is too long', async () => {
    home = join(home, 'x'.repeat(120))
    mkdirSync(home, { mode: 0o700 })
    const { of } = await checks()
    expect(of('Control socket')).toMatchObject({ status: 'failed', remedy: expect.stringContaining('shorter') })
  })
})
