import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { Log, Notices, NoticeText } from '../../ports'
import type { Bus } from './bus'
import { escapeMarkup } from './markup'
import { reasonAgainst } from './peers'

const BUS = 'org.freedesktop.DBus'
const BUS_PATH = '/org/freedesktop/DBus'
const NAME = 'org.freedesktop.Notifications'
const PATH = '/org/freedesktop/Notifications'
/** How long a notice may take to be shown, ms. */
const SHOWN_MS = 4_000
/** A daemon that ends is often started again at once. */
const RESTART_MS = 1_000
const LATELY_MS = 1_000

const Remembered = z.object({ owner: z.string(), bus: z.string(), ids: z.array(z.number().int().positive()).max(100) })

interface Server {
  readonly owner: string
  /** Which bus: its own id, new with each start of it. */
  readonly bus: string
  readonly name: string
  readonly actions: boolean
  readonly markup: boolean
}

interface Standing {
  text: NoticeText
  /** null: it does not stand (any more), and comes back with the next daemon. */
  id: number | null
  /** The last job at it: two for one notice never overlap. */
  job: Promise<unknown>
}

/** `org.freedesktop.Notifications` by ourselves: buttons, withdrawal and what a click means, whatever the version of Electron. */
export function createNotices(deps: {
  readonly bus: Bus
  readonly log: Log
  readonly icon: string | null
  /** A file that remembers what stands: after a crash it is taken away, since its buttons are dead. null: nothing is remembered. */
  readonly memory?: string | null
  /** Whether a process may speak for an operator; null when it may. */
  readonly against?: (pid: number | null) => string | null
}): Notices {
  const { bus, log } = deps
  const memory = deps.memory ?? null
  const against = deps.against ?? reasonAgainst
  const standing = new Map<string, Standing>()
  /** Closed a moment ago: some services close a notice before they tell which button did it. */
  const lately = new Map<number, { readonly key: string; readonly text: NoticeText }>()
  const actionListeners = new Set<(key: string, action: string) => void>()
  const changeListeners = new Set<() => void>()
  let server: Server | null = null
  let owner: string | null = null
  let startable = false
  let reached = false
  let problem: string | null = null
  let begun: Promise<void> | null = null

  /** Numbers count for one daemon alone, which is known by its name on the bus and by the bus. */
  function remember(): void {
    if (memory === null || server === null) return
    const ids = [...standing.values()].flatMap(({ id }) => (id === null ? [] : [id]))
    try {
      writeFileSync(memory, JSON.stringify({ owner: server.owner, bus: server.bus, ids }), { mode: 0o600 })
    } catch {
      // Then a dead notice may stand after a crash.
    }
  }

  function closeForgotten(at: Server): void {
    if (memory === null) return
    try {
      const last = Remembered.parse(JSON.parse(readFileSync(memory, 'utf8')))
      if (last.owner === at.owner && last.bus === at.bus) for (const id of last.ids) close(id)
    } catch {
      // Nothing was remembered, or nothing that can be read.
    }
  }

  const changed = (): void => {
    for (const listener of changeListeners) listener()
  }

  const call = (member: string, signature = '', body: Parameters<Bus['call']>[0]['body'] = () => []) =>
    bus.call({ to: NAME, path: PATH, interface: NAME, member, signature, body, mayStart: true, timeoutMs: SHOWN_MS })

  /** What answers at the name now. Throws with a reason when nobody does, or nobody who may. */
  async function reach(): Promise<Server> {
    const now = await bus.owner(NAME)
    if (server !== null && now === server.owner) return server
    const [capabilities] = await call('GetCapabilities')
    const [name] = await call('GetServerInformation').catch(() => ['an unnamed service'])
    const found = await bus.owner(NAME)
    if (found === null) throw new Error('the notification service went away')
    const reason = against(await bus.pidOf(found))
    if (reason !== null) throw new Error(`what answers as the notification service is not trusted: ${reason}`)
    const [id] = await bus.call({ to: BUS, path: BUS_PATH, interface: BUS, member: 'GetId' })
    const can = Array.isArray(capabilities) ? capabilities : []
    const first = server === null && !reached
    server = {
      owner: found,
      bus: String(id),
      name: typeof name === 'string' && name !== '' ? name.slice(0, 60) : 'the desktop',
      actions: can.includes('actions'),
      markup: can.includes('body-markup'),
    }
    owner = found
    problem = null
    reached = true
    if (first) closeForgotten(server)
    changed()
    return server
  }

  async function put(key: string, entry: Standing): Promise<boolean> {
    try {
      const to = await reach()
      if (standing.get(key) !== entry) return false
      const { text } = entry
      const actions = to.actions ? text.actions.flatMap(({ key, label }) => [key, label]) : []
      const body = to.markup ? escapeMarkup(text.body) : text.body
      const [id] = await call('Notify', 'susssasa{sv}i', (variant) => [
        'Nomos',
        entry.id ?? 0,
        deps.icon === null ? '' : `file://${encodeURI(deps.icon)}`,
        text.title,
        body,
        actions,
        {
          urgency: variant('y', text.urgency === 'critical' ? 2 : 1),
          'desktop-entry': variant('s', 'nomos'),
          category: variant('s', 'im'),
          resident: variant('b', true),
          transient: variant('b', false),
        },
        0,
      ])
      if (typeof id !== 'number' || id === 0) throw new Error('the notification service gave no number')
      if (standing.get(key) !== entry) {
        // Withdrawn while it was on its way.
        close(id)
        return true
      }
      entry.id = id
      remember()
      return true
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
      log.info('a notice was not shown', { why: problem })
      changed()
      return false
    }
  }

  function close(id: number): void {
    void bus
      .call({ to: NAME, path: PATH, interface: NAME, member: 'CloseNotification', signature: 'u', body: () => [id] })
      // It may be closed already.
      .catch((error) => log.info('a notice was not withdrawn', { error: String(error) }))
  }

  /** One job at a time for each notice. */
  function queue(key: string, entry: Standing): Promise<boolean> {
    const job = entry.job.then(() => put(key, entry))
    entry.job = job
    return job
  }

  /** What stood at a daemon that is gone stands nowhere: it is shown anew by the next one, which this may start. */
  function showAgain(): void {
    for (const [key, entry] of standing) {
      if (entry.id !== null) continue
      // It may be on its way to the new one already.
      const job = entry.job.then(() => (entry.id === null && standing.get(key) === entry ? put(key, entry) : true))
      entry.job = job
    }
  }

  function onOwner(now: string | null): void {
    if (now === owner) return
    owner = now
    server = null
    for (const entry of standing.values()) entry.id = null
    changed()
    if (now !== null) showAgain()
    else
      setTimeout(() => {
        if (owner === null) showAgain()
      }, RESTART_MS).unref()
  }

  const find = (id: unknown): { readonly key: string; readonly text: NoticeText } | null => {
    for (const [key, entry] of standing) if (entry.id === id) return { key, text: entry.text }
    return (typeof id === 'number' && lately.get(id)) || null
  }

  function begin(): Promise<void> {
    begun ??= (async () => {
      if (bus.absent !== null) {
        problem = bus.absent
        return
      }
      bus.follow(NAME, onOwner)
      bus.listen({ interface: NAME, member: 'ActionInvoked', path: PATH, sender: NAME }, ({ sender, body }) => {
        // Any process of the bus can send such a signal to us alone; only the service we gave the notice to is heard.
        if (server === null || sender !== server.owner) {
          log.warn('an answer to a notice came from somebody else and was ignored', { sender })
          return
        }
        const [id, action] = body
        const found = find(id)
        // Only what was offered on this very notice.
        if (found === null || !found.text.actions.some(({ key }) => key === action)) return
        for (const listener of actionListeners) listener(found.key, String(action))
      })
      bus.listen({ interface: NAME, member: 'NotificationClosed', path: PATH, sender: NAME }, ({ sender, body }) => {
        if (server === null || sender !== server.owner) return
        const [id] = body
        const found = find(id)
        if (found === null || typeof id !== 'number') return
        // Put away by the operator: it still waits, and is not put up again by itself.
        standing.delete(found.key)
        remember()
        lately.set(id, found)
        setTimeout(() => lately.delete(id), LATELY_MS).unref()
      })
      try {
        const now = await bus.owner(NAME)
        if (now !== null) await reach()
        else {
          const [names] = await bus.call({ to: BUS, path: BUS_PATH, interface: BUS, member: 'ListActivatableNames' })
          startable = Array.isArray(names) && names.includes(NAME)
        }
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error)
      }
      changed()
    })()
    return begun
  }

  return {
    begin,
    async show(key, text) {
      await begin()
      const known = standing.get(key)
      const entry: Standing = known ?? { text, id: null, job: Promise.resolve() }
      entry.text = text
      standing.set(key, entry)
      // What takes longer counts as not shown; when it does come up after all it is withdrawn like any other.
      return Promise.race([
        queue(key, entry),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), SHOWN_MS).unref()),
      ])
    },
    withdraw(key) {
      const entry = standing.get(key)
      if (entry === undefined) return
      standing.delete(key)
      remember()
      if (entry.id !== null) close(entry.id)
    },
    onAction: (listener) => void actionListeners.add(listener),
    onChange: (listener) => void changeListeners.add(listener),
    state() {
      if (server !== null)
        return {
          available: true,
          buttons: server.actions,
          sentence: server.actions
            ? `Notices are shown by ${server.name}, with buttons.`
            : `Notices are shown by ${server.name}, which has no buttons: a click opens the card where it can, else look at the window.`,
        }
      if (problem === null && startable)
        return { available: true, buttons: false, sentence: 'The desktop starts its notices with the first one.' }
      return {
        available: false,
        buttons: false,
        sentence: `No notices on this desktop: ${problem ?? 'no notification service is on the session bus'}. Start one (that of your desktop, dunst, mako); what waits is seen in the window and the tray.`,
      }
    },
  }
}
