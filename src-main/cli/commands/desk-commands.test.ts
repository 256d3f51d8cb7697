import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NomosError } from '../../../src-preload/contract/errors'
import {
  type ExecutionState,
  type ExecutionView,
  FINAL_STATES,
  type PolicyView,
  type Settlement,
} from '../../../src-preload/contract/model'
import { EXIT } from '../exits'
import { approvalOf, executionOf, type FakeApp, fakeApp } from '../fake-app.fixture'
import { fakeIo, fakeTerminal } from '../fake-io.fixture'
import { bundleCommands, Operator } from '../operator.fixture'
import { run } from '../program'

const linux = process.platform === 'linux'
let home: string
let app: FakeApp

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'ndesk-'))
  app = await fakeApp(home)
})
afterEach(async () => {
  Operator.endAll()
  await app.server.stop()
  rmSync(home, { recursive: true, force: true })
})

async function nomos(...args: readonly string[]) {
  const io = fakeIo({ home, terminal: fakeTerminal(() => ({ kind: 'line', text: 'AAAAAA' })) })
  return { exit: await run(args, io), out: io.out(), err: io.err() }
}

const asked = (route: string) => app.calls.filter((call) => call.route === route)

function pend(id: string, change: Partial<ExecutionView> = {}): void {
  const view = executionOf(id, 'pending_approval', { approval: approvalOf(id), ...change })
  app.executions.set(view.id, view)
}

function settle(
  id: string,
  state: ExecutionState,
  approval: 'approved' | 'denied' | 'expired' | 'cancelled' | 'revoked',
  settlement: Partial<Settlement> | null,
  change: Partial<ExecutionView> = {},
): void {
  const full: Settlement = {
    by: 'operator',
    surface: 'notification',
    words: null,
    note: null,
    at: Date.now() - 180_000,
  }
  const view = executionOf(id, state, {
    approval: approvalOf(id, { state: approval, settlement: settlement === null ? null : { ...full, ...settlement } }),
    ...change,
  })
  app.executions.set(view.id, view)
}

describe('an id that takes no answer', () => {
  const answerTo = async (id: string) => {
    const { exit, out, err } = await nomos('approvals', 'deny', id)
    expect({ exit, out }).toEqual({ exit: EXIT.failed, out: '' })
    expect(asked('approvals.answer')).toEqual([])
    return err
  }

  it('is told by whom and when it was settled, and which way', async () => {
    settle('1', 'denied', 'denied', { note: 'use apt.' })
    settle('2', 'completed', 'approved', { surface: 'tray', at: Date.now() - 20_000 })
    settle('3', 'denied', 'approved', {}, { stateReason: 'The file "x" was changed.' })
    settle('4', 'expired', 'expired', { by: 'nomos', surface: 'system', at: Date.now() - 3 * 3_600_000 })
    settle('5', 'cancelled', 'cancelled', { by: 'main', surface: 'agent', at: 1_700_000_000_000 })
    settle('6', 'undeliverable', 'expired', { by: 'fallback', surface: 'system' })
    settle('7', 'cancelled', 'revoked', { surface: 'window' })
    expect(await answerTo('apr_1')).toBe('nomos: apr_1 was denied by operator (notification) 3 min ago: use apt.\n')
    expect(await answerTo('2')).toMatch(
      /^nomos: apr_2 was approved by operator \(tray\) \d\d s ago; exe_2 is completed\.\n$/,
    )
    expect(await answerTo('exe_3')).toContain('exe_3 is denied: The file "x" was changed.')
    expect(await answerTo('apr_4')).toContain('apr_4 expired 3 h ago: nobody answered in time, and nothing ran.')
    expect(await answerTo('apr_5')).toMatch(
      /apr_5 was withdrawn by main \(agent\) on 2023-11-\d\d \d\d:\d\d\. Nothing ran\./,
    )
    expect(await answerTo('apr_6')).toContain('apr_6 is undeliverable: nobody could be asked 3 min ago')
    expect(await answerTo('apr_7')).toContain('apr_7 was approved and taken back by operator (window) 3 min ago.')
  })

  it('has a code of its own when it expired', async () => {
    settle('4', 'expired', 'expired', null)
    settle('5', 'denied', 'denied', {})
    const codeOf = async (id: string) => JSON.parse((await nomos('approvals', 'deny', id, '--json')).out).error.code
    expect(await codeOf('apr_4')).toBe('expired')
    expect(await codeOf('apr_5')).toBe('already_settled')
    expect(await codeOf('apr_6')).toBe('not_found')
  })

  it('is told when it is unknown, of another kind, or of something that was never asked about', async () => {
    app.executions.set('exe_8', executionOf('8', 'completed'))
    expect(await answerTo('apr_9')).toBe(
      'nomos: no waiting approval has an id that begins with "apr_9". See: nomos approvals pending\n',
    )
    expect(await answerTo('grt_1')).toContain(
      '"grt_1" is the id of a grant, not of an approval. See: nomos grants list',
    )
    expect(await answerTo('exe_8')).toContain('exe_8 was not asked about: it is completed.')
  })

  it('is refused when it fits several that are settled', async () => {
    settle('1a', 'denied', 'denied', {})
    settle('1b', 'denied', 'denied', {})
    const { exit, err } = await nomos('approvals', 'deny', 'apr_1')
    expect(exit).toBe(EXIT.usage)
    expect(err).toContain('apr_1a, apr_1b')
  })

  it('is looked for among those that wait first', async () => {
    settle('1a', 'denied', 'denied', {})
    pend('1b')
    // Found, and then no operator is proven.
    expect((await nomos('approvals', 'deny', 'apr_1')).exit).toBe(EXIT.notOperator)
  })
})

