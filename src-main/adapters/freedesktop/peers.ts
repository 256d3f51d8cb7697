import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The variable that every run carries, so that its children are known by it. */
export const RUN_MARKER = 'EXEC_GATE_RUN'

/** No real tree is deeper, and a loop in a broken /proc must end. */
const MAX_ANCESTORS = 512

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/**
 * Why a process at the other end of the bus may not speak for an operator, looked up through /proc; null when nothing speaks against
 * it. It must not descend from Nomos or from a run. Whatever is not known refuses. A process that has hidden where it came from is
 * not caught: a hostile process of the same user is outside of what can be guarded.
 */
export function reasonAgainst(pid: number | null, host: number = process.pid, proc = '/proc'): string | null {
  if (pid === null) return 'the bus does not say which process it is'
  let at = pid
  for (let depth = 0; depth < MAX_ANCESTORS; depth += 1) {
    if (at === host) return `process ${pid} was started by Nomos itself`
    // Some shells of a desktop have rights that keep their environment from being read; their line of ancestors can be.
    const environment = read(join(proc, String(at), 'environ'))
    if (environment?.split('\0').some((entry) => entry.startsWith(`${RUN_MARKER}=`)))
      return `process ${pid} belongs to a run of Nomos`
    const stat = read(join(proc, String(at), 'stat'))
    if (stat === null) return depth === 0 ? `process ${pid} cannot be read through /proc` : null
    // The name in brackets may hold blanks and brackets itself.
    const parent = Number.parseInt(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '', 10)
    if (!Number.isInteger(parent)) return `the parent of process ${at} cannot be read`
    if (parent === 0 || at === 1) return null
    at = parent
  }
  return `the line of ancestors of process ${pid} does not end`
}
