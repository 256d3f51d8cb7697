import { forEachChild, parse, type SyntaxNode } from 'unbash'
import type { Span } from '../../../src-preload/contract/model'
import { MAX_DEPTH, MAX_LENGTH, MAX_OPENINGS, measureNesting } from './limits'
import { scanShell } from './scan'
import type {
  Assignment,
  Dynamic,
  Enclosure,
  Finding,
  ParsedShell,
  Place,
  Redirection,
  SimpleCommand,
  Word,
} from './types'

type Node<T extends SyntaxNode['type']> = Extract<SyntaxNode, { type: T }>
type UnbashWord = Node<'Word'>

/** Unescaped expansion syntax; in a word without parts it means that the parser has overlooked something. */
const OVERLOOKED = /(?:^|[^\\])(?:\\\\)*(?:\$[([{A-Za-z_0-9@*#?$!'"-]|`|[<>]\()/

/** The same inside a part that claims to be literal; quotes behind a dollar sign mean nothing between double quotes. */
const LITERAL_OVERLOOKED = /(?:^|[^\\])(?:\\\\)*(?:\$[([{A-Za-z_]|`)/

/** `a=~` and `a=b:~`: a tilde is expanded in the middle of such a word as well. */
const INNER_TILDE = /^[A-Za-z_][A-Za-z0-9_]*\+?=(?:[^~]*:)?~/

/**
 * The shell takes line continuations out before it sees tokens, so `$\⏎(id)` runs `id`; the parser sees a lone `$`. Nobody writes
 * that by accident: where a continuation splits a token, nothing is claimed about the text.
 */
const SPLIT_TOKEN = /[$<>]\\\n|[&|](?:\\\n)+[&|>]|;(?:\\\n)+[;&]|[0-9}](?:\\\n)+[<>]|\\\n\(/

/** Shells of other ages read these escapes of `$'…'` otherwise, or cut the word there. */
const UNSURE_ESCAPE = /\\(?:\n|x\{|c)/
const BY_NUMBER = /\\(?:[0-7xuU])/
/** What an escape may come to without doubt. */
const PLAIN_ASCII = /^[\x01-\x7f]*$/

/** `{rm,-rf,/}` in front of everything: the shell makes a whole command of it. */
const BRACED_COMMAND = /^\{([^{}$`'"\\\s]*,[^{}$`'"\\\s]*)\}$/

/** A word that is wholly the outcome of something. */
const COMES_FROM = /^[$`]/

/** A backslash at the very end, which bash leaves out and the parser keeps. */
const LOOSE_END = /(?:^|[^\\])(?:\\\\)*\\$/

/** Builtins that evaluate what stands in their arguments: subscripts and assignments, and so the commands in them. */
const EVALUATING = new Set(
  'let declare typeset export readonly local unset read mapfile readarray trap alias'.split(' '),
)

/** A descriptor or a plain name of a file behind `>&`. */
const COPIED_TO = /^[A-Za-z0-9_./:@%+,-]*$/

/** Nothing in it means anything to the shell. */
const PLAIN_WORD = /^[A-Za-z0-9_./:@%+,=-]+$/
const STATIC: readonly Dynamic[] = []

/** A literal value longer than this is not followed through variables. */
const MAX_TRACKED = 256

// Objects of a fixed shape, made without spreading: a long text makes thousands of them, and a spread costs ten times as much.
function word(span: Span, value: string | null, shape: string, dynamic: readonly Dynamic[], prefix: string): Word {
  return { start: span.start, end: span.end, value, shape, dynamic, prefix }
}

function placed(place: Place, pipeline: number, stage: number, background: boolean): Place {
  return { enclosures: place.enclosures, pipeline, stage, background, functionName: place.functionName }
}

class Walker {
  readonly commands: SimpleCommand[] = []
  readonly findings: Finding[] = []
  readonly functions: string[] = []
  plain = true
  private pipelines = 0
  private readonly variables = new Map<string, string>()
  private source: string
  private origin: Span | null

  /** With `origin`, the text is part of another command's word and all positions are that word's. */
  constructor(source: string, origin: Span | null) {
    this.source = source
    this.origin = origin
  }

  span(node: { readonly pos: number; readonly end: number }): { start: number; end: number } {
    return this.origin
      ? { start: this.origin.start, end: this.origin.end }
      : { start: node.pos, end: Math.max(node.pos, node.end) }
  }

  find(rule: string, node: { readonly pos: number; readonly end: number }, sentence: string): void {
    this.findings.push({ rule, ...this.span(node), sentence })
  }

  script(node: ReturnType<typeof parse>, place: Place, within: Span | null = null): void {
    const outer = { source: this.source, origin: this.origin }
    if (node.source !== undefined && within) {
      // Backticks with escapes: positions below belong to the decoded text, not to ours.
      this.source = node.source
      this.origin = outer.origin ?? within
      if (SPLIT_TOKEN.test(node.source) || LOOSE_END.test(node.source))
        this.find(
          'uncovered',
          node,
          'A line break or an escape splits a sign of the shell here, which hides what it does.',
        )
    }
    for (const error of node.errors ?? [])
      this.find('parse_error', { pos: error.pos, end: error.pos + 1 }, 'The shell syntax is broken here.')
    this.statements(node.commands, place)
    this.source = outer.source
    this.origin = outer.origin
  }

  private statements(list: readonly Node<'Statement'>[], place: Place): void {
    for (const statement of list) {
      if (statement.background) this.plain = false
      const inner = placed(place, this.pipelines++, 0, place.background || statement.background === true)
      this.node(statement.command, inner)
    }
  }

  /** Text between two children that is neither blank nor one of `allowed` was not understood. */
  private gap(from: number, to: number, allowed: RegExp): void {
    if (to <= from) return
    const text = this.source.slice(from, to)
    if (!allowed.test(text))
      this.find('uncovered', { pos: from, end: to }, 'The parser skipped this text, so nobody knows what it does.')
  }

  private enter(place: Place, enclosure: Enclosure): Place {
    this.plain = false
    return { ...place, enclosures: [...place.enclosures, enclosure] }
  }

  private node(node: SyntaxNode, place: Place): void {
    switch (node.type) {
      case 'Command':
        this.command(node, place)
        return
      case 'Pipeline': {
        let at = node.pos
        for (const prefix of node.prefixes) at = Math.max(at, prefix.end)
        const pipeline = node.commands.length > 1 ? this.pipelines++ : place.pipeline
        node.commands.forEach((command, stage) => {
          this.gap(at, command.pos, PIPE_GAP)
          this.node(command, placed(place, pipeline, node.commands.length > 1 ? stage : place.stage, place.background))
          at = command.end
        })
        return
      }
      case 'AndOr': {
        let at = node.pos
        for (const command of node.commands) {
          this.gap(at, command.pos, LIST_GAP)
          this.node(command, placed(place, this.pipelines++, 0, place.background))
          at = command.end
        }
        return
      }
      case 'Redirected':
        this.redirections(node.redirects, place)
        this.node(node.command, place)
        return
      case 'Subshell':
        this.statements(node.body.commands, this.enter(place, 'subshell'))
        return
      case 'BraceGroup':
        this.statements(node.body.commands, this.enter(place, 'group'))
        return
      case 'CompoundList':
        this.plain = false
        this.statements(node.commands, place)
        return
      case 'If': {
        const inner = this.enter(place, 'branch')
        this.statements(node.clause.commands, inner)
        this.statements(node.then.commands, inner)
        for (const other of node.elif) {
          this.statements(other.clause.commands, inner)
          this.statements(other.then.commands, inner)
        }
        if (node.else) this.statements(node.else.commands, inner)
        return
      }
      case 'For':
      case 'Select': {
        const inner = this.enter(place, 'loop')
        const values = (node.wordlist ?? []).map((word) => this.word(word, inner))
        const only = values.length === 1 ? values[0]?.value : undefined
        if (only !== undefined && only !== null && only.length <= MAX_TRACKED) this.variables.set(node.name.value, only)
        this.statements(node.body.commands, inner)
        return
      }
      case 'While': {
        const inner = this.enter(place, 'loop')
        this.statements(node.clause.commands, inner)
        this.statements(node.body.commands, inner)
        return
      }
      case 'ArithmeticFor': {
        const inner = this.enter(place, 'loop')
        for (const part of [node.initialize, node.test, node.update]) if (part) this.descend(part, inner)
        this.statements(node.body.commands, inner)
        return
      }
      case 'Case': {
        const inner = this.enter(place, 'branch')
        this.word(node.word, inner)
        for (const item of node.items) {
          for (const pattern of item.pattern) this.word(pattern, inner)
          this.statements(item.body.commands, inner)
        }
        return
      }
      case 'Function':
        this.functions.push(node.name.value)
        this.node(node.body, { ...this.enter(place, 'function'), functionName: node.name.value })
        return
      case 'Coproc':
        // Which word is the name of the co-process and which the program differs between versions of bash.
        this.find('uncovered', node, 'A co-process is not understood.')
        this.node(node.body, this.enter(place, 'coproc'))
        return
      case 'TestCommand':
      case 'ArithmeticCommand':
        // Subscripts in tests and arithmetic are evaluated as arithmetic, which can run commands.
        this.plain = false
        this.find('shell_test', node, 'Tests and arithmetic of the shell can run commands of their own.')
        this.descend(node, place)
        return
      default:
        this.plain = false
        this.find('unknown_syntax', node, 'This shell construct is not understood.')
        this.descend(node, place)
    }
  }

  /** Visits every script below a node that is not itself a command. */
  private descend(node: SyntaxNode, place: Place): void {
    forEachChild(node, (child) => {
      if (child.type === 'Script') {
        this.script(child, this.enter(place, 'substitution'), this.span(node))
        return
      }
      if (child.type === 'Word') this.word(child, place)
      else this.descend(child, place)
    })
  }

  private command(node: Node<'Command'>, place: Place): void {
    const words: Word[] = []
    const assignments: Assignment[] = []
    const redirections: Redirection[] = []
    let at = node.pos
    const items: SyntaxNode[] = []
    for (const item of node.prefix) items.push(item)
    if (node.name) items.push(node.name)
    for (const item of node.suffix) items.push(item)
    // A here-document's closing words stand far below its command, so order and gaps are checked for the others only.
    let ordered = true
    for (const item of items) {
      if (ordered) this.gap(at, item.pos, BLANK)
      at = item.end
      if (item.type === 'Word') words.push(this.word(item, place))
      else if (item.type === 'Assignment') {
        if (node.name && item.pos > node.name.pos) {
          const value = this.assignment(item, place)
          words.push(this.assignmentWord(item, value))
          if (value.value && !value.special) this.track(value)
        } else {
          const value = this.assignment(item, place)
          assignments.push(value)
          if (!node.name) this.track(value)
        }
      } else if (item.type === 'Redirect' || item.type === 'HereString' || item.type === 'HereDoc') {
        if (item.type === 'HereDoc') ordered = false
        redirections.push(this.redirection(item, place))
      }
    }
    if (ordered) this.gap(at, node.end, BLANK)
    const { start, end } = this.span(node)
    this.commands.push({ start, end, words, assignments, redirections, place })
    this.hidden(words, place)
  }

  /** Commands that are no syntax of the text but are made when it runs. They may condemn it, never clear it. */
  private hidden(words: readonly Word[], place: Place): void {
    const head = words[0]
    if (head === undefined) return
    const braced = head.dynamic.includes('brace') ? BRACED_COMMAND.exec(head.shape)?.[1] : undefined
    if (braced !== undefined) {
      const made = braced.split(',').filter((shape) => shape !== '')
      const all = [...made.map((shape) => word(head, null, shape, head.dynamic, '')), ...words.slice(1)]
      this.suspect(head, all, place)
    }
    // What comes out of it may be nothing at all, and then the next word is the program.
    if (head.value === null && head.prefix === '' && words.length > 1 && COMES_FROM.test(head.shape))
      this.suspect(head, words.slice(1), place)
    const name = head.shape
    const evaluates =
      EVALUATING.has(name) || (/^(?:printf|test|\[)$/.test(name) && words.some(({ shape }) => /^-v/.test(shape)))
    if (!evaluates) return
    for (const { value, start, end } of words) {
      if (value !== null && /\$\(|`|[<>]\(/.test(value)) this.commands.push(...scanShell(value, { start, end }))
      else if (value !== null && name === 'trap' && value.includes(' '))
        this.commands.push(...scanShell(value, { start, end }))
    }
  }

  /** A command that may be made of these words; its name is a guess. */
  private suspect(at: Span, words: readonly Word[], place: Place): void {
    const guessed = words.slice()
    const head = guessed[0]
    if (head) guessed[0] = word(head, null, head.shape, ['unknown'], '')
    this.commands.push({ start: at.start, end: at.end, words: guessed, assignments: [], redirections: [], place })
  }

  private track(assignment: Assignment): void {
    const value = assignment.value?.value
    if (value !== null && value !== undefined && !assignment.special && value.length <= MAX_TRACKED)
      this.variables.set(assignment.name, value)
    else this.variables.delete(assignment.name)
  }

  private assignment(node: Node<'Assignment'>, place: Place): Assignment {
    // `+=` or `a[…` without a name is a word to bash.
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(node.name))
      this.find('uncovered', node, 'The parser takes this for an assignment, the shell does not.')
    if (node.index) {
      // Whether this is one word depends on what stands before it.
      if (/[\s;&|<>()]/.test(node.index.text.replace(/\$\([^()]*\)/g, '')))
        this.find('uncovered', node, 'A subscript with blanks in it may be more than one word to the shell.')
      this.word(node.index, place)
    }
    const value = node.value
    if (value.type === 'Word')
      return {
        ...this.span(node),
        name: node.name,
        value: this.word(value, place),
        special: node.append === true || node.index !== undefined,
      }
    for (const element of value.elements) this.word(element, place)
    return { ...this.span(node), name: node.name, value: null, special: true }
  }

  /** `export A=b`: an argument that looks like an assignment. */
  private assignmentWord(node: Node<'Assignment'>, assignment: Assignment): Word {
    const head = `${node.name}=`
    const value = assignment.value
    if (!value || assignment.special)
      return { ...this.span(node), value: null, shape: node.text, dynamic: ['unknown'], prefix: head }
    return {
      ...this.span(node),
      value: value.value === null ? null : head + value.value,
      shape: head + value.shape,
      dynamic: value.dynamic,
      prefix: head + value.prefix,
    }
  }

  private redirections(nodes: readonly SyntaxNode[], place: Place): void {
    const redirections: Redirection[] = []
    for (const node of nodes)
      if (node.type === 'Redirect' || node.type === 'HereString' || node.type === 'HereDoc')
        redirections.push(this.redirection(node, place))
    const first = nodes[0]
    if (!first) return
    // They apply to a whole construct: kept as a command without words, so that their targets are judged.
    this.plain = false
    this.commands.push({ ...this.span(first), words: [], assignments: [], redirections, place })
  }

  private redirection(node: Node<'Redirect'> | Node<'HereString'> | Node<'HereDoc'>, place: Place): Redirection {
    const descriptor = node.descriptor
    const { start, end } = this.span(node)
    const base = {
      start,
      end,
      operator: node.operator,
      fd: descriptor?.type === 'FileDescriptor' ? descriptor.value : null,
      fdVariable: descriptor?.type === 'FileDescriptorVariable' ? descriptor.name : null,
    }
    if (node.type === 'HereDoc') {
      this.plain = false
      for (const part of node.body.parts ?? []) this.descendPart(part, this.enter(place, 'here-document'))
      return {
        start,
        end,
        operator: base.operator,
        fd: base.fd,
        fdVariable: base.fdVariable,
        target: null,
        body: node.body.text,
      }
    }
    const target = node.target ? this.word(node.target, place) : null
    // `3<&-cmd`: bash closes the descriptor and runs `cmd`, the parser sees one word.
    if (node.type === 'Redirect' && /^[<>]&$/.test(node.operator) && target && /^-./.test(target.shape)) {
      this.find('uncovered', node, 'The shell reads a further command out of this redirection.')
      const hidden: Word = { ...target, value: null, shape: target.shape.slice(1), dynamic: ['unknown'], prefix: '' }
      this.commands.push({ ...this.span(node), words: [hidden], assignments: [], redirections: [], place })
    }
    if (!target) this.find('uncovered', node, 'This redirection has no target.')
    // `>& '$(id)'` runs `id`: bash expands a target that is no descriptor a second time, quoted or not.
    if (target && node.operator === '>&' && !COPIED_TO.test(target.shape)) {
      this.find('uncovered', node, 'The shell expands this target twice.')
      if (/\$\(|`|[<>]\(/.test(target.shape)) this.commands.push(...scanShell(target.shape, target))
    }
    return { start, end, operator: base.operator, fd: base.fd, fdVariable: base.fdVariable, target, body: null }
  }

  private descendPart(part: SyntaxNode, place: Place): void {
    if (part.type === 'CommandExpansion' || part.type === 'ProcessSubstitution') {
      if (part.script) this.script(part.script, this.enter(place, 'substitution'), this.span(part))
      else this.find('uncovered', part, 'This substitution could not be read.')
      return
    }
    this.descend(part, place)
  }

  word(node: UnbashWord, place: Place): Word {
    const span = this.span(node)
    // The parser takes a word apart when it is first asked for its parts; these have none.
    if (PLAIN_WORD.test(node.text)) {
      const { text } = node
      return word(span, text, text, STATIC, text)
    }
    const parts = node.parts
    if (!parts) {
      const text = node.text
      const looksDynamic = OVERLOOKED.test(text) || text.startsWith('(') || oddBraces(text)
      if (looksDynamic) this.find('uncovered', node, 'The parser did not take this word apart.')
      if (looksDynamic) return word(span, null, node.value, ['unknown'], '')
      if (text.charCodeAt(0) === 126 /* ~ */ || (text.includes('~') && INNER_TILDE.test(text)))
        return word(span, null, node.value, ['tilde'], '')
      return word(span, node.value, node.value, STATIC, node.value)
    }
    const dynamic: Dynamic[] = []
    let shape = ''
    let prefix: string | null = null
    const note = (kind: Dynamic): void => {
      if (prefix === null) prefix = shape
      if (!dynamic.includes(kind)) dynamic.push(kind)
    }
    if (node.text.charCodeAt(0) === 126 || (node.text.includes('~') && INNER_TILDE.test(node.text))) note('tilde')
    const take = (part: SyntaxNode): void => {
      switch (part.type) {
        case 'Literal':
          if (LITERAL_OVERLOOKED.test(part.text) || oddBraces(part.text)) {
            note('unknown')
            this.find('uncovered', part, 'The parser did not take this word apart.')
          }
          shape += part.value
          return
        case 'SingleQuoted':
          shape += part.value
          return
        case 'AnsiCQuoted':
          // Bash keeps a line continuation in here, the parser takes it out. An escape beyond ASCII depends on the locale, and a
          // NUL ends the word.
          if (UNSURE_ESCAPE.test(part.text) || (BY_NUMBER.test(part.text) && !PLAIN_ASCII.test(part.value))) {
            note('unknown')
            this.find('uncovered', part, 'An escape stands in a quotation where shells differ.')
          }
          shape += part.value
          return
        case 'DoubleQuoted':
          for (const inner of part.parts) take(inner)
          return
        case 'LocaleString':
          // Bash may translate it.
          note('unknown')
          for (const inner of part.parts) take(inner)
          return
        case 'SimpleExpansion': {
          const name = part.text.slice(1)
          // In front, and not set in this text, it is the home folder as `~` is.
          if (name === 'HOME' && shape === '' && !this.variables.has(name)) {
            note('tilde')
            shape = part.text
            return
          }
          note(/^[A-Za-z_0-9?$#!_-]/.test(name) ? 'variable' : 'expansion')
          shape += this.variables.get(name) ?? part.text
          return
        }
        case 'ParameterExpansion': {
          const simple = !part.operation && !part.prefix && !part.index && /^[A-Za-z_0-9]+$/.test(part.parameter)
          if (simple && part.parameter === 'HOME' && shape === '' && !this.variables.has('HOME')) {
            note('tilde')
            shape = part.text
            return
          }
          note(simple ? 'variable' : 'expansion')
          shape += (simple ? this.variables.get(part.parameter) : undefined) ?? part.text
          // Whatever the parser could not name may hold commands it has not looked into.
          if (part.operation?.type === 'Unknown')
            this.find('uncovered', part, 'The parser did not take this expansion apart.')
          this.descend(part, place)
          return
        }
        case 'CommandExpansion':
        case 'ProcessSubstitution':
          note('substitution')
          shape += part.text
          this.descendPart(part, place)
          return
        case 'ArithmeticExpansion':
          note('arithmetic')
          shape += part.text
          this.descend(part, place)
          return
        case 'ExtendedGlob':
          // In zsh the brackets can hold commands (`*(e:rm x:)`); to bash in its usual state they are an error, and it goes on behind.
          note('expansion')
          this.find('uncovered', part, 'A pattern with brackets is read differently by every shell.')
          shape += part.text
          this.descend(part, place)
          return
        case 'Glob':
          note('glob')
          shape += part.text
          this.descend(part, place)
          return
        case 'BraceExpansion':
          note('brace')
          shape += part.text
          this.descend(part, place)
          return
        default:
          note('unknown')
          shape += this.source.slice(part.pos, part.end)
          this.find('unknown_syntax', part, 'This shell construct is not understood.')
          this.descend(part, place)
      }
    }
    for (const part of parts) take(part)
    if (dynamic.length === 0) return word(span, shape, shape, STATIC, shape)
    return word(span, null, shape, dynamic, prefix ?? '')
  }
}

/** `{a}1,b}`: bash looks for a later bracket when the first one closes nothing; the parser does not. */
function oddBraces(text: string): boolean {
  const first = text.indexOf('{')
  if (first < 0 || !text.includes('}', first) || !/,|\.\./.test(text)) return false
  let depth = 0
  for (const c of text) depth += c === '{' ? 1 : c === '}' ? -1 : 0
  return depth < 0
}

const BLANK = /^(?:[ \t]|\\\n)*$/
const PIPE_GAP = /^(?:[ \t\n]|\\\n|#[^\n]*\n)*(?:\|&?)?(?:[ \t\n!]|\\\n|#[^\n]*\n)*$/
const LIST_GAP = /^(?:[ \t\n]|\\\n)*(?:&&|\|\|)?(?:[ \t\n]|\\\n|#[^\n]*\n)*$/
const BETWEEN = /^(?:[ \t\n;&]|\\\n|#[^\n]*(?:\n|$))*$/

const OUTERMOST: Place = { enclosures: [], pipeline: 0, stage: 0, background: false, functionName: null }

/**
 * Reads a command line. It never throws for any text: what is not understood is a finding, and when the parser cannot be used at
 * all (caps, broken syntax) a coarse scan still names every command it can see.
 */
export function parseShell(text: string, origin: Span | null = null): ParsedShell {
  const tooLarge = text.length > MAX_LENGTH
  const nesting = tooLarge ? null : measureNesting(text)
  const tooDeep = nesting !== null && (nesting.depth > MAX_DEPTH || nesting.openings > MAX_OPENINGS)
  const whole = origin ?? { start: 0, end: text.length }
  const coarse = (findings: readonly Finding[], flags: { tooLarge: boolean; tooDeep: boolean }): ParsedShell => ({
    commands: scanShell(text, origin),
    plain: false,
    functions: [],
    findings,
    ...flags,
  })
  if (tooLarge)
    return coarse(
      [
        {
          rule: 'too_large',
          ...whole,
          sentence: 'The command is longer than 16 KB, too long to be judged piece by piece.',
        },
      ],
      { tooLarge, tooDeep },
    )
  const deep = (): ParsedShell =>
    coarse(
      [
        {
          rule: 'too_deep',
          start: whole.start,
          end: whole.end,
          sentence: 'The command is nested too deeply to be judged piece by piece.',
        },
      ],
      { tooLarge, tooDeep: true },
    )
  if (tooDeep) return deep()
  const walker = new Walker(text, origin)
  const script = parse(text)
  try {
    walker.script(script, OUTERMOST)
  } catch (error) {
    // A sum of thousands of parts is a tree as deep: it has no brackets to be counted beforehand.
    if (error instanceof RangeError) return deep()
    throw error
  }
  const split = SPLIT_TOKEN.exec(text)
  if (split)
    walker.find(
      'uncovered',
      { pos: split.index, end: split.index + split[0].length },
      'A line break splits a sign of the shell here, which hides what it does.',
    )
  if (text.endsWith('\\') && LOOSE_END.test(text))
    walker.find('uncovered', { pos: text.length - 1, end: text.length }, 'The text ends in the middle of an escape.')
  let at = 0
  let here = false
  for (const statement of script.commands) {
    if (!here && !BETWEEN.test(text.slice(at, statement.pos)))
      walker.find(
        'uncovered',
        { pos: at, end: statement.pos },
        'The parser skipped this text, so nobody knows what it does.',
      )
    at = statement.end
  }
  for (const command of walker.commands) if (command.redirections.some((r) => r.body !== null)) here = true
  if (!here && !BETWEEN.test(text.slice(at)))
    walker.find(
      'uncovered',
      { pos: at, end: text.length },
      'The parser skipped this text, so nobody knows what it does.',
    )
  // Bash runs line by line, so what stands before an error runs, and after an error the tree is a guess.
  const extra = walker.findings.length > 0 ? scanShell(text, origin) : []
  return {
    commands: [...walker.commands, ...extra],
    plain: walker.plain && walker.findings.length === 0,
    functions: walker.functions,
    findings: walker.findings,
    tooLarge,
    tooDeep,
  }
}
