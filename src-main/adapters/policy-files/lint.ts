import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { load, YAMLException } from 'js-yaml'
import { type Document, LineCounter, parseDocument } from 'yaml'
import { classify, compileRules, RuleDataError, RuleFileSchema, type RuleSet } from '../../domain/risk'
import { assentFileExamples, assentFileFaults } from './assent'
import { execExamples, execFaults } from './exec'
import { missingFields } from './load'
import { nestedRepetition } from './patterns'
import { previewExamples, previewFileFaults } from './preview'
import { undoExamples, undoFaults } from './undo'
import { plainWords } from './words'

/** One thing that is wrong with a file: where, what, and what to do about it. `line` counts from 1. */
export interface LintFault {
  readonly file: string
  readonly line: number | null
  readonly field: string | null
  readonly what: string
  readonly remedy: string
}

export interface LintReport {
  readonly folder: string
  readonly files: number
  readonly programs: number
  readonly rules: number
  readonly examples: number
  readonly faults: readonly LintFault[]
}

type Path = readonly (string | number)[]
type Json = { [key: string]: unknown }

const LISTS = ['programs', 'destructive', 'targets', 'secrets'] as const
type List = (typeof LISTS)[number]

/** One rule file on the way through the checks. `index` of an entry is its place in the file, whatever was put aside before it. */
interface Checked {
  readonly name: string
  readonly document: Document
  readonly lines: LineCounter
  readonly data: Json
  readonly entries: Record<List, { readonly index: number; readonly value: Json }[]>
  /** Faults stand at the top of it, so that nothing can be said about the rest. */
  lost: boolean
}

/** More faults than this are not looked for: the file is another kind of file. */
const MOST = 500

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/is no field here$/, 'Remove it or correct its name; the README beside the rules lists the fields.'],
  [/is not an option$/, 'Write options with their dash, e.g. "-a --all".'],
  [
    /is not a role$/,
    'Use a role of the README (text, number, path, read, local, host, name, plain, print) or /a pattern/.',
  ],
  [/^there is no set named/, 'Define it under "sets" of the same file, or correct the name.'],
  [/has a schema already$/, 'Keep the name in one schema only; put both ways of use there as "forms".'],
  [/is used twice$|is used already/, 'Give each rule an id of its own.'],
  [/is named twice$/, 'Keep it in one place.'],
  [/is not a regular expression/, 'Mend the pattern; mind that a backslash inside double quotes is written twice.'],
  [
    /repeats a repetition/,
    'Let what is repeated begin or end with a character that the repetition inside cannot match, or bound it.',
  ],
  [/^is missing$|needs at least one$/, 'Add it; the README beside the rules says what it holds.'],
  [/^should be|Invalid/, 'Write the kind of value the README names for this field.'],
]

const remedyFor = (what: string): string =>
  REMEDIES.find(([pattern]) => pattern.test(what))?.[1] ?? 'Correct it as the README beside the rules says.'

interface Issue {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
  readonly errors?: readonly (readonly Issue[])[]
}

/** Every issue at its deepest place: of a union, the branch that came furthest. */
function flat(issues: readonly Issue[], prefix: Path = []): { path: Path; what: string }[] {
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))]
    const branches = (issue.errors ?? []).map((branch) => flat(branch, path)).filter((branch) => branch.length > 0)
    if (branches.length > 0) {
      const depth = (branch: { path: Path }[]): number => Math.max(...branch.map((one) => one.path.length))
      return branches.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best))
    }
    if (issue.keys !== undefined)
      return issue.keys.map((key) => ({ path: [...path, key], what: `"${key}" is no field here` }))
    return [{ path, what: plainWords(issue.message) }]
  })
}

const plainObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks everything under a folder of policies (or a folder of rule files alone). Throws only when the folder cannot be read. */
export function lintPolicies(folder: string): LintReport {
  const faults: LintFault[] = []
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()
  const prefix = all.some((name) => name.startsWith('risk/')) ? 'risk/' : ''
  const checked: Checked[] = []
  const others: { name: string; data: unknown; document: Document; lines: LineCounter }[] = []
  const add = (
    file: string,
    line: number | null,
    field: string | null,
    what: string,
    remedy = remedyFor(what),
  ): void => {
    if (faults.length < MOST) faults.push({ file, line, field, what, remedy })
  }
  let files = 0
  for (const name of all) {
    const text = readFileSync(join(folder, name), 'utf8')
    const isRule = name.startsWith(prefix) && name.endsWith('.yaml')
    if (!/\.(?:ya?ml|json|md)$/i.test(name) || (name.startsWith(prefix) && !isRule && !name.endsWith('.md'))) {
      if (name.startsWith(prefix))
        add(name, null, null, 'is not read, as its name does not end in .yaml', 'Rename it, or move it away.')
      continue
    }
    if (name.endsWith('README.md')) continue
    files += 1
    if (text.trim() === '') add(name, null, null, 'is empty', 'Fill it, or remove it.')
    else if (isRule) {
      const file = readRules(name, text, add)
      if (file !== null) checked.push(file)
    } else if (/\.ya?ml$/i.test(name)) {
      const { document, lines, ok } = syntax(name, text, add)
      if (ok) others.push({ name, data: document.toJS(), document, lines })
    } else if (/\.json$/i.test(name)) {
      try {
        // JSON is YAML as well, which knows its lines.
        const lines = new LineCounter()
        others.push({ name, data: JSON.parse(text), document: parseDocument(text, { lineCounter: lines }), lines })
      } catch (error) {
        const what = error instanceof Error ? error.message : String(error)
        const at = /line (\d+)/.exec(what)?.[1]
        add(name, at === undefined ? null : Number(at), null, what, 'Mend the JSON there.')
      }
    }
  }
  const rulesFiles = all.filter((name) => name.startsWith(prefix) && name.endsWith('.yaml')).length
  if (rulesFiles === 0)
    add(prefix === '' ? folder : prefix, null, null, 'holds no rule file', 'Name the folder of policies.')

  duplicateIds(checked, add)
  for (const file of checked) {
    patterns(file, add)
    sentences(file, add)
  }
  const rules = compiled(checked, add)
  const counts = { programs: 0, rules: 0, examples: 0 }
  for (const { entries } of checked) {
    counts.programs += entries.programs.reduce((sum, { value }) => sum + wordsOf(value.names).length, 0)
    counts.rules += entries.destructive.length + entries.targets.length + entries.secrets.length
  }
  // Where a whole file is missing, its absence would be told again by the examples of the others.
  const complete = checked.length === rulesFiles && checked.every(({ lost }) => !lost)
  // A folder of a few rules alone is no policy, and nobody starts with it.
  if (prefix !== '' && rulesFiles > 0 && complete) {
    const missing = missingFields(checked.map(({ data }) => data))
    if (missing.length > 0)
      add(prefix, null, missing.join(', '), 'not in any file of this folder', 'Bring back the file that held it.')
  }
  counts.examples = examples(checked, complete ? rules : null, add)
  for (const other of others) {
    const found =
      assentFileFaults(other.name, other.data) ??
      undoFaults(other.name, other.data) ??
      previewFileFaults(other.name, other.data, complete ? rules : null) ??
      execFaults(other.name, other.data, complete ? rules : null) ??
      []
    for (const { path, what } of found)
      add(
        other.name,
        lineAt(other, path),
        fieldOf(path),
        what,
        'Correct it; the comment at the top and the README say how.',
      )
    counts.examples +=
      undoExamples(other.name, other.data) +
      execExamples(other.data) +
      assentFileExamples(other.name, other.data) +
      previewExamples(other.name, other.data)
  }
  faults.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : (a.line ?? 0) - (b.line ?? 0)))
  return { folder, files, ...counts, faults }
}

type Add = (file: string, line: number | null, field: string | null, what: string, remedy?: string) => void

const wordsOf = (value: unknown): string[] =>
  (typeof value === 'string' ? value.split(/\s+/) : Array.isArray(value) ? value.map(String) : []).filter(
    (word) => word !== '',
  )

const fieldOf = (path: Path): string | null => path.join('.') || null

function lineAt({ document, lines }: Pick<Checked, 'document' | 'lines'>, path: Path): number | null {
  // An unknown key stands at its own line, which is that of what belongs to it.
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range))
      return lines.linePos(node.range[0] as number).line
  }
  return null
}

/** Parses YAML and tells all faults of its syntax. */
function syntax(name: string, text: string, add: Add): { document: Document; lines: LineCounter; ok: boolean } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  for (const error of [...document.errors, ...document.warnings]) {
    const what = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'is not YAML'
    add(name, lines.linePos(error.pos[0]).line, null, what, 'Mend the YAML there.')
  }
  return { document, lines, ok: document.errors.length === 0 }
}

