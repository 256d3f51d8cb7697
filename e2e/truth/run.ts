import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DisposableRoot } from './root'
import { type Deed, deedsOf, TRACED_CALLS } from './trace'

/** The line that `adapters/local` puts before what runs unasked. */
const AUTOMATIC_LIMITS = 'ulimit -f 65536 2>/dev/null; ulimit -v 8388608 2>/dev/null\n'

/** What came of one command. */
export interface Run {
  readonly command: string
  readonly deeds: readonly Deed[]
  readonly programs: readonly string[]
  readonly askedNames: boolean
  /** Null: it was stopped. */
  readonly exit: number | null
  /** The end of what it wrote to its error output. */
  readonly errors: string
}

/** Runs one command the way an automatic run is, under `strace`, in the root; stopped after `limitMs`. */
export function runTraced(root: DisposableRoot, command: string, name: string, limitMs: number): Promise<Run> {
  const strace = [
    'strace',
    '-f',
    '--seccomp-bpf',
    '-yy',
    '-qq',
    '-s',
    '300',
    '-e',
    `trace=${TRACED_CALLS}`,
    '-e',
    'signal=none',
  ]
  const words = [...root.arguments, ...strace, '-o', `/.trace/${name}`, 'bash', '--norc', '--noprofile', '-c']
  return new Promise((settle, fail) => {
    const child = spawn('bwrap', [...words, AUTOMATIC_LIMITS + command], {
      ...root.identity,
      cwd: '/',
      env: root.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let errors = ''
    child.stdout.resume()
    child.stderr.on('data', (bytes: Uint8Array) => {
      errors = (errors + bytes.toString()).slice(-2000)
    })
    let stopped = false
    const timer = setTimeout(() => {
      stopped = true
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, limitMs)
    child.once('error', fail)
    child.once('close', (code) => {
      clearTimeout(timer)
      const file = join(root.traces, name)
      let trace = ''
      try {
        trace = readFileSync(file, 'utf8')
      } catch {
        fail(new Error(`No trace of: ${command}\n${errors}`))
        return
      }
      rmSync(file, { force: true })
      settle({ command, ...deedsOf(trace), exit: stopped ? null : code, errors })
    })
  })
}
