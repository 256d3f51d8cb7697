import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A process group the gate started, live or lately ended. `sessionId` is the kernel's session of that group, where it differs. */
export interface RunGroup {
  readonly pid: number
  readonly sessionId?: number
}

/** Every run carries this variable, so that a child which left its process group is still known by it. */
export const RUN_MARKER = 'EXEC_GATE_RUN'

/** How far up the tree is looked; no real tree is deeper, and a loop in a broken /proc must end. */
const MAX_ANCESTORS = 512

interface ProcessFacts {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly tty: number
  /** Clock ticks after boot; with the pid it names one process even when the number is used again. */
  readonly started: string
}

export interface ProofRequest {
  readonly pid: number
  /** What the process must have put into its title. */
  readonly nonce: string
  readonly uid: number
  readonly runs: readonly RunGroup[]
  /** Nomos itself: whatever descends from it is not an operator's shell. 0 switches the rule off. */
  readonly hostPid: number
  /** From an earlier proof of the same challenge: the process must still be that one. */
  readonly started: string | null
  readonly proc?: string
}

export type Proof = { readonly ok: true; readonly started: string } | { readonly ok: false; readonly reason: string }

/**
 * Looks through /proc (Linux) whether process `pid` may speak for an operator: it bears the nonce in its title, has our user,
 * a controlling terminal, and neither it nor any ancestor belongs to a run or to Nomos itself. Whatever cannot be read refuses.
 */
export function proveTerminal(request: ProofRequest): Proof {
  const proc = request.proc ?? '/proc'
  const refuse = (reason: string): Proof => ({ ok: false, reason })
  const own = readFacts(proc, request.pid)
  if (own === null) return refuse(`process ${request.pid} cannot be read through /proc`)
  const status = readText(join(proc, String(request.pid), 'status'))
  if (status === null) return refuse(`process ${request.pid} cannot be read through /proc`)
  if (statusNumbers(status, 'Tgid')[0] !== request.pid) return refuse(`${request.pid} is a thread, not a process`)
  const uids = statusNumbers(status, 'Uid')
  if (uids.length === 0 || uids.some((uid) => uid !== request.uid))
    return refuse(`process ${request.pid} belongs to another user`)
  if (title(proc, request.pid) !== request.nonce)
    return refuse(`process ${request.pid} does not bear the nonce in its title, so it is not the one that asks`)
  if (request.started !== null && request.started !== own.started)
    return refuse(`process ${request.pid} is not the one that proved itself before`)
  if (own.tty === 0) return refuse('it has no controlling terminal')

  const runs = new Set<number>()
  for (const run of request.runs) {
    runs.add(run.pid)
    if (run.sessionId !== undefined) runs.add(run.sessionId)
  }
  let at: ProcessFacts = own
  for (let depth = 0; depth < MAX_ANCESTORS; depth += 1) {
    const who = depth === 0 ? 'it' : `its ancestor ${at.pid}`
    if (runs.has(at.pid) || runs.has(at.group) || runs.has(at.session))
      return refuse(`${who} belongs to a run of Nomos`)
    if (request.hostPid !== 0 && at.pid === request.hostPid) return refuse('it was started by Nomos itself')
    const marked = hasMarker(proc, at.pid)
    if (marked === true) return refuse(`${who} carries the mark of a run (${RUN_MARKER})`)
    // Another user's environment (login, sshd, sudo) cannot be read and need not be; our own process's must.
    if (marked === null && depth === 0) return refuse('its environment cannot be read through /proc')
    if (at.parent === 0) return { ok: true, started: own.started }
    if (at.pid === 1) return { ok: true, started: own.started }
    const parent = readParent(proc, at)
    if (parent === null)
      return refuse(`its ancestor ${at.parent} cannot be read through /proc (is it mounted with hidepid?)`)
    at = parent
  }
  return refuse('its line of ancestors does not end')
}

/** A parent that ended between two reads leaves its child with a new one: then the child is read once more. */
function readParent(proc: string, child: ProcessFacts): ProcessFacts | null {
  const parent = readFacts(proc, child.parent)
  if (parent !== null) return parent
  const again = readFacts(proc, child.pid)
  if (again === null || again.parent === child.parent || again.parent === 0) return null
  return readFacts(proc, again.parent)
}

function readFacts(proc: string, pid: number): ProcessFacts | null {
  const text = readText(join(proc, String(pid), 'stat'))
  if (text === null) return null
  // The name in brackets may hold blanks and brackets itself: what counts begins after the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number.parseInt(fields[index] ?? '', 10)
  const facts = {
    pid,
    parent: number(1),
    group: number(2),
    session: number(3),
    tty: number(4),
    started: fields[19] ?? '',
  }
  const whole = [facts.parent, facts.group, facts.session, facts.tty].every(Number.isInteger) && facts.started !== ''
  return whole ? facts : null
}

function statusNumbers(status: string, name: string): number[] {
  const line = status.split('\n').find((candidate) => candidate.startsWith(`${name}:`))
  if (line === undefined) return []
  return line
    .slice(name.length + 1)
    .trim()
    .split(/\s+/)
    .map((word) => Number.parseInt(word, 10))
}

function title(proc: string, pid: number): string | null {
  return readText(join(proc, String(pid), 'cmdline'))?.replace(/\0+$/, '') ?? null
}

/** True or false when the environment could be read, null when not. */
function hasMarker(proc: string, pid: number): boolean | null {
  const text = readText(join(proc, String(pid), 'environ'))
  if (text === null) return null
  return text.split('\0').some((entry) => entry.startsWith(`${RUN_MARKER}=`))
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return null
  }
}
