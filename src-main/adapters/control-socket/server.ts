import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { ZodError } from 'zod'
import type { Envelope, ErrorCode, Failure, Numbered, RouteName } from '../../../src-preload/contract'
import type { Announcer, Caller, Dispatch, Feed, Log, Notice } from '../../ports'
import { pathProblem, socketPath, tokenPath } from './address'
import { type Challenge, Challenges, sameCode, sameSecret } from './challenges'
import { ClientFrame, Hello, LineReader, MAX_LINE } from './frames'
import { CONTROL_ROUTES, needsOperator } from './rights'
import { proveTerminal, type RunGroup } from './terminal-proof'

/** A client has this long to say its token. */
const HELLO_MS = 5_000
const MAX_CONNECTIONS = 64
/** Requests of one connection that are worked on at the same time; the rest waits in the client's own buffer. */
const MAX_IN_FLIGHT = 32
/** What may wait for a client that does not read; then it is cut off and may read everything again. */
const MAX_UNSENT = 16 * 1024 * 1024
/** A `watch` has this long to say that it has shown a notice. */
const SHOWN_MS = 3_000
/** A connection that fails this many challenges is closed. */
const MAX_REFUSALS = 5

/** What a refusal was about, beside the reason. */
export interface RefusedAnswer {
  readonly route: string
  readonly approvalId: string | null
  readonly pid: number | null
}

export interface ControlServerConfig {
  /** `<NOMOS_HOME>/run`; made with mode 0700 when missing. */
  readonly folder: string
  readonly dispatch: Dispatch
  readonly feed: Feed
  /** Process groups of runs, live and recently ended. */
  readonly runs: () => readonly RunGroup[]
  readonly log: Log
  /** Default: `CONTROL_ROUTES`. Routes of the window alone stay shut whatever stands here. */
  readonly allowedRoutes?: readonly RouteName[]
  /** Called for each answer that was not let through, with one sentence. */
  readonly onRefused?: (reason: string, about: RefusedAnswer) => void
  /** Whether there is a window beside this socket; told to clients so that they know where a phrase is typed. Default `window`. */
  readonly host?: 'window' | 'headless'
  readonly now?: () => number
  /** Whose descendants are no operators; default this process. 0 switches the rule off (tests that start the client themselves). */
  readonly hostPid?: number
  readonly platform?: NodeJS.Platform
}

export interface ControlServer {
  readonly path: string
  /** Rejects with one sentence when the socket cannot be had; a stale one is removed only when nobody answers on it. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Whether somebody runs `nomos approvals watch` at this moment. */
  watched(): boolean
  /** The surface `nomos approvals watch`: announces to those that run, shown once one of them says so. */
  readonly announcer: Announcer
}

/** The app's control socket: newline-delimited JSON behind a token, callers of surface `cli`. */
export function createControlServer(config: ControlServerConfig): ControlServer {
  const platform = config.platform ?? process.platform
  const path = socketPath(config.folder, platform)
  const tokenFile = tokenPath(config.folder)
  const connections = new Set<Connection>()
  let server: Server | null = null
  let inode: number | null = null
  let token = ''

  const start = async (): Promise<void> => {
    if (server !== null) throw new Error('The control socket is already open.')
    const problem = pathProblem(path, platform)
    if (problem !== null) throw new Error(problem)
    prepareFolder(config.folder, platform)
    if (platform !== 'win32') await removeStale(path)
    const opened = createServer((socket) => {
      if (connections.size >= MAX_CONNECTIONS) {
        socket.on('error', () => socket.destroy())
        socket.end(`${JSON.stringify({ error: { code: 'busy', message: 'Too many clients are connected.' } })}\n`)
        return
      }
      const connection: Connection = openConnection(socket, config, {
        token,
        platform,
        onClose: () => connections.delete(connection),
      })
      connections.add(connection)
    })
    token = randomBytes(32).toString('base64url')
    await new Promise<void>((resolve, reject) => {
      opened.once('error', (error) =>
        reject(new Error(`The control socket ${path} cannot be opened: ${error.message}.`)),
      )
      opened.listen(path, resolve)
    })
    opened.on('error', (error) => config.log.error('control socket', { error: error.message }))
    if (platform !== 'win32') {
      chmodSync(path, 0o600)
      inode = lstatSync(path).ino
    }
    // After the socket: a start that failed to get it must not take the token away from the one that has it.
    writeToken(tokenFile, token)
    server = opened
  }

  const stop = async (): Promise<void> => {
    const closing = server
    if (closing === null) return
    server = null
    for (const connection of [...connections]) connection.close()
    const ours = platform !== 'win32' && inodeOf(path) === inode
    await new Promise<void>((resolve) => closing.close(() => resolve()))
    if (ours) rmSync(path, { force: true })
    if (ours || platform === 'win32') rmSync(tokenFile, { force: true })
  }

  const announcer: Announcer = {
    surface: 'cli',
    announce: async (notice) => {
      const answers = [...connections]
        .filter((connection) => connection.watching())
        .map((watch) => watch.announce(notice))
      if (answers.length === 0) return false
      return (await Promise.all(answers)).includes(true)
    },
    withdraw: (approvalId) => {
      for (const connection of connections) if (connection.watching()) connection.withdraw(approvalId)
    },
  }

  const watched = (): boolean => [...connections].some((connection) => connection.watching())

  return { path, start, stop, watched, announcer }
}