describe('what waits', () => {
  it('shows the same request of several as one line with a count', async () => {
    pend('1', { group: 'g' })
    pend('2')
    pend('3', { group: 'g' })
    for (let i = 10; i < 20; i++) pend(String(i), { group: 'many' })
    const { out } = await nomos('approvals', 'pending')
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(/^apr_1 .* ×2 \(the same: apr_3\)$/)
    expect(lines[1]).toMatch(/^apr_2 .*touch 2$/)
    expect(lines[2]).toMatch(/^apr_10 .* ×10 \(the same: apr_11, .*apr_16 and 3 more\)$/)
    expect(JSON.parse((await nomos('approvals', 'pending', '--json')).out)).toHaveLength(13)
  })

  it('shows on its card what it affects, what can be put back, and where it may be answered', async () => {
    pend('1', {
      answerAt: 'card',
      blast: {
        targets: ['host:web', 'lxc:db'],
        total: 12,
        dependents: Array.from({ length: 12 }, (_, i) => ({
          slug: `service:s${i}`,
          kind: 'service',
          steps: i === 1 ? 2 : 1,
        })),
      },
      undo: {
        verdict: 'part',
        sentence: 'Changes /etc/motd, which can be put back, and /srv/big.',
        items: [
          { kind: 'file', subject: '/etc/motd', canPutBack: true, sentence: 'It is kept.', bytes: 10 },
          {
            kind: 'file',
            subject: '/srv/big',
            canPutBack: false,
            sentence: '/srv/big is too large to be kept.',
            bytes: null,
          },
        ],
      },
      preview: 'What apt-get would do',
    })
    pend('2', { blast: { targets: ['local'], total: 0, dependents: [] }, answerAt: 'anywhere' })
    const cardOf = async (id: string) => (await nomos('executions', 'show', id)).out
    const first = await cardOf('1')
    expect(first).toContain('Reaches:   host:web, lxc:db\n')
    expect(first).toContain('Affects:   12 others depend on it: service:s0, service:s1 (2 steps away), ')
    expect(first).toContain('service:s7 and 4 more\n')
    expect(first).toContain(
      'Undo:      Changes /etc/motd, which can be put back, and /srv/big.\n      - /srv/big is too large',
    )
    expect(first).not.toContain('It is kept.')
    expect(first).toContain('Preview:   What apt-get would do: nomos executions preview exe_1\n')
    expect(first).toContain('answered on its card or here, not by words in chat, a notification or the tray.')
    const second = await cardOf('2')
    expect(second).toContain('Affects:   nothing else that is known of\n')
    expect(second).toMatch(/Expires in 60 min\.\n/)
  })

  it('says afterwards whether it can be taken back, and what takes back what', async () => {
    const ready = { state: 'ready' as const, executionId: null, sentence: 'Can be put back.' }
    app.executions.set('exe_1', executionOf('1', 'completed', { undoState: ready }))
    app.executions.set(
      'exe_2',
      executionOf('2', 'completed', { undoOf: 'exe_1', undoState: { ...ready, state: 'gone' } }),
    )
    expect((await nomos('executions', 'show', '1')).out).toContain(
      'Undo:      Can be put back. See: nomos executions undo exe_1\n',
    )
    const taking = (await nomos('executions', 'show', '2')).out
    expect(taking).toContain('Takes back: exe_1\n')
    expect(taking).toContain('Undo:      Can be put back.\n')
  })
})

