import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionView, Principal } from '../../src-preload/contract/model'
import { createLocalRunner } from '../adapters/local'
import { createTestbed, OPERATOR, type Testbed } from './testbed'

let bed: Testbed
let scratch: string
beforeEach(() => {
  bed = createTestbed({ files: true })
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'nomos-scratch-')))
})
afterEach(async () => {
  await bed.stop()
  rmSync(scratch, { recursive: true, force: true })
})

const WINDOW = { surface: 'window' as const, operator: true }
const MCP: Principal = { kind: 'mcp', id: 'mcp:editor', session: null, turn: null }
const inSession = (session: string): Principal => ({ ...OPERATOR, session })
const place = (): string => join(bed.home, 'exec-approvals.json')
const host = (file: object): void => writeFileSync(place(), JSON.stringify({ version: 1, ...file }), { mode: 0o600 })
const config = (file: object): void => writeFileSync(join(bed.home, 'config.json'), JSON.stringify(file))
const stored = (agent = 'main') =>
  (JSON.parse(readFileSync(place(), 'utf8')).agents?.[agent]?.allowlist ?? []) as Record<string, unknown>[]
const always = (
  execution: ExecutionView,
  options: { expiresAt: number | null; scope: 'target' | 'session' } = { expiresAt: null, scope: 'target' },
  caller: { surface: 'window' | 'notification' | 'mcp'; operator: boolean } = WINDOW,
) => bed.desk.answerAlways(caller, execution.approval?.id ?? '', options, execution.approval?.digest ?? '')
const rules = (execution: ExecutionView) => execution.decision.trace.map(({ rule }) => rule)
const changes = () =>
  bed.store
    .ledgerPage(null, 200)
    .filter(({ kind }) => kind === 'policy.changed')
    .map(({ data }) => data)

/** A program of the test's own; prints what it is. */
function program(name: string, says = 'one'): string {
  const path = join(scratch, name)
  writeFileSync(path, `#!/bin/sh\necho ${says} "$@" >> ${join(scratch, 'said')}\n`, { mode: 0o755 })
  chmodSync(path, 0o755)
  return path
}
const said = (): string => {
  try {
    return readFileSync(join(scratch, 'said'), 'utf8')
  } catch {
    return ''
  }
}

