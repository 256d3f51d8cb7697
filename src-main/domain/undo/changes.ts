import { segmentsOf } from '../policy/segments'
import { duplicates, toNull } from '../risk/classify'
import { harmlessAssignment } from '../risk/match'
import { sedOnlyPrints } from '../risk/sed'
import { findInvisible, parseShell, quoteAll, type Redirection, readWords, type SimpleCommand } from '../shell'
import type { FileProgram, StateProgram, UndoRules } from './rules'

/** What of a path has to be kept, from little to much. `place`: only that it was there, since it comes back whole. */
export const NEEDS = ['place', 'times', 'attributes', 'content'] as const
export type Need = (typeof NEEDS)[number]

/** One thing a command is known to change. Paths are absolute where the folder it runs in is known. */
export type Change =
  | {
      readonly kind: 'file'
      readonly path: string
      readonly need: Need
      /** A link at the end of the path is followed. */
      readonly follows: boolean
      /** A folder would be taken with everything in it. */
      readonly recursive: boolean
      readonly sudo: boolean
    }
  | {
      readonly kind: 'copy' | 'move'
      readonly sources: readonly string[]
      readonly target: string
      /** Whether the target is a folder to go into; null: if it is one. */
      readonly inside: boolean | null
      readonly follows: boolean
      readonly recursive: boolean
      /** What is made may be a link. */
      readonly links: boolean
      readonly sudo: boolean
    }
  | { readonly kind: 'folder'; readonly path: string; readonly parents: boolean; readonly sudo: boolean }
  | {
      readonly kind: 'state'
      readonly program: StateProgram
      /** As typed. */
      readonly word: string
      readonly carried: readonly string[]
      readonly name: string
      readonly aspects: readonly string[]
      /** The verb ends in the state it began with. */
      readonly again: boolean
      readonly sudo: boolean
    }
  | {
      readonly kind: 'rename'
      readonly program: StateProgram
      readonly word: string
      readonly from: string
      readonly to: string
      readonly sudo: boolean
    }

export interface Understood {
  readonly changes: readonly Change[]
  /** Something in the command may change more, and nobody knows what. */
  readonly partly: boolean
}

export interface Understanding {
  readonly rules: UndoRules
  /** The folder the command runs in; null where only the place knows it. */
  readonly cwd: string | null
  /** Whether a program with these words changes nothing. */
  readonly onlyReads: (argv: readonly string[]) => boolean
}

/** More here-documents than this in one text are not taken apart. */
const MAX_DOCUMENTS = 8

const MAX_CHANGES = 64

/** A path put behind a folder as the system would; `..` is left for the system to walk. */
export function placed(cwd: string | null, path: string): string {
  const clean = path.replace(/^(?:\.\/+)+(?=.)/, '')
  return clean.startsWith('/') || cwd === null ? clean : `${cwd.replace(/\/+$/, '')}/${clean}`
}

/** The last name of a path; null when it has none of its own. */
export function lastName(path: string): string | null {
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return name === '' || name === '.' || name === '..' ? null : name
}

/**
 * What a command is known to change. Only literal words of programs whose use is written down count. Null: nothing of it can be said, as for
 * loops, substitutions, functions, characters nobody sees, or when it goes to a folder that is not known.
 */
export function understand(command: string, given: Understanding): Understood | null {
  const flat = plainCommands(command)
  if (flat === null) return null
  const { text, commands } = flat
  const changes: Change[] = []
  let partly = false
  let { cwd } = given
  for (const [index, simple] of commands.entries()) {
    const argv = wordsOf(simple)
    const name = argv?.[0] ?? simple.words[0]?.shape ?? ''
    if (/^(?:cd|pushd|popd|exec|eval|source|\.|set|shopt|alias|hash|enable|trap|builtin)$/.test(name)) {
      // From here on paths, or the shell itself, would be other ones.
      const next = commands[index + 1]
      const go = index === 0 && argv !== null && simple.redirections.length === 0 ? folderGoneTo(argv, cwd) : null
      if (go === null || next === undefined || !/^[ \t\n]*&&[ \t\n]*$/.test(text.slice(simple.end, next.start)))
        return null
      cwd = go
      continue
    }
    const redirected = changedByRedirections(simple.redirections, cwd)
    if (redirected === null) partly = true
    else changes.push(...redirected)
    if (simple.words.length === 0) continue
    const own = argv === null ? null : ownChanges(argv, { ...given, cwd })
    if (own === null) partly = true
    else changes.push(...own)
    if (changes.length > MAX_CHANGES) return null
  }
  return { changes, partly }
}

/** The folder a `cd` leads to, when it can lead nowhere else. */
function folderGoneTo(argv: readonly string[], cwd: string | null): string | null {
  const [name, folder, ...more] = argv
  if (name !== 'cd' || folder === undefined || more.length > 0) return null
  // Anything else may be looked for along CDPATH, or mean the folder before.
  if (!/^(?:\/|\.\.?(?:\/|$))/.test(folder)) return null
  const to = placed(cwd, folder)
  return to.startsWith('/') ? to : null
}

