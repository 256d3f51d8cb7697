/**
 * Judges an awk program: null when all it can do is read its input and print, otherwise why not, in one sentence.
 *
 * A parser of what POSIX awk, gawk, mawk, the one true awk and busybox read in the same way. What they read differently, and what
 * this parser does not know, is refused: it must never take for a regular expression or a text what one of them runs.
 */
export function awkProblem(program: string): string | null {
  if (program.length > MAX_LENGTH) return NOT_UNDERSTOOD
  try {
    return new Parser(tokens(program)).program()
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
}

/** Why a variable must not be set from outside (`-v`, an operand `name=value`); null when setting it does no harm. */
export function awkAssignmentProblem(text: string): string | null {
  const match = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(text)
  if (!match) return 'An awk variable is set in a way that is not understood.'
  const [, name, value] = match as unknown as [string, string, string]
  if (HIDDEN.has(name) || WORDS.has(name)) return `This sets ${name}, which changes what awk does.`
  if (FORMATS.has(name) && !NUMBER_FORMAT.test(value)) return 'A number format of awk is set to something unusual.'
  return null
}

class Refused extends Error {}

type TokenKind = 'name' | 'number' | 'string' | 'regex' | 'operator' | 'newline' | 'end'

interface Token {
  readonly kind: TokenKind
  readonly text: string
  /** The very next character is an opening parenthesis: a call of a function. */
  readonly called: boolean
}

const NOT_UNDERSTOOD = 'This awk program is not understood well enough to be let through.'
const STARTS = 'This awk program could start other programs or write to a file.'
const FETCHES = 'This awk program reads more than the input it is given.'

/** Variables that hold or decide more than what is being read. */
const HIDDEN = new Set(['ARGV', 'ARGC', 'ENVIRON', 'SYMTAB', 'FUNCTAB'])
/** Formats that some implementations hand to the C library as they are. */
const FORMATS = new Set(['OFMT', 'CONVFMT'])
const NUMBER_FORMAT = /^%[-+ #0]{0,4}\d{0,3}(?:\.\d{0,3})?[eEfFgGdi]$/

const KEYWORDS = new Set(
  'BEGIN END BEGINFILE ENDFILE function func if else while for do break continue next nextfile exit return delete in getline print printf switch case default'.split(
    ' ',
  ),
)
const BUILTINS = new Set(
  'length substr index split sub gsub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper gensub strftime systime mktime strtonum asort asorti patsplit and or xor lshift rshift compl isarray typeof close fflush'.split(
    ' ',
  ),
)
/** Functions of one awk or another that run or load something: their names are not to appear at all. */
const REFUSED = new Set('system extension bindtextdomain dcgettext dcngettext initrandom srandom'.split(' '))
const WORDS = new Set([...KEYWORDS, ...BUILTINS, ...REFUSED])
const SPECIAL = new Set(
  'NR NF FNR FS OFS RS ORS RT SUBSEP RSTART RLENGTH FILENAME OFMT CONVFMT IGNORECASE FPAT FIELDWIDTHS ERRNO PROCINFO BINMODE LINT TEXTDOMAIN'.split(
    ' ',
  ),
)

/** Behind these every awk takes a slash for the beginning of a regular expression. */
const BEFORE_REGEX = new Set(['{', '}', ';', '(', ',', '~', '!~', '!', '&&', '||', '?', ':', '=', '\n', ''])

/** Longer ones first. */
const OPERATORS =
  '**= && || == <= >= != !~ ++ -- += -= *= /= %= ^= ** { } ( ) [ ] ; , + - * / % ^ ! > < ? : ~ $ ='.split(' ')

function tokens(text: string): readonly Token[] {
  // Outside of texts nothing but plain characters has a meaning.
  if (/[\x00-\x08\x0b-\x1f\x7f]/.test(text)) throw new Refused(NOT_UNDERSTOOD)
  // Wherever this stands, in a text or not: a reader that lexes differently would run it.
  if (/\bsystem\s*\(/.test(text)) throw new Refused(STARTS)
  const out: Token[] = []
  let i = 0
  const last = (): Token | undefined => out[out.length - 1]
  const push = (kind: TokenKind, value: string): void => {
    out.push({ kind, text: value, called: text[i] === '(' })
  }
  while (i < text.length) {
    const c = text[i] as string
    if (c === ' ' || c === '\t') {
      i++
      continue
    }
    if (c === '\\') {
      if (text[i + 1] !== '\n') throw new Refused(NOT_UNDERSTOOD)
      i += 2
      continue
    }
    if (c === '\n') {
      i++
      push('newline', '\n')
      continue
    }
    if (c === '#') {
      while (i < text.length && text[i] !== '\n') i++
      // Whether a backslash continues a comment differs.
      if (text[i - 1] === '\\') throw new Refused(NOT_UNDERSTOOD)
      continue
    }
    if (c === '"') {
      const from = ++i
      while (text[i] !== '"') {
        if (i >= text.length || text[i] === '\n') throw new Refused(NOT_UNDERSTOOD)
        if (text[i] === '\\') {
          if (i + 1 >= text.length || text[i + 1] === '\n') throw new Refused(NOT_UNDERSTOOD)
          i++
        }
        i++
      }
      i++
      push('string', text.slice(from, i - 1))
      continue
    }
    if (/[0-9.]/.test(c)) {
      const match = /^(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)/.exec(text.slice(i, i + 64))
      if (!match) throw new Refused(NOT_UNDERSTOOD)
      i += match[0].length
      // `1x` and `1.2.3` are read in different ways.
      if (/[\w.]/.test(text[i] ?? '')) throw new Refused(NOT_UNDERSTOOD)
      push('number', match[0])
      continue
    }
    if (/[A-Za-z_]/.test(c)) {
      const from = i
      while (/\w/.test(text[i] ?? '')) i++
      push('name', text.slice(from, i))
      continue
    }
    if (c === '/') {
      const before = last()
      const kind = before?.kind ?? 'newline'
      if ((kind === 'operator' || kind === 'newline') && BEFORE_REGEX.has(before?.text ?? '')) {
        const from = i + 1
        i = endOfRegex(text, from)
        push('regex', text.slice(from, i - 1))
        continue
      }
      const divides =
        kind === 'number' ||
        (kind === 'name' && !WORDS.has(before?.text ?? '')) ||
        (kind === 'operator' && (before?.text === ')' || before?.text === ']'))
      if (!divides) throw new Refused(NOT_UNDERSTOOD)
    }
    const operator = OPERATORS.find((one) => text.startsWith(one, i))
    if (operator === undefined || text.startsWith('>>', i) || text.startsWith('<<', i))
      throw new Refused(c === '|' || c === '>' ? STARTS : NOT_UNDERSTOOD)
    i += operator.length
    push('operator', operator)
  }
  push('end', '')
  return out
}

/** A regular expression on one line, whose end every awk finds at the same place. Answers where it ends. */
function endOfRegex(text: string, start: number): number {
  let i = start
  let boxed = false
  for (; ; i++) {
    const c = text[i]
    if (c === undefined || c === '\n') throw new Refused(NOT_UNDERSTOOD)
    if (c === '\\') {
      const next = text[++i]
      if (next === undefined || next === '\n' || (boxed && /[[\]^]/.test(next))) throw new Refused(NOT_UNDERSTOOD)
    } else if (boxed) {
      // Where a bracket with brackets or slashes in it ends is a matter of taste.
      if (c === '/') throw new Refused(NOT_UNDERSTOOD)
      if (c === '[') {
        const name = /^\[:[a-z]{1,10}:\]/.exec(text.slice(i, i + 16))
        if (!name) throw new Refused(NOT_UNDERSTOOD)
        i += name[0].length - 1
      } else if (c === ']') boxed = false
    } else if (c === '[') {
      boxed = true
      if (text[i + 1] === '^') i++
      if (text[i + 1] === ']') throw new Refused(NOT_UNDERSTOOD)
    } else if (c === '/') return i + 1
  }
}

/** Longer programs are for people to judge, and would take their time. */
const MAX_LENGTH = 2048
/** How deeply expressions and blocks may be nested. */
const MAX_DEPTH = 64

class Parser {
  private at = 0
  private depth = 0
  private readonly functions = new Set<string>()

  constructor(private readonly list: readonly Token[]) {
    for (let i = 0; i + 1 < list.length; i++) {
      const { kind, text } = list[i] as Token
      if (kind !== 'name') continue
      if (HIDDEN.has(text)) throw new Refused(FETCHES)
      if (REFUSED.has(text)) throw new Refused(STARTS)
      if (text === 'function' || text === 'func') {
        const name = list[i + 1] as Token
        if (name.kind !== 'name' || WORDS.has(name.text) || SPECIAL.has(name.text)) throw new Refused(NOT_UNDERSTOOD)
        this.functions.add(name.text)
      }
    }
  }

  private get token(): Token {
    return this.list[this.at] as Token
  }

  private is(text: string): boolean {
    const { kind, text: own } = this.token
    return own === text && (kind === 'operator' || kind === 'newline' || kind === 'name')
  }

  private accept(text: string): boolean {
    if (!this.is(text)) return false
    this.at++
    return true
  }

  private expect(text: string): void {
    if (!this.accept(text)) throw new Refused(this.is('>') ? STARTS : NOT_UNDERSTOOD)
  }

  private newlines(): void {
    while (this.token.kind === 'newline') this.at++
  }

  private separators(): void {
    while (this.token.kind === 'newline' || this.is(';')) this.at++
  }

  private deeper<T>(parse: () => T): T {
    if (++this.depth > MAX_DEPTH) throw new Refused(NOT_UNDERSTOOD)
    const result = parse()
    this.depth--
    return result
  }

  /** Null: it only reads. Everything else is thrown. */
  program(): null {
    this.separators()
    while (this.token.kind !== 'end') {
      if (this.is('function') || this.is('func')) this.definition()
      else {
        if (/^(?:BEGIN|END|BEGINFILE|ENDFILE)$/.test(this.token.text) && this.token.kind === 'name') {
          this.at++
          if (!this.is('{')) throw new Refused(NOT_UNDERSTOOD)
        } else if (!this.is('{')) {
          this.expression(true)
          if (this.accept(',')) {
            this.newlines()
            this.expression(true)
          }
        }
        if (this.is('{')) this.block()
        else if (!this.atEnd() || this.is('}')) throw new Refused(this.is('>') ? STARTS : NOT_UNDERSTOOD)
      }
      this.separators()
    }
    return null
  }

  private definition(): void {
    this.at += 2
    this.expect('(')
    if (!this.accept(')')) {
      do {
        this.newlines()
        const { kind, text } = this.token
        if (kind !== 'name' || WORDS.has(text) || SPECIAL.has(text) || this.functions.has(text))
          throw new Refused(NOT_UNDERSTOOD)
        this.at++
      } while (this.accept(','))
      this.expect(')')
    }
    this.newlines()
    this.block()
  }

  private block(): void {
    this.deeper(() => {
      this.expect('{')
      this.separators()
      while (!this.is('}')) {
        this.statement()
        this.separators()
      }
      this.at++
    })
  }

  /** Ends a simple statement; a closing brace ends it without being taken. */
  private ended(): void {
    if (this.token.kind === 'newline' || this.is(';')) this.at++
    else if (!this.is('}') && this.token.kind !== 'end') throw new Refused(this.is('>') ? STARTS : NOT_UNDERSTOOD)
  }

  /** What a condition or a loop governs. */
  private governed(): void {
    this.newlines()
    if (this.accept(';')) return
    this.statement()
  }

  private statement(): void {
    this.deeper(() => {
      if (this.is('{')) return this.block()
      if (this.token.kind === 'name')
        switch (this.token.text) {
          case 'if':
            return this.condition()
          case 'while': {
            this.at++
            const constant = this.parenthesised()
            const from = this.at
            this.governed()
            return this.endless(constant, from)
          }
          case 'do': {
            this.at++
            const from = this.at
            this.governed()
            this.separators()
            this.expect('while')
            const until = this.at
            const constant = this.parenthesised()
            this.endless(constant, from, until)
            return this.ended()
          }
          case 'for':
            return this.loop()
          case 'print':
          case 'printf':
            this.at++
            this.printed()
            return this.ended()
          case 'break':
          case 'continue':
          case 'next':
          case 'nextfile':
            this.at++
            return this.ended()
          case 'exit':
          case 'return':
            this.at++
            if (!this.atEnd()) this.expression(true)
            return this.ended()
          case 'delete':
            this.at++
            if (this.token.kind !== 'name' || WORDS.has(this.token.text)) throw new Refused(NOT_UNDERSTOOD)
            this.at++
            if (this.accept('[')) {
              this.expressions(true)
              this.expect(']')
            }
            return this.ended()
        }
      this.expression(true)
      this.ended()
    })
  }

  private atEnd(): boolean {
    return this.token.kind === 'newline' || this.token.kind === 'end' || this.is(';') || this.is('}')
  }

  private condition(): void {
    this.at++
    this.parenthesised()
    this.governed()
    const back = this.at
    this.separators()
    if (this.accept('else')) this.governed()
    else this.at = back
  }

  /** True when what stands between the parentheses is one constant that is true. */
  private parenthesised(): boolean {
    this.expect('(')
    const { kind, text } = this.token
    const constant =
      this.list[this.at + 1]?.text === ')' && (kind === 'number' ? Number(text) !== 0 : kind === 'string')
    this.expression(true)
    this.expect(')')
    return constant
  }

  /** A loop without a condition needs something that ends it. */
  private endless(constant: boolean, from: number, until = this.at): void {
    if (!constant) return
    for (let i = from; i < until; i++) {
      const { kind, text } = this.list[i] as Token
      if (kind === 'name' && /^(?:break|exit|return|next|nextfile)$/.test(text)) return
    }
    throw new Refused('This awk program never ends.')
  }

  private loop(): void {
    this.at++
    this.expect('(')
    const [name, word] = [this.list[this.at], this.list[this.at + 1]]
    if (name?.kind === 'name' && word?.kind === 'name' && word.text === 'in') {
      if (WORDS.has(name.text)) throw new Refused(NOT_UNDERSTOOD)
      this.at += 2
      const { kind, text } = this.token
      if (kind !== 'name' || WORDS.has(text) || this.list[this.at + 1]?.text !== ')') throw new Refused(NOT_UNDERSTOOD)
      this.at += 2
      this.governed()
      return
    }
    if (!this.is(';')) this.expression(true)
    this.expect(';')
    this.newlines()
    let constant = true
    if (!this.is(';')) {
      const { kind, text } = this.token
      constant = this.list[this.at + 1]?.text === ';' && (kind === 'number' ? Number(text) !== 0 : kind === 'string')
      this.expression(true)
    }
    this.expect(';')
    this.newlines()
    if (!this.is(')')) this.expression(true)
    this.expect(')')
    const from = this.at
    this.governed()
    this.endless(constant, from)
  }

  /** Behind `print` a bare `>` writes to a file; within parentheses it compares. */
  private printed(): void {
    if (this.atEnd()) return
    if (this.is('>')) throw new Refused(STARTS)
    do {
      this.newlines()
      this.expression(false)
    } while (this.accept(','))
    if (this.is('>')) throw new Refused(STARTS)
  }

  private expressions(greater: boolean): void {
    do {
      this.newlines()
      this.expression(greater)
    } while (this.accept(','))
    this.newlines()
  }

  /**
   * An expression: operands with operators between them. Which of them binds closer does not matter, as none does harm; what
   * matters is where an operand stands and where an operator, and that no `>` is taken for a comparison that is not one.
   */
  private expression(greater: boolean): void {
    this.deeper(() => {
      this.operand(greater)
      for (;;) {
        const { kind, text } = this.token
        if (kind === 'operator') {
          if (text === '>') {
            if (!greater) throw new Refused(STARTS)
            this.at++
            this.operand(greater)
          } else if (text === '?') {
            this.at++
            this.newlines()
            this.expression(greater)
            this.newlines()
            this.expect(':')
            this.newlines()
            this.operand(greater)
          } else if (text === '&&' || text === '||') {
            this.at++
            this.newlines()
            this.operand(greater)
          } else if (/^(?:[-+*/%^<~]|\*\*|[<>=!]=|!~)$/.test(text)) {
            this.at++
            this.operand(greater)
          } else if (text === '(' || text === '$' || text === '!') this.operand(greater)
          else return
        } else if (kind === 'name' && text === 'in') {
          this.at++
          if (this.token.kind !== 'name' || WORDS.has(this.token.text)) throw new Refused(NOT_UNDERSTOOD)
          this.at++
        } else if (kind === 'string' || kind === 'number' || (kind === 'name' && !KEYWORDS.has(text)))
          // Two operands side by side are joined.
          this.operand(greater)
        else return
      }
    })
  }

  private operand(greater: boolean): void {
    this.deeper(() => {
      const { kind, text, called } = this.token
      if (kind === 'string' || kind === 'number' || kind === 'regex') {
        this.at++
        return
      }
      if (kind === 'operator') {
        if (text === '(') {
          this.at++
          this.expressions(true)
          this.expect(')')
          return
        }
        if (text === '$') return this.place(greater)
        if (text === '++' || text === '--') {
          this.at++
          return this.place(greater)
        }
        if (text === '!' || text === '-' || text === '+') {
          this.at++
          return this.operand(greater)
        }
        throw new Refused(text === '>' ? STARTS : NOT_UNDERSTOOD)
      }
      if (kind !== 'name') throw new Refused(NOT_UNDERSTOOD)
      if (text === 'getline') return this.getline(greater)
      if (KEYWORDS.has(text)) throw new Refused(NOT_UNDERSTOOD)
      if (BUILTINS.has(text)) {
        this.at++
        if (this.is('(')) return this.call()
        // Only `length` may stand without parentheses.
        if (text !== 'length') throw new Refused(NOT_UNDERSTOOD)
        return
      }
      if (called) {
        if (!this.functions.has(text))
          throw new Refused('This awk program calls a function that is not known to only read.')
        this.at++
        return this.call()
      }
      this.place(greater)
    })
  }

  private call(): void {
    this.expect('(')
    if (!this.accept(')')) {
      this.expressions(true)
      this.expect(')')
    }
  }

  /** A variable, an element of an array or a field, with what may be done to it. */
  private place(greater: boolean): void {
    const name = this.lvalue(greater)
    const { kind, text } = this.token
    if (kind !== 'operator') return
    if (text === '++' || text === '--') {
      this.at++
      return
    }
    if (!/^(?:=|[-+*/%^]=|\*\*=)$/.test(text)) return
    this.at++
    this.newlinesRefused()
    if (name !== null && FORMATS.has(name)) {
      const value = this.token
      const after = this.list[this.at + 1]
      if (
        text !== '=' ||
        value.kind !== 'string' ||
        !NUMBER_FORMAT.test(value.text) ||
        !(after?.kind === 'end' || after?.kind === 'newline' || after?.text === ';' || after?.text === '}')
      )
        throw new Refused('A number format of awk is set to something unusual.')
    }
    this.expression(greater)
  }

  private newlinesRefused(): void {
    if (this.token.kind === 'newline') throw new Refused(NOT_UNDERSTOOD)
  }

  /** Answers the name of a plain variable. */
  private lvalue(greater: boolean): string | null {
    return this.deeper(() => {
      const { kind, text } = this.token
      if (kind === 'operator' && text === '$') {
        this.at++
        if (this.accept('(')) {
          this.expression(true)
          this.expect(')')
        } else if (this.token.kind === 'number') this.at++
        else {
          // `$i++`, `$-1`, `$++i`: the first is about the field.
          if (this.is('++') || this.is('--') || this.is('-') || this.is('+')) this.at++
          this.lvalue(greater)
        }
        return null
      }
      if (kind !== 'name' || WORDS.has(text)) throw new Refused(NOT_UNDERSTOOD)
      // With a blank before the parenthesis it is a call in some, in others it is not.
      if (this.functions.has(text)) throw new Refused(NOT_UNDERSTOOD)
      if (
        text !== 'NR' &&
        text !== 'NF' &&
        text !== 'FNR' &&
        this.list[this.at + 1]?.text === '(' &&
        this.isOperator(1)
      )
        throw new Refused('This awk program calls a function that is not known to only read.')
      this.at++
      if (text === 'PROCINFO') {
        this.expect('[')
        if (this.token.kind !== 'string') throw new Refused(NOT_UNDERSTOOD)
        this.at++
        this.expect(']')
        return null
      }
      while (this.accept('[')) {
        this.expressions(greater)
        this.expect(']')
        if (!this.is('[')) return null
      }
      return text
    })
  }

  private isOperator(ahead: number): boolean {
    return this.list[this.at + ahead]?.kind === 'operator'
  }

  /** The next line of the input; from a file or a program it is refused. */
  private getline(greater: boolean): void {
    this.at++
    const { kind, text } = this.token
    if ((kind === 'name' && !KEYWORDS.has(text) && !BUILTINS.has(text)) || (kind === 'operator' && text === '$'))
      this.lvalue(greater)
    if (!this.atEnd() && !this.is(')') && !(greater && this.is('>')))
      throw new Refused(this.is('<') ? FETCHES : NOT_UNDERSTOOD)
  }
}
