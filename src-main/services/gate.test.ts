import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Plan } from '../../src-preload/contract/model'
import { createLocalRunner } from '../adapters/local'
import { planDigest } from '../domain/approval'
import { CAUTIOUS, CLOSED } from '../domain/policy'
import type { Runner } from '../ports'
import { APPROVAL_MS } from './gate'
import { createTestbed, OPERATOR, type Testbed } from './testbed'

let bed: Testbed
let scratch: string
beforeEach(() => {
  bed = createTestbed()
  scratch = mkdtempSync(join(tmpdir(), 'nomos-scratch-'))
})
afterEach(async () => {
  await bed.stop()
  rmSync(scratch, { recursive: true, force: true })
})

/** Processes of a group that still run; one that nobody has waited for yet (a zombie) does not. */
const alive = (group: number): string[] =>
  spawnSync('ps', ['-eo', 'pgid=,stat=,args='], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => Number(line.trim().split(/\s+/)[0]) === group && !/^\s*\d+\s+Z/.test(line))

const kinds = () =>
  bed.store
    .ledgerPage(null, 200)
    .map(({ kind }) => kind)
    .reverse()

describe('a request', () => {
  it('that only reads runs at once and leaves requested, started, finished in the ledger', async () => {
    const asked = await bed.ask('uname -s')
    const execution = await bed.until(asked.id, 'completed')
    expect(execution.risk).toBe('read_only')
    expect(execution.approval).toBeNull()
    expect(execution.output.trim()).toBe('Linux')
    expect(execution.exitCode).toBe(0)
    expect(kinds()).toEqual(['execution.requested', 'execution.started', 'execution.finished'])
    expect(bed.store.verifyLedger().intact).toBe(true)
  })

  it('that changes something waits, and runs exactly once when approved', async () => {
    const file = join(scratch, 'made')
    const asked = await bed.ask(`mkdir ${file}`, { purpose: 'a place for tests' })
    expect(asked.state).toBe('pending_approval')
    expect(existsSync(file)).toBe(false)
    bed.approve(asked)
    const execution = await bed.until(asked.id, 'completed', 'failed')
    expect(execution.state).toBe('completed')
    expect(existsSync(file)).toBe(true)
    expect(execution.approval?.settlement).toMatchObject({ by: 'operator', surface: 'window' })
    expect(() => bed.approve(asked)).toThrow(/It was approved already, by the operator on its card \d+ s ago/)
    expect(() => bed.deny(asked)).toThrow(/approved already/)
    expect(kinds().filter((kind) => kind === 'execution.started')).toHaveLength(1)
    expect(kinds().filter((kind) => kind === 'approval.refused')).toHaveLength(2)
  })

  it('that is denied never runs, and hands no output to a model', async () => {
    const file = join(scratch, 'never')
    const asked = await bed.ask(`touch ${file}`)
    bed.deny(asked, 'not on this machine')
    const execution = await bed.until(asked.id, 'denied')
    expect(execution.stateReason).toBe('Denied by the operator: not on this machine')
    expect(() => bed.approve(asked)).toThrow(/It was denied already/)
    await new Promise((go) => setTimeout(go, 100))
    expect(existsSync(file)).toBe(false)
    expect(bed.gate.resultText(asked.id)).toContain('It did not run and there is no output')
    expect(bed.gate.resultText(asked.id)).toContain('not on this machine')
  })

  it('that cannot be undone needs the typed phrase, and five wrong ones pause it', async () => {
    const folder = join(scratch, 'gone')
    mkdirSync(folder)
    const asked = await bed.ask(`rm -rf ${folder}`)
    expect(asked.risk).toBe('destructive')
    expect(asked.approval).toMatchObject({ outcome: 'confirm', phrase: 'rm local' })
    expect(() => bed.approve(asked)).toThrow('Type exactly: rm local')
    for (const wrong of ['yes', 'rm', 'rm  host:x', 'RM local'])
      expect(() => bed.approve(asked, wrong)).toThrow(/not the phrase/)
    bed.clock.move(50_000)
    expect(() => bed.approve(asked, 'rm local')).toThrow(/Too many wrong phrases/)
    // A minute from then on, however long ago the wrong ones were; what is tried meanwhile makes it no longer.
    bed.clock.move(50_000)
    expect(() => bed.approve(asked, 'rm local')).toThrow(/Too many wrong phrases. Try again in (?:9|10) s/)
    bed.clock.move(11_000)
    const codes = bed.store
      .ledgerPage(null, 200)
      .flatMap(({ kind, data }) => (kind === 'approval.refused' ? [data.code] : []))
    expect(codes.filter((code) => code === 'phrase_paused')).toHaveLength(1)
    bed.approve(asked, ' rm local ')
    await bed.until(asked.id, 'completed')
    expect(existsSync(folder)).toBe(false)
  })

  it('that cannot be undone is not to be confirmed from the command line beside a window', async () => {
    const asked = await bed.ask(`rm -rf ${scratch}/x`)
    const answer = { kind: 'approve' as const, phrase: 'rm local' }
    const cli = { surface: 'cli' as const, operator: true }
    expect(() => bed.desk.answer(cli, asked.approval!.id, answer, asked.approval!.digest)).toThrow(/card in the window/)
    expect(bed.store.approval(asked.approval!.id)?.state).toBe('pending')
  })

  it('is answered by nobody but an operator, and not under another digest', async () => {
    const asked = await bed.ask(`touch ${scratch}/x`)
    const approve = { kind: 'approve' as const, phrase: null }
    for (const surface of ['agent', 'mcp', 'cli', 'system'] as const) {
      expect(() =>
        bed.desk.answer({ surface, operator: false }, asked.approval!.id, approve, asked.approval!.digest),
      ).toThrow(/Only the operator/)
    }
    expect(() =>
      bed.desk.answer({ surface: 'window', operator: true }, asked.approval!.id, approve, 'f'.repeat(64)),
    ).toThrow(/not what waits/)
    expect(bed.store.approval(asked.approval!.id)?.state).toBe('pending')
  })

  it('expires after an hour, also when the clock jumped and no timer fired', async () => {
    const asked = await bed.ask(`touch ${scratch}/late`)
    bed.clock.move(APPROVAL_MS + 1)
    expect(() => bed.approve(asked)).toThrow(/ran out/)
    expect(bed.store.execution(asked.id)).toMatchObject({ state: 'expired' })
    const second = await bed.ask(`touch ${scratch}/late2`)
    bed.clock.move(APPROVAL_MS + 1)
    bed.desk.expire()
    expect(bed.store.execution(second.id)).toMatchObject({ state: 'expired', approval: { state: 'expired' } })
  })

  it('that comes twice while it waits is one request; of another principal it is another', async () => {
    const first = await bed.ask(`touch ${scratch}/x`, { purpose: 'one reason' })
    const second = await bed.ask(`touch ${scratch}/x`, { purpose: 'another reason' })
    expect(second.id).toBe(first.id)
    expect(second.purpose).toBe('one reason\nanother reason')
    const [third, fourth] = await Promise.all([bed.ask(`touch ${scratch}/y`), bed.ask(`touch ${scratch}/y`)])
    expect(third!.id).toBe(fourth!.id)
    const agent = await bed.ask(`touch ${scratch}/x`, {}, { kind: 'agent', id: 'main', session: null, turn: null })
    expect(agent.id).not.toBe(first.id)
    bed.deny(first)
    expect((await bed.ask(`touch ${scratch}/x`)).id).not.toBe(first.id)
  })

  it('with a fault says which and leaves no record', async () => {
    const before = bed.store.ledgerPage(null, 100).length
    await expect(bed.ask('')).rejects.toMatchObject({ code: 'command_empty', field: 'command' })
    await expect(bed.ask(' \n\t')).rejects.toMatchObject({ code: 'command_empty' })
    await expect(bed.ask('ls\0 -l')).rejects.toMatchObject({ code: 'command_nul' })
    await expect(bed.ask('ls \ud800')).rejects.toMatchObject({ code: 'bad_input', field: 'command' })
    await expect(bed.ask('ls', { target: 'host:nowhere' })).rejects.toThrow('Known: local')
    await expect(bed.ask('ls', { cwd: '/not/there' })).rejects.toMatchObject({ field: 'cwd' })
    await expect(bed.ask('ls', { cwd: 'relative' })).rejects.toMatchObject({ field: 'cwd' })
    await expect(bed.ask('ls', { env: { 'A B': '1' } })).rejects.toMatchObject({ field: 'env' })
    await expect(bed.ask('touch /tmp/x', { verify: 'rm /tmp/x' })).rejects.toMatchObject({ field: 'verify' })
    await expect(bed.ask(`sh ${scratch}/missing.sh`)).rejects.toThrow(/cannot be pinned/)
    expect(bed.store.ledgerPage(null, 100)).toHaveLength(before)
  })

  it('is judged by the policy: deny, ask always, the switches', async () => {
    bed.policy.host = CLOSED
    const denied = await bed.ask('uname')
    expect(denied).toMatchObject({ state: 'denied', failure: 'policy' })
    bed.policy.host = { ...CAUTIOUS, ask: 'always' }
    expect((await bed.ask('uname')).state).toBe('pending_approval')
    bed.policy.host = CAUTIOUS
    bed.policy.switches = { askAboutEverything: false, pauseAutomatic: true }
    expect((await bed.ask('uname -r')).state).toBe('pending_approval')
  })

  it('is refused while something blocks runs, and so is the start of what was approved', async () => {
    const asked = await bed.ask(`touch ${scratch}/x`)
    bed.health.set({ code: 'ledger_broken', sentence: 'Broken.', path: null, blocksRuns: true, actions: [] })
    await expect(bed.ask('uname')).rejects.toMatchObject({ code: 'runs_blocked' })
    bed.approve(asked)
    await new Promise((go) => setTimeout(go, 50))
    expect(bed.store.execution(asked.id)?.state).toBe('approved')
    expect(existsSync(`${scratch}/x`)).toBe(false)
    bed.health.clear('ledger_broken')
    await bed.gate.startApproved(asked.id)
    await bed.until(asked.id, 'completed')
  })

  it('for a program that is not of the system asks, whatever its name', async () => {
    const bin = join(scratch, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'uptime'), '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n')
    chmodSync(join(bin, 'uptime'), 0o755)
    const shadowed = createTestbed({
      runner: createLocalRunner({ ...process.env, PATH: `${bin}:${process.env.PATH}` }),
    })
    try {
      const asked = await shadowed.ask('uptime')
      expect(asked.state).toBe('pending_approval')
      expect(asked.classification.reasons.map(({ rule }) => rule)).toContain('gate.program-not-of-the-system')
      expect(existsSync(join(bin, 'ran'))).toBe(false)
    } finally {
      await shadowed.stop()
    }
  })
})

