/**
 * A reader for the part of YAML the shipped rules are written in, about thirty times quicker than a full parser: 200 KB have to be
 * read before the first command can be judged. It knows block and flow maps and lists, plain and quoted scalars on one line, and
 * comments. For anything else, faults included, it answers `undefined` and the full parser takes over; a test holds that both read
 * the same out of every shipped file.
 */
export function quickYaml(source: string): unknown {
  try {
    return new Reader(source).document()
  } catch (error) {
    if (error === UNKNOWN) return undefined
    throw error
  }
}

const UNKNOWN = Symbol('outside the known part of YAML')

interface Line {
  readonly indent: number
  readonly text: string
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  '"': '"',
  n: '\n',
  t: '\t',
  '/': '/',
  r: '\r',
  '0': '\0',
}

class Reader {
  private readonly lines: Line[] = []
  private at = 0
  /** The text a scalar or flow collection is read from, and the place in it. */
  private text = ''
  private pos = 0

  constructor(source: string) {
    if (source.includes('\t') || source.includes('\r')) throw UNKNOWN
    for (const raw of source.split('\n')) {
      let indent = 0
      while (raw.charCodeAt(indent) === 32) indent++
      if (indent === raw.length || raw.charCodeAt(indent) === 35 /* # */) continue
      const text = raw.slice(indent)
      if (indent === 0 && (text.startsWith('---') || text.startsWith('...') || text.startsWith('%'))) throw UNKNOWN
      this.lines.push({ indent, text })
    }
  }

  document(): unknown {
    const first = this.lines[0]
    if (first?.indent !== 0) throw UNKNOWN
    const value = this.block(0)
    if (this.at < this.lines.length) throw UNKNOWN
    return value
  }

  private block(indent: number): unknown {
    const line = this.lines[this.at]
    if (!line || line.indent !== indent) throw UNKNOWN
    return isItem(line.text) ? this.list(indent) : this.map(indent)
  }

  private list(indent: number): unknown[] {
    const out: unknown[] = []
    for (;;) {
      const line = this.lines[this.at]
      if (!line || line.indent < indent || (line.indent === indent && !isItem(line.text))) return out
      if (line.indent !== indent) throw UNKNOWN
      let skip = 1
      while (line.text.charCodeAt(skip) === 32) skip++
      const rest = line.text.slice(skip)
      if (rest === '' || rest.charCodeAt(0) === 35) throw UNKNOWN
      if (isItem(rest)) throw UNKNOWN
      if (this.keyOf(rest) !== null) {
        // `- key: value`: a map whose first line stands behind the dash.
        this.lines[this.at] = { indent: indent + skip, text: rest }
        out.push(this.map(indent + skip))
      } else {
        this.at++
        out.push(this.inline(rest))
      }
    }
  }

  private map(indent: number): Record<string, unknown> {
    const out: Record<string, unknown> = {}
    for (;;) {
      const line = this.lines[this.at]
      if (!line || line.indent < indent) return out
      if (line.indent !== indent || isItem(line.text)) {
        if (line.indent === indent) return out
        throw UNKNOWN
      }
      const found = this.keyOf(line.text)
      if (found === null || Object.hasOwn(out, found.key) || found.key === '__proto__') throw UNKNOWN
      const rest = line.text.slice(found.end).trim()
      this.at++
      if (rest !== '' && rest.charCodeAt(0) !== 35) {
        out[found.key] = this.inline(rest)
        continue
      }
      const next = this.lines[this.at]
      if (next && next.indent > indent) out[found.key] = this.block(next.indent)
      else if (next && next.indent === indent && isItem(next.text)) out[found.key] = this.list(indent)
      else out[found.key] = null
    }
  }

