import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canMakeAccounts, type Sshd, type SshdOptions, sshdPath, startSshd } from '../../../e2e/support/sshd'
import type { InspectedPlace, PathSeen } from '../../ports'
import { inspectFiles } from '../local/inspect'
import { nonce } from './far-side'
import type { SshPlaces } from './index'
import { answerBytes, inspectCommand, parseInspected } from './inspect'
import { planFor, runnerFor, runScript } from './testbed'

const ODD = 'it\'s $(id) `id` "ü" \\101 %s*\nline '
const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31 + (i >> 8)) & 255))
const NAMES = [
  ODD,
  'empty',
  'big',
  'folder',
  'link',
  'to-folder',
  'odd-link',
  'fifo',
  'absent',
  'absent/below',
  'suid',
  '-n',
]
const MOST = 80_000

let dir: string
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'nomos-inspect-')))
  chmodSync(dir, 0o755)
  writeFileSync(join(dir, ODD), BYTES)
  writeFileSync(join(dir, 'empty'), '')
  writeFileSync(join(dir, '-n'), '\n\n')
  writeFileSync(join(dir, 'big'), Buffer.alloc(MOST + 1))
  writeFileSync(join(dir, 'suid'), 'x')
  chmodSync(join(dir, 'suid'), 0o4711)
  mkdirSync(join(dir, 'folder'), { mode: 0o750 })
  symlinkSync('empty', join(dir, 'link'))
  symlinkSync('folder', join(dir, 'to-folder'))
  symlinkSync(`${ODD}\n`, join(dir, 'odd-link'))
  spawnSync('mkfifo', [join(dir, 'fifo')])
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A host tells whole seconds. */
const wholeSeconds = (seen: readonly PathSeen[]): readonly unknown[] =>
  seen.map((one) =>
    one.kind === 'file'
      ? { ...one, mtime: one.mtime.split('.')[0], content: one.content === null ? null : Buffer.from(one.content) }
      : one,
  )

describe('the words that look at a path', () => {
  const shells = [
    ['bash', '-c'],
    ['dash', '-c'],
    ['busybox', 'sh', '-c'],
    ['zsh', '-c'],
    ['fish', '-c'],
    ['tcsh', '-c'],
  ].filter(([name]) => ['/bin', '/usr/bin'].some((folder) => existsSync(`${folder}/${name}`)))

  it.each(shells)('tell %s the same as the look here', async (...login) => {
    const [shell = '', ...args] = login
    const here = await inspectFiles(
      { cwd: dir },
      NAMES.map((path) => ({ path, content: MOST })),
    )
    const there = NAMES.map((path) => {
      const word = nonce()
      const wish = { path, content: MOST }
      const { stdout } = spawnSync(shell, [...args, inspectCommand(word, dir, wish)], {
        encoding: 'utf8',
        maxBuffer: answerBytes(MOST),
      })
      const seen = parseInspected(word, wish, stdout)
      if (seen === null) throw new Error(`no answer for ${path}: ${stdout}`)
      return seen
    })
    expect(wholeSeconds(there)).toEqual(wholeSeconds(here))
    expect(there.map(({ kind }) => kind)).toEqual([
      'file',
      'file',
      'file',
      'folder',
      'link',
      'link',
      'link',
      'other',
      'missing',
      'missing',
      'file',
      'file',
    ])
  })

  it('are nothing where the answer is odd', () => {
    const wish = { path: '/a', content: 10 }
    const hex = Buffer.from('/a').toString('hex')
    const read = (rest: string): unknown => parseInspected('w', wish, `noise\nw ${hex} ${rest}\n`)
    expect(read('file 644 0 0 1:2 3 100 content 616263')).toMatchObject({ kind: 'file', size: 3, without: null })
    expect(read('file 644 0 0 1:2 30 100 content 6162636465666768696a6b')).toMatchObject({ without: 'too-large' })
    for (const odd of [
      'file',
      'file 999 0 0 1:2 3 4 denied',
      'file 644 0 0 1:2 3 4 content 6',
      'file 644 0 0 1:2 3 4',
      'folder 1 2',
      'x',
      '',
    ])
      expect(read(odd), odd).toBeNull()
    expect(parseInspected('w', wish, `v ${hex} missing`)).toBeNull()
    expect(parseInspected('w', wish, `w ${Buffer.from('a').toString('hex')} missing`)).toBeNull()
  })
})

