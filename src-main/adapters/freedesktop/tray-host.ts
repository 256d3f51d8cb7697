import type { Log, TrayHost } from '../../ports'
import type { Bus } from './bus'
import { createClickWatch } from './click-watch'

const NAME = 'org.kde.StatusNotifierWatcher'
const PATH = '/StatusNotifierWatcher'
/** How long an icon may take until the host has it, ms; and how often that is looked at. */
const REGISTERED_MS = 3_000
const LOOK_MS = 50

/** Follows `StatusNotifierWatcher` and whether a panel behind it really shows icons. */
export function createTrayHost(deps: {
  readonly bus: Bus
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly pid?: number
}): TrayHost & { close(): void } {
  const { bus, log } = deps
  const pid = deps.pid ?? process.pid
  const listeners = new Set<() => void>()
  const clicks = createClickWatch(deps)
  let owner: string | null = null
  let host = false
  let begun: Promise<void> | null = null

  const property = async (name: string): Promise<unknown> => {
    const [value] = await bus.call({
      to: NAME,
      path: PATH,
      interface: 'org.freedesktop.DBus.Properties',
      member: 'Get',
      signature: 'ss',
      body: () => [NAME, name],
    })
    return value !== null && typeof value === 'object' && 'value' in value ? value.value : value
  }

  function set(now: boolean): void {
    if (now === host) return
    host = now
    if (now) void clicks.begin()
    for (const listener of listeners) listener()
  }

  async function look(): Promise<void> {
    const asked = owner
    if (asked === null) return set(false)
    try {
      const there = (await property('IsStatusNotifierHostRegistered')) === true
      if (asked === owner) set(there)
    } catch (error) {
      log.info('the watcher of status icons does not answer', { error: String(error) })
      if (asked === owner) set(false)
    }
  }

  function onOwner(now: string | null): void {
    if (now === owner) return
    // Another watcher knows nothing of our icon: gone first, so that it is made anew.
    set(false)
    owner = now
    void look()
  }

  async function listed(): Promise<boolean> {
    const items = await property('RegisteredStatusNotifierItems').catch(() => [])
    if (!Array.isArray(items)) return false
    for (const item of items) {
      if (typeof item !== 'string') continue
      // "name/path", or the name alone.
      const [name = ''] = item.split(/[/@]/)
      if (name !== '' && (await bus.pidOf(name)) === pid) return true
    }
    return false
  }

  return {
    begin() {
      begun ??= (async () => {
        if (bus.absent !== null) return
        bus.follow(NAME, onOwner)
        for (const member of ['StatusNotifierHostRegistered', 'StatusNotifierHostUnregistered'] as const)
          bus.listen({ interface: NAME, member, path: PATH, sender: NAME }, () => void look())
        const now = await bus.owner(NAME).catch(() => null)
        if (now !== null) owner = now
        await look()
      })()
      return begun
    },
    possible: bus.absent === null,
    present: () => host,
    reason() {
      if (bus.absent !== null) return bus.absent
      return owner === null
        ? 'nothing on the session bus shows status icons (on GNOME an extension such as AppIndicator does)'
        : 'no panel shows status icons'
    },
    async registered() {
      const until = performance.now() + REGISTERED_MS
      while (host) {
        if (await listed()) return true
        if (performance.now() > until) return false
        await new Promise((go) => setTimeout(go, LOOK_MS))
      }
      return false
    },
    reasonAgainstClick: () => clicks.reasonAgainst(),
    onChange: (listener) => void listeners.add(listener),
    close: () => clicks.close(),
  }
}