describe('approvals history', () => {
  it('asks for what was asked about and has ended, with every filter', async () => {
    settle('1', 'timed_out', 'approved', { surface: 'chat', words: 'go ahead', at: 1_700_000_000_000 })
    settle('2', 'denied', 'denied', { surface: 'cli', note: 'use apt', at: 1_700_000_000_000 })
    const { exit, out } = await nomos('approvals', 'history')
    expect(exit).toBe(0)
    expect(asked('executions.list').at(-1)?.input).toEqual({
      states: FINAL_STATES,
      before: null,
      limit: 20,
      filter: { asked: true },
    })
    expect(out).toMatch(
      /^apr_1 {2}2023-11-1\d \d\d:\d\d {2}timed out, answered by operator \(chat\) {2}config_mutation {2}main at local: touch 1 {2}\(said "go ahead"\)\n/,
    )
    expect(out).toMatch(/apr_2 .* denied, answered by operator \(command line\) .*touch 2 {2}\(note: use apt\)\n$/)
    const all =
      'approvals history --target host:web --risk destructive --risk config_mutation --agent mcp:x --surface tray --text nginx --limit 3'
    await nomos(...all.split(' '), '--state', 'timed out', '--state=denied')
    expect(asked('executions.list').at(-1)?.input).toEqual({
      states: ['timed_out', 'denied'],
      before: null,
      limit: 3,
      filter: {
        asked: true,
        risks: ['destructive', 'config_mutation'],
        target: 'host:web',
        agent: 'mcp:x',
        surface: 'tray',
        text: 'nginx',
      },
    })
    expect(JSON.parse((await nomos('approvals', 'history', '--json')).out).executions).toHaveLength(2)
  })

  it.each([
    [['--state', 'runing'], '--state takes completed'],
    [['--state', 'running'], '--state takes completed'],
    [['--risk', 'destructiv'], 'Did you mean destructive?'],
    [['--surface', 'trey'], 'Did you mean tray?'],
    [['--limit', '0'], '--limit takes a whole number from 1 to 200'],
    [['nginx'], 'Look for words with --text.'],
  ])('understands no %j', async (words, said) => {
    const { exit, err } = await nomos('approvals', 'history', ...words)
    expect(exit).toBe(EXIT.usage)
    expect(err).toContain(said)
    expect(app.calls).toEqual([])
  })

  it('says so when there is none', async () => {
    expect((await nomos('approvals', 'history')).out).toBe('Nothing like that was asked about and has ended.\n')
  })
})

