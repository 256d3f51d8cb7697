import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { existsSync, promises as fs, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where Debian, Fedora, macOS and Homebrew keep the server. */
const SSHD_PATHS = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/sbin/sshd', '/opt/homebrew/sbin/sshd']

export interface SshdOptions {
  /** Host keys to have, the first one is `hostKeyPath`. Default: ed25519 only. */
  readonly hostKeys?: readonly ('ed25519' | 'ecdsa' | 'rsa')[]
  /** Folders put before the usual PATH of every session, for stand-in programs. */
  readonly path?: readonly string[]
  /** Further environment of every session. */
  readonly env?: Readonly<Record<string, string>>
  /** Text shown before the login. */
  readonly banner?: string
  readonly maxSessions?: number
  /**
   * Logs in as an account made for this server alone (root only), with this login shell and these files in its home folder.
   * Without it the login is the user who runs the tests.
   */
  readonly account?: { readonly shell: string; readonly files?: Readonly<Record<string, string>> }
  /** More lines for sshd_config. */
  readonly config?: readonly string[]
}

export interface Sshd {
  readonly address: '127.0.0.1'
  readonly port: number
  readonly user: string
  /** Home folder of the login user. */
  readonly home: string
  readonly hostKeyPath: string
  /** SHA-256 fingerprint of the first host key; a rotation changes it. */
  readonly hostFingerprint: string
  readonly clientKeyPath: string
  readonly clientKeyWithPassphrase: { readonly path: string; readonly passphrase: string }
  /** Makes the first host key known, without a newline; a rotation changes it. */
  readonly knownHostsLine: string
  readonly dir: string
  /** What the server logged so far. */
  log(): string
  /** Gives the server a new first host key. Sessions that are open stay. */
  rotateHostKey(): Promise<void>
  /** Stops the server and all its sessions in their tracks (SIGSTOP): sockets stay open, nothing answers. */
  freeze(): void
  thaw(): void
  /** Kills the processes that serve open connections; the listener stays. */
  dropConnections(): void
  /** Ends everything and removes what was made. */
  stop(): Promise<void>
}

/** Whether this machine has an OpenSSH server to test against. */
export function sshdPath(): string | null {
  return SSHD_PATHS.find((path) => existsSync(path)) ?? null
}

/** Whether accounts can be made for tests. */
export function canMakeAccounts(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/sbin/useradd')
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

async function makeKey(path: string, type: 'ed25519' | 'ecdsa' | 'rsa', passphrase: string): Promise<void> {
  await fs.rm(path, { force: true })
  await fs.rm(`${path}.pub`, { force: true })
  const bits = type === 'rsa' ? ['-b', '2048'] : []
  // Few rounds: the tests are about the passphrase, not about how long guessing it takes.
  await run('ssh-keygen', ['-q', '-t', type, ...bits, '-a', '4', '-N', passphrase, '-C', 'nomos test', '-f', path])
}

async function publicLine(path: string): Promise<string> {
  return (await fs.readFile(`${path}.pub`, 'utf8')).trim()
}

async function fingerprint(path: string): Promise<string> {
  const { stdout } = await run('ssh-keygen', ['-l', '-E', 'sha256', '-f', `${path}.pub`])
  return stdout.split(' ')[1] ?? ''
}

/** Every process below `root` that is an sshd, the root too. Sessions' own programs are left out. */
function sshdProcesses(root: number): number[] {
  const parents = new Map<number, { parent: number; name: string }>()
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const close = stat.lastIndexOf(')')
      const parent = Number(stat.slice(close + 2).split(' ')[1])
      parents.set(Number(name), { parent, name: stat.slice(stat.indexOf('(') + 1, close) })
    } catch {
      // It ended while we looked.
    }
  }
  const found = [root]
  for (let i = 0; i < found.length; i += 1) {
    for (const [pid, { parent, name }] of parents) {
      if (parent === found[i] && name.startsWith('sshd')) found.push(pid)
    }
  }
  return found.filter((pid) => parents.has(pid))
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It is gone already.
  }
}

/**
 * Runs the server below a shell that holds a pipe of ours: a test process that is killed closes the pipe, and the shell ends the server and
 * clears up. With the word "keep" it only ends the server.
 */
