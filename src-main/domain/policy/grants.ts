import { RE2JS } from 're2js'
import { z } from 'zod'
import type { Classification } from '../../../src-preload/contract/model'
import type { ResolvedSegment } from './segments'

const Examples = z.array(z.string()).min(1)

/** One kind of what may be granted for a time: everything that only reads, or programs with arguments of a shape. */
const GrantKind = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]*$/),
  /** What an operator grants, as the end of "may … without asking". */
  summary: z.string().min(1),
  /** Covers what only reads, a line of several reads included. */
  reads: z.literal(true).optional(),
  programs: z
    .array(
      z.strictObject({
        names: z.string().regex(/^[A-Za-z0-9_.+-]+(?: [A-Za-z0-9_.+-]+)*$/),
        /** The whole of the arguments joined by one space; it must be anchored at both ends. */
        args: z.string().regex(/^\^.*\$$/, 'it has to start with ^ and end with $'),
        /** What must not be found anywhere in them. */
        not: z.string().min(1).optional(),
      }),
    )
    .optional(),
  covers: Examples,
  never: Examples,
})

/** `policies/grants.yaml`. */
export const GrantKindsFile = z.strictObject({ kinds: z.array(GrantKind).min(1) })
export type GrantKindsFile = z.infer<typeof GrantKindsFile>

/** What an operator granted on a card or in the policy room. Times in ms since the epoch. */
export const Grant = z.object({
  id: z.string().min(1),
  agent: z.string().min(1),
  /** A target's slug, or `group:<tag>`. */
  target: z.string().min(1),
  /** Ids of grant kinds, or `runbook:<id>`. */
  kinds: z.array(z.string().min(1)).min(1).readonly(),
  createdAt: z.number(),
  expiresAt: z.number(),
  note: z.string(),
})
export type Grant = Readonly<z.infer<typeof Grant>>

export interface GrantKinds {
  readonly kinds: ReadonlyMap<string, CompiledKind>
}

interface CompiledKind {
  readonly id: string
  readonly summary: string
  readonly reads: boolean
  readonly programs: ReadonlyMap<string, readonly { readonly args: RE2JS; readonly not: RE2JS | null }[]>
}

/** Throws a `SyntaxError` that names the kind when a pattern does not compile. */
export function compileGrantKinds(file: GrantKindsFile): GrantKinds {
  const kinds = new Map<string, CompiledKind>()
  for (const kind of file.kinds) {
    if (kinds.has(kind.id)) throw new SyntaxError(`kinds: "${kind.id}" is there twice.`)
    const programs = new Map<string, { args: RE2JS; not: RE2JS | null }[]>()
    kind.programs?.forEach(({ names, args, not }, i) => {
      const where = `kinds.${kind.id}.programs[${i}]`
      const one = {
        args: compiled(args, `${where}.args`),
        not: not === undefined ? null : compiled(not, `${where}.not`),
      }
      for (const name of names.split(' ')) programs.set(name, [...(programs.get(name) ?? []), one])
    })
    kinds.set(kind.id, { id: kind.id, summary: kind.summary, reads: kind.reads === true, programs })
  }
  return { kinds }
}

function compiled(pattern: string, where: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new SyntaxError(`${where}: it does not compile: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What a grant is asked about. */
export interface GrantQuestion {
  readonly classification: Pick<Classification, 'risk' | 'coverage' | 'reasons' | 'flags'>
  /** Null where argv cannot be known. */
  readonly segments: readonly ResolvedSegment[] | null
  readonly agent: string
  readonly target: string
  /** Tags of the target; `group:web` in a grant means the tag `web`. */
  readonly tags: readonly string[]
  /** The runbook that asks, if one does. */
  readonly runbook: string | null
}

/** Only because it is more than one command, and everything in it reads. */
const POSTURE_ONLY: ReadonlySet<string> = new Set(['compound'])

/** A change for no other reason than that it is several commands in one line. Every part of it reads. */
export function compoundAlone({ risk, reasons }: Pick<Classification, 'risk' | 'reasons'>): boolean {
  // Reasons are cut at a number; the worst come first, so that a full list may hide some of the same class.
  return (
    risk === 'config_mutation' &&
    reasons.length < 24 &&
    reasons.every((reason) => reason.risk === 'read_only' || POSTURE_ONLY.has(reason.rule))
  )
}

/** True when every part only reads, also where several commands in one line are asked about for being several. */
function onlyReads(classification: GrantQuestion['classification']): boolean {
  const { risk, coverage, flags } = classification
  if (coverage !== 'full' || flags.interactive || flags.unending) return false
  return risk === 'read_only' || compoundAlone(classification)
}

/** Whether a program with its words is of a kind. Only the bare name counts, or the same in a folder of the system. */
function segmentOfKind(kind: CompiledKind, segment: ResolvedSegment): boolean {
  const [typed = '', ...args] = segment.argv
  const patterns = kind.programs.get(/^\/(?:usr\/)?s?bin\/([^/]+)$/.exec(typed)?.[1] ?? typed)
  if (patterns === undefined) return false
  // Where the place knows which program it is, it must be the system's.
  if (segment.path !== null && !segment.trusted) return false
  if (segment.wrappers.length > 0 && segment.wrappersTrusted !== true) return false
  // Joined words must still be words.
  if (args.some((arg) => arg === '' || /\s/.test(arg))) return false
  const joined = args.join(' ')
  return patterns.some(
    ({ args: pattern, not }) => pattern.matcher(joined).find() && !(not?.matcher(joined).find() ?? false),
  )
}

/** True while a grant runs. */
export function grantRuns(grant: Grant, now: number): boolean {
  return now >= grant.createdAt && now < grant.expiresAt
}

/**
 * Whether a grant lets a request run without a question. Never for what cannot be undone and never for what reaches Nomos itself;
 * the host's `deny`, `ask: always` and the switches stand above it (`decide`). Kinds that are not known cover nothing.
 */
export function grantCovers(kinds: GrantKinds, grant: Grant, question: GrantQuestion, now: number): boolean {
  const { classification, segments } = question
  if (!grantRuns(grant, now)) return false
  if (classification.risk === 'destructive' || classification.flags.self) return false
  if (grant.agent !== question.agent) return false
  const here = grant.target === question.target || question.tags.some((tag) => grant.target === `group:${tag}`)
  if (!here) return false
  if (question.runbook !== null && grant.kinds.includes(`runbook:${question.runbook}`)) return true
  const own = grant.kinds.flatMap((id) => kinds.kinds.get(id) ?? [])
  if (own.some(({ reads }) => reads) && onlyReads(classification)) return true
  if (segments === null || segments.length === 0 || classification.flags.inlineEval) return false
  return segments.every((segment) => own.some((kind) => segmentOfKind(kind, segment)))
}
