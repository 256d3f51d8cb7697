import { literalArgv } from '../shell'

/** One option as it was read: its name with the dashes, and its value where it has one. */
export interface GivenOption {
  readonly name: string
  readonly value: string | null
}

/** Names of options by how they take a value. */
export interface OptionNames {
  readonly flags: ReadonlySet<string>
  readonly values: ReadonlySet<string>
  /** A glued value or none (`-i.bak`). */
  readonly optional: ReadonlySet<string>
}

export interface ReadWords {
  readonly options: readonly GivenOption[]
  readonly operands: readonly string[]
}

/** A literal command with `sudo` taken off. */
export interface Literal {
  readonly sudo: boolean
  readonly program: string
  readonly words: readonly string[]
}

/** The one simple command of literal words that a text is; null for anything else. Of `sudo` only the bare form is understood. */
export function literalCommand(command: string): Literal | null {
  const argv = literalArgv(command)
  return argv === null ? null : withoutSudo(argv)
}

/** Takes a bare `sudo` off; null where it has options of its own or nothing behind it. */
export function withoutSudo(argv: readonly string[]): Literal | null {
  const sudo = argv[0] === 'sudo'
  const [program, ...words] = sudo ? argv.slice(1) : argv
  if (program === undefined || !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(program)) return null
  return { sudo, program, words }
}

/** Sorts words into options and operands. Null when one is not known by the names: then nobody knows what the others are either. */
export function readWords(words: readonly string[], names: OptionNames): ReadWords | null {
  const options: GivenOption[] = []
  const operands: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') {
      operands.push(...words.slice(at + 1))
      break
    }
    if (word === '-' || !word.startsWith('-')) {
      operands.push(word)
      continue
    }
    if (word.startsWith('--')) {
      const equals = word.indexOf('=')
      const name = equals < 0 ? word : word.slice(0, equals)
      const glued = equals < 0 ? null : word.slice(equals + 1)
      if (names.values.has(name)) {
        const value = glued ?? words[++at]
        if (value === undefined) return null
        options.push({ name, value })
      } else if (names.optional.has(name)) options.push({ name, value: glued })
      else if (names.flags.has(name) && glued === null) options.push({ name, value: null })
      else return null
      continue
    }
    for (let letter = 1; letter < word.length; letter++) {
      const name = `-${word[letter]}`
      const rest = word.slice(letter + 1)
      if (names.flags.has(name)) {
        options.push({ name, value: null })
        continue
      }
      if (names.optional.has(name)) options.push({ name, value: rest === '' ? null : rest })
      else if (names.values.has(name)) {
        const value = rest === '' ? words[++at] : rest
        if (value === undefined) return null
        options.push({ name, value })
      } else return null
      break
    }
  }
  return { options, operands }
}

/** A word as a shell reads it back. */
export const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Words as the text of one simple command. */
export const asCommand = (words: readonly string[]): string => words.map(quoted).join(' ')

/** The option as words again. */
export const optionWords = ({ name, value }: GivenOption): readonly string[] =>
  value === null ? [name] : name.startsWith('--') ? [`${name}=${value}`] : [name, value]

/** A path that no program takes for an option or an expression. */
export const asPath = (path: string): string =>
  path.startsWith('/') ? path : path.startsWith('./') ? path : `./${path}`
