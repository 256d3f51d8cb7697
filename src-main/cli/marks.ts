import type { Risk } from '../../src-preload/contract/model'
import { type Glyph, glyphsOf, type Paint } from './visible'

/** A stretch of a text that is pointed at, with what is written behind its underline. Offsets are UTF-16 units. */
export interface Mark {
  readonly start: number
  readonly end: number
  readonly label: string
  readonly risk: Risk
}

const COLOUR: Readonly<Record<Risk, 'green' | 'blue' | 'yellow' | 'red'>> = {
  read_only: 'green',
  reversible_low: 'blue',
  config_mutation: 'yellow',
  destructive: 'red',
}

/** The colour of a class, the same in every place. */
export const riskColour = (risk: Risk): 'green' | 'blue' | 'yellow' | 'red' => COLOUR[risk]

interface Row {
  /** Of the line it belongs to, from 1; null for the rest of a line that was wrapped. */
  readonly line: number | null
  readonly glyphs: readonly Glyph[]
}

/** Lines cut into rows of at most `width` columns, at a blank where there is one. */
function rowsOf(text: string, width: number): readonly Row[] {
  const rows: Row[] = []
  let line = 1
  let current: Glyph[] = []
  const flush = (first: boolean, glyphs: readonly Glyph[]): void => {
    rows.push({ line: first ? line : null, glyphs })
  }
  const endLine = (): void => {
    let rest = current
    let first = true
    for (;;) {
      let columns = 0
      let fits = 0
      while (fits < rest.length && columns + (rest[fits] as Glyph).width <= width)
        columns += (rest[fits++] as Glyph).width
      if (fits >= rest.length) break
      let cut = fits
      while (cut > fits / 2 && (rest[cut - 1] as Glyph).shown !== ' ') cut--
      if (cut <= fits / 2) cut = Math.max(1, fits)
      flush(first, rest.slice(0, cut))
      rest = rest.slice(cut)
      first = false
    }
    flush(first, rest)
    current = []
    line += 1
  }
  for (const glyph of glyphsOf(text)) {
    if (text[glyph.start] === '\n') endLine()
    else current.push(glyph)
  }
  endLine()
  return rows
}

interface Underline {
  readonly from: number
  readonly to: number
  readonly label: string
  readonly risk: Risk
}

/** Underlines under more than this many rows of a stack are not drawn: nobody could tell them apart. */
const MOST_STACKED = 4

function underlines(row: Row, marks: readonly Mark[]): readonly (readonly Underline[])[] {
  const found: Underline[] = []
  const last = row.glyphs.at(-1)
  for (const mark of marks) {
    let column = 0
    let from = -1
    let to = -1
    for (const glyph of row.glyphs) {
      if (glyph.start < mark.end && glyph.end > mark.start) {
        if (from < 0) from = column
        to = column + glyph.width
      }
      column += glyph.width
    }
    // The blank a row is cut at belongs to no word that is pointed at.
    if (from < 0 || last === undefined || to <= from) continue
    const ends = mark.end <= last.end
    found.push({ from, to, label: ends ? mark.label : '', risk: mark.risk })
  }
  const stack: Underline[][] = []
  // What is short goes nearest to the text, so that a mark inside another one is read first.
  for (const one of found.sort((a, b) => a.to - a.from - (b.to - b.from) || a.from - b.from)) {
    const end = one.to + (one.label === '' ? 0 : one.label.length + 1)
    const level = stack.find((layer) =>
      layer.every((other) => end < other.from || one.from > other.to + other.label.length + 1),
    )
    if (level !== undefined) level.push(one)
    else if (stack.length < MOST_STACKED) stack.push([one])
  }
  for (const layer of stack) layer.sort((a, b) => a.from - b.from)
  return stack
}

