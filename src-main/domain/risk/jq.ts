const NOT_UNDERSTOOD = 'This filter is not understood well enough to be let through.'
const ENVIRONMENT = 'This filter reads the environment, where passwords may stand.'
const ENDLESS = 'This filter never ends.'
const MODULES = 'This filter reads other files.'

const KEYWORDS = new Set(
  'def if then elif else end as reduce foreach try catch label and or import include module __loc__'.split(' '),
)

/** What jq knows without a definition, as far as it only works on its input. `repeat` and `infinite` never end. */
const BUILTINS = new Set(
  `not empty error length utf8bytelength keys keys_unsorted values has in map map_values path paths leaf_paths del
  to_entries from_entries with_entries select recurse recurse_down range floor ceil round trunc sqrt pow log log2 log10
  exp exp2 exp10 fabs abs add any all flatten reverse sort sort_by group_by unique unique_by min max min_by max_by
  contains inside startswith endswith ltrimstr rtrimstr trimstr trim ltrim rtrim combinations ascii explode implode split splits
  join test match capture scan sub gsub ascii_downcase ascii_upcase while until first last nth limit skip
  indices index rindex tostring tonumber toboolean toarray type arrays objects iterables booleans numbers normals finites
  strings nulls scalars isnan isinfinite isnormal isvalid nan tojson fromjson todate fromdate date now dateadd datesub
  mktime gmtime localtime strftime strptime strflocaltime todateiso8601 fromdateiso8601 dateiso8601 input inputs
  input_filename input_line_number debug stderr getpath setpath delpaths to_number transpose walk tostream fromstream
  truncate_stream limit isempty halt halt_error bsearch group_by unique_by pick have_literal_numbers have_decnum
  significand drem ldexp scalb scalbln nearbyint rint logb gamma lgamma tgamma frexp modf sin cos tan asin acos atan atan2
  sinh cosh tanh cbrt hypot min_by max_by splits ascii INDEX IN GROUP_BY UNIQUE_BY getpath error tojson ltrimstr
  break not null true false`.split(/\s+/),
)

const FORMATS = new Set('@text @json @html @uri @urid @csv @tsv @sh @base64 @base64d @base32 @base32d'.split(' '))

const OPERATOR = /^(?:\?\/\/=?|\/\/=?|\|=|[-+*/%]=|==|!=|<=|>=|\.\.|[-+*/%|,.:;()[\]{}=<>?])/

/** Longer filters are for people to judge. */
const MAX_LENGTH = 2048
/** How deeply a filter may be nested. */
const MAX_DEPTH = 64

interface Token {
  readonly kind: 'name' | 'variable' | 'field' | 'string' | 'other'
  readonly text: string
  /** The name of a key in `{…}`, which is no call. */
  readonly key: boolean
}

/**
 * Judges a jq filter: null when all it can do is work on its input, otherwise why not, in one sentence. jq has no way to write or to
 * start anything; what counts is what else it reads. Every name must be one that is known, or defined by the filter itself.
 */
export function jqProblem(filter: string): string | null {
  if (filter.length > MAX_LENGTH || /[\x00-\x08\x0b-\x1f\x7f]/.test(filter)) return NOT_UNDERSTOOD
  const list: Token[] = []
  const end = read(filter, 0, list, null, 0)
  if (end !== filter.length) return NOT_UNDERSTOOD
  const defined = new Set<string>()
  for (let i = 0; i < list.length; i++) {
    if (list[i]?.kind !== 'name' || list[i]?.key || list[i]?.text !== 'def') continue
    defined.add(list[++i]?.text ?? '')
    if (list[i + 1]?.text !== '(') continue
    for (i += 2; i < list.length && list[i]?.text !== ')'; i++)
      if (list[i]?.kind === 'name') defined.add(list[i]?.text ?? '')
  }
  for (let i = 0; i < list.length; i++) {
    const { kind, text, key } = list[i] as Token
    if (key) continue
    if (kind === 'name' && endless(list, i)) return ENDLESS
    if (kind === 'variable' && text === 'ENV') return ENVIRONMENT
    if (kind !== 'name') continue
    if (text === 'env') return ENVIRONMENT
    if (/^(?:import|include|module|modulemeta|get_search_list)$/.test(text)) return MODULES
    if (!KEYWORDS.has(text) && !BUILTINS.has(text) && !defined.has(text)) return NOT_UNDERSTOOD
  }
  return null
}

