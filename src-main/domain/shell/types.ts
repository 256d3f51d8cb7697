import type { Span } from '../../../src-preload/contract/model'

/** Why a word is only known when it runs. `unknown` stands for text the parser did not take apart. */
export type Dynamic = 'variable' | 'expansion' | 'glob' | 'brace' | 'tilde' | 'substitution' | 'arithmetic' | 'unknown'

/** One word after quotes, escapes and line continuations are taken away. Offsets are UTF-16 units of the whole command. */
export interface Word extends Span {
  /** What the program is given; null when that is only known at run time. */
  readonly value: string | null
  /**
   * The best reading of the word: equal to `value` when there is one, else with its dynamic parts as typed (known literal
   * variables filled in). Good for finding danger, never for trusting a command.
   */
  readonly shape: string
  readonly dynamic: readonly Dynamic[]
  /** The literal text before the first dynamic part. */
  readonly prefix: string
  /** Whatever it becomes, it is one word: `{}` of `find -exec`. */
  readonly one?: true
}

export interface Assignment extends Span {
  readonly name: string
  readonly value: Word | null
  /** `a[…]=`, `a+=` or `a=(…)`: more than one plain string. */
  readonly special: boolean
}

export interface Redirection extends Span {
  /** `>`, `>>`, `<`, `<>`, `<&`, `>&`, `>|`, `&>`, `&>>`, `<<<`, `<<` or `<<-`. */
  readonly operator: string
  readonly fd: number | null
  /** `{name}>file` opens a descriptor the shell picks. */
  readonly fdVariable: string | null
  readonly target: Word | null
  /** The text of a here-document. */
  readonly body: string | null
}

export type Enclosure =
  | 'substitution'
  | 'subshell'
  | 'group'
  | 'function'
  | 'loop'
  | 'branch'
  | 'coproc'
  | 'here-document'
  | 'script'

/** Where a simple command stands. */
export interface Place {
  readonly enclosures: readonly Enclosure[]
  /** Commands of one pipeline share the number; `stage` counts from 0. */
  readonly pipeline: number
  readonly stage: number
  readonly background: boolean
  /** The innermost function it is part of. */
  readonly functionName: string | null
}

export interface SimpleCommand extends Span {
  readonly words: readonly Word[]
  readonly assignments: readonly Assignment[]
  readonly redirections: readonly Redirection[]
  readonly place: Place
}

/** Something about the text itself that keeps it from being fully understood. */
export interface Finding extends Span {
  readonly rule: string
  readonly sentence: string
}

export interface ParsedShell {
  readonly commands: readonly SimpleCommand[]
  /** Nothing but simple commands in pipelines, `&&`, `||`, `;` and new lines: what `every-segment` may look at. */
  readonly plain: boolean
  /** Names of functions the text defines: such a name is not the program it looks like. */
  readonly functions: readonly string[]
  readonly findings: readonly Finding[]
  readonly tooLarge: boolean
  readonly tooDeep: boolean
}
