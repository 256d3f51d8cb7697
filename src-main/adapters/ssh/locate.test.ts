import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canMakeAccounts, type Sshd, type SshdOptions, sshdPath, startSshd } from '../../../e2e/support/sshd'
import type { PlanDraft, Prepared, Runner } from '../../ports'
import { createTestbed, type Testbed } from '../../services/testbed'
import { locateCommand, nonce, parseLocated } from './far-side'
import { hostOf, runnerFor } from './testbed'

const ACCOUNT: SshdOptions = canMakeAccounts() ? { account: { shell: '/bin/bash' } } : {}
const ODD = 'it\'s $(id) `id` "ü" \\101 %s*'

let dir: string
/** A program of the test's own; what it is called is what it prints. */
function program(path: string): string {
  writeFileSync(path, '#!/bin/sh\necho "$0"\n')
  chmodSync(path, 0o755)
  return path
}

beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'nomos-locate-')))
  chmodSync(dir, 0o755)
  mkdirSync(join(dir, 'bin'))
  program(join(dir, 'v1'))
  program(join(dir, 'v2'))
  program(join(dir, ODD))
  for (const name of ['ls', 'nomos-only-here']) program(join(dir, 'bin', name))
  symlinkSync('v1', join(dir, 'tool'))
  symlinkSync('nowhere', join(dir, 'dangling'))
  writeFileSync(join(dir, 'plain'), 'text')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('the words that ask where programs are', () => {
  const shells = [
    ['bash', '-c'],
    ['dash', '-c'],
    ['busybox', 'sh', '-c'],
    ['zsh', '-c'],
    ['fish', '-c'],
    ['tcsh', '-c'],
  ].filter(([name]) => ['/bin', '/usr/bin'].some((folder) => existsSync(`${folder}/${name}`)))

  it.each(shells)('mean the same to %s', (...login) => {
    const [shell = '', ...args] = login
    const word = nonce()
    const names = ['ls', 'nomos-only-here', join(dir, ODD), join(dir, 'tool'), 'cd', join(dir, 'plain')]
    const { stdout } = spawnSync(shell, [...args, locateCommand(word, names) ?? ''], {
      encoding: 'utf8',
      env: { HOME: "/home/o'd d", PATH: `${dir}/bin:${process.env.PATH}` },
    })
    expect(parseLocated(word, names, stdout)).toEqual({
      home: "/home/o'd d",
      programs: [
        {
          program: 'ls',
          path: expect.stringMatching(/^(\/usr)?\/bin\/ls$/),
          real: realpathSync('/bin/ls'),
          trusted: true,
        },
        { program: join(dir, ODD), path: join(dir, ODD), real: join(dir, ODD), trusted: false },
        { program: join(dir, 'tool'), path: join(dir, 'tool'), real: join(dir, 'v1'), trusted: false },
      ],
    })
  })

  it('are none for what no pattern could match, and for too much', () => {
    for (const name of ['./x', 'bin/x', '/a/../b', '/a//b', '/a/', '-v', '', '.', 'a\nb', '/a\u0007b'])
      expect(locateCommand('w', [name])).toBeNull()
    expect(
      locateCommand(
        'w',
        Array.from({ length: 33 }, (_, i) => `p${i}`),
      ),
    ).toBeNull()
    expect(locateCommand('w', [`/${'x'.repeat(8000)}`])).toBeNull()
  })
})

