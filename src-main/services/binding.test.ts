import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionView, Plan, Principal } from '../../src-preload/contract/model'
import { createLocalRunner } from '../adapters/local'
import { openDatabase } from '../adapters/sqlite/driver'
import type { Runner } from '../ports'
import { createTestbed, OPERATOR, type Testbed } from './testbed'

let scratch: string
let bed: Testbed
/** Two folders in front of the system's PATH, the first of them empty at the beginning. */
let early: string
let late: string

const executable = (path: string, text: string): void => {
  writeFileSync(path, text)
  chmodSync(path, 0o755)
}
const at = (...parts: string[]): string => join(scratch, ...parts)
const runner = () => createLocalRunner({ ...process.env, HOME: scratch, PATH: `${early}:${late}:${process.env.PATH}` })

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'nomos-binding-')))
  early = at('early')
  late = at('late')
  for (const folder of [early, late, at('work'), at('other')]) mkdirSync(folder)
  bed = createTestbed({ runner: runner() })
})
afterEach(async () => {
  await bed.stop()
  rmSync(scratch, { recursive: true, force: true })
})

const pending = async (command: string, cwd = at('work')): Promise<ExecutionView> => {
  const asked = await bed.ask(command, { cwd })
  expect([command, asked.state]).toEqual([command, 'pending_approval'])
  return asked
}
const answered = async (asked: ExecutionView): Promise<ExecutionView> => {
  bed.approve(asked, asked.approval?.phrase ?? null)
  return bed.until(asked.id, 'denied', 'completed', 'failed')
}

/** Approves what has changed meanwhile: refused, revoked, nothing started, and all of it in the ledger with its reason. */
async function expectDrift(asked: ExecutionView, what: string): Promise<void> {
  const execution = await answered(asked)
  expect(execution).toMatchObject({ state: 'denied', failure: 'drift', approval: { state: 'revoked' }, output: '' })
  expect(execution.stateReason).toContain(what)
  const entries = bed.store.ledgerPage(null, 100)
  expect(entries[0]).toMatchObject({
    kind: 'approval.settled',
    executionId: asked.id,
    data: { to: 'revoked', failure: 'drift', reason: expect.stringContaining(what) },
  })
  expect(entries.map(({ kind }) => kind)).not.toContain('execution.started')
  expect(bed.store.verifyLedger().intact).toBe(true)
}

const SCRIPT = 'echo one\n'
const edited = 'echo two\n'

