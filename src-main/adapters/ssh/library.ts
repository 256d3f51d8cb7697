import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)
let library: typeof import('ssh2') | null = null

/**
 * The ssh2 package, loaded when the first connection or key needs it: it is CommonJS whose names an ES import does not see, and it
 * would cost every start of the app some 40 ms.
 */
export function ssh2(): typeof import('ssh2') {
  library ??= load('ssh2') as typeof import('ssh2')
  return library
}
