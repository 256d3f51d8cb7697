import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Envelope, type ExecutionView, routes } from '../src-preload/contract'
import { needsOperator } from './adapters/control-socket'
import { resourcesFolder } from './adapters/system'
import { type Core, createCore, HomeInUse, NO_SECRETS } from './compose'
import type { Handlers } from './services/api'

// @ts-expect-error a table of handlers in which one is missing does not compile
const incomplete: Handlers = {}
void incomplete

const WINDOW = { surface: 'window' as const, operator: true }
const STRANGER = { surface: 'cli' as const, operator: false }

let home: string
let core: Core
const open = () =>
  createCore({ home, resources: resourcesFolder(), version: '0.0.1', secrets: NO_SECRETS, headless: true })
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'nomos-core-'))
  core = open()
})
afterEach(async () => {
  await core.stop()
  rmSync(home, { recursive: true, force: true })
})

async function ask<T>(
  route: string,
  input: unknown,
  caller = WINDOW as { surface: 'window' | 'cli'; operator: boolean },
): Promise<Envelope<T>> {
  return (await core.dispatch(caller, route, input)) as Envelope<T>
}
async function value<T>(route: string, input: unknown): Promise<T> {
  const answer = await ask<T>(route, input)
  if (!answer.ok) throw new Error(`${route}: ${answer.error.code}: ${answer.error.message}`)
  return answer.value
}

describe('dispatch', () => {
  it('answers with an envelope whatever comes in', async () => {
    for (const route of [
      '',
      'nothing.here',
      '__proto__',
      'constructor',
      'toString',
      'app.snapshot\0',
      'x'.repeat(100_000),
    ]) {
      expect(await ask(route, {})).toMatchObject({ ok: false, error: { code: 'unknown_route' } })
    }
    for (const [name] of Object.entries(routes)) {
      for (const input of [undefined, null, 7, 'text', [], { unexpected: { deep: [1] } }]) {
        const answer = await ask(name, input)
        if (!answer.ok) expect(answer.error.code).not.toBe('internal')
      }
    }
  })

  it('names the field, and what is wrong with it', async () => {
    expect(
      await ask('executions.request', { target: 'local', command: 5, purpose: null, session: null }),
    ).toMatchObject({
      ok: false,
      error: { code: 'bad_input', field: 'command' },
    })
    const host = { slug: 'Web 1', address: '127.0.0.1', port: 22, user: 'root', auth: 'agent', keyPath: null, tags: [] }
    expect(await ask('hosts.save', { host, replaces: null })).toMatchObject({
      ok: false,
      error: { field: 'host.slug', message: expect.stringContaining('lower-case') },
    })
    expect(await ask('hosts.save', { host: { ...host, slug: 'web1', auth: 'key' }, replaces: null })).toMatchObject({
      ok: false,
      error: { field: 'host.keyPath' },
    })
    expect(await ask('settings.saveModel', { baseUrl: 'ftp://x', model: 'm', apiKey: null })).toMatchObject({
      ok: false,
      error: { field: 'baseUrl' },
    })
  })

  it('does for a stranger nothing that answers, changes or trusts', async () => {
    const { id } = await value<{ id: string }>('sessions.create', {})
    const waiting = await value<ExecutionView>('executions.request', {
      target: 'local',
      command: 'touch /tmp/never',
      purpose: null,
      session: id,
    })
    const host = {
      slug: 'web1',
      address: '127.0.0.1',
      port: 22,
      user: 'root',
      auth: 'agent' as const,
      keyPath: null,
      tags: [],
    }
    const attempts: [string, unknown][] = [
      [
        'approvals.answer',
        { id: waiting.approval?.id, answer: { kind: 'approve', phrase: null }, digest: waiting.approval?.digest },
      ],
      ['policy.setSwitch', { name: 'pauseAutomatic', on: true }],
      ['policy.setCompound', { compound: 'every-segment' }],
      ['policy.save', { layer: 'both', agent: null, fields: { security: 'full' }, baseVersion: null }],
      ['policy.allowlistAdd', { agent: 'main', entry: { pattern: '/**' }, baseVersion: null }],
      ['policy.allowlistRemove', { agent: 'main', id: 'x', baseVersion: null }],
      ['policy.fileSet', { file: 'host', text: '{ version: 1 }', baseVersion: null, dryRun: false }],
      ['policy.preset', { name: 'yolo', dryRun: false }],
      ['policy.undo', {}],
      ['policy.clearSession', { session: id }],
      ['grants.add', { agent: 'main', target: 'local', kinds: ['reads'], minutes: 5, note: null }],
      ['grants.revoke', { id: 'grt_1' }],
      ['hosts.save', { host, replaces: null }],
      ['hosts.remove', { slug: 'web1' }],
      ['hosts.test', { host, passphrase: null }],
      ['hosts.trust', { host, fingerprint: 'SHA256:x' }],
      ['settings.saveModel', { baseUrl: '', model: '', apiKey: null }],
      ['settings.savePreferences', { theme: 'dark', letterShortcuts: true }],
      ['executions.start', { id: waiting.id }],
      ['health.act', { code: 'ledger_broken', action: 'accept' }],
    ]
    for (const [route, input] of attempts) {
      expect([route, await ask(route, input, STRANGER)]).toMatchObject([
        route,
        { ok: false, error: { code: 'forbidden' } },
      ])
      expect(needsOperator(route as keyof typeof routes)).toBe(true)
    }
    // They may ask, but what was typed for a session is not theirs to use.
    const asked = { target: 'local', command: 'touch /tmp/never2', purpose: null }
    expect(await ask('executions.request', { ...asked, session: id }, STRANGER)).toMatchObject({
      error: { code: 'forbidden' },
    })
    expect(await ask('executions.request', { ...asked, session: null }, STRANGER)).toMatchObject({ ok: true })
    expect(await ask('executions.again', { id: waiting.id }, STRANGER)).toMatchObject({ value: { session: null } })
    expect(await value<ExecutionView>('executions.get', { id: waiting.id })).toMatchObject({
      state: 'pending_approval',
    })
    expect(existsSync('/tmp/never')).toBe(false)
  })
})

