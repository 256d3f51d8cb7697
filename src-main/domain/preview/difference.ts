/** Differences that take more steps than this are shown as one whole replacement. */
const MOST_STEPS = 800
const CONTEXT = 3

interface Edit {
  readonly kind: ' ' | '-' | '+'
  readonly line: string
}

/** The lines of a text, each with its end; the last one may have none. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** The shortest way from one list to the other (Myers), or null when it is longer than `MOST_STEPS`. */
function shortest(before: readonly string[], after: readonly string[]): Edit[] | null {
  const most = Math.min(before.length + after.length, MOST_STEPS)
  const middle = most + 1
  const furthest = new Int32Array(2 * most + 3)
  const trail: Int32Array[] = []
  for (let d = 0; d <= most; d++) {
    trail.push(furthest.slice(middle - d - 1, middle + d + 2))
    for (let k = -d; k <= d; k += 2) {
      const left = furthest[middle + k - 1] ?? 0
      const up = furthest[middle + k + 1] ?? 0
      let x = k === -d || (k !== d && left < up) ? up : left + 1
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++
      furthest[middle + k] = x
      if (x >= before.length && x - k >= after.length) return walkBack(before, after, trail)
    }
  }
  return null
}

function walkBack(before: readonly string[], after: readonly string[], trail: readonly Int32Array[]): Edit[] {
  const edits: Edit[] = []
  let x = before.length
  let y = after.length
  for (let d = trail.length - 1; d >= 0; d--) {
    const k = x - y
    // Each entry holds the diagonals from -d-1 to d+1 as they were before step d.
    const at = (diagonal: number): number => trail[d]?.[diagonal + d + 1] ?? 0
    const previous = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1
    const fromX = d === 0 ? 0 : at(previous)
    const fromY = d === 0 ? 0 : fromX - previous
    while (x > fromX && y > fromY) {
      x--
      y--
      edits.push({ kind: ' ', line: before[x] ?? '' })
    }
    if (d === 0) break
    if (x === fromX) edits.push({ kind: '+', line: after[--y] ?? '' })
    else edits.push({ kind: '-', line: before[--x] ?? '' })
  }
  return edits.reverse()
}

function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++
  const old = before.slice(head, before.length - tail)
  const young = after.slice(head, after.length - tail)
  const same = (line: string): Edit => ({ kind: ' ', line })
  const between =
    shortest(old, young) ??
    [old.map((line): Edit => ({ kind: '-', line })), young.map((line): Edit => ({ kind: '+', line }))].flat()
  return [...before.slice(0, head).map(same), ...between, ...before.slice(before.length - tail).map(same)]
}

const shown = ({ kind, line }: Edit): string =>
  line.endsWith('\n') ? `${kind}${line}` : `${kind}${line}\n\\ No newline at end of file\n`

const range = (start: number, count: number): string =>
  count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`

/**
 * The unified lines of the difference between two texts; the empty text when there is none. Linear in the texts, and at most
 * quadratic in how far they differ up to a bound; beyond it what differs is shown as one block.
 */
export function unifiedDifference(before: string, after: string, from: string, to: string): string {
  if (before === after) return ''
  const edits = editsOf(linesOf(before), linesOf(after))
  const hunks: string[] = []
  let old = 1
  let young = 1
  let index = 0
  while (index < edits.length) {
    if (edits[index]?.kind === ' ') {
      index++
      old++
      young++
      continue
    }
    const lead = Math.min(CONTEXT, index)
    let end = index
    // Changes that are closer than both their contexts stand in one hunk.
    for (let at = index, last = index; at < edits.length && at - last <= 2 * CONTEXT; at++) {
      if (edits[at]?.kind === ' ') continue
      last = at
      end = at + 1
    }
    const stop = Math.min(edits.length, end + CONTEXT)
    const hunk = edits.slice(index - lead, stop)
    const removed = hunk.filter(({ kind }) => kind !== '+').length
    const added = hunk.filter(({ kind }) => kind !== '-').length
    hunks.push(`@@ -${range(old - lead, removed)} +${range(young - lead, added)} @@\n${hunk.map(shown).join('')}`)
    old += removed - lead
    young += added - lead
    index = stop
  }
  return `--- ${from}\n+++ ${to}\n${hunks.join('')}`
}
