import { parseShell } from './parse'

/**
 * What only a shell can do: there is no program of that name, or it would do something else (`cd` in a process of its own). The
 * builtins of bash without those that every system has as a file too (`echo`, `printf`, `test`, `pwd`, `true`, `false`, `kill`, `[`),
 * and its reserved words.
 */
export const SHELL_ONLY: ReadonlySet<string> = new Set(
  (
    '. : alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown enable eval exec exit ' +
    'export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt ' +
    'source suspend times trap type typeset ulimit umask unalias unset wait ' +
    'if then elif else fi for while until do done case esac select function time coproc in { } ! [['
  ).split(' '),
)

/**
 * The words a program would be given, when the whole text is one simple command of literal words; null for anything else: several
 * commands, a redirection, an assignment, a word that is only known when it runs, what only a shell can do. What is not null may be
 * started without a shell and comes to the same.
 */
export function literalArgv(command: string): readonly string[] | null {
  // `$'\xff'` is a byte to the shell and a character to the parser.
  if (command.includes("$'") || command.includes('\0') || /\p{Surrogate}/u.test(command)) return null
  const { commands, plain, functions, findings, tooLarge, tooDeep } = parseShell(command)
  const [simple] = commands
  if (!plain || tooLarge || tooDeep || functions.length > 0 || findings.length > 0) return null
  if (simple === undefined || commands.length !== 1) return null
  const { words, assignments, redirections, place } = simple
  if (assignments.length > 0 || redirections.length > 0) return null
  if (place.background || place.enclosures.length > 0 || place.functionName !== null) return null
  // Nothing may stand around it (`! ls`, `time ls`) but blanks, an ending and a comment.
  if (!/^[ \t\n]*$/.test(command.slice(0, simple.start))) return null
  if (!/^(?:[ \t\n]*;?[ \t\n]*|[ \t\n]*;?[ \t\n]+#[^\n]*\n?)$/.test(command.slice(simple.end))) return null
  const argv: string[] = []
  for (const { value } of words) {
    if (value === null) return null
    argv.push(value)
  }
  const [name] = argv
  // `=` and `-` in front would be read by what starts it (`env`), not by the program.
  if (name === undefined || name === '' || name.includes('=') || name.startsWith('-') || SHELL_ONLY.has(name))
    return null
  return argv
}
