import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AllowlistEntryView, ExecutionView, GrantView, LedgerEntry } from '../../src-preload/contract/model'
import { bundleCommands, Operator } from './operator.fixture'

let bundle: string
let home: string
const hosts = new Set<ChildProcess>()

beforeAll(async () => {
  bundle = await bundleCommands('cli', 'headless')
})
afterAll(() => rmSync(bundle, { recursive: true, force: true }))
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'nhost-'))
})
afterEach(async () => {
  Operator.endAll()
  for (const host of hosts) host.kill('SIGKILL')
  hosts.clear()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
})

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A process of the bundle, without a terminal. `said` resolves with what it wrote once that matches. */
function start(name: 'cli' | 'headless', ...args: readonly string[]) {
  const child = spawn(process.execPath, [join(bundle, `${name}.js`), ...args], {
    env: { ...process.env, NOMOS_HOME: home, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  hosts.add(child)
  let out = ''
  let err = ''
  let wake = () => {}
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8')
    wake()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString('utf8')
    wake()
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, out, err })))
  const said = async (pattern: RegExp): Promise<void> => {
    let over = false
    void ended.then(() => {
      over = true
      wake()
    })
    while (!pattern.test(out + err)) {
      if (over) throw new Error(`it ended before it said ${pattern}: ${out}${err}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { child, ended, said }
}

async function json<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse((await start('cli', ...args, '--json').ended).out) as T
}

async function waiting(command: string): Promise<ExecutionView> {
  const until = Date.now() + 30_000
  for (;;) {
    const found = (await json<ExecutionView[]>('approvals', 'pending')).find((view) => view.command === command)
    if (found !== undefined) return found
    if (Date.now() > until) throw new Error(`it does not wait: ${(await start('cli', 'executions', 'list').ended).out}`)
  }
}

async function approve(view: ExecutionView): Promise<void> {
  const operator = new Operator(bundle, home, `approvals approve ${view.approval?.id}`)
  if (view.approval?.outcome === 'confirm') {
    await operator.sees(/Type .+ to approve/)
    operator.types(`${view.approval.phrase}\r`)
  }
  await operator.typesCode()
  expect(await operator.exit).toBe(0)
}

describe.runIf(process.platform === 'linux')('the host without a window', () => {
  it('runs what an operator approves at a terminal, takes no answer from a run, and stops cleanly', async () => {
    const host = start('headless')
    await host.said(/runs without a window; its folder is .+approvals watch\n/)

    const asked = start('cli', 'run', 'local', '--why', 'to see', 'echo made; exit 5 > /dev/null')
    await approve(await waiting('echo made; exit 5 > /dev/null'))
    expect(await asked.ended).toMatchObject({ code: 5, out: 'made\n' })

    // A run that opens a terminal of its own and asks for the code there.
    const file = join(bundle, 'evil')
    const target = start('cli', 'run', 'local', `touch ${file}`)
    const evil = await waiting(`touch ${file}`)
    const inner = `NOMOS_HOME=${home} '${process.execPath}' ${bundle}/cli.js approvals approve ${evil.approval?.id}`
    const nested = `script -qec "${inner}" /dev/null`
    const attack = start('cli', 'run', 'local', nested)
    await approve(await waiting(nested))
    expect((await attack.ended).out).toMatch(/Refused to take this answer .+ run/)
    expect((await json<ExecutionView>('executions', 'show', evil.id)).state).toBe('pending_approval')
    const entries = await json<LedgerEntry[]>('ledger', 'tail')
    expect(entries.filter(({ kind }) => kind === 'approval.refused')).toHaveLength(1)
    expect((await start('cli', 'executions', 'cancel', evil.id).ended).code).toBe(0)
    expect((await target.ended).code).toBe(1)
    expect(existsSync(file)).toBe(false)

    const second = await start('headless').ended
    expect(second).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Another Nomos uses') })

    host.child.kill('SIGTERM')
    expect((await host.ended).code).toBe(0)
    expect(existsSync(join(home, 'run', 'control.sock'))).toBe(false)
    expect((await start('cli', 'ledger', 'verify').ended).out).toMatch(/^intact, \d+ entries\n$/)
  }, 60_000)

  it('changes the policy at a terminal: always, for a time, as a whole and back', async () => {
    const host = start('headless')
    await host.said(/runs without a window/)
    const nomos = (...args: readonly string[]) => start('cli', ...args).ended
    const operate = async (words: string) => {
      const operator = new Operator(bundle, home, words)
      await operator.typesCode()
      const exit = await operator.exit
      if (exit !== 0) throw new Error(`${words}: ${operator.shown}`)
      return operator.shown
    }
    const file = join(bundle, 'made')
    const touch = `touch ${file}`

    // Allowed for always, it runs unasked, until its entry is taken out.
    const first = nomos('run', 'local', touch)
    const shown = await operate(`approvals approve ${(await waiting(touch)).approval?.id} --always --expires 1h`)
    expect(shown).toMatch(/From now on unasked, for main at local, until .*60 min left/)
    expect(shown).toContain(`touch ${file}`)
    expect(await first).toMatchObject({ code: 0 })
    expect(await nomos('run', 'local', touch)).toMatchObject({ code: 0, err: '' })
    const [entry] = await json<AllowlistEntryView[]>('approvals', 'allowlist', 'list')
    expect(entry).toMatchObject({ source: 'approval', problem: null, warnings: [] })
    await operate(`approvals allowlist remove ${entry?.id}`)
    const again = nomos('run', 'local', touch)
    expect((await nomos('executions', 'cancel', (await waiting(touch)).id)).code).toBe(0)
    expect((await again).code).toBe(1)

    // A pipe is asked about; with a grant for reads it is not.
    const pipe = 'uname -s | sort'
    await operate('grants add local reads --for 10m')
    expect(await nomos('run', 'local', pipe)).toMatchObject({ code: 0, out: 'Linux\n' })
    const [grant] = await json<GrantView[]>('grants', 'list')
    await operate(`grants revoke ${grant?.id}`)
    const asked = nomos('run', 'local', pipe)
    expect((await nomos('executions', 'cancel', (await waiting(pipe)).id)).code).toBe(0)
    await asked

    // The file as a whole; an edit that started from another version is refused.
    const { version, text } = await json<{ version: string; text: string }>('approvals', 'get')
    const next = join(home, 'next.json')
    writeFileSync(next, JSON.stringify({ ...JSON.parse(text), defaults: { ask: 'always' } }))
    expect(await operate(`approvals set --file ${next} --base ${version}`)).toMatch(/\+ .*"ask": "always"/)
    expect((await nomos('exec-policy', 'show')).out).toMatch(
      /ask +on-miss \(built-in\) +always \(defaults\) +always \(host\)/,
    )
    const stale = new Operator(bundle, home, `approvals set --file ${next} --base ${version}`)
    await stale.sees(/no longer the version/)
    expect(await stale.exit).toBe(1)

    // A preset holds at the next decision, in both files; undo brings back what was.
    await operate('exec-policy preset deny-all')
    expect(await nomos('run', 'local', 'uname')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('denied'),
    })
    await operate('exec-policy undo')
    await operate('exec-policy set ask=inherit --layer host')
    expect(await nomos('run', 'local', 'uname')).toMatchObject({ code: 0, out: 'Linux\n' })

    const kinds = (await json<LedgerEntry[]>('ledger', 'tail')).filter(({ kind }) => kind === 'policy.changed')
    expect(kinds.length).toBeGreaterThanOrEqual(6)
    host.child.kill('SIGTERM')
    expect((await host.ended).code).toBe(0)
    // Without it, the same is read from the files.
    expect((await nomos('exec-policy', 'show')).out).toMatch(
      /ask +on-miss \(built-in\) +on-miss \(built-in\) +on-miss \(both\)/,
    )
  }, 120_000)

  it('requests changes, tells a later answer by whom and when, finds it again in the history, and flips switches', async () => {
    const host = start('headless')
    await host.said(/runs without a window/)
    const nomos = (...args: readonly string[]) => start('cli', ...args).ended
    const operate = async (words: string) => {
      const operator = new Operator(bundle, home, words)
      await operator.typesCode()
      const exit = await operator.exit
      if (exit !== 0) throw new Error(`${words}: ${operator.shown}`)
      return operator.shown
    }
    const touch = `touch ${join(bundle, 'changed')}`
    const asked = nomos('run', 'local', touch)
    const waits = await waiting(touch)
    const id = waits.approval?.id ?? ''
    expect(await operate(`approvals changes ${id} write it elsewhere`)).toContain('Affects:')
    expect(await asked).toMatchObject({ code: 1, err: expect.stringContaining('is denied') })

    const late = new Operator(bundle, home, `approvals approve ${id}`)
    await late.sees(/was denied by operator \(command line\) \d+ s ago: write it elsewhere\./)
    expect(await late.exit).toBe(1)

    const found = async (...filter: readonly string[]) => (await nomos('approvals', 'history', ...filter)).out
    const line = new RegExp(
      `^${id} .* denied, answered by operator \\(command line\\) .*touch .*note: write it elsewhere`,
    )
    expect(await found()).toMatch(line)
    expect(await found('--text', 'CHANGED', '--surface', 'cli', '--state', 'denied', '--target', 'local')).toMatch(line)
    const none = 'Nothing like that was asked about and has ended.\n'
    expect(await Promise.all([found('--text', 'nowhere'), found('--surface', 'window')])).toEqual([none, none])

    // A read runs by itself, until a switch says otherwise.
    expect(await nomos('run', 'local', 'uname')).toMatchObject({ code: 0, out: 'Linux\n' })
    for (const words of ['pause-automatic', 'never-auto local']) {
      await operate(`switches ${words} on`)
      const read = nomos('run', 'local', 'uname')
      expect((await nomos('executions', 'cancel', (await waiting('uname')).id)).code, words).toBe(0)
      expect((await read).code, words).toBe(1)
      expect(await operate(`switches ${words} off`)).toMatch(
        /pause-automatic +off[\s\S]*ask-about[a-z-]+ +off[\s\S]*never-auto +off/,
      )
    }
    const unknown = new Operator(bundle, home, 'switches never-auto host:nowhere on')
    await unknown.typesCode()
    await unknown.sees(/host:nowhere/)
    expect(await unknown.exit).toBe(1)
    host.child.kill('SIGTERM')
    expect((await host.ended).code).toBe(0)
  }, 120_000)

  it('says what blocks it, and an operator resolves it at a terminal', async () => {
    writeFileSync(join(home, 'nomos.db'), Buffer.alloc(9000, 0x5a))
    const host = start('headless')
    await host.said(/doctor resolve database_corrupt set-aside/)
    expect((await start('cli', 'doctor').ended).code).toBe(1)
    const operator = new Operator(bundle, home, 'doctor resolve database_corrupt set-aside')
    const [, code] = await operator.sees(/within a minute: (\w{6}) > /)
    operator.types(`${code}\r`)
    expect(await operator.exit).toBe(0)
    expect((await start('cli', 'doctor').ended).out).toContain('Problems that stop runs: none')
    expect(existsSync(join(home, 'quarantine'))).toBe(true)
  }, 60_000)
})
