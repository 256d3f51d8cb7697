import type { Span } from '../../../src-preload/contract/model'
import type { Dynamic, Place, Redirection, SimpleCommand, Word } from './types'

interface Frame {
  words: Word[]
  redirections: Redirection[]
  /** What ends the frame: `)`, a backtick, or nothing for the outermost one. */
  readonly closer: string
  inDouble: boolean
  shape: string
  started: number
  dynamic: Dynamic[]
  operator: { text: string; at: number } | null
  pipeline: number
  stage: number
}

/** Words that only introduce a command. */
const RESERVED = new Set([
  '{',
  '}',
  '!',
  'if',
  'then',
  'elif',
  'else',
  'while',
  'until',
  'do',
  'time',
  'coproc',
  'fi',
  'done',
])

/** Characters that mean nothing to the shell wherever they stand. */
const PLAIN_RUN = /[A-Za-z0-9_./:@%+,=-]+/y

/**
 * The coarse reader for texts the parser must not or cannot take: one pass, no recursion, linear time. It splits at every
 * separator, decodes quotes, and enters substitutions wherever they stand. It sees too many commands rather than too few, so its
 * result may condemn a text but never clear it.
 */
export function scanShell(text: string, origin: Span | null = null): SimpleCommand[] {
  const commands: SimpleCommand[] = []
  let pipelines = 0
  const open = (closer: string): Frame => ({
    words: [],
    redirections: [],
    closer,
    inDouble: false,
    shape: '',
    started: -1,
    dynamic: [],
    operator: null,
    pipeline: pipelines++,
    stage: 0,
  })
  let frame = open('')
  const stack: Frame[] = []
  const span = (start: number, end: number): { start: number; end: number } =>
    origin ? { start: origin.start, end: origin.end } : { start, end }
  const dynamic = (kind: Dynamic): void => {
    if (!frame.dynamic.includes(kind)) frame.dynamic.push(kind)
  }
  const endWord = (at: number): void => {
    if (frame.started < 0) return
    const literal = frame.dynamic.length === 0
    const place = span(frame.started, at)
    const word: Word = {
      start: place.start,
      end: place.end,
      value: literal ? frame.shape : null,
      shape: frame.shape,
      dynamic: frame.dynamic,
      prefix: literal ? frame.shape : '',
    }
    if (frame.operator) {
      const whole = span(frame.operator.at, at)
      frame.redirections.push({
        start: whole.start,
        end: whole.end,
        operator: frame.operator.text,
        fd: null,
        fdVariable: null,
        target: word,
        body: null,
      })
      frame.operator = null
    } else if (frame.words.length > 0 || !RESERVED.has(frame.shape)) frame.words.push(word)
    frame.shape = ''
    frame.started = -1
    frame.dynamic = []
  }
  const endCommand = (at: number, piped: boolean): void => {
    endWord(at)
    const first = frame.words[0] ?? frame.redirections[0]
    if (first) {
      const place: Place = {
        enclosures: stack.length > 0 ? ['substitution'] : [],
        pipeline: frame.pipeline,
        stage: frame.stage,
        background: false,
        functionName: null,
      }
      let words = frame.words
      // Leading `NAME=value` words only set the environment.
      const skip = words.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word.shape))
      if (skip > 0) words = words.slice(skip)
      const whole = span(first.start, at)
      commands.push({
        start: whole.start,
        end: whole.end,
        words,
        assignments: [],
        redirections: frame.redirections,
        place,
      })
    }
    frame.words = []
    frame.redirections = []
    frame.operator = null
    if (piped) frame.stage++
    else {
      frame.pipeline = pipelines++
      frame.stage = 0
    }
  }
  const begin = (at: number): void => {
    if (frame.started < 0) frame.started = at
  }
  const push = (closer: string): void => {
    stack.push(frame)
    frame = open(closer)
  }
  const pop = (at: number): void => {
    endCommand(at, false)
    frame = stack.pop() ?? open('')
  }

  let i = 0
  while (i < text.length) {
    const c = text[i] as string
    if (c === '\\') {
      begin(i)
      const next = text[i + 1]
      if (next === undefined) frame.shape += '\\'
      else if (next !== '\n') frame.shape += frame.inDouble && !'$`"\\'.includes(next) ? c + next : next
      i += 2
      continue
    }
    if (c === '$' && text[i + 1] === '(') {
      begin(i)
      frame.shape += '$()'
      dynamic('substitution')
      push(')')
      i += 2
      continue
    }
    if (c === '`') {
      if (frame.closer === '`') pop(i)
      else {
        begin(i)
        frame.shape += '$()'
        dynamic('substitution')
        push('`')
      }
      i++
      continue
    }
    if (c === '"') {
      begin(i)
      frame.inDouble = !frame.inDouble
      i++
      continue
    }
    if (frame.inDouble) {
      begin(i)
      if (c === '$') dynamic('variable')
      frame.shape += c
      i++
      continue
    }
    if (c === "'") {
      begin(i)
      const ansi = frame.shape.endsWith('$') && text[i - 1] === '$'
      let end = i + 1
      if (ansi) while (end < text.length && text[end] !== "'") end += text[end] === '\\' ? 2 : 1
      else {
        end = text.indexOf("'", i + 1)
        if (end < 0) end = text.length
      }
      const body = text.slice(i + 1, end)
      if (ansi) frame.shape = frame.shape.slice(0, -1) + decodeEscapes(body)
      else frame.shape += body
      i = end + 1
      continue
    }
    if (c === ' ' || c === '\t') {
      endWord(i)
      i++
      continue
    }
    if (c === '#' && frame.started < 0) {
      const end = text.indexOf('\n', i)
      i = end < 0 ? text.length : end
      continue
    }
    if (c === '\n' || c === ';') {
      endCommand(i, false)
      i++
      continue
    }
    if (c === '|') {
      const or = text[i + 1] === '|'
      endCommand(i, !or)
      i += or || text[i + 1] === '&' ? 2 : 1
      continue
    }
    if (c === '&') {
      if (text[i + 1] === '>') {
        endWord(i)
        const more = text[i + 2] === '>'
        frame.operator = { text: more ? '&>>' : '&>', at: i }
        i += more ? 3 : 2
        continue
      }
      endCommand(i, false)
      i += text[i + 1] === '&' ? 2 : 1
      continue
    }
    if (c === '(') {
      if (frame.started >= 0) dynamic('unknown')
      endCommand(i, false)
      push(')')
      i++
      continue
    }
    if (c === ')') {
      if (frame.closer === ')') pop(i)
      else endCommand(i, false)
      i++
      continue
    }
    if (c === '<' || c === '>') {
      if (text[i + 1] === '(') {
        begin(i)
        frame.shape += `${c}()`
        dynamic('substitution')
        push(')')
        i += 2
        continue
      }
      // A number glued to the operator is its descriptor.
      if (frame.started >= 0 && /^\d+$/.test(frame.shape)) {
        frame.shape = ''
        frame.started = -1
      } else endWord(i)
      let end = i + 1
      while (end < i + 3 && '<>&|-'.includes(text[end] ?? ' ')) end++
      frame.operator = { text: text.slice(i, end), at: i }
      i = end
      continue
    }
    begin(i)
    PLAIN_RUN.lastIndex = i
    if (PLAIN_RUN.test(text)) {
      frame.shape += text.slice(i, PLAIN_RUN.lastIndex)
      i = PLAIN_RUN.lastIndex
      continue
    }
    if (c === '$') dynamic('variable')
    else if (c === '*' || c === '?' || c === '[') dynamic('glob')
    else if (c === '~' && frame.started === i) dynamic('tilde')
    frame.shape += c
    i++
  }
  while (stack.length > 0) pop(text.length)
  endCommand(text.length, false)
  return commands
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

/** The backslash escapes of `$'…'`, `echo -e` and `printf`. */
export function decodeEscapes(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|([\s\S]))/g,
    (whole, hex?: string, short?: string, long?: string, octal?: string, letter?: string) => {
      const code = hex ?? short ?? long
      if (code !== undefined) {
        const point = Number.parseInt(code, 16)
        return point <= 0x10ffff ? String.fromCodePoint(point) : whole
      }
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
      return letter === undefined ? whole : (SIMPLE_ESCAPES[letter] ?? whole)
    },
  )
}
