import { parseShell } from './parse'
import { scanShell } from './scan'

/** A name as it is typed, decoded: `l\\s` and `'ls'` are `ls`. */
function decoded(typed: string): string {
  return scanShell(typed)[0]?.words[0]?.shape ?? typed
}

/**
 * Why the two parsers cannot both be right about a text; null when they see the same commands. `names` is what the second one saw, null
 * when it could not read the text.
 */
export function doubtOf(text: string, names: readonly string[] | null): string | null {
  if (names === null) return 'A second parser could not read this command whole.'
  const ours = parseShell(text).commands.flatMap(({ words }) => (words[0] ? [words[0].shape] : []))
  const theirs = names.map(decoded)
  const different = ours.find((name) => !theirs.includes(name)) ?? theirs.find((name) => !ours.includes(name))
  return different === undefined ? null : `A second parser sees other commands here than the first: "${different}".`
}
