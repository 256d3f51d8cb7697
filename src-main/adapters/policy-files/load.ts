import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { compileRules, type RuleFile, type RuleSet } from '../../domain/risk'

/** A rule file that cannot be used. The message names file, line and field. */
export class RuleFileError extends Error {
  readonly file: string
  readonly line: number | null
  readonly field: string | null
  constructor(file: string, line: number | null, field: string | null, what: string) {
    super(`${file}${line === null ? '' : `:${line}`}${field === null ? '' : ` (${field})`}: ${what}`)
    this.name = 'RuleFileError'
    this.file = file
    this.line = line
    this.field = field
  }
}

/** Reads every `*.yaml` under `dir`; throws a `RuleFileError` for the first one that cannot be used. */
export function loadRiskRules(dir: string): RuleSet {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .sort()
  const files: RuleFile[] = names.map((name) => {
    const document = parseDocument(readFileSync(join(dir, name), 'utf8'))
    const error = document.errors[0]
    if (error) throw new RuleFileError(name, error.linePos?.[0].line ?? null, null, error.message.split('\n')[0] ?? '')
    return { name, data: document.toJS() }
  })
  return compileRules(files)
}
