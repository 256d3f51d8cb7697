import { SetupError } from './errors.mjs'

const needed = [20, 19]

/**
 * Node 20.19 is the first of its line that can `require` ES modules, which Electron's installer and the bundler do.
 * @param {string} [version]
 */
export function requireNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number)
  if (major > needed[0] || (major === needed[0] && minor >= needed[1])) return
  throw new SetupError(`Node ${version} is too old: Nomos needs Node ${needed.join('.')} or newer.`, {
    remedy: 'install a newer Node (https://nodejs.org, or a version manager), then start again.',
  })
}