describe('a script that was approved', () => {
  const file = () => at('work', 'x.sh')
  const swaps: Readonly<Record<string, () => void>> = {
    'its content edited': () => writeFileSync(file(), edited),
    'its content edited and its time put back': () => {
      const { atime, mtime } = statSync(file())
      writeFileSync(file(), edited)
      utimesSync(file(), atime, mtime)
    },
    'another file renamed over it': () => {
      executable(at('work', 'y'), SCRIPT)
      renameSync(at('work', 'y'), file())
    },
    'it written again with the same content': () => {
      // The old one stays, or its number might be given out again.
      renameSync(file(), at('other', 'old'))
      executable(file(), SCRIPT)
    },
    'its rights changed': () => chmodSync(file(), 0o777),
    'a link put in its place': () => {
      renameSync(file(), at('other', 'x.sh'))
      symlinkSync(at('other', 'x.sh'), file())
    },
  }
  const ways = [
    'bash x.sh',
    'sh -eu ./x.sh a',
    './x.sh',
    'nice timeout 9 ./x.sh',
    'source x.sh',
    'bash < x.sh',
    "bash -c '. ./x.sh'",
  ]

  it.each(ways)('runs as %s when nothing changed', async (command) => {
    executable(file(), SCRIPT)
    expect(await answered(await pending(command))).toMatchObject({ state: 'completed', output: 'one\n' })
  })

  for (const [name, swap] of Object.entries(swaps)) {
    it(`does not run with ${name}`, async () => {
      executable(file(), SCRIPT)
      const asked = await pending('bash x.sh')
      swap()
      await expectDrift(asked, 'the script file')
    })
  }

  it.each(ways)('does not run as %s once it was edited', async (command) => {
    executable(file(), SCRIPT)
    const asked = await pending(command)
    writeFileSync(file(), edited)
    await expectDrift(asked, 'the script file')
  })

  it('does not run once it is gone', async () => {
    writeFileSync(file(), SCRIPT)
    const asked = await pending('bash x.sh')
    rmSync(file())
    await expectDrift(asked, 'is not there')
  })

  it('does not run with its link turned to another file, nor with a folder on the way turned', async () => {
    writeFileSync(at('other', 'one.sh'), SCRIPT)
    writeFileSync(at('other', 'two.sh'), SCRIPT)
    symlinkSync(at('other', 'one.sh'), file())
    const asked = await pending('bash x.sh')
    rmSync(file())
    symlinkSync(at('other', 'two.sh'), file())
    await expectDrift(asked, 'the script file')

    mkdirSync(at('other', 'v1'))
    mkdirSync(at('other', 'v2'))
    writeFileSync(at('other', 'v1', 'a.sh'), SCRIPT)
    linkSync(at('other', 'v1', 'a.sh'), at('other', 'v2', 'a.sh'))
    symlinkSync('v1', at('other', 'current'))
    const second = await pending('cd ../other/current && bash ./a.sh')
    rmSync(at('other', 'current'))
    symlinkSync('v2', at('other', 'current'))
    await expectDrift(second, 'the script file')
  })

  it('is the one the system would open, also behind a link and two dots', async () => {
    mkdirSync(at('other', 'deep'))
    writeFileSync(at('other', 'x.sh'), SCRIPT)
    writeFileSync(file(), 'echo wrong\n')
    symlinkSync(at('other', 'deep'), at('work', 'link'))
    const asked = await pending('bash link/../x.sh')
    writeFileSync(at('other', 'x.sh'), edited)
    await expectDrift(asked, 'the script file')
  })

  it('is found where the shell finds it: on PATH before the folder, in the home folder, after cd', async () => {
    writeFileSync(file(), SCRIPT)
    writeFileSync(join(late, 'x.sh'), SCRIPT)
    const sourced = await pending('source x.sh')
    writeFileSync(join(late, 'x.sh'), edited)
    await expectDrift(sourced, 'the script file')
    for (const [command, path] of [
      ['bash ~/h.sh', at('h.sh')],
      ['bash "$HOME/h.sh"', at('h.sh')],
      ['cd ../other && bash h.sh', at('other', 'h.sh')],
      ['cd ~/other && ./h.sh', at('other', 'h.sh')],
    ] as const) {
      executable(path, SCRIPT)
      expect(await answered(await pending(command))).toMatchObject({ output: 'one\n' })
      const asked = await pending(command)
      writeFileSync(path, edited)
      expect(await answered(asked)).toMatchObject({ state: 'denied', failure: 'drift' })
    }
  })

  it('holds for other interpreters as well', async () => {
    for (const [program, command, name, text] of [
      ['python3', 'python3 -u x.py a', 'x.py', 'print("one")\n'],
      ['node', 'env node x.js', 'x.js', 'console.log("one")\n'],
      ['perl', 'perl -w x.pl', 'x.pl', 'print "one\\n";\n'],
    ] as const) {
      if (spawnSync(program, ['--version']).status !== 0) continue
      writeFileSync(at('work', name), text)
      expect(await answered(await pending(command))).toMatchObject({ output: 'one\n' })
      const asked = await pending(command)
      writeFileSync(at('work', name), `${text}\n`)
      expect((await answered(asked)).failure).toBe('drift')
    }
  })
})

describe('what a shell reads into itself', () => {
  it('is pinned beside the script', async () => {
    writeFileSync(at('work', 'env.sh'), 'export WORD=one\n')
    executable(at('work', 'x.sh'), 'echo $WORD\n')
    const command = '. ./env.sh && bash x.sh'
    expect((await answered(await pending(command))).output).toBe('one\n')
    const asked = await pending(command)
    writeFileSync(at('work', 'env.sh'), 'export WORD=two\n')
    expect(await answered(asked)).toMatchObject({ failure: 'drift', stateReason: expect.stringContaining('./env.sh') })
  })
})