function readRules(name: string, text: string, add: Add): Checked | null {
  const { document, lines, ok } = syntax(name, text, add)
  if (!ok) return null
  let data: unknown
  try {
    data = load(text)
  } catch (error) {
    if (error instanceof YAMLException)
      add(name, (error.mark?.line ?? 0) + 1, null, error.reason, 'Mend the YAML there.')
    else add(name, null, null, error instanceof Error ? error.message : String(error), 'Mend the YAML.')
    return null
  }
  if (!plainObject(data)) {
    add(name, 1, null, 'is not a table of fields', 'Begin it with "programs:" or another field of the README.')
    return null
  }
  const file: Checked = {
    name,
    document,
    lines,
    data: structuredClone(data),
    entries: { programs: [], destructive: [], targets: [], secrets: [] },
    lost: false,
  }
  const parsed = RuleFileSchema.safeParse(data)
  const issues = parsed.success ? [] : flat(parsed.error.issues as readonly Issue[])
  for (const { path, what } of issues) add(name, lineAt(file, path), fieldOf(path), what)
  for (const list of LISTS) {
    const values = Array.isArray(data[list]) ? (data[list] as unknown[]) : []
    values.forEach((value, index) => {
      // What is not of the right form is told above and put aside for the checks that follow.
      const broken = issues.some(({ path }) => path[0] === list && path[1] === index)
      if (!broken && plainObject(value)) file.entries[list].push({ index, value: structuredClone(value) })
    })
  }
  for (const { path } of issues) {
    const [top] = path
    if (LISTS.includes(top as List) && typeof path[1] === 'number') continue
    if (typeof top === 'string') delete file.data[top]
    file.lost = true
  }
  return file
}

function duplicateIds(files: readonly Checked[], add: Add): void {
  const seen = new Map<string, string>()
  for (const file of files)
    for (const list of ['destructive', 'targets', 'secrets'] as const)
      file.entries[list] = file.entries[list].filter(({ index, value }) => {
        const id = String(value.id)
        const path = [list, index, 'id']
        const first = seen.get(id)
        if (first === undefined) {
          seen.set(id, `${file.name}:${lineAt(file, path) ?? '?'}`)
          return true
        }
        add(file.name, lineAt(file, path), fieldOf(path), `${id} is used already at ${first}`)
        return false
      })
}

/** Every pattern of a file with its place. */
function* patternsOf(value: unknown, path: Path): Generator<{ path: Path; source: string }> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) yield* patternsOf(one, [...path, index])
    return
  }
  if (!plainObject(value)) return
  for (const [key, one] of Object.entries(value)) {
    const here = [...path, key]
    if (key === 'operands' && path[0] === 'programs') {
      for (const word of wordsOf(one)) {
        const role = word.replace(/\.\.\.$/, '')
        if (role.length > 2 && role.startsWith('/') && role.endsWith('/'))
          yield { path: here, source: role.slice(1, -1) }
      }
    } else if (key === 'match' || key === 'values') {
      if (plainObject(one))
        for (const [option, source] of Object.entries(one))
          if (typeof source === 'string') yield { path: [...here, option], source }
    } else if (typeof one === 'string' && /^(?:pattern|unless|text|operands)$/.test(key) && path[0] !== 'programs') {
      // `unless` of a destructive rule lists options.
      if (key !== 'unless' || path[0] !== 'destructive') yield { path: here, source: one }
    } else yield* patternsOf(one, here)
  }
}

function patterns(file: Checked, add: Add): void {
  const found = [...LISTS].flatMap((list) =>
    file.entries[list].flatMap(({ index, value }) => [...patternsOf(value, [list, index])]),
  )
  for (const [set, table] of Object.entries((file.data.sets as Json | undefined) ?? {}))
    found.push(...patternsOf(table, ['sets', set]))
  for (const key of ['secret_folders', 'open_folders', 'network_folders', 'consumed'])
    for (const [index, source] of ((file.data[key] as unknown[] | undefined) ?? []).entries())
      if (typeof source === 'string') found.push({ path: [key, index], source })
  for (const { path, source } of found) {
    let group: string | null
    try {
      new RegExp(source)
      group = nestedRepetition(source)
    } catch {
      // Told by the schema, or by compiling.
      continue
    }
    if (group !== null)
      add(
        file.name,
        lineAt(file, path),
        fieldOf(path),
        `the pattern repeats a repetition, which can take for ever: ${group}`,
      )
  }
}

/** What a person reads on a card. */
function sentences(file: Checked, add: Add): void {
  for (const list of ['destructive', 'targets', 'secrets'] as const)
    for (const { index, value } of file.entries[list])
      if (!/^[A-Z][^_]*\.$/.test(String(value.sentence)))
        add(
          file.name,
          lineAt(file, [list, index, 'sentence']),
          fieldOf([list, index, 'sentence']),
          'is not a sentence for people',
          'Begin it with a capital letter, end it with a full stop, and name no rule.',
        )
}

