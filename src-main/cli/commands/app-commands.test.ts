import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EXIT } from '../exits'
import { approvalOf, executionOf, type FakeApp, fakeApp } from '../fake-app.fixture'
import { type FakeIo, fakeIo, fakeTerminal } from '../fake-io.fixture'
import { bundleCommands, Operator } from '../operator.fixture'
import { run } from '../program'

const linux = process.platform === 'linux'
let home: string
let app: FakeApp
let bundle: string

beforeAll(async () => {
  bundle = await bundleCommands('cli')
})
afterAll(() => rmSync(bundle, { recursive: true, force: true }))

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'napp-'))
})
afterEach(async () => {
  Operator.endAll()
  await app.server.stop()
  rmSync(home, { recursive: true, force: true })
})

function pend(...ids: string[]): void {
  for (const id of ids) {
    const view = executionOf(id, 'pending_approval', { approval: approvalOf(id) })
    app.executions.set(view.id, view)
  }
}

const answers = () => app.calls.filter(({ route }) => route === 'approvals.answer')

async function nomos(...args: string[]): Promise<{ exit: number; io: FakeIo }> {
  const io = fakeIo({ home })
  return { exit: await run(args, io), io }
}

describe('run', () => {
  beforeEach(async () => {
    app = await fakeApp(home)
  })

  const output = (text: string) => {
    const offset = app.output.length
    app.output += text
    app.publish({ type: 'output', id: 'exe_new', offset, text, bytes: app.output.length })
  }

  it('asks as the command line, streams the output and ends with the exit code of the command', async () => {
    app.onRequest = () => {
      output('one\n')
      output('two\n')
      app.change('exe_new', { state: 'failed', exitCode: 7 })
    }
    const { exit, io } = await nomos('run', 'local', '--why', 'to see', 'ls', '--', '--json')
    expect({ exit, out: io.out(), err: io.err() }).toEqual({ exit: 7, out: 'one\ntwo\n', err: '' })
    const asked = app.calls.find(({ route }) => route === 'executions.request')
    expect(asked).toEqual({
      caller: { surface: 'cli', operator: false },
      route: 'executions.request',
      input: { target: 'local', command: 'ls -- --json', purpose: 'to see', session: null },
    })
  })

  it('takes a single word as the whole command, byte for byte', async () => {
    app.onRequest = () => app.change('exe_new', { state: 'completed', exitCode: 0 })
    await nomos('run', 'local', '  echo  "a"  b\n')
    expect(app.executions.get('exe_new')?.command).toBe('  echo  "a"  b\n')
  })

  it('fetches what events left out, shows each part once, and says what is lost', async () => {
    app.onRequest = () => {
      app.output = 'abc'
      app.publish({ type: 'output', id: 'exe_new', offset: 1, text: 'bc', bytes: 3 })
      app.publish({ type: 'output', id: 'exe_new', offset: 0, text: 'ab', bytes: 3 })
      setTimeout(() => {
        app.output = 'abc????def'
        app.outputStart = 7
        app.change('exe_new', { state: 'completed', exitCode: 0 })
      }, 50)
    }
    const { exit, io } = await nomos('run', 'local', 'x')
    expect({ exit, out: io.out() }).toEqual({ exit: 0, out: 'abcdef' })
    expect(io.err()).toContain('4 characters of output')
  })

  it.each([
    ['denied', 'The policy denies it.', EXIT.failed],
    ['expired', null, EXIT.failed],
    ['unknown', null, EXIT.failed],
    ['timed_out', null, EXIT.failed],
    ['undeliverable', null, EXIT.failed],
  ] as const)('ends with 1 when it is %s, with the reason', async (state, reason, exit) => {
    app.onRequest = () => app.change('exe_new', { state, stateReason: reason })
    const result = await nomos('run', 'local', 'x')
    expect(result.exit).toBe(exit)
    expect(result.io.err()).toBe(
      `nomos: exe_new is ${state.replace('_', ' ')}${reason === null ? '' : `: ${reason}`}\n`,
    )
  })

  it('says how to answer while it waits', async () => {
    app.onRequest = () => {
      app.change('exe_new', { state: 'pending_approval', approval: approvalOf('new') })
      setTimeout(() => app.change('exe_new', { state: 'denied', stateReason: 'No.' }), 100)
    }
    const { exit, io } = await nomos('run', 'local', 'x')
    expect(exit).toBe(1)
    expect(io.err()).toContain('nomos approvals approve apr_new')
    expect(io.err().match(/waits for an answer/g)).toHaveLength(1)
  })

  it('stops the run with Ctrl-C', async () => {
    app.onCancel = (id) => app.change(id, { state: 'cancelled' })
    const io = fakeIo({ home })
    app.onRequest = () => setTimeout(() => io.interrupt(), 50)
    expect(await run(['run', 'local', 'sleep', '9'], io)).toBe(EXIT.interrupted)
    expect(app.executions.get('exe_new')?.state).toBe('cancelled')
  })

  it('says that the end is not known when Nomos goes away', async () => {
    app.onRequest = () => void app.server.stop()
    const { exit, io } = await nomos('run', 'local', 'x')
    expect(exit).toBe(EXIT.noApp)
    expect(io.err()).toContain('nomos executions show exe_new')
  })

  it('obeys no control sequence of the output on a terminal', async () => {
    app.onRequest = () => {
      output('\u001b]0;x\u0007a\r')
      output('\nb\u001b[2J\rc\n')
      app.change('exe_new', { state: 'completed', exitCode: 0 })
    }
    const io = fakeIo({ home, tty: true })
    await run(['run', 'local', 'x'], io)
    expect(io.out()).toBe('␛]0;x␇a\nb␛[2J\nc\n')
  })

  it('gives one JSON document when asked', async () => {
    app.onRequest = () => {
      output('text')
      app.change('exe_new', { state: 'completed', exitCode: 3 })
    }
    const { exit, io } = await nomos('run', '--json', 'local', 'x')
    expect(exit).toBe(3)
    expect(JSON.parse(io.out())).toMatchObject({ id: 'exe_new', exitCode: 3 })
  })
})