describe('allow always', () => {
  it('runs it, stores exactly these words, and the next one runs unasked', async () => {
    const command = `mkdir -p ${join(scratch, 'made')}`
    const asked = await bed.ask(command)
    expect(await bed.real.desk.alwaysOffer(asked)).toMatchObject({
      refusal: null,
      entries: [{ scope: { target: 'local' } }],
    })
    expect((await always(asked)).state).toBe('approved')
    await bed.until(asked.id, 'completed')
    expect(stored()).toMatchObject([
      { pattern: expect.stringMatching(/mkdir$/), source: 'approval', commandText: command },
    ])

    const again = await bed.until((await bed.ask(command)).id, 'completed')
    expect(again.approval).toBeNull()
    expect(rules(again)).toContain(`allowlist:${stored()[0]?.id}`)
    // Other words are other words, and another agent is another one.
    expect((await bed.ask(`${command}2`)).state).toBe('pending_approval')
    expect((await bed.ask(`${command} ${scratch}`)).state).toBe('pending_approval')
    for (const id of [MCP.id, 'main', 'runbook:main'])
      expect((await bed.ask(command, {}, { ...MCP, id })).state).toBe('pending_approval')
    expect(changes()).toMatchObject([{ what: expect.stringContaining('always allowed') }])
    expect(bed.store.verifyLedger().intact).toBe(true)
  })

  it('stores nothing when the program is another one than on the card', async () => {
    host({})
    const [one, two] = [program('one'), program('two', 'two')]
    const tool = join(scratch, 'tool')
    symlinkSync(one, tool)
    const asked = await bed.ask(`${tool} x`)
    rmSync(tool)
    symlinkSync(two, tool)
    expect(await bed.real.desk.alwaysOffer(asked)).toMatchObject({
      entries: [],
      refusal: expect.stringContaining('changed since'),
    })
    await expect(always(asked)).rejects.toThrow(/Nothing was answered/)
    expect(stored()).toEqual([])
    expect(said()).toBe('')
  })

  it('does not withdraw what else is waiting', async () => {
    const first = await bed.ask(`mkdir -p ${join(scratch, 'a')}`)
    const other = await bed.ask(`touch ${join(scratch, 'b')}`)
    await always(first)
    bed.approve(other)
    expect((await bed.until(other.id, 'completed', 'denied')).state).toBe('completed')
  })

  it('ends when it was said to end, and holds in its session only', async () => {
    const command = `mkdir -p ${join(scratch, 'made')}`
    const asked = await bed.ask(command, {}, inSession('s1'))
    await always(asked, { expiresAt: bed.clock.now() + 60_000, scope: 'session' })
    await bed.until(asked.id, 'completed')
    await bed.until((await bed.ask(command, {}, inSession('s1'))).id, 'completed')
    expect((await bed.ask(command, {}, inSession('s2'))).state).toBe('pending_approval')
    bed.clock.move(60_001)
    expect((await bed.ask(command, {}, inSession('s1'))).state).toBe('pending_approval')
    await expect(
      always(await bed.ask(`touch ${scratch}/x`), { expiresAt: bed.clock.now() - 1, scope: 'target' }),
    ).rejects.toThrow(/lies in the past/)
  })

  it('is refused with the reason, and then nothing is settled', async () => {
    for (const [command, words] of [
      [`bash -c "touch ${scratch}/x"`, /Nothing was answered/],
      [`touch ${scratch}/x > ${scratch}/y`, /only known when it runs/],
      ['git -C /tmp commit -m x', /git/],
      [`sudo -u nobody touch ${scratch}/x`, /Nothing was answered/],
      [`touch ${scratch}/$(id -un)`, /only known when it runs/],
    ] as const) {
      const asked = await bed.ask(command)
      expect([command, asked.state]).toEqual([command, 'pending_approval'])
      await expect(always(asked)).rejects.toThrow(words)
      expect(bed.store.approval(asked.approval?.id ?? '')?.state).toBe('pending')
    }
    const gone = await bed.ask(`rm -rf ${scratch}/x`)
    await expect(always(gone)).rejects.toThrow(/typed phrase is never allowed for always/)
    const plain = await bed.ask(`touch ${scratch}/z`)
    await expect(always(plain, undefined, { surface: 'notification', operator: true })).rejects.toThrow(/on the card/)
    await expect(always(plain, undefined, { surface: 'mcp', operator: false })).rejects.toThrow(/Only the operator/)
    host({ defaults: { ask: 'always' } })
    await expect(always(await bed.ask(`touch ${scratch}/w`))).rejects.toThrow(/asks about every command/)
  })

  it('in a pipe stores what is not let through already', async () => {
    const asked = await bed.ask(`mkdir -pv ${scratch}/p | head -n 3`)
    const offer = await bed.real.desk.alwaysOffer(asked)
    expect(offer.entries.map(({ pattern }) => pattern)).toEqual([expect.stringMatching(/mkdir$/)])
    await always(asked)
    await bed.until(asked.id, 'completed')
    const again = await bed.until((await bed.ask(`mkdir -pv ${scratch}/p | head -n 3`)).id, 'completed')
    expect(rules(again)).toContain('safe-bin:head')
  })

  it('says so when the file cannot be written; it has run this once', async () => {
    host({})
    writeFileSync(join(bed.home, 'backups'), 'where a folder should be')
    const asked = await bed.ask(`mkdir -p ${join(scratch, 'made')}`)
    await expect(always(asked)).rejects.toThrow(/runs this once, but nothing was stored/)
    expect((await bed.until(asked.id, 'completed')).approval?.state).toBe('approved')
    expect(stored()).toEqual([])
  })
})