describe.skipIf(sshdPath() === null)('on a host', () => {
  const ACCOUNT: SshdOptions = canMakeAccounts() ? { account: { shell: '/bin/bash' } } : {}
  let sshd: Sshd
  let runner: SshPlaces
  let place: InspectedPlace
  beforeAll(async () => {
    sshd = await startSshd(ACCOUNT)
    ;({ runner } = await runnerFor(sshd))
    const plan = await planFor(runner, sshd, 'true')
    place = { kind: 'ssh', endpoint: plan.endpoint, user: plan.user, hostKeys: plan.hostKeys, cwd: null }
  })
  afterAll(async () => {
    await runner.close()
    await sshd.stop()
  })

  it('files are seen with their content, relative ones from the folder', async () => {
    const seen = await runner.inspect(
      { ...place, cwd: dir },
      NAMES.map((path) => ({ path, content: MOST })),
    )
    const here = await inspectFiles(
      { cwd: dir },
      NAMES.map((path) => ({ path, content: MOST })),
    )
    const shut = canMakeAccounts() ? 1 : 0
    // Only its owner may read it.
    expect(wholeSeconds(seen).filter((_, i) => NAMES[i] !== 'suid')).toEqual(
      wholeSeconds(here).filter((_, i) => NAMES[i] !== 'suid'),
    )
    expect(seen[NAMES.indexOf('suid')]).toMatchObject({
      kind: 'file',
      mode: 0o4711,
      without: shut === 1 ? 'denied' : null,
    })
  })

  it('without a folder paths begin at the home of the login', async () => {
    writeFileSync(join(sshd.home, 'mine'), 'x')
    expect((await runner.inspect(place, [{ path: 'mine', content: 0 }]))[0]).toMatchObject({
      at: join(realpathSync(sshd.home), 'mine'),
      kind: 'file',
      without: 'not-wanted',
    })
  })

  it.runIf(canMakeAccounts())('what lies behind a shut folder is hidden, not missing', async () => {
    mkdirSync(join(dir, 'shut'), { mode: 0o700 })
    writeFileSync(join(dir, 'shut', 'f'), 'x')
    const wishes = ['shut/f', 'shut/none'].map((path) => ({ path: join(dir, path), content: MOST }))
    expect((await runner.inspect(place, wishes)).map(({ kind }) => kind)).toEqual(['hidden', 'hidden'])
  })

  it('1 MiB comes over whole', async () => {
    const content = Buffer.alloc(1024 * 1024, BYTES)
    writeFileSync(join(dir, 'mib'), content)
    const [seen] = await runner.inspect(place, [{ path: join(dir, 'mib'), content: content.length }])
    expect(seen?.kind === 'file' && Buffer.from(seen.content ?? []).equals(content)).toBe(true)
  })

  it('another key than that of the plan is not spoken to', async () => {
    const other = { ...place, hostKeys: [{ algorithm: 'ssh-ed25519', fingerprint: 'SHA256:other' }] }
    await expect(runner.inspect(other, [{ path: '/etc/passwd', content: 10 }])).rejects.toThrow('another key')
  })

  describe('a run with an input', () => {
    const sizes = [0, 1, 4096, 1024 * 1024]
    it.each(sizes)('of %i bytes reads exactly these', async (size) => {
      const input = Buffer.alloc(size, BYTES)
      const target = join(sshd.home, `in-${size}`)
      const { end, stderr } = await runScript(runner, sshd, `cat > '${target}'`, {}, { input })
      expect([end, stderr]).toEqual([{ kind: 'exited', exitCode: 0, signal: null }, ''])
      expect(readFileSync(target).equals(input)).toBe(true)
    })

    it('is shared by several files without losing a byte', async () => {
      const input = Buffer.concat([BYTES, Buffer.from('second\0'), Buffer.from('third')])
      const script = `head -c ${BYTES.length} > a1 && head -c 7 > a2 && head -c 5 > a3`
      expect((await runScript(runner, sshd, script, {}, { input })).end).toMatchObject({ exitCode: 0 })
      expect(readFileSync(join(sshd.home, 'a1')).equals(BYTES)).toBe(true)
      expect(readFileSync(join(sshd.home, 'a2'), 'utf8')).toBe('second\0')
      expect(readFileSync(join(sshd.home, 'a3'), 'utf8')).toBe('third')
    })

    it('nobody was asked about reads it too', async () => {
      const { stdout } = await runScript(runner, sshd, 'cat', {}, { input: Buffer.from('for all'), automatic: true })
      expect(stdout).toBe('for all')
    })

    it('does not start when a login file has read some of it', async () => {
      const rc = join(sshd.home, '.bashrc')
      writeFileSync(rc, 'read -r -n 5 stolen\n')
      if (canMakeAccounts()) chownSync(rc, Number(spawnSync('id', ['-u', sshd.user], { encoding: 'utf8' }).stdout), 0)
      const target = join(sshd.home, 'never')
      const { end } = await runScript(runner, sshd, `cat > '${target}'`, {}, { input: Buffer.from('all of it') })
      rmSync(rc)
      expect(end).toMatchObject({ kind: 'failed', code: 'input_failed' })
      expect(existsSync(target)).toBe(false)
    })

    it('is refused beside a script that is too long for the line', async () => {
      const script = `true ${'x'.repeat(25_000)}`
      const { end } = await runScript(runner, sshd, script, {}, { input: Buffer.from('x') })
      expect(end).toMatchObject({ kind: 'failed', code: 'input_failed' })
    })
  })
})
