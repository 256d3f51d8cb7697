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
  | {
      readonly kind: 'list'
      readonly ordered: boolean
      readonly first: number
      readonly items: readonly { readonly depth: number; readonly text: string }[]
    }

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/
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
  if (heading !== null) return { kind: 'heading', text: heading[1] ?? '' }
  if (lines.every((line) => /^ {0,3}>/.test(line))) {
    return { kind: 'quote', text: lines.map((line) => line.replace(/^ {0,3}> ?/, '')).join('\n') }
  }
  const item = ITEM.exec(first)
  if (item !== null) {
    const items: { depth: number; text: string }[] = []
    for (const line of lines) {
      const next = ITEM.exec(line)
      const last = items.at(-1)
      if (next !== null) {
        const depth = Math.min(3, Math.floor((next[1] ?? '').replaceAll('\t', '    ').length / 2))
        items.push({ depth, text: next[3] ?? '' })
      } else if (last !== undefined) last.text += `\n${line.trim()}`
    }
    const marker = item[2] ?? '-'
    return { kind: 'list', ordered: /\d/.test(marker), first: Number.parseInt(marker, 10) || 1, items }
  }
  return { kind: 'paragraph', text: source }
}

const INLINE =
  /(`+)(?!`)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([^*]*?\S)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]*?[^\s*])\*(?![\w*])/g

/** Reads bold, italics and inline code. Underscores stay what they are: names of files and units are full of them. */
export function inlinesOf(text: string): readonly Inline[] {
  const out: Inline[] = []
  let from = 0
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) out.push({ kind: 'text', text: text.slice(from, match.index) })
    if (match[2] !== undefined) out.push({ kind: 'code', text: match[2].replace(/^ (.*[^ ].*) $/s, '$1') })
    else if (match[3] !== undefined) out.push({ kind: 'bold', text: match[3] })
    else out.push({ kind: 'italic', text: match[4] ?? '' })
    from = match.index + match[0].length
  }
  if (from < text.length) out.push({ kind: 'text', text: text.slice(from) })
  return out
}
