import type { MessageBus } from '@jellybrick/dbus-next'
import type { Log } from '../../ports'
import { type Bus, busAddress } from './bus'
import { reasonAgainst } from './peers'

/**
 * Sees who presses entries of our tray menu. The menu is a service on the session bus, and whoever is on the bus can call it: also a
 * process that a run has started.
 */
export interface ClickWatch {
  begin(): Promise<void>
  /** Why the click of this moment may not be obeyed; null when it came from where a panel may be. */
  reasonAgainst(): Promise<string | null>
  close(): void
}

/** A click and the call that made it are this close together, ms. */
const TOGETHER_MS = 1_500
/** How long the call of a click is waited for: it comes over another socket than the click itself. */
const WAIT_MS = 600
const SETUP_MS = 3_000
const MEMBERS = ['Event', 'EventGroup'] as const

interface Call {
  readonly at: number
  readonly reason: Promise<string | null>
}

/** Listens as a monitor of the bus, on a connection of its own: such a one may not speak any more. */
export function createClickWatch(deps: {
  readonly bus: Bus
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly against?: (pid: number | null) => string | null
}): ClickWatch {
  const { bus, env, log } = deps
  const against = deps.against ?? reasonAgainst
  let monitor: MessageBus | null = null
  let begun: Promise<void> | null = null
  let calls: Call[] = []
  let wake: (() => void) | null = null

  const recent = (): readonly Call[] => {
    const since = performance.now() - TOGETHER_MS
    calls = calls.filter(({ at }) => at > since)
    return calls
  }

  async function open(): Promise<void> {
    const address = busAddress('session', env)
    if (address === null) return
    const { Message, MessageType, sessionBus } = await import('@jellybrick/dbus-next')
    const made = sessionBus({ busAddress: address })
    const emitter: NodeJS.EventEmitter = made
    const lost = (why: string): void => {
      if (monitor !== made) return
      monitor = null
      begun = null
      log.info('the clicks of the tray are not seen any more', { why })
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the session bus did not answer')), SETUP_MS)
      emitter.on('error', (error: unknown) => {
        clearTimeout(timer)
        reject(error instanceof Error ? error : new Error(String(error)))
        lost(String(error))
      })
      emitter.once('connect', () => {
        clearTimeout(timer)
        resolve()
      })
    })
    // A monitor that answers is thrown out: every call counts as handled.
    made.addMethodHandler(() => true)
    const connection: unknown = Reflect.get(made, '_connection')
    if (
      connection !== null &&
      typeof connection === 'object' &&
      'on' in connection &&
      typeof connection.on === 'function'
    )
      connection.on('end', () => lost('closed by the bus'))
    made.on('message', (message) => {
      if (message.type !== MessageType.METHOD_CALL || !MEMBERS.some((member) => member === message.member)) return
      // At once: a caller that has gone cannot be looked up any more, and is refused for it.
      const reason = bus.pidOf(message.sender).then(against, () => 'the bus does not say who clicked')
      recent()
      calls.push({ at: performance.now(), reason })
      wake?.()
    })
    await made.call(
      new Message({
        destination: 'org.freedesktop.DBus',
        path: '/org/freedesktop/DBus',
        interface: 'org.freedesktop.DBus.Monitoring',
        member: 'BecomeMonitor',
        signature: 'asu',
        // Without the interface, which a caller may leave out.
        body: [MEMBERS.map((member) => `type='method_call',member='${member}'`), 0],
      }),
    )
    monitor = made
  }

  function begin(): Promise<void> {
    begun ??= open().catch((error) => {
      log.info('clicks of the tray cannot be told apart', { error: String(error) })
      begun = null
    })
    return begun
  }

  return {
    begin,
    async reasonAgainst() {
      const before = monitor
      await begin()
      if (monitor === null || monitor !== before) return 'the session bus does not let Nomos see who clicked'
      if (recent().length === 0)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, WAIT_MS)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      wake = null
      const seen = recent()
      if (seen.length === 0) return 'the session bus did not tell who clicked'
      const reasons = await Promise.all(seen.map(({ reason }) => reason))
      return reasons.find((reason) => reason !== null) ?? null
    },
    close() {
      try {
        monitor?.disconnect()
      } catch {
        // It was gone already.
      }
      monitor = null
    },
  }
}