describe('what was approved', () => {
  it('is not run when the script was edited, swapped or the policy changed in between', async () => {
    const script = join(scratch, 'job.sh')
    const changes: (() => void)[] = [
      () => writeFileSync(script, 'touch evil\n'),
      () => {
        rmSync(script)
        writeFileSync(script, 'echo one\n')
      },
      () => {
        bed.policy.version = 'p2'
      },
    ]
    for (const change of changes) {
      writeFileSync(script, 'echo one\n')
      const asked = await bed.ask(`sh ${script}`)
      change()
      bed.approve(asked)
      const execution = await bed.until(asked.id, 'denied', 'completed')
      expect(execution).toMatchObject({ state: 'denied', failure: 'drift', approval: { state: 'revoked' } })
      expect(execution.stateReason).toMatch(/Changed since it was agreed to: the (script file|policy)/)
    }
    expect(kinds()).not.toContain('execution.started')
  })

  it('runs in the folder and with the variables that were shown', async () => {
    const asked = await bed.ask('touch here; echo "$GREETING"', {
      cwd: scratch,
      env: { GREETING: 'it\'s "quoted" $HOME' },
    })
    bed.approve(asked)
    const execution = await bed.until(asked.id, 'completed')
    expect(execution.output).toBe('it\'s "quoted" $HOME\n')
    expect(existsSync(join(scratch, 'here'))).toBe(true)
  })

  it('is verified afterwards when a verifying command was given', async () => {
    const good = await bed.ask(`touch ${scratch}/v`, { verify: `ls ${scratch}/v` })
    bed.approve(good)
    expect((await bed.until(good.id, 'completed', 'failed')).stateReason).toBe('Confirmed by the verifying command.')
    const bad = await bed.ask(`touch ${scratch}/w`, { verify: `ls ${scratch}/nothing` })
    bed.approve(bad)
    expect(await bed.until(bad.id, 'completed', 'failed')).toMatchObject({ state: 'failed', failure: 'not_verified' })
  })
})