describe('the core', () => {
  it('keeps its folder to itself and lets no second core in', () => {
    expect(statSync(home).mode & 0o777).toBe(0o700)
    expect(statSync(join(home, 'nomos.db')).mode & 0o777).toBe(0o600)
    expect(statSync(join(home, 'keys', 'ledger.key')).mode & 0o777).toBe(0o600)
    expect(open).toThrow(HomeInUse)
  })

  it('shows one card for one execution and keeps a conversation in order', async () => {
    const { id } = await value<{ id: string }>('sessions.create', { title: 'try' })
    for (const text of ['/run local uname -s', '/run local touch /tmp/x', '/run local touch /tmp/x']) {
      await value('chat.send', { session: id, text })
    }
    const page = await value<{ messages: { role: string }[]; executions: ExecutionView[] }>('sessions.messages', {
      id,
      before: null,
      limit: 50,
    })
    expect(page.messages.map(({ role }) => role)).toEqual(['run', 'run'])
    expect(page.executions).toHaveLength(2)
    expect(await ask('chat.send', { session: id, text: '/run local' })).toMatchObject({
      ok: false,
      error: { field: 'command' },
    })
    expect(await ask('chat.send', { session: 'gone', text: 'hello' })).toMatchObject({
      ok: false,
      error: { code: 'not_found' },
    })
    await value('chat.send', { session: id, text: 'hello' })
    const after = await value<{ messages: { role: string; error: { code: string } | null }[] }>('sessions.messages', {
      id,
      before: null,
      limit: 50,
    })
    expect(after.messages.at(-1)).toMatchObject({ role: 'notice', error: { code: 'model_unset' } })
  })

  it('the switches make everything ask, and say so in the ledger', async () => {
    await value('policy.setSwitch', { name: 'askAboutEverything', on: true })
    const asked = await value<ExecutionView>('executions.request', {
      target: 'local',
      command: 'uname',
      purpose: null,
      session: null,
    })
    expect(asked.state).toBe('pending_approval')
    await value('policy.setSwitch', { name: 'askAboutEverything', on: false })
    const page = await value<{ entries: { kind: string }[] }>('ledger.page', { before: null, limit: 50 })
    expect(page.entries.filter(({ kind }) => kind === 'policy.changed')).toHaveLength(2)
  })

  it('nothing runs by itself on a target that is switched off, also after a restart, and it does again once that is taken back', async () => {
    const asks = async (): Promise<string> =>
      (
        await value<ExecutionView>('executions.request', {
          target: 'local',
          command: 'uname',
          purpose: null,
          session: null,
        })
      ).state
    await value('policy.setNeverAuto', { target: 'local', on: true })
    await core.stop()
    core = open()
    expect(await value<{ neverAuto: string[] }>('policy.show', {})).toMatchObject({ neverAuto: ['local'] })
    expect(await asks()).toBe('pending_approval')
    expect(await ask('policy.setNeverAuto', { target: 'host:none', on: true })).toMatchObject({
      ok: false,
      error: { code: 'target_unknown' },
    })
    expect(await ask('policy.setNeverAuto', { target: 'local', on: false }, STRANGER)).toMatchObject({
      ok: false,
      error: { code: 'forbidden' },
    })
    const [waiting] = await value<ExecutionView[]>('approvals.pending', {})
    expect(waiting?.decision.trace.some(({ rule }) => rule === 'never-auto')).toBe(true)
    await value('executions.cancel', { id: waiting?.id })
    await value('policy.setNeverAuto', { target: 'local', on: false })
    expect(['running', 'completed']).toContain(await asks())
  })

  it('a model key without a keyring stays in memory and out of every file', async () => {
    const key = 'sk-or-v1-0123456789abcdef0123456789abcdef'
    const view = await value<{ model: { keyStorage: string } }>('settings.saveModel', {
      baseUrl: 'http://127.0.0.1:9/v1',
      model: 'm',
      apiKey: key,
    })
    expect(view.model.keyStorage).toBe('memory')
    for (const name of readdirSync(home)) {
      const path = join(home, name)
      if (statSync(path).isFile()) expect(readFileSync(path).includes(key)).toBe(false)
    }
    await core.stop()
    core = open()
    expect(await value<{ model: { keyStorage: string } }>('settings.get', {})).toMatchObject({
      model: { keyStorage: 'none', model: 'm' },
    })
  })

  it('goes on after a damaged database was set aside, under a new boot', async () => {
    await core.stop()
    writeFileSync(join(home, 'nomos.db'), 'x'.repeat(10_000))
    core = open()
    const before = await value<{ boot: string; health: { code: string }[] }>('app.snapshot', {})
    expect(before.health.map(({ code }) => code)).toEqual(['database_corrupt'])
    expect(
      await ask('executions.request', { target: 'local', command: 'uname', purpose: null, session: null }),
    ).toMatchObject({
      ok: false,
      error: { code: 'runs_blocked' },
    })
    await value('health.act', { code: 'database_corrupt', action: 'set-aside' })
    const after = await value<{ boot: string; health: unknown[] }>('app.snapshot', {})
    expect(after.health).toEqual([])
    expect(after.boot).not.toBe(before.boot)
    expect(
      readdirSync(join(home, 'quarantine'))
        .map((name) => name.replace(/^.*Z-/, ''))
        .sort(),
    ).toEqual(['ledger.head', 'nomos.db'])
  })

  it('tells the doctor of a policy file that was mended a moment ago', async () => {
    const broken = async () =>
      (await value<{ status: string; found: string }[]>('doctor.run', {})).filter(({ found }) =>
        found.includes('config.json'),
      )
    writeFileSync(join(home, 'config.json'), '{ "tools": 1 }', { mode: 0o600 })
    expect((await broken()).map(({ status }) => status)).toContain('failed')
    writeFileSync(join(home, 'config.json'), '{}', { mode: 0o600 })
    expect((await broken()).map(({ status }) => status)).not.toContain('failed')
  })

  it('examines itself in numbered checks, each failed one with a remedy', async () => {
    const checks = await value<{ number: number; status: string; remedy: string | null }[]>('doctor.run', {})
    expect(checks.map(({ number }) => number)).toEqual(checks.map((_, index) => index + 1))
    for (const check of checks) if (check.status !== 'ok') expect(check.remedy).not.toBeNull()
  })
})
