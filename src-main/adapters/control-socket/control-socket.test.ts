import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Envelope, FeedEvent, Numbered } from '../../../src-preload/contract'
import type { Caller, Feed, Log } from '../../ports'
import {
  CONTROL_ROUTES,
  type ControlServer,
  type ControlServerConfig,
  ControlUnavailable,
  createControlClient,
  createControlServer,
  needsOperator,
  RUN_MARKER,
  type RunGroup,
  socketPath,
  tokenPath,
} from './index'
import { proveTerminal } from './terminal-proof'

const quiet: Log = { info: () => {}, warn: () => {}, error: () => {} }

const SETTLED = {
  id: 'apr_1',
  executionId: 'exe_1',
  state: 'approved',
  outcome: 'ask',
  phrase: null,
  digest: 'd',
  createdAt: 1,
  expiresAt: 2,
  settlement: null,
}

interface Call {
  readonly caller: Caller
  readonly route: string
  readonly input: unknown
}

function fakeFeed(): Feed {
  const listeners = new Set<(event: Numbered) => void>()
  let seq = 0
  return {
    boot: 'boot_1',
    get seq() {
      return seq
    },
    publish(event: FeedEvent) {
      seq += 1
      for (const listener of listeners) listener({ boot: 'boot_1', seq, event })
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

let root: string
let driver: string
let folder: string
let server: ControlServer | null = null
let calls: Call[] = []
let refusals: string[] = []
let runs: RunGroup[] = []
let feed = fakeFeed()
const children = new Set<ChildProcess>()

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'ncs-'))
  await build({
    configFile: false,
    logLevel: 'silent',
    root: import.meta.dirname,
    ssr: { noExternal: true },
    build: {
      ssr: join(import.meta.dirname, 'driver.fixture.ts'),
      outDir: join(root, 'driver'),
      rollupOptions: { output: { entryFileNames: 'driver.mjs', format: 'es' } },
    },
  })
  driver = join(root, 'driver', 'driver.mjs')
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

beforeEach(() => {
  folder = mkdtempSync(join(root, 'r-'))
  calls = []
  refusals = []
  runs = []
  feed = fakeFeed()
})

afterEach(async () => {
  await server?.stop()
  server = null
  for (const child of children) if (child.pid !== undefined && child.exitCode === null) child.kill('SIGKILL')
  children.clear()
})

async function serve(more: Partial<ControlServerConfig> = {}): Promise<ControlServer> {
  server = createControlServer({
    folder,
    feed,
    log: quiet,
    runs: () => runs,
    // The clients of these tests are our own children; the rule about those has a test of its own.
    hostPid: 0,
    onRefused: (reason) => refusals.push(reason),
    dispatch: async (caller, route, input): Promise<Envelope<unknown>> => {
      calls.push({ caller, route, input })
      return { ok: true, value: route === 'approvals.pending' ? [] : SETTLED }
    },
    ...more,
  })
  await server.start()
  return server
}

/** A bare connection, to say what a well-behaved client never would. */
class Wire {
  readonly lines: string[] = []
  readonly closed: Promise<void>
  private rest = ''
  private wake: (() => void) | null = null
  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      const parts = (this.rest + chunk.toString('utf8')).split('\n')
      this.rest = parts.pop() ?? ''
      this.lines.push(...parts)
      this.wake?.()
    })
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => socket.on('close', () => resolve()))
  }
  static async open(greeting: string | null = readFileSync(tokenPath(folder), 'utf8').trim()): Promise<Wire> {
    const socket = connect(socketPath(folder))
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    const wire = new Wire(socket)
    if (greeting !== null) {
      wire.say({ hello: greeting })
      await wire.next()
    }
    return wire
  }
  say(frame: unknown): void {
    this.socket.write(`${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`)
  }
  async next(): Promise<Record<string, unknown>> {
    while (this.lines.length === 0) await new Promise<void>((resolve) => (this.wake = resolve))
    return JSON.parse(this.lines.shift() ?? '') as Record<string, unknown>
  }
  async ask(frame: Record<string, unknown>): Promise<Envelope<Record<string, unknown>>> {
    this.say(frame)
    return (await this.next()).envelope as Envelope<Record<string, unknown>>
  }
}