describe('the answer', () => {
  const word = nonce()
  const hex = (text: string): string => Buffer.from(text).toString('hex')
  const OWN = '-rwxr-xr-x/0/0'
  const FOLDER = 'drwxr-xr-x/0/0'
  const line = (path: string, real = path, rights = [OWN, FOLDER, FOLDER]): string =>
    `${word} 0 ${hex(path)} ${hex(real)} ${rights.join(' ')}`
  const read = (...lines: string[]) => parseLocated(word, ['du'], [...lines, `${word} end`, ''].join('\n'))?.programs

  it('is trusted where only root can write', () => {
    const trusted = (...rights: string[]) => read(line('/usr/bin/du', '/usr/bin/du', rights))?.[0]?.trusted
    expect(trusted(OWN, FOLDER, FOLDER)).toBe(true)
    expect(trusted('-rwsr-xr-x./0/0', FOLDER, 'drwxrwxr-x/0/0')).toBe(true)
    expect(trusted('-rwxr-xr-x/0/50', FOLDER, FOLDER)).toBe(true)
    for (const odd of ['-rwxrwxr-x/0/50', '-rwxr-xrwx/0/0', '-rwxr-xr-x/1000/0', '-rwxr-xr-x+/0/0', '//', 'x']) {
      expect(trusted(odd, FOLDER, FOLDER)).toBe(false)
      expect(trusted(OWN, odd.replace('-', 'd'), FOLDER)).toBe(false)
      expect(trusted(OWN, FOLDER, odd.replace('-', 'd'))).toBe(false)
    }
    expect(read(line('/usr/bin/du', '/opt/du'))?.[0]?.trusted).toBe(false)
  })

  it('is nothing where it is odd', () => {
    expect(read(line('/usr/bin/du'))).toHaveLength(1)
    expect(read(line('/home/ann/bin/du'))).toEqual([])
    expect(read(line('/usr/bin/df'))).toEqual([])
    expect(read(line('/usr/bin/du', '/usr/bin/../du'))).toEqual([])
    expect(read(line('/usr/bin/du', 'du'))).toEqual([])
    expect(read(line('/usr/bin/du', '/usr/bin/d\nu'))).toEqual([])
    expect(read(line('/usr/bin/du'), line('/usr/bin/du'))).toEqual([])
    expect(read(line('/usr/bin/du').replace(' 0 ', ' 1 '))).toEqual([])
    expect(read(`${line('/usr/bin/du')} more`)).toEqual([])
    expect(read(line('/usr/bin/du').replace(word, 'another'))).toEqual([])
    expect(parseLocated(word, ['du'], line('/usr/bin/du'))).toBeNull()
  })
})