describe('a program that was approved', () => {
  it('does not run when another takes its place earlier on PATH, wherever it stands in the command', async () => {
    executable(join(late, 'tool'), '#!/bin/sh\necho late\n')
    for (const command of ['tool a', 'true; tool', 'nice tool', 'false || timeout 5 tool', 'tool | tool']) {
      const asked = await pending(command)
      executable(join(early, 'tool'), '#!/bin/sh\necho early\n')
      await expectDrift(asked, 'the program file')
      rmSync(join(early, 'tool'))
    }
    expect((await answered(await pending('tool a'))).output).toBe('late\n')
  })

  it('nor when one of the system, or sudo, is shadowed', async () => {
    for (const [name, command] of [
      ['touch', `touch ${at('made')}`],
      ['sudo', `sudo -n touch ${at('made')}`],
    ] as const) {
      const asked = await pending(command)
      executable(join(early, name), '#!/bin/sh\nexit 0\n')
      expect(await answered(asked)).toMatchObject({ state: 'denied', failure: 'drift' })
      rmSync(join(early, name))
    }
    expect(existsSync(at('made'))).toBe(false)
  })

  it('nor when it was not there, and is now', async () => {
    const asked = await pending('tool a')
    executable(join(late, 'tool'), '#!/bin/sh\necho late\n')
    await expectDrift(asked, 'the program file')
  })

  it('nor edited, replaced, unlinked from PATH, or with other rights', async () => {
    const tool = join(late, 'tool')
    const changes: (() => void)[] = [
      () => writeFileSync(tool, '#!/bin/sh\necho two\n'),
      () => chmodSync(tool, 0o700),
      () => rmSync(tool),
      () => {
        renameSync(tool, `${tool}.old`)
        executable(tool, '#!/bin/sh\necho late\n')
      },
    ]
    for (const change of changes) {
      executable(tool, '#!/bin/sh\necho late\n')
      chmodSync(tool, 0o755)
      const asked = await pending('tool a')
      change()
      await expectDrift(asked, 'the program file')
    }
  })

  it('nor when what its first line names is another program', async () => {
    executable(join(late, 'lang'), '#!/bin/sh\necho late\n')
    executable(at('work', 'x'), '#!/usr/bin/env lang\n')
    const asked = await pending('./x')
    executable(join(early, 'lang'), '#!/bin/sh\necho early\n')
    await expectDrift(asked, 'the program file')
  })
})

describe('the folder that was approved', () => {
  it('is not another one under its name', async () => {
    const asked = await pending('touch here')
    renameSync(at('work'), at('moved'))
    mkdirSync(at('work'))
    await expectDrift(asked, 'the working folder')
    expect(existsSync(at('work', 'here')) || existsSync(at('moved', 'here'))).toBe(false)
  })

  it('is the one that was shown, when it was given by a link that was turned since', async () => {
    symlinkSync('work', at('link'))
    const asked = await pending('touch here', at('link'))
    expect(asked.cwd).toBe(at('work'))
    rmSync(at('link'))
    symlinkSync('other', at('link'))
    expect((await answered(asked)).state).toBe('completed')
    expect(existsSync(at('work', 'here'))).toBe(true)
  })

  it('has to be there still', async () => {
    const asked = await pending('touch here')
    rmSync(at('work'), { recursive: true })
    await expectDrift(asked, 'is not there')
  })

  it('is what a command calls it', async () => {
    expect((await answered(await pending('pwd > a; echo "$PWD" >> a; cat a'))).output).toBe(
      `${at('work')}\n${at('work')}\n`,
    )
  })
})

