import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { app } from 'electron'
import { type Autostart, NOT_PACKAGED, xdgAutostart } from './autostart-entry'

function loginItem(): Autostart {
  const args = ['--hidden']
  const on = (): boolean => app.getLoginItemSettings({ args }).openAtLogin
  return {
    status: () =>
      app.isPackaged
        ? {
            available: true,
            on: on(),
            sentence: on() ? 'Nomos starts with the login.' : 'Nomos does not start with the login.',
          }
        : { available: false, on: false, sentence: NOT_PACKAGED },
    apply(wanted) {
      if (!app.isPackaged) {
        if (wanted) throw new Error(NOT_PACKAGED)
        return
      }
      app.setLoginItemSettings({ openAtLogin: wanted, args })
      if (on() !== wanted) throw new Error('The system did not take the setting. Look at its own list of login items.')
    },
  }
}

/** That of the system Nomos runs on. `home` is given where it is not the usual one, and is kept in the entry. */
export function systemAutostart(env: NodeJS.ProcessEnv, home: string | null): Autostart {
  if (process.platform !== 'linux') return loginItem()
  const set = env.XDG_CONFIG_HOME
  const config = set !== undefined && isAbsolute(set) ? set : join(homedir(), '.config')
  // An AppImage runs from a place that is gone with it; the file itself is what can be started.
  const program = env.APPIMAGE ?? process.execPath
  const command = [...(home === null ? [] : ['env', `NOMOS_HOME=${home}`]), program, '--hidden']
  return xdgAutostart(join(config, 'autostart'), app.isPackaged ? command : null)
}