describe.skipIf(sshdPath() === null)('on a host', () => {
  let sshd: Sshd
  let runner: Runner
  beforeAll(async () => {
    sshd = await startSshd({ ...ACCOUNT, path: [join(dir, 'bin')] })
  })
  afterAll(() => sshd.stop())
  beforeEach(async () => {
    ;({ runner } = await runnerFor(sshd))
  })
  afterEach(() => runner.close())

  const look = (programs: readonly string[], locate: PlanDraft['locate']): Promise<Prepared> => {
    const { address, port, clientKeyPath: keyPath, user } = sshd
    return runner.prepare({
      target: 'host:test',
      script: 'x',
      argv: null,
      sandbox: null,
      programs,
      locate,
      pins: [],
      fileOperand: null,
      sourced: [],
      unpinnable: null,
      cwd: null,
      env: {},
      endpoint: { address, port, auth: 'key', keyPath },
      user,
    })
  }

  it('tells where programs are, and what stands before them on PATH does not count', async () => {
    const names = ['ls', 'nomos-only-here', 'nomos-missing', join(dir, 'tool'), join(dir, 'dangling'), join(dir, ODD)]
    const { resolved, home } = await look(names, 'connect')
    expect(home).toBe(sshd.home)
    expect(resolved.map(({ program }) => program)).toEqual(['ls', join(dir, 'tool'), join(dir, ODD)])
    expect(resolved[0]).toMatchObject({ real: realpathSync('/bin/ls'), trusted: true })
    expect(resolved[1]).toMatchObject({ path: join(dir, 'tool'), real: join(dir, 'v1'), trusted: false })
  })

  it('is asked only when that is wanted', async () => {
    const before = sshd.log()
    expect((await look(['ls'], 'no')).resolved).toEqual([])
    expect((await look(['ls'], 'connected')).resolved).toEqual([])
    expect(sshd.log()).toBe(before)
    expect((await look(['ls'], 'connect')).resolved).toHaveLength(1)
    expect((await look(['ls'], 'connected')).resolved).toHaveLength(1)
    expect((await look(['ls'], 'no')).resolved).toEqual([])
  })

  it('that cannot be reached tells nothing', async () => {
    const stranger = await runnerFor(sshd, { known: '' })
    await runner.close()
    runner = stranger.runner
    expect((await look(['ls'], 'connect')).resolved).toEqual([])
  })

  describe('the allowlist', () => {
    let bed: Testbed
    /** Between the first look and the second. */
    let meanwhile: () => void
    beforeEach(() => {
      let looks = 0
      meanwhile = () => {}
      bed = createTestbed({
        files: true,
        runner: {
          kind: 'ssh',
          async prepare(draft) {
            looks += 1
            if (looks === 2) meanwhile()
            return runner.prepare(draft)
          },
          start: (plan, mode, sink) => runner.start(plan, mode, sink),
          close: () => runner.close(),
        },
      })
      bed.store.saveHost(hostOf(sshd), null, 0)
    })
    afterEach(() => bed.stop())

    const allow = (pattern: string, more: object = {}): void =>
      writeFileSync(
        join(bed.home, 'exec-approvals.json'),
        JSON.stringify({
          version: 1,
          agents: { main: { allowlist: [{ id: 'e1', pattern, scope: { target: 'host:test' }, ...more }] } },
        }),
        { mode: 0o600 },
      )
    const ask = (command: string) => bed.ask(command, { target: 'host:test' })

    it.each([
      ['a path', '/usr/bin/mkdir', 'mkdir -p /tmp'],
      ['a folder', '/usr/bin/*', 'mkdir -p /tmp'],
      ['a link', '<dir>/tool', '<dir>/tool x'],
      ['what a link leads to', '<dir>/v1', '<dir>/tool x'],
      ['a name with odd characters', '<dir>/it*', "'<dir>/it'\\''s $(id) `id` \"ü\" \\101 %s*' x"],
    ])('lets %s through', async (_name, pattern, command) => {
      allow(pattern.replace('<dir>', dir))
      const asked = await ask(command.replace('<dir>', dir))
      expect(asked.decision.trace.map(({ rule }) => rule)).toContain('allowlist:e1')
      await bed.until(asked.id, 'completed')
    })

    it('takes ~ for the home folder over there', async () => {
      const name = join(sshd.home, `nomos-tool-${process.pid}`)
      program(name)
      try {
        allow(`~/nomos-tool-${process.pid}`)
        await bed.until((await ask(name)).id, 'completed')
      } finally {
        rmSync(name)
      }
    })

    it('asks where the path is another one, or none', async () => {
      allow(join(dir, 'bin', '*'))
      // Over there PATH begins with that folder; a run nobody is asked about does not look into it.
      expect((await ask('nomos-only-here x')).state).toBe('pending_approval')
      allow('/usr/bin/nomos-missing')
      expect((await ask('nomos-missing x')).state).toBe('pending_approval')
      allow('/usr/bin/mkdir', { scope: { target: 'host:other' } })
      expect((await ask('mkdir -p /tmp')).state).toBe('pending_approval')
    })

    it('does not hold for a program that became another one before the start', async () => {
      allow(join(dir, 'tool'))
      meanwhile = () => {
        symlinkSync('v2', join(dir, 'tool.new'))
        renameSync(join(dir, 'tool.new'), join(dir, 'tool'))
      }
      const asked = await ask(`${join(dir, 'tool')} x`)
      const ended = await bed.until(asked.id, 'denied', 'completed')
      expect(ended).toMatchObject({ state: 'denied', stateReason: expect.stringContaining('Changed since') })
    })
  })
})