describe('who it was approved for', () => {
  const AGENT: Principal = { kind: 'agent', id: 'main', session: 's1', turn: 't1' }
  const database = (sql: string, ...values: string[]): void => {
    const db = openDatabase(bed.store.path)
    db.prepare(sql).run(...values)
    db.close()
  }

  it.each([
    ['another agent', { ...AGENT, kind: 'mcp', id: 'mcp:x' }, 'who asked for it'],
    ['the operator', { ...OPERATOR, session: 's1' }, 'who asked for it'],
    ['another session', { ...AGENT, session: 's2' }, 'the session'],
  ])('cannot be changed to %s', async (_name, other, what) => {
    const asked = await bed.ask('touch here', { cwd: at('work') }, AGENT)
    database('UPDATE executions SET principal = ? WHERE id = ?', JSON.stringify(other), asked.id)
    await expectDrift(asked, what)
  })

  it('is part of the digest, so one approval never stands for another', async () => {
    const ask = (principal: Principal) => bed.ask('touch here', { cwd: at('work') }, principal)
    const asked = [
      await ask(AGENT),
      await ask({ ...AGENT, session: 's2' }),
      await ask({ ...AGENT, kind: 'mcp', id: 'mcp:x' }),
      await ask(OPERATOR),
    ]
    const digests = asked.map(({ approval }) => approval?.digest ?? '')
    expect(new Set(digests).size).toBe(4)
    const caller = { surface: 'window' as const, operator: true }
    expect(() =>
      bed.desk.answer(caller, asked[0]?.approval?.id ?? '', { kind: 'approve', phrase: null }, digests[1] ?? ''),
    ).toThrow(/not what waits/)
    // The approval of one put under another's execution.
    database('UPDATE approvals SET digest = ? WHERE id = ?', digests[1] ?? '', asked[0]?.approval?.id ?? '')
    const execution = await (async () => {
      bed.desk.answer(caller, asked[0]?.approval?.id ?? '', { kind: 'approve', phrase: null }, digests[1] ?? '')
      return bed.until(asked[0]?.id ?? '', 'denied', 'completed')
    })()
    expect(execution).toMatchObject({ state: 'denied', failure: 'plan_lost' })
  })

  it.each<[string, (plan: Plan) => Plan]>([
    ['command', (plan) => ({ ...plan, script: 'touch there' })],
    ['folder', (plan) => ({ ...plan, cwd: at('other') })],
    ['environment', (plan) => ({ ...plan, env: { A: '2' } })],
    ['agent', (plan) => ({ ...plan, agent: 'mcp:x' })],
    ['session', (plan) => ({ ...plan, session: 's2' })],
  ])('and the %s in the stored plan is not to be edited', async (_name, edit) => {
    const asked = await bed.ask('touch here', { cwd: at('work'), env: { A: '1' } }, AGENT)
    bed = bed.restart()
    const stored = bed.store.storedPlan(asked.id)
    const plan = stored !== null && 'json' in stored ? (JSON.parse(stored.json) as Plan) : null
    expect(plan?.script).toBe('touch here')
    database('UPDATE executions SET plan_json = ? WHERE id = ?', JSON.stringify(edit(plan as Plan)), asked.id)
    const execution = await answered(asked)
    expect(execution).toMatchObject({ state: 'denied', failure: 'plan_lost', approval: { state: 'revoked' } })
    expect(bed.store.ledgerPage(null, 50).map(({ kind }) => kind)).not.toContain('execution.started')
    expect(existsSync(at('work', 'here')) || existsSync(at('work', 'there'))).toBe(false)
  })
})

describe('a file that cannot be pinned', () => {
  it.each([
    ['bash *.sh', 'only be known when it runs'],
    ['for f in a b; do bash $f; done', 'only be known when it runs'],
    ['bash a.sh; bash b.sh', 'more than one script file'],
    ['bash missing.sh', 'is not there'],
    ['make && ./missing', 'ask for that part first'],
    ['python3 .', 'not a plain file'],
    ['bash pipe', 'not a plain file'],
    ['npx nothing-of-the-kind', 'Install it first'],
    ['pnpm dlx x', 'fetches what it starts'],
  ])('%s is refused with the reason and leaves no record', async (command, why) => {
    spawnSync('mkfifo', [at('work', 'pipe')])
    await expect(bed.ask(command, { cwd: at('work') })).rejects.toMatchObject({
      code: 'bad_input',
      field: 'command',
      message: expect.stringContaining(why),
    })
    expect(bed.store.ledgerPage(null, 10)).toEqual([])
  })

  it('is none where the text itself is the code, or no file is executed', async () => {
    for (const command of [
      'bash -c "touch a"',
      "python3 -c 'print(1)'",
      'make -f x.mk',
      'echo hi | bash',
      'bash <<< ls',
    ])
      expect((await bed.ask(command, { cwd: at('work') })).state).toBe('pending_approval')
  })
})

describe('a program out of an installed package', () => {
  const bin = () => at('work', 'node_modules', '.bin', 'tool')
  beforeEach(() => {
    const real = at('work', 'node_modules', 'tool')
    mkdirSync(real, { recursive: true })
    mkdirSync(at('work', 'node_modules', '.bin'))
    mkdirSync(at('work', 'sub'))
    executable(join(real, 'cli.js'), '#!/usr/bin/env node\nconsole.log("tool")\n')
    symlinkSync('../tool/cli.js', bin())
    const scoped = at('work', 'node_modules', '@a', 'b')
    mkdirSync(scoped, { recursive: true })
    writeFileSync(join(scoped, 'package.json'), JSON.stringify({ bin: { other: 'x.js' } }))
    executable(join(scoped, 'x.js'), '#!/usr/bin/env node\n')
  })

  it.each(['npx tool', 'npm exec -- tool', 'cd sub && npx tool', 'pnpm exec tool'])('%s is pinned', async (command) => {
    const asked = await pending(command)
    writeFileSync(at('work', 'node_modules', 'tool', 'cli.js'), '#!/usr/bin/env node\nconsole.log("evil")\n')
    await expectDrift(asked, 'the program file')
  })

  it('is not another one that is nearer now, or one the link was turned to', async () => {
    const nearer = await pending('npx tool', at('work', 'sub'))
    mkdirSync(at('work', 'sub', 'node_modules', '.bin'), { recursive: true })
    executable(at('work', 'sub', 'node_modules', '.bin', 'tool'), '#!/bin/sh\n')
    await expectDrift(nearer, 'the program file')
    const turned = await pending('npx tool')
    rmSync(bin())
    symlinkSync('../@a/b/x.js', bin())
    await expectDrift(turned, 'the program file')
    const scoped = await pending('npx @a/b')
    writeFileSync(at('work', 'node_modules', '@a', 'b', 'x.js'), '#!/bin/sh\n')
    await expectDrift(scoped, 'the program file')
  })
})

