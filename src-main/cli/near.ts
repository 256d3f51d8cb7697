/** The candidate a person most likely meant, or null when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const typed = word.toLowerCase()
  if (typed === '') return null
  let best: { name: string; distance: number } | null = null
  for (const name of candidates) {
    const distance = name.startsWith(typed) ? 0.5 : edits(typed, name)
    const allowed = name.length <= 4 ? 1 : 2
    if (distance <= allowed && (best === null || distance < best.distance)) best = { name, distance }
  }
  return best?.name ?? null
}

/** Insertions, deletions, replacements and swaps of neighbours between two words. */
function edits(a: string, b: string): number {
  let twoBack: number[] = []
  let back = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min((back[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (back[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (twoBack[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    twoBack = back
    back = row
  }
  return back[b.length] ?? Number.POSITIVE_INFINITY
}
