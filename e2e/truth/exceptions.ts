import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { z } from 'zod'
import type { Deed } from './trace'

const Exceptions = z.array(
  z.strictObject({
    /** File names of programs, several with spaces. */
    programs: z.string(),
    kinds: z.array(z.enum(['write', 'remove', 'metadata', 'connect', 'listen', 'signal', 'system', 'run'])).min(1),
    /** What it is done to, as a pattern that must match the whole. */
    subject: z.string(),
    reason: z.string(),
  }),
)

/** A deed that is known and no harm, with the reason why. */
export interface Exception {
  readonly programs: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
  readonly subject: RegExp
  readonly reason: string
}

/** Reads `exceptions.yaml`; throws when it is not what it should be. */
export function loadExceptions(): readonly Exception[] {
  return Exceptions.parse(load(readFileSync(join(import.meta.dirname, 'exceptions.yaml'), 'utf8'))).map((entry) => ({
    programs: new Set(entry.programs.split(/\s+/)),
    kinds: new Set(entry.kinds),
    subject: new RegExp(`^(?:${entry.subject})$`),
    reason: entry.reason,
  }))
}

/** The exception that covers a deed, or undefined. */
export function exceptionFor(deed: Deed, exceptions: readonly Exception[]): Exception | undefined {
  return exceptions.find(
    ({ programs, kinds, subject }) => programs.has(deed.program) && kinds.has(deed.kind) && subject.test(deed.subject),
  )
}