  /** The key a line begins with and where its value begins; null when the line is not `key: …`. */
  private keyOf(text: string): { key: string; end: number } | null {
    const c = text[0]
    if (c === '{' || c === '[') return null
    this.text = text
    this.pos = 0
    let key: string
    if (c === '"' || c === "'") key = this.quoted()
    else {
      const match = /^[A-Za-z0-9_$./|*-](?:[^:#]|:(?=\S)|#(?<=\S#))*?(?=:(?:\s|$))/.exec(text)
      if (!match) return null
      key = match[0].trimEnd()
      this.pos = match[0].length
    }
    if (text[this.pos] !== ':') return null
    const after = text.charCodeAt(this.pos + 1)
    if (!Number.isNaN(after) && after !== 32) return null
    return { key, end: this.pos + 1 }
  }

  /** A value that begins and ends on one line. */
  private inline(text: string): unknown {
    this.text = text
    this.pos = 0
    const c = text[0]
    let value: unknown
    if (c === '{' || c === '[') value = this.flow()
    else if (c === '"' || c === "'") value = this.quoted()
    else {
      const comment = text.search(/\s#/)
      value = plain(comment < 0 ? text.trimEnd() : text.slice(0, comment).trimEnd(), false)
      return value
    }
    const rest = text.slice(this.pos)
    if (!/^\s*(?:\s#.*)?$/.test(rest)) throw UNKNOWN
    return value
  }

  private blanks(): void {
    while (this.text.charCodeAt(this.pos) === 32) this.pos++
  }

  private flow(): unknown {
    const c = this.text[this.pos]
    if (c === '"' || c === "'") return this.quoted()
    if (c === '[') {
      const out: unknown[] = []
      this.pos++
      for (;;) {
        this.blanks()
        if (this.text[this.pos] === ']') {
          this.pos++
          return out
        }
        out.push(this.flow())
        this.blanks()
        // `[a: b]` is a map of one: not used here.
        if (this.text[this.pos] === ',') this.pos++
        else if (this.text[this.pos] !== ']') throw UNKNOWN
      }
    }
    if (c === '{') {
      const out: Record<string, unknown> = {}
      this.pos++
      for (;;) {
        this.blanks()
        if (this.text[this.pos] === '}') {
          this.pos++
          return out
        }
        const key = this.flowScalar()
        this.blanks()
        if (typeof key !== 'string' || key === '__proto__' || Object.hasOwn(out, key) || this.text[this.pos] !== ':')
          throw UNKNOWN
        this.pos++
        this.blanks()
        out[key] = this.flow()
        this.blanks()
        if (this.text[this.pos] === ',') this.pos++
        else if (this.text[this.pos] !== '}') throw UNKNOWN
      }
    }
    return this.flowScalar()
  }

  private flowScalar(): unknown {
    const c = this.text[this.pos]
    if (c === '"' || c === "'") return this.quoted()
    const from = this.pos
    WORD.lastIndex = from
    const word = WORD.exec(this.text)
    if (word) this.pos += word[0].length
    for (;;) {
      const d = this.text[this.pos]
      if (d === undefined) throw UNKNOWN
      if (d === ',' || d === ']' || d === '}') break
      if (d === '[' || d === '{' || (d === '#' && this.text[this.pos - 1] === ' ')) throw UNKNOWN
      if (d === ':' && /[ ,\]}]/.test(this.text[this.pos + 1] ?? ' ')) break
      this.pos++
    }
    return plain(this.text.slice(from, this.pos).trimEnd(), true)
  }

  private quoted(): string {
    const quote = this.text[this.pos]
    const from = this.pos + 1
    if (quote === "'") {
      let end = from
      for (;;) {
        end = this.text.indexOf("'", end)
        if (end < 0) throw UNKNOWN
        if (this.text[end + 1] !== "'") break
        end += 2
      }
      this.pos = end + 1
      return this.text.slice(from, end).replaceAll("''", "'")
    }
    const close = this.text.indexOf('"', from)
    if (close < 0) throw UNKNOWN
    const slash = this.text.indexOf('\\', from)
    if (slash < 0 || slash > close) {
      this.pos = close + 1
      return this.text.slice(from, close)
    }
    let out = this.text.slice(from, slash)
    let start = slash
    for (let i = slash; ; i++) {
      const c = this.text[i]
      if (c === undefined) throw UNKNOWN
      if (c === '"') {
        this.pos = i + 1
        return out + this.text.slice(start, i)
      }
      if (c === '\\') {
        const escaped = ESCAPES[this.text[i + 1] ?? '']
        if (escaped === undefined) throw UNKNOWN
        out += this.text.slice(start, i) + escaped
        i++
        start = i + 1
      }
    }
  }
}

/** The common beginning of a plain scalar, taken at once. */
const WORD = /[A-Za-z_][\w|.-]*/y

function isItem(text: string): boolean {
  return text.charCodeAt(0) === 45 /* - */ && (text.length === 1 || text.charCodeAt(1) === 32)
}

function plain(text: string, inFlow: boolean): unknown {
  if (/^[A-Za-z][\w|-]*$/.test(text) && !/^(?:true|false|null)$/i.test(text)) return text
  const c = text[0]
  if (c === undefined || '&*!|>%@`?"\'[]{},#'.includes(c) || /:(?:\s|$)/.test(text) || /\s#/.test(text)) throw UNKNOWN
  if (c === '-' && (text.length === 1 || text[1] === ' ')) throw UNKNOWN
  if (inFlow && /[[\]{},]/.test(text)) throw UNKNOWN
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  if (/^[1-9][0-9]{0,8}$|^0$/.test(text)) return Number(text)
  // Everything else that YAML might take for something other than text is left to the full parser.
  if (
    /^[-+.]?[0-9.]+(?:[eE][-+]?[0-9]+)?$|^0[xo]|^[-+]?\.(?:inf|nan)|^(?:True|TRUE|False|FALSE|Null|NULL|~)$/i.test(text)
  )
    throw UNKNOWN
  return text
}
