import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Message, MessageBus } from '@jellybrick/dbus-next'
import type { Log } from '../../ports'

/** Makes a value of D-Bus's type `v`. */
export type Variant = (signature: string, value: unknown) => unknown

export interface BusCall {
  readonly to: string
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly signature?: string
  readonly body?: (variant: Variant) => readonly unknown[]
  /** Ms until it counts as not answered. */
  readonly timeoutMs?: number
  /** Whether the bus may start the service for it. Default: no. */
  readonly mayStart?: boolean
}

/** A signal as it came. `sender` is set by the bus itself and cannot be made up; it is a unique name, or that of the bus. */
export interface BusSignal {
  readonly sender: string
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly body: readonly unknown[]
}

export interface SignalRule {
  readonly interface: string
  readonly member?: string
  readonly path?: string
  readonly sender?: string
  readonly arg0?: string
}

/** One connection to a message bus, made when it is first needed and made again after it was lost. Nothing here throws by itself. */
export interface Bus {
  /** Rejects with a `BusProblem`: no bus, no such service, an error of the service, or no answer in time. */
  call(call: BusCall): Promise<readonly unknown[]>
  /** Hears signals over every connection to come. Anybody may send one: look at `sender`. Returns what ends it. */
  listen(rule: SignalRule, listener: (signal: BusSignal) => void): () => void
  /** Follows who owns a well-known name; null for nobody. Called with the state as it is, and with null when the bus is lost. */
  follow(name: string, listener: (owner: string | null) => void): () => void
  owner(name: string): Promise<string | null>
  /** The process behind a name, as the bus knows it from the socket; null where it cannot say. */
  pidOf(name: string): Promise<number | null>
  /** Why there is no bus at all, for as long as Nomos runs; null when there may be one. */
  readonly absent: string | null
  /** Waits until what was sent before has reached the bus, not for long. */
  flush(): Promise<void>
  close(): void
}

export class BusProblem extends Error {}

export interface BusConfig {
  readonly kind: 'session' | 'system'
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
}

const ANSWER_MS = 4_000
const CONNECT_MS = 3_000
const FLUSH_MS = 500
const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 60_000
const BUS = 'org.freedesktop.DBus'
const BUS_PATH = '/org/freedesktop/DBus'

/**
 * The sockets a bus may be at. Only sockets: an address of the kind `unixexec` would start a program.
 * @returns null with none
 */
export function busAddress(
  kind: BusConfig['kind'],
  env: NodeJS.ProcessEnv,
  exists: (path: string) => boolean = existsSync,
): string | null {
  const usable = (address: string | undefined): string | null => {
    const sockets = (address ?? '').split(';').filter((one) => /^unix:(?:.*,)?(?:path|abstract)=/.test(one))
    return sockets[0] ?? null
  }
  if (kind === 'system') {
    const set = env.DBUS_SYSTEM_BUS_ADDRESS
    if (set !== undefined && set !== '') return usable(set)
    const usual = ['/run/dbus/system_bus_socket', '/var/run/dbus/system_bus_socket'].find(exists)
    return usual === undefined ? null : `unix:path=${usual}`
  }
  const set = env.DBUS_SESSION_BUS_ADDRESS
  if (set !== undefined && set !== '') return usable(set)
  const folder = env.XDG_RUNTIME_DIR
  if (folder === undefined || folder === '') return null
  const socket = join(folder, 'bus')
  return exists(socket) ? `unix:path=${socket}` : null
}

interface Line {
  readonly bus: MessageBus
  readonly message: typeof Message
  readonly variant: Variant
}

interface Listening {
  readonly rule: SignalRule
  readonly listener: (signal: BusSignal) => void
}

function ruleText(rule: SignalRule): string {
  const parts = [`type='signal'`, `interface='${rule.interface}'`]
  if (rule.member !== undefined) parts.push(`member='${rule.member}'`)
  if (rule.path !== undefined) parts.push(`path='${rule.path}'`)
  if (rule.sender !== undefined) parts.push(`sender='${rule.sender}'`)
  if (rule.arg0 !== undefined) parts.push(`arg0='${rule.arg0}'`)
  return parts.join(',')
}

