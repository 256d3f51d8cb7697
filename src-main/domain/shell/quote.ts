/** One word so that every shell gives the program exactly this text. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/**
 * A word as a person would type it: bare where nothing in it means anything to a shell. A `=` at its start stays quoted, because zsh
 * puts the path of a program there.
 */
export const quoteIfNeeded = (word: string): string =>
  /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+:,./=-]*$/.test(word) ? word : quote(word)

/** Words as the text of one simple command, every one in quotes: none is a keyword or an assignment. */
export const quoteAll = (words: readonly string[]): string => words.map(quote).join(' ')

/** Words as the text of one simple command, as a person would type it. */
export const asCommand = (words: readonly string[]): string => words.map(quoteIfNeeded).join(' ')
