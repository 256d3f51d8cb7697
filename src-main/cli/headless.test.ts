import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionView, LedgerEntry } from '../../src-preload/contract/model'
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
  const until = Date.now() + 10_000
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
