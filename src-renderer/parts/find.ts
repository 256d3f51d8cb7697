/** Places of a text in another, without regard to case; at most `most` of them. */
export function placesOf(text: string, wanted: string, most = 2000): readonly number[] {
  if (wanted === '') return []
  const places: number[] = []
  const haystack = text.toLowerCase()
  const needle = wanted.toLowerCase()
  // Lower case is longer than its letter in a few scripts; the places would then be wrong, so case counts there.
  const exact = haystack.length !== text.length || needle.length !== wanted.length
  const where = exact ? text : haystack
  const what = exact ? wanted : needle
  for (let at = where.indexOf(what); at !== -1 && places.length < most; at = where.indexOf(what, at + what.length)) {
    places.push(at)
  }
  return places
}

/** The ranges of a text inside an element, within single text nodes, in their order. */
export function rangesOf(root: Node, wanted: string, most = 2000): readonly Range[] {
  const ranges: Range[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null && ranges.length < most; node = walker.nextNode()) {
    for (const at of placesOf(node.textContent ?? '', wanted, most - ranges.length)) {
      const range = document.createRange()
      range.setStart(node, at)
      range.setEnd(node, at + wanted.length)
      ranges.push(range)
    }
  }
  return ranges
}
