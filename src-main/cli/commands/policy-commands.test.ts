import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NomosError } from '../../../src-preload/contract/errors'
import type { PolicyInspection } from '../../../src-preload/contract/model'
import { encodeArgv } from '../../domain/policy'
import { EXIT } from '../exits'
import { approvalOf, executionOf, type FakeApp, fakeApp } from '../fake-app.fixture'
import { type FakeIo, fakeIo, fakeTerminal } from '../fake-io.fixture'
import { withPolicy } from '../fake-policy.fixture'
import { bundleCommands, Operator } from '../operator.fixture'
import { run } from '../program'

let home: string
let app: FakeApp | null = null

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'npol-'))
})
afterEach(async () => {
  Operator.endAll()
  await app?.server.stop()
  app = null
  rmSync(home, { recursive: true, force: true })
})

async function start(change: Partial<PolicyInspection> = {}): Promise<FakeApp> {
  app = await fakeApp(home)
  withPolicy(app, home, change)
  return app
}

async function nomos(args: readonly string[], options: Partial<Parameters<typeof fakeIo>[0]> = {}) {
  const io: FakeIo = fakeIo({ home, ...options })
  return { exit: await run(args, io), out: io.out(), err: io.err() }
}

const host = (content: unknown) =>
  writeFileSync(join(home, 'exec-approvals.json'), typeof content === 'string' ? content : JSON.stringify(content), {
    mode: 0o600,
  })
const config = (content: unknown) => writeFileSync(join(home, 'config.json'), JSON.stringify(content), { mode: 0o600 })
const asked = (route: string) => app?.calls.filter((call) => call.route === route).map(({ input }) => input)

const HOST = {
  version: 1,
  socket: { path: '/run/x.sock', token: 'the-secret-token' },
  defaults: { ask: 'always' },
  agents: {
    main: {
      security: 'full',
      allowlist: [
        { id: 'al_rg', pattern: 'rg' },
        { id: 'al_status', pattern: '/usr/bin/systemctl', argPattern: 'status', scope: { target: 'host:web' } },
        { id: 'al_bad', pattern: '/usr/bin/df', argPattern: '(' },
        {
          id: 'al_exact',
          pattern: '/usr/bin/git',
          argPattern: encodeArgv(['log', '-n', 'a b']),
          expiresAt: 1_000,
          source: 'approval',
          lastUsedAt: 1_700_000_000_000,
          lastUsedCommand: 'git log -n "a b"',
        },
      ],
    },
  },
}

