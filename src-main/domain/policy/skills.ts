import type { ResolvedSegment } from './segments'
import { unsuitable } from './unsuitable'

/** A known skill, as far as its metadata names executables. */
export interface SkillBins {
  readonly skill: string
  /** Bare names of the executables it needs. */
  readonly bins: readonly string[]
}

/** Executables that are trusted because a known skill names them: bare name → skills that name it. */
export interface Skills {
  readonly bins: ReadonlyMap<string, readonly string[]>
  /** Names of the metadata that never match, with the reason. */
  readonly problems: readonly { readonly skill: string; readonly name: string; readonly why: string }[]
}

/** What holds while `autoAllowSkills` is off. */
export const NO_SKILLS: Skills = { bins: new Map(), problems: [] }

/** The executables of known skills. Shells, interpreters, package runners, git, wrappers and paths are left out and said. */
export function compileSkills(known: readonly SkillBins[]): Skills {
  const bins = new Map<string, readonly string[]>()
  const problems: { skill: string; name: string; why: string }[] = []
  for (const { skill, bins: names } of known) {
    for (const name of names) {
      const kind = unsuitable(name)
      if (!/^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/.test(name))
        problems.push({ skill, name, why: 'It is no bare program name.' })
      else if (kind !== null) problems.push({ skill, name, why: `It is a ${kind}, which runs what it is given.` })
      else bins.set(name, [...(bins.get(name) ?? []), skill])
    }
  }
  return { bins, problems }
}

/** The skill that vouches for a segment; null when none does. Only for a bare name that was found through PATH, never behind sudo. */
export function matchSkill(skills: Skills, segment: ResolvedSegment): string | null {
  const name = segment.argv[0] as string
  const vouching = skills.bins.get(name)
  if (vouching === undefined || segment.viaSudo || segment.path === null || segment.real === null) return null
  // A link of that name may lead to an interpreter.
  if (unsuitable(segment.real) !== null || unsuitable(segment.path) !== null) return null
  return vouching[0] ?? null
}
