import type { Word } from '../shell'
import { awkAssignmentProblem, awkProblem } from './awk'
import { jqProblem, yqProblem } from './jq'
import { resolve, secretOf, type Where } from './paths'
import type { RuleSet, ScriptKind } from './rules'
import { sedOnlyPrints } from './sed'
import { type SqlDialect, sqlProblem } from './sql'

/** What a script is judged with: the program's name, the options that were met and their values, and the operands in order. */
export interface ScriptUse {
  readonly program: string
  readonly seen: ReadonlySet<string>
  readonly given: readonly (readonly [option: string, value: Word])[]
  readonly operands: readonly Word[]
  readonly where: Where
  readonly rules: RuleSet
}

const HOLDS_SECRETS = 'This file may hold keys or passwords.'
const UNKNOWN = 'The script is only known when the command runs.'

/** Why a script in one of the mini-languages is more than a read, in one sentence; null when it only reads. */
export function scriptProblem(kind: ScriptKind, use: ScriptUse): string | null {
  switch (kind) {
    case 'sed':
      return sedScripts(use) ? null : 'This sed script may do more than print.'
    case 'awk':
      return awkScript(use)
    case 'jq':
      return use.program === 'yq' ? yqScript(use) : first(use, jqProblem)
    case 'sql':
      return statements(use)
  }
}

function first({ operands }: ScriptUse, judge: (text: string) => string | null): string | null {
  const text = operands[0]?.value ?? null
  return text === null ? UNKNOWN : judge(text)
}

/** With `-e` every script is an option's value, otherwise the first operand is the script. */
function sedScripts({ given, operands }: ScriptUse): boolean {
  const scripts = given.filter(([option]) => option === '-e' || option === '--expression')
  if (scripts.length === 0) return sedOnlyPrints(operands[0]?.value ?? 'w')
  return scripts.every(([, { value }]) => sedOnlyPrints(value ?? 'w'))
}

function awkScript(use: ScriptUse): string | null {
  const problem = first(use, awkProblem)
  if (problem !== null) return problem
  for (const [option, { value }] of use.given)
    if (option === '-v' || option === '--assign') {
      const bad = value === null ? UNKNOWN : awkAssignmentProblem(value)
      if (bad !== null) return bad
    }
  for (const { shape } of use.operands.slice(1)) {
    // gawk opens these as connections, wherever it meets them.
    if (/^\/inet[46]?(?:\/|$)/.test(shape)) return 'This awk opens a connection to another machine.'
    if (!/^[A-Za-z_][\w:]*=/.test(shape)) continue
    const bad = awkAssignmentProblem(shape)
    if (bad !== null) return bad
  }
  return null
}

/** One program of this name takes an existing file for its first operand, the other an expression: it has to be fine as both. */
function yqScript({ operands, where, rules }: ScriptUse): string | null {
  const rest = /^(?:eval|e|eval-all|ea)$/.test(operands[0]?.value ?? '') ? operands.slice(1) : operands
  const word = rest[0]
  // Only its version or a page of help.
  if (word === undefined) return operands.length === 0 ? null : UNKNOWN
  if (word.value === null) return UNKNOWN
  const place = { shape: word.value, dynamic: [] }
  if (secretOf(rules, where, place)) return HOLDS_SECRETS
  if (rules.networkFolders.some((folder) => folder.test(resolve(where, word.shape))))
    return 'Looks into a folder that is fetched from another machine for it.'
  const problem = yqProblem(word.value)
  const file = rest.length === 1 && /^[\w./-]+\.(?:ya?ml|json|xml|toml|properties|csv|tsv)$/.test(word.value)
  return problem === null || file ? null : problem
}

/**
 * Even with `-readonly` the files of a journal appear beside a database and stay; without `mode=ro` it is made where it is missing.
 */
const IMMUTABLE = /^file:(?:\/(?:\/\/)?)?[^/?%#&][^?%#&]{0,400}\?(?:mode=ro&immutable=1|immutable=1&mode=ro)$/

/** The statements of a database client, from every place they may stand in. */
function statements(use: ScriptUse): string | null {
  const { program, given, operands, where, rules } = use
  const dialect: SqlDialect = program === 'psql' ? 'postgres' : program === 'sqlite3' ? 'sqlite' : 'mysql'
  const texts: (string | null)[] = []
  for (const [option, { value }] of given)
    if (/^(?:-c|--command|-e|--execute|-cmd|--cmd)$/.test(option)) texts.push(value)
  if (dialect === 'sqlite') {
    for (const { value } of operands.slice(1)) texts.push(value)
    const file = operands[0]?.value ?? ''
    // Its version or a page of help.
    if (operands.length === 0) return null
    if (file !== ':memory:' && !IMMUTABLE.test(file))
      return 'Opening a SQLite file can leave files beside it; as file:NAME?mode=ro&immutable=1 it is merely read.'
    const path = /^file:([^?]+)/.exec(file)?.[1]
    if (path !== undefined) {
      const place = resolve(where, path.replace(/^\/{3}/, '/'))
      if (secretOf(rules, where, { shape: place, dynamic: [] })) return HOLDS_SECRETS
      if (/^\/(?:dev|proc|sys)\//.test(place) || rules.networkFolders.some((folder) => folder.test(place)))
        return 'This is no plain file of this machine.'
    }
  }
  for (const text of texts) {
    const problem = text === null ? UNKNOWN : sqlProblem(dialect, text)
    if (problem !== null) return problem
  }
  return null
}
