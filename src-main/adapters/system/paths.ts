import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
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

/**
 * Makes Nomos's own folder if it is missing, for its owner alone.
 * @throws Error that names the folder, what is in the way and what to do.
 */
export function makeHome(home: string): void {
  const missing: string[] = []
  let at = home
  while (!existsSync(at)) {
    missing.unshift(at)
    if (at === dirname(at)) break
    at = dirname(at)
  }
  const remedy = 'Set NOMOS_HOME to a folder that you may write.'
  if (!statSync(at).isDirectory())
    throw new Error(`Nomos cannot keep its data in ${home}: ${at} is not a folder. ${remedy}`)
  try {
    accessSync(at, constants.W_OK)
    // Step by step: a recursive mkdir never comes back where the system takes no folders (below /proc).
    for (const folder of missing) mkdirSync(folder, { mode: 0o700 })
    chmodSync(home, 0o700)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`Nomos cannot keep its data in ${home}: ${why}. ${remedy}`)
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