describe('without an app', () => {
  it('gets the file in its canonical form, without the token', async () => {
    host(`{ version: 1, /* ours */ socket: { token: 'the-secret-token' }, agents: { default: { ask: 'off' } } }`)
    const { exit, out, err } = await nomos(['approvals', 'get'])
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(JSON.parse(out)).toEqual({ version: 1, socket: {}, agents: { main: { ask: 'off' } } })
    const json = JSON.parse((await nomos(['approvals', 'get', '--json'])).out)
    expect(json).toMatchObject({ from: 'local', source: 'file', path: join(home, 'exec-approvals.json'), text: out })
  })

  it('gives something to begin with where no file is, and the text with the reason where it is broken', async () => {
    const none = await nomos(['approvals', 'get'])
    expect(none).toMatchObject({ exit: 0, err: expect.stringContaining('the built-in policy holds') })
    expect(JSON.parse(none.out)).toEqual({ version: 1 })
    host('{ "version": 1, "socket": { "token": "the-secret-token" }, "defaults": { "ask": "sometimes" } }')
    const { exit, out, err } = await nomos(['approvals', 'get'])
    expect({ exit, out }).toEqual({
      exit: 1,
      out: '{ "version": 1, "socket": { "token": "…" }, "defaults": { "ask": "sometimes" } }\n',
    })
    expect(err).toContain('defaults.ask')
    expect(err).toContain('"sometimes"')
    expect(err).toContain('on-miss')
  })

  it('shows requested, host and effective with their sources', async () => {
    host(HOST)
    config({
      tools: { exec: { security: 'full', ask: 'off' } },
      agents: { main: { tools: { exec: { riskGate: false } } } },
    })
    const { exit, out, err } = await nomos(['exec-policy', 'show'])
    expect(exit).toBe(0)
    const row = (name: string) => out.split('\n').find((line) => line.startsWith(`${name} `))
    expect(row('security')).toMatch(/full \(tools\.exec\) +full \(agents\.main\) +full \(both\)/)
    expect(row('ask')).toMatch(/off \(tools\.exec\) +always \(defaults\) +always \(host\)/)
    expect(row('riskGate')).toMatch(/off \(agents\.main\) +on \(built-in\) +on \(host\)/)
    expect(row('strictInlineEval')).toMatch(/on \(built-in\) +off \(built-in\) +on \(requested\)/)
    expect(out).toContain('4 entries, 3 with a note')
    expect(err).toContain('no app runs')
    expect(JSON.parse((await nomos(['exec-policy', 'show', '--agent', 'mcp:x', '--json'])).out)).toMatchObject({
      from: 'local',
      agent: 'mcp:x',
      effective: { security: { value: 'allowlist', from: 'host' } },
    })
  })

  it('says what denies when a file is broken, what is denied by a tool list, and what a node manages', async () => {
    host('{')
    config({ tools: { exec: { host: 'node' }, deny: ['run'] } })
    const { out } = await nomos(['exec-policy', 'show'])
    expect(out).toMatch(/security .* deny \(broken\) +deny \(host\)/)
    expect(out).toContain('cannot be used')
    expect(out).toContain('nothing runs for this agent')
    expect(out).toContain('managed by the node')
  })

  it('says that nothing is asked any more', async () => {
    const open = { security: 'full', ask: 'off', riskGate: false }
    host({ version: 1, defaults: open })
    config({ tools: { exec: open } })
    expect((await nomos(['exec-policy', 'show'])).out).toContain('Nothing is asked any more')
  })

  it('lists entries with what is wrong with them', async () => {
    host(HOST)
    const { exit, out } = await nomos(['approvals', 'allowlist', 'list'])
    expect(exit).toBe(0)
    const [rg = '', status = '', bad = '', exact = ''] = out.split(/^(?=al_)/m)
    expect(rg).toContain('rg with any arguments')
    expect(rg).toContain('at local, without an end')
    expect(status).toContain('at host:web')
    expect(status).toMatch(/Note: "status" is searched anywhere/)
    expect(bad).toMatch(/Never matches\. "\(" never matches/)
    expect(exact).toContain("/usr/bin/git log -n 'a b'")
    expect(exact).toContain('ran out 19')
    expect(exact).toContain('from approval')
    expect(exact).toContain('git log -n "a b"')
    const web = await nomos(['approvals', 'allowlist', 'list', '--target', 'host:web', '--json'])
    expect(JSON.parse(web.out)).toMatchObject([{ id: 'al_status' }])
    expect((await nomos(['approvals', 'allowlist', 'list', '--agent', 'mcp:x'])).out).toContain('Nothing is on')
  })

  it('tries a change without saving it', async () => {
    host(HOST)
    const next = JSON.stringify({ version: 1, defaults: { ask: 'off' } })
    const { exit, out } = await nomos(['approvals', 'set', '--stdin', '--dry-run'], { stdin: [next] })
    expect(exit).toBe(0)
    expect(out).toContain('-     "ask": "always"')
    expect(out).toContain('+     "ask": "off"')
    expect(out).not.toMatch(/^- .*socket/m)
    expect(out).not.toContain('the-secret-token')
    const preset = await nomos(['exec-policy', 'preset', 'yolo', '--dry-run', '--json'])
    expect(JSON.parse(preset.out)).toMatchObject({ saved: false, backup: null })
    const set = await nomos(['exec-policy', 'set', 'ask=inherit', '--layer', 'host', '--dry-run'])
    expect(set.out).toContain('-     "ask": "always"')
    expect(set.out).not.toContain('config.json')
    const names = await nomos(['exec-policy', 'preset'])
    expect(names.out).toMatch(/cautious[\s\S]*allowlist[\s\S]*deny-all[\s\S]*yolo/)
  })

  it.each([
    ['{', 'standard input: '],
    ['[]', 'no object'],
    ['{ "version": 2 }', 'version'],
    ['{ "version": 1, "agents": { "main": { "allowlist": [{ "pattern": 7 }] } } }', 'agents.main.allowlist[0].pattern'],
    ['{ "version": 1, "defaults": { "security": "open" } }', '"open"'],
  ])('refuses %j before anybody is asked', async (text, named) => {
    const { exit, out, err } = await nomos(['approvals', 'set', '--stdin'], {
      stdin: [text],
      terminal: fakeTerminal(() => ({ kind: 'ended' })),
    })
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
    expect(err).toContain(named)
  })

  it.each([
    ['approvals set --stdin', 3],
    ['approvals allowlist add rg', 3],
    ['approvals allowlist remove al_rg', 3],
    ['exec-policy set ask=always', 3],
    ['exec-policy preset cautious', 3],
    ['exec-policy undo', 3],
    ['exec-policy show --session s', 3],
    ['grants list', 3],
    ['grants kinds', 3],
    ['grants add local reads --for 30m', 3],
    ['grants revoke x', 3],
  ])('%s says how to start one', async (line, exit) => {
    const result = await nomos(line.split(' '), {
      stdin: ['{ "version": 1 }'],
      terminal: fakeTerminal(() => ({ kind: 'ended' })),
    })
    expect(result).toMatchObject({ exit, out: '' })
    expect(result.err).toContain('npm start -- --headless')
  })

  it.each([
    ['approvals set', '--file FILE, or --stdin'],
    ['approvals set --stdin --file x', '--file FILE, or --stdin'],
    ['approvals allowlist', 'list, add, remove'],
    ['approvals allowlist ad', 'Did you mean "nomos approvals allowlist add"?'],
    ['approvals allowlist add', 'needs a program'],
    ['approvals allowlist add rg foo', '--exact rg -- foo'],
    ['approvals allowlist add rg --exact --arg-pattern x', 'use one'],
    ['approvals allowlist add rg --expires soon', 'not "soon"'],
    ['approvals allowlist remove', 'needs one id'],
    ['approvals approve x --expires 1h', 'add --always'],
    ['approvals approve x --session-only', 'add --always'],
    ['approvals approve x --always --phrase y', 'typed phrase'],
    ['exec-policy', 'show, set, preset, undo'],
    ['exec-policy set', 'FIELD=VALUE'],
    ['exec-policy set aks=off', 'Did you mean ask?'],
    ['exec-policy set ask', 'ask takes off, on-miss, always or inherit, not ""'],
    ['exec-policy set ask=never', 'not "never"'],
    ['exec-policy set riskGate=0', 'riskGate takes on, off or inherit, not "0"'],
    ['exec-policy set ask=off ask=always', 'twice'],
    ['exec-policy set ask=off --layer mine', 'both, host, requested'],
    ['exec-policy set autoAllowSkills=on --layer requested', 'the host policy only'],
    ['exec-policy preset yol', 'Did you mean yolo?'],
    ['exec-policy preset yolo now', 'takes one name'],
    ['grants add local', 'name a target and what to grant'],
    ['grants add local reads', '--for 30m'],
    ['grants add local reads --for 2d', 'at most 24 hours'],
  ])('%s is not understood', async (line, hint) => {
    const { exit, out, err } = await nomos(line.split(' '), { terminal: fakeTerminal(() => ({ kind: 'ended' })) })
    expect({ exit, out }).toEqual({ exit: EXIT.usage, out: '' })
    expect(err).toContain(hint)
  })

  it('refuses an entry that can never match, with field and value', async () => {
    for (const [args, named] of [
      [['r*'], 'pattern: "r*" never matches'],
      [['rg', '--arg-pattern', '('], '--arg-pattern: "(" never matches'],
    ] as const) {
      const { exit, err } = await nomos(['approvals', 'allowlist', 'add', ...args])
      expect(exit).toBe(1)
      expect(err).toContain(named)
    }
  })

  it('says what to do with a file that is too large for the socket', async () => {
    const allowlist = Array.from({ length: 20_000 }, (_, index) => ({
      id: `e${index}`,
      pattern: `/usr/bin/${'x'.repeat(80)}${index}`,
    }))
    const { exit, err } = await nomos(['approvals', 'set', '--stdin'], {
      stdin: [JSON.stringify({ version: 1, agents: { main: { allowlist } } })],
    })
    expect(exit).toBe(1)
    expect(err).toContain('Put it in the place of exec-approvals.json yourself')
  })

  it('names a file that cannot be read', async () => {
    const { exit, err } = await nomos(['approvals', 'set', '--file', join(home, 'nothing')])
    expect(exit).toBe(1)
    expect(err).toContain('cannot be read')
  })

  it('takes --help behind -- for a word of the entry', async () => {
    const { exit, err } = await nomos(['approvals', 'allowlist', 'add', 'rg', '--exact', '--', '--help', '--json'])
    expect(exit).toBe(EXIT.notOperator)
    expect(err).toContain('this process has none')
  })
})

