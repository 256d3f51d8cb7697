import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, promises as fs, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canMakeAccounts, type Sshd, type SshdOptions, sshdPath, startSshd } from '../../../e2e/support/sshd'
import type { HostProbe, Runner } from '../../ports'
import type { SshRunnerOptions } from './index'
import { hostOf, planFor, runnerFor, runScript, Watched } from './testbed'

/** An account without login files where one can be made, so that what is measured is ours; else the user of the tests. */
const QUICK: SshdOptions = canMakeAccounts() ? { account: { shell: '/bin/bash' } } : {}

/** Processes whose command line holds a word that nothing else on this machine has. */
function alive(word: string): string[] {
  const { stdout } = spawnSync('pgrep', ['-af', word], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line !== '' && !line.includes('pgrep'))
}

/** Waits until it holds, at most fifteen seconds. */
async function eventually(holds: () => boolean): Promise<boolean> {
  for (let i = 0; i < 300; i += 1) {
    if (holds()) return true
    await sleep(50)
  }
  return holds()
}

let next = 0
/** A number of seconds nobody else sleeps for. */
function unique(): string {
  next += 1
  return `3${process.pid}.${next}`
}

describe.skipIf(sshdPath() === null)('a run', () => {
  let sshd: Sshd
  let runner: Runner & HostProbe
  let own: string
  let dir: string

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'nomos-run-'))
    await fs.chmod(dir, 0o777)
    sshd = await startSshd(QUICK)
  })
  afterAll(async () => {
    await sshd.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  beforeEach(async () => {
    ;({ runner, own } = await runnerFor(sshd))
  })
  afterEach(async () => {
    await runner.close()
  })

  const watch = async (script: string, options: { keep?: boolean; automatic?: boolean } = {}) =>
    new Watched(runner, await planFor(runner, sshd, script), options)

  it('streams both streams, then ends with its exit code', async () => {
    const watched = await watch('echo first; echo fault >&2; sleep 0.5; echo second; exit 42')
    await watched.started
    expect(watched.pid).toBeGreaterThan(1)
    expect(await eventually(() => watched.stdout === 'first\n' && watched.stderr === 'fault\n')).toBe(true)
    expect(await watched.end).toEqual({ kind: 'exited', exitCode: 42, signal: null })
    expect(watched.stdout).toBe('first\nsecond\n')
    expect(watched.startedTimes).toBe(1)
  })

  it('tells the process group of the far side', async () => {
    const { watched, stdout } = await runScript(runner, sshd, 'ps -o pgid= -p $$')
    expect(Number(stdout)).toBe(watched.pid)
  })

  it.each([
    ['true', { exitCode: 0, signal: null }],
    ['exit 255', { exitCode: 255, signal: null }],
    ['exit 143', { exitCode: 143, signal: null }],
    ['no-such-program-at-all', { exitCode: 127, signal: null }],
    ['echo "unclosed', { exitCode: 2, signal: null }],
    ['kill -TERM $$', { exitCode: null, signal: 'SIGTERM' }],
    ['kill -KILL $$', { exitCode: null, signal: 'SIGKILL' }],
    ['kill -SEGV $$', { exitCode: null, signal: 'SIGSEGV' }],
    ['', { exitCode: 0, signal: null }],
  ])('ends as it ends: %s', async (script, expected) => {
    expect((await runScript(runner, sshd, script)).end).toEqual({ kind: 'exited', ...expected })
  })

  it('has no stdin and no terminal', async () => {
    const { stdout } = await runScript(runner, sshd, 'cat; tty; readlink /proc/self/fd/0')
    expect(stdout).toBe('not a tty\n/dev/null\n')
  })

  it('runs in its folder, with its variables', async () => {
    const { stdout } = await runScript(runner, sshd, 'pwd; echo "$GREETING"', {
      cwd: dir,
      env: { GREETING: `it's "me"\n$HOME` },
    })
    expect(stdout).toBe(`${dir}\nit's "me"\n$HOME\n`)
    expect((await runScript(runner, sshd, 'pwd', { cwd: '~' })).stdout.trim()).toBe(sshd.home)
    const missing = await runScript(runner, sshd, `touch ${dir}/nowhere`, { cwd: '/no/such/folder' })
    expect(missing.end).toMatchObject({ kind: 'failed', code: 'cwd_missing' })
    expect(missing.watched.startedTimes).toBe(0)
    expect(existsSync(`${dir}/nowhere`)).toBe(false)
  })

  it('refuses what cannot be run, before anything is sent', async () => {
    const before = sshd.log().length
    for (const [changes, code] of [
      [{ script: 'a\0b' }, 'command_nul'],
      [{ script: null, argv: ['ls'] }, 'plan_invalid'],
      [{ kind: 'local' }, 'plan_invalid'],
      [{ user: null }, 'plan_invalid'],
      [{ env: { 'A=B': 'x' } }, 'env_invalid'],
      [{ env: { A: 'x\0' } }, 'env_invalid'],
    ] as const) {
      expect((await runScript(runner, sshd, 'true', changes)).end).toMatchObject({ kind: 'failed', code })
    }
    expect(sshd.log().slice(before)).toBe('')
  })

  it('keeps nasty output as it is: every byte, NUL and broken UTF-8', async () => {
    const { watched } = await runScript(
      runner,
      sshd,
      `for i in $(seq 0 255); do printf "\\\\x$(printf %02x $i)"; done; printf '\\xff\\xfe\\xc3' >&2`,
    )
    expect(Buffer.concat(watched.parts.stdout)).toEqual(Buffer.from(Array.from({ length: 256 }, (_, i) => i)))
    expect(Buffer.concat(watched.parts.stderr)).toEqual(Buffer.from([0xff, 0xfe, 0xc3]))
  })

  it('takes 50 MB', { timeout: 60_000 }, async () => {
    const script = 'head -c 52428800 /dev/urandom | tee >(sha256sum >&2)'
    const watched = await watch(script, { keep: false })
    const hash = createHash('sha256')
    const plan = await planFor(runner, sshd, script)
    let told = ''
    let bytes = 0
    const end = await runner.start(
      plan,
      { automatic: false },
      {
        started: () => undefined,
        output: (stream, chunk) => {
          if (stream === 'stdout') {
            hash.update(chunk)
            bytes += chunk.length
          } else told += Buffer.from(chunk).toString()
        },
      },
    ).end
    expect(end).toEqual({ kind: 'exited', exitCode: 0, signal: null })
    expect(bytes).toBe(52_428_800)
    expect(told.split(' ')[0]).toBe(hash.digest('hex'))
    expect(await watched.end).toMatchObject({ exitCode: 0 })
    expect(watched.bytes).toBeGreaterThan(52_428_800)
  })

  it('runs a script of 300 KB byte for byte', async () => {
    const text = `it's "x" \`y\` $z \\ !! é 🎉\n`.repeat(10_000)
    expect(text.length).toBeGreaterThan(250_000)
    const { stdout, end } = await runScript(runner, sshd, `cat <<'STOP HERE'\n${text}STOP HERE\n`)
    expect(end).toMatchObject({ exitCode: 0 })
    expect(stdout === text).toBe(true)
  })

  it('keeps the environment clean when nobody was asked', async () => {
    const dirty = await startSshd({
      ...QUICK,
      env: { LD_BIND_NOW: '1', GIT_DIR: '/x', MANPAGER: 'x', BASH_ENV: '/x', LANG: 'C.UTF-8' },
    })
    const other = await runnerFor(dirty)
    const asked = await runScript(other.runner, dirty, 'env')
    expect(asked.stdout).toContain('GIT_DIR=/x')
    expect(asked.stdout).not.toContain('BASH_ENV')
    const automatic = await runScript(other.runner, dirty, 'env', {}, { automatic: true })
    expect(automatic.stdout).not.toMatch(/^(LD_|GIT_DIR|MANPAGER|BASH_ENV|SSH_)/m)
    expect(automatic.stdout).toMatch(/^PAGER=cat$/m)
    expect(automatic.stdout).toMatch(/^GIT_OPTIONAL_LOCKS=0$/m)
    expect(automatic.stdout).toMatch(/^LANG=C.UTF-8$/m)
    await other.runner.close()
    await dirty.stop()
  })

  it('takes nothing that changes a command unseen, with a shell or without, when nobody was asked', async () => {
    const bad = {
      BASH_ENV: '/x',
      ENV: '/x',
      'BASH_FUNC_ls%%': '() { echo hijacked; }',
      LD_LIBRARY_PATH: '/x',
      LESSOPEN: '|touch /x',
      GIT_EXTERNAL_DIFF: 'touch /x',
      GREP_OPTIONS: '-c',
      GREP_COLORS: 'x',
      PS4: 'x',
      PROMPT_COMMAND: 'x',
      MANPAGER: 'x',
      TAR_OPTIONS: '-x',
      LS_COLORS: 'x',
      GCONV_PATH: '/x',
      GZIP: '-d',
      PYTHONSTARTUP: '/x',
      RIPGREP_CONFIG_PATH: '/x',
    }
    const dirty = await startSshd({ ...QUICK, env: bad })
    const other = await runnerFor(dirty)
    for (const argv of [null, ['env']]) {
      const { stdout } = await runScript(other.runner, dirty, 'env', { argv }, { automatic: true })
      for (const name of Object.keys(bad))
        expect(stdout.split('\n').map((line) => line.split('=')[0])).not.toContain(name)
      expect(stdout).toMatch(/^PAGER=cat$/m)
    }
    await other.runner.close()
    await dirty.stop()
  })

  it('is started without a shell where it has words of its own and nobody was asked', async () => {
    const words = ['printf', '%s\n', '$HOME', '`id`; exit 3', "it's", 'é']
    const run = (automatic: boolean) => runScript(runner, sshd, 'exit 99', { argv: words }, { automatic })
    expect(await run(true)).toMatchObject({
      end: { exitCode: 0 },
      stdout: `${words.slice(2).join('\n')}\n`,
      stderr: '',
    })
    expect(await run(false)).toMatchObject({ end: { exitCode: 99 }, stdout: '' })
    const limits = await runScript(
      runner,
      sshd,
      'x',
      { argv: ['grep', '^Max file size', '/proc/self/limits'] },
      { automatic: true },
    )
    expect(limits.stdout).toMatch(/67108864 +67108864/)
    const sleeping = unique()
    const watched = new Watched(runner, await planFor(runner, sshd, 'x', { argv: ['sleep', sleeping] }), {
      automatic: true,
    })
    await watched.started
    expect(await eventually(() => alive(`sleep ${sleeping}`).length > 0)).toBe(true)
    watched.handle.stop()
    expect(await watched.end).toMatchObject({ kind: 'exited' })
    expect(alive(sleeping)).toEqual([])
  })

  describe.skipIf(spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']).status !== 0)(
    'in the sandbox',
    () => {
      let folder: string
      beforeAll(async () => {
        folder = mkdtempSync('/var/tmp/nomos-run-')
        await fs.chmod(folder, 0o755)
        await fs.writeFile(join(folder, 'a.txt'), 'one\ntwo\nthree\n')
        await fs.symlink('/tmp', join(folder, 'to-tmp'))
      })
      afterAll(() => rmSync(folder, { recursive: true, force: true }))

      const prepared = async (server: Sshd, other: Runner, operands: readonly string[]) => {
        const { address, port, clientKeyPath: keyPath, user } = server
        const draft = {
          target: 'host:test',
          script: 'x',
          argv: ['cat', ...operands],
          programs: ['cat'],
          pins: [],
          fileOperand: null,
          sourced: [],
          unpinnable: null,
          locate: 'no' as const,
          env: {},
          user,
        }
        return (
          await other.prepare({
            ...draft,
            cwd: folder,
            endpoint: { address, port, auth: 'key', keyPath },
            sandbox: { profile: 'files', operands },
          })
        ).sandbox
      }

      it.each([
        ['an account', QUICK],
        ['root', {}],
      ] as const)('is decided beforehand, gives the same answer and is one, as %s', async (_name, options) => {
        const server = await startSshd(options)
        const { runner: other } = await runnerFor(server)
        // Nobody logs in somewhere to find out.
        expect(await prepared(server, other, ['a.txt'])).toBeNull()
        await runScript(other, server, 'true')
        expect(await prepared(server, other, ['a.txt'])).toBe('files')
        expect(await prepared(server, other, ['to-tmp/x'])).toBeNull()
        const run = (argv: readonly string[], sandbox: string | null) =>
          runScript(other, server, 'exit 99', { argv, sandbox, cwd: folder }, { automatic: true })
        for (const argv of [
          ['cat', 'a.txt'],
          ['cat', 'missing'],
          ['grep', '-c', 'o', 'a.txt', '/etc/passwd'],
          ['sort', '-S', '10K', 'a.txt'],
          ['file', 'a.txt'],
          ['sha256sum', 'a.txt'],
        ]) {
          const [plain, inside] = [await run(argv, null), await run(argv, 'files')]
          expect([argv, inside.end, inside.stdout, inside.stderr]).toEqual([
            argv,
            plain.end,
            plain.stdout,
            plain.stderr,
          ])
        }
        const trial = await run(
          ['sh', '-c', 'touch x 2>/dev/null; ls /run /tmp; grep CapEff /proc/self/status; env | grep -c TMPDIR'],
          'files',
        )
        expect(trial.stdout.replace(/\s+/g, ' ')).toBe('/run: /tmp: CapEff: 0000000000000000 0 ')
        expect((await run(['sh', '-c', 'kill -SEGV $$'], 'files')).end).toEqual({
          kind: 'exited',
          exitCode: null,
          signal: 'SIGSEGV',
        })
        const sleeping = unique()
        const plan = await planFor(other, server, 'x', { argv: ['sleep', sleeping], sandbox: 'files', cwd: folder })
        const watched = new Watched(other, plan, { automatic: true })
        await watched.started
        expect(await eventually(() => alive(`^sleep ${sleeping}`).length > 0)).toBe(true)
        watched.handle.stop()
        expect(await watched.end).toMatchObject({ kind: 'exited' })
        expect(await eventually(() => alive(`^sleep ${sleeping}`).length === 0)).toBe(true)
        await other.close()
        await server.stop()
      })

      it('does not run at all where the host has none any more', async () => {
        const path = join(dir, 'without')
        const server = await startSshd(QUICK)
        const { runner: other } = await runnerFor(server)
        const { end, watched } = await runScript(
          other,
          server,
          `touch ${path}`,
          { argv: ['touch', path], sandbox: 'odd' },
          { automatic: true },
        )
        expect(end).toMatchObject({ kind: 'failed', code: 'sandbox_missing' })
        expect([watched.startedTimes, existsSync(path)]).toEqual([0, false])
        await other.close()
        await server.stop()
      })
    },
  )

  it('starts the programs of the system, within limits, when nobody was asked', async () => {
    const bin = join(dir, 'bin')
    await fs.mkdir(bin)
    for (const name of ['ls', 'env', 'timeout', 'bash', 'ps', 'setsid']) {
      await fs.writeFile(join(bin, name), `#!/bin/sh\necho ${name} >>${dir}/shadow\nexec /usr/bin/${name} "$@"\n`, {
        mode: 0o755,
      })
    }
    const dirty = await startSshd({ ...QUICK, path: [bin] })
    const other = await runnerFor(dirty)
    const script = 'ls -d /; command -v ls; grep "^Max file size" /proc/self/limits'
    const automatic = await runScript(other.runner, dirty, script, {}, { automatic: true })
    expect(automatic.end).toEqual({ kind: 'exited', exitCode: 0, signal: null })
    expect(automatic.stdout).toMatch(/^\/\n(\/usr)?\/bin\/ls\nMax file size +67108864 +67108864 /)
    expect(existsSync(`${dir}/shadow`)).toBe(false)
    const long = new Watched(other.runner, await planFor(other.runner, dirty, 'sleep 300'), { automatic: true })
    await long.started
    long.handle.stop()
    await long.end
    expect(existsSync(`${dir}/shadow`)).toBe(false)
    // Whoever agreed to a command gets the account's own programs.
    expect((await runScript(other.runner, dirty, 'command -v ls')).stdout).toBe(`${bin}/ls\n`)
    await other.runner.close()
    await dirty.stop()
  })

  describe('that is stopped', () => {
    it('takes its grandchildren with it', async () => {
      const word = unique()
      const watched = await watch(`sleep ${word} & (sleep ${word} & sleep ${word}) & sleep ${word}`)
      await watched.started
      expect(
        await eventually(() => alive(`sleep ${word}`).filter((line) => /^[0-9]+ sleep /.test(line)).length >= 4),
      ).toBe(true)
      const began = performance.now()
      watched.handle.stop()
      watched.handle.stop()
      expect(await watched.end).toEqual({ kind: 'exited', exitCode: null, signal: 'SIGTERM' })
      expect(performance.now() - began).toBeLessThan(1500)
      expect(alive(word)).toEqual([])
      watched.handle.stop()
    })

    it('is killed when it does not listen', async () => {
      const word = unique()
      const watched = await watch(`trap '' TERM; echo ready; while :; do sleep ${word}; done`)
      expect(await eventually(() => watched.stdout === 'ready\n')).toBe(true)
      const began = performance.now()
      watched.handle.stop()
      expect(await watched.end).toEqual({ kind: 'exited', exitCode: null, signal: 'SIGKILL' })
      expect(performance.now() - began).toBeGreaterThan(1500)
      expect(performance.now() - began).toBeLessThan(5000)
      expect(alive(word)).toEqual([])
    })

    it('ends in the middle of unending output', async () => {
      const word = unique()
      const watched = await watch(`yes ${word}`, { keep: false })
      expect(await eventually(() => watched.bytes > 5_000_000)).toBe(true)
      const began = performance.now()
      watched.handle.stop()
      expect(await watched.end).toMatchObject({ kind: 'exited', signal: 'SIGTERM' })
      expect(performance.now() - began).toBeLessThan(4000)
      expect(alive(`yes ${word}`)).toEqual([])
    })

    it('never starts when it was not sent yet', async () => {
      const watched = await watch(`touch ${dir}/too-late`)
      watched.handle.stop()
      expect(await watched.end).toMatchObject({ kind: 'failed', code: 'stopped' })
      await sleep(300)
      expect(existsSync(`${dir}/too-late`)).toBe(false)
    })

    it('ends as soon as its group is known, at whatever moment it is stopped', { timeout: 60_000 }, async () => {
      const word = unique()
      await runScript(runner, sshd, 'true')
      // A busy machine takes longer for everything; the moments are to lie on both sides of the start.
      const began = performance.now()
      const first = await watch(`sleep ${word}`)
      await first.started
      const took = performance.now() - began
      first.handle.stop()
      expect(await first.end).toMatchObject({ signal: 'SIGTERM' })
      const ends = new Map<string, number>()
      for (let step = 0; step < 30; step += 1) {
        const watched = await watch(`sleep ${word}`)
        const until = performance.now() + (step * 2 * took) / 30
        while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve))
        watched.handle.stop()
        const end = await watched.end
        const kind = end.kind === 'failed' ? end.code : end.kind === 'exited' ? (end.signal ?? end.exitCode) : end.kind
        ends.set(String(kind), (ends.get(String(kind)) ?? 0) + 1)
      }
      // 143 is what `timeout` says when it is hit before it has its child.
      ends.delete('143')
      expect(['SIGTERM', 'stopped']).toEqual(expect.arrayContaining([...ends.keys()]))
      expect(ends.get('stopped')).toBeGreaterThan(0)
      expect(await eventually(() => alive(`sleep ${word}`).length === 0)).toBe(true)
    })

    it('says so when a child of it got away and holds the channel', { timeout: 30_000 }, async () => {
      const word = unique()
      const watched = await watch(`setsid sleep ${word} & sleep ${word}`)
      await watched.started
      expect(await eventually(() => alive(`sleep ${word}`).length >= 2)).toBe(true)
      watched.handle.stop()
      expect(await watched.end).toEqual({ kind: 'exited', exitCode: null, signal: 'SIGTERM' })
      for (const line of alive(`sleep ${word}`)) process.kill(Number(line.split(' ')[0]), 'SIGKILL')
    })

    describe.skipIf(!canMakeAccounts() || !existsSync('/usr/bin/sudo'))('and runs as root through sudo', () => {
      const withSudo = async (
        rule: (user: string) => string,
        check: (server: Sshd, other: Runner, word: string) => Promise<void>,
      ) => {
        const server = await startSshd({ account: { shell: '/bin/bash' } })
        const { runner: other } = await runnerFor(server)
        const file = `/etc/sudoers.d/${server.user}`
        const word = unique()
        await fs.writeFile(file, `${rule(server.user)}\n`, { mode: 0o440 })
        try {
          await check(server, other, word)
        } finally {
          await fs.rm(file, { force: true })
          spawnSync('pkill', ['-KILL', '-f', `sleep ${word}`])
          await other.close()
          await server.stop()
        }
      }

      /** What TERM does not end; sudo hands a TERM on, but nobody can hand on a KILL. */
      const deaf = (word: string): string => `sudo -n bash -c 'trap "" TERM; while :; do sleep ${word}; done'`
      const asleep = (word: string): boolean => alive(`sleep ${word}`).some((line) => /^[0-9]+ sleep /.test(line))

      it('ends there when it listens', { timeout: 30_000 }, async () => {
        await withSudo(
          (user) => `${user} ALL=(ALL) NOPASSWD: /usr/bin/sleep`,
          async (server, other, word) => {
            const watched = new Watched(other, await planFor(other, server, `sudo -n sleep ${word}; sleep ${word}`))
            expect(await eventually(() => asleep(word))).toBe(true)
            watched.handle.stop()
            expect(await watched.end).toMatchObject({ kind: 'exited', signal: 'SIGTERM' })
            expect(alive(`sleep ${word}`)).toEqual([])
          },
        )
      })

      it('is killed with the same right', { timeout: 30_000 }, async () => {
        await withSudo(
          (user) => `${user} ALL=(ALL) NOPASSWD: ALL`,
          async (server, other, word) => {
            const watched = new Watched(other, await planFor(other, server, deaf(word)))
            expect(await eventually(() => asleep(word))).toBe(true)
            watched.handle.stop()
            expect(await watched.end).toMatchObject({ kind: 'exited', signal: 'SIGKILL' })
            expect(alive(`sleep ${word}`)).toEqual([])
          },
        )
      })

      it('is not called ended where it cannot be killed', { timeout: 30_000 }, async () => {
        await withSudo(
          (user) => `${user} ALL=(ALL) NOPASSWD: /bin/bash, /usr/bin/bash`,
          async (server, other, word) => {
            const watched = new Watched(other, await planFor(other, server, deaf(word)))
            expect(await eventually(() => asleep(word))).toBe(true)
            watched.handle.stop()
            expect(await watched.end).toMatchObject({
              kind: 'lost',
              sentence: expect.stringContaining('part of it still runs'),
            })
            expect(asleep(word)).toBe(true)
          },
        )
      })
    })

    it('all at once, six and more', async () => {
      const word = unique()
      const all = await Promise.all(Array.from({ length: 12 }, () => watch(`sleep ${word}`)))
      expect(await eventually(() => all.filter((one) => one.startedTimes === 1).length === 6)).toBe(true)
      for (const one of all) one.handle.stop()
      const ends = await Promise.all(all.map((one) => one.end))
      expect(ends.filter((end) => end.kind === 'exited' && end.signal === 'SIGTERM')).toHaveLength(6)
      expect(ends.filter((end) => end.kind === 'failed' && end.code === 'stopped')).toHaveLength(6)
      expect(alive(word)).toEqual([])
    })
  })

  it('ends although a child it left behind holds its output', async () => {
    const word = unique()
    const began = performance.now()
    const { end, stdout } = await runScript(runner, sshd, `sleep ${word} & echo started`)
    expect(end).toEqual({ kind: 'exited', exitCode: 0, signal: null })
    expect(stdout).toBe('started\n')
    expect(performance.now() - began).toBeLessThan(4000)
    for (const line of alive(`sleep ${word}`)) process.kill(Number(line.split(' ')[0]), 'SIGKILL')
  })

  describe('and its connection', () => {
    const logins = (server: Sshd, from: number): number =>
      server
        .log()
        .slice(from)
        .match(/Accepted publickey/g)?.length ?? 0

    it('is shared by all: 60 at once over one login', { timeout: 60_000 }, async () => {
      const from = sshd.log().length
      const all = await Promise.all(
        Array.from({ length: 60 }, (_, i) => runScript(runner, sshd, `echo ${i}; exit ${i}`)),
      )
      for (const [i, { end, stdout }] of all.entries()) {
        expect(end).toEqual({ kind: 'exited', exitCode: i, signal: null })
        expect(stdout).toBe(`${i}\n`)
      }
      expect(logins(sshd, from)).toBe(1)
    })

    it('is left after a while, and when the host is forgotten', async () => {
      const short = await runnerFor(sshd, { idleCloseMs: 200 })
      const from = sshd.log().length
      await runScript(short.runner, sshd, 'true')
      await runScript(short.runner, sshd, 'true')
      expect(logins(sshd, from)).toBe(1)
      await sleep(500)
      await runScript(short.runner, sshd, 'true')
      expect(logins(sshd, from)).toBe(2)
      short.runner.forget(hostOf(sshd))
      await runScript(short.runner, sshd, 'true')
      expect(logins(sshd, from)).toBe(3)
      const watched = new Watched(short.runner, await planFor(short.runner, sshd, 'sleep 0.5; echo done'))
      await watched.started
      short.runner.forget(hostOf(sshd))
      expect(await watched.end).toMatchObject({ exitCode: 0 })
      expect(watched.stdout).toBe('done\n')
      await short.runner.close()
    })

    it('can do with few sessions', { timeout: 60_000 }, async () => {
      for (const maxSessions of [1, 2]) {
        const tight = await startSshd({ ...QUICK, maxSessions })
        const other = await runnerFor(tight)
        const all = await Promise.all(
          Array.from({ length: 10 }, (_, i) => runScript(other.runner, tight, `sleep 0.05; exit ${i}`)),
        )
        expect(all.map(({ end }) => end.kind === 'exited' && end.exitCode)).toEqual(
          Array.from({ length: 10 }, (_, i) => i),
        )
        const word = unique()
        const watched = new Watched(other.runner, await planFor(other.runner, tight, `sleep ${word} & sleep ${word}`))
        await watched.started
        watched.handle.stop()
        expect(await watched.end).toMatchObject({ kind: 'exited', signal: 'SIGTERM' })
        expect(alive(word)).toEqual([])
        await other.runner.close()
        await tight.stop()
      }
    })

    it('lost in the middle: the run is lost, the next one connects anew', async () => {
      const word = unique()
      const watched = await watch(`echo on; sleep ${word}`)
      expect(await eventually(() => watched.stdout === 'on\n')).toBe(true)
      const waiting = await Promise.all(Array.from({ length: 8 }, () => watch(`sleep 0.1; echo again`)))
      sshd.dropConnections()
      const end = await watched.end
      expect(end.kind).toBe('lost')
      expect(end.kind === 'lost' && end.sentence).toContain(`process group ${watched.pid}`)
      // Those that were under way are lost as well, those that still waited for a place run over a new connection.
      for (const one of waiting) {
        const how = await one.end
        expect(['lost', 'exited']).toContain(how.kind)
        if (how.kind === 'exited') expect(one.stdout).toBe('again\n')
      }
      const after = await runScript(runner, sshd, 'echo back')
      expect(after.stdout).toBe('back\n')
      for (const line of alive(`sleep ${word}`)) process.kill(Number(line.split(' ')[0]), 'SIGKILL')
    })

    it('frozen: lost within the keepalive budget, also when it is stopped', { timeout: 60_000 }, async () => {
      const frozen = await startSshd(QUICK)
      const other = await runnerFor(frozen, { keepaliveMs: 200, connectTimeoutMs: 1000 })
      const word = unique()
      const one = new Watched(other.runner, await planFor(other.runner, frozen, `sleep ${word}`))
      const two = new Watched(other.runner, await planFor(other.runner, frozen, `sleep ${word}`))
      await Promise.all([one.started, two.started])
      const began = performance.now()
      frozen.freeze()
      two.handle.stop()
      const late = new Watched(other.runner, await planFor(other.runner, frozen, 'echo never'))
      expect((await one.end).kind).toBe('lost')
      expect((await two.end).kind).toBe('lost')
      expect(performance.now() - began).toBeLessThan(3000)
      expect(await late.end).toMatchObject({ kind: 'failed', code: 'timeout' })
      frozen.thaw()
      await other.runner.close()
      await frozen.stop()
      for (const line of alive(`sleep ${word}`)) process.kill(Number(line.split(' ')[0]), 'SIGKILL')
    })

    it('refuses a host key that changed between two runs', async () => {
      const moving = await startSshd(QUICK)
      const other = await runnerFor(moving)
      const proof = join(dir, 'ran-on-the-wrong-host')
      expect((await runScript(other.runner, moving, 'true')).end).toMatchObject({ exitCode: 0 })
      const plan = await planFor(other.runner, moving, `touch ${proof}`)
      const oldFingerprint = moving.hostFingerprint
      await moving.rotateHostKey()
      moving.dropConnections()
      await sleep(100)
      const changed = await new Watched(other.runner, plan).end
      expect(changed).toMatchObject({ kind: 'failed', code: 'host_key_changed' })
      expect(changed.kind === 'failed' && changed.sentence).toContain(oldFingerprint)
      expect(changed.kind === 'failed' && changed.sentence).toContain(moving.hostFingerprint)
      // Also when the new key has become known meanwhile: the approval was for the old one.
      await fs.writeFile(other.own, `${moving.knownHostsLine}\n`)
      const planned = await new Watched(other.runner, plan).end
      expect(planned).toMatchObject({ kind: 'failed', code: 'host_key_changed' })
      expect(planned.kind === 'failed' && planned.sentence).toContain('approved')
      expect(await new Watched(other.runner, { ...plan, hostKeys: [] }).end).toMatchObject({ code: 'host_key_unknown' })
      expect(existsSync(proof)).toBe(false)
      expect((await runScript(other.runner, moving, 'echo new')).stdout).toBe('new\n')
      await other.runner.close()
      await moving.stop()
    })

    it('is refused at once when its key is revoked while it is open', async () => {
      expect((await runScript(runner, sshd, 'true')).end).toMatchObject({ exitCode: 0 })
      const plan = await planFor(runner, sshd, 'true')
      await fs.appendFile(own, `@revoked ${sshd.knownHostsLine}\n`)
      expect(await new Watched(runner, plan).end).toMatchObject({ kind: 'failed', code: 'host_key_revoked' })
      expect((await planFor(runner, sshd, 'true')).hostKeys).toEqual([])
    })

    it('is closed with all its runs', async () => {
      const word = unique()
      const all = await Promise.all(Array.from({ length: 8 }, () => watch(`sleep ${word}`)))
      expect(await eventually(() => all.filter((one) => one.startedTimes === 1).length === 6)).toBe(true)
      await runner.close()
      for (const one of all) expect(['exited', 'failed']).toContain((await one.end).kind)
      expect(alive(word)).toEqual([])
      expect((await (await watch('true')).end).kind).toBe('failed')
    })
  })

  describe('at a host that talks', () => {
    const talk =
      (options: SshdOptions, more: Partial<SshRunnerOptions> = {}) =>
      async (check: (server: Sshd, runner: Runner & HostProbe) => Promise<void>) => {
        const server = await startSshd(options)
        const other = await runnerFor(server, more)
        try {
          await check(server, other.runner)
        } finally {
          await other.runner.close()
          await server.stop()
        }
      }

    it('shows nothing of a banner', async () => {
      await talk({ ...QUICK, banner: '*** Authorised use only ***\n' })(async (server, other) => {
        expect(await other.test(hostOf(server), null)).toMatchObject({ ok: true })
        const { stdout, stderr } = await runScript(other, server, 'echo out; echo err >&2')
        expect([stdout, stderr]).toEqual(['out\n', 'err\n'])
      })
    })

    it.skipIf(!canMakeAccounts())('shows nothing of a noisy .bashrc, and is not changed by it', async () => {
      const files = {
        '.bashrc': [
          'echo "Welcome to the machine"; printf "no newline"; echo "a fault" >&2; printf "nomos-" ',
          'ls() { echo hijacked; }; export -f ls; alias uname="echo aliased"; set -x; cd /tmp',
          'head -c 300000 /dev/zero | tr "\\0" x',
        ].join('\n'),
      }
      await talk({ account: { shell: '/bin/bash', files } })(async (server, other) => {
        expect(await other.test(hostOf(server), null)).toMatchObject({
          ok: true,
          banner: expect.stringMatching(/^\S+ \S+$/),
        })
        for (const script of [
          'echo out; echo err >&2; ls -d /',
          `echo out; echo err >&2; ls -d / # ${'x'.repeat(30_000)}`,
        ]) {
          const { stdout, stderr } = await runScript(other, server, script)
          expect([stdout, stderr]).toEqual(['out\n/\n', 'err\n'])
        }
      })
    })

    it.skipIf(!canMakeAccounts())('does not wait for ever for a login that never ends', async () => {
      await talk(
        { account: { shell: '/bin/bash', files: { '.bashrc': '[ -e .slow ] && sleep 60\n' } } },
        { startTimeoutMs: 500 },
      )(async (server, other) => {
        expect((await runScript(other, server, 'touch .slow')).end).toMatchObject({ exitCode: 0 })
        const { end, watched } = await runScript(other, server, 'touch ran')
        expect(end.kind).toBe('lost')
        expect(end.kind === 'lost' && end.sentence).toContain('.bashrc')
        expect(watched.startedTimes).toBe(0)
        expect(existsSync(join(server.home, 'ran'))).toBe(false)
      })
    })
  })

  describe.skipIf(!canMakeAccounts())('with a login shell that is', () => {
    /** A shell that stays as the parent, as some do; then our process does not lead the group of the session. */
    const STAYING = '#!/bin/sh\n/bin/sh "$@"\nexit $?\n'

    it.each(['bash', 'dash', 'ash', 'zsh', 'fish', 'tcsh', 'staying'] as const)(
      '%s',
      { timeout: 60_000 },
      async (name) => {
        let shell = [`/bin/${name}`, `/usr/bin/${name}`].find((path) => existsSync(path)) ?? ''
        if (name === 'ash') {
          if (!existsSync('/bin/busybox')) return
          shell = join(dir, 'ash')
          await fs.rm(shell, { force: true })
          await fs.symlink('/bin/busybox', shell)
        }
        if (name === 'staying') {
          shell = join(dir, 'staying')
          await fs.writeFile(shell, STAYING, { mode: 0o755 })
        }
        if (shell === '') return
        const server = await startSshd({ account: { shell } })
        const { runner: other } = await runnerFor(server)
        const text = `it's "x" \`y\` $HOME \\ \\n !! !x ^a^b ~ * é 🎉\n\n`
        for (const times of [1, 2000]) {
          const { stdout, end } = await runScript(other, server, `cat <<'E O F'\n${text.repeat(times)}E O F\nexit 9`)
          expect(end).toEqual({ kind: 'exited', exitCode: 9, signal: null })
          expect(stdout === text.repeat(times)).toBe(true)
        }
        expect((await runScript(other, server, '[[ 1 == 1 ]] && echo "$BASH_VERSION"')).stdout).toMatch(/^[0-9]/)
        const word = unique()
        const watched = new Watched(other, await planFor(other, server, `sleep ${word} & sleep ${word}`))
        await watched.started
        expect(await eventually(() => alive(`sleep ${word}`).length >= 2)).toBe(true)
        watched.handle.stop()
        const end = await watched.end
        expect(end).toEqual(
          name === 'staying'
            ? { kind: 'exited', exitCode: 143, signal: null }
            : { kind: 'exited', exitCode: null, signal: 'SIGTERM' },
        )
        expect(alive(word)).toEqual([])
        await other.close()
        await server.stop()
      },
    )
  })
})
