import type { TraceStep } from '../../../src-preload/contract/model'
import { type Allowlist, type MatchContext, matchAllowlist } from './allowlist'
import { matchSafeBin, type SafeBins } from './safe-bins'
import type { ResolvedSegment } from './segments'
import { matchSkill, type Skills } from './skills'

/** What lets one segment through, or why nothing does. */
export interface SegmentMatch {
  readonly by: 'allowlist' | 'safe-bin' | 'skill' | null
  /** Id of the entry; null for the others, and for an entry that has none yet. */
  readonly entryId: string | null
  /** One sentence for people. */
  readonly why: string
  /** As it stands in a trace: `allowlist:<id>`, `safe-bin:<name>`, `skill:<name>`; null when nothing matched. */
  readonly rule: string | null
}

export interface Match {
  /** Every segment is let through. False where there is none, or argv cannot be known. */
  readonly all: boolean
  readonly perSegment: readonly SegmentMatch[]
}

const NOTHING: Match = { all: false, perSegment: [] }

/** Looks up every segment. `segments` is null where argv cannot be known: then nothing matches, whatever the entries say. */
export function matchSegments(
  allowlist: Allowlist,
  safeBins: SafeBins,
  skills: Skills,
  segments: readonly ResolvedSegment[] | null,
  context: MatchContext,
): Match {
  if (segments === null || segments.length === 0) return NOTHING
  const perSegment = segments.map((segment) => matchSegment(allowlist, safeBins, skills, segment, context))
  return { all: perSegment.every(({ by }) => by !== null), perSegment }
}

function matchSegment(
  allowlist: Allowlist,
  safeBins: SafeBins,
  skills: Skills,
  segment: ResolvedSegment,
  context: MatchContext,
): SegmentMatch {
  const name = segment.argv[0] as string
  const entry = matchAllowlist(allowlist, segment, context)
  if (entry !== null) {
    const id = entry.id ?? null
    return {
      by: 'allowlist',
      entryId: id,
      why: `The allowlist has "${entry.pattern}"${entry.argPattern === undefined ? '' : ' with these arguments'}.`,
      rule: `allowlist:${id ?? entry.pattern}`,
    }
  }
  if (segment.wrappers.length > 0 && segment.wrappersTrusted !== true) {
    return {
      by: null,
      entryId: null,
      why: `${segment.wrappers[0]} around it is not from a trusted folder.`,
      rule: null,
    }
  }
  const safe = matchSafeBin(safeBins, segment)
  if (safe !== null && 'name' in safe) {
    return { by: 'safe-bin', entryId: null, why: `${name} only reads what it is fed.`, rule: `safe-bin:${name}` }
  }
  const skill = matchSkill(skills, segment)
  if (skill !== null) {
    return { by: 'skill', entryId: null, why: `The skill "${skill}" names ${name}.`, rule: `skill:${skill}` }
  }
  return {
    by: null,
    entryId: null,
    why: safe === null ? `No entry lets ${name} through as it is called here.` : `${name}: ${safe.refusal}`,
    rule: null,
  }
}

/** The steps of a match for the trace of a decision: one for each segment, matched or not. Nothing where argv cannot be known. */
export function matchTrace(match: Match, segments: readonly ResolvedSegment[] | null): readonly TraceStep[] {
  return match.perSegment.map(({ rule, why }, i) => {
    const span = segments?.[i]?.span
    return {
      layer: 'host-policy',
      rule: rule ?? 'no-match',
      verdict: rule === null ? 'no-match' : 'match',
      sentence: why,
      spans: span === undefined ? [] : [span],
    }
  })
}
