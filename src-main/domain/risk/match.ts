import type { Span } from '../../../src-preload/contract/model'
import { programName, type Word } from '../shell'
import { holdsSecrets, leadsThroughProcess, resolve, secretOf, type Where } from './paths'
import type { Carrier, Form, OptionRole, Program, Role, RuleSet } from './rules'
import { scriptProblem } from './scripts'

export interface Matched {
  readonly kind: 'match'
  readonly summary: string
  readonly reads: readonly Word[]
  readonly network: boolean
  readonly unending: boolean
  /** Commands it starts; each has to be judged by itself. */
  readonly carried: readonly CarriedCommand[]
  readonly carrier: Carrier
}

/** A command that another one is given: as words, or as a text that a shell reads. */
export type CarriedCommand =
  | { readonly kind: 'words'; readonly words: readonly Word[] }
  | { readonly kind: 'script'; readonly text: string; readonly span: Span }

export interface Failed {
  readonly kind: 'fail'
  readonly rule: string
  readonly at: Word
  /** How far the words were accepted; of several forms the one that came furthest explains the refusal. */
  readonly reached: number
  readonly sentence: string
}

interface State {
  readonly words: readonly Word[]
  readonly rules: RuleSet
  readonly program: string
  readonly where: Where
  /** Something is piped into it. */
  readonly fed: boolean
}

