import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'

/** The kernel's field for a socket path takes 104 bytes on macOS (108 on Linux), the closing NUL included. */
export const MAX_SOCKET_PATH = 103

/** Where the control socket of this run folder listens. On Windows (untested) a named pipe that is derived from the folder. */
export function socketPath(folder: string, platform: NodeJS.Platform = process.platform): string {
  if (platform !== 'win32') return join(folder, 'control.sock')
  const name = createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 32)
  return `\\\\.\\pipe\\nomos-control-${name}`
}

/** The file that holds the token of the present start. */
export function tokenPath(folder: string): string {
  return join(folder, 'control.token')
}

/** One sentence when the path is too long for a socket, else null. Node would cut it silently or fail without a reason. */
export function pathProblem(path: string, platform: NodeJS.Platform = process.platform): string | null {
  if (platform === 'win32') return null
  const length = Buffer.byteLength(path)
  if (length <= MAX_SOCKET_PATH) return null
  return `The control socket path ${path} is ${length} bytes long and the system takes at most ${MAX_SOCKET_PATH}. Set NOMOS_HOME to a shorter folder and start Nomos again.`
}