describe('an allowlist', () => {
  const ls = { id: 'ls', pattern: '/**/touch' }

  it('never lowers what cannot be undone or reaches Nomos, and sees no word it cannot know', async () => {
    host({ agents: { main: { allowlist: [ls, { id: 'rm', pattern: '/**/rm' }] } } })
    expect((await bed.ask(`touch ${scratch}/a`)).approval).toBeNull()
    expect((await bed.ask(`rm -rf ${scratch}/a`)).approval?.outcome).toBe('confirm')
    expect((await bed.ask(`touch ${bed.home}/exec-approvals.json`)).approval?.outcome).toBe('confirm')
    for (const command of [`touch ${scratch}/a > ${scratch}/b`, `touch $(echo x)`, `touch ${scratch}/a &`])
      expect([command, (await bed.ask(command)).state]).toEqual([command, 'pending_approval'])
    // A variable may make another program of it.
    expect((await bed.ask(`touch ${scratch}/a`, { env: { LD_PRELOAD: '/tmp/x.so' } })).state).toBe('pending_approval')
  })

  it('counts at once when an editor changes the file, and remembers when it was used', async () => {
    const tool = program('tool')
    host({ agents: { main: { allowlist: [{ id: 'own', pattern: tool, note: 'kept' }] } } })
    const ran = await bed.until((await bed.ask(`${tool} a`)).id, 'completed')
    expect(ran.approval).toBeNull()
    const before = bed.real.policy.layers('main', null).version
    await bed.real.policy.flush()
    expect(stored()[0]).toMatchObject({ note: 'kept', lastUsedCommand: `${tool} a`, lastResolvedPath: tool })
    expect(bed.real.policy.layers('main', null).version).toBe(before)
    expect(bed.real.desk.inspect('main', 'local', null).allowlist[0]?.lastUsedAt).toBeGreaterThan(0)
    host({ agents: { main: { allowlist: [] } } })
    expect((await bed.ask(`${tool} a`)).state).toBe('pending_approval')
  })

  it('is relied on word for word: another entry, or another file, between the request and its start runs nothing', async () => {
    const tool = program('tool')
    const local = createLocalRunner()
    let between = () => {}
    let looks = 0
    await bed.stop()
    bed = createTestbed({
      files: true,
      runner: {
        ...local,
        prepare(draft) {
          looks += 1
          if (looks === 2) between()
          return local.prepare(draft)
        },
      },
    })
    const entry = { id: 'own', pattern: tool }
    for (const [change, words] of [
      [() => host({ agents: { main: { allowlist: [] } } }), 'the policy'],
      [() => host({ agents: { main: { allowlist: [{ ...entry, argPattern: 'a' }] } } }), 'the policy'],
      [() => program('tool', 'two'), 'program file'],
      [() => bed.real.policy.setSwitch('pauseAutomatic', true, 'operator'), 'switch'],
    ] as const) {
      host({ agents: { main: { allowlist: [entry] } } })
      looks = 0
      between = change
      const asked = await bed.ask(`${tool} a`)
      expect(await bed.until(asked.id, 'denied', 'completed', 'failed')).toMatchObject({
        state: 'denied',
        failure: 'drift',
        stateReason: expect.stringContaining(words),
      })
    }
    expect(said()).toBe('')
    bed.real.policy.setSwitch('pauseAutomatic', false, 'operator')
    looks = 2
    await bed.until((await bed.ask(`${tool} b`)).id, 'completed')
    expect(said()).toBe('two b\n')
  })

  it('matches a bare name through PATH only, and a skill only while it is switched on', async () => {
    await bed.stop()
    bed = createTestbed({ files: true, skills: [{ skill: 'notes', bins: ['mkdir'] }] })
    host({ agents: { main: { allowlist: [{ id: 'bare', pattern: 'touch' }] } } })
    expect((await bed.ask(`touch ${scratch}/a`)).approval).toBeNull()
    expect((await bed.ask(`./touch ${scratch}/a`, { cwd: '/usr/bin' })).state).toBe('pending_approval')
    expect((await bed.ask(`mkdir -p ${scratch}/s`)).state).toBe('pending_approval')
    host({ defaults: { autoAllowSkills: true } })
    expect(rules(await bed.ask(`mkdir -p ${scratch}/t`))).toContain('skill:notes')
  })
})