function message(envelope: Envelope<unknown>): string {
  return envelope.ok ? 'ok' : envelope.error.message
}

const ANSWER = { id: 'apr_1', answer: { kind: 'approve', phrase: null }, digest: 'd' }

/** Runs the driver and gives back the envelope it printed. `terminal` puts it under script(1), which makes a real pty. */
async function drive(
  mode: string,
  options: { terminal: boolean; env?: NodeJS.ProcessEnv; onStart?: (pid: number) => void },
): Promise<Envelope<unknown>> {
  const command = `'${process.execPath}' '${driver}' '${folder}' ${mode}`
  const [program, args] = options.terminal
    ? ['script', ['-qec', command, '/dev/null']]
    : // A session of its own has no terminal, whatever the tests themselves were started in.
      ['setsid', ['-w', 'sh', '-c', command]]
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...options.env },
    detached: true,
  })
  children.add(child)
  if (child.pid !== undefined) options.onStart?.(child.pid)
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8')
  })
  await new Promise((resolve) => child.once('close', resolve))
  const line = out.split(/\r?\n/).find((text) => text.startsWith('ENVELOPE '))
  if (line === undefined) throw new Error(`the driver printed no envelope: ${out}`)
  return JSON.parse(line.slice('ENVELOPE '.length)) as Envelope<unknown>
}

const linux = process.platform === 'linux'

