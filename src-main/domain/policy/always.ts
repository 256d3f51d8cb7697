import { redact } from '../redact'
import { asCommand, programName, type Word } from '../shell'
import { unwrap } from '../shell/unwrap'
import { encodeArgv, literalPattern, type MatchContext } from './allowlist'
import type { AllowlistEntry } from './file'
import type { ResolvedSegment } from './segments'
import { unsuitable } from './unsuitable'

export interface AlwaysOptions {
  /** ms since the epoch; null stores an entry without an end. */
  readonly expiresAt: number | null
  /** True binds the entry to the session that asks. */
  readonly session: boolean
}

export type AlwaysAnswer = { readonly entry: AllowlistEntry } | { readonly refusal: string }

/** Longest argv that is stored, as characters. */
const MAX_STORED = 8192

const wordOf = (value: string): Word => ({ value, shape: value, dynamic: [], prefix: value, start: 0, end: 0 })

/** `docker compose up`: without an absolute file it runs what the folder it is called in names. */
function composeOfFolder([name = '', ...rest]: readonly string[]): boolean {
  const at = rest.indexOf('compose')
  if (at < 0 || !/^(?:docker|podman)$/.test(name.slice(name.lastIndexOf('/') + 1))) return false
  return !(/^(?:-f|--file)$/.test(rest[at + 1] ?? '') && rest[at + 2]?.startsWith('/'))
}

/** Why a program is never stored, by its names and by what it carries; null when it may be. */
function refusalOf(segment: ResolvedSegment): string | null {
  const [typed = ''] = segment.argv
  for (const name of [typed, segment.path, segment.real]) {
    const kind = name === null ? null : unsuitable(name)
    if (kind === null || name === null) continue
    const shown = name.slice(name.lastIndexOf('/') + 1)
    return `${shown} is a ${kind === 'git' ? 'program that runs what a folder names' : kind}: it can be used for anything, so it is approved each time.`
  }
  if (composeOfFolder(segment.argv))
    return 'docker compose starts what the folder names where it is called, and an entry holds in every folder, so it is approved each time.'
  const words = segment.argv.map(wordOf)
  if ((unwrap(words)?.carried.length ?? 0) > 0)
    return `${programName(words[0])} starts another program here, so it is approved each time.`
  return null
}

/**
 * The entry that "allow always" would store for one segment: this program, exactly these arguments, this target, without an id. Or the
 * sentence that says why nothing is stored. Classes and switches are the caller's to look at: what is destructive or `self` is
 * never offered.
 */
export function entryFor(segment: ResolvedSegment, context: MatchContext, options: AlwaysOptions): AlwaysAnswer {
  const [typed = '', ...args] = segment.argv
  const refusal = refusalOf(segment)
  if (refusal !== null) return { refusal }
  const commandText = asCommand([...(segment.viaSudo ? ['sudo'] : []), ...segment.argv])
  if (commandText.length > MAX_STORED) return { refusal: 'It is too long to be stored.' }
  if (redact(commandText).found.length > 0) return { refusal: 'It holds a secret, which is never stored.' }
  if (options.session && context.session === null) return { refusal: 'There is no session it could be bound to.' }
  if (options.expiresAt !== null && options.expiresAt <= context.now)
    return { refusal: 'It would have run out already.' }
  const remote = context.targetKind !== 'local'
  let pattern: string
  if (segment.path !== null && segment.real !== null) pattern = literalPattern(segment.path)
  else if (remote && segment.path === null && !typed.includes('/')) pattern = typed
  else return { refusal: `It is not known which program ${typed} is, so there is nothing to store.` }
  return {
    entry: {
      pattern,
      argPattern: encodeArgv(args),
      scope: {
        target: context.target,
        agent: context.agent,
        ...(options.session && context.session !== null ? { session: context.session } : {}),
      },
      ...(options.expiresAt === null ? {} : { expiresAt: options.expiresAt }),
      ...(segment.viaSudo ? { sudo: true } : {}),
      source: 'approval',
      commandText,
    },
  }
}

/** The same for a whole command: all of its segments, or nothing. Equal entries come once. */
export function entriesFor(
  segments: readonly ResolvedSegment[] | null,
  context: MatchContext,
  options: AlwaysOptions,
): { readonly entries: readonly AllowlistEntry[] } | { readonly refusal: string } {
  if (segments === null || segments.length === 0)
    return {
      refusal: 'Which programs it starts with which words is only known when it runs, so it is approved each time.',
    }
  const entries = new Map<string, AllowlistEntry>()
  for (const segment of segments) {
    const answer = entryFor(segment, context, options)
    if ('refusal' in answer) return answer
    entries.set(JSON.stringify(answer.entry), answer.entry)
  }
  return { entries: [...entries.values()] }
}
