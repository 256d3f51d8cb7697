import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SetupError } from './errors.mjs'
import { readStamp, writeStamp } from './stamp.mjs'

const waitLimitMs = 45 * 60_000
const takeoverLimitMs = 10_000

/**
 * True while the process runs. A zombie has ended: in a container whose first process reaps nobody it stays listed for
 * ever, and a lock of its would never become free.
 * @param {number} pid
 */
export function processAlive(pid) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
  return !['Z', 'X'].includes(processFields(pid)?.[0])
}

/**
 * When a process started, as the kernel counts it. Tells a process from a later one with the same number.
 * Undefined where there is no /proc; the process number alone has to do there.
 * @param {number} pid
 */
export function processStart(pid) {
  return processFields(pid)?.[19]
}

/** The fields of /proc/<pid>/stat after the name, which stands in parentheses and may hold anything. */
function processFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function stillRuns({ pid, start }) {
  if (!Number.isInteger(pid) || !processAlive(pid)) return false
  return start === undefined || processStart(pid) === undefined || processStart(pid) === start
}

const held = new Set()

/** Lets go of every lock of this process; for the moment in which a signal ends it. */
export function releaseAllLocks() {
  for (const file of held) rmSync(file, { force: true })
  held.clear()
}

/** Records a child in the locks held, so that whoever takes over a dead owner's lock can end its orphans first. */
export function recordChild(pid) {
  for (const file of held) {
    const stamp = readStamp(file)
    if (stamp?.pid === process.pid) {
      const children = [...(stamp.children ?? []).filter(stillRuns), { pid, start: processStart(pid) }]
      writeStamp(file, { ...stamp, children })
    }
  }
}

/**
 * Runs `work` while holding a lock that other processes respect. A lock whose owner is dead is taken over.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @param {{folder: string, log: (line: string) => void, sayTakeover?: boolean, pollMs?: number}} options
 * @returns {Promise<T>}
 */
export async function withLock(name, work, { folder, log, sayTakeover = false, pollMs = 300 }) {
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, `${name}.lock`)
  await acquire(file, { log, sayTakeover, pollMs })
  held.add(file)
  try {
    return await work()
  } finally {
    held.delete(file)
    rmSync(file, { force: true })
  }
}

async function acquire(file, { log, sayTakeover, pollMs }) {
  const began = Date.now()
  let nextNotice = 0
  while (!tryCreate(file, { pid: process.pid, start: processStart(process.pid) })) {
    const owner = readStamp(file)
    const fresh = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) < takeoverLimitMs
    // An empty file is an owner in the middle of writing it, unless it stays empty.
    if (owner ? !stillRuns(owner) : !fresh) {
      if (takeOver(file, owner) && sayTakeover) log('an earlier set-up was interrupted: going on from there')
      continue
    }
    if (Date.now() - began > waitLimitMs) {
      throw new SetupError(`Waited ${waitLimitMs / 60_000} minutes for the set-up of process ${owner?.pid ?? '?'}.`, {
        remedy: `end that process, or remove ${file} if it is none of ours, and start again.`,
      })
    }
    if (Date.now() >= nextNotice) {
      log(`waiting for another set-up (process ${owner?.pid ?? '?'}) … ${Math.round((Date.now() - began) / 1000)} s`)
      nextNotice = Date.now() + 8_000
    }
    await sleep(pollMs)
  }
}

function tryCreate(file, content) {
  let descriptor
  try {
    descriptor = openSync(file, 'wx')
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw new SetupError(`The lock ${file} cannot be written: ${error.message}`, {
      remedy: `make ${path.dirname(file)} writable for this user.`,
      cause: error,
    })
  }
  try {
    writeSync(descriptor, JSON.stringify(content))
  } finally {
    closeSync(descriptor)
  }
  return true
}

/**
 * Two waiting processes may both see that the owner is dead. Only the one that creates the `.takeover` file may remove
 * the lock, and it looks again first: otherwise the slower one would remove the lock the faster one has just taken.
 */
function takeOver(file, seen) {
  const guard = `${file}.takeover`
  if (!tryCreate(guard, { pid: process.pid })) {
    const age = Date.now() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > takeoverLimitMs) rmSync(guard, { force: true })
    return false
  }
  try {
    const now = readStamp(file)
    if (JSON.stringify(now) !== JSON.stringify(seen)) return false
    for (const child of seen?.children ?? []) endOrphan(child)
    rmSync(file, { force: true })
    return true
  } finally {
    rmSync(guard, { force: true })
  }
}

/** A killed set-up leaves its children running; two `npm ci` in one folder would destroy each other's work. */
function endOrphan(child) {
  if (child.start === undefined || !stillRuns(child)) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It ended by itself in the meantime.
  }
}
