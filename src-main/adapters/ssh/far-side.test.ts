import { spawn, spawnSync } from 'node:child_process'
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
import {
  alikeCommand,
  buildCommand,
  escapeForPrintf,
  type FarCommand,
  type FarSide,
  killCommand,
  nonce,
  parseProbe,
  probeCommand,
  unameCommand,
} from './far-side'
import { MarkerFilter } from './marker'

/** What may stand in /etc/passwd. Those this machine lacks are left out, and the test's name says which were there. */
const LOGIN_SHELLS = [
  ['bash', ['/bin/bash', '-c']],
  ['dash', ['/bin/dash', '-c']],
  ['busybox ash', ['/bin/busybox', 'sh', '-c']],
  ['zsh', ['/usr/bin/zsh', '-c']],
  ['fish', ['/usr/bin/fish', '-c']],
  ['tcsh', ['/usr/bin/tcsh', '-c']],
  ['mksh', ['/usr/bin/mksh', '-c']],
] as const
const present = LOGIN_SHELLS.filter(([, [program]]) => existsSync(program))

const FAR: FarSide = { bash: true, timeout: 'seconds', setsid: true, leads: true, sandbox: true }
const EVERY_FAR: readonly FarSide[] = [
  FAR,
  { ...FAR, leads: false },
  { ...FAR, bash: false },
  { ...FAR, timeout: 'none' },
  { bash: false, timeout: 'none', setsid: false, leads: false, sandbox: false },
]

const bwrapWorks = spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0

let dir: string
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "nomos far' ")))
})
afterAll(() => {
  rmSync(dir, { recursive: true, force: true })
})

function command(script: string, changes: Partial<FarCommand> = {}): FarCommand {
  return { script, argv: null, sandbox: null, cwd: null, env: {}, timeoutMs: 20_000, automatic: false, ...changes }
}

interface Ran {
  readonly marker: string | null
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  readonly signal: string | null
  readonly noise: string
}

/** Does what sshd does: a session of its own, and the login shell with `-c`. */
function ran(login: readonly string[], far: FarSide, wanted: FarCommand, env?: NodeJS.ProcessEnv): Promise<Ran> {
  const word = nonce()
  const built = buildCommand(far, word, wanted)
  const [program = '', ...args] = login
  return new Promise((resolve, reject) => {
    // Node's pipes are sockets, which bash takes for a network login and reads ~/.bashrc, unless it is some levels deep.
    const child = spawn(program, [...args, built.line], {
      detached: true,
      env: { SHLVL: '5', ...(env ?? process.env) },
    })
    const out = new MarkerFilter(word)
    const err = new MarkerFilter(word)
    const kept: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] }
    let marker: string | null = null
    child.stdout.on('data', (chunk: Buffer) => {
      const got = out.push(chunk)
      marker = got.marker ?? marker
      if (got.after !== null) kept.stdout.push(got.after)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      const { after } = err.push(chunk)
      if (after !== null) kept.stderr.push(after)
    })
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve({
        marker,
        stdout: Buffer.concat(kept.stdout).toString('latin1'),
        stderr: Buffer.concat(kept.stderr).toString('utf8'),
        code,
        signal,
        noise: err.noise(),
      }),
    )
    child.stdin.on('error', () => undefined)
    child.stdin.end(built.stdin ?? '')
  })
}

/** Text with everything a shell could take for something else. */
const NASTY = `it's "quoted" \`ticks\` $HOME \${HOME} $(id) !! !$ \\ \\\\ \\n \\' ^x^y^ ~ {a,b} *.? [x] # % %% & | ; < > ( )
\ttab, carriage return \r, escape \x1b[31m, é ü 日本語 🎉, DEL \x7f
  two trailing spaces  

`