describe('the place a command runs at', () => {
  it('counts as much as its words: what is Nomos, a secret or a device stays so under a relative name', async () => {
    mkdirSync(join(bed.home, 'run', 'sub'), { recursive: true })
    writeFileSync(join(bed.home, 'run', 'control.token'), 'CONTROL')
    const inside = join(bed.home, 'run')
    for (const [command, cwd] of [
      ['cat control.token', inside],
      ['cat ../control.token', join(inside, 'sub')],
      ['grep -r CONTROL', bed.home],
      ['rm control.token', inside],
      ['ls', inside],
    ] as const) {
      const asked = await bed.ask(command, { cwd })
      expect([command, asked.state, asked.classification.flags.self]).toEqual([command, 'pending_approval', true])
      expect(asked.approval?.outcome).toBe('confirm')
    }
    for (const [command, cwd] of [
      ['cat environ', '/proc/self'],
      ['head -c 4 urandom', '/dev'],
      ['cat shadow', '/etc'],
    ] as const) {
      expect([command, (await bed.ask(command, { cwd })).state]).toEqual([command, 'pending_approval'])
    }
    expect((await bed.until((await bed.ask('ls', { cwd: scratch })).id, 'completed')).cwd).toBe(scratch)
  })

  it('makes a git read ask where the settings of the repository name programs', async () => {
    spawnSync('git', ['init', '-q', scratch])
    expect((await bed.ask('git status', { cwd: scratch })).state).not.toBe('pending_approval')
    spawnSync('git', ['-C', scratch, 'config', 'filter.x.clean', 'touch ran; cat'])
    const asked = await bed.ask('git status', { cwd: scratch })
    expect(asked.state).toBe('pending_approval')
    expect(asked.classification.reasons.map(({ rule }) => rule)).toContain('gate.repository-settings')
  })
})

