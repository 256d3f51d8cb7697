import { type DecodedWord, TOKEN_KINDS, type Token, type TokenKind } from '../../../src-preload/contract/model'
import { unfold } from './invocations'
import { parseShell } from './parse'
import type { ParsedShell, SimpleCommand, Word } from './types'

/** Kinds by number, so that a whole command can be painted into one array. 0 is what nobody has painted. */
const KINDS: readonly (TokenKind | null)[] = [null, ...TOKEN_KINDS]
const code = (kind: TokenKind): number => KINDS.indexOf(kind)

const KEYWORDS = new Set(
  'if then elif else fi for while until do done case esac in select function time coproc { } ! [[ ]]'.split(' '),
)
const OPERATOR = /[|&;()<>]/
/** A variable or an expansion inside a word, as far as one line of text shows it. */
const VARIABLE = /\$(?:\{[^{}]*\}|[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])/g

class Canvas {
  private readonly cells: Uint8Array
  readonly text: string

  constructor(text: string) {
    this.text = text
    this.cells = new Uint8Array(text.length)
  }

  paint(start: number, end: number, kind: TokenKind): void {
    this.cells.fill(code(kind), Math.max(0, start), Math.min(end, this.text.length))
  }

  painted(at: number): boolean {
    return this.cells[at] !== 0
  }

  tokens(): Token[] {
    const out: Token[] = []
    for (let at = 0; at < this.cells.length; ) {
      const kind = KINDS[this.cells[at] as number] ?? null
      let end = at + 1
      while (end < this.cells.length && this.cells[end] === this.cells[at]) end++
      if (kind !== null) out.push({ start: at, end, kind })
      at = end
    }
    return out
  }
}

function paintWord(canvas: Canvas, word: Word, kind: TokenKind): void {
  const text = canvas.text.slice(word.start, word.end)
  const quoted = /^\$?['"]/.test(text)
  canvas.paint(word.start, word.end, kind === 'argument' && quoted ? 'string' : kind)
  if (word.dynamic.length === 0) return
  for (const found of text.matchAll(VARIABLE))
    canvas.paint(word.start + found.index, word.start + found.index + found[0].length, 'variable')
}

function paintCommand(canvas: Canvas, command: SimpleCommand): void {
  for (const { start, end, value } of command.assignments) {
    canvas.paint(start, end, 'variable')
    if (value !== null) paintWord(canvas, value, 'argument')
  }
  command.words.forEach((word, index) => {
    paintWord(canvas, word, index === 0 ? 'program' : /^[-+]./.test(word.shape) ? 'option' : 'argument')
  })
  for (const { start, end, target } of command.redirections) {
    canvas.paint(start, end, 'redirection')
    if (target !== null && target.start > start) paintWord(canvas, target, 'argument')
  }
}

/** What stands between the commands: signs of the shell, its reserved words, comments. */
function paintBetween(canvas: Canvas): void {
  const { text } = canvas
  for (let at = 0; at < text.length; ) {
    const c = text[at] as string
    if (canvas.painted(at) || /\s/.test(c)) {
      at++
      continue
    }
    if (c === '#' && (at === 0 || /[\s;&|()]/.test(text[at - 1] as string))) {
      let end = text.indexOf('\n', at)
      if (end === -1) end = text.length
      canvas.paint(at, end, 'comment')
      at = end
      continue
    }
    if (OPERATOR.test(c)) {
      canvas.paint(at, at + 1, 'operator')
      at++
      continue
    }
    let end = at
    while (
      end < text.length &&
      !canvas.painted(end) &&
      !/\s/.test(text[end] as string) &&
      !OPERATOR.test(text[end] as string)
    )
      end++
    canvas.paint(at, end, KEYWORDS.has(text.slice(at, end)) ? 'keyword' : 'argument')
    at = end
  }
}

/** What a card shows of the text of a command beside the text itself. */
export interface Dissected {
  readonly tokens: readonly Token[] | undefined
  readonly argv: readonly (readonly DecodedWord[])[] | null
}

function tokensIn(command: string, parsed: ParsedShell): readonly Token[] {
  const canvas = new Canvas(command)
  // The order of the tree is from the outside in: what stands in a substitution is painted over the word that holds it.
  for (const simple of [...parsed.commands].sort((a, b) => a.start - b.start || b.end - a.end))
    paintCommand(canvas, simple)
  // The program behind a wrapper is a program as well.
  for (const { words, via, command: of } of unfold(parsed).invocations) {
    const head = words[0]
    if (via.length > 0 && head !== undefined && of.words.includes(head) && parsed.commands.includes(of))
      canvas.paint(head.start, head.end, 'program')
  }
  paintBetween(canvas)
  return canvas.tokens()
}

/**
 * The parts of a command for colour, in order and without overlaps; offsets are UTF-16 units. Blanks belong to no token. Never
 * throws; a text that is too large or nested too deeply to be parsed has none. Nothing may be decided by it.
 */
export function tokensOf(command: string): readonly Token[] {
  const parsed = parseShell(command)
  return parsed.tooLarge || parsed.tooDeep ? [] : tokensIn(command, parsed)
}

/** A word as it is given to the program; one that is settled only while the command runs is left as typed. */
export function decodedWord(command: string, word: Word): DecodedWord {
  if (word.value !== null) return { text: word.value, known: true }
  const typed = command.slice(word.start, word.end)
  return { text: typed === '' ? word.shape : typed, known: false }
}

/**
 * The decoded words of each simple command, for reading beside the text. Null when every word stands there as it is typed, so that
 * there is nothing to show, and when the text was not understood: then there is nothing to rely on.
 */
export function argvOf(command: string): readonly (readonly DecodedWord[])[] | null {
  return argvIn(command, parseShell(command))
}

function argvIn(command: string, parsed: ParsedShell): readonly (readonly DecodedWord[])[] | null {
  if (parsed.tooLarge || parsed.tooDeep || parsed.findings.length > 0) return null
  const commands = parsed.commands.filter(({ words }) => words.length > 0)
  const same = commands.every(({ words }) =>
    words.every((word) => word.value === null || word.value === command.slice(word.start, word.end)),
  )
  return same ? null : commands.map(({ words }) => words.map((word) => decodedWord(command, word)))
}

/** Both at once, with one parse. */
export function dissect(command: string): Dissected {
  const parsed = parseShell(command)
  if (parsed.tooLarge || parsed.tooDeep) return { tokens: undefined, argv: null }
  return { tokens: tokensIn(command, parsed), argv: argvIn(command, parsed) }
}