describe.each(present)('through %s as login shell', (_name, login) => {
  it('reads the probe', () => {
    const word = nonce()
    const [program, ...args] = login
    const { stdout } = spawnSync(program, [...args, probeCommand(word)], { encoding: 'utf8' })
    expect(parseProbe(word, stdout)).toMatchObject({ bash: true, timeout: 'seconds', setsid: true })
  })

  it('keeps every byte of a script, short or long', { timeout: 60_000 }, async () => {
    const long = NASTY.repeat(900)
    expect(long.length).toBeGreaterThan(150_000)
    for (const far of EVERY_FAR) {
      for (const text of [NASTY, long]) {
        const result = await ran(login, far, command(`cat <<'END OF IT'\n${text}\nEND OF IT\n`))
        expect({ far, stderr: result.stderr, code: result.code }).toEqual({ far, stderr: '', code: 0 })
        expect(result.stdout === Buffer.from(`${text}\n`).toString('latin1')).toBe(true)
      }
    }
  })

  it('starts words of a run nobody was asked about as they are, without a shell', { timeout: 60_000 }, async () => {
    const words = [NASTY, '', '-n', 'A=b', "'", '$(id)', '`id`', '"', '\\', 'x\n', '*', '~']
    for (const far of EVERY_FAR) {
      const wanted = { argv: ['printf', '[%s]', ...words], cwd: dir, automatic: true }
      const result = await ran(login, far, command('exit 99', wanted))
      expect({ far, stderr: result.stderr, code: result.code }).toEqual({ far, stderr: '', code: 0 })
      expect(result.stdout).toBe(Buffer.from(words.map((text) => `[${text}]`).join('')).toString('latin1'))
      expect((await ran(login, far, command('exit 99', { ...wanted, argv: ['cat', 'nothing'] }))).code).toBe(1)
      // Whoever agreed to it agreed to the script.
      expect((await ran(login, far, command('exit 99', { ...wanted, automatic: false }))).code).toBe(99)
    }
  })

  it.skipIf(!bwrapWorks)('tells what is seen alike in the sandbox', () => {
    const folder = realpathSync(mkdtempSync("/var/tmp/nomos far' "))
    for (const name of ['a', 'b c', 'sub/d']) {
      mkdirSync(join(folder, 'sub'), { recursive: true })
      writeFileSync(join(folder, name), 'x')
    }
    symlinkSync('a', join(folder, 'link'))
    symlinkSync('/tmp', join(folder, 'to-tmp'))
    symlinkSync('/run/nothing', join(folder, 'dangling'))
    const alike = (operands: readonly string[], cwd: string | null = folder): string => {
      const word = nonce()
      const line = alikeCommand(word, cwd, operands)
      if (line === null) return 'too many'
      const [program, ...args] = login
      const { stdout } = spawnSync(program, [...args, line], {
        encoding: 'utf8',
        cwd: '/',
        env: { ...process.env, HOME: '/' },
      })
      return new RegExp(`${word} (alike|other)`).exec(stdout)?.[1] ?? stdout
    }
    for (const operands of [
      [],
      ['a'],
      ['./a', 'b c', 'sub/d'],
      ['missing', 'no/such/folder'],
      ['a', '-n', "s/'/x/"],
      ['/etc/passwd'],
    ])
      expect([operands, alike(operands)]).toEqual([operands, 'alike'])
    for (const operand of [
      'link',
      'to-tmp/x',
      'dangling',
      'sub',
      'sub/../a',
      '../../../tmp/x',
      '/tmp/x',
      '/run',
      '/var/run/x',
      '/proc/self/status',
      '/dev/null',
      '/sys/x',
      '/etc/mtab',
    ])
      expect([operand, alike(['a', operand])]).toEqual([operand, 'other'])
    expect(alike(['x'], '/tmp')).toBe('other')
    expect(alike(['x'], join(folder, 'to-tmp'))).toBe('other')
    expect(alike(['x'], join(folder, 'missing'))).toBe('other')
    expect(alike(['etc/passwd'], null)).toBe('alike')
    expect(alike(Array.from({ length: 40 }, () => 'a'))).toBe('too many')
    if (process.getuid?.() === 0) {
      chownSync(join(folder, 'sub'), 12345, 12345)
      chmodSync(join(folder, 'sub'), 0o700)
      expect(alike(['sub/d'])).toBe('other')
      expect(alike(['sub/missing'])).toBe('other')
      chownSync(join(folder, 'a'), 12345, 12345)
      chmodSync(join(folder, 'a'), 0o600)
      expect(alike(['a'])).toBe('other')
    }
    rmSync(folder, { recursive: true })
  })

  it('gives folder and environment, closed stdin, and the exit code', async () => {
    for (const far of EVERY_FAR) {
      for (const automatic of [false, true]) {
        const result = await ran(
          login,
          far,
          command('pwd; printf "[%s]" "$A_1"; cat; echo "[$#]"; exit 37', { cwd: dir, env: { A_1: NASTY }, automatic }),
        )
        expect(result.stdout).toBe(`${dir}\n[${Buffer.from(NASTY).toString('latin1')}][0]\n`)
        expect(result.code).toBe(37)
      }
    }
  })

  it('says so when the folder is not there, and runs nothing', async () => {
    const result = await ran(login, FAR, command('echo ran', { cwd: '/no/such folder' }))
    expect(result.marker).toBe(':cwd')
    expect(result.stdout).toBe('')
    expect(result.noise).toContain('/no/such folder')
  })

  it('hands over an input byte for byte, and nothing where its beginning is missing', async () => {
    const input = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31 + (i >> 8)) & 255))
    for (const far of EVERY_FAR)
      for (const automatic of [false, true]) {
        const result = await ran(login, far, command('head -c 65537; echo; cat', { input, automatic }))
        expect(Buffer.from(result.stdout, 'latin1')).toEqual(
          Buffer.concat([input.subarray(0, 65537), Buffer.from('\n'), input.subarray(65537)]),
        )
        const short = await ran(['/bin/sh', '-c', `read -r x; exec ${login.join(' ')} "$0"`], far, {
          ...command('cat'),
          input: Buffer.from(`${'x'.repeat(50)}\nrest`),
          automatic,
        })
        expect([short.marker, short.stdout]).toEqual([':input', ''])
      }
  })

  it('tells a pid that is the group of the script', async () => {
    for (const far of EVERY_FAR.filter((one) => one.leads || one.setsid)) {
      const result = await ran(login, far, command('ps -o pgid= -p $$'))
      expect(result.marker).toBe(`:${result.stdout.trim()}:g`)
    }
  })
})

