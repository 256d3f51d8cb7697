import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { recordChild } from './lock.mjs'

const keptLines = 120
const graceMs = 5_000
const live = new Set()

/** Ends every child of this process with its whole group; for the moment in which a signal ends set-up. */
export function killAllChildren() {
  for (const child of live) killGroup(child, 'SIGKILL')
}

function killGroup(child, signal) {
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // Already gone.
  }
}

/**
 * @typedef {object} ChildResult
 * @property {number | null} code exit code, null when a signal ended it
 * @property {NodeJS.Signals | null} signal
 * @property {string} output the last lines of standard output and standard error together
 * @property {string} [stopped] why it was ended by us, if it was
 * @property {string} [failure] why it could not be started, if it could not
 */

/**
 * Runs a child to its end, never longer than `timeoutMs`. It gets a process group of its own, so that a make with its
 * compilers ends as a whole. `watch` is called every second and may return a reason to end it early.
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs: number, watch?: () => string | undefined, inherit?: boolean}} options
 * @returns {Promise<ChildResult>}
 */
export function runChild(command, args, { cwd, env, timeoutMs, watch, inherit = false }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['ignore', inherit ? 'inherit' : 'pipe', inherit ? 'inherit' : 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    const tail = new Tail()
    let stopped
    let kill
    const stop = (reason) => {
      stopped ??= reason
      // First politely: a test runner still writes its report and ends the servers it has started.
      killGroup(child, 'SIGTERM')
      kill ??= setTimeout(() => killGroup(child, 'SIGKILL'), graceMs)
    }
    const limit = setTimeout(() => stop(`it took longer than ${Math.round(timeoutMs / 1000)} s`), timeoutMs)
    const watcher = setInterval(() => {
      const reason = watch?.()
      if (reason) stop(reason)
    }, 1_000)
    const finish = (result) => {
      clearTimeout(limit)
      clearTimeout(kill)
      clearInterval(watcher)
      live.delete(child)
      resolve({ ...result, output: tail.text(), stopped })
    }
    child.once('error', (error) => finish({ code: null, signal: null, failure: error.message }))
    child.once('close', (code, signal) => finish({ code, signal }))
    child.stdout?.on('data', (chunk) => tail.add(chunk))
    child.stderr?.on('data', (chunk) => tail.add(chunk))
    if (child.pid) {
      live.add(child)
      recordChild(child.pid)
    }
  })
}

class Tail {
  #lines = ['']
  add(chunk) {
    const parts = chunk.toString('utf8').split('\n')
    this.#lines[this.#lines.length - 1] += parts[0]
    this.#lines.push(...parts.slice(1))
    if (this.#lines.length > keptLines) this.#lines.splice(0, this.#lines.length - keptLines)
  }
  text() {
    // Some tools colour their output even when told not to; shown inside an error the codes are only noise.
    return stripVTControlCharacters(this.#lines.join('\n')).trimEnd()
  }
}

/** In one phrase why a child did not succeed. */
export function whyFailed(result) {
  if (result.failure) return result.failure
  if (result.stopped) return result.stopped
  return result.signal ? `ended by ${result.signal}` : `exit code ${result.code}`
}
