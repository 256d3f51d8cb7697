import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'

/**
 * Nomos's own folder: `NOMOS_HOME`, else the platform's place for application data.
 * @throws Error when `NOMOS_HOME` is set and not absolute: a relative one would move with the working folder.
 */
export function nomosHome(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  const set = env.NOMOS_HOME
  if (set !== undefined && set !== '') {
    if (!isAbsolute(set)) throw new Error(`NOMOS_HOME is "${set}", which is not an absolute path. Set it to one.`)
    return resolve(set)
  }
  switch (platform) {
    case 'darwin':
      return join(homedir(), 'Library', 'Application Support', 'Nomos')
    case 'win32':
      return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'Nomos')
    default: {
      const data = env.XDG_DATA_HOME
      return join(data && isAbsolute(data) ? data : join(homedir(), '.local', 'share'), 'nomos')
    }
  }
}

/** The folder that holds `policies/` and `resources/`: the checkout, or the packaged app's resources. */
export function resourcesFolder(from: string = import.meta.dirname): string {
  const packaged = (process as { resourcesPath?: string }).resourcesPath
  if (packaged !== undefined && existsSync(join(packaged, 'policies', 'risk'))) return packaged
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'policies', 'risk'))) return folder
    if (folder === dirname(folder))
      throw new Error(`No "policies/risk" folder above ${from}. Reinstall Nomos, or restore the checkout.`)
  }
}