interface Connection {
  close(): void
  watching(): boolean
  announce(notice: Notice): Promise<boolean>
  withdraw(approvalId: string): void
}

function openConnection(
  socket: Socket,
  config: ControlServerConfig,
  own: { readonly token: string; readonly platform: NodeJS.Platform; readonly onClose: () => void },
): Connection {
  const now = config.now ?? Date.now
  const challenges = new Challenges(now)
  const waiting: string[] = []
  const shown = new Map<string, (shown: boolean) => void>()
  let greeted = false
  let closed = false
  let inFlight = 0
  let refusals = 0
  let watch = false
  let unsubscribe: (() => void) | null = null

  const send = (frame: unknown): void => {
    if (closed || socket.destroyed) return
    socket.write(`${JSON.stringify(frame)}\n`)
    if (socket.writableLength > MAX_UNSENT) {
      config.log.warn('control socket: a client does not read what it asked for and was cut off')
      socket.destroy()
    }
  }
  const answer = (id: number, envelope: Envelope<unknown>): void => send({ id, envelope })
  const endWith = (code: string, message: string): void => {
    if (closed) return
    closed = true
    waiting.length = 0
    socket.end(`${JSON.stringify({ error: { code, message } })}\n`)
    // A client that keeps its side open must not keep ours.
    const timer = setTimeout(() => socket.destroy(), 1_000)
    timer.unref()
  }
  const refused = (route: string, input: unknown, pid: number | null, reason: string): Envelope<never> => {
    refusals += 1
    const sentence = `Refused to take this answer from the command line: ${reason}.`
    config.log.warn('control socket: an answer was refused', { route, pid, reason })
    config.onRefused?.(sentence, { route, approvalId: approvalOf(input), pid })
    return failure('forbidden', sentence)
  }

  const helloTimer = setTimeout(() => endWith('hello_missing', 'No token came.'), HELLO_MS)
  helloTimer.unref()

  const greet = (line: string): void => {
    clearTimeout(helloTimer)
    const hello = Hello.safeParse(parseJson(line))
    if (!hello.success || !sameSecret(hello.data.hello, own.token)) {
      config.log.warn('control socket: a client came with a wrong token')
      endWith('wrong_token', 'The token is wrong. Nomos makes a new one at each start: try again.')
      return
    }
    greeted = true
    send({ welcome: { boot: config.feed.boot, seq: config.feed.seq, host: config.host ?? 'window' } })
  }

  const allowed = (route: string): route is RouteName =>
    CONTROL_ROUTES.includes(route as RouteName) &&
    (config.allowedRoutes === undefined || config.allowedRoutes.includes(route as RouteName))

  const dispatch = async (operator: boolean, route: RouteName, input: unknown): Promise<Envelope<unknown>> => {
    const caller: Caller = { surface: 'cli', operator }
    try {
      return await config.dispatch(caller, route, input)
    } catch (error) {
      config.log.error('control socket: a request threw', { route, error: String(error) })
      return failure('internal', 'Nomos failed while it worked on this request; its log says more.')
    }
  }

  const prove = (challenge: Challenge): string | null => {
    // Elsewhere there is no /proc: the terminal is checked by the client alone, and SECURITY.md says so.
    if (own.platform !== 'linux') {
      challenge.started = ''
      return null
    }
    const proof = proveTerminal({
      pid: challenge.pid,
      nonce: challenge.nonce,
      uid: process.getuid?.() ?? -1,
      runs: config.runs(),
      hostPid: config.hostPid ?? process.pid,
      started: challenge.started,
    })
    if (!proof.ok) return proof.reason
    challenge.started = proof.started
    return null
  }

  const handle = async (frame: ClientFrame): Promise<void> => {
    if ('shown' in frame) {
      shown.get(frame.shown)?.(true)
      return
    }
    if ('subscribe' in frame) {
      watch = frame.subscribe.watch
      unsubscribe ??= config.feed.subscribe((event: Numbered) => send({ event }))
      answer(frame.id, { ok: true, value: { boot: config.feed.boot, seq: config.feed.seq } })
      return
    }
    if ('unsubscribe' in frame) {
      watch = false
      unsubscribe?.()
      unsubscribe = null
      answer(frame.id, { ok: true, value: { done: true } })
      return
    }
    if ('route' in frame) {
      if (!allowed(frame.route)) answer(frame.id, shut(frame.route))
      else if (needsOperator(frame.route))
        answer(frame.id, refused(frame.route, frame.input, null, 'it takes a live challenge at a terminal'))
      else answer(frame.id, await dispatch(false, frame.route, frame.input))
      return
    }
    if ('challenge' in frame) {
      const { pid, route, input } = frame.challenge
      if (!allowed(route)) {
        answer(frame.id, shut(route))
        return
      }
      if (!needsOperator(route)) {
        answer(frame.id, failure('bad_input', `${route} takes no challenge.`))
        return
      }
      const challenge = challenges.offer(pid, route, input)
      if (challenge === null) answer(frame.id, refused(route, input, pid, 'too many challenges are open'))
      else {
        const value = { challenge: challenge.id, nonce: challenge.nonce, expiresAt: challenge.expiresAt }
        answer(frame.id, { ok: true, value })
      }
      return
    }
    if ('prove' in frame) {
      const challenge = challenges.peek(frame.prove.challenge)
      const fault =
        challenge === null
          ? 'there is no such challenge on this connection'
          : challenges.expired(challenge)
            ? 'the challenge has expired'
            : prove(challenge)
      if (challenge === null || fault !== null) {
        challenges.take(frame.prove.challenge)
        answer(frame.id, refused(challenge?.route ?? '', challenge?.input, challenge?.pid ?? null, fault ?? ''))
      } else answer(frame.id, { ok: true, value: { code: challenge.code } })
      return
    }
    // Taken out before anything is looked at: right or wrong, a challenge is answered once.
    const challenge = challenges.take(frame.settle.challenge)
    if (challenge === null) {
      answer(frame.id, refused('', null, null, 'there is no such challenge on this connection, or it was used already'))
      return
    }
    const fault = challenges.expired(challenge)
      ? 'the challenge has expired'
      : challenge.started === null
        ? 'the terminal was not proven before the code'
        : !sameCode(frame.settle.code, challenge.code)
          ? 'the code is wrong'
          : prove(challenge)
    if (fault !== null) answer(frame.id, refused(challenge.route, challenge.input, challenge.pid, fault))
    else answer(frame.id, await dispatch(true, challenge.route, challenge.input))
  }

  const pump = (): void => {
    while (!closed && inFlight < MAX_IN_FLIGHT) {
      const line = waiting.shift()
      if (line === undefined) break
      const value = parseJson(line)
      const frame = ClientFrame.safeParse(value)
      if (!frame.success) {
        const id = idOf(value)
        if (id === null) endWith('bad_line', 'A line was not a request of the control protocol.')
        else answer(id, failure('bad_input', `Not a request of the control protocol: ${firstIssue(frame.error)}.`))
        continue
      }
      inFlight += 1
      void handle(frame.data).finally(() => {
        inFlight -= 1
        if (refusals >= MAX_REFUSALS) endWith('too_many_refusals', 'Too many answers were refused on this connection.')
        pump()
      })
    }
    if (closed) return
    if (waiting.length > 0) socket.pause()
    else socket.resume()
  }

  const reader = new LineReader(
    MAX_LINE,
    (line) => {
      if (closed) return
      if (!greeted) greet(line)
      else waiting.push(line)
    },
    () => endWith('line_too_long', `A line may have ${MAX_LINE} bytes.`),
  )
  socket.on('data', (chunk: Buffer) => {
    if (closed) return
    reader.push(chunk)
    pump()
  })
  // What a client does wrong on the wire is its own end, never ours.
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    closed = true
    clearTimeout(helloTimer)
    unsubscribe?.()
    unsubscribe = null
    for (const settle of shown.values()) settle(false)
    own.onClose()
  })

  return {
    close: () => endWith('stopping', 'Nomos is stopping.'),
    watching: () => watch && !closed,
    announce: (notice) =>
      new Promise((resolve) => {
        const settle = (was: boolean) => {
          clearTimeout(timer)
          shown.delete(notice.approvalId)
          resolve(was)
        }
        const timer = setTimeout(() => settle(false), SHOWN_MS)
        timer.unref()
        shown.get(notice.approvalId)?.(false)
        shown.set(notice.approvalId, settle)
        send({ announce: { approvalId: notice.approvalId, title: notice.title, body: notice.body } })
      }),
    withdraw: (approvalId) => send({ withdraw: approvalId }),
  }
}