describe('the socket and its token', () => {
  it('is made for this user alone', async () => {
    const made = await serve()
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(made.path).mode & 0o777).toBe(0o600)
    expect(statSync(tokenPath(folder)).mode & 0o777).toBe(0o600)
    expect(Buffer.from(readFileSync(tokenPath(folder), 'utf8').trim(), 'base64url')).toHaveLength(32)
  })

  it('tightens a run folder that was open to others', async () => {
    chmodSync(folder, 0o777)
    await serve()
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  it('makes a new token at each start and removes its files when it stops', async () => {
    await serve()
    const first = readFileSync(tokenPath(folder), 'utf8')
    await server?.stop()
    expect(existsSync(socketPath(folder))).toBe(false)
    expect(existsSync(tokenPath(folder))).toBe(false)
    await server?.start()
    expect(readFileSync(tokenPath(folder), 'utf8')).not.toBe(first)
  })

  it('answers a wrong token with one error line and closes, and nothing is dispatched', async () => {
    await serve()
    const wire = await Wire.open(null)
    wire.say({ hello: 'x'.repeat(43) })
    wire.say({ id: 1, route: 'approvals.pending', input: {} })
    const line = await wire.next()
    expect(line).toMatchObject({ error: { code: 'wrong_token' } })
    await wire.closed
    expect(wire.lines).toEqual([])
    expect(calls).toEqual([])
  })

  it('takes no request in place of the token', async () => {
    await serve()
    const wire = await Wire.open(null)
    wire.say({ id: 1, route: 'approvals.pending', input: {} })
    expect(await wire.next()).toMatchObject({ error: { code: 'wrong_token' } })
    await wire.closed
    expect(calls).toEqual([])
  })

  it('refuses a path that is too long, with the path, its length and the remedy', async () => {
    const long = join(folder, 'x'.repeat(120))
    const made = createControlServer({
      folder: long,
      feed,
      log: quiet,
      runs: () => [],
      dispatch: async () => ({ ok: true, value: 1 }),
    })
    const path = join(long, 'control.sock')
    await expect(made.start()).rejects.toThrow(`${path} is ${Buffer.byteLength(path)} bytes long`)
    await expect(made.start()).rejects.toThrow('Set NOMOS_HOME to a shorter folder')
    expect(existsSync(long)).toBe(false)
  })

  it('takes a path of exactly 103 bytes', async () => {
    folder = join(folder, 'y'.repeat(103 - Buffer.byteLength(folder) - '/'.length - '/control.sock'.length))
    const made = await serve()
    expect(Buffer.byteLength(made.path)).toBe(103)
    expect(await (await Wire.open()).ask({ id: 1, route: 'approvals.pending', input: {} })).toMatchObject({ ok: true })
  })

  it('removes a stale socket, and leaves one on which somebody answers', async () => {
    const path = socketPath(folder)
    const crashed = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`,
    ])
    await new Promise((resolve) => crashed.once('close', resolve))
    expect(existsSync(path)).toBe(true)
    await serve()
    const second = createControlServer({
      folder,
      feed,
      log: quiet,
      runs: () => [],
      dispatch: async () => ({ ok: true, value: 1 }),
    })
    const token = readFileSync(tokenPath(folder), 'utf8')
    await expect(second.start()).rejects.toThrow('Another Nomos answers')
    expect(readFileSync(tokenPath(folder), 'utf8')).toBe(token)
    expect(await (await Wire.open()).ask({ id: 1, route: 'approvals.pending', input: {} })).toMatchObject({ ok: true })
  })

  it('leaves a file that is in the way, and does not follow a linked folder', async () => {
    writeFileSync(socketPath(folder), 'mine')
    await expect(serve()).rejects.toThrow('not a socket')
    expect(readFileSync(socketPath(folder), 'utf8')).toBe('mine')
    server = null
    const real = join(folder, 'real')
    mkdirSync(real)
    symlinkSync(real, join(folder, 'link'))
    const linked = createControlServer({
      folder: join(folder, 'link'),
      feed,
      log: quiet,
      runs: () => [],
      dispatch: async () => ({ ok: true, value: 1 }),
    })
    await expect(linked.start()).rejects.toThrow('not a folder')
  })
})

describe('requests', () => {
  it('dispatches as a cli caller without operator rights', async () => {
    await serve()
    const client = createControlClient(folder)
    expect(await client.connect()).toEqual({ boot: 'boot_1', seq: 0, host: 'window' })
    expect(await client.request('approvals.pending', {})).toEqual({ ok: true, value: [] })
    expect(calls).toEqual([{ caller: { surface: 'cli', operator: false }, route: 'approvals.pending', input: {} }])
    client.close()
  })

  it('keeps every operator route shut without a challenge, and every window route shut always', async () => {
    await serve()
    for (const route of CONTROL_ROUTES.filter(needsOperator)) {
      const wire = await Wire.open()
      const plain = await wire.ask({ id: 1, route, input: ANSWER })
      expect(message(plain)).toContain('live challenge')
      wire.socket.destroy()
    }
    const wire = await Wire.open()
    for (const route of [
      'chat.send',
      'approvals.answerMany',
      'approvals.shown',
      'ui.save',
      'sessions.remove',
      'no.such',
      'toString',
    ]) {
      expect(await wire.ask({ id: 2, route, input: {} })).toMatchObject({ ok: false, error: { code: 'unknown_route' } })
      const offered = await wire.ask({ id: 3, challenge: { pid: process.pid, route, input: {} } })
      expect(offered).toMatchObject({ ok: false, error: { code: 'unknown_route' } })
    }
    expect(CONTROL_ROUTES.filter(needsOperator)).toEqual([
      'health.act',
      'executions.start',
      'approvals.answer',
      'hosts.save',
      'hosts.remove',
      'hosts.test',
      'hosts.trust',
      'settings.saveModel',
      'settings.savePreferences',
      'policy.setSwitch',
      'policy.setNeverAuto',
      'settings.saveDesktop',
      'policy.save',
      'policy.allowlistAdd',
      'policy.allowlistRemove',
      'policy.fileSet',
      'policy.preset',
      'policy.undo',
      'policy.clearSession',
      'grants.add',
      'grants.revoke',
      'policy.setCompound',
    ])
    expect(calls).toEqual([])
  })

  it('serves only the routes it was given', async () => {
    await serve({ allowedRoutes: ['approvals.pending', 'chat.send'] })
    const wire = await Wire.open()
    expect(await wire.ask({ id: 1, route: 'approvals.pending', input: {} })).toMatchObject({ ok: true })
    expect(await wire.ask({ id: 2, route: 'ledger.verify', input: {} })).toMatchObject({ ok: false })
    expect(await wire.ask({ id: 3, route: 'chat.send', input: {} })).toMatchObject({ ok: false })
  })

  it('cannot be told who calls by the request', async () => {
    await serve()
    const wire = await Wire.open()
    const answer = await wire.ask({
      id: 1,
      route: 'approvals.pending',
      input: {},
      operator: true,
      caller: { operator: true },
    })
    expect(answer).toMatchObject({ ok: false, error: { code: 'bad_input' } })
    expect(calls).toEqual([])
  })

  it('closes on what is no request, and on a line over the cap', async () => {
    await serve()
    const nonsense = await Wire.open()
    nonsense.say('nonsense')
    expect(await nonsense.next()).toMatchObject({ error: { code: 'bad_line' } })
    await nonsense.closed
    const flood = await Wire.open()
    flood.socket.write(`{"id":1,"route":"${'x'.repeat(2 * 1024 * 1024)}`)
    expect(await flood.next()).toMatchObject({ error: { code: 'line_too_long' } })
    await flood.closed
  })

  it('answers a throwing dispatch with an envelope', async () => {
    await serve({ dispatch: async () => Promise.reject(new Error('secret detail')) })
    const wire = await Wire.open()
    const answer = await wire.ask({ id: 1, route: 'approvals.pending', input: {} })
    expect(answer).toMatchObject({ ok: false, error: { code: 'internal' } })
    expect(message(answer)).not.toContain('secret')
  })

  it('answers many requests on one connection, each once', async () => {
    await serve()
    const wire = await Wire.open()
    const ids = Array.from({ length: 500 }, (_, index) => index)
    wire.socket.write(ids.map((id) => `${JSON.stringify({ id, route: 'approvals.pending', input: {} })}\n`).join(''))
    const seen: number[] = []
    for (const _ of ids) seen.push((await wire.next()).id as number)
    expect(seen.sort((a, b) => a - b)).toEqual(ids)
  })
})

describe('events', () => {
  it('streams to who subscribed, in order, until told to stop', async () => {
    await serve()
    const client = createControlClient(folder)
    await client.connect()
    const seen: number[] = []
    const stop = await client.subscribe({ onEvent: (event) => seen.push(event.seq) })
    for (let n = 0; n < 5; n += 1) feed.publish({ type: 'hosts' })
    await client.request('approvals.pending', {})
    expect(seen).toEqual([1, 2, 3, 4, 5])
    stop()
    await client.request('approvals.pending', {})
    feed.publish({ type: 'hosts' })
    await client.request('approvals.pending', {})
    expect(seen).toHaveLength(5)
    client.close()
  })

  it('cuts off a client that does not read', async () => {
    await serve()
    const wire = await Wire.open()
    wire.socket.pause()
    wire.say({ id: 1, subscribe: { watch: false } })
    await new Promise((resolve) => setTimeout(resolve, 50))
    const text = 'x'.repeat(1024 * 1024)
    for (let n = 0; n < 40; n += 1) feed.publish({ type: 'output', id: 'e', offset: 0, text, bytes: text.length })
    wire.socket.resume()
    await wire.closed
    // The core and other clients go on.
    expect(await (await Wire.open()).ask({ id: 1, route: 'approvals.pending', input: {} })).toMatchObject({ ok: true })
  })

  it('is a surface while a watch runs, and only once it says that the notice was shown', async () => {
    const made = await serve()
    const notice = {
      approvalId: 'apr_1',
      title: 't',
      body: 'b',
      executionId: 'exe_1',
      digest: 'd',
      others: 0,
      mayApprove: true,
    }
    expect(await made.announcer.announce(notice)).toBe(false)
    const client = createControlClient(folder)
    await client.connect()
    const shown: string[] = []
    const withdrawn: string[] = []
    let show = true
    await client.subscribe({
      onEvent: () => {},
      onAnnounce: async ({ approvalId }) => {
        shown.push(approvalId)
        return show
      },
      onWithdraw: (id) => withdrawn.push(id),
    })
    expect(await made.announcer.announce(notice)).toBe(true)
    made.announcer.withdraw('apr_1')
    await client.request('approvals.pending', {})
    expect(shown).toEqual(['apr_1'])
    expect(withdrawn).toEqual(['apr_1'])
    show = false
    const pending = made.announcer.announce(notice)
    client.close()
    expect(await pending).toBe(false)
  })
})

describe('a client without an app', () => {
  it('says that Nomos is not running and how to start it', async () => {
    const failure = await createControlClient(folder)
      .connect()
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ControlUnavailable)
    expect((failure as ControlUnavailable).kind).toBe('absent')
    expect((failure as Error).message).toBe(
      `Nomos is not running (no socket at ${socketPath(folder)}). Start it with npm start, or npm start -- --headless.`,
    )
  })

  it('tells a left-over socket and a silent or foreign one from that', async () => {
    const path = socketPath(folder)
    const crashed = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`,
    ])
    await new Promise((resolve) => crashed.once('close', resolve))
    await expect(createControlClient(folder).connect()).rejects.toThrow('left from an earlier start')
    rmSync(path)
    const foreign = createServer((socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 400\n')
    }).listen(path)
    await new Promise((resolve) => foreign.once('listening', resolve))
    writeFileSync(tokenPath(folder), 'x')
    await expect(createControlClient(folder).connect()).rejects.toThrow('does not speak the control protocol')
    rmSync(tokenPath(folder))
    await expect(createControlClient(folder).connect()).rejects.toThrow('not accepting commands')
    foreign.close()
  })

  it('says so when the token is of an earlier start, and fails what is open when Nomos stops', async () => {
    await serve({ dispatch: () => new Promise(() => {}) })
    const client = createControlClient(folder)
    await client.connect()
    const open = client.request('approvals.pending', {}).catch((error: unknown) => error)
    writeFileSync(tokenPath(folder), 'old')
    const refused = await createControlClient(folder)
      .connect()
      .catch((error: unknown) => error)
    expect((refused as ControlUnavailable).kind).toBe('refusing')
    await new Promise((resolve) => setTimeout(resolve, 20))
    await server?.stop()
    server = null
    expect(((await open) as ControlUnavailable).kind).toBe('lost')
    expect(await client.ended).toBe('Nomos is stopping.')
  })
})

describe.runIf(linux)('the live challenge', () => {
  it('lets an operator at a real terminal answer, once, as operator', async () => {
    await serve()
    const envelope = await drive('code', { terminal: true })
    expect(envelope).toMatchObject({ ok: true, value: { state: 'approved' } })
    expect(calls).toEqual([{ caller: { surface: 'cli', operator: true }, route: 'approvals.answer', input: ANSWER }])
    expect(refusals).toEqual([])
  })

  it('refuses a process without a terminal', async () => {
    await serve()
    expect(message(await drive('code', { terminal: false }))).toContain('no controlling terminal')
    expect(refusals).toEqual([expect.stringContaining('no controlling terminal')])
    expect(calls).toEqual([])
  })

  it('refuses a wrong code', async () => {
    await serve()
    expect(message(await drive('wrong', { terminal: true }))).toContain('the code is wrong')
    expect(calls).toEqual([])
  })

  it('refuses a descendant of a run, even in a terminal and a session of its own', async () => {
    await serve()
    // script(1) gives its child a new session and a pty: only the line of ancestors still leads to the run.
    const envelope = await drive('code', { terminal: true, onStart: (pid) => runs.push({ pid }) })
    expect(message(envelope)).toContain('belongs to a run of Nomos')
    expect(calls).toEqual([])
  })

  it('refuses a process that left its run and was adopted, by the mark it carries', async () => {
    await serve()
    const envelope = await drive('code', { terminal: true, env: { [RUN_MARKER]: '1' } })
    expect(message(envelope)).toContain(RUN_MARKER)
    expect(calls).toEqual([])
  })

  it('refuses what Nomos itself has started', async () => {
    await serve({ hostPid: process.pid })
    expect(message(await drive('code', { terminal: true }))).toContain('started by Nomos itself')
    expect(calls).toEqual([])
  })

  it('refuses who names the process of somebody else', async () => {
    await serve()
    const wire = await Wire.open()
    const offered = await wire.ask({
      id: 1,
      challenge: { pid: process.ppid, route: 'approvals.answer', input: ANSWER },
    })
    if (!offered.ok) throw new Error('no offer')
    const proven = await wire.ask({ id: 2, prove: { challenge: offered.value.challenge } })
    expect(message(proven)).toContain('does not bear the nonce')
    expect(calls).toEqual([])
  })

  it('takes a challenge once, on its own connection, in order and in time', async () => {
    let now = 1_000_000
    await serve({ now: () => now })
    const offer = async (wire: Wire) => {
      const offered = await wire.ask({
        id: 1,
        challenge: { pid: process.pid, route: 'approvals.answer', input: ANSWER },
      })
      if (!offered.ok) throw new Error('no offer')
      return offered.value as { challenge: string; nonce: string }
    }
    const first = await Wire.open()
    const { challenge } = await offer(first)
    // Not before the proof, whatever the code.
    expect(message(await first.ask({ id: 2, settle: { challenge, code: 'AAAAAA' } }))).toContain('not proven before')
    // And it is gone by that.
    expect(message(await first.ask({ id: 3, settle: { challenge, code: 'AAAAAA' } }))).toContain('used already')
    expect(message(await first.ask({ id: 4, prove: { challenge } }))).toContain('no such challenge')
    // Of another connection.
    const second = await Wire.open()
    const other = await offer(second)
    expect(message(await first.ask({ id: 5, settle: { challenge: other.challenge, code: 'AAAAAA' } }))).toContain(
      'no such challenge',
    )
    // Too late.
    now += 60_001
    expect(message(await second.ask({ id: 6, prove: { challenge: other.challenge } }))).toContain('expired')
    expect(calls).toEqual([])
  })

  it('closes a connection that goes on guessing', async () => {
    await serve()
    const wire = await Wire.open()
    for (let id = 0; id < 5; id += 1) wire.say({ id, settle: { challenge: 'x', code: 'y' } })
    await wire.closed
    expect(refusals).toHaveLength(5)
  })
})

describe.runIf(linux)('a replay on the wire', () => {
  it('is refused: the same proof and code count once', async () => {
    await serve()
    // A man in the middle lets a real operator answer and then says the settling line again, on the same connection.
    const real = folder
    const front = mkdtempSync(join(root, 'p-'))
    writeFileSync(tokenPath(front), readFileSync(tokenPath(real)))
    let tell: (answer: string) => void = () => {}
    const answered = new Promise<string>((resolve) => {
      tell = resolve
    })
    const proxy = createServer((near) => {
      const far = connect(socketPath(real))
      let said = ''
      let left = false
      near.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8')
        far.write(chunk)
      })
      far.on('data', (chunk: Buffer) => {
        if (left) tell(chunk.toString('utf8'))
        else near.write(chunk)
      })
      near.on('close', () => {
        left = true
        const line = said.split('\n').find((text) => text.includes('"settle"'))
        far.write(`${line}\n`)
      })
      near.on('error', () => {})
      far.on('error', () => {})
    })
    await new Promise<void>((resolve) => proxy.listen(socketPath(front), resolve))
    folder = front
    expect(await drive('code', { terminal: true })).toMatchObject({ ok: true })
    expect(await answered).toContain('used already')
    expect(calls).toHaveLength(1)
    proxy.close()
  })
})

describe.runIf(linux)('proveTerminal on a made-up /proc', () => {
  interface Fake {
    ppid: number
    pgrp?: number
    session?: number
    tty?: number
    uid?: number
    cmdline?: string
    environ?: string | null
  }
  const write = (tree: Record<number, Fake>) => {
    for (const [pid, fake] of Object.entries(tree)) {
      const at = join(folder, pid)
      mkdirSync(at)
      const start = Array.from({ length: 12 }, () => '0').join(' ')
      writeFileSync(
        join(at, 'stat'),
        `${pid} (a ) S 9) S ${fake.ppid} ${fake.pgrp ?? pid} ${fake.session ?? pid} ${fake.tty ?? 0} 0 ${start} ${start.slice(0, 1)} ${Number(pid) * 7} 0 0\n`,
      )
      writeFileSync(
        join(at, 'status'),
        `Name:\tx\nTgid:\t${pid}\nUid:\t${Array(4)
          .fill(fake.uid ?? 500)
          .join('\t')}\n`,
      )
      writeFileSync(join(at, 'cmdline'), fake.cmdline ?? 'sh\0')
      if (fake.environ !== null) writeFileSync(join(at, 'environ'), fake.environ ?? 'A=b\0')
    }
  }
  const prove = (more: Partial<Parameters<typeof proveTerminal>[0]> = {}) =>
    proveTerminal({ pid: 40, nonce: 'n', uid: 500, runs: [], hostPid: 7, started: null, proc: folder, ...more })
  const good = { ppid: 30, pgrp: 40, session: 30, tty: 34817, cmdline: 'n\0\0' }
  const shell = { ppid: 1, session: 30, tty: 34817 }
  const init = { ppid: 0, uid: 0, environ: null }

  it('accepts a shell in a terminal under login', () => {
    write({ 1: init, 30: shell, 40: good })
    expect(prove()).toEqual({ ok: true, started: '280' })
    expect(prove({ started: '280' })).toMatchObject({ ok: true })
  })

  it.each<[string, Record<number, Fake>, RunGroup[], string]>([
    ['another user', { 1: init, 30: shell, 40: { ...good, uid: 501 } }, [], 'another user'],
    ['no terminal', { 1: init, 30: shell, 40: { ...good, tty: 0 } }, [], 'no controlling terminal'],
    ['its group is a run', { 1: init, 30: shell, 40: { ...good, pgrp: 99 } }, [{ pid: 99 }], 'belongs to a run'],
    [
      'its session is a run',
      { 1: init, 30: shell, 40: { ...good, session: 98 } },
      [{ pid: 99, sessionId: 98 }],
      'belongs to a run',
    ],
    [
      'an ancestor is a run',
      { 1: init, 30: { ...shell, session: 55 }, 40: good },
      [{ pid: 55 }],
      'ancestor 30 belongs to a run',
    ],
    [
      'an ancestor is marked',
      { 1: init, 30: { ...shell, environ: `X=1\0${RUN_MARKER}=r\0` }, 40: good },
      [],
      'ancestor 30 carries the mark',
    ],
    [
      'its environment is hidden',
      { 1: init, 30: shell, 40: { ...good, environ: null } },
      [],
      'environment cannot be read',
    ],
    ['an ancestor is hidden', { 1: init, 40: good }, [], 'ancestor 30 cannot be read'],
    [
      'it descends from Nomos',
      { 1: init, 7: { ppid: 1 }, 30: { ...shell, ppid: 7 }, 40: good },
      [],
      'started by Nomos itself',
    ],
    ['a loop of parents', { 30: { ...shell, ppid: 40 }, 40: good }, [], 'does not end'],
    ['another title', { 1: init, 30: shell, 40: { ...good, cmdline: 'nn\0' } }, [], 'does not bear the nonce'],
  ])('refuses: %s', (_name, tree, groups, reason) => {
    write(tree)
    const proof = prove({ runs: groups })
    expect(proof.ok ? 'ok' : proof.reason).toContain(reason)
  })

  it('refuses another process that got the same number', () => {
    write({ 1: init, 30: shell, 40: good })
    const proof = prove({ started: '281' })
    expect(proof.ok ? 'ok' : proof.reason).toContain('not the one that proved itself')
  })
})
