/** Settled cards that stay in their places while the room is open. */
const MOST_SETTLED = 50

/** New ones come first, in their own order; everything shown already keeps its place, the oldest settled ones leave at the end. */
export function steadyOrder(shown: readonly string[], waiting: readonly string[]): readonly string[] {
  const known = new Set(shown)
  const fresh = waiting.filter((id) => !known.has(id))
  const live = new Set(waiting)
  let settled = 0
  const kept = shown.filter((id) => {
    if (live.has(id)) return true
    settled += 1
    return settled <= MOST_SETTLED
  })
  // The same array when nothing changed, so that nothing is drawn again.
  return fresh.length === 0 && kept.length === shown.length ? shown : [...fresh, ...kept]
}