describe('the layers', () => {
  it('deny everything on either side, whatever else is said', async () => {
    for (const set of [
      () => host({ defaults: { security: 'deny' }, agents: { main: { allowlist: [{ pattern: 'uname' }] } } }),
      () => {
        rmSync(place(), { force: true })
        config({ tools: { exec: { security: 'deny' } } })
      },
      () => config({ tools: { deny: ['run'] } }),
      () => config({ agents: { main: { tools: { deny: ['run'] } } } }),
    ]) {
      set()
      expect(await bed.ask('uname -s')).toMatchObject({ state: 'denied', failure: 'policy' })
    }
  })

  it('with full and off ask nothing, but never destroy while the risk gate is on', async () => {
    host({ defaults: { security: 'full', ask: 'off' } })
    config({ tools: { exec: { security: 'full', ask: 'off' } } })
    expect((await bed.until((await bed.ask(`touch ${scratch}/a`)).id, 'completed')).approval).toBeNull()
    expect((await bed.ask(`rm -rf ${scratch}/a`)).approval?.outcome).toBe('confirm')
    host({ defaults: { security: 'full', ask: 'off', riskGate: false } })
    expect((await bed.ask(`rm -rf ${scratch}/b`)).approval?.outcome).toBe('confirm')
    config({ tools: { exec: { security: 'full', ask: 'off', riskGate: false } } })
    expect((await bed.until((await bed.ask(`rm -rf ${scratch}/c`)).id, 'completed')).approval).toBeNull()
    // Law 9 holds even then.
    expect((await bed.ask(`rm -rf ${bed.home}/x`)).approval?.outcome).toBe('confirm')
    expect(bed.real.policy.show('main').open).toBe(true)
  })

  it('/elevated raises a session as far as the host lets it, for that session, until it ends', async () => {
    host({ defaults: { security: 'full', ask: 'off' } })
    const one = inSession('s1')
    expect((await bed.ask(`touch ${scratch}/a`, {}, one)).state).toBe('pending_approval')
    bed.real.policy.setSession('s1', { elevated: true }, 'operator')
    expect(bed.real.policy.show('main').elevated).toEqual(['s1'])
    expect((await bed.ask(`touch ${scratch}/b`, {}, one)).approval).toBeNull()
    expect((await bed.ask(`touch ${scratch}/b`, {}, inSession('s2'))).state).toBe('pending_approval')
    expect((await bed.ask(`rm -rf ${scratch}/b`, {}, one)).approval?.outcome).toBe('confirm')
    host({ defaults: { security: 'allowlist' } })
    expect((await bed.ask(`touch ${scratch}/c`, {}, one)).state).toBe('pending_approval')
    host({ defaults: { security: 'full', ask: 'off' } })
    bed.real.policy.setSession('s1', { elevated: false }, 'operator')
    expect((await bed.ask(`touch ${scratch}/d`, {}, one)).state).toBe('pending_approval')
    bed.real.policy.setSession('s1', { ask: 'always' }, 'operator')
    expect((await bed.ask('uname -s', {}, one)).state).toBe('pending_approval')
    expect(changes().filter(({ session }) => session === 's1')).toMatchObject([
      { ask: 'always' },
      { elevated: false },
      { elevated: true },
    ])
    // What was typed stays over a restart, the broken glass does not.
    bed.real.policy.setSession('s1', { elevated: true }, 'operator')
    bed = bed.restart()
    expect(bed.real.policy.session('s1')).toEqual({ ask: 'always' })
  })

  it('a plan agreed to under another policy does not run', async () => {
    const asked = await bed.ask(`touch ${scratch}/a`)
    host({ defaults: { security: 'deny' } })
    bed.approve(asked)
    expect(await bed.until(asked.id, 'denied')).toMatchObject({
      failure: 'drift',
      stateReason: expect.stringContaining('the policy'),
    })
    host({})
    const other = await bed.ask(`touch ${scratch}/b`)
    // A comment, an entry for somebody else: the same policy.
    writeFileSync(place(), '// looked at\n{ version: 1, agents: { "mcp:x": { allowlist: [{ pattern: "df" }] } } }')
    bed.approve(other)
    expect((await bed.until(other.id, 'completed', 'denied')).state).toBe('completed')
  })

  it('a broken file closes everything and can be restored', async () => {
    host({ defaults: { ask: 'always' } })
    expect((await bed.ask('uname -s')).state).toBe('pending_approval')
    writeFileSync(place(), '{ "version": 1, "defaults": { "ask": "sometimes" } }')
    await expect(bed.ask('uname -s')).rejects.toThrow(
      /"defaults\.ask" is "sometimes"; it may be "off", "on-miss", "always"/,
    )
    expect(bed.health.list()[0]?.actions.map(({ id }) => id)).toEqual(['recheck', 'restore', 'set-aside'])
    await bed.health.act('approvals_file_broken', 'restore')
    expect(bed.health.list()).toEqual([])
    expect(JSON.parse(readFileSync(place(), 'utf8'))).toEqual({ version: 1, defaults: { ask: 'always' } })
    expect((await bed.ask('uname -r')).state).toBe('pending_approval')
    config({ tools: { exec: { security: 'fulll' } } })
    await expect(bed.ask('uname -s')).rejects.toThrow(/config\.json cannot be used/)
    expect(bed.real.policy.layers('main', null)).toMatchObject({
      toolDenied: true,
      layers: [{ layer: { security: 'deny' } }, {}],
    })
    await bed.health.act('config_file_broken', 'set-aside')
    expect(bed.health.list()).toEqual([])
    expect(changes().filter(({ restored, setAside }) => restored ?? setAside)).toHaveLength(2)
  })

  it('are the same with and without colours', async () => {
    for (const commandHighlighting of [true, false]) {
      config({ tools: { exec: { commandHighlighting } } })
      expect(bed.real.policy.highlighting('main')).toBe(commandHighlighting)
      const { decision, layers } = await bed.gate.weigh(
        { agent: 'main', session: null, runbook: null },
        { target: 'local', command: `touch ${scratch}/a | head`, cwd: null },
      )
      expect({ decision, version: layers.version }).toEqual({
        decision: (
          await bed.real.desk.simulate({
            command: `touch ${scratch}/a | head`,
            target: 'local',
            agent: 'main',
            session: null,
          })
        ).decision,
        version: layers.version,
      })
      const plain = await bed.gate.weigh(
        { agent: 'main', session: null, runbook: null },
        { target: 'local', command: `touch ${scratch}/a | head`, cwd: null },
        { host: null, config: null },
      )
      expect(plain.decision).toEqual(decision)
      expect(plain.layers.version).toBe(layers.version)
    }
  })

  it('changed from outside stand in the ledger, also those of a time when nobody looked', async () => {
    await bed.ask('uname -s')
    host({ defaults: { ask: 'always' } })
    await bed.ask('uname -s')
    expect(changes()).toMatchObject([{ changed: place(), from: 'absent' }])
    await bed.real.desk.save({ layer: 'host', agent: null, fields: { ask: 'on-miss' }, baseVersion: null })
    bed.real.policy.check()
    expect(changes()).toHaveLength(2)
    bed = bed.restart()
    bed.real.policy.check()
    expect(changes()).toHaveLength(2)
    rmSync(place())
    bed = bed.restart()
    bed.real.policy.check()
    expect(changes()).toMatchObject([{ to: 'absent' }, {}, {}])
  })

  it('take a folder for trusted that config.json names', async () => {
    program('cut')
    const env = process.env.PATH
    process.env.PATH = `${scratch}:${env}`
    await bed.stop()
    bed = createTestbed({ files: true })
    process.env.PATH = env
    const line = `mkdir -pv ${scratch}/p | cut -c 1`
    const ask = { command: line, target: 'local', agent: 'main', session: null }
    expect((await bed.real.desk.simulate(ask)).segments).toMatchObject([{}, { by: null, path: `${scratch}/cut` }])
    config({ tools: { exec: { safeBinTrustedDirs: [scratch] } } })
    expect((await bed.real.desk.simulate(ask)).segments).toMatchObject([{}, { by: 'safe-bin' }])
  })

  it('is what only the setting can send elsewhere', async () => {
    config({ tools: { exec: { host: 'node' } } })
    await expect(bed.ask('uname -s')).rejects.toThrow(/host=local while tools\.exec\.host is node/)
  })
})

