import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../ports'

const MAX_BYTES = 2 * 1024 * 1024

/** A log file of JSON lines in `<home>/logs/nomos.log`, at most 2 MB and one older file. Every text passes `redact` first. */
export function fileLog(home: string, redact: (text: string) => string, now: () => number = Date.now): Log {
  const folder = join(home, 'logs')
  const file = join(folder, 'nomos.log')
  const write = (level: string, message: string, data?: Readonly<Record<string, unknown>>): void => {
    const line = redact(
      JSON.stringify({ at: new Date(now()).toISOString(), level, message, ...(data ? { data } : {}) }),
    )
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
      if (size > MAX_BYTES) renameSync(file, `${file}.1`)
      appendFileSync(file, `${line}\n`, { mode: 0o600 })
    } catch {
      // A full or read-only disk must not stop the gate; stderr is the last place left.
      process.stderr.write(`${line}\n`)
    }
  }
  return {
    info: (message, data) => write('info', message, data),
    warn: (message, data) => write('warn', message, data),
    error: (message, data) => write('error', message, data),
  }
}