function underlineText(layer: readonly Underline[], paint: Paint): string {
  let out = ''
  let column = 0
  for (const { from, to, label, risk } of layer) {
    out += ' '.repeat(Math.max(0, from - column))
    const text = `${'^'.repeat(to - from)}${label === '' ? '' : ` ${label}`}`
    out += paint(riskColour(risk), text)
    column = from + text.length
  }
  return out
}

function rowText(row: Row, marks: readonly Mark[], paint: Paint): string {
  let out = ''
  let run = ''
  let look: string = ''
  const close = (): void => {
    if (run === '') return
    out += look === '' ? run : look === 'hidden' ? paint('inverse', run) : paint(look as 'red', run)
    run = ''
  }
  const order: readonly Risk[] = ['destructive', 'config_mutation', 'reversible_low']
  for (const glyph of row.glyphs) {
    const on = marks.filter((mark) => glyph.start < mark.end && glyph.end > mark.start)
    const worst = order.find((risk) => on.some((mark) => mark.risk === risk))
    const next = glyph.hidden ? 'hidden' : worst === undefined ? '' : riskColour(worst)
    if (next !== look) {
      close()
      look = next
    }
    run += glyph.shown
  }
  close()
  return out.trimEnd()
}

export interface MarkedView {
  readonly lines: readonly string[]
  /** Marks that could not be drawn, because they would be everywhere. */
  readonly undrawn: readonly Mark[]
}

/**
 * A text whole, within `width` columns, every character seen, with `^^^ n` under what is marked. A text of several lines has line
 * numbers. With `most`, rows without a mark are left out once there are more than that, and it is said how many.
 */
export function markedView(
  text: string,
  marks: readonly Mark[],
  width: number,
  paint: Paint,
  most: number | null,
): MarkedView {
  const several = text.trimEnd().includes('\n')
  const gutter = several ? Math.max(2, String(text.split('\n').length).length) : 0
  const room = Math.max(16, width - gutter - (several ? 3 : 2) - 4)
  const rows = rowsOf(text.replace(/\n+$/, ''), room)
  const whole = (mark: Mark): boolean => text.slice(0, mark.start).trim() === '' && text.slice(mark.end).trim() === ''
  const drawn = rows.length === 1 ? marks : marks.filter((mark) => !whole(mark))
  const undrawn = rows.length === 1 ? [] : marks.filter(whole)
  const lines: string[] = []
  const lead = (row: Row | null): string =>
    several ? `${paint('dim', `${String(row?.line ?? '').padStart(gutter)} │`)} ` : '  '
  let left = 0
  const say = (): void => {
    if (left > 0)
      lines.push(
        paint('dim', `${several ? ' '.repeat(gutter - 1) : ' '}⋮ ${left === 1 ? '1 row' : `${left} rows`} left out`),
      )
    left = 0
  }
  rows.forEach((row, index) => {
    const stack = underlines(row, drawn)
    const edge = most !== null && (index < most / 2 || index >= rows.length - most / 4)
    if (most !== null && rows.length > most && !edge && (stack.length === 0 || lines.length > most * 2)) {
      left += 1
      return
    }
    say()
    lines.push(`${lead(row)}${rowText(row, drawn, paint)}`)
    for (const layer of stack) lines.push(`${lead(null)}${underlineText(layer, paint)}`)
  })
  say()
  return { lines, undrawn }
}

/** Words put into rows of `width` columns; every row but the first is moved in by `indent`. Blanks at its beginning are kept. */
export function wrapped(text: string, width: number, indent = 0): readonly string[] {
  const lead = /^ */.exec(text)?.[0] ?? ''
  const rows: string[] = []
  let row = lead
  for (const word of text.slice(lead.length).split(' ')) {
    const empty = row.trim() === ''
    if (!empty && row.length + 1 + word.length > width) {
      rows.push(row)
      row = `${lead}${' '.repeat(indent)}${word}`
    } else row = empty ? row + word : `${row} ${word}`
  }
  rows.push(row)
  return rows
}