/** A loop without a condition (`while(true; …)`), or a function that is made of itself. */
function endless(list: readonly Token[], at: number): boolean {
  const text = list[at]?.text
  if (text === 'while' || text === 'until')
    return list[at + 1]?.text === '(' && /^(?:true|false|not)$/.test(list[at + 2]?.text ?? '')
  if (text !== 'def') return false
  const name = list[at + 1]?.text
  let i = at + 2
  // Parameters end at the colon.
  while (i < list.length && list[i]?.text !== ':') i++
  let brackets = 0
  let inner = 0
  for (; i < list.length; i++) {
    const token = list[i] as Token
    if (token.kind === 'name') {
      if (!token.key && token.text === name) return true
      if (token.text !== 'def') continue
      // From here on the name is that of another one.
      if (list[i + 1]?.text === name) return false
      if (brackets === 0) inner++
    } else if (/^[([{]$/.test(token.text)) brackets++
    else if (/^[)\]}]$/.test(token.text)) brackets--
    // The end of a function in it, or its own.
    else if (token.text === ';' && brackets === 0 && inner-- === 0) return false
  }
  return false
}

/**
 * Reads tokens from `from` until the closing parenthesis of an interpolation (`until` is `)`) or the end. Answers where it stopped,
 * or -1 for what is not understood.
 */
function read(text: string, from: number, out: Token[], until: ')' | null, depth: number): number {
  if (depth > MAX_DEPTH) return -1
  const open: string[] = []
  let i = from
  while (i < text.length) {
    const c = text[i] as string
    if (/[ \t\n]/.test(c)) {
      i++
      continue
    }
    if (c === '#') {
      while (i < text.length && text[i] !== '\n') i++
      // Newer ones let a backslash continue a comment.
      if (text[i - 1] === '\\') return -1
      continue
    }
    if (c === '"') {
      i = string(text, i + 1, out, depth)
      if (i < 0) return -1
      out.push({ kind: 'string', text: '', key: false })
      continue
    }
    const name = /^[A-Za-z_]\w*/.exec(text.slice(i, i + 200))?.[0]
    if (name !== undefined) {
      const before = out[out.length - 1]
      const key =
        open[open.length - 1] === '{' && (before?.text === '{' || before?.text === ',') && before.kind === 'other'
      const variable = before?.kind === 'other' && before.text === '$'
      i += name.length
      if (/[\w:]/.test(text[i] ?? '') && (text[i] !== ':' || text[i + 1] === ':')) return -1
      out.push({ kind: variable ? 'variable' : 'name', text: name, key: key && !variable })
      continue
    }
    const field = /^\.[A-Za-z_]\w*/.exec(text.slice(i, i + 200))?.[0]
    if (field !== undefined && text[i - 1] !== '.') {
      i += field.length
      if (/\w/.test(text[i] ?? '')) return -1
      out.push({ kind: 'field', text: field, key: false })
      continue
    }
    const number = /^(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/.exec(text.slice(i, i + 100))?.[0]
    if (number !== undefined) {
      i += number.length
      out.push({ kind: 'other', text: '0', key: false })
      continue
    }
    if (c === '@') {
      const format = /^@\w+/.exec(text.slice(i, i + 20))?.[0] ?? ''
      if (!FORMATS.has(format)) return -1
      i += format.length
      out.push({ kind: 'other', text: '@', key: false })
      continue
    }
    if (c === '$') {
      i++
      out.push({ kind: 'other', text: '$', key: false })
      continue
    }
    const operator = OPERATOR.exec(text.slice(i, i + 4))?.[0]
    if (operator === undefined) return -1
    if (/[([{]/.test(operator)) open.push(operator)
    else if (/[)\]}]/.test(operator)) {
      if (open.length === 0) return operator === until ? i : -1
      if ('([{'.indexOf(open.pop() as string) !== ')]}'.indexOf(operator)) return -1
    }
    i += operator.length
    out.push({ kind: 'other', text: operator, key: false })
  }
  return until === null && open.length === 0 ? i : -1
}

/** A text with filters in it (`"\(…)"`); answers what follows it. */
function string(text: string, from: number, out: Token[], depth: number): number {
  for (let i = from; i < text.length; i++) {
    const c = text[i]
    if (c === '"') return i + 1
    if (c !== '\\') continue
    i++
    if (text[i] === '(') {
      out.push({ kind: 'other', text: '(', key: false })
      i = read(text, i + 1, out, ')', depth + 1)
      if (i < 0) return -1
      out.push({ kind: 'other', text: ')', key: false })
    } else if (!/["\\/bfnrtu]/.test(text[i] ?? '')) return -1
  }
  return -1
}

/**
 * Judges an expression that either of the two programs named yq may be given: what jq understands and only reads, without any word
 * by which the other one loads files, reads the environment or writes.
 */
export function yqProblem(expression: string): string | null {
  if (/load|env|ENV|system|eval|include|import|debug|input|filename|split_doc|file_?index|error|halt/i.test(expression))
    return NOT_UNDERSTOOD
  return jqProblem(expression)
}