const KEEPER = [
  '"$@" & p=$!; echo $p; word=; read -r word; kill -KILL $p 2>/dev/null; wait $p 2>/dev/null',
  'if [ "$word" != keep ]; then',
  '  if [ -n "$TEST_ACCOUNT" ]; then for i in 1 2 3 4 5 6 7 8 9; do pkill -KILL -u "$TEST_ACCOUNT"; userdel "$TEST_ACCOUNT" 2>/dev/null && break; sleep 0.2; done; fi',
  '  rm -rf "$TEST_FOLDER"',
  'fi',
].join('\n')

function hasEnded(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return existsSync('/proc/self/stat')
  }
}

let accounts = 0

async function makeAccount(
  dir: string,
  shell: string,
  files: Readonly<Record<string, string>>,
): Promise<{ user: string; home: string }> {
  if (!canMakeAccounts()) throw new Error('a test account needs root and useradd: leave `account` out')
  accounts += 1
  const user = `nomost${process.pid}x${accounts}`
  const home = join(dir, 'home')
  await fs.mkdir(home, { mode: 0o755 })
  await run('/usr/sbin/useradd', ['--no-create-home', '--home-dir', home, '--shell', shell, user])
  // A fresh account is locked, and without PAM sshd takes no locked one: `*` is "no password", not "locked".
  await run('/usr/sbin/usermod', ['-p', '*', user])
  for (const [name, text] of Object.entries(files)) await fs.writeFile(join(home, name), text)
  await run('chown', ['-R', user, home])
  return { user, home }
}

/**
 * Starts a real OpenSSH server on a loopback port, with its own keys in a folder of its own.
 * Runs as root and as any other user; then only that user can log in.
 */