describe('undo and preview', () => {
  it('asks to take back, and says which approval waits', async () => {
    app.executions.set('exe_1', executionOf('1', 'completed'))
    app.answers.set('executions.undo', () =>
      executionOf('9', 'pending_approval', { approval: approvalOf('9'), undoOf: 'exe_1' }),
    )
    const { exit, out } = await nomos('executions', 'undo', '1')
    expect({ exit, out }).toEqual({
      exit: 0,
      out: 'exe_9 asks to take back what exe_1 changed. It waits for an answer: nomos approvals approve apr_9\n',
    })
    expect(asked('executions.undo').map(({ input, caller }) => ({ input, operator: caller.operator }))).toEqual([
      { input: { id: 'exe_1' }, operator: false },
    ])
    expect(JSON.parse((await nomos('executions', 'undo', '1', '--json')).out)).toMatchObject({ id: 'exe_9' })
  })

  it('says why there is nothing to take back, and when the policy denies it', async () => {
    app.executions.set('exe_1', executionOf('1', 'completed'))
    app.answers.set('executions.undo', () => {
      throw new NomosError('conflict', 'Nothing was kept of it that could be put back.', { field: 'id' })
    })
    const nothing = await nomos('executions', 'undo', 'exe_1')
    expect(nothing).toEqual({ exit: 1, out: '', err: 'nomos: Nothing was kept of it that could be put back.\n' })
    app.answers.set('executions.undo', () => executionOf('9', 'denied', { stateReason: 'The policy denies it.' }))
    expect(await nomos('executions', 'undo', '1')).toMatchObject({
      exit: 1,
      out: 'exe_9 asks to take back what exe_1 changed. It is denied. The policy denies it.\n',
    })
    expect((await nomos('executions', 'undo')).exit).toBe(EXIT.usage)
  })

  it('shows a preview by the id of the execution or of its approval, nothing hidden on a terminal', async () => {
    pend('1')
    app.answers.set('executions.preview', () => ({
      kind: 'diff',
      title: 'What sed would change',
      commands: ["sed 's/a/b/' x | diff x -"],
      text: '-a\n+b\u001b[2J\n',
      truncated: true,
      note: 'Links are not followed.',
      at: 1,
    }))
    const io = fakeIo({ home, tty: true })
    expect(await run(['executions', 'preview', 'apr_1'], io)).toBe(0)
    expect(io.out()).toBe(
      "What sed would change; nothing was changed. By:\n  | sed 's/a/b/' x | diff x -\n-a\n+b␛[2J\nThere is more of it; this is the beginning.\nLinks are not followed.\n",
    )
    expect(asked('executions.preview').map(({ input }) => input)).toEqual([{ id: 'exe_1' }])
    expect((await nomos('executions', 'preview', '1')).out).toContain('+b\u001b[2J\n')
    expect(JSON.parse((await nomos('executions', 'preview', '1', '--json')).out)).toMatchObject({ kind: 'diff' })
  })
})

const policy = (change: Partial<PolicyView> = {}): PolicyView => ({
  source: 'absent',
  path: '/x',
  problem: null,
  security: 'allowlist',
  ask: 'on-miss',
  askFallback: 'deny',
  autoAllowReadOnly: true,
  riskGate: true,
  strictInlineEval: true,
  askAboutEverything: false,
  pauseAutomatic: true,
  neverAuto: ['host:web'],
  elevated: [],
  open: false,
  version: 'v',
  ...change,
})

