/** One option as it was read: its name with the dashes, and its value where it has one. */
export interface GivenOption {
  readonly name: string
  readonly value: string | null
}

/** Names of options by how they take a value. */
export interface OptionNames {
  readonly flags: ReadonlySet<string>
  readonly values: ReadonlySet<string>
  /** A glued value or none (`-i.bak`). */
  readonly optional: ReadonlySet<string>
}

export interface ReadWords {
  readonly options: readonly GivenOption[]
  readonly operands: readonly string[]
}

/**
 * Sorts words into options and operands, as GNU's getopt does. Null when one is not known by the names, also an abbreviated one: then
 * nobody knows what the others are either.
 */
export function readWords(words: readonly string[], names: OptionNames): ReadWords | null {
  const options: GivenOption[] = []
  const operands: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') {
      operands.push(...words.slice(at + 1))
      break
    }
    if (word === '-' || !word.startsWith('-')) {
      operands.push(word)
      continue
    }
    if (word.startsWith('--')) {
      const equals = word.indexOf('=')
      const name = equals < 0 ? word : word.slice(0, equals)
      const glued = equals < 0 ? null : word.slice(equals + 1)
      if (names.values.has(name)) {
        const value = glued ?? words[++at]
        if (value === undefined) return null
        options.push({ name, value })
      } else if (names.optional.has(name)) options.push({ name, value: glued })
      else if (names.flags.has(name) && glued === null) options.push({ name, value: null })
      else return null
      continue
    }
    for (let letter = 1; letter < word.length; letter++) {
      const name = `-${word[letter]}`
      const rest = word.slice(letter + 1)
      if (names.flags.has(name)) {
        options.push({ name, value: null })
        continue
      }
      if (names.optional.has(name)) options.push({ name, value: rest === '' ? null : rest })
      else if (names.values.has(name)) {
        const value = rest === '' ? words[++at] : rest
        if (value === undefined) return null
        options.push({ name, value })
      } else return null
      break
    }
  }
  return { options, operands }
}