describe('a swap between the last look and the start', () => {
  /** The real runner, with something done right before or right behind its spawn. */
  const meanwhile = async (when: 'before' | 'behind', swap: () => void, command: string, cwd = at('work')) => {
    const local = runner()
    const swapping: Runner = {
      ...local,
      start(plan, mode, sink) {
        if (when === 'before') swap()
        const started = (info: { pid: number | null }): void => {
          sink.started(info)
          if (when === 'behind') swap()
        }
        return local.start(plan, mode, { ...sink, started })
      },
    }
    await bed.stop()
    bed = createTestbed({ runner: swapping })
    return answered(await pending(command, cwd))
  }

  it.each(['before', 'behind'] as const)('%s the spawn: the script, the program, a link', async (when) => {
    const outcome = when === 'before' ? 'Nothing ran' : 'ended at once'
    const script = at('work', 'x.sh')
    const marks = `touch ${at('ran')}\n`
    const replace = (path: string) => () => {
      executable(`${path}.new`, marks)
      renameSync(`${path}.new`, path)
    }
    writeFileSync(script, marks)
    executable(join(late, 'tool'), `#!/bin/sh\n${marks}`)
    writeFileSync(at('other', 'x.sh'), marks)
    symlinkSync(at('other', 'x.sh'), at('work', 'link.sh'))
    for (const [command, swap, what] of [
      ['bash x.sh', replace(script), 'the script file'],
      ['bash x.sh', () => writeFileSync(script, `${marks}\n`), 'the script file'],
      [
        'bash link.sh',
        () => {
          rmSync(at('work', 'link.sh'))
          symlinkSync(script, at('work', 'link.sh'))
        },
        'the script file',
      ],
      ['true; tool', replace(join(late, 'tool')), 'the program file'],
      ['./x.sh', () => chmodSync(script, 0o777), 'the script file'],
      ['bash x.sh', () => rmSync(script), 'the script file'],
    ] as const) {
      const execution = await meanwhile(when, swap, command)
      expect([command, execution.state, execution.failure]).toEqual([command, 'failed', 'drift'])
      expect(execution.stateReason).toContain(`${what}. `)
      expect(execution.stateReason?.toLowerCase()).toContain(outcome.toLowerCase())
      // Behind the spawn it is a race that the command may win; what is certain is that it is seen.
      if (when === 'before') expect([command, existsSync(at('ran'))]).toEqual([command, false])
      expect(JSON.stringify(bed.store.ledgerPage(null, 1))).toContain('drift')
    }
  })

  it('of the folder: refused before it, and without effect behind it', async () => {
    const swap = () => {
      renameSync(at('work'), at('moved'))
      mkdirSync(at('work'))
    }
    expect(await meanwhile('before', swap, 'touch here')).toMatchObject({
      failure: 'drift',
      stateReason: expect.stringContaining('the working folder'),
    })
    rmSync(at('work'), { recursive: true })
    renameSync(at('moved'), at('work'))
    expect((await meanwhile('behind', swap, 'touch here')).state).toBe('completed')
    expect([existsSync(at('moved', 'here')), existsSync(at('work', 'here'))]).toEqual([true, false])
  })

  it('is none when the command itself changes its script, and does not trouble the verifying command', async () => {
    writeFileSync(at('work', 'x.sh'), `sleep 0.1\necho more >> x.sh\n`)
    const asked = await bed.ask('bash x.sh', { cwd: at('work'), verify: 'ls x.sh' })
    expect(await answered(asked)).toMatchObject({
      state: 'completed',
      stateReason: 'Confirmed by the verifying command.',
    })
    expect(readFileSync(at('work', 'x.sh'), 'utf8')).toContain('more')
  })
})
