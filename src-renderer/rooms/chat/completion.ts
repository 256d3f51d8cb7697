import type { Target } from '../../../src-preload/contract'

export interface Completion {
  /** What the field holds when it is taken. */
  readonly text: string
  readonly label: string
}

const COMMANDS: readonly string[] = ['/run', '/exec', '/elevated']

/** What can be completed in the text before the cursor: a command, then the target of `/run`. Nothing after the target. */
export function completionsFor(text: string, targets: readonly Target[]): readonly Completion[] {
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
