import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import {
  type Envelope,
  FeedEvent,
  type Numbered,
  type RouteArgument,
  type RouteName,
  type RouteOutput,
  routes,
} from '../../../src-preload/contract'
import { pathProblem, socketPath, tokenPath } from './address'
import { ChallengeCode, ChallengeOffer, LineReader, type Notice, ServerFrame, type Welcome } from './frames'

/** A snapshot with everything that is open may be large; beyond this it is not an answer of Nomos. */
const MAX_ANSWER = 128 * 1024 * 1024
const CONNECT_MS = 5_000

/**
 * Why there is no connection.
 * - `absent`: nothing listens there
 * - `refusing`: something is there and does not let us in
 * - `lost`: the connection ended while it was used
 */
export type UnavailableKind = 'absent' | 'refusing' | 'lost'

/** Thrown by the client; `message` says what, why and what to do. */
export class ControlUnavailable extends Error {
  readonly kind: UnavailableKind
  constructor(kind: UnavailableKind, message: string) {
    super(message)
    this.name = 'ControlUnavailable'
    this.kind = kind
  }
}

/** Shows `code` on the operator's terminal and gives back what was typed; null when the operator gave up. */
export type CodePrompt = (challenge: { readonly code: string; readonly expiresAt: number }) => Promise<string | null>

export interface FeedListener {
  readonly onEvent: (event: Numbered) => void
  /** A notice to show; resolves to true once it was. Makes this client a surface (`nomos approvals watch`). */
  readonly onAnnounce?: (notice: Notice) => Promise<boolean>
  readonly onWithdraw?: (approvalId: string) => void
}

export interface ControlClient {
  /** Connects and says the token. Throws `ControlUnavailable`. */
  connect(): Promise<Welcome>
  /** A failure is an envelope; throws `ControlUnavailable` when the connection is gone. */
  request<R extends RouteName>(route: R, input: RouteArgument<R>): Promise<Envelope<RouteOutput<R>>>
  /** Streams events until the returned function is called. One listener at a time. */
  subscribe(listener: FeedListener): Promise<() => void>
  /** The same as `request` for a route that only an operator may use: proves this process's terminal and asks for the code. */
  answerWithChallenge<R extends RouteName>(
    route: R,
    input: RouteArgument<R>,
    prompt: CodePrompt,
  ): Promise<Envelope<RouteOutput<R>>>
  /** Resolves when the connection has ended, with the sentence that says why. */
  readonly ended: Promise<string>
  close(): void
}

