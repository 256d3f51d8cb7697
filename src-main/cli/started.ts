import { decodedWord, type Invocation, parseShell, type SimpleCommand, unfold } from '../domain/shell'
import { visibleLine } from './visible'

/** One program that a command starts, with what it starts in turn. Words are decoded. */
export interface Started {
  readonly words: readonly { readonly text: string; readonly known: boolean }[]
  /** How it is joined to the one before: `|`, `&&`, `||`, `;`, `&`, or nothing. */
  readonly joint: string
  /** What it stands in, from the outside in: `$(…)`, `loop`; empty at the top. */
  readonly inside: readonly string[]
  /** Assignments before it and redirections behind it, as typed. */
  readonly before: readonly string[]
  readonly behind: readonly string[]
  /** Runs on another machine or in a container. */
  readonly remote: boolean
  readonly starts: readonly Started[]
}

const INSIDE: Readonly<Record<string, string>> = {
  substitution: 'in $(…)',
  subshell: 'in ( )',
  group: 'in { }',
  function: 'in a function',
  loop: 'in a loop',
  branch: 'in a branch',
  coproc: 'in a coprocess',
  'here-document': 'in a here-document',
  script: 'in a script',
}

interface Growing {
  readonly invocation: Invocation
  readonly joint: string
  readonly starts: Growing[]
}

/** What stands between two commands of one text, as far as a reader wants to know. */
function jointOf(text: string, before: SimpleCommand | null, command: SimpleCommand): string {
  if (command.place.stage > 0) return '|'
  if (before === null || command.start < before.end) return ''
  return /&&|\|\||;|&|\n/.exec(text.slice(before.end, command.start))?.[0]?.replace('\n', ';') ?? ''
}

function finished(text: string, { invocation, joint, starts }: Growing, top: boolean): Started {
  const { words, command } = invocation
  const first = starts[0]?.invocation
  let own = words
  if (first !== undefined) {
    const head = first.words[0]
    const at = head === undefined ? -1 : words.indexOf(head)
    if (at > 0) own = words.slice(0, at)
    else {
      // A text that is read again: what comes before it is the wrapper's own.
      const script = words.findIndex((word) => word.start >= first.command.start && word.end <= first.command.end)
      const blank = words.findIndex((word, index) => index > 0 && /\s/.test(word.shape))
      const cut = script > 0 ? script : blank
      if (cut > 0) own = words.slice(0, cut)
    }
  }
  const direct = command.words.includes(words[0] as never) && words[0] === command.words[0]
  return {
    words: own
      .map((word) => decodedWord(text, word))
      .map((word, index) => (top ? word : { ...word, text: inner(own[index], word.text) })),
    joint,
    inside: command.place.enclosures.map((one) => INSIDE[one] ?? one),
    before: direct && top ? command.assignments.map(({ start, end }) => text.slice(start, end)) : [],
    behind: direct && top ? command.redirections.map(({ start, end }) => text.slice(start, end)) : [],
    remote: invocation.remote,
    starts: starts.map((one) => finished(text, one, top && one.invocation.command === command)),
  }
}

/** Positions inside a script are those of the word that carries it; there only the reading of the word is left. */
const inner = (word: { readonly shape: string; readonly value: string | null } | undefined, text: string): string =>
  word === undefined ? text : (word.value ?? word.shape)

/** Everything a command starts, wrappers taken off, in the order of the text. Never throws; a broken text gives what can be seen. */
export function startedBy(text: string): readonly Started[] {
  const parsed = parseShell(text)
  const roots: Growing[] = []
  const open: { readonly depth: number; readonly at: Growing }[] = []
  let last: SimpleCommand | null = null
  for (const invocation of unfold(parsed).invocations) {
    const depth = invocation.via.length
    while (open.length > 0 && (open.at(-1)?.depth ?? 0) >= depth) open.pop()
    const parent = open.at(-1)?.at
    const siblings = parent?.starts ?? roots
    const previous = parent === undefined ? last : null
    const joint =
      parent === undefined ? jointOf(text, previous, invocation.command) : invocation.command.place.stage > 0 ? '|' : ''
    if (parent === undefined) last = invocation.command
    const grown: Growing = { invocation, joint, starts: [] }
    siblings.push(grown)
    open.push({ depth, at: grown })
  }
  return roots.map((one) => finished(text, one, true))
}

const PLAIN = /^[^\s'"\\$`!*?[\]{}()<>|&;#~^]+$/

/** A word so that its edges are seen: quoted where it holds more than plain letters, as typed where only the run settles it. */
export function wordShown(word: { readonly text: string; readonly known: boolean }): string {
  if (!word.known || PLAIN.test(word.text)) return visibleLine(word.text)
  return `'${visibleLine(word.text).replaceAll("'", "'\\''")}'`
}

function chainOf(root: Started): { readonly text: string; readonly last: Started } {
  const parts: string[] = []
  let at = root
  for (;;) {
    parts.push([...at.before.map(visibleLine), ...at.words.map(wordShown), ...at.behind.map(visibleLine)].join(' '))
    const [only, ...others] = at.starts
    if (only === undefined || others.length > 0) return { text: parts.join(' › '), last: at }
    at = only
  }
}

function below(started: readonly Started[], depth: number): readonly string[] {
  return started.flatMap((one) => {
    const { text, last } = chainOf(one)
    const lead = `${'    '.repeat(depth)} › ${one.joint === '' ? '' : `${one.joint} `}`
    return [`${lead}${text}`, ...(last.starts.length > 1 ? below(last.starts, depth + 1) : [])]
  })
}

/**
 * What is started, one line for each command: `sudo › systemctl restart nginx`. A program that starts several others has them on
 * lines below its own. Equal lines that follow each other become one with their number.
 */
export function startedLines(started: readonly Started[]): readonly string[] {
  const lines: { text: string; count: number }[] = []
  for (const one of started) {
    const { text, last } = chainOf(one)
    const inside = one.inside.length > 0 ? `  (${one.inside.join(', ')})` : ''
    const head = `${one.joint.padEnd(2)} ${text}${inside}`
    for (const line of [head, ...(last.starts.length > 1 ? below(last.starts, 1) : [])]) {
      const before = lines.at(-1)
      if (before !== undefined && line.startsWith(';') && before.text.slice(2) === line.slice(2)) before.count += 1
      else lines.push({ text: line, count: 1 })
    }
  }
  // Where nothing is joined, no column is kept for it.
  const joined = lines.some(({ text }) => text.slice(0, 2).trim() !== '')
  return lines.map(({ text, count }) => `${joined ? text : text.slice(3)}${count > 1 ? `  (${count} times)` : ''}`)
}