describe('executions', () => {
  it('lists, shows by the beginning of an id, refuses an ambiguous one, cancels', async () => {
    app = await fakeApp(home)
    pend('1abc', '1abd', '2')
    app.onCancel = (id) => app.change(id, { state: 'cancelled' })
    const list = (await nomos('executions', 'list')).io.out()
    expect(list.split('\n')).toHaveLength(4)
    expect(list).toContain('  waiting  ')
    expect((await nomos('executions', 'list', '--state', 'timed out')).exit).toBe(EXIT.done)
    expect((await nomos('executions', 'show', '2')).io.out()).toContain('exe_2')
    const two = await nomos('executions', 'show', 'exe_1')
    expect(two).toMatchObject({ exit: EXIT.usage })
    expect(two.io.err()).toContain('exe_1abc, exe_1abd')
    expect((await nomos('executions', 'cancel', '1abd')).io.out()).toBe('exe_1abd is cancelled\n')
    expect(JSON.parse((await nomos('executions', 'show', '1abd', '--json')).io.out())).toMatchObject({
      state: 'cancelled',
    })
    expect((await nomos('executions', 'show', 'nothing')).exit).toBe(EXIT.failed)
  })
})

describe('approvals without a proven terminal', () => {
  it('lists what waits, and answers nothing for who only pretends to be a terminal', async () => {
    app = await fakeApp(home)
    pend('1')
    expect((await nomos('approvals', 'pending')).io.out()).toContain('apr_1')
    // This process is no operator's: its terminal is a fake and its title cannot be set to pass for another.
    const terminal = fakeTerminal(() => ({ kind: 'line', text: 'AAAAAA' }))
    const io = fakeIo({ home, terminal })
    expect(await run(['approvals', 'approve', '1'], io)).toBe(EXIT.notOperator)
    expect(answers()).toEqual([])
    expect(app.refused).toHaveLength(1)
  })

  it('sends the phrase to the card when there is a window', async () => {
    app = await fakeApp(home, 'window')
    const view = executionOf('1', 'pending_approval', {
      approval: approvalOf('1', { outcome: 'confirm', phrase: 'rm local' }),
    })
    app.executions.set(view.id, view)
    const io = fakeIo({ home, terminal: fakeTerminal(() => ({ kind: 'line', text: 'rm local' })) })
    expect(await run(['approvals', 'approve', '1', '--phrase', 'rm local'], io)).toBe(EXIT.notOperator)
    expect(io.err()).toContain('typed on its card in the window')
    expect(answers()).toEqual([])
  })
})

