import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { runChild, whyFailed } from './child.mjs'
import { SetupError } from './errors.mjs'
import { lastLines, npmCommand, npmEnvironment, registryRemedy } from './npm.mjs'
import { root } from './paths.mjs'
import { step } from './progress.mjs'
import { hashFile, readStamp, removeStamp, stampMatches, writeStamp } from './stamp.mjs'

const installLimitMs = 30 * 60_000

function stampFile(checkout) {
  return path.join(checkout, 'node_modules', '.nomos-setup.json')
}

function expectedStamp(checkout) {
  const lock = hashFile(path.join(checkout, 'package-lock.json'))
  if (!lock) {
    throw new SetupError(`There is no readable package-lock.json in ${checkout}.`, {
      remedy: 'take a complete checkout; the lock file is part of it.',
    })
  }
  return { lock, platform: process.platform, arch: process.arch }
}

/**
 * True when the packages of exactly this lock file are installed and the ones asked for by name are still there.
 * @param {string} [checkout]
 */
export function packagesReady(checkout = root) {
  if (!stampMatches(readStamp(stampFile(checkout)), expectedStamp(checkout))) return false
  const manifest = JSON.parse(readFileSync(path.join(checkout, 'package.json'), 'utf8'))
  const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  return names.every((name) => existsSync(path.join(checkout, 'node_modules', name, 'package.json')))
}

/**
 * Installs the packages of the lock file, without install scripts: nothing is compiled or downloaded by accident.
 * @param {(line: string) => void} log
 * @param {string} [checkout]
 */
export async function installPackages(log, checkout = root) {
  const expected = expectedStamp(checkout)
  if (!readStamp(stampFile(checkout)) && installedByHand(checkout)) {
    writeStamp(stampFile(checkout), expected)
    return
  }
  // Removed first: from here until the end there is no stamp, so an interruption at any point means "do it again".
  removeStamp(stampFile(checkout))
  const npm = npmCommand()
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--loglevel=error']
  await step(log, 'installing the packages (npm ci)', async (report) => {
    const total = topLevelPackages(checkout)
    report(() => packagesSoFar(checkout, total))
    const result = await runChild(npm.command, [...npm.args, ...args], {
      cwd: checkout,
      env: await npmEnvironment(),
      timeoutMs: installLimitMs,
    })
    if (result.code === 0) return
    throw new SetupError(`The packages could not be installed: ${whyFailed(result)}.`, {
      output: lastLines(result.output, 20),
      remedy: registryRemedy,
    })
  })
  writeStamp(stampFile(checkout), expected)
}

/**
 * A complete `npm ci` done by hand is as good as ours. npm writes `node_modules/.package-lock.json` last of all, so its
 * agreement with the lock file, entry by entry, shows that the installation came to its end.
 * @param {string} checkout
 */
export function installedByHand(checkout) {
  const wanted = readStamp(path.join(checkout, 'package-lock.json'))?.packages
  const present = readStamp(path.join(checkout, 'node_modules', '.package-lock.json'))?.packages
  if (!wanted || !present) return false
  return Object.entries(wanted).every(([place, entry]) => {
    if (place === '') return true
    const there = present[place]
    // Optional packages for other platforms are in the lock file and rightly not in the folder.
    if (!there) return entry.optional === true || entry.devOptional === true
    return there.integrity === entry.integrity && existsSync(path.join(checkout, place, 'package.json'))
  })
}

function topLevelPackages(checkout) {
  const packages = readStamp(path.join(checkout, 'package-lock.json'))?.packages ?? {}
  return Object.entries(packages).filter(
    ([place, entry]) => place.lastIndexOf('node_modules/') === 0 && !entry.optional && !entry.devOptional,
  )
}

function packagesSoFar(checkout, wanted) {
  const there = wanted.filter(([place]) => statSync(path.join(checkout, place), { throwIfNoEntry: false })).length
  return `${Math.min(there, wanted.length)} of ${wanted.length} packages in place`
}
