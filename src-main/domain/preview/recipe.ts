import {
  asCommand,
  type GivenOption,
  parseShell,
  quoteIfNeeded,
  type ReadWords,
  type Redirection,
  readWords,
} from '../shell'
import { counted, countOf, roomOf, sizeWords } from './count'
import type { CompiledEntry, EntryOf, PreviewRules } from './data'
import { unifiedDifference } from './difference'
import { idOf, MOST_MANIFEST, MOST_OBJECTS, type NamedObject, namedObjects } from './objects'
import { asPath, type Literal, literalCommand, optionWords, withoutSudo } from './words'

/** Characters of a file or an answer that are compared at most. */
export const MOST_COMPARED = 256 * 1024
/** Files that one preview compares at most. */
const MOST_FILES = 8

/** What one read brought. */
export interface Answer {
  /** Redacted, with what came on the error output. */
  readonly text: string
  readonly exitCode: number
  /** False when there was more of it than is kept. */
  readonly whole: boolean
}

/** What a preview shows in the end. */
export interface Shown {
  readonly kind: 'text' | 'diff' | 'count'
  readonly text: string
  readonly note: string | null
}

/** Reads to be run, and what to make of their answers; or what they have come to. */
export type Step =
  | {
      readonly kind: 'read'
      readonly commands: readonly string[]
      /** Exit codes beside 0 that are an answer too. */
      readonly codes: readonly number[]
      then(answers: readonly Answer[]): Step
    }
  | { readonly kind: 'shown'; readonly shown: Shown }
  /** There is nothing to show after all; the sentence says why. */
  | { readonly kind: 'none'; readonly why: string }

/** How a preview of one command is made. Every command in it is one that only reads, or the gate refuses it. */
export interface Recipe {
  readonly label: string
  readonly first: Step
  /** The reads that are known beforehand to be made if all goes well; others have the form of these. */
  readonly reads: readonly string[]
}

const none = (why: string): Step => ({ kind: 'none', why })
const show = (kind: Shown['kind'], text: string, ...notes: readonly (string | null | undefined)[]): Step => {
  const note = notes.filter((one) => one !== null && one !== undefined && one !== '').join(' ')
  return { kind: 'shown', shown: { kind, text, note: note === '' ? null : note } }
}
const read = (commands: readonly string[], then: (answers: readonly Answer[]) => Step, codes: readonly number[] = []) =>
  ({ kind: 'read', commands, codes, then }) satisfies Step

const NOTHING: Answer = { text: '', exitCode: 0, whole: true }

/** The recipe for a command that is literal and understood word for word; null for any other. */
export function recipeOf(command: string, rules: PreviewRules): Recipe | null {
  const document = withDocument(command)
  const text = document?.head ?? command
  const fed = document?.text ?? null
  const literal = literalCommand(text)
  return literal === null ? redirectionRecipe(text, fed, rules) : programRecipe(literal, fed, rules)
}

