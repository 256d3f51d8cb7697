/** One word so that every shell gives the program exactly this text. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** A word as a person would type it: bare where nothing in it means anything to a shell. */
export const quoteIfNeeded = (word: string): string => (/^[A-Za-z0-9_@%+:,./-]+$/.test(word) ? word : quote(word))

export const quoteAll = (words: readonly string[]): string => words.map(quote).join(' ')
