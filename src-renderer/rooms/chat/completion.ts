import type { Target } from '../../../src-preload/contract'

export interface Completion {
  /** What the field holds when it is taken. */
  readonly text: string
  readonly label: string
}

/** What can be completed in the text before the cursor: `/run` itself, then its target. Nothing after the target. */
export function completionsFor(text: string, targets: readonly Target[]): readonly Completion[] {
  if (text !== '' && text !== '/run' && '/run'.startsWith(text)) return [{ text: '/run ', label: '/run' }]
  const match = /^\/run\s+(\S*)$/.exec(text)
  if (match === null) return []
  const typed = match[1] ?? ''
  return targets
    .filter((target) => target.slug.startsWith(typed) || target.slug.replace(/^\w+:/, '').startsWith(typed))
    .slice(0, 8)
    .map((target) => ({ text: `/run ${target.slug} `, label: target.slug }))
}