describe.runIf(linux)('approvals at a real terminal', () => {
  it('shows the whole command, nothing hidden, and approves with the code', async () => {
    app = await fakeApp(home)
    const command = `touch \u202efile && ${'x'.repeat(200)}\nsecond line`
    app.executions.set('exe_1', executionOf('1', 'pending_approval', { command, approval: approvalOf('1') }))
    const operator = new Operator(bundle, home, 'approvals approve 1')
    await operator.typesCode()
    await operator.sees(/apr_1 is approved\./)
    expect(await operator.exit).toBe(0)
    expect(operator.shown).toContain(`touch \\u{202e}file && ${'x'.repeat(200)}␊`)
    expect(operator.shown).toContain('second line')
    expect(operator.shown).toContain('It changes something.')
    expect(operator.shown).toContain('^^^^^')
    expect(answers()).toEqual([
      {
        caller: { surface: 'cli', operator: true },
        route: 'approvals.answer',
        input: { id: 'apr_1', answer: { kind: 'approve', phrase: null }, digest: 'digest-1' },
      },
    ])
  })

  it('denies with a note', async () => {
    app = await fakeApp(home)
    pend('1')
    const operator = new Operator(bundle, home, "approvals deny apr_1 --note 'use apt'")
    await operator.typesCode()
    expect(await operator.exit).toBe(0)
    expect(answers()[0]?.input).toMatchObject({ answer: { kind: 'deny', note: 'use apt' } })
  })

  it('answers nothing for a wrong code, an empty line or Ctrl-C', async () => {
    app = await fakeApp(home)
    pend('1')
    for (const typed of ['AAAAAA\r', '\r', '\u0003']) {
      const operator = new Operator(bundle, home, 'approvals approve 1')
      await operator.sees(/within a minute: /)
      operator.types(typed)
      expect(await operator.exit).toBe(EXIT.notOperator)
    }
    expect(answers()).toEqual([])
  })

  it('reads the code from the terminal, not from standard input', async () => {
    app = await fakeApp(home)
    pend('1')
    const operator = new Operator(bundle, home, 'approvals approve 1 </dev/null >/dev/null')
    await operator.typesCode()
    expect(await operator.exit).toBe(0)
    expect(answers()).toHaveLength(1)
  })

  it('takes the typed phrase on a headless host', async () => {
    app = await fakeApp(home)
    app.executions.set(
      'exe_1',
      executionOf('1', 'pending_approval', { approval: approvalOf('1', { outcome: 'confirm', phrase: 'rm local' }) }),
    )
    const wrong = new Operator(bundle, home, 'approvals approve 1')
    await wrong.sees(/Type rm local to approve/)
    wrong.types('yes\r')
    await wrong.typesCode()
    expect(await wrong.exit).toBe(EXIT.failed)
    const right = new Operator(bundle, home, 'approvals approve 1')
    await right.sees(/Type rm local to approve/)
    right.types('rm local\r')
    await right.typesCode()
    expect(await right.exit).toBe(0)
  })

  it('starts what was approved before a crash, with a code', async () => {
    app = await fakeApp(home)
    app.executions.set('exe_1', executionOf('1', 'approved', { approval: approvalOf('1', { state: 'approved' }) }))
    const operator = new Operator(bundle, home, 'executions start 1')
    const [, code] = await operator.sees(/To start, type this code within a minute: (\w+) > /)
    operator.types(`${code}\r`)
    await operator.sees(/exe_1 is running/)
    expect(await operator.exit).toBe(0)
    expect(app.calls.find(({ route }) => route === 'executions.start')?.caller.operator).toBe(true)
  })

  it('watches: answers what comes, withdraws what was settled elsewhere, ends with Ctrl-C', async () => {
    app = await fakeApp(home)
    const operator = new Operator(bundle, home, 'approvals watch')
    await operator.sees(/Nothing waits now/)
    pend('1')
    expect(
      await app.server.announcer.announce({
        approvalId: 'apr_1',
        executionId: 'exe_1',
        digest: 'd',
        title: 'touch',
        body: '',
        others: 0,
        mayApprove: true,
      }),
    ).toBe(true)
    await operator.sees(/apr_1[\s\S]*\[a\/d\/c\/l\] > /)
    operator.types('\r')
    await operator.sees(/\[a\/d\/c\/l\] > /)
    operator.types('a\r')
    await operator.typesCode()
    await operator.sees(/apr_1 is approved/)

    pend('2')
    app.publish({ type: 'approval', id: 'apr_2', executionId: 'exe_2' })
    await operator.sees(/apr_2[\s\S]*\[a\/d\/c\/l\] > /)
    app.change('exe_2', {
      state: 'denied',
      approval: approvalOf('2', {
        state: 'denied',
        settlement: { by: 'operator', surface: 'window', words: null, note: null, at: 1 },
      }),
    })
    await operator.sees(/apr_2 was denied by operator \(window\) on 1970/)

    pend('3')
    app.publish({ type: 'approval', id: 'apr_3', executionId: 'exe_3' })
    await operator.sees(/apr_3[\s\S]*\[a\/d\/c\/l\] > /)
    operator.types('c\r')
    await operator.sees(/What should change\? > /)
    operator.types('less\r')
    await operator.typesCode()
    await operator.sees(/apr_3 is denied/)
    operator.types('\u0003')
    expect(await operator.exit).toBe(EXIT.interrupted)
    expect(answers().map(({ input }) => input)).toMatchObject([
      { id: 'apr_1', answer: { kind: 'approve' } },
      { id: 'apr_3', answer: { kind: 'changes', note: 'less' } },
    ])
  })

  it('says so when Nomos goes away while it watches', async () => {
    app = await fakeApp(home)
    pend('1')
    const operator = new Operator(bundle, home, 'approvals watch')
    await operator.sees(/\[a\/d\/c\/l\] > /)
    await app.server.stop()
    await operator.sees(/Nomos is stopping/)
    expect(await operator.exit).toBe(EXIT.noApp)
  })
})
