import { lineDiff } from '../services/policy-diff'
import { type Paint, visibleLine } from './visible'

/** The line that stands for what is left out of a difference. */
const LEFT_OUT = '  …'

/** What a change does to a text, as the app says it: `- ` was there, `+ ` is there now, two blanks for what stays. Empty: nothing. */
export const difference: (before: string, after: string) => readonly string[] = lineDiff

/** A difference for people: coloured, and nothing hidden in it. */
export function differenceShown(diff: readonly string[], paint: Paint): string {
  return diff
    .map((line) => {
      if (line === LEFT_OUT) return `${paint('dim', line)}\n`
      const text = visibleLine(line)
      return `${line.startsWith('- ') ? paint('red', text) : line.startsWith('+ ') ? paint('green', text) : text}\n`
    })
    .join('')
}