describe('nobody to ask', () => {
  const asks = async (fallback: string | undefined): Promise<ExecutionView> => {
    await bed.stop()
    bed = createTestbed({ files: true, reachable: () => false })
    const fields = fallback === undefined ? {} : { askFallback: fallback }
    host({ defaults: { ...fields, ask: 'always' }, agents: { main: { allowlist: [{ id: 't', pattern: 'touch' }] } } })
    config({ tools: { exec: fields } })
    return bed.ask(`touch ${scratch}/f`)
  }
  it('waits unless the files say what to do', async () => {
    expect((await asks(undefined)).state).toBe('pending_approval')
    expect(await asks('deny')).toMatchObject({
      state: 'undeliverable',
      stateReason: expect.stringContaining('fallback'),
    })
    const listed = await asks('allowlist')
    expect(rules(await bed.until(listed.id, 'completed'))).toContain('ask-fallback')
    expect((await bed.ask(`mkdir ${scratch}/g`)).state).toBe('undeliverable')
    const open = await asks('full')
    await bed.until(open.id, 'completed')
    await bed.until((await bed.ask(`mkdir ${scratch}/h`)).id, 'completed')
    expect((await bed.ask(`rm -rf ${scratch}/h`)).state).toBe('undeliverable')
  })
})

describe('a grant', () => {
  const give = (more: object = {}) =>
    bed.real.desk.addGrant({ agent: 'main', target: 'local', kinds: ['reads'], minutes: 30, note: '', ...more })

  it('lets its kind through for its time, for its agent, and is gone at once when revoked', async () => {
    const line = 'uname -s && uptime'
    const waits = await bed.ask(line)
    expect(waits.state).toBe('pending_approval')
    bed.deny(waits)
    const grant = give()
    expect(bed.real.policy.grants()).toEqual([grant])
    const ran = await bed.until((await bed.ask(line)).id, 'completed')
    expect(rules(ran)).toContain(`grant:${grant.id}`)
    expect((await bed.ask(line, {}, MCP)).state).toBe('pending_approval')
    expect((await bed.ask(`touch ${scratch}/a`)).state).toBe('pending_approval')
    expect((await bed.ask(`rm -rf ${scratch}/a`)).approval?.outcome).toBe('confirm')
    bed.real.desk.revokeGrant(grant.id)
    expect((await bed.ask(`${line} && uname -r`)).state).toBe('pending_approval')
    expect(() => bed.real.desk.revokeGrant(grant.id)).toThrow(/run out or was revoked/)

    give({ minutes: 1 })
    await bed.until((await bed.ask('uname -m && uptime')).id, 'completed')
    bed.clock.move(60_001)
    expect((await bed.ask('uname -m && uptime')).state).toBe('pending_approval')
    expect(bed.real.policy.grants()).toEqual([])
    expect(changes()).toHaveLength(3)
  })

  it('for reads looks at the place as a single read does', async () => {
    give()
    const line = 'uname -s | sort'
    await bed.until((await bed.ask(line)).id, 'completed')
    for (const env of [{ LD_PRELOAD: '/tmp/x.so' }, { PATH: scratch }])
      expect((await bed.ask(line, { env })).state).toBe('pending_approval')
    program('sort')
    const path = process.env.PATH
    process.env.PATH = `${scratch}:${path}`
    process.env.ZZ_OWN = 'of the app'
    await bed.stop()
    bed = createTestbed({ files: true })
    process.env.PATH = path
    delete process.env.ZZ_OWN
    give()
    const kept = await bed.until((await bed.ask('env | head -n 100')).id, 'completed')
    expect(kept.output).toContain('PATH=')
    expect(kept.output).not.toContain('ZZ_OWN')
    expect((await bed.ask(line)).state).toBe('pending_approval')
    expect(said()).toBe('')
  })

  it('names what it cannot be given for', () => {
    expect(() => give({ kinds: ['everything'] })).toThrow(/"everything" cannot be granted\. Choose of: reads/)
    expect(() => give({ target: 'host:nowhere' })).toThrow(/host:nowhere/)
    expect(() => give({ target: 'group:web' })).toThrow(/No target has the tag "web"/)
  })
})

