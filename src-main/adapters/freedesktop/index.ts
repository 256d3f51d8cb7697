import { join } from 'node:path'
import type { Log, NativeDesktop } from '../../ports'
import { createBus } from './bus'
import { createNotices } from './notices'
import { createScreenLock } from './screen-lock'
import { createTrayHost } from './tray-host'

/** What a desktop of freedesktop.org offers over D-Bus. Connects to nothing by itself: each part does at its `begin`. */
export function createFreedesktop(deps: {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly icon: string | null
  /** Nomos's own folder. */
  readonly home: string
}): NativeDesktop {
  const { env, log, icon, home } = deps
  const session = createBus({ kind: 'session', env, log })
  const system = createBus({ kind: 'system', env, log })
  const trayHost = createTrayHost({ bus: session, env, log })
  return {
    notices: createNotices({ bus: session, log, icon, memory: join(home, 'notices.json') }),
    trayHost,
    lock: createScreenLock({ session, system, env, log }),
    async close() {
      trayHost.close()
      await session.flush()
      session.close()
      system.close()
    },
  }
}
