import type { ExecutionView, Target } from '../../../src-preload/contract'
import { visibleText } from '../../parts/visible'

export interface Completion {
  /** What the field holds when it is taken. */
  readonly text: string
  readonly label: string
}

const COMMANDS: readonly string[] = ['/run', '/exec', '/elevated', '/approve']
const ANSWERS: readonly string[] = ['allow-once', 'allow-always', 'deny']

type Waiting = Pick<ExecutionView, 'approval' | 'command' | 'target'>

function answersFor(text: string, waiting: readonly Waiting[]): readonly Completion[] {
  const answer = /^\/approve\s+(\S+)\s+(\S*)$/.exec(text)
  if (answer !== null) {
    const [, id = '', typed = ''] = answer
    return ANSWERS.filter((word) => word.startsWith(typed) && word !== typed).map((word) => ({
      text: `/approve ${id} ${word}`,
      label: word,
    }))
  }
  const typed = /^\/approve\s+(\S*)$/.exec(text)?.[1]
  if (typed === undefined) return []
  return waiting
    .flatMap(({ approval, command, target }) => (approval === null ? [] : [{ id: approval.id, command, target }]))
    .filter(({ id }) => id.startsWith(typed))
    .slice(-8)
    .reverse()
    .map(({ id, command, target }) => ({
      text: `/approve ${id} `,
      label: `${id}  ${visibleText(command.split('\n')[0]?.slice(0, 50) ?? '')} on ${visibleText(target)}`,
    }))
}

/** What can be completed in the text before the cursor: a command, then the target of `/run`, or the id and the answer of `/approve`. */
export function completionsFor(
  text: string,
  targets: readonly Target[],
  waiting: readonly Waiting[] = [],
): readonly Completion[] {
  if (/^\/approve\s/.test(text)) return answersFor(text, waiting)
  if (text.startsWith('/') && !COMMANDS.includes(text)) {
    const begun = COMMANDS.filter((command) => command.startsWith(text))
    if (begun.length > 0) return begun.map((command) => ({ text: `${command} `, label: command }))
  }
  const match = /^\/run\s+(\S*)$/.exec(text)
  if (match === null) return []
  const typed = match[1] ?? ''
  return targets
    .filter((target) => target.slug.startsWith(typed) || target.slug.replace(/^\w+:/, '').startsWith(typed))
    .slice(0, 8)
    .map((target) => ({ text: `/run ${target.slug} `, label: target.slug }))
}