function prepareFolder(folder: string, platform: NodeJS.Platform): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (platform === 'win32') return
  const found = lstatSync(folder)
  if (!found.isDirectory()) throw new Error(`${folder} is not a folder; the control socket needs one of its own.`)
  if (found.uid !== process.getuid?.())
    throw new Error(`${folder} belongs to another user; the control socket is not opened in it.`)
  chmodSync(folder, 0o700)
}

/** Removes what an ended start left behind. Only a socket on which nobody answers is taken for that. */
async function removeStale(path: string): Promise<void> {
  try {
    if (!lstatSync(path).isSocket()) throw new Error(`${path} is in the way of the control socket: it is not a socket.`)
  } catch (error) {
    if (isErrno(error) && error.code === 'ENOENT') return
    throw error
  }
  const outcome = await new Promise<string>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve('answers')
    })
    probe.once('error', (error) => resolve(isErrno(error) ? (error.code ?? 'unknown') : 'unknown'))
  })
  if (outcome === 'ENOENT') return
  if (outcome !== 'ECONNREFUSED')
    throw new Error(
      outcome === 'answers'
        ? `Another Nomos answers on ${path}. Stop it first, or set NOMOS_HOME to another folder.`
        : `The socket ${path} is there and cannot be asked (${outcome}).`,
    )
  unlinkSync(path)
}

