import type { Log, ScreenLock } from '../../ports'
import type { Bus } from './bus'

const SAVERS = [
  { name: 'org.freedesktop.ScreenSaver', paths: ['/org/freedesktop/ScreenSaver', '/ScreenSaver'] },
  { name: 'org.gnome.ScreenSaver', paths: ['/org/gnome/ScreenSaver'] },
  { name: 'org.cinnamon.ScreenSaver', paths: ['/org/cinnamon/ScreenSaver'] },
  { name: 'org.mate.ScreenSaver', paths: ['/org/mate/ScreenSaver'] },
] as const
const LOGIND = 'org.freedesktop.login1'
const SESSION = 'org.freedesktop.login1.Session'
/** An answer waits for this. */
const ASK_MS = 800

const plain = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && 'value' in value ? value.value : value

/** The screen savers of the session bus and logind, whichever can tell. One that says "locked" is believed. */
export function createScreenLock(deps: {
  readonly session: Bus
  readonly system: Bus
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
}): ScreenLock {
  const { session, system, env, log } = deps
  const listeners = new Set<() => void>()
  let known: boolean | null = null
  let begun: Promise<void> | null = null

  async function saver({ name, paths }: (typeof SAVERS)[number]): Promise<boolean | null> {
    if ((await session.owner(name).catch(() => null)) === null) return null
    for (const path of paths) {
      const [active] = await session
        .call({ to: name, path, interface: name, member: 'GetActive', timeoutMs: ASK_MS })
        .catch(() => [])
      if (typeof active === 'boolean') return active
    }
    // On some desktops this name only keeps the screen awake.
    return null
  }

  async function logindPath(): Promise<string | null> {
    const byId = env.XDG_SESSION_ID
    const manager = { to: LOGIND, path: '/org/freedesktop/login1', interface: `${LOGIND}.Manager`, timeoutMs: ASK_MS }
    const [path] = await (byId !== undefined && byId !== ''
      ? system.call({ ...manager, member: 'GetSession', signature: 's', body: () => [byId] })
      : system.call({ ...manager, member: 'GetSessionByPID', signature: 'u', body: () => [process.pid] })
    ).catch(() => [])
    return typeof path === 'string' ? path : null
  }

  async function logind(): Promise<boolean | null> {
    if (system.absent !== null) return null
    const path = await logindPath()
    if (path === null) return null
    const [hint] = await system
      .call({
        to: LOGIND,
        path,
        interface: 'org.freedesktop.DBus.Properties',
        member: 'Get',
        signature: 'ss',
        body: () => [SESSION, 'LockedHint'],
        timeoutMs: ASK_MS,
      })
      .catch(() => [])
    const locked = plain(hint)
    return typeof locked === 'boolean' ? locked : null
  }

  async function ask(): Promise<boolean | null> {
    const sources = session.absent === null ? SAVERS.map(saver) : []
    const said = await Promise.all([...sources, logind()])
    const now = said.includes(true) ? true : said.includes(false) ? false : null
    if (now !== known) {
      known = now
      for (const listener of listeners) listener()
    }
    return now
  }

  const lookAnew = (): void => {
    void ask().catch((error) => log.info('the lock of the screen cannot be asked', { error: String(error) }))
  }

  return {
    begin() {
      begun ??= (async () => {
        if (session.absent === null) {
          for (const { name } of SAVERS) {
            session.follow(name, lookAnew)
            session.listen({ interface: name, member: 'ActiveChanged', sender: name }, lookAnew)
          }
        }
        if (system.absent === null)
          system.listen(
            {
              interface: 'org.freedesktop.DBus.Properties',
              member: 'PropertiesChanged',
              sender: LOGIND,
              arg0: SESSION,
            },
            lookAnew,
          )
        await ask()
      })()
      return begun
    },
    last: () => known,
    ask,
    onChange: (listener) => void listeners.add(listener),
  }
}