export async function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  const sshd = sshdPath()
  if (sshd === null)
    throw new Error(`no sshd at ${SSHD_PATHS.join(', ')}: install it (Debian: apt-get install openssh-server)`)
  const root = process.getuid?.() === 0
  if (root) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })

  const dir = await fs.mkdtemp(join(tmpdir(), 'nomos-sshd-'))
  // sshd reads authorized_keys as the user who logs in.
  await fs.chmod(dir, 0o755)
  const account =
    options.account === undefined ? null : await makeAccount(dir, options.account.shell, options.account.files ?? {})
  const me = userInfo()
  const user = account?.user ?? me.username
  const home = account?.home ?? me.homedir

  const types = options.hostKeys ?? ['ed25519']
  const hostKeyPaths = types.map((type) => join(dir, `host_${type}`))
  const [firstType] = types
  const [hostKeyPath] = hostKeyPaths
  if (firstType === undefined || hostKeyPath === undefined) throw new Error('a server needs a host key')
  const clientKeyPath = join(dir, 'client')
  const locked = { path: join(dir, 'client_locked'), passphrase: 'correct horse battery staple' }
  await Promise.all([
    ...types.map((type, index) => makeKey(hostKeyPaths[index] ?? hostKeyPath, type, '')),
    makeKey(clientKeyPath, 'ed25519', ''),
    makeKey(locked.path, 'ed25519', locked.passphrase),
  ])
  const authorized = join(dir, 'authorized_keys')
  await fs.writeFile(authorized, `${await publicLine(clientKeyPath)}\n${await publicLine(locked.path)}\n`, {
    mode: 0o644,
  })

  const env = { ...options.env }
  if (options.path !== undefined) {
    env.PATH = [...options.path, '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'].join(':')
  }
  const setEnv = Object.entries(env).map(([name, value]) => `"${name}=${value}"`)
  if (options.banner !== undefined) await fs.writeFile(join(dir, 'banner'), options.banner)

  let keeper: ChildProcessByStdio<Writable, Readable, Readable> | null = null
  let listener: number | null = null
  let logged = ''
  let port = 0

  const launch = async (): Promise<void> => {
    const config = join(dir, 'sshd_config')
    await fs.writeFile(
      config,
      [
        `Port ${port}`,
        'ListenAddress 127.0.0.1',
        ...hostKeyPaths.map((path) => `HostKey ${path}`),
        `PidFile ${join(dir, 'sshd.pid')}`,
        `AuthorizedKeysFile ${authorized}`,
        'UsePAM no',
        'StrictModes no',
        'PubkeyAuthentication yes',
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        'PermitRootLogin prohibit-password',
        'UseDNS no',
        'PrintMotd no',
        'LogLevel VERBOSE',
        'MaxStartups 100:30:200',
        ...(options.maxSessions === undefined ? [] : [`MaxSessions ${options.maxSessions}`]),
        ...(options.banner === undefined ? [] : [`Banner ${join(dir, 'banner')}`]),
        ...(setEnv.length === 0 ? [] : [`SetEnv ${setEnv.join(' ')}`]),
        ...(options.config ?? []),
        '',
      ].join('\n'),
    )
    const child = spawn('/bin/sh', ['-c', KEEPER, 'sh', sshd, '-D', '-e', '-f', config], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, TEST_ACCOUNT: account?.user ?? '', TEST_FOLDER: dir },
    })
    keeper = child
    child.stdin.on('error', () => undefined)
    child.stdout.setEncoding('utf8')
    child.stderr.setEncoding('utf8')
    const before = logged.length
    let told = ''
    child.stdout.on('data', (text: string) => {
      told += text
    })
    child.stderr.on('data', (text: string) => {
      logged += text
    })
    for (let i = 0; i < 400; i += 1) {
      listener = told.endsWith('\n') ? Number(told) : null
      if (listener !== null && logged.slice(before).includes('Server listening on')) return
      if (child.exitCode !== null || (listener !== null && hasEnded(listener))) break
      await sleep(25)
    }
    await halt()
    throw new Error(`sshd did not start on port ${port}: ${logged.slice(before).trim() || 'it said nothing'}`)
  }

  const halt = async (): Promise<void> => {
    const child = keeper
    keeper = null
    listener = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.stdin.end('keep\n')
    await ended
  }

  const remove = async (): Promise<void> => {
    if (account !== null) {
      // userdel refuses while a process of the account is still being cleared away.
      for (let attempt = 0; attempt < 40; attempt += 1) {
        await run('pkill', ['-KILL', '-u', account.user]).catch(() => undefined)
        const gone = await run('/usr/sbin/userdel', [account.user]).then(
          () => true,
          () => false,
        )
        if (gone) break
        await sleep(50)
      }
    }
    await fs.rm(dir, { recursive: true, force: true })
  }

  /** Processes of sessions outlive a listener that was replaced; they are remembered here. */
  const older = new Set<number>()
  const processes = (): number[] => [
    ...(listener === null ? [] : sshdProcesses(listener)),
    ...[...older].flatMap((pid) => sshdProcesses(pid)),
  ]

  try {
    for (let attempt = 1; ; attempt += 1) {
      port = await freePort()
      try {
        await launch()
        break
      } catch (error) {
        // Another test may have taken the port in between.
        if (attempt >= 3 || !String(error).includes('in use')) throw error
      }
    }
  } catch (error) {
    await halt()
    await remove()
    throw error
  }

  const describe = async (): Promise<{ hostFingerprint: string; knownHostsLine: string }> => {
    const [type, key] = (await publicLine(hostKeyPath)).split(' ')
    return { hostFingerprint: await fingerprint(hostKeyPath), knownHostsLine: `[127.0.0.1]:${port} ${type} ${key}` }
  }
  let described = await describe()

  return {
    address: '127.0.0.1',
    port,
    user,
    home,
    hostKeyPath,
    clientKeyPath,
    clientKeyWithPassphrase: locked,
    dir,
    get hostFingerprint() {
      return described.hostFingerprint
    },
    get knownHostsLine() {
      return described.knownHostsLine
    },
    log: () => logged,
    async rotateHostKey() {
      const main = listener
      for (const pid of processes()) if (pid !== main) older.add(pid)
      await halt()
      await makeKey(hostKeyPath, firstType, '')
      await launch()
      described = await describe()
    },
    freeze() {
      for (const pid of processes()) signal(pid, 'SIGSTOP')
    },
    thaw() {
      for (const pid of processes()) signal(pid, 'SIGCONT')
    },
    dropConnections() {
      const main = listener
      for (const pid of processes()) if (pid !== main) signal(pid, 'SIGKILL')
    },
    async stop() {
      const all = processes()
      await halt()
      for (const pid of all) signal(pid, 'SIGKILL')
      await remove()
    },
  }
}