describe('with an app', () => {
  it('asks the app, and shows what only it knows', async () => {
    host(HOST)
    await start({ managedBy: 'node', elevated: true })
    const { exit, out } = await nomos(['exec-policy', 'show', '--target', 'host:web', '--session', 'ses_1'])
    expect(exit).toBe(0)
    expect(asked('policy.inspect')).toEqual([{ agent: 'main', target: 'host:web', session: 'ses_1' }])
    expect(out).toContain('in session ses_1')
    expect(out).toContain('managed by the node')
    expect(out).toContain('preset     cautious')
    expect(out).toContain('/elevated off')
    expect(out).toContain('1 for a time')
    expect(JSON.parse((await nomos(['exec-policy', 'show', '--json'])).out)).toMatchObject({
      from: 'app',
      version: 'v1',
    })
  })

  it('lists grants with the time left, and their kinds', async () => {
    await start()
    expect((await nomos(['grants', 'list'])).out).toMatch(/^grt_1 {2}28 min left {2}main at host:web: reads, restarts/)
    expect(JSON.parse((await nomos(['grants', 'list', '--json'])).out)).toMatchObject([{ id: 'grt_1' }])
    expect((await nomos(['grants', 'kinds'])).out).toMatch(/^reads +run what only reads\n/)
  })

  it('changes nothing for who only pretends to be a terminal', async () => {
    host(HOST)
    const fake = await start()
    const terminal = fakeTerminal((question) => ({ kind: 'line', text: question.includes('yolo') ? 'yolo' : 'AAAAAA' }))
    for (const line of [
      'approvals set --stdin',
      'approvals allowlist add fd',
      'approvals allowlist remove al_rg',
      'exec-policy set ask=off',
      'exec-policy preset yolo',
      'exec-policy undo',
      'grants add host:web reads --for 30m',
      'grants revoke grt_1',
    ]) {
      const { exit } = await nomos(line.split(' '), { terminal, stdin: ['{ "version": 1 }'] })
      expect(exit, line).toBe(EXIT.notOperator)
    }
    expect(fake.calls.every(({ caller }) => !caller.operator)).toBe(true)
    expect(fake.refused).toHaveLength(8)
  })
})

