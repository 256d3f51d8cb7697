/**
 * Judges a sed script: true when all it can do is print. Commands that write (`w`, `W`), read files (`r`, `R`) or run programs
 * (`e`, the flags `e` and `w` of `s`) are not accepted, nor is anything this small parser does not know.
 */
export function sedOnlyPrints(script: string): boolean {
  let i = 0
  const delimited = (delimiter: string, expression: boolean): boolean => {
    let inClass = false
    while (i < script.length) {
      const c = script[i]
      if (c === '\n') return false
      if (c === '\\') {
        i += 2
        continue
      }
      if (c === delimiter) {
        // Whether a delimiter inside `[…]` ends the expression differs between implementations.
        if (inClass) return false
        i++
        return true
      }
      if (expression && c === '[' && !inClass) {
        inClass = true
        if (script[i + 1] === '^') i++
        if (script[i + 1] === ']') i++
      } else if (inClass && c === ']') inClass = false
      i++
    }
    return false
  }
  const blanks = (): void => {
    while (script[i] === ' ' || script[i] === '\t') i++
  }
  const digits = (): boolean => {
    const from = i
    while (/[0-9]/.test(script[i] ?? '')) i++
    return i > from
  }
  const address = (): boolean | null => {
    const c = script[i]
    if (c === undefined) return null
    if (/[0-9]/.test(c)) {
      digits()
      if (script[i] === '~') {
        i++
        return digits()
      }
      return true
    }
    if (c === '$') {
      i++
      return true
    }
    if (c === '+' || c === '~') {
      i++
      return digits()
    }
    if (c === '/' || c === '\\') {
      if (c === '\\') i++
      const delimiter = script[i] ?? ''
      if (!/[^\sA-Za-z0-9\\]/.test(delimiter)) return false
      i++
      if (!delimited(delimiter, true)) return false
      while (script[i] === 'I' || script[i] === 'M') i++
      return true
    }
    return null
  }
  let depth = 0
  while (i < script.length) {
    const c = script[i] as string
    if (/[\s;]/.test(c)) {
      i++
      continue
    }
    if (c === '}') {
      if (--depth < 0) return false
      i++
      continue
    }
    const first = address()
    if (first === false) return false
    if (first) {
      blanks()
      if (script[i] === ',') {
        i++
        blanks()
        if (address() !== true) return false
        blanks()
      }
    }
    while (script[i] === '!' || script[i] === ' ' || script[i] === '\t') i++
    const command = script[i++]
    if (command === '{') {
      depth++
      continue
    }
    if (command === 's') {
      const delimiter = script[i] ?? ''
      if (!/[^\sA-Za-z0-9\\;]/.test(delimiter)) return false
      i++
      if (!delimited(delimiter, true) || !delimited(delimiter, false)) return false
      while (/[gpiI0-9]/.test(script[i] ?? '')) i++
    } else if (command === 'y') {
      const delimiter = script[i] ?? ''
      if (!/[^\sA-Za-z0-9\\;]/.test(delimiter)) return false
      i++
      if (!delimited(delimiter, false) || !delimited(delimiter, false)) return false
    } else if (command === 'q' || command === 'Q' || command === 'l') {
      blanks()
      digits()
    } else if (command === undefined || !'pPdD=nNhHgGxz'.includes(command)) return false
    blanks()
    const next = script[i]
    if (next !== undefined && next !== ';' && next !== '\n' && next !== '}') return false
  }
  return depth === 0
}