describe('a verifying command', () => {
  it('is shown, is part of what makes two requests the same, and gets no more than an automatic run', async () => {
    const runner = createLocalRunner({ ...process.env, DEPLOY_TOKEN: 'plain-1234567' })
    const other = createTestbed({ runner })
    try {
      const first = await other.ask(`mkdir ${scratch}/x`, { verify: 'env' })
      expect(first.verify).toBe('env')
      const second = await other.ask(`mkdir ${scratch}/x`, { verify: 'uname' })
      expect(second.id).not.toBe(first.id)
      expect((await other.ask(`mkdir ${scratch}/x`, { verify: 'uname', declaredRisk: 'destructive' })).id).not.toBe(
        second.id,
      )
      other.approve(first)
      const { output } = await other.until(first.id, 'completed', 'failed')
      expect(output).toContain('verifying: env')
      expect(output).not.toContain('plain-1234567')
    } finally {
      await other.stop()
    }
  })
})

describe('how it is started', () => {
  let folder: string
  let plans: Plan[]
  let spied: Testbed
  /** What the place says of its sandbox, look by look; without it, what is true. */
  let answers: (string | null)[]
  const local = createLocalRunner()
  const works = spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0

  beforeEach(() => {
    folder = mkdtempSync('/var/tmp/nomos-gate-')
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'notes.txt'), 'one\n')
    plans = []
    answers = []
    const runner: Runner = {
      ...local,
      async prepare(draft) {
        const prepared = await local.prepare(draft)
        const answer = answers.shift()
        return answer === undefined ? prepared : { ...prepared, sandbox: answer === 'files' ? 'files' : null }
      },
      start(plan, mode, sink) {
        plans.push(plan)
        return local.start(plan, mode, sink)
      },
    }
    spied = createTestbed({ runner })
  })
  afterEach(async () => {
    await spied.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const ran = async (command: string) => {
    const asked = await spied.ask(command, { cwd: folder })
    if (asked.state === 'pending_approval') spied.approve(asked, asked.approval?.phrase ?? null)
    return spied.until(asked.id, 'completed', 'failed', 'denied')
  }
  const sealed = ({ digest: _digest, ...plan }: Plan, change: Partial<Plan>) => planDigest({ ...plan, ...change })

  it('a literal read by its words, whatever needs a shell by its script; both are part of the digest', async () => {
    for (const [command, argv] of [
      ['uname -s', ['uname', '-s']],
      [`echo 'a  b' "\\$HOME" \\;`, ['echo', 'a  b', '$HOME', ';']],
      ['LC_ALL=C uname', null],
      ['uname 2>/dev/null', null],
      ['type ls', null],
      ['ls *.txt', null],
    ] as const) {
      const { state, sandbox } = await ran(command)
      expect([command, state, sandbox]).toEqual([command, 'completed', null])
      expect(plans.at(-1)).toMatchObject({ argv, script: command, sandbox: null })
    }
    const plan = plans[0] as Plan
    expect(plan.digest).toBe(sealed(plan, {}))
    const digests = [
      plan.digest,
      sealed(plan, { argv: null }),
      sealed(plan, { argv: ['uname', '-a'] }),
      sealed(plan, { sandbox: 'files' }),
    ]
    expect(new Set(digests).size).toBe(4)
  })

  it('what somebody agreed to by the shell, as it was shown', async () => {
    spied.policy.host = { ...CAUTIOUS, ask: 'always' }
    expect(await ran('cat notes.txt')).toMatchObject({ state: 'completed', output: 'one\n', sandbox: null })
    expect(plans).toMatchObject([{ argv: null, sandbox: null, script: 'cat notes.txt' }])
    spied.policy.host = CAUTIOUS
    await ran(`touch ${folder}/made`)
    expect(plans.at(-1)).toMatchObject({ argv: null, sandbox: null })
  })

  it('a verifying command by words of its own', async () => {
    const asked = await spied.ask('touch made', { cwd: folder, verify: 'ls made' })
    spied.approve(asked)
    expect((await spied.until(asked.id, 'completed', 'failed')).stateReason).toBe('Confirmed by the verifying command.')
    expect(plans.map(({ argv, script, sandbox }) => [argv, script, sandbox])).toEqual([
      [null, 'touch made', null],
      [['ls', 'made'], 'ls made', null],
    ])
  })

  it.skipIf(!works)('a reader of files in the sandbox, and the card says so exactly then', async () => {
    const read = await ran('cat notes.txt')
    expect(read).toMatchObject({ state: 'completed', output: 'one\n', sandbox: 'files' })
    expect(read.decision.trace.at(-1)).toMatchObject({ layer: 'gate', rule: 'sandbox.files' })
    expect(plans).toMatchObject([{ argv: ['cat', 'notes.txt'], sandbox: 'files' }])
    for (const command of ['ls -l', 'cat /proc/uptime', 'LC_ALL=C cat notes.txt']) {
      expect([command, (await ran(command)).sandbox]).toEqual([command, null])
      expect(plans.at(-1)?.sandbox).toBeNull()
    }
  })

  it.skipIf(!works)(
    'not at all when the sandbox is gone right before, and plain when it was not there at first',
    async () => {
      answers = ['files', null]
      expect(await ran('cat notes.txt')).toMatchObject({ state: 'denied', failure: 'drift', output: '' })
      expect(plans).toEqual([])
      answers = [null]
      expect(await ran('cat notes.txt')).toMatchObject({ state: 'completed', sandbox: null, output: 'one\n' })
      expect(plans).toMatchObject([{ argv: ['cat', 'notes.txt'], sandbox: null }])
    },
  )
})

