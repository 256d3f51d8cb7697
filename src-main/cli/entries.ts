import type { AllowlistEntryView } from '../../src-preload/contract/model'
import { type AllowlistEntry, decodeArgv, inspectAllowlist } from '../domain/policy'
import { entryView } from '../services/policy-desk'
import { wordShown } from './started'
import { type Paint, visibleLine } from './visible'
import { momentShown, timeLeft } from './when'

/** All entries of one agent, with what there is to say about each. */
export function entryViews(entries: readonly AllowlistEntry[], now: number): readonly AllowlistEntryView[] {
  const notes = inspectAllowlist(entries, now)
  return entries.map((entry, index) => entryView(entry, notes, index))
}

/** What an entry lets through, in one line: the program, then its arguments as they are meant. */
export function entryShown(entry: {
  readonly pattern: string
  readonly argPattern?: string | null | undefined
  readonly sudo?: boolean | undefined
}): string {
  const pattern = entry.argPattern ?? null
  const exact = pattern === null ? null : decodeArgv(pattern)
  const args =
    exact !== null
      ? exact.length === 0
        ? ' without arguments'
        : ` ${exact.map((text) => wordShown({ text, known: true })).join(' ')}`
      : pattern === null
        ? ' with any arguments'
        : ` with arguments that match ${visibleLine(pattern)}`
  return `${entry.sudo === true ? 'sudo ' : ''}${visibleLine(entry.pattern)}${args}`
}

/** Where an entry counts and until when. */
export function reachShown(
  entry: {
    readonly scope?:
      | { readonly target?: string | null | undefined; readonly session?: string | null | undefined }
      | undefined
    readonly expiresAt?: number | null | undefined
  },
  now: number,
): string {
  const session = entry.scope?.session ?? null
  const end = entry.expiresAt ?? null
  return [
    `at ${visibleLine(entry.scope?.target ?? 'local')}`,
    ...(session === null ? [] : [`in session ${visibleLine(session)} only`]),
    end === null
      ? 'without an end'
      : end <= now
        ? `ran out ${momentShown(end)}`
        : `until ${momentShown(end)} (${timeLeft(end, now)})`,
  ].join(', ')
}

/** One entry with everything an operator wants to know of it. */
export function entryLines(view: AllowlistEntryView, paint: Paint, now: number): string {
  const lines = [
    `${paint('bold', visibleLine(view.id))}  ${entryShown(view)}`,
    `    ${reachShown(view, now)}${view.source === null ? '' : `, from ${visibleLine(view.source)}`}`,
  ]
  if (view.lastUsedAt !== null) {
    const command = view.lastUsedCommand === null ? '' : `: ${visibleLine(view.lastUsedCommand)}`
    const path = view.lastResolvedPath === null ? '' : ` (${visibleLine(view.lastResolvedPath)})`
    lines.push(paint('dim', `    last used ${momentShown(view.lastUsedAt)}${command}${path}`))
  }
  if (view.problem !== null) lines.push(`    ${paint('red', 'Never matches.')} ${visibleLine(view.problem)}`)
  for (const warning of view.warnings) lines.push(`    ${paint('yellow', 'Note:')} ${visibleLine(warning)}`)
  return `${lines.join('\n')}\n`
}
