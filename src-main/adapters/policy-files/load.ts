import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { load, YAMLException } from 'js-yaml'
import { LineCounter, parseDocument } from 'yaml'
import { compileRules, RuleDataError, type RuleFile, RuleFileSchema, type RuleSet } from '../../domain/risk'
import { plainWords } from './words'

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

/** js-yaml reads the 200 KB of rules six times quicker than `yaml`, which is asked where exactly a fault stands. */
export function readYaml(name: string, text: string): unknown {
  try {
    return load(text)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const lines = new LineCounter()
    const found = parseDocument(text, { lineCounter: lines }).errors[0]
    if (found === undefined) throw new RuleFileError(name, (error.mark?.line ?? 0) + 1, null, error.reason)
    const what = found.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'is not YAML'
    throw new RuleFileError(name, lines.linePos(found.pos[0]).line, null, what)
  }
}

/** The line a field stands on, or that of the nearest level above it that is written down. */
export function lineOf(text: string, path: readonly (string | number)[]): number | null {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range))
      return lines.linePos(node.range[0] as number).line
  }
  return null
}

/**
 * Fields that no file fills. All but `sets` have to be there: without its secrets, or what cannot be undone, a policy would be half of
 * one, and a rule file that went missing leaves no other trace.
 */
export function missingFields(data: readonly unknown[]): readonly string[] {
  const filled = new Set<string>()
  for (const file of data)
    if (typeof file === 'object' && file !== null)
      for (const [field, value] of Object.entries(file))
        if (typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value) filled.add(field)
  return Object.keys(RuleFileSchema.shape).filter((field) => field !== 'sets' && !filled.has(field))
}

/**
 * Reads every `*.yaml` under `dir` (`README.md` beside them says what they hold). Throws a `RuleFileError` for the first file that
 * cannot be used: half a policy is none.
 */
export function loadRiskRules(dir: string): RuleSet {
  const all = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => name.split(sep).join('/'))
  // A rule file that is passed over for its name would be half a policy that nobody hears of.
  const passedOver = all.find((name) => /\.ya?ml$/i.test(name) && !name.endsWith('.yaml'))
  if (passedOver !== undefined)
    throw new RuleFileError(passedOver, null, null, 'is not read: its name must end in .yaml')
  const names = all.filter((name) => name.endsWith('.yaml')).sort()
  if (names.length === 0) throw new RuleFileError(dir, null, null, 'holds no rule file')
  const texts = new Map<string, string>()
  const files: RuleFile[] = names.map((name) => {
    const text = readFileSync(join(dir, name), 'utf8')
    texts.set(name, text)
    return { name, data: readYaml(name, text) }
  })
  try {
    const rules = compileRules(files)
    const missing = missingFields(files.map(({ data }) => data))
    if (missing.length > 0) throw new RuleFileError(dir, null, missing.join(', '), 'not in any file of this folder')
    return rules
  } catch (error) {
    if (!(error instanceof RuleDataError)) throw error
    const field = error.path.join('.') || null
    throw new RuleFileError(error.file, lineOf(texts.get(error.file) ?? '', error.path), field, plainWords(error.what))
  }
}
