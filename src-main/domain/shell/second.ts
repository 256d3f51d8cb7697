import { parseShell } from './parse'
import { scanShell } from './scan'

/** A name that is read the same by everybody. */
const AS_TYPED = /^[A-Za-z0-9_./:+,@%-]+$/

/** A name as it is typed, decoded: `l\\s` and `'ls'` are `ls`. */
function decoded(typed: string): string {
  // Not as the first word: `\\time` is a program, and the reader drops words of the language in front.
  return AS_TYPED.test(typed) ? typed : (scanShell(`: ${typed}`)[0]?.words[1]?.shape ?? typed)
}

/** The first name one list has more often than the other. */
function surplus(some: readonly string[], others: readonly string[]): string | undefined {
  const left = new Map<string, number>()
  for (const name of others) left.set(name, (left.get(name) ?? 0) + 1)
  return some.find((name) => {
    const n = left.get(name) ?? 0
    left.set(name, n - 1)
    return n <= 0
  })
}

/**
 * Why the two parsers cannot both be right about a text; null when they see the same commands, each as often. `names` is what the
 * second one saw, as typed; null when it could not read the text whole.
 */
export function doubtOf(text: string, names: readonly string[] | null): string | null {
  if (names === null) return 'A second parser could not read this command whole.'
  const ours = parseShell(text).commands.flatMap(({ words }) => (words[0] ? [words[0].shape] : []))
  const theirs = names.map(decoded)
  const different = surplus(ours, theirs) ?? surplus(theirs, ours)
  return different === undefined ? null : `A second parser sees other commands here than the first: "${different}".`
}