describe('the desk', () => {
  it('saves fields of a layer, refuses a stale edit showing both, and takes saves back', async () => {
    const { desk } = bed.real
    const first = await desk.save({ layer: 'host', agent: null, fields: { ask: 'always' }, baseVersion: 'absent' })
    expect(first).toMatchObject({ saved: true, backup: null, diff: expect.arrayContaining(['+     "ask": "always"']) })
    await expect(
      desk.save({ layer: 'host', agent: null, fields: { ask: 'off' }, baseVersion: 'absent' }),
    ).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(first.version),
      detail: expect.stringContaining('always'),
    })
    await desk.save({
      layer: 'both',
      agent: 'main',
      fields: { security: 'full', strictInlineEval: false },
      baseVersion: null,
    })
    expect(desk.inspect('main', 'local', null)).toMatchObject({
      host: { layer: { security: { value: 'full', from: 'agents.main' }, ask: { value: 'always', from: 'defaults' } } },
      requested: { layer: { security: { value: 'full', from: 'agents.main' }, strictInlineEval: { value: false } } },
      effective: { ask: { value: 'always', from: 'host' }, security: { value: 'full', from: 'both' } },
    })
    await expect(
      desk.save({ layer: 'host', agent: null, fields: { commandHighlighting: true }, baseVersion: null }),
    ).rejects.toThrow(/"fields\.commandHighlighting" is no field of the host's file/)
    await desk.save({ layer: 'host', agent: null, fields: { ask: null }, baseVersion: null })
    expect(desk.inspect('main', 'local', null).undo).toHaveLength(3)
    await desk.undo()
    await desk.undo()
    expect(desk.inspect('main', 'local', null)).toMatchObject({
      host: { layer: { security: { from: 'built-in' }, ask: { value: 'always' } } },
      requested: { layer: { security: { from: 'built-in' } } },
    })
    host({ defaults: { ask: 'off' } })
    await expect(desk.undo()).rejects.toMatchObject({ code: 'conflict' })
  })

  it('keeps socket and token, hides the token, and refuses another one', async () => {
    const { desk } = bed.real
    host({ socket: { path: '/run/x.sock', token: 'geheim' }, defaults: { ask: 'always' } })
    const { text, version } = desk.fileGet('host')
    expect(text).not.toContain('geheim')
    expect(text).toContain('/run/x.sock')
    await expect(desk.fileSet('host', '{ version: 1, ', version, false)).rejects.toThrow(/Nothing was saved/)
    await expect(desk.fileSet('host', '{ version: 1, socket: { token: "other" } }', version, false)).rejects.toThrow(
      /token/,
    )
    const dry = await desk.fileSet('host', '{ version: 1, defaults: { ask: "off" } }', version, true)
    expect(dry.saved).toBe(false)
    expect(dry.diff).toContain('-     "ask": "always"')
    expect(JSON.parse(readFileSync(place(), 'utf8')).defaults.ask).toBe('always')
    const saved = await desk.fileSet('host', '{ version: 1, defaults: { ask: "off" } }', version, false)
    expect(saved.backup && readFileSync(saved.backup, 'utf8')).toContain('always')
    expect(JSON.parse(readFileSync(place(), 'utf8'))).toEqual({
      version: 1,
      socket: { path: '/run/x.sock', token: 'geheim' },
      defaults: { ask: 'off' },
    })
    expect(JSON.stringify(bed.store.ledgerPage(null, 50))).not.toContain('geheim')
  })

  it('writes a preset into both files in one step and says which one holds', async () => {
    const { desk } = bed.real
    const active = () =>
      desk
        .inspect('main', 'local', null)
        .presets.filter((one) => one.active)
        .map(({ name }) => name)
    expect(active()).toEqual(['cautious'])
    for (const name of ['yolo', 'deny-all', 'allowlist', 'cautious'] as const) {
      await desk.preset(name, false)
      expect(active()).toEqual([name])
      expect(bed.real.policy.show('main').open).toBe(name === 'yolo')
    }
    await desk.undo()
    expect(active()).toEqual(['allowlist'])
  })

  it('denies every agent with deny-all, whatever its own part says', async () => {
    const { desk } = bed.real
    host({ agents: { main: { security: 'full', ask: 'off', allowlist: [{ id: 't', pattern: 'touch' }] } } })
    config({ agents: { main: { tools: { exec: { security: 'full', ask: 'off' } } } } })
    const ask = { command: 'uname -s', target: 'local', agent: 'main', session: null }
    const would = await desk.simulate({ ...ask, draft: { preset: 'deny-all' } })
    expect(would.decision.outcome).toBe('deny')
    await desk.preset('deny-all', false)
    expect((await bed.ask('uname -s')).state).toBe('denied')
    expect(stored()).toHaveLength(1)
    await desk.undo()
    await bed.until((await bed.ask('uname -s')).id, 'completed')
  })

  it('writes both files or none', async () => {
    const { desk } = bed.real
    host({ defaults: { ask: 'always' } })
    writeFileSync(join(bed.home, 'backups'), 'where a folder should be')
    await expect(desk.preset('yolo', false)).rejects.toThrow(/nothing was saved/)
    expect(desk.inspect('main', 'local', null)).toMatchObject({
      requested: { layer: { security: { from: 'built-in' } } },
      host: { layer: { ask: { value: 'always' }, security: { from: 'built-in' } } },
      undo: [],
    })
  })

  it('adds and removes entries with their warnings', async () => {
    const { desk } = bed.real
    const added = await desk.allowlistAdd('main', { pattern: '/usr/bin/touch', argPattern: 'x' }, null)
    expect(added).toMatchObject({ source: 'operator', problem: null, warnings: [expect.stringContaining('anywhere')] })
    expect(await desk.allowlistAdd('main', { pattern: '/usr/bin/touch', argPattern: '(' }, null)).toMatchObject({
      problem: expect.stringContaining('never matches'),
    })
    await expect(
      desk.allowlistAdd(
        'main',
        { pattern: 'curl', argPattern: 'Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789' },
        null,
      ),
    ).rejects.toThrow(/"entry\.argPattern" holds a secret/)
    await desk.allowlistRemove('main', added.id, null)
    expect(stored()).toHaveLength(1)
    await expect(desk.allowlistRemove('main', added.id, null)).rejects.toThrow(/no allowlist entry/)
  })

  it('simulates as it would decide, with a change that is not saved', async () => {
    const { desk } = bed.real
    const ask = { command: `touch ${scratch}/a | head`, target: 'local', agent: 'main', session: null }
    const now = await desk.simulate(ask)
    expect(now).toMatchObject({ decision: { outcome: 'ask' }, segments: [{ by: null }, { by: 'safe-bin' }] })
    const then = await desk.simulate({ ...ask, draft: { add: [{ pattern: 'touch' }] } })
    expect(then).toMatchObject({
      decision: { outcome: 'auto' },
      segments: [{ by: 'allowlist', entryId: 'draft-1' }, {}],
    })
    expect(await desk.simulate({ ...ask, draft: { preset: 'deny-all' } })).toMatchObject({
      decision: { outcome: 'deny' },
      effective: { security: { value: 'deny' } },
    })
    expect((await desk.simulate({ ...ask, command: 'touch $(x)' })).segments).toBeNull()
    expect(bed.store.executions({ before: null, limit: 10 })).toEqual([])
    expect(said()).toBe('')
  })

  it('replays what was asked for with a change', async () => {
    const { desk } = bed.real
    await bed.until((await bed.ask('uname -s')).id, 'completed')
    await bed.ask(`touch ${scratch}/a`)
    await bed.ask(`rm -rf ${scratch}/a`)
    await bed.ask(`touch ${scratch}/b`, {}, MCP)
    expect(await desk.replay('main', { add: [{ pattern: 'touch' }] }, 100)).toMatchObject({
      considered: 3,
      wouldNotAsk: 1,
      wouldAskMore: 0,
      destructiveAmongThem: 0,
    })
    expect(await desk.replay('main', { preset: 'yolo' }, 100)).toMatchObject({
      wouldNotAsk: 2,
      destructiveAmongThem: 1,
    })
    expect(await desk.replay('main', { preset: 'deny-all' }, 100)).toMatchObject({ wouldNotAsk: 0, wouldAskMore: 3 })
  })
})