describe('a run', () => {
  it('is stopped with its whole group', async () => {
    const asked = await bed.ask(`sleep 300 & sleep 300 & echo $$ > ${scratch}/pid; sleep 300`)
    bed.approve(asked)
    await bed.until(asked.id, 'running')
    while (!existsSync(join(scratch, 'pid'))) await new Promise((go) => setTimeout(go, 10))
    const group = Number(readFileSync(join(scratch, 'pid'), 'utf8'))
    expect(alive(group).length).toBeGreaterThan(2)
    await bed.gate.cancel(asked.id, 'operator', 'window')
    const execution = await bed.until(asked.id, 'cancelled')
    expect(execution.stateReason).toBe('Stopped by operator.')
    await expect.poll(() => alive(group)).toEqual([])
  })

  it('that ignores the polite signal is ended all the same', async () => {
    const asked = await bed.ask(`trap '' TERM; touch ${scratch}/up; while :; do sleep 0.05; done`)
    bed.approve(asked)
    while (!existsSync(join(scratch, 'up'))) await new Promise((go) => setTimeout(go, 10))
    await bed.gate.cancel(asked.id, 'operator', 'window')
    await bed.until(asked.id, 'cancelled')
  })

  it.each([
    ['quotes and backslashes', `printf '%s' 'a "b" \\\\ c'`, 'a "b" \\\\ c'],
    ['carriage returns', `printf 'one\\rtwo\\r\\n'`, 'one\rtwo\r\n'],
    ['NUL', `printf 'a\\0b'`, 'a␀b'],
    ['invalid UTF-8', `printf '\\377\\376ok'`, '��ok'],
    ['nothing', 'true', ''],
    ['both streams', 'echo out; echo err >&2', null],
  ])('with %s on its output is settled', async (_name, command, expected) => {
    const asked = await bed.ask(command)
    if (asked.state === 'pending_approval') bed.approve(asked)
    const execution = await bed.until(asked.id, 'completed')
    if (expected === null) expect(execution.output.split('\n').sort()).toEqual(['', 'err', 'out'])
    else expect(execution.output).toBe(expected)
  })

  it('with 100 MB of output is settled, bounded and counted', async () => {
    const asked = await bed.ask('head -c 100000000 /dev/zero | tr "\\0" "é"; echo; echo the end')
    if (asked.state === 'pending_approval') bed.approve(asked)
    const execution = await bed.until(asked.id, 'completed', 'failed')
    expect(execution.outputBytes).toBeGreaterThan(100_000_000)
    expect(execution.truncated).toBe(true)
    expect(Buffer.byteLength(execution.output)).toBeLessThanOrEqual(4096)
    expect(execution.output.endsWith('the end\n')).toBe(true)
    expect((bed.gate.output(asked.id)?.text ?? '').length).toBeLessThan(1_000_000)
  })

  it('that fails says how', async () => {
    const failing = await bed.ask('exit 7')
    bed.approve(failing)
    expect(await bed.until(failing.id, 'failed')).toMatchObject({
      exitCode: 7,
      stateReason: 'It ended with exit code 7.',
    })
    const killed = await bed.ask('kill -9 $$')
    bed.approve(killed, killed.approval?.phrase ?? null)
    expect(await bed.until(killed.id, 'failed')).toMatchObject({ signal: 'SIGKILL', failure: 'signal' })
  })

  it('gets none of our variables and no preload', async () => {
    const runner = createLocalRunner({
      ...process.env,
      NOMOS_HOME: '/x',
      LD_PRELOAD: '/x.so',
      BASH_ENV: '/x',
      GIT_DIR: '/x',
      API_TOKEN: 'hidden',
    })
    const other = createTestbed({ runner })
    try {
      const asked = await other.ask('env')
      if (asked.state === 'pending_approval') other.approve(asked)
      const { output } = await other.until(asked.id, 'completed')
      expect(output).not.toMatch(/NOMOS_HOME|LD_PRELOAD|BASH_ENV|GIT_DIR/)
      expect(output).not.toContain('hidden')
    } finally {
      await other.stop()
    }
  })

  it('is started once, however often and from wherever it is asked for', async () => {
    const asked = await bed.ask(`echo x >> ${scratch}/count`)
    bed.approve(asked)
    await Promise.allSettled(Array.from({ length: 20 }, () => bed.gate.startApproved(asked.id)))
    await bed.until(asked.id, 'completed')
    expect(readFileSync(join(scratch, 'count'), 'utf8')).toBe('x\n')
  })
})