const bash = ['/bin/bash', '-c'] as const

describe('the command', () => {
  it('shows the signal a script died of', async () => {
    expect(await ran(bash, FAR, command('kill -USR1 $$'))).toMatchObject({ code: null, signal: 'SIGUSR1' })
    expect(await ran(bash, { ...FAR, timeout: 'none' }, command('kill -KILL $$'))).toMatchObject({ signal: 'SIGKILL' })
    expect(await ran(bash, { ...FAR, leads: false }, command('kill -TERM $$'))).toMatchObject({
      code: 143,
      signal: null,
    })
  })

  it('is ended by the dead-man when the app does not do it', { timeout: 20_000 }, async () => {
    const began = performance.now()
    const result = await ran(bash, FAR, command('sleep 300 & sleep 300', { timeoutMs: -9000 }))
    expect(performance.now() - began).toBeLessThan(5000)
    expect(result.code).toBe(124)
  })

  it('is ended with its grandchildren where the far side has no dead-man that would hand the signal on', async () => {
    const word = `3${process.pid}.77`
    const sleeping = (): number =>
      spawnSync('pgrep', ['-xf', `sleep ${word}`], { encoding: 'utf8' })
        .stdout.split('\n')
        .filter((line) => line !== '').length
    const until = async (holds: () => boolean): Promise<void> => {
      for (let i = 0; i < 100 && !holds(); i += 1) await new Promise((resolve) => setTimeout(resolve, 50))
      expect(holds()).toBe(true)
    }
    const script = `sleep ${word} & (sleep ${word} & sleep ${word}) & sleep ${word}; true`
    const built = buildCommand({ ...FAR, timeout: 'none' }, nonce(), command(script))
    const child = spawn('/bin/sh', ['-c', built.line], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)))
    await until(() => sleeping() === 4)
    const killer = nonce()
    const kill = killCommand(killer, { pid: child.pid as number, group: true })
    expect(spawnSync('/bin/sh', ['-c', kill], { encoding: 'utf8' }).stdout).toBe(`${killer} gone\n`)
    expect(await ended).toBe('SIGTERM')
    await until(() => sleeping() === 0)
  })

  it('is started by the dead-man that was probed, not by one of the account', async () => {
    const { env, ranOf } = shadows(['timeout'])
    const result = await ran(bash, FAR, command('echo "$PATH"'), env)
    expect(result.stdout).toBe(`${env.PATH}\n`)
    expect(ranOf()).toBe('')
  })

  it('takes no functions, BASH_ENV or options out of the environment', async () => {
    const env = {
      PATH: process.env.PATH,
      'BASH_FUNC_ls%%': '() { echo hijacked; }',
      BASH_ENV: join(dir, 'never'),
      ENV: join(dir, 'never'),
      CDPATH: '/',
    }
    for (const automatic of [false, true]) {
      const wanted = command('ls -d /; type ls | head -1', { automatic })
      for (const result of [
        await ran(bash, FAR, wanted, env),
        await ran(['/bin/dash', '-c'], FAR, wanted, { ...env, SHELLOPTS: 'xtrace' }),
      ]) {
        expect(result.stderr).toBe('')
        expect(result.stdout).toMatch(/^\/\nls is (hashed \()?\//)
      }
    }
  })

  it('keeps the trace of a login shell out of the output', async () => {
    for (const script of ['echo ran; echo told >&2', `echo ran; echo told >&2 # ${'x'.repeat(30_000)}`]) {
      const result = await ran(bash, FAR, command(script), { PATH: process.env.PATH, SHELLOPTS: 'xtrace' })
      expect(result).toMatchObject({ stdout: 'ran\n', stderr: 'told\n' })
      expect(result.noise).toContain('+ exec /bin/sh')
    }
  })

  it('is scrubbed when nobody was asked', async () => {
    const env = {
      PATH: process.env.PATH,
      HOME: '/home/x',
      LANG: 'C.UTF-8',
      LD_LIBRARY_PATH: '/nowhere',
      GIT_DIR: '/nowhere',
      GIT_EXTERNAL_DIFF: 'touch /tmp/x',
      LESSOPEN: '|x',
      MANPAGER: 'x',
      PAGER: 'x',
      PYTHONSTARTUP: 'x',
      DOCKER_HOST: 'tcp://there',
    }
    const scrubbed = await ran(bash, FAR, command('env | sort', { automatic: true, env: { MINE: '1' } }), env)
    expect(scrubbed.stdout.split('\n').filter((text) => !/^(_|SHLVL|PWD|OLDPWD)=/.test(text))).toEqual([
      'COMPOSE_EXPERIMENTAL_GIT_REMOTE=false',
      'COMPOSE_EXPERIMENTAL_OCI_REMOTE=false',
      'DOCKER_HOST=tcp://there',
      'GIT_ALLOW_PROTOCOL=none',
      'GIT_ASKPASS=/bin/false',
      'GIT_CONFIG_COUNT=2',
      'GIT_CONFIG_KEY_0=core.fsmonitor',
      'GIT_CONFIG_KEY_1=core.hooksPath',
      "GIT_CONFIG_PARAMETERS='core.fsmonitor=false' 'core.hooksPath=/dev/null'",
      'GIT_CONFIG_VALUE_0=false',
      'GIT_CONFIG_VALUE_1=/dev/null',
      'GIT_OPTIONAL_LOCKS=0',
      'GIT_PAGER=cat',
      'GIT_SSH_COMMAND=/bin/false',
      'GIT_TERMINAL_PROMPT=0',
      'HOME=/home/x',
      'LANG=C.UTF-8',
      'MINE=1',
      'PAGER=cat',
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'SYSTEMD_PAGER=cat',
      '',
    ])
    const asked = await ran(bash, FAR, command('echo "$GIT_DIR $MANPAGER"'), env)
    expect(asked.stdout).toBe('/nowhere x\n')
  })

  /** A folder in front of PATH where programs of the system's names leave a proof that they ran. */
  function shadows(names: readonly string[]): { env: NodeJS.ProcessEnv; ranOf: () => string } {
    const bin = join(mkdtempSync(join(dir, 'shadow-')), 'bin')
    mkdirSync(bin)
    const proof = join(bin, 'proof')
    for (const name of names) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >>"${proof}"\nexec /usr/bin/${name} "$@"\n`, {
        mode: 0o755,
      })
    }
    return {
      env: { PATH: `${bin}:${process.env.PATH}`, HOME: dir },
      ranOf: () => (existsSync(proof) ? readFileSync(proof, 'utf8') : ''),
    }
  }

  it('starts the programs of the system only, when nobody was asked', async () => {
    for (const [, login] of present) {
      for (const far of EVERY_FAR) {
        for (const script of ['ls -d /', `ls -d / # ${'x'.repeat(30_000)}`]) {
          const { env, ranOf } = shadows(['ls', 'env', 'timeout', 'bash', 'setsid', 'cat', 'printf'])
          const result = await ran(login, far, command(script, { automatic: true }), env)
          expect({ stdout: result.stdout, ran: ranOf() }).toEqual({ stdout: '/\n', ran: '' })
        }
        for (const sandbox of [null, 'files']) {
          if (sandbox !== null && !bwrapWorks) continue
          const { env, ranOf } = shadows(['ls', 'env', 'timeout', 'bash', 'setsid', 'bwrap', 'id'])
          const wanted = command('exit 99', { argv: ['ls', '-d', '/'], sandbox, cwd: '/', automatic: true })
          const result = await ran(login, far, wanted, env)
          expect({ stdout: result.stdout, stderr: result.stderr, ran: ranOf() }).toEqual({
            stdout: '/\n',
            stderr: '',
            ran: '',
          })
        }
      }
    }
    const { env, ranOf } = shadows(['ls'])
    expect((await ran(bash, FAR, command('ls -d /'), env)).stdout).toBe('/\n')
    expect(ranOf()).toBe('ls\n')
  }, 60_000)

  it('takes the helpers of the system for its own work', () => {
    const { env, ranOf } = shadows(['ps', 'timeout', 'uname', 'sudo', 'sleep', 'kill'])
    const word = nonce()
    const line = (text: string): string => spawnSync('/bin/sh', ['-c', text], { env, encoding: 'utf8' }).stdout
    expect(parseProbe(word, line(probeCommand(word)))).toMatchObject({ bash: true })
    expect(line(unameCommand(word))).toContain(word)
    expect(line(killCommand(word, { pid: 2 ** 22 + 1, group: true }))).toBe(`${word} gone\n`)
    expect(ranOf()).toBe('')
  })

  it('does without bash and timeout where the folders of the system have none', async () => {
    const built = buildCommand(FAR, nonce(), command('echo "$0 ran"', { automatic: true }))
    // The folders of a host that has nothing but `env` in them.
    const bin = join(dir, 'poor')
    mkdirSync(bin)
    writeFileSync(join(bin, 'env'), '#!/bin/sh\nexec /usr/bin/env "$@"\n', { mode: 0o755 })
    const line = built.line.replaceAll('/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', '/nomos/poor')
    const result = spawnSync('/bin/sh', ['-c', line.replaceAll('/nomos/poor', '/proc/self/cwd')], {
      cwd: bin,
      encoding: 'utf8',
    })
    expect(result.stdout).toMatch(/\n\/bin\/sh ran\n$/)
  })

  it.skipIf(spawnSync('git', ['--version']).status !== 0)('starts nothing that a repository names', async () => {
    const repository = mkdtempSync(join(dir, 'repository-'))
    const proof = join(repository, 'proof')
    const hook = join(repository, 'hook')
    writeFileSync(hook, `#!/bin/sh\necho ran >>"${proof}"\n`, { mode: 0o755 })
    const git = (...args: string[]): void =>
      expect(spawnSync('git', args, { cwd: repository, encoding: 'utf8' })).toMatchObject({ status: 0 })
    git('init', '-q')
    git('config', 'core.fsmonitor', './hook')
    git('config', 'core.sshCommand', './hook')
    git('config', 'core.askPass', './hook')
    git('remote', 'add', 'origin', 'ssh://nowhere.invalid/a')
    git('remote', 'add', 'other', 'ext::./hook')
    git('config', 'protocol.ext.allow', 'always')
    const script = 'git status; git ls-remote origin; git ls-remote other; true'
    const env = { PATH: process.env.PATH, HOME: repository }
    for (const old of ['', 'unset GIT_CONFIG_COUNT; ']) {
      await ran(bash, FAR, command(old + script, { cwd: repository, automatic: true }), env)
      expect(existsSync(proof)).toBe(false)
    }
    await ran(bash, FAR, command('git status', { cwd: repository }), env)
    expect(existsSync(proof)).toBe(true)
  })

  describe('has limits when nobody was asked', () => {
    const shells = [
      ['dash', '/bin/dash'],
      ['bash', '/bin/bash --posix'],
      ['busybox', '/bin/busybox sh'],
    ].filter(([, program]) => existsSync((program as string).split(' ')[0] as string))
    const limits = "grep -E '^Max (file size|address space)' /proc/self/limits | tr -s ' ' | cut -d' ' -f4,5"

    it.skipIf(!existsSync('/proc/self/limits')).each(shells)('under %s as /bin/sh', (_name, program) => {
      const run = (wanted: FarCommand, before = ''): { stdout: string; status: number | null } => {
        const line = buildCommand(FAR, nonce(), wanted).line.replaceAll('/bin/sh', program as string)
        return spawnSync('/bin/sh', ['-c', `${before}${line}`], { encoding: 'utf8' })
      }
      const of = (text: string): string => text.split('\n').slice(1).join(' ').trim()
      const free = of(run(command(limits)).stdout)
      expect(of(run(command(limits, { automatic: true })).stdout)).toBe('67108864 67108864 4294967296 4294967296')
      expect(of(run(command(`${limits} # node`, { automatic: true })).stdout)).toBe(
        `67108864 67108864 ${free.split(' ').slice(2).join(' ')}`,
      )
      // A stricter limit of the host stays, and is no fault.
      expect(of(run(command(limits, { automatic: true }), 'ulimit -f 1000; ').stdout)).toMatch(/^512000 512000 /)
      const file = join(dir, 'large')
      const write = (mb: number) =>
        run(command(`head -c ${mb}M /dev/zero >"${file}"`, { cwd: dir, automatic: true })).status
      expect(write(60)).toBe(0)
      expect(write(70)).not.toBe(0)
      rmSync(file, { force: true })
    })

    it('or none, where the shell knows none', () => {
      const { line } = buildCommand(FAR, nonce(), command('echo ran', { automatic: true }))
      const without = line.replaceAll('ulimit', 'no-such-limit')
      expect(spawnSync('/bin/sh', ['-c', without], { encoding: 'utf8' })).toMatchObject({ status: 0 })
    })

    it('that reach neither what is piped nor programs that need many addresses', async () => {
      const piped = await ran(bash, FAR, command('head -c 100M /dev/zero | wc -c', { automatic: true }))
      expect(piped).toMatchObject({ stdout: '104857600\n', code: 0 })
      for (const script of [
        'git status',
        'cd /x && /opt/node/bin/node -v',
        'java -version',
        'kafka-topics.sh --list',
      ]) {
        expect(buildCommand(FAR, nonce(), command(script, { automatic: true })).line).not.toContain('ulimit -v')
      }
      for (const script of ['ls -la', 'cat .gitignore-less', 'docker ps', 'journalctl -n 5']) {
        expect(buildCommand(FAR, nonce(), command(script, { automatic: true })).line).toContain('ulimit -v')
      }
      expect(buildCommand(FAR, nonce(), command('ls')).line).not.toContain('ulimit')
    })
  })

  it('goes through stdin only when it is long, and never in part', async () => {
    const word = nonce()
    expect(buildCommand(FAR, word, command('true')).stdin).toBeNull()
    const built = buildCommand(FAR, word, command(`: ${'x'.repeat(30_000)}\necho ran`))
    expect(built.line.length).toBeLessThan(32_000)
    expect(built.stdin).not.toBeNull()
    for (const stdin of [built.stdin?.slice(0, -1), built.stdin?.slice(1), built.stdin?.slice(0, 20_000), '']) {
      const result = spawnSync('/bin/sh', ['-c', built.line], { input: stdin ?? '', encoding: 'utf8' })
      expect(result.status).toBe(126)
      expect(result.stdout).not.toContain('ran')
      expect(result.stderr).toContain('did not arrive whole')
    }
    expect(spawnSync('/bin/sh', ['-c', built.line], { input: built.stdin ?? '', encoding: 'utf8' }).stdout).toMatch(
      /\nran\n$/,
    )
  })

  it('has the same line numbers, arguments and descriptors either way', async () => {
    const script = 'echo "$# $LINENO"; ls /proc/self/fd | wc -l\nno-such-program-here\n'
    const short = await ran(bash, FAR, command(script))
    const long = await ran(bash, FAR, command(`${script}# ${'x'.repeat(30_000)}\n`))
    expect(long.stdout).toBe(short.stdout)
    expect(long.stderr).toContain('line 2: no-such-program-here')
    expect(short.stderr).toContain('line 2: no-such-program-here')
  })

  it('does not start when nobody reads the marker', async () => {
    const proof = join(dir, 'started anyway')
    const built = buildCommand(FAR, nonce(), command(`touch '${proof}'`))
    for (const shut of ['>&-', '2>&-', '>/dev/full']) {
      spawnSync('/bin/sh', ['-c', `exec /bin/sh -c "$0" ${shut}`, built.line], { stdio: 'ignore' })
      expect(existsSync(proof)).toBe(false)
    }
  })
})

describe('the escapes', () => {
  it('hold nothing a login shell could take for its own', () => {
    const all = String.fromCharCode(...Array.from({ length: 0x250 }, (_, i) => i + 1))
    expect(escapeForPrintf(all)).not.toMatch(/['!\n\r]|\\\\|[^\x20-\x7e]/)
  })
})
