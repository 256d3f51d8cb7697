import { type GivenOption, literalArgv } from '../shell'

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

/** The option as words again. */
export const optionWords = ({ name, value }: GivenOption): readonly string[] =>
  value === null ? [name] : name.startsWith('--') ? [`${name}=${value}`] : [name, value]

/** A path that no program takes for an option or an expression. */
export const asPath = (path: string): string =>
  path.startsWith('/') ? path : path.startsWith('./') ? path : `./${path}`