function fits(rule: SignalRule, signal: BusSignal): boolean {
  return (
    rule.interface === signal.interface &&
    (rule.member === undefined || rule.member === signal.member) &&
    (rule.path === undefined || rule.path === signal.path) &&
    (rule.arg0 === undefined || rule.arg0 === signal.body[0])
  )
}

/** @throws BusProblem after `ms` */
function inTime<T>(job: Promise<T>, ms: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new BusProblem(`${what} within ${ms / 1000} s`)), ms)
    job.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export function createBus({ kind, env, log }: BusConfig): Bus {
  const address = busAddress(kind, env)
  const absent =
    address !== null
      ? null
      : kind === 'system'
        ? 'there is no system bus'
        : (env.DBUS_SESSION_BUS_ADDRESS ?? '') === ''
          ? 'there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set)'
          : 'there is no session bus (DBUS_SESSION_BUS_ADDRESS names no socket)'
  const listening = new Set<Listening>()
  const followed = new Set<{ readonly name: string; readonly listener: (owner: string | null) => void }>()
  let line: Promise<Line> | null = null
  let closed = false
  let pause = FIRST_RETRY_MS
  let retry: NodeJS.Timeout | null = null

  function guarded(job: () => void): void {
    try {
      job()
    } catch (error) {
      log.warn('a listener at the bus failed', { error: textOf(error) })
    }
  }

  function lost(which: Promise<Line>, why: string): void {
    if (line !== which) return
    line = null
    if (closed) return
    log.info('the connection to the bus ended', { kind, why })
    for (const { listener } of followed) guarded(() => listener(null))
    again()
  }

  /** Whoever listens wants to hear of what comes after the bus is back. */
  function again(): void {
    if (closed || absent !== null || retry !== null || listening.size + followed.size === 0) return
    retry = setTimeout(() => {
      retry = null
      pause = Math.min(pause * 2, LONGEST_RETRY_MS)
      void connected().catch(() => again())
    }, pause)
    retry.unref()
  }

  async function open(mine: () => Promise<Line> | null): Promise<Line> {
    if (address === null) throw new BusProblem(absent ?? 'there is no bus')
    // Read when it is first needed: a start of the app does not wait for it.
    const library = await import('@jellybrick/dbus-next')
    const bus = library.sessionBus({ busAddress: address })
    const gone = (why: string): void => {
      const which = mine()
      if (which !== null) lost(which, why)
    }
    const emitter: NodeJS.EventEmitter = bus
    const up = new Promise<void>((resolve, reject) => {
      emitter.once('connect', resolve)
      emitter.on('error', (error: unknown) => {
        reject(new BusProblem(`the ${kind} bus cannot be reached: ${textOf(error)}`))
        gone(textOf(error))
      })
    })
    // The end of the stream is told by the connection alone.
    const connection: unknown = Reflect.get(bus, '_connection')
    if (
      connection !== null &&
      typeof connection === 'object' &&
      'on' in connection &&
      typeof connection.on === 'function'
    )
      connection.on('end', () => gone('closed by the other side'))
    try {
      await inTime(up, CONNECT_MS, `the ${kind} bus did not answer`)
    } catch (error) {
      hangUp(bus)
      throw error
    }
    bus.on('message', (message) => {
      if (message.type !== library.MessageType.SIGNAL) return
      const signal: BusSignal = {
        sender: message.sender,
        path: message.path,
        interface: message.interface,
        member: message.member,
        body: message.body,
      }
      // Not before an answer that came in with it has reached whoever waits for it.
      setImmediate(() => {
        for (const { rule, listener } of [...listening]) if (fits(rule, signal)) guarded(() => listener(signal))
      })
    })
    return {
      bus,
      message: library.Message,
      variant: (signature, value) => new library.Variant(signature, value),
    }
  }

  function hangUp(bus: MessageBus): void {
    try {
      bus.disconnect()
    } catch {
      // It had no stream yet.
    }
  }

  function connected(): Promise<Line> {
    if (closed) return Promise.reject(new BusProblem('the bus is closed'))
    if (line !== null) return line
    let self: Promise<Line> | null = null
    const made: Promise<Line> = open(() => self).then(async (open) => {
      const rules = new Set([...listening].map(({ rule }) => ruleText(rule)))
      await Promise.all([...rules].map((rule) => send(open, matchCall('AddMatch', rule))))
      pause = FIRST_RETRY_MS
      if (closed) hangUp(open.bus)
      else for (const one of followed) void tellOwner(open, one)
      return open
    })
    self = made
    line = made
    made.catch(() => {
      if (line === made) line = null
    })
    return made
  }

  const matchCall = (member: 'AddMatch' | 'RemoveMatch', rule: string): BusCall => ({
    to: BUS,
    path: BUS_PATH,
    interface: BUS,
    member,
    signature: 's',
    body: () => [rule],
  })

  async function send(open: Line, call: BusCall): Promise<readonly unknown[]> {
    const message = new open.message({
      destination: call.to,
      path: call.path,
      interface: call.interface,
      member: call.member,
      signature: call.signature ?? '',
      body: [...(call.body?.(open.variant) ?? [])],
      // NO_AUTO_START
      flags: call.mayStart === true ? 0 : 2,
    })
    try {
      const reply = await inTime(open.bus.call(message), call.timeoutMs ?? ANSWER_MS, `${call.to} did not answer`)
      return reply?.body ?? []
    } catch (error) {
      if (error instanceof BusProblem) throw error
      throw new BusProblem(`${call.member}: ${textOf(error)}`)
    }
  }

  async function ownerAt(open: Line, name: string): Promise<string | null> {
    const [owner] = await send(open, {
      to: BUS,
      path: BUS_PATH,
      interface: BUS,
      member: 'GetNameOwner',
      signature: 's',
      body: () => [name],
    }).catch(() => [])
    return typeof owner === 'string' && owner !== '' ? owner : null
  }

  async function tellOwner(
    open: Line,
    { name, listener }: { readonly name: string; readonly listener: (owner: string | null) => void },
  ): Promise<void> {
    const owner = await ownerAt(open, name)
    guarded(() => listener(owner))
  }

  const whenOpen = (job: (open: Line) => unknown): void => {
    void line?.then(job).catch((error) => log.info('a rule of the bus was not taken', { error: textOf(error) }))
  }

  const one: Bus = {
    absent,
    async call(call) {
      return send(await connected(), call)
    },
    listen(rule, listener) {
      const entry: Listening = { rule, listener }
      const text = ruleText(rule)
      const known = [...listening].some((other) => ruleText(other.rule) === text)
      listening.add(entry)
      if (!known) whenOpen((open) => send(open, matchCall('AddMatch', text)))
      return () => {
        listening.delete(entry)
        if (![...listening].some((other) => ruleText(other.rule) === text))
          whenOpen((open) => send(open, matchCall('RemoveMatch', text)))
      }
    },
    follow(name, listener) {
      const entry = { name, listener }
      followed.add(entry)
      const off = one.listen(
        { interface: BUS, member: 'NameOwnerChanged', path: BUS_PATH, sender: BUS, arg0: name },
        ({ sender, body }) => {
          if (sender !== BUS) return
          const [, , owner] = body
          listener(typeof owner === 'string' && owner !== '' ? owner : null)
        },
      )
      if (line === null) void connected().catch(() => again())
      else whenOpen((open) => tellOwner(open, entry))
      return () => {
        followed.delete(entry)
        off()
      }
    },
    async owner(name) {
      return ownerAt(await connected(), name)
    },
    async pidOf(name) {
      const [pid] = await one
        .call({
          to: BUS,
          path: BUS_PATH,
          interface: BUS,
          member: 'GetConnectionUnixProcessID',
          signature: 's',
          body: () => [name],
        })
        .catch(() => [])
      return typeof pid === 'number' ? pid : null
    },
    async flush() {
      const open = line
      if (open === null) return
      const ask = { to: BUS, path: BUS_PATH, interface: BUS, member: 'GetId', timeoutMs: FLUSH_MS }
      await open.then((up) => send(up, ask)).catch(() => {})
    },
    close() {
      closed = true
      if (retry !== null) clearTimeout(retry)
      listening.clear()
      followed.clear()
      void line?.then(({ bus }) => hangUp(bus)).catch(() => {})
      line = null
    },
  }
  return one
}