/** Written beside and renamed, so that nobody reads half a token; mode 0600 from its first byte. */
function writeToken(path: string, token: string): void {
  const draft = `${path}.${process.pid}`
  rmSync(draft, { force: true })
  writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: 'wx' })
  chmodSync(draft, 0o600)
  renameSync(draft, path)
}

function inodeOf(path: string): number | null {
  try {
    return lstatSync(path).ino
  } catch {
    return null
  }
}

function isErrno(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function idOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null
  return typeof value.id === 'number' && Number.isSafeInteger(value.id) && value.id >= 0 ? value.id : null
}

/** The approval an input speaks of, for the record of a refusal. */
function approvalOf(input: unknown): string | null {
  if (typeof input !== 'object' || input === null || !('id' in input)) return null
  return typeof input.id === 'string' ? input.id.slice(0, 64) : null
}

function firstIssue(error: ZodError): string {
  const issue = error.issues[0]
  return issue === undefined ? 'it does not fit' : `${issue.path.map(String).join('.') || 'line'}: ${issue.message}`
}

function failure(code: ErrorCode, message: string): { readonly ok: false; readonly error: Failure } {
  return { ok: false, error: { code, message, field: null, detail: null } }
}

function shut(route: string): Envelope<never> {
  return failure('unknown_route', `The control socket has no route ${JSON.stringify(route.slice(0, 64))}.`)
}
