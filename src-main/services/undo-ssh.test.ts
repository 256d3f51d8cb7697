import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canMakeAccounts, type Sshd, sshdPath, startSshd } from '../../e2e/support/sshd'
import type { ExecutionView } from '../../src-preload/contract/model'
import type { SshPlaces } from '../adapters/ssh'
import { hostOf, runnerFor } from '../adapters/ssh/testbed'
import { createTestbed, type Testbed } from './testbed'

describe.skipIf(sshdPath() === null)('undo at a host', () => {
  let sshd: Sshd
  let runner: SshPlaces
  let bed: Testbed

  beforeAll(async () => {
    sshd = await startSshd(canMakeAccounts() ? { account: { shell: '/bin/bash' } } : {})
  })
  afterAll(() => sshd.stop())
  beforeEach(async () => {
    ;({ runner } = await runnerFor(sshd))
    bed = createTestbed({ undo: true, runner, inspector: runner })
    bed.store.saveHost(hostOf(sshd), null, 0)
  })
  afterEach(async () => {
    await bed.stop()
    await runner.close()
  })

  const at = (name: string): string => join(sshd.home, name)
  function put(name: string, content: string | Uint8Array): void {
    writeFileSync(at(name), content)
    spawnSync('chown', [`${sshd.user}:`, at(name)])
  }

  async function done(asked: ExecutionView): Promise<ExecutionView> {
    if (asked.state === 'pending_approval') await bed.approve(asked, asked.approval?.phrase ?? null)
    const ended = await bed.until(asked.id, 'completed', 'failed', 'denied')
    const deadline = Date.now() + 15_000
    while (bed.store.undoKept(asked.id).some(({ after }) => after === null) && Date.now() < deadline)
      await new Promise((go) => setTimeout(go, 5))
    return ended
  }
  const ask = (command: string, cwd: string | null = null): Promise<ExecutionView> =>
    bed.ask(command, { target: 'host:test', cwd })
  async function undo(execution: ExecutionView): Promise<ExecutionView> {
    const { command, purpose, input } = await bed.undo.request(execution)
    return done(await bed.ask(command, { target: 'host:test', purpose, input, undoOf: execution.id }))
  }

  it('brings files back byte for byte, also from the folder of the login', async () => {
    const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * 31 + (i >> 8)) & 255))
    put("it's one", bytes)
    put('two', 'no end')
    const asked = await ask(`echo new > "it's one" && rm two && chmod 600 "it's one"`)
    expect(asked.undo).toMatchObject({ verdict: 'whole' })
    expect(asked.undo?.items[0]).toMatchObject({ subject: at("it's one"), bytes: 50_000 })
    const mode = statSync(at("it's one")).mode
    const changed = await done(asked)
    expect(changed.state).toBe('completed')
    const undone = await undo(changed)
    expect([undone.stateReason, undone.state]).toEqual([null, 'completed'])
    expect(readFileSync(at("it's one")).equals(bytes)).toBe(true)
    expect(readFileSync(at('two'), 'utf8')).toBe('no end')
    expect(statSync(at("it's one")).mode).toBe(mode)
    expect(bed.undo.stateOf(bed.store.execution(changed.id) ?? changed)?.sentence).toBe('It was put back.')
  })

  it.runIf(canMakeAccounts())('has everything else back before an owner that it may not give', async () => {
    writeFileSync(at('f'), 'of the group of root', { mode: 0o640 })
    spawnSync('chown', [sshd.user, at('f')])
    put('g', 'g')
    const changed = await done(await ask('rm -f f g'))
    const undone = await undo(changed)
    expect(undone).toMatchObject({ state: 'failed', output: expect.stringContaining('chown') })
    expect([readFileSync(at('f'), 'utf8'), readFileSync(at('g'), 'utf8')]).toEqual(['of the group of root', 'g'])
    expect(statSync(at('f')).mode & 0o7777).toBe(0o640)
    expect(bed.undo.stateOf(changed)?.state).toBe('ready')
  })

  it.runIf(canMakeAccounts())('says that a file cannot be read by the account', async () => {
    writeFileSync(at('roots'), 'x', { mode: 0o600 })
    const asked = await ask(`echo x > ${at('roots')}`)
    expect(asked.undo?.items[0]?.sentence).toBe(`It cannot be read as ${sshd.user}, so it is not kept.`)
    rmSync(at('roots'))
  })

  it('is not logged in to where reads are asked about', async () => {
    put('f', 'one')
    bed.policy.switches = { askAboutEverything: true, pauseAutomatic: false }
    const before = sshd.log()
    const asked = await ask('echo two > f')
    expect(asked).toMatchObject({
      state: 'pending_approval',
      undo: { verdict: 'unknown', sentence: expect.stringContaining('The policy does not let anything be read there') },
    })
    expect(sshd.log()).toBe(before)
  })

  it('puts nothing back at another machine of the same name', async () => {
    put('f', 'one')
    const changed = await done(await ask('echo two > f'))
    bed.store.saveHost(hostOf(sshd, { user: 'somebody' }), 'test', 1)
    await expect(bed.undo.request(changed)).rejects.toThrow('another machine or another user')
  })

  it('a host that cannot be reached offers nothing and says so', async () => {
    bed.store.saveHost(hostOf(sshd, { slug: 'gone', port: 1 }), null, 0)
    const asked = await bed.ask('echo x > f', { target: 'host:gone' })
    // Its key is not known, so nobody is asked.
    expect(asked.state).toBe('failed')
    const key = sshd.knownHostsLine.split(' ').slice(1).join(' ')
    const other = await runnerFor(sshd, { known: `[127.0.0.1]:1 ${key}\n` })
    await bed.stop()
    bed = createTestbed({ undo: true, runner: other.runner, inspector: other.runner })
    bed.store.saveHost(hostOf(sshd, { port: 1 }), null, 0)
    const waiting = await ask('echo x > f')
    expect(waiting.state).toBe('pending_approval')
    expect(waiting.undo).toMatchObject({
      verdict: 'unknown',
      sentence: expect.stringContaining('could not be looked at'),
    })
    await other.runner.close()
  })
})