/** A client of the control socket in `folder` (`<NOMOS_HOME>/run`). */
export function createControlClient(folder: string, platform: NodeJS.Platform = process.platform): ControlClient {
  const path = socketPath(folder, platform)
  const waiting = new Map<number, { resolve: (value: Envelope<unknown>) => void; reject: (error: Error) => void }>()
  let socket: Socket | null = null
  let listener: FeedListener | null = null
  let nextId = 1
  let endReason: string | null = null
  let tellEnded: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    tellEnded = resolve
  })

  const end = (reason: string): void => {
    if (endReason !== null) return
    endReason = reason
    for (const open of waiting.values()) open.reject(new ControlUnavailable('lost', reason))
    waiting.clear()
    tellEnded(reason)
  }

  const send = (frame: unknown): void => {
    socket?.write(`${JSON.stringify(frame)}\n`)
  }

  const call = (body: Readonly<Record<string, unknown>>): Promise<Envelope<unknown>> =>
    new Promise((resolve, reject) => {
      if (socket === null || endReason !== null) {
        reject(new ControlUnavailable('lost', endReason ?? 'Not connected to Nomos.'))
        return
      }
      const id = nextId
      nextId += 1
      waiting.set(id, { resolve, reject })
      send({ id, ...body })
    })

  const receive = (frame: ServerFrame): void => {
    if ('envelope' in frame) {
      const open = waiting.get(frame.id)
      waiting.delete(frame.id)
      open?.resolve(frame.envelope)
    } else if ('event' in frame) {
      // An event of a newer app that this client does not know says nothing to it.
      const event = FeedEvent.safeParse(frame.event.event)
      if (event.success) listener?.onEvent({ boot: frame.event.boot, seq: frame.event.seq, event: event.data })
    } else if ('announce' in frame) {
      const { approvalId } = frame.announce
      void listener?.onAnnounce?.(frame.announce).then((shown) => {
        if (shown) send({ shown: approvalId })
      })
    } else if ('withdraw' in frame) listener?.onWithdraw?.(frame.withdraw)
    else if ('error' in frame) end(frame.error.message)
  }

  const open = (): Promise<Welcome> =>
    new Promise((resolve, reject) => {
      const problem = pathProblem(path, platform)
      if (problem !== null) {
        reject(new ControlUnavailable('absent', problem))
        return
      }
      const made = connect(path)
      socket = made
      let welcomed = false
      const fail = (kind: UnavailableKind, message: string) => {
        clearTimeout(timer)
        made.destroy()
        end(message)
        reject(new ControlUnavailable(kind, message))
      }
      const timer = setTimeout(
        () =>
          fail(
            'refusing',
            `Nomos does not answer: the socket ${path} took the connection and stayed silent. It may be busy or hang; restart it if this goes on.`,
          ),
        CONNECT_MS,
      )
      const reader = new LineReader(
        MAX_ANSWER,
        (line) => {
          const frame = ServerFrame.safeParse(parseJson(line))
          if (!frame.success) {
            fail('refusing', `What answers on ${path} does not speak the control protocol of this version of Nomos.`)
            return
          }
          if (welcomed) {
            receive(frame.data)
            return
          }
          if ('welcome' in frame.data) {
            welcomed = true
            clearTimeout(timer)
            resolve(frame.data.welcome)
          } else if ('error' in frame.data)
            fail('refusing', `Nomos did not let this command in: ${frame.data.error.message}`)
        },
        () => fail('lost', 'An answer of Nomos was too long.'),
      )
      made.on('data', (chunk: Buffer) => reader.push(chunk))
      made.once('connect', () => {
        const token = readToken(folder)
        if (token.text === null) fail('refusing', token.problem)
        else send({ hello: token.text })
      })
      made.on('error', (error: NodeJS.ErrnoException) => {
        if (welcomed) end(`The connection to Nomos broke (${error.code ?? error.message}).`)
        else fail(...connectFault(path, error))
      })
      made.on('close', () => {
        clearTimeout(timer)
        const reason = 'Nomos closed the connection.'
        end(reason)
        reject(new ControlUnavailable('lost', endReason ?? reason))
      })
    })

  const typed = <R extends RouteName>(route: R, envelope: Envelope<unknown>): Envelope<RouteOutput<R>> => {
    if (!envelope.ok) return envelope
    const value = routes[route].output.safeParse(envelope.value)
    if (value.success) return { ok: true, value: value.data as RouteOutput<R> }
    return internal(`The answer to ${route} has a form that this version of the command does not know.`)
  }

  return {
    connect: open,
    ended,
    close: () => {
      end('The connection was closed.')
      socket?.end()
      socket?.unref()
    },
    request: async (route, input) => typed(route, await call({ route, input })),
    subscribe: async (added) => {
      listener = added
      const envelope = await call({ subscribe: { watch: added.onAnnounce !== undefined } })
      if (!envelope.ok) throw new ControlUnavailable('refusing', envelope.error.message)
      return () => {
        if (listener !== added) return
        listener = null
        if (endReason === null) void call({ unsubscribe: true }).catch(() => {})
      }
    },
    answerWithChallenge: async (route, input, prompt) => {
      const offered = await call({ challenge: { pid: process.pid, route, input } })
      if (!offered.ok) return offered
      const offer = ChallengeOffer.safeParse(offered.value)
      if (!offer.success) return internal('The challenge has a form that this version of the command does not know.')
      const { challenge, nonce, expiresAt } = offer.data
      const before = process.title
      // Node cannot tell a server who is at the other end of a socket. A process can change only its own title: that tells.
      process.title = nonce
      try {
        const proven = await call({ prove: { challenge } })
        if (!proven.ok) return proven
        const code = ChallengeCode.safeParse(proven.value)
        if (!code.success) return internal('The challenge has a form that this version of the command does not know.')
        const words = await prompt({ code: code.data.code, expiresAt })
        if (words === null)
          return {
            ok: false,
            error: {
              code: 'forbidden',
              message: 'No code was typed: nothing was answered.',
              field: null,
              detail: null,
            },
          }
        return typed(route, await call({ settle: { challenge, code: words } }))
      } finally {
        process.title = before
      }
    },
  }
}

function readToken(folder: string): { text: string; problem: '' } | { text: null; problem: string } {
  const path = tokenPath(folder)
  try {
    return { text: readFileSync(path, 'utf8').trim(), problem: '' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return {
      text: null,
      problem: `Nomos is not accepting commands: its token ${path} cannot be read (${code}). If it is just starting, try again in a moment.`,
    }
  }
}

function connectFault(path: string, error: NodeJS.ErrnoException): [UnavailableKind, string] {
  const start = 'Start it with npm start, or npm start -- --headless.'
  switch (error.code) {
    case 'ENOENT':
      return ['absent', `Nomos is not running (no socket at ${path}). ${start}`]
    case 'ECONNREFUSED':
      return [
        'absent',
        `Nomos is not running (the socket at ${path} is left from an earlier start, nobody answers). ${start}`,
      ]
    case 'EACCES':
    case 'EPERM':
      return [
        'refusing',
        `Nomos is not accepting commands from this user: ${path} may not be opened. Use the user that started it.`,
      ]
    default:
      return ['refusing', `Nomos is not accepting commands on ${path} (${error.code ?? error.message}).`]
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function internal(message: string): Envelope<never> {
  return { ok: false, error: { code: 'internal', message, field: null, detail: null } }
}
