/** Lines around a change that are shown with it. */
const CONTEXT = 2
/** Above this many compared pairs the middle is shown as taken out and put in. */
const MOST_PAIRS = 4_000_000

/** The longest common run of lines, as pairs of indexes. */
function common(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  if (a.length * b.length > MOST_PAIRS) return []
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
    }
  }
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++])
    else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i++
    else j++
  }
  return pairs
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/**
 * The difference of two texts, line by line: `- ` was there, `+ ` is there now, two blanks for what stays around it. `  …` stands for what
 * is left out. Empty when nothing differs.
 */
export function lineDiff(before: string, after: string): readonly string[] {
  const a = linesOf(before)
  const b = linesOf(after)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  if (head === a.length && head === b.length) return []
  const all: string[] = a.slice(0, head).map((line) => `  ${line}`)
  const [left, right] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)]
  let [i, j] = [0, 0]
  for (const [p, q] of [...common(left, right), [left.length, right.length] as const]) {
    for (; i < p; i++) all.push(`- ${left[i]}`)
    for (; j < q; j++) all.push(`+ ${right[j]}`)
    if (p < left.length) all.push(`  ${left[p]}`)
    i = p + 1
    j = q + 1
  }
  for (const line of a.slice(a.length - tail)) all.push(`  ${line}`)
  const near = all.map((_, at) =>
    all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((one) => !one.startsWith('  ')),
  )
  return all.flatMap((line, at) => (near[at] ? [line] : at > 0 && !near[at - 1] ? [] : ['  …']))
}