/** Compiles again and again, putting aside each time what was found wrong, until nothing more is found. */
function compiled(files: readonly Checked[], add: Add): RuleSet | null {
  for (let round = 0; round < MOST; round++) {
    const data = files.map((file) => {
      const lists = Object.fromEntries(
        LISTS.filter((list) => file.data[list] !== undefined).map((list) => [
          list,
          file.entries[list].map(({ value }) => value),
        ]),
      )
      return { name: file.name, data: { ...file.data, ...lists } }
    })
    try {
      const rules = compileRules(data)
      for (const program of new Set(rules.programs.values())) void program.forms
      return rules
    } catch (error) {
      if (!(error instanceof RuleDataError)) {
        const what = error instanceof Error ? error.message : String(error)
        add(files[0]?.name ?? '', null, null, `the rules cannot be put together: ${what}`)
        return null
      }
      const file = files.find(({ name }) => name === error.file)
      if (file === undefined) return null
      const [list, at] = error.path
      const entries = LISTS.includes(list as List) ? file.entries[list as List] : undefined
      const entry = entries !== undefined && typeof at === 'number' ? entries[at] : undefined
      const path = entry === undefined ? error.path : [list as string, entry.index, ...error.path.slice(2)]
      add(file.name, lineAt(file, path), fieldOf(path), error.what)
      const put =
        entry !== undefined && putAside(entry.value, error.path.slice(2), error.what)
          ? true
          : entry === undefined && putAside(file.data, error.path, error.what)
      if (!put) {
        if (entry === undefined || entries === undefined) return null
        entries.splice(entries.indexOf(entry), 1)
      }
    }
  }
  return null
}

/** Takes the word that is complained about, else the whole field, out of the data. False when there is nothing to take. */
function putAside(root: Json, path: Path, what: string): boolean {
  const last = path.at(-1)
  if (last === undefined) return false
  let node: unknown = root
  for (const step of path.slice(0, -1)) node = (node as Record<string | number, unknown> | undefined)?.[step]
  if (typeof node !== 'object' || node === null || !(last in node)) return false
  const holder = node as Record<string | number, unknown>
  const said = new Set(what.split(' '))
  const words = wordsOf(holder[last])
  const left = words.filter((word) => !said.has(word) && !said.has(word.replace(/\.\.\.$/, '')))
  if (left.length > 0 && left.length < words.length) holder[last] = left
  else if (last === 'names') return false
  else delete holder[last]
  return true
}

const SHOWN = { programs: ['read_only', 'not_read_only'] } as const
const CONDEMNED = ['destructive', 'not_destructive'] as const

/** Runs every example; returns how many there are. Without rules they are counted only. */
function examples(files: readonly Checked[], rules: RuleSet | null, add: Add): number {
  let count = 0
  for (const file of files)
    for (const list of LISTS)
      for (const { index, value } of file.entries[list]) {
        const keys = list === 'programs' ? SHOWN.programs : CONDEMNED
        const rule = list === 'programs' ? (wordsOf(value.names)[0] ?? '') : String(value.id)
        let own = 0
        for (const key of keys)
          for (const [at, command] of ((value[key] as unknown[] | undefined) ?? []).entries()) {
            own += 1
            if (rules === null || typeof command !== 'string') continue
            const fault = exampleFault(command, key, rule, rules)
            const path = [list, index, key, at]
            if (fault !== null)
              add(
                file.name,
                lineAt(file, path),
                fieldOf(path),
                fault,
                'Correct the rule, or move the example to the other list if the rule is right.',
              )
          }
        count += own
        if (own === 0)
          add(
            file.name,
            lineAt(file, [list, index]),
            fieldOf([list, index]),
            `${rule} has no example, so nobody knows whether it works`,
            'Add a command to read_only and one to not_read_only.',
          )
      }
  return count
}

type Expected = 'read_only' | 'not_read_only' | 'destructive' | 'not_destructive'

/** Why an example does not hold, or null. */
function exampleFault(command: string, expected: Expected, rule: string, rules: RuleSet): string | null {
  for (const posture of ['default', 'every-segment'] as const) {
    const verdict = classify(command, { rules, posture, cwd: '/srv/app', homeFolder: '/home/ann' })
    const first = verdict.reasons[0]
    const because = first === undefined ? '' : `: ${first.sentence} [${first.rule}]`
    const byRule = verdict.reasons.some((reason) => reason.rule === rule)
    const shown = JSON.stringify(command)
    switch (expected) {
      case 'read_only':
        if (verdict.risk !== 'read_only') return `${shown} should be a read and is ${verdict.risk}${because}`
        break
      case 'not_read_only':
        if (posture === 'default' && verdict.risk === 'read_only') return `${shown} should not be a read and is one`
        break
      case 'destructive':
        if (verdict.risk !== 'destructive') return `${shown} should be destructive and is ${verdict.risk}${because}`
        if (!byRule) return `${shown} is destructive, but by another rule than ${rule}${because}`
        break
      case 'not_destructive':
        if (byRule) return `${shown} should not be met by ${rule}, and is`
        break
    }
  }
  return null
}