describe.runIf(process.platform === 'linux')('at a real terminal', () => {
  let bundle: string
  beforeAll(async () => {
    bundle = await bundleCommands('cli')
  })
  afterAll(() => rmSync(bundle, { recursive: true, force: true }))

  const nomosAt = (words: string) => new Operator(bundle, home, words)

  it('sets the file: difference and notes first, then the code', async () => {
    host(HOST)
    await start()
    const file = join(home, 'next.json5')
    writeFileSync(
      file,
      `{ version: 1, agents: { main: { allowlist: [{ id: 'a', pattern: '/usr/bin/df', argPattern: 'h' }] } } }`,
    )
    const operator = nomosAt(`approvals set --file ${file}`)
    await operator.sees(/- +"ask": "always"/)
    await operator.sees(/agents\.main\.allowlist\[0\] \(a\): "h" is searched anywhere/)
    await operator.typesCode()
    await operator.sees(/What was there is kept: .*backups/)
    expect(await operator.exit).toBe(0)
    const [input] = asked('policy.fileSet') ?? []
    expect(input).toMatchObject({ file: 'host', dryRun: false, baseVersion: expect.stringMatching(/^[0-9a-f]{16}$/) })
    const stale = nomosAt(`approvals set --file ${file} --base 0123`)
    await stale.sees(/no longer the version 0123/)
    expect(await stale.exit).toBe(EXIT.failed)
  })

  it('shows both versions of a conflict', async () => {
    host(HOST)
    const fake = await start()
    fake.answers.set('policy.save', () => {
      throw new NomosError('conflict', 'It was changed meanwhile.', { detail: '- mine\n+ theirs' })
    })
    const operator = nomosAt('exec-policy set ask=off')
    await operator.typesCode()
    await operator.sees(/It was changed meanwhile\.\r?\n- mine\r?\n\+ theirs/)
    expect(await operator.exit).toBe(EXIT.failed)
  })

  it('adds an entry with its notes, and takes one out', async () => {
    host(HOST)
    await start()
    const add = nomosAt(
      "approvals allowlist add /usr/bin/systemctl --target host:web --arg-pattern '^status' --expires 1h --sudo",
    )
    await add.sees(/sudo \/usr\/bin\/systemctl with arguments that match \^status/)
    await add.sees(/at host:web, until .* \(60 min left\)/)
    await add.sees(/Note: "\^status" is searched anywhere/)
    await add.typesCode()
    await add.sees(/al_new/)
    expect(await add.exit).toBe(0)
    const exact = nomosAt('approvals allowlist add /usr/bin/git --exact -- log -n 1')
    await exact.typesCode()
    expect(await exact.exit).toBe(0)
    expect(asked('policy.allowlistAdd')).toMatchObject([
      {
        agent: 'main',
        entry: { pattern: '/usr/bin/systemctl', argPattern: '^status', scope: { target: 'host:web' }, sudo: true },
      },
      { entry: { pattern: '/usr/bin/git', argPattern: encodeArgv(['log', '-n', '1']) } },
    ])
    const remove = nomosAt('approvals allowlist remove al_r')
    await remove.sees(/rg with any arguments/)
    await remove.typesCode()
    await remove.sees(/al_rg is taken out/)
    expect(await remove.exit).toBe(0)
    expect(asked('policy.allowlistRemove')).toMatchObject([{ agent: 'main', id: 'al_rg' }])
  })

  it('says that a path-only entry beside lets the rest through', async () => {
    host({ version: 1, agents: { main: { allowlist: [{ id: 'all', pattern: '/usr/bin/systemctl' }] } } })
    await start()
    const add = nomosAt("approvals allowlist add /usr/bin/systemctl --arg-pattern '^status$'")
    await add.sees(/Note: .*all[\s\S]*within a minute: /)
    add.types('\u0003')
    expect(await add.exit).toBe(EXIT.notOperator)
    expect(asked('policy.allowlistAdd')).toEqual([])
  })

  it('saves fields to both files in one step', async () => {
    host(HOST)
    config({ agents: { 'mcp:x': { tools: { exec: { host: 'node' } } } } })
    await start()
    const operator = nomosAt('exec-policy set ask=off autoAllowReadOnly=off --agent mcp:x')
    await operator.sees(/exec-approvals\.json[\s\S]*config\.json/)
    await operator.sees(/mcp:x: managed by the node/)
    await operator.typesCode()
    await operator.sees(/Saved\./)
    expect(await operator.exit).toBe(0)
    expect(asked('policy.save')).toMatchObject([
      {
        layer: 'both',
        agent: 'mcp:x',
        fields: { ask: 'off', autoAllowReadOnly: false },
        baseConfigVersion: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    ])
  })

  it('says what yolo opens and takes the word, also when it is put together by hand', async () => {
    await start()
    const wrong = nomosAt('exec-policy preset yolo')
    await wrong.sees(/This opens:[\s\S]*without a typed phrase[\s\S]*Type yolo/)
    wrong.types('yes\r')
    await wrong.sees(/nothing was changed/)
    expect(await wrong.exit).toBe(EXIT.failed)
    const byHand = nomosAt('exec-policy set security=full ask=off riskGate=off')
    await byHand.sees(/Type yolo/)
    byHand.types('\r')
    expect(await byHand.exit).toBe(EXIT.failed)
    expect([...(asked('policy.preset') ?? []), ...(asked('policy.save') ?? [])]).toEqual([])
    const right = nomosAt('exec-policy preset yolo')
    await right.sees(/Type yolo/)
    right.types('yolo\r')
    await right.typesCode()
    expect(await right.exit).toBe(0)
    const quiet = nomosAt('exec-policy preset deny-all')
    await quiet.sees(/No command runs/)
    await quiet.typesCode()
    expect(await quiet.exit).toBe(0)
    expect(quiet.shown).not.toContain('yolo')
    expect(asked('policy.preset')).toEqual([
      { name: 'yolo', dryRun: false },
      { name: 'deny-all', dryRun: false },
    ])
  })

  it('takes the last save back', async () => {
    await start()
    const operator = nomosAt('exec-policy undo')
    await operator.sees(/Takes back: preset yolo/)
    await operator.typesCode()
    expect(await operator.exit).toBe(0)
    expect(asked('policy.undo')).toHaveLength(1)
  })

  it('grants for a time, and revokes', async () => {
    await start()
    const add = nomosAt("grants add host:web reads,restarts --for 30m --note 'until it is well'")
    await add.sees(
      /For 30 min, main may do at host:web[\s\S]*restart and reload services[\s\S]*Never what cannot be undone/,
    )
    await add.typesCode()
    await add.sees(/grt_2 {2}30 min left/)
    expect(await add.exit).toBe(0)
    expect(asked('grants.add')).toEqual([
      { agent: 'main', target: 'host:web', kinds: ['reads', 'restarts'], minutes: 30, note: 'until it is well' },
    ])
    const unknown = nomosAt('grants add host:web restart --for 30m')
    await unknown.sees(/Did you mean restarts\?/)
    expect(await unknown.exit).toBe(EXIT.usage)
    const revoke = nomosAt('grants revoke 1')
    await revoke.typesCode()
    await revoke.sees(/grt_1 is revoked/)
    expect(await revoke.exit).toBe(0)
    expect(asked('grants.revoke')).toEqual([{ id: 'grt_1' }])
  })

  it('allows always: what is stored is shown first, and what cannot be is refused with the reason', async () => {
    const fake = await start()
    fake.executions.set('exe_1', executionOf('1', 'pending_approval', { session: 'ses_1', approval: approvalOf('1') }))
    fake.answers.set('approvals.alwaysOffer', () => ({
      entries: [{ pattern: '/usr/bin/touch', argPattern: encodeArgv(['1']) }],
      refusal: null,
    }))
    const operator = nomosAt('approvals approve 1 --always --expires 1h --session-only')
    await operator.sees(/From now on unasked, for main at local, in session ses_1 only, until .* \(60 min left\)/)
    await operator.sees(/\/usr\/bin\/touch 1/)
    await operator.typesCode()
    await operator.sees(/apr_1 is approved/)
    expect(await operator.exit).toBe(0)
    expect(asked('approvals.answer')).toMatchObject([
      {
        id: 'apr_1',
        answer: { kind: 'approve-always', scope: 'session', expiresAt: expect.any(Number) },
        digest: 'digest-1',
      },
    ])
    fake.executions.set('exe_2', executionOf('2', 'pending_approval', { approval: approvalOf('2') }))
    fake.answers.set('approvals.alwaysOffer', () => ({ entries: [], refusal: 'A shell is never stored.' }))
    const refused = nomosAt('approvals approve 2 --always')
    await refused.sees(/cannot be allowed for always: A shell is never stored\. It can be approved once/)
    expect(await refused.exit).toBe(EXIT.failed)
    expect(asked('approvals.answer')).toHaveLength(1)
  })
})