/** A command whose only other lines are one here-document, apart from it; null where the shell would put something into the text. */
function withDocument(command: string): { readonly head: string; readonly text: string } | null {
  const { commands } = parseShell(command)
  const [simple] = commands
  const documents = simple?.redirections.filter(({ operator }) => operator === '<<') ?? []
  const [document] = documents
  if (simple === undefined || document === undefined || commands.length !== 1 || documents.length !== 1) return null
  const { body, fd, fdVariable } = document
  if (body === null || fd !== null || fdVariable !== null) return null
  const delimiter = /^<<[ \t]*(?:'([^'\n]+)'|"([A-Za-z0-9_]+)"|([A-Za-z0-9_]+))$/.exec(
    command.slice(document.start, document.end),
  )
  if (delimiter === null || (delimiter[3] !== undefined && /[$`\\]/.test(body))) return null
  const end = delimiter[1] ?? delimiter[2] ?? delimiter[3]
  if (command.slice(simple.end).replace(/\n$/, '') !== `\n${body}${end}`) return null
  return { head: command.slice(0, document.start) + command.slice(document.end, simple.end), text: body }
}

/** The first step, and the reads that come after it as far as they are known. */
interface Start {
  readonly first: Step
  readonly later: readonly string[]
}

const recipe = (label: string, { first, later }: Start): Recipe => ({
  label,
  first,
  reads: [...new Set([...(first.kind === 'read' ? first.commands : []), ...later])],
})

function programRecipe(literal: Literal, fed: string | null, rules: PreviewRules): Recipe | null {
  for (const compiled of rules.programs.get(literal.program) ?? []) {
    // Only `tee` has a use for what it is fed, and nothing to show without.
    if ((compiled.entry.form === 'tee') !== (fed !== null)) continue
    const words = understand(literal.words, compiled)
    if (words === null) continue
    const start = startOf(literal, words, fed, compiled)
    if (start !== null) return recipe(compiled.entry.label.replaceAll('{program}', literal.program), start)
  }
  return null
}

/** The words of a command by the names of an entry, without the sub-command; null when the entry does not know one of them. */
function understand(words: readonly string[], compiled: CompiledEntry): ReadWords | null {
  const { entry, names, commands, operand, require, unless } = compiled
  const given = readWords(words, names)
  if (given === null) return null
  let { operands } = given
  if (commands.length > 0) {
    const command = commands.find((path) => path.every((word, at) => operands[at] === word))
    if (command === undefined) return null
    operands = operands.slice(command.length)
  }
  if (operands.length < (entry.min ?? 0) || operands.length > (entry.max ?? 64)) return null
  if (operands.some((word) => word === '' || (operand !== null && !operand.test(word)))) return null
  if (require.size > 0 && !given.options.some(({ name }) => require.has(name))) return null
  if (given.options.some(({ name }) => unless.has(name))) return null
  return { options: given.options, operands }
}

/** Reads of files are made with the rights the command itself has. */
const as = ({ sudo }: Literal, words: readonly string[]): string => asCommand(sudo ? ['sudo', ...words] : words)

function startOf(literal: Literal, words: ReadWords, fed: string | null, compiled: CompiledEntry): Start | null {
  const { entry } = compiled
  switch (entry.form) {
    case 'simulate':
      return simulated(literal, words, compiled, entry)
    case 'instead':
      return instead(literal, words, entry)
    case 'objects':
      return namedByFiles(literal, words, entry)
    case 'count':
      return countedFiles(literal, words, entry)
    case 'edit':
      return edited(literal, words, entry)
    case 'copy':
      return copied(literal, words, entry)
    case 'tee':
      return fed === null ? null : teed(literal, words, entry, fed)
    default:
      entry satisfies never
      return null
  }
}

// ---- text

const answerText = (answers: readonly Answer[], note: string | undefined): Step =>
  show('text', answers.map(({ text }) => text).join('\n'), note)

function simulated(
  literal: Literal,
  { options }: ReadWords,
  compiled: CompiledEntry,
  entry: EntryOf<'simulate'>,
): Start | null {
  // Read again for the order of the words: the sub-command stays among them.
  const operands = readWords(literal.words, compiled.names)?.operands ?? []
  if (operands.some((word) => word.startsWith('-'))) return null
  const dropped = new Set(entry.drop?.split(' ') ?? [])
  const kept = options.filter(({ name }) => !dropped.has(name)).flatMap(optionWords)
  // Root is not needed to be told, so `sudo` is left out.
  const command = asCommand([literal.program, ...entry.add.split(' '), ...kept, ...operands])
  return { first: read([command], (answers) => answerText(answers, entry.note)), later: [] }
}

/**
 * `-n=shop` is `shop` for the programs whose options these are, and `=shop` for others. As nobody can see any more which way it was
 * written, there is no preview.
 */
const readTwoWays = (options: readonly GivenOption[]): boolean =>
  options.some(({ name, value }) => !name.startsWith('--') && value?.startsWith('=') === true)

/** The words of another command with options and operands in their places. */
const wordsOf = (run: string, options: readonly string[], operands: readonly string[]): readonly string[] =>
  run.split(' ').flatMap((word) => (word === '{operands}' ? operands : word === '{options}' ? options : [word]))

function instead(literal: Literal, { options, operands }: ReadWords, entry: EntryOf<'instead'>): Start | null {
  if (operands.some((word) => word.startsWith('-')) || (literal.sudo && entry.sudo === 'never')) return null
  if (readTwoWays(options)) return null
  const pass = new Set(entry.pass?.split(' ') ?? [])
  const passed = options.filter(({ name }) => pass.has(name)).flatMap(optionWords)
  const commandOf = (run: string): string => {
    const words = wordsOf(run, passed, operands)
    return entry.sudo === 'keep' ? as(literal, words) : asCommand(words)
  }
  if (typeof entry.run === 'string')
    return { first: read([commandOf(entry.run)], (answers) => answerText(answers, entry.note)), later: [] }
  const parts = entry.run
  const first = read(
    parts.map(({ run }) => commandOf(run)),
    (answers) => {
      const texts = parts.map(({ head }, index) => `${head}\n${answers[index]?.text.trim() || 'none'}\n`)
      return show('text', texts.join('\n'), entry.note)
    },
  )
  return { first, later: [] }
}

// ---- manifests

/** One plain file. The option takes a list with commas, wildcards of its own, addresses and `-` as well. */
const MANIFEST = /^(?!-)[A-Za-z0-9_./@+-]+\.(?:ya?ml|json)$/

function namedByFiles(literal: Literal, { options }: ReadWords, entry: EntryOf<'objects'>): Start | null {
  const valuesOf = (names: string): readonly string[] => {
    const wanted = new Set(names.split(' '))
    return options.flatMap(({ name, value }) => (wanted.has(name) && value !== null ? [value] : []))
  }
  const files = [...new Set(valuesOf(entry.files))]
  const namespaces = valuesOf(entry.namespace)
  if (files.length === 0 || files.length > MOST_FILES || namespaces.length > 1) return null
  if (!files.every((file) => MANIFEST.test(file)) || readTwoWays(options)) return null
  const pass = new Set(entry.pass?.split(' ') ?? [])
  const passed = options.filter(({ name }) => pass.has(name)).flatMap(optionWords)
  const ask = (run: string, namespace: string | null, ids: readonly string[]): string =>
    as(literal, wordsOf(run, [...passed, ...(namespace === null ? [] : ['-n', namespace])], ids))
  const first = read(
    files.map((file) => catCommand(literal, file)),
    (answers) => {
      const objects: NamedObject[] = []
      let secrets = false
      for (const [index, file] of files.entries()) {
        const { text, whole } = answers[index] ?? NOTHING
        if (!whole || text.length > MOST_MANIFEST)
          return none(
            `${quoteIfNeeded(file)} is larger than ${sizeWords(MOST_MANIFEST)}, which is the most that is read.`,
          )
        secrets ||= text.includes('‹redacted')
        const named = namedObjects(text)
        if (typeof named === 'string') {
          const hidden = text.includes('‹redacted') ? ' Secrets were taken out of it first, which may be why.' : ''
          return none(`What ${quoteIfNeeded(file)} names cannot be told: ${named}${hidden}`)
        }
        objects.push(...named)
      }
      if (objects.length > MOST_OBJECTS)
        return none(`It names ${objects.length} objects; ${MOST_OBJECTS} are asked for at most.`)
      const groups = new Map<string | null, Set<string>>()
      for (const object of objects) {
        const place = object.namespace ?? namespaces[0] ?? null
        groups.set(place, (groups.get(place) ?? new Set()).add(idOf(object)))
      }
      const hidden = secrets
        ? 'Secrets were taken out of it first, so what stood in their place is not regarded.'
        : null
      return asked(
        [...groups].map(([place, ids]) => ({ place, ids: [...ids] })),
        hidden,
      )
    },
  )
  const asked = (
    groups: readonly { readonly place: string | null; readonly ids: readonly string[] }[],
    hidden: string | null,
  ): Step =>
    read(
      groups.flatMap(({ place, ids }) => [ask(entry.names, place, ids), ask(entry.run, place, ids)]),
      (answers) => {
        const texts: string[] = []
        const missing: string[] = []
        for (const [index, { place, ids }] of groups.entries()) {
          const lines = new Set((answers[2 * index] ?? NOTHING).text.split('\n').map((line) => line.trim()))
          // A name that was not asked for: then nobody knows which of them it stands for.
          const other = [...lines].find((line) => /^[a-z0-9.-]+\/\S+$/.test(line) && !ids.includes(line))
          if (other !== undefined) return none(`The answer names ${other}, which was not asked for.`)
          const where = place === null ? '' : ` in ${place}`
          missing.push(...ids.filter((id) => !lines.has(id)).map((id) => `${id}${where}`))
          const table = (answers[2 * index + 1] ?? NOTHING).text.trim()
          if (ids.some((id) => lines.has(id)))
            texts.push(`${groups.length > 1 && place !== null ? `${place}:\n` : ''}${table}\n`)
        }
        const absent = missing.length === 0 ? 'All that it names is there.' : `Not there: ${missing.join(', ')}.`
        return show('text', texts.join('\n'), absent, hidden, entry.note)
      },
    )
  return {
    first,
    later: [ask(entry.names, namespaces[0] ?? null, ['pod/x']), ask(entry.run, namespaces[0] ?? null, ['pod/x'])],
  }
}

// ---- one file

/** What stands at a path: its own type, the one behind links, and its size. */
type Found = { readonly type: string; readonly behind: string; readonly size: number } | 'missing' | null

/**
 * Asks what stands at a path by looking into its folder: that nothing is there is an answer then, and not a failure like any other, in
 * whatever language the messages are.
 */
function lookCommand(literal: Literal, path: string): string {
  const clean = path.replace(/\/+$/, '')
  const slash = clean.lastIndexOf('/')
  const name = clean.slice(slash + 1)
  const print = ['-printf', '%y %Y %s\\n']
  if (name === '' || name === '.' || name === '..')
    return as(literal, ['find', asPath(clean === '' ? '/' : clean), '-maxdepth', '0', ...print])
  const folder = slash < 0 ? './' : asPath(clean.slice(0, slash + 1))
  const glob = name.replace(/[\\*?[\]]/g, '\\$&')
  return as(literal, ['find', folder, '-mindepth', '1', '-maxdepth', '1', '-name', glob, ...print])
}

function found({ text }: Answer): Found {
  if (text === '') return 'missing'
  const line = /^(\S) (\S) ([0-9]+)\n$/.exec(text)
  return line === null ? null : { type: line[1] ?? '', behind: line[2] ?? '', size: Number(line[3]) }
}

const tooLarge = (path: string): string =>
  `${quoteIfNeeded(path)} is larger than ${sizeWords(MOST_COMPARED)}, which is the most that is compared.`

/** Why a file cannot be compared; null when it can. */
function incomparable(path: string, at: Found): string | null {
  if (at === null) return `What stands at ${quoteIfNeeded(path)} could not be told.`
  if (at === 'missing') return `${quoteIfNeeded(path)} does not exist.`
  if (at.behind !== 'f') return `${quoteIfNeeded(path)} is not a plain file.`
  return at.type === 'f' && at.size > MOST_COMPARED ? tooLarge(path) : null
}

/** Texts against texts. `before` null: the file would be made. */
function difference(
  files: readonly { readonly path: string; readonly before: Answer | null; readonly after: Answer }[],
  notes: readonly (string | null | undefined)[],
): Step {
  const parts: string[] = []
  const said: string[] = []
  let secrets = false
  for (const { path, before, after } of files) {
    for (const answer of [before ?? NOTHING, after]) {
      if (!answer.whole) return none(tooLarge(path))
      if (/[␀\ufffd]/.test(answer.text))
        return none(`${quoteIfNeeded(path)} is not text, so no difference can be shown.`)
      secrets ||= answer.text.includes('‹redacted')
    }
    const text = unifiedDifference(
      before?.text ?? '',
      after.text,
      before === null ? '/dev/null' : quoteIfNeeded(path),
      quoteIfNeeded(path),
    )
    parts.push(text)
    if (before === null) said.push(`${quoteIfNeeded(path)} would be made.`)
    else if (text === '') said.push(`${quoteIfNeeded(path)} would stay as it is.`)
  }
  const hidden = secrets ? 'Secrets are taken out of both sides, so a change within one is not seen.' : null
  return show('diff', parts.join(''), ...said, ...notes, hidden)
}

const catCommand = (literal: Literal, path: string): string => as(literal, ['cat', asPath(path)])

/** Compares a path with what would stand there, where that can be had by reading. */
function replaced(
  literal: Literal,
  path: string,
  after: string | Answer,
  append: boolean,
  codes: readonly number[],
  notes: readonly (string | null | undefined)[],
): Step {
  return read([lookCommand(literal, path)], ([look = NOTHING]) => {
    const at = found(look)
    const why = at === 'missing' ? null : incomparable(path, at)
    if (why !== null) return none(why)
    const compare = (before: Answer | null, written: Answer): Step => {
      const whole = append && before !== null ? { ...written, text: before.text + written.text } : written
      return difference([{ path, before, after: whole }], notes)
    }
    const write = (before: Answer | null): Step =>
      typeof after === 'string'
        ? read([after], ([written = NOTHING]) => compare(before, written), codes)
        : compare(before, after)
    return at === 'missing' ? write(null) : read([catCommand(literal, path)], ([before = NOTHING]) => write(before))
  })
}

function edited(literal: Literal, { options, operands }: ReadWords, entry: EntryOf<'edit'>): Start | null {
  const inPlace = options.filter(({ name }) => name === '-i' || name === '--in-place')
  const isScript = ({ name }: GivenOption): boolean => name === '-e' || name === '--expression'
  const scripts = options.filter(isScript).map(({ value }) => value ?? '')
  const files = scripts.length > 0 ? operands : operands.slice(1)
  if (scripts.length === 0) scripts.push(operands[0] ?? '')
  const wanted = [...new Set(files)]
  if (inPlace.length === 0 || wanted.length === 0 || wanted.length < files.length || wanted.length > MOST_FILES)
    return null
  // Edited in place, what it prints there goes to the terminal and not into the file.
  if (scripts.some((script) => script.includes('/dev/')) || wanted.includes('-')) return null
  const others = options.filter((option) => !inPlace.includes(option) && !isScript(option)).flatMap(optionWords)
  const suffix = inPlace.find(({ value }) => value !== null)?.value ?? null
  const edit = ['sed', ...others, ...scripts.flatMap((script) => ['-e', script])]
  const looks = wanted.map((path) => lookCommand(literal, path))
  const reads = wanted.flatMap((path) => [catCommand(literal, path), as(literal, [...edit, asPath(path)])])
  const first = read(looks, (answers) => {
    const places = answers.map(found)
    for (const [index, path] of wanted.entries()) {
      const why = incomparable(path, places[index] ?? null)
      if (why !== null) return none(why)
    }
    const links = wanted.filter((_, index) => {
      const place = places[index]
      return place !== null && place !== 'missing' && place?.type === 'l'
    })
    return read(reads, (texts) => {
      const pairs = wanted.map((path, index) => ({
        path,
        before: texts[2 * index] ?? NOTHING,
        after: texts[2 * index + 1] ?? NOTHING,
      }))
      return difference(pairs, [
        ...links.map((path) => `${quoteIfNeeded(path)} is a link; a file of its own would take its place.`),
        suffix === null ? null : `What is there now would be kept beside it under the suffix ${quoteIfNeeded(suffix)}.`,
        entry.note,
      ])
    })
  })
  return { first, later: reads }
}

const baseOf = (path: string): string => path.replace(/\/+$/, '').replace(/^.*\//s, '')
const inside = (folder: string, name: string): string => `${folder.replace(/\/+$/, '')}/${name}`

function copied(literal: Literal, { operands }: ReadWords, entry: EntryOf<'copy'>): Start | null {
  const [source, place] = operands
  if (source === undefined || place === undefined || operands.length !== 2) return null
  const base = baseOf(source)
  if (base === '' || base === '.' || base === '..') return null
  const content = catCommand(literal, source)
  const first = read([lookCommand(literal, source), lookCommand(literal, place)], ([from = NOTHING, to = NOTHING]) => {
    const why = incomparable(source, found(from))
    if (why !== null) return none(why)
    const at = found(to)
    if (at === 'missing' && place.endsWith('/')) return none(`The folder ${quoteIfNeeded(place)} does not exist.`)
    const folder = at !== null && at !== 'missing' && at.behind === 'd'
    const path = folder ? inside(place, base) : place
    return replaced(literal, path, content, false, [], [entry.note])
  })
  return { first, later: [content, catCommand(literal, place)] }
}

function teed(literal: Literal, { options, operands }: ReadWords, entry: EntryOf<'tee'>, fed: string): Start | null {
  const [path] = operands
  if (path === undefined || operands.length !== 1 || path === '-') return null
  const append = options.some(({ name }) => name === '-a' || name === '--append')
  const after = { text: fed, exitCode: 0, whole: true }
  return { first: replaced(literal, path, after, append, [], [entry.note]), later: [catCommand(literal, path)] }
}

// ---- redirections

/** Programs that end with 1 to say that nothing was found or that something differs. */
const ANSWERS_WITH_ONE: ReadonlySet<string> = new Set('grep egrep fgrep diff cmp'.split(' '))

const samePath = (a: string, b: string): boolean => {
  const plain = (path: string): string => path.replace(/\/(?:\.?\/)+/g, '/').replace(/^\.\//, '')
  return plain(a) === plain(b)
}

function redirectionRecipe(command: string, fed: string | null, rules: PreviewRules): Recipe | null {
  const { redirection: entry } = rules
  if (entry === null || command.includes("$'") || command.includes('\0')) return null
  const { commands, plain, functions, findings, tooLarge: long, tooDeep } = parseShell(command)
  const [simple] = commands
  if (!plain || long || tooDeep || functions.length > 0 || findings.length > 0) return null
  if (simple === undefined || commands.length !== 1) return null
  const { words, assignments, redirections, place } = simple
  if (assignments.length > 0 || place.background || place.enclosures.length > 0 || place.functionName !== null)
    return null
  if (!/^[ \t\n]*$/.test(command.slice(0, simple.start)) || !/^[ \t\n;]*$/.test(command.slice(simple.end))) return null
  const argv = words.flatMap(({ value }) => (value === null ? [] : [value]))
  const literal = argv.length === words.length ? withoutSudo(argv) : null
  if (literal === null) return null
  const isOut = ({ operator, fd, fdVariable }: Redirection): boolean =>
    /^(?:>|>>|>\|)$/.test(operator) && (fd === null || fd === 1) && fdVariable === null
  const isQuiet = ({ operator, fd, target }: Redirection): boolean =>
    operator === '>' && fd === 2 && target?.value === '/dev/null'
  const [out, ...more] = redirections.filter(isOut)
  const others = redirections.filter((one) => !isOut(one))
  if (more.length > 0 || others.length > 1 || !others.every(isQuiet)) return null
  const target = out?.target?.value ?? ''
  if (target === '' || target.startsWith('/dev/')) return null
  // The shell opens the file with its own rights, before `sudo` has any.
  const opener = { ...literal, sudo: false }
  const written = (after: string | Answer, codes: readonly number[]): Recipe =>
    recipe(entry.label.replaceAll('{program}', literal.program), {
      first: replaced(opener, target, after, out?.operator === '>>', codes, [entry.note]),
      later: [catCommand(opener, target), ...(typeof after === 'string' ? [after] : [])],
    })
  if (fed !== null) {
    const copies = literal.program === 'cat' && !literal.sudo && literal.words.length === 0
    return copies ? written({ text: fed, exitCode: 0, whole: true }, []) : null
  }
  // What it reads of the file that was emptied for it is not what stands there now.
  if (literal.words.some((word) => samePath(word, target))) return null
  const again = asCommand(argv) + (others.length === 1 ? ' 2>/dev/null' : '')
  return literalCommand(asCommand(argv)) === null
    ? null
    : written(again, ANSWERS_WITH_ONE.has(literal.program) ? [1] : [])
}

// ---- counting

function countedFiles(literal: Literal, { options, operands }: ReadWords, entry: EntryOf<'count'>): Start | null {
  const rest = operands.slice(entry.skip ?? 0)
  const place = entry.to === true ? rest.at(-1) : undefined
  const paths = entry.to === true ? rest.slice(0, -1) : rest
  if (paths.length === 0 || (entry.to === true && place === undefined)) return null
  const recursive = new Set(entry.recursive?.split(' ') ?? [])
  const deep = recursive.size === 0 || options.some(({ name }) => recursive.has(name))
  const count = as(literal, countOf(paths, deep))
  const looks = place === undefined ? [] : [lookCommand(literal, place)]
  // 1: some of it could not be looked at. What could be is an answer, and the rest is said.
  const first = read(
    [count, ...looks],
    ([answer = NOTHING, look = NOTHING]) => {
      const at = found(look)
      if (place !== undefined && (look.exitCode !== 0 || at === null))
        return none(`What stands at ${quoteIfNeeded(place)} could not be told.`)
      const present = (more: string | null): Step => {
        if (!answer.whole) {
          return read(
            roomOf(paths).map((words) => as(literal, words)),
            (answers) => {
              const sums = answers.map(({ text }) => text).join('\n')
              return show('count', sums, 'Too many to list: entries, then bytes, of each.', more, entry.note)
            },
            [1],
          )
        }
        const { text, problem } = counted(answer.text, paths, deep)
        return text === null
          ? none(problem ?? 'It could not be counted.')
          : show('count', text, problem, more, entry.note)
      }
      if (place === undefined) return present(null)
      if (at === 'missing') return present(`${quoteIfNeeded(place)} does not exist and would be made.`)
      if (at === null || at.behind !== 'd')
        return present(
          `${quoteIfNeeded(place)} exists${at === null ? '' : ` (${sizeWords(at.size)})`} and would be written over.`,
        )
      return overwritten(literal, paths, place, present)
    },
    [1],
  )
  return { first, later: roomOf(paths).map((words) => as(literal, words)) }
}

/** Which of the names stand in the folder already. */
function overwritten(
  literal: Literal,
  paths: readonly string[],
  place: string,
  present: (more: string | null) => Step,
): Step {
  const names = paths.map(baseOf)
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    return present(`They go into ${quoteIfNeeded(place)}.`)
  const looks = names.map((name) => lookCommand(literal, inside(place, name)))
  return read(looks, (answers) => {
    const there = names.filter((_, index) => found(answers[index] ?? NOTHING) !== 'missing')
    const more =
      there.length === 0
        ? 'Nothing of these names is there yet.'
        : `Already there, and written over or merged: ${there.map(quoteIfNeeded).join(', ')}.`
    return present(`They go into ${quoteIfNeeded(place)}. ${more}`)
  })
}
