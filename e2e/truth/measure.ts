import { cpus } from 'node:os'
import { cacheFor } from './caches'
import type { ReadOnlyCommand } from './commands'
import { type Exception, exceptionFor } from './exceptions'
import { createDisposableRoot } from './root'
import { type Run, runTraced } from './run'
import type { Deed } from './trace'

/** How long a run may take, in milliseconds. */
export interface Limits {
  /** For those whose schema says that they do not end. */
  readonly unending: number
  readonly others: number
}

/** What the truth test found. */
export interface Report {
  readonly commands: number
  readonly ran: number
  /** Programs that are not installed here, with how many commands wanted them. */
  readonly missing: ReadonlyMap<string, number>
  readonly skipped: number
  readonly stopped: number
  readonly violations: readonly { readonly command: string; readonly deeds: readonly Deed[] }[]
  /** Exceptions that were needed, with how many commands needed them. */
  readonly used: ReadonlyMap<Exception, number>
  /** Declared caches that were written to, with how many deeds that were. */
  readonly caches: ReadonlyMap<string, number>
  /** Commands that asked a name server although their schema does not speak of the network. */
  readonly askedNames: readonly string[]
  /** Paths that were changed in the root and that no trace accounts for. */
  readonly unseen: readonly string[]
  readonly seconds: number
}

/** `sudo` as the first word cannot work in here: the run is root already, and what matters is what comes behind it. */
function withoutSudo(command: string): string {
  return command.replace(/^\s*sudo(?:\s+-[nEHkS]|\s+-u\s+\S+)*\s+(?=[\w/])/, '')
}

/**
 * Runs all of them, a few at a time, in one disposable root; `tree` is another system whose programs are used.
 */
export async function measure(
  commands: readonly ReadOnlyCommand[],
  exceptions: readonly Exception[],
  options: { readonly tree?: string; readonly limits: Limits; readonly each?: (run: Run) => void },
): Promise<Report> {
  const begun = performance.now()
  const root = createDisposableRoot(
    commands.map(({ command }) => command),
    options.tree,
  )
  try {
    const before = root.manifest()
    const violations: { command: string; deeds: readonly Deed[] }[] = []
    const missing = new Map<string, number>()
    const used = new Map<Exception, number>()
    const askedNames: string[] = []
    const caches = new Map<string, number>()
    const excused = new Set<string>()
    let skipped = 0
    let stopped = 0
    let next = 0
    const worker = async (): Promise<void> => {
      for (let index = next++; index < commands.length; index = next++) {
        const wanted = commands[index]
        if (wanted === undefined) return
        const limit = wanted.unending ? options.limits.unending : options.limits.others
        const run = await runTraced(root, withoutSudo(wanted.command), String(index), limit)
        options.each?.(run)
        const absent = /(?:line \d+: )([^\s:]+): command not found/.exec(run.errors)?.[1]
        if (absent !== undefined) {
          missing.set(absent, (missing.get(absent) ?? 0) + 1)
          skipped++
        } else if (run.exit === null) stopped++
        if (run.askedNames && !wanted.network) askedNames.push(wanted.command)
        const bad = run.deeds.filter((deed) => {
          if (deed.kind === 'connect' && wanted.network) return false
          const cache = cacheFor(deed, wanted.caches)
          if (cache !== undefined) {
            caches.set(cache, (caches.get(cache) ?? 0) + 1)
            excused.add(deed.subject)
            return false
          }
          const exception = exceptionFor(deed, exceptions)
          if (exception === undefined) return true
          used.set(exception, (used.get(exception) ?? 0) + 1)
          excused.add(deed.subject)
          return false
        })
        if (bad.length > 0) violations.push({ command: wanted.command, deeds: bad })
      }
    }
    await Promise.all(Array.from({ length: Math.max(1, Math.min(4, cpus().length)) }, worker))
    const after = root.manifest()
    const accounted = new Set([...excused, ...violations.flatMap(({ deeds }) => deeds.map(({ subject }) => subject))])
    const unseen = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) =>
        before.get(path) !== after.get(path) &&
        // A folder in which a file came and went has another time; the file is what counts.
        !(before.has(path) && after.has(path) && isFolder(after.get(path))) &&
        ![...accounted].some(
          (subject) => subject === path || subject.startsWith(`${path}/`) || path.startsWith(`${subject}/`),
        ),
    )
    return {
      commands: commands.length,
      ran: commands.length - skipped,
      skipped,
      stopped,
      missing,
      violations,
      used,
      caches,
      askedNames,
      unseen,
      seconds: Math.round((performance.now() - begun) / 100) / 10,
    }
  } finally {
    root.remove()
  }
}

/** Told from the mode in a line of the manifest. */
function isFolder(line: string | undefined): boolean {
  return (Number(line?.split(' ')[2]) & 0o170000) === 0o040000
}

/** The report in numbers, as one line of JSON. */
export function summaryOf(report: Report): string {
  return JSON.stringify({
    readOnly: report.commands,
    ran: report.ran,
    notInstalled: report.skipped,
    stopped: report.stopped,
    violations: report.violations.length,
    exceptions: Object.fromEntries([...report.used].map(([{ reason }, times]) => [reason, times])),
    caches: Object.fromEntries(report.caches),
    askedNames: report.askedNames,
    missingPrograms: [...report.missing.keys()].sort().join(' '),
    seconds: report.seconds,
  })
}

/** The violations as lines for people. */
export function told(report: Report): readonly string[] {
  return report.violations.flatMap(({ command, deeds }) =>
    deeds.map(
      ({ program, kind, call, subject, result }) => `${command}: ${program} ${kind} ${call} ${subject} = ${result}`,
    ),
  )
}