describe('secrets', () => {
  const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'

  it('never reach the ledger, the row, the events or the model', async () => {
    const asked = await bed.ask(`curl -H 'Authorization: Bearer ${SECRET}' http://127.0.0.1:9/; echo ${SECRET}`, {
      purpose: `use ${SECRET}`,
    })
    bed.approve(asked, asked.approval?.phrase ?? null)
    await bed.until(asked.id, 'completed', 'failed')
    const everything = [
      JSON.stringify(bed.store.ledgerPage(null, 100)),
      JSON.stringify(bed.store.execution(asked.id)),
      JSON.stringify(bed.events),
      bed.gate.resultText(asked.id),
      bed.gate.output(asked.id)?.text ?? '',
      readFileSync(bed.store.path).toString('latin1'),
      existsSync(`${bed.store.path}-wal`) ? readFileSync(`${bed.store.path}-wal`).toString('latin1') : '',
    ]
    for (const text of everything) expect(text.includes(SECRET)).toBe(false)
    expect(bed.store.execution(asked.id)?.redacted).toBe(true)
  })

  it('in the folder, the declared risk or a refusal are taken out as well', async () => {
    const folder = join(scratch, SECRET)
    mkdirSync(folder)
    const asked = await bed.ask('touch x', { cwd: folder, declaredRisk: `password=${SECRET}` })
    rmSync(folder, { recursive: true })
    bed.approve(asked)
    await bed.until(asked.id, 'denied')
    const everything = JSON.stringify([bed.store.ledgerPage(null, 100), bed.store.execution(asked.id)])
    expect(everything.includes(SECRET)).toBe(false)
    expect(bed.store.execution(asked.id)?.declaredRisk).toBe('unknown')
  })

  it('are stored encrypted with a keyring, and the plan runs after a restart', async () => {
    const asked = await bed.ask(`printf %s ${SECRET} > ${scratch}/kept`)
    bed = bed.restart()
    bed.approve(asked, asked.approval?.phrase ?? null)
    await bed.until(asked.id, 'completed')
    expect(readFileSync(join(scratch, 'kept'), 'utf8')).toBe(SECRET)
  })

  it('without a keyring are kept in memory only: after a restart the plan is lost and says so', async () => {
    await bed.stop()
    bed = createTestbed({ keyring: false })
    const asked = await bed.ask(`printf %s ${SECRET} > ${scratch}/kept`)
    bed = bed.restart()
    expect(bed.store.execution(asked.id)).toMatchObject({ state: 'cancelled', approval: { state: 'cancelled' } })
    expect(bed.store.execution(asked.id)?.stateReason).toMatch(/^Plan lost/)
  })
})

