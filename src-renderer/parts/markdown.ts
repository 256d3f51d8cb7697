/**
 * A small subset of Markdown as data: paragraphs, headings, lists, quotes, rules, fenced code; inside them bold, italics and
 * inline code. Everything else, HTML above all, stays the text it is. Links are not made: a model's text must not lead anywhere.
 */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'bold'; readonly text: string }
  | { readonly kind: 'italic'; readonly text: string }

export type Block =
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'quote'; readonly text: string }
  | { readonly kind: 'rule' }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | ({ readonly kind: 'list' } & List)

export interface List {
  readonly ordered: boolean
  readonly first: number
  readonly items: readonly { readonly text: string; readonly inner: List | null }[]
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/
const HEADING = /^ {0,3}#{1,6}\s+(.*)$/
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/

/** Cuts a text into blocks, each the source lines of one block. A fence that is still open reaches to the end. */
export function blocksOf(source: string): readonly string[] {
  const blocks: string[] = []
  let lines: string[] = []
  let fence: string | null = null
  let list = false
  const close = (): void => {
    if (lines.length > 0) blocks.push(lines.join('\n'))
    lines = []
    list = false
  }
  for (const line of source.replace(/\r\n?/g, '\n').split('\n')) {
    if (fence !== null) {
      lines.push(line)
      const end = line.trim()
      if (end.startsWith(fence) && end.replaceAll(fence[0] ?? '`', '') === '') {
        fence = null
        close()
      }
      continue
    }
    const opening = FENCE.exec(line)
    if (opening !== null) {
      close()
      fence = opening[1] ?? '```'
      lines.push(line)
      continue
    }
    if (line.trim() === '') {
      close()
      continue
    }
    if (HEADING.test(line) || RULE.test(line)) {
      close()
      blocks.push(line)
      continue
    }
    const item = ITEM.test(line)
    if (item && !list && lines.length > 0) close()
    if (item) list = true
    lines.push(line)
  }
  close()
  return blocks
}

/** A heading's text without the closing marks some people write. */
function headingText(text: string): string {
  const trimmed = text.trim()
  let end = trimmed.length
  while (trimmed[end - 1] === '#') end -= 1
  return end === trimmed.length || !isSpace(trimmed[end - 1]) ? trimmed : trimmed.slice(0, end).trimEnd()
}

interface Item {
  readonly depth: number
  readonly marker: string
  text: string
}

function itemsOf(lines: readonly string[]): readonly Item[] {
  const items: Item[] = []
  for (const line of lines) {
    const next = ITEM.exec(line)
    const last = items.at(-1)
    if (next !== null) {
      const depth = (next[1] ?? '').replaceAll('\t', '    ').length
      items.push({ depth, marker: next[2] ?? '-', text: next[3] ?? '' })
    } else if (last !== undefined) last.text += `\n${line.trim()}`
  }
  return items
}

/** Lists inside lists, by indentation; deeper than four levels stays on the fourth. */
function listOf(items: readonly Item[], level = 1): List {
  const base = items[0]?.depth ?? 0
  const out: { text: string; inner: List | null }[] = []
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    if (item === undefined) break
    let end = at + 1
    while (level < 4 && (items[end]?.depth ?? 0) >= base + 2) end += 1
    out.push({ text: item.text, inner: end > at + 1 ? listOf(items.slice(at + 1, end), level + 1) : null })
    at = end - 1
  }
  const marker = items[0]?.marker ?? '-'
  return { ordered: /\d/.test(marker), first: Number.parseInt(marker, 10) || 1, items: out }
}

/** Reads one block. */
export function blockOf(source: string): Block {
  const lines = source.split('\n')
  const first = lines[0] ?? ''
  const fence = FENCE.exec(first)
  if (fence !== null) {
    const mark = fence[1] ?? '```'
    const last = (lines.at(-1) ?? '').trim()
    const closed = lines.length > 1 && last.startsWith(mark) && last.replaceAll(mark[0] ?? '`', '') === ''
    return { kind: 'code', language: fence[2] ?? '', text: lines.slice(1, closed ? -1 : undefined).join('\n') }
  }
  if (RULE.test(first)) return { kind: 'rule' }
  const heading = HEADING.exec(first)
  if (heading !== null) return { kind: 'heading', text: headingText(heading[1] ?? '') }
  if (lines.every((line) => /^ {0,3}>/.test(line))) {
    return { kind: 'quote', text: lines.map((line) => line.replace(/^ {0,3}> ?/, '')).join('\n') }
  }
  if (ITEM.test(first)) return { kind: 'list', ...listOf(itemsOf(lines)) }
  return { kind: 'paragraph', text: source }
}

/** Where the runs of backticks of each length begin, so that a closing one is found without reading the text again and again. */
function backtickRuns(text: string): ReadonlyMap<number, number[]> {
  const runs = new Map<number, number[]>()
  for (const match of text.matchAll(/`+/g)) {
    const starts = runs.get(match[0].length)
    if (starts === undefined) runs.set(match[0].length, [match.index])
    else starts.push(match.index)
  }
  return runs
}

/** One space on each side of code belongs to the backticks, unless there is nothing else. */
function codeText(text: string): string {
  return text.length > 2 && text.startsWith(' ') && text.endsWith(' ') && text.trim() !== '' ? text.slice(1, -1) : text
}

const SPECIAL = /[`*]/g

const isWord = (char: string | undefined): boolean => char !== undefined && /[\w*]/.test(char)
const isSpace = (char: string | undefined): boolean => char === undefined || /\s/.test(char)

/**
 * Reads bold, italics and inline code in one pass; a model's text may be long and made to be slow. Underscores stay what they
 * are: names of files and units are full of them.
 */
export function inlinesOf(text: string): readonly Inline[] {
  const out: Inline[] = []
  const runs = backtickRuns(text)
  let from = 0
  let at = 0
  const take = (inline: Inline, end: number): void => {
    if (at > from) out.push({ kind: 'text', text: text.slice(from, at) })
    out.push(inline)
    from = end
    at = end
  }
  while (at < text.length) {
    const char = text[at]
    if (char === '`') {
      let open = at
      while (text[open] === '`') open += 1
      const starts = runs.get(open - at) ?? []
      while ((starts[0] ?? Number.POSITIVE_INFINITY) < open) starts.shift()
      const close = starts[0]
      if (close === undefined) at = open
      else take({ kind: 'code', text: codeText(text.slice(open, close)) }, close + (open - at))
    } else if (char === '*') {
      const strong = text[at + 1] === '*'
      const open = at + (strong ? 2 : 1)
      const close = text.indexOf('*', open)
      // Without another one nothing can begin any more; what is left is text, but for code.
      const inside = close === -1 ? '' : text.slice(open, close)
      const fits = inside !== '' && !isSpace(inside[0]) && !isSpace(inside.at(-1))
      if (strong && fits && text[close + 1] === '*') take({ kind: 'bold', text: inside }, close + 2)
      else if (!strong && fits && !inside.includes('\n') && !isWord(text[at - 1]) && !isWord(text[close + 1])) {
        take({ kind: 'italic', text: inside }, close + 1)
      } else at = open
    } else {
      SPECIAL.lastIndex = at
      at = SPECIAL.exec(text)?.index ?? text.length
    }
  }
  if (from < text.length) out.push({ kind: 'text', text: text.slice(from) })
  return out
}
