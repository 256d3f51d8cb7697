import { posix } from 'node:path'
import { HOME } from './root'
import type { Deed } from './trace'

/** Of a cache of a schema: what it is and what lies below it, whole paths. */
function pathsOf(cache: string): RegExp {
  const names = cache.replace(/^~(?=\/)/, HOME).split('*')
  return new RegExp(`^${names.map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('[^/]*')}(?:/.*)?$`)
}

/** Whether a path lies above a cache; a cache that is not there yet is made with the folders it stands in. */
function above(path: string, cache: string): boolean {
  const whole = cache.replace(/^~(?=\/)/, HOME)
  for (let folder = posix.dirname(whole); folder !== '/'; folder = posix.dirname(folder))
    if (folder === path) return true
  return false
}

/** The declared cache that a deed writes to, or undefined. Both ends of a move must lie in it. */
export function cacheFor({ kind, call, subject }: Deed, caches: readonly string[]): string | undefined {
  if (kind !== 'write' && kind !== 'remove' && kind !== 'metadata') return undefined
  return caches.find((cache) => {
    const paths = pathsOf(cache)
    if (subject.split(' -> ').every((path) => paths.test(path))) return true
    return /^mkdir(?:at)?$/.test(call) && above(subject, cache)
  })
}