interface Flat {
  /** Without its here-documents; places of the commands are of this text. */
  readonly text: string
  readonly commands: readonly SimpleCommand[]
}

/** The simple commands of a text that is nothing but these, with redirections and here-documents; null for anything else. */
function plainCommands(command: string): Flat | null {
  if (command.includes('\0') || command.includes("$'") || /\p{Surrogate}/u.test(command)) return null
  if (findInvisible(command) !== null) return null
  let text = command
  for (let round = 0; round <= MAX_DOCUMENTS; round++) {
    const { commands, plain, findings, functions, tooLarge, tooDeep } = parseShell(text)
    if (tooLarge || tooDeep) return null
    const documents = commands.flatMap(({ redirections }) => redirections).filter(({ operator }) => operator === '<<')
    const [document] = documents
    if (document === undefined) {
      const understood = plain && findings.length === 0 && functions.length === 0 && commands.length > 0
      const still = commands.every(
        ({ place }) => !place.background && place.enclosures.length === 0 && place.functionName === null,
      )
      return understood && still ? { text, commands } : null
    }
    // What follows a document on lines of its own is only read well without it.
    const without = withoutDocument(text, document)
    if (without === null) return null
    text = without
  }
  return null
}

/** The text without a here-document, which is only read and not run; null when it cannot be cut out cleanly. */
function withoutDocument(text: string, document: Redirection): string | null {
  const { start, end, body, fdVariable } = document
  const [, quote = '', word] = /^\d*<<[ \t]*(['"]?)([A-Za-z0-9_.-]+)\1$/.exec(text.slice(start, end)) ?? []
  if (word === undefined || body === null || fdVariable !== null) return null
  // Without quotes around its word, substitutions in it are run.
  if (quote === '' && /[`$\\]/.test(body)) return null
  const from = text.indexOf('\n', end) + 1
  if (from === 0 || !text.startsWith(body, from)) return null
  const closing = from + body.length
  const after = text.indexOf('\n', closing)
  if (text.slice(closing, after < 0 ? text.length : after) !== word) return null
  return `${text.slice(0, start)}${text.slice(end, from)}${after < 0 ? '' : text.slice(after + 1)}`
}

/** The literal words of a command with harmless variables before them; null when one is only known when it runs. */
function wordsOf({ words, assignments }: SimpleCommand): readonly string[] | null {
  for (const { name, value, special } of assignments) {
    const text = value === null ? '' : value.value
    if (special || text === null || !harmlessAssignment(name, text)) return null
  }
  const argv: string[] = []
  for (const { value } of words) {
    if (value === null) return null
    argv.push(value)
  }
  return argv
}

/** Files that the shell itself writes to; null when one of them cannot be named. The shell has the user's own rights, whatever `sudo` says. */
function changedByRedirections(redirections: readonly Redirection[], cwd: string | null): readonly Change[] | null {
  const changes: Change[] = []
  for (const redirection of redirections) {
    if (duplicates(redirection) || toNull(redirection)) continue
    const { operator, fdVariable, target } = redirection
    if (/^(?:<|<<|<<-|<<<)$/.test(operator) && fdVariable === null) continue
    const path = target?.value ?? null
    if (fdVariable !== null || path === null || path === '' || !/^(?:>>?|>\||&>>?|>&)$/.test(operator)) return null
    // The shell makes connections of these.
    if (/^\/dev\/(?:tcp|udp)\//.test(path)) return null
    changes.push(file(placed(cwd, path), { follows: true }))
  }
  return changes
}

const file = (path: string, more: Partial<Extract<Change, { kind: 'file' }>> = {}): Change => ({
  kind: 'file',
  path,
  need: 'content',
  follows: false,
  recursive: false,
  sudo: false,
  ...more,
})

const SYSTEM_FOLDER = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/

function ownChanges(argv: readonly string[], { rules, cwd, onlyReads }: Understanding): readonly Change[] | null {
  // Taken apart once more without its redirections, so that `sudo` comes off as it does for the allowlist.
  const [segment] = segmentsOf(quoteAll(argv)) ?? []
  if (segment === undefined) return onlyReads(argv) ? [] : null
  if (segment.wrappers.some((wrapper) => !/^(?:\/(?:usr\/)?bin\/)?sudo$/.test(wrapper))) return null
  const [word = '', ...words] = segment.argv
  const name = word.includes('/') ? (SYSTEM_FOLDER.exec(word)?.[1] ?? '') : word
  const sudo = segment.viaSudo
  const program = rules.files.get(name)
  if (program !== undefined) {
    const changed = changedFiles(program, words, cwd, sudo)
    // A use that is not written down may still be a read (`sed -n p x`).
    return changed ?? (onlyReads(argv) ? [] : null)
  }
  const state = rules.states.get(name)
  if (state !== undefined) return changedStates(state, word, words, sudo) ?? (onlyReads(argv) ? [] : null)
  return onlyReads(argv) ? [] : null
}

const setOf = (text: string | undefined): ReadonlySet<string> => new Set(text === undefined ? [] : text.split(' '))

/** Options that take a value only where it is glued are in no rule here. */
const sorted = (words: readonly string[], flags: ReadonlySet<string>, values: ReadonlySet<string>) =>
  readWords(words, { flags, values, optional: new Set() })

function changedFiles(
  program: FileProgram,
  words: readonly string[],
  cwd: string | null,
  sudo: boolean,
): readonly Change[] | null {
  let ending: string | null = null
  let rest = words
  if (program.sed === true) {
    const edits = inPlace(words)
    if (edits === null) return null
    ;({ ending, rest } = edits)
  }
  const [recursive, exact, parents] = [setOf(program.recursive), setOf(program.exact), setOf(program.parents)]
  const flags = new Set([...setOf(program.flags), ...recursive, ...exact, ...parents])
  const given = sorted(rest, flags, setOf(program.values))
  if (given === null) return null
  const has = (names: ReadonlySet<string>): boolean => given.options.some(({ name }) => names.has(name))
  let { operands } = given
  if (program.sed === true) {
    const scripts = given.options.filter(({ value }) => value !== null).map(({ value }) => value as string)
    if (scripts.length === 0) {
      const [first, ...others] = operands
      if (first === undefined) return null
      scripts.push(first)
      operands = others
    }
    if (!scripts.every(sedOnlyPrints)) return null
  }
  operands = operands.slice(program.first ?? 0)
  if (operands.length === 0 || operands.some((operand) => operand === '' || operand === '-')) return null
  const at = (path: string): string => placed(cwd, path)
  const follows = program.follows === true
  switch (program.changes) {
    case 'each': {
      const more = { need: program.keeps ?? 'content', follows, recursive: has(recursive), sudo }
      return operands.flatMap((path) => [
        file(at(path), more),
        ...(ending === null ? [] : [file(at(path) + ending, { ...more, follows: false })]),
      ])
    }
    case 'folders':
      return operands.map((path) => ({ kind: 'folder', path: at(path), parents: has(parents), sudo }))
    case 'copy':
    case 'move': {
      const target = operands.at(-1) as string
      const sources = operands.slice(0, -1)
      // With a single one the target is named by nobody.
      if (sources.length === 0) return null
      const inside = has(exact) ? false : sources.length > 1 || target.endsWith('/') ? true : null
      if (inside !== false && sources.some((source) => lastName(source) === null)) return null
      return [
        {
          kind: program.changes,
          sources: sources.map(at),
          target: at(target),
          inside,
          follows,
          recursive: has(recursive),
          links: program.links === true,
          sudo,
        },
      ]
    }
  }
}

/** The words of a sed that edits in place, without its `-i`, and the ending for copies; null when it does not, or keeps them elsewhere. */
function inPlace(
  words: readonly string[],
): { readonly ending: string | null; readonly rest: readonly string[] } | null {
  const rest: string[] = []
  let found = false
  let ending = ''
  for (const [index, word] of words.entries()) {
    if (word === '--') {
      rest.push(...words.slice(index))
      break
    }
    // In a cluster everything behind the `i` is the ending.
    const match = /^--in-place(?:=(.*))?$/s.exec(word) ?? /^-[nrEsuz]*i(.*)$/s.exec(word)
    if (match === null) rest.push(word)
    else {
      found = true
      ending = match[1] ?? ''
      const before = /^-([nrEsuz]+)i/.exec(word)?.[1]
      if (before !== undefined) rest.push(`-${before}`)
    }
  }
  if (!found || /[*/]/.test(ending)) return null
  return { ending: ending === '' ? null : ending, rest }
}

/** Names that the program would take for a pattern or an option are not known. */
const STATE_NAME = /^[A-Za-z0-9_@:][A-Za-z0-9_@:.\\-]*$/

function changedStates(
  program: StateProgram,
  word: string,
  words: readonly string[],
  sudo: boolean,
): readonly Change[] | null {
  const carriedNames = setOf(program.carried)
  const adds = program.adds ?? {}
  const flags = new Set([...setOf(program.flags), ...carriedNames, ...Object.keys(adds)])
  const given = sorted(words, flags, setOf(program.values))
  if (given === null) return null
  const [verb = '', ...names] = given.operands
  if (names.length === 0 || !names.every((name) => STATE_NAME.test(name))) return null
  if (program.rename?.verb === verb) {
    const [from = '', to = ''] = names
    return names.length === 2 && given.options.length === 0 ? [{ kind: 'rename', program, word, from, to, sudo }] : null
  }
  if (!Object.hasOwn(program.verbs, verb)) return null
  const used = given.options.map(({ name }) => name)
  const changed = new Set([...(program.verbs[verb] ?? []), ...used.flatMap((name) => adds[name] ?? [])])
  return names.map((name) => ({
    kind: 'state',
    program,
    word,
    carried: used.filter((option) => carriedNames.has(option)),
    name,
    aspects: Object.keys(program.aspects).filter((aspect) => changed.has(aspect)),
    again: program.again?.includes(verb) === true,
    sudo,
  }))
}