describe('switches', () => {
  beforeEach(() => {
    app.answers.set('policy.show', () => policy())
  })

  it('shows them, with or without the word', async () => {
    const { exit, out } = await nomos('switches')
    expect(exit).toBe(0)
    expect(out.split('\n').map((line) => line.split(/\s+/).slice(0, 2).join(' '))).toEqual([
      'pause-automatic on',
      'ask-about-everything off',
      'never-auto on',
      '',
    ])
    expect(out).toContain('Nothing runs by itself at host:web')
    expect((await nomos('switches', 'show')).out).toBe(out)
    const json = { pauseAutomatic: true, askAboutEverything: false, neverAuto: ['host:web'] }
    for (const words of [['--json'], ['show', '--json'], ['--json', 'show']])
      expect(JSON.parse((await nomos('switches', ...words)).out)).toEqual(json)
  })

  it.each([
    [['pause-automatic'], 'takes on or off'],
    [['pause-automatic', 'yes'], 'takes on or off, not "yes"'],
    [['pause-automatic', 'on', 'off'], 'not "on off"'],
    [['never-auto', 'on'], 'name the target first'],
    [['never-auto', 'host:web'], 'takes on or off'],
    [['pause'], 'Did you mean "nomos switches pause-automatic"?'],
    [['show', 'x'], 'takes no "x"'],
  ])('understands no %j', async (words, said) => {
    const { exit, err } = await nomos('switches', ...words)
    expect(exit).toBe(EXIT.usage)
    expect(err).toContain(said)
    expect(app.calls).toEqual([])
  })

  it('changes nothing that stands so already, and nothing without an operator', async () => {
    expect((await nomos('switches', 'pause-automatic', 'on')).out).toBe('It is on already; nothing was changed.\n')
    expect((await nomos('switches', 'never-auto', 'host:x', 'off')).out).toContain('It is off already')
    expect((await nomos('switches', 'pause-automatic', 'off')).exit).toBe(EXIT.notOperator)
    const io = fakeIo({ home, terminal: null })
    expect(await run(['switches', 'ask-about-everything', 'on'], io)).toBe(EXIT.notOperator)
    expect([...asked('policy.setSwitch'), ...asked('policy.setNeverAuto')]).toEqual([])
  })
})

describe.runIf(linux)('at a real terminal', () => {
  let bundle: string
  beforeAll(async () => {
    bundle = await bundleCommands('cli')
  })
  afterAll(() => rmSync(bundle, { recursive: true, force: true }))

  it('requests changes with words that go back', async () => {
    pend('1')
    const operator = new Operator(bundle, home, 'approvals changes apr_1 use apt "instead of" pip')
    await operator.sees(/Goes back to main: use apt instead of pip/)
    await operator.typesCode()
    await operator.sees(/apr_1 is denied, with what should change\./)
    expect(await operator.exit).toBe(0)
    expect(asked('approvals.answer').map(({ input }) => input)).toEqual([
      { id: 'apr_1', answer: { kind: 'changes', note: 'use apt instead of pip' }, digest: 'digest-1' },
    ])
  })

  it('flips a switch and forbids automatic runs at a target, each with a code, and says that it answers nothing', async () => {
    app.answers.set('policy.show', () => policy())
    app.answers.set('policy.setSwitch', () => policy({ askAboutEverything: true }))
    app.answers.set('policy.setNeverAuto', () => policy({ neverAuto: ['host:db', 'host:web'] }))
    const flips = new Operator(bundle, home, 'switches ask-about-everything on')
    await flips.sees(/It answers nothing that waits/)
    await flips.typesCode()
    await flips.sees(/ask-about-everything +on/)
    expect(await flips.exit).toBe(0)
    const never = new Operator(bundle, home, 'switches never-auto host:db on')
    await never.sees(/nothing runs by itself at host:db/)
    await never.typesCode()
    await never.sees(/host:db, host:web/)
    expect(await never.exit).toBe(0)
    const made = app.calls.filter(({ route }) => route.startsWith('policy.set'))
    expect(made.map(({ route, input, caller }) => ({ route, input, operator: caller.operator }))).toEqual([
      { route: 'policy.setSwitch', input: { name: 'askAboutEverything', on: true }, operator: true },
      { route: 'policy.setNeverAuto', input: { target: 'host:db', on: true }, operator: true },
    ])
  })
})

describe('approvals changes', () => {
  it('needs words', async () => {
    for (const words of [[], ['apr_1'], ['apr_1', ' ']]) {
      const { exit, err } = await nomos('approvals', 'changes', ...words)
      expect(exit).toBe(EXIT.usage)
      expect(err).toContain('nomos approvals changes ID "use apt instead"')
    }
  })
})
