import type { z } from 'zod'

/** One thing that is wrong in a file: where, what stands there and what could. */
export interface FieldFault {
  /** Dotted path of the field (`defaults.security`, `agents.main.allowlist[3].pattern`); empty for the file as a whole. */
  readonly path: string
  /** What stands there, as JSON of at most 80 characters; null when nothing does. */
  readonly value: string | null
  /** The values it may have; null when they cannot be listed. */
  readonly allowed: readonly string[] | null
  /** One sentence that names path, value and allowed values. */
  readonly sentence: string
}

const LONGEST_VALUE = 80

function dotted(path: readonly PropertyKey[]): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`)).join('')
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let at: unknown = input
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined
    at = (at as Record<PropertyKey, unknown>)[part]
  }
  return at
}

/** A value whose name says that it is secret is not repeated. */
const SECRET_FIELD = /token|secret|password|key$/i

/** All faults of a parse, in the order zod found them. */
export function fieldFaults(error: z.ZodError, input: unknown): readonly FieldFault[] {
  return error.issues.map((issue) => {
    const path = dotted(issue.path)
    const found = valueAt(input, issue.path)
    const text = found === undefined ? null : (JSON.stringify(found) ?? String(found))
    const secret = SECRET_FIELD.test(path)
    const value =
      text === null
        ? null
        : secret
          ? '(hidden)'
          : text.length > LONGEST_VALUE
            ? `${text.slice(0, LONGEST_VALUE - 1)}…`
            : text
    const allowed =
      issue.code === 'invalid_value'
        ? issue.values.map((one) => JSON.stringify(one) ?? String(one))
        : issue.code === 'invalid_type' && issue.expected === 'boolean'
          ? ['true', 'false']
          : null
    const where = path === '' ? 'The file' : `"${path}"`
    const what = value === null ? 'is missing' : `is ${value}`
    const may = allowed === null ? `: ${issue.message}` : `; it may be ${allowed.join(', ')}`
    return { path, value, allowed, sentence: `${where} ${what}${may}.` }
  })
}