/** Option names are shown to people, values are not: they may hold anything. */
function shown(text: string): string {
  const equals = text.indexOf('=')
  const name = equals < 0 ? text : text.slice(0, equals)
  return /^[-+]{1,2}[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(name) ? name : 'given here'
}

function literal(value: string, at: Word): Word {
  return { start: at.start, end: at.end, value, shape: value, dynamic: [], prefix: value }
}

const NUMBER = /^[-+]?[0-9][0-9A-Za-z.,:%/-]*$/

/** Whether a word may stand in a place; `repeated` places may take the several words a wildcard becomes. */
function accepts(role: Role, word: Word, repeated: boolean, safe: boolean): boolean {
  if (word.value !== null) {
    if (role === 'number') return NUMBER.test(word.value)
    if (role instanceof RegExp) return role.test(word.value)
    if (role === 'local') return !/^@|[:|!]/.test(word.value)
    if (role === 'name') return /^[A-Za-z0-9_.:-]+$/.test(word.value)
    if (role === 'plain') return !/^[@/~.]|file=|-file/.test(word.value)
    if (role === 'host') return !word.value.startsWith('-')
    return true
  }
  if (role === 'print') return word.dynamic.every((kind) => kind === 'variable' || kind === 'tilde')
  // What `xargs` adds: only where no option can do harm, and where nothing is read that nobody has seen.
  if (word.dynamic[0] === 'unknown' && word.shape === ADDED) return (role === 'path' || role === 'text') && safe
  if (role !== 'path' && role !== 'read') return false
  if (word.dynamic.some((kind) => kind !== 'tilde' && kind !== 'glob')) return false
  if (!word.dynamic.includes('glob')) return true
  // What a wildcard becomes must not be taken for an option, nor reach places meant for something else.
  return (
    (repeated || word.one === true) &&
    (safe || /^(?:[^-]|~)/.test(word.prefix === '' ? (word.shape[0] === '~' ? '~' : '-') : word.prefix))
  )
}

/** Stands for words that nobody knows yet. */
const ADDED = '…'

function added(at: Word): Word {
  return { start: at.start, end: at.end, value: null, shape: ADDED, dynamic: ['unknown'], prefix: '' }
}

/** `{}` of `find -exec`: one file anywhere below a place where the search began. */
function found(root: Word, at: Word): Word {
  const slash = root.shape.endsWith('/') ? '' : '/'
  return {
    start: at.start,
    end: at.end,
    value: null,
    shape: `${root.shape}${slash}**`,
    dynamic: root.dynamic.includes('tilde') ? ['tilde', 'glob'] : ['glob'],
    prefix: `${root.prefix}${root.value === null ? '' : slash}`,
    one: true,
  }
}

/** What a search is told to look for, as files below the place where it begins; for finding secrets among them. */
function sought(root: Word, at: Word, given: readonly (readonly [option: string, value: Word])[]): Word[] {
  const slash = root.shape.endsWith('/') ? '' : '/'
  return given.flatMap(([option, { shape }]) => {
    const kind = /^-(i?)(name|path|wholename|regex)$/.exec(option)
    if (!kind) return []
    const cased = kind[1] === 'i' ? shape.toLowerCase() : shape
    const glob = kind[2] === 'regex' ? cased.replace(/\.[*+]/g, '*').replace(/\\(.)/g, '$1') : cased
    const name = glob.slice(glob.lastIndexOf('/') + 1)
    // Where a pattern of a whole path begins does not matter, where it ends does.
    const path = `${root.shape}${slash}${kind[2] === 'name' ? name : glob.replace(/^(?:\.?\/|\*)+/, '')}`
    const dynamic: Word['dynamic'] = /[*?[]/.test(path) ? ['glob'] : []
    const value = dynamic.length === 0 && root.value !== null ? path : null
    return [{ start: at.start, end: at.end, value, shape: path, dynamic, prefix: found(root, at).prefix, one: true }]
  })
}

/** The file that is read when `folder` is a folder and `file` is named beside it. */
function inFolder(folder: Word, file: Word): Word {
  const name = file.shape.slice(file.shape.lastIndexOf('/') + 1)
  const shape = `${folder.shape.endsWith('/') ? folder.shape.slice(0, -1) : folder.shape}/${name}`
  const dynamic = [...new Set([...folder.dynamic, ...file.dynamic])].filter(
    (kind) => kind === 'tilde' || kind === 'glob',
  )
  return {
    start: folder.start,
    end: folder.end,
    value: dynamic.length === 0 ? shape : null,
    shape,
    dynamic,
    prefix: folder.prefix,
    ...(name === '**' ? { one: true as const } : {}),
  }
}

function lookUp(form: Form, name: string): OptionRole | null {
  const exact = form.options.get(name)
  if (exact !== undefined) return exact
  if (!form.complete || !name.startsWith('--') || name.length < 3 || form.denied.has(name)) return null
  let found: OptionRole | null = null
  for (const denied of form.denied) if (denied.startsWith(name)) return null
  for (const [option, role] of form.options) {
    if (!option.startsWith(name)) continue
    if (found !== null && found !== role) return null
    found = role
  }
  return found
}

function matchForm(form: Form, from: number, state: State): Matched | Failed {
  const { words, rules, program, where } = state
  const reads: Word[] = []
  const looked: Word[] = []
  /** Files that options name: most of these are opened. */
  const opened: Word[] = []
  const seen = new Set<string>()
  /** The values options were given, in order: a script may be among them. */
  const given: (readonly [option: string, value: Word])[] = []
  const operands: Word[] = []
  const carried: CarriedCommand[] = []
  let named = false
  let afterDashes = false
  const fail = (rule: string, i: number, sentence: string): Failed => ({
    kind: 'fail',
    rule,
    at: words[Math.min(i, words.length - 1)] as Word,
    reached: i,
    sentence,
  })
  let i = from
  /** Takes the value of an option; answers false when it is not acceptable. */
  const take = (role: Exclude<OptionRole, 'flag' | 'optional' | 'pair'>, value: Word): boolean => {
    if (role === 'script') {
      if (value.value !== null) carried.push({ kind: 'script', text: value.value, span: value })
      return value.value !== null
    }
    // It may become several words, and all but the first would be operands or options.
    if (value.value === null && value.shape === ADDED) return false
    if (!accepts(role, value, false, true)) return false
    if (role === 'read' || role === 'local') reads.push(value)
    if (role === 'path') opened.push(value)
    return true
  }
  const valued = (role: OptionRole, option: string, glued: string | null): Failed | null => {
    seen.add(option)
    if (role === 'flag')
      return glued === null
        ? null
        : fail('option_value', i, `The option ${shown(option)} of ${program} takes no value.`)
    if (role === 'optional') return null
    if (role === 'command') {
      let end = i + 1
      // `+` ends it behind `{}` only.
      while (end < words.length && words[end]?.value !== ';')
        if (words[end]?.value === '+' && words[end - 1]?.value === '{}') break
        else end++
      if (glued !== null || end === i + 1 || end >= words.length)
        return fail('option_value', i, `The option ${shown(option)} of ${program} lacks its command.`)
      carried.push({ kind: 'words', words: words.slice(i + 1, end) })
      i = end
      return null
    }
    const count = role === 'pair' ? 2 : 1
    const kind = role === 'pair' ? 'text' : role
    for (let k = 0; k < count; k++) {
      let value: Word | undefined
      if (k === 0 && glued !== null) value = literal(glued, words[i] as Word)
      else value = words[++i]
      if (!value) return fail('option_value', i, `The option ${shown(option)} of ${program} lacks its value.`)
      // Some need no value (`git diff --format`, `sar -s`, one of several programs of a schema): then this is an option of its own.
      if (!form.single && glued === null && option !== '--sort' && /^(?:--?[A-Za-z]|\+[a-z][0-9]*$)/.test(value.shape))
        return fail('option_value', i, `What follows ${shown(option)} may be an option of ${program} itself.`)
      given.push([option, value])
      if (!take(kind, value))
        return fail(
          'option_value',
          i,
          `The value of ${shown(option)} is only known when the command runs, or is not a plain one.`,
        )
    }
    return null
  }
  for (; i < words.length; i++) {
    const word = words[i] as Word
    let text = word.value
    // `--include=*.log` stays the same option whatever the wildcard becomes.
    if (text === null && word.dynamic.length === 1 && word.dynamic[0] === 'glob' && /^--[a-z-]+=/.test(word.prefix)) {
      const equals = word.prefix.indexOf('=')
      if (form.options.get(word.prefix.slice(0, equals)) === 'text') text = word.shape
    }
    if (
      text !== null &&
      !form.dashes &&
      !afterDashes &&
      text.length > 1 &&
      (text[0] === '-' || (text[0] === '+' && form.options.has(text)))
    ) {
      if (text === '--') {
        afterDashes = true
        continue
      }
      const equals = text.indexOf('=')
      if (form.single || text.startsWith('--')) {
        const whole = form.options.get(text)
        const name = whole === undefined && equals > 0 ? text.slice(0, equals) : text
        const role = whole ?? lookUp(form, name)
        if (role === null || role === undefined)
          return fail(
            'unlisted_option',
            i,
            `The option ${shown(text)} of ${program} is not one that is known to only read.`,
          )
        const problem = valued(role, name, name.length < text.length ? text.slice(equals + 1) : null)
        if (problem) return problem
        continue
      }
      let first = 1
      if (form.numeric && /^-[0-9]/.test(text)) {
        seen.add('-#')
        while (/[0-9]/.test(text[first] ?? '')) first++
      }
      const whole = form.options.get(text)
      if (whole !== undefined && text.length > 2) {
        const problem = valued(whole, text, null)
        if (problem) return problem
        continue
      }
      for (let k = first; k < text.length; k++) {
        const option = text[0] + (text[k] as string)
        const role = form.options.get(option)
        if (role === undefined)
          return fail(
            'unlisted_option',
            i,
            `The option ${shown(option)} of ${program} is not one that is known to only read.`,
          )
        if (role === 'flag') {
          seen.add(option)
          continue
        }
        const problem = valued(role, option, k + 1 < text.length ? text.slice(k + 1) : null)
        if (problem) return problem
        break
      }
      continue
    }
    if (form.commands && operands.length === 0) {
      const sub = text === null ? undefined : form.commands.get(text)
      if (sub) {
        if (form.require.some((group) => !group.some((option) => seen.has(option))))
          return fail('needs_option', i, `Without a certain option ${program} does more than read.`)
        const inner = matchForms(sub, i + 1, state)
        return inner.kind === 'match'
          ? { ...inner, reads: [...reads, ...inner.reads], network: inner.network || form.network }
          : inner
      }
      if (form.operands.length === 0 && form.rest === null)
        return fail('unlisted_command', i, `This part of ${program} is not one that is known to only read.`)
    }
    if (
      form.assignments &&
      word.value !== null &&
      operands.length === 0 &&
      /^[A-Za-z_][A-Za-z0-9_]*=/.test(word.value)
    ) {
      const equals = word.value.indexOf('=')
      if (!harmlessAssignment(word.value.slice(0, equals), word.value.slice(equals + 1)))
        return fail('environment', i, 'Sets a variable that can change what the program does.')
      continue
    }
    const place = operands.length
    const fixed = form.operands[place]
    const role = fixed ?? form.rest
    if (role === 'command') {
      if (form.appends && !state.fed)
        return fail('needs_input', i, `${program} is given nothing here that could be looked at.`)
      const rest = words.slice(i)
      if (form.dashed && !afterDashes && rest.some((word) => word.value === null || word.value.startsWith('-')))
        return fail('unlisted_option', i, `Without -- in front, ${program} takes options of the command for its own.`)
      if (form.joined) {
        const texts = rest.map(({ value }) => value)
        if (texts.includes(null))
          return fail('dynamic_word', i, 'What is handed on here is only known when the command runs.')
        carried.push({ kind: 'script', text: texts.join(' '), span: spanOfWords(rest) })
      } else carried.push({ kind: 'words', words: form.appends ? [...rest, added(word)] : rest })
      operands.push(word)
      i = words.length
      break
    }
    if (role === 'script') {
      if (word.value === null) return fail('dynamic_word', i, 'The script is only known when the command runs.')
      carried.push({ kind: 'script', text: word.value, span: word })
      operands.push(word)
      continue
    }
    if (role === null || role === undefined)
      return fail('unlisted_operand', i, `${program} is given more here than it needs to only read.`)
    if (!accepts(role, word, fixed === undefined, afterDashes || form.harmless))
      return fail(
        word.value === null ? 'dynamic_word' : 'unlisted_operand',
        i,
        word.value === null
          ? 'What stands here is only known when the command runs.'
          : `${program} is given something here that may do more than read.`,
      )
    // A literal that begins with a dash is an operand only after `--`; a wildcard was checked above.
    operands.push(word)
    if (role === 'path') looked.push(word)
    if (role !== 'read' && role !== 'local') continue
    reads.push(word)
    named = true
  }
  const end = words.length
  if (form.commands && !form.bare && operands.length === 0)
    return fail('needs_command', end, `${program} without a sub-command is not known to only read.`)
  if (operands.length < form.min)
    return fail('needs_operand', end, `${program} lacks an operand that says what to read.`)
  for (const group of form.require)
    if (!group.some((option) => seen.has(option)))
      return fail(
        'needs_option',
        end,
        `Without ${group.slice(0, 2).map(shown).join(' or ')}, ${program} does more than read.`,
      )
  if (form.script !== null) {
    const problem = scriptProblem(form.script, { program, given, seen, operands, where, rules })
    if (problem !== null) return fail(`${form.script}_script`, end, problem)
  }
  const recursive =
    form.recursive !== null &&
    (form.recursive.options.length === 0 || form.recursive.options.some((option) => seen.has(option))) &&
    !form.recursive.unless.some((option) => seen.has(option))
  // Nothing named: it starts where the command runs.
  if (recursive && !named && !(state.fed && form.recursive.input)) {
    const { start, end } = words[from - 1] as Word
    reads.push({ start, end, value: '.', shape: '.', dynamic: [], prefix: '.' })
  }
  const [one, other] = operands
  if (form.paired && one && other && operands.length === 2) reads.push(inFolder(one, other), inFolder(other, one))
  for (const word of opened)
    if (/^\/dev\/(?!null$|stdin$)/.test(resolve(where, word.shape)) || /^[A-Za-z][A-Za-z0-9+.-]+:/.test(word.shape))
      return { ...fail('device_read', end, 'Opens a device or an address.'), at: word, reached: end + 1 }
  for (const word of [...looked, ...opened, ...reads])
    if (rules.networkFolders.some((folder) => folder.test(resolve(where, word.shape))))
      return {
        ...fail('network_folder', end, 'Looks into a folder that is fetched from another machine for it.'),
        at: word,
        reached: end + 1,
      }
  for (const word of reads) {
    const problem = readProblem(rules, where, word, recursive)
    // The form fits; what it reads is the reason, not what another form lacks.
    if (problem) return { ...fail(problem[0], end, problem[1]), at: word, reached: end + 1 }
  }
  const un = form.unending
  const unending =
    un === true ||
    (un !== null &&
      !un.unless.some((option) => seen.has(option)) &&
      (un.options.some((option) => seen.has(option)) ||
        (un.operands !== null && operands.length === un.operands) ||
        (un.options.length === 0 && un.operands === null)))
  // A search hands each of its files to the command it was given: any file, and those it is told to look for.
  const roots = looked.length > 0 ? looked : [literal('.', words[from - 1] as Word)]
  const files = (at: Word): Word[] => roots.flatMap((root) => [found(root, at), ...sought(root, at, given)])
  const handed =
    form.single && carried.length > 0
      ? carried.flatMap((one): readonly CarriedCommand[] =>
          one.kind === 'words' && one.words.some(({ shape }) => shape.includes('{}'))
            ? files(one.words[0] as Word).map((file) => ({
                kind: 'words' as const,
                words: one.words.map((word) =>
                  word.value === '{}'
                    ? { ...file, start: word.start, end: word.end }
                    : word.shape.includes('{}')
                      ? added(word)
                      : word,
                ),
              }))
            : [one],
        )
      : carried
  return {
    kind: 'match',
    summary: form.summary,
    reads,
    network: form.network,
    unending,
    carried: handed,
    carrier: form.carrier,
  }
}

function spanOfWords(words: readonly Word[]): Span {
  return { start: Math.min(...words.map(({ start }) => start)), end: Math.max(...words.map(({ end }) => end)) }
}

/** Assignments that change how a program speaks, never what it does. */
export function harmlessAssignment(name: string, value: string): boolean {
  if (/^(?:MAN|GIT_|SYSTEMD_)?PAGER$/.test(name)) return value === 'cat'
  if (name === 'COLUMNS') return /^[0-9]{0,5}$/.test(value)
  // A path in here would be opened, whatever it is.
  if (value.includes('..')) return false
  if (name === 'TZ') return /^(?:[A-Za-z0-9_+<-][A-Za-z0-9_.:/+,<>-]*)?$/.test(value)
  return /^(?:LANG|LC_[A-Z]+)$/.test(name) && /^[A-Za-z0-9_.@-]*$/.test(value)
}

/** Why the content of a file is more than a plain read, as far as that is not a secret for certain; null when it is not. */
function readProblem(
  rules: RuleSet,
  where: Where,
  word: Word,
  recursive: boolean,
): readonly [rule: string, sentence: string] | null {
  const path = resolve(where, word.shape)
  if (/^\/dev\/(?!null$|stdin$)/.test(path)) return ['device_read', 'Reads straight from a device.']
  if (leadsThroughProcess(where, word.shape))
    return ['process_read', 'Reads through another process, from whatever that one has open.']
  if (rules.consumed.some((pattern) => pattern.test(path)))
    return ['consuming_read', 'Reading this file does more than read it.']
  if (word.one === true && word.shape.endsWith('/**')) {
    const root = { ...word, shape: word.shape.slice(0, -3) || '/' }
    if (/[*?[]/.test(root.shape) || holdsSecrets(rules, where, root))
      return ['broad_read', 'This reads files below a folder that also holds keys and passwords.']
    return null
  }
  if (word.dynamic.includes('glob')) {
    if (/[*?[]/.test(word.shape.slice(0, word.shape.lastIndexOf('/') + 1)))
      return ['broad_read', 'With a wildcard for a folder, nobody knows whose files this reads.']
    if (secretOf(rules, where, word)) return ['broad_read', 'This wildcard may also take in keys and passwords.']
  }
  if (recursive && holdsSecrets(rules, where, word))
    return ['broad_read', 'This reads everything below a folder that also holds keys and passwords.']
  return null
}

function matchForms(forms: readonly Form[], from: number, state: State): Matched | Failed {
  let furthest: Failed | null = null
  for (const form of forms) {
    const result = matchForm(form, from, state)
    if (result.kind === 'match') return result
    if (!furthest || result.reached > furthest.reached) furthest = result
  }
  return (
    furthest ?? {
      kind: 'fail',
      rule: 'unlisted_command',
      at: state.words[0] as Word,
      reached: 0,
      sentence: 'This is not known to only read.',
    }
  )
}

/** `<program> [sub-command…] --help`: prints a page and ends. */
export function asksForHelp(program: Program, words: readonly Word[]): boolean {
  if (!program.help || words.length < 2 || words.length > 5) return false
  const last = words[words.length - 1]?.value
  if (last !== '--help' && !(last === '-h' && words.length === 2)) return false
  if (words.length === 3 && program.help.has(words[1]?.value ?? '')) return true
  // Only for sub-commands that are known: any other name may be that of a plug-in, which is started to print its help.
  let forms = program.forms
  for (const { value } of words.slice(1, -1)) {
    if (value === null) return false
    forms = forms.flatMap((form) => form.commands?.get(value) ?? [])
    if (forms.length === 0) return false
  }
  return true
}

/** Matches a whole simple command against the positive schema of its program. */
export function matchProgram(rules: RuleSet, where: Where, words: readonly Word[], fed: boolean): Matched | Failed {
  const head = words[0] as Word
  const name = programName(head)
  const program = head.value === null ? undefined : rules.programs.get(name)
  if (!program) {
    const plain = /^[A-Za-z0-9_.+-]{1,40}$/.test(name)
    return {
      kind: 'fail',
      rule: head.value === null ? 'dynamic_program' : 'unknown_program',
      at: head,
      reached: 0,
      sentence:
        head.value === null
          ? 'Which program this starts is only known when it runs.'
          : plain
            ? `${name} is not a program that is known to only read.`
            : 'This is not a program that is known to only read.',
    }
  }
  if (asksForHelp(program, words))
    return {
      kind: 'match',
      summary: 'Prints a help page.',
      reads: [],
      network: false,
      unending: false,
      carried: [],
      carrier: 'local',
    }
  return matchForms(program.forms, 1, { words, rules, program: name, where, fed })
}

/** The secret a matched command would read, if any. */
export function secretRead(
  rules: RuleSet,
  where: Where,
  matched: Matched,
): { word: Word; id: string; sentence: string } | null {
  for (const word of matched.reads) {
    const secret = secretOf(rules, where, word)
    if (secret?.certain) return { word, id: secret.rule.id, sentence: secret.rule.sentence }
  }
  return null
}