describe('after a crash', () => {
  it('what ran is unknown and never run again; what waited waits on; what was approved can be started', async () => {
    const running = await bed.ask(`echo x >> ${scratch}/ran; sleep 1`)
    bed.approve(running)
    while (!existsSync(join(scratch, 'ran'))) await new Promise((go) => setTimeout(go, 10))
    const waiting = await bed.ask(`touch ${scratch}/later`)
    const approved = await bed.ask(`touch ${scratch}/granted`)
    bed.store.settleApproval(
      approved.approval!.id,
      'approved',
      { by: 'operator', surface: 'window', words: null, note: null, at: bed.clock.now() },
      { state: 'approved', reason: null },
    )
    bed = bed.restart()
    expect(bed.store.execution(running.id)).toMatchObject({ state: 'unknown' })
    expect(bed.store.execution(waiting.id)).toMatchObject({ state: 'pending_approval' })
    expect(bed.store.execution(approved.id)).toMatchObject({ state: 'approved' })
    expect(existsSync(`${scratch}/granted`)).toBe(false)
    await bed.gate.startApproved(approved.id)
    await bed.until(approved.id, 'completed')
    bed.approve(waiting)
    await bed.until(waiting.id, 'completed')
    expect(readFileSync(join(scratch, 'ran'), 'utf8')).toBe('x\n')
    await expect(bed.gate.startApproved(running.id)).rejects.toThrow(/unknown/)
    expect(bed.store.verifyLedger().intact).toBe(true)
  })

  it('a plan that was edited in the database is not run', async () => {
    const asked = await bed.ask(`touch ${scratch}/agreed`)
    const { openDatabase } = await import('../adapters/sqlite/driver')
    const db = openDatabase(bed.store.path)
    const row = db.prepare('SELECT plan_json FROM executions WHERE id = ?').get(asked.id) as { plan_json: string }
    db.prepare('UPDATE executions SET plan_json = ? WHERE id = ?').run(
      row.plan_json.replace('agreed', 'forged'),
      asked.id,
    )
    db.close()
    bed = bed.restart()
    expect(bed.store.execution(asked.id)?.state).toBe('cancelled')
    expect(existsSync(`${scratch}/forged`)).toBe(false)
  })
})

describe('again', () => {
  it('is always a new request that names the old one', async () => {
    const first = await bed.ask('exit 3', { purpose: 'to see it fail' })
    bed.approve(first)
    await bed.until(first.id, 'failed')
    const request = bed.gate.again(first.id)
    const second = await bed.gate.request(OPERATOR, { ...request!, retryOf: first.id })
    expect(second).toMatchObject({ retryOf: first.id, state: 'pending_approval', purpose: 'to see it fail' })
    expect(second.id).not.toBe(first.id)
  })
})
