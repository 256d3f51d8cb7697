import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { processAlive } from './lock.mjs'

/** The checkout these scripts belong to. */
export const root = realpathSync(fileURLToPath(new URL('../..', import.meta.url)))

/**
 * The per-user cache, the one place outside the checkout that set-up writes to.
 * @param {NodeJS.ProcessEnv} [env]
 * @param {NodeJS.Platform} [platform]
 * @param {string} [home]
 * @returns {string}
 */
export function cacheRoot(env = process.env, platform = process.platform, home = os.homedir()) {
  if (platform === 'win32') {
    return path.win32.join(env.LOCALAPPDATA || path.win32.join(home, 'AppData', 'Local'), 'nomos', 'cache')
  }
  if (platform === 'darwin') return path.posix.join(home, 'Library', 'Caches', 'nomos')
  // The XDG specification says that a relative path is invalid and has to be ignored.
  const base = env.XDG_CACHE_HOME && path.posix.isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : undefined
  return path.posix.join(base ?? path.posix.join(home, '.cache'), 'nomos')
}

/** What set-up keeps inside the checkout besides the packages themselves. `npm ci` wipes it, rightly. */
export const checkoutState = path.join(root, 'node_modules', '.nomos')

/** Name of the lock file that belongs to one checkout. */
export function checkoutLockName(checkout = root) {
  return `checkout-${createHash('sha256').update(checkout).digest('hex').slice(0, 16)}`
}

/**
 * A fresh folder inside the cache. It carries the process id so that a later run can tell that its owner is gone.
 * @param {string} purpose
 * @param {string} [cache]
 * @returns {string}
 */
export function makeTemp(purpose, cache = cacheRoot()) {
  const parent = path.join(cache, 'tmp')
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(path.join(parent, `${purpose}-${process.pid}-`))
}

/**
 * Removes what interrupted runs left behind. Folders of processes that still live are left alone.
 * @param {string} [cache]
 */
export function sweepTemp(cache = cacheRoot()) {
  const parent = path.join(cache, 'tmp')
  for (const name of listDirectory(parent)) {
    const owner = Number(/-(\d+)-[^-]+$/.exec(name)?.[1])
    if (!owner || (owner !== process.pid && !processAlive(owner))) {
      rmSync(path.join(parent, name), { recursive: true, force: true })
    }
  }
}

function listDirectory(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
