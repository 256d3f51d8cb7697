/**
 * Which characters of a line stand in quotes: 1 in `'…'`, 2 in `"…"`, 0 in neither. Quotes of the other kind inside quotes (`sh -c 'x "y"'`)
 * are quotes of the text in there: a place between them counts as quoted, one beside them as not.
 */
export function quoteState(line: string): Uint8Array {
  const state = new Uint8Array(line.length)
  let outer = 0
  let inner = false
  /** The other kind of quotes has occurred inside of the ones that are open. */
  let nested = false
  for (let i = 0; i < line.length; i++) {
    const c = line.charCodeAt(i)
    if (c === 0x5c && outer !== 1) {
      state[i] = outer
      i++
      if (i < line.length) state[i] = outer
      continue
    }
    const quote = c === 0x27 ? 1 : c === 0x22 ? 2 : 0
    if (quote !== 0) {
      if (outer === 0) {
        outer = quote
        inner = false
        nested = false
      } else if (quote === outer) outer = 0
      else {
        inner = !inner
        nested = true
      }
      state[i] = outer
      continue
    }
    state[i] = outer === 0 ? 0 : nested && !inner ? 0 : outer
  }
  return state
}
