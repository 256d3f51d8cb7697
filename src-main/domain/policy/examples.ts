import { classify, type RuleSet } from '../risk'
import { compileGrantKinds, type Grant, type GrantKindsFile, grantCovers } from './grants'
import { compileSafeBins, matchSafeBin, type SafeBinsFile } from './safe-bins'
import { type ResolvedSegment, type Segment, segmentsOf } from './segments'

/** An example that does not hold, with its place in the data. */
export interface ExampleFault {
  readonly path: readonly (string | number)[]
  readonly what: string
}

/** A segment as a tidy machine would resolve it: bare names lie in /usr/bin. */
function tidy(segment: Segment): ResolvedSegment {
  const [typed = ''] = segment.argv
  const path = typed.includes('/') ? (typed.startsWith('/') ? typed : `/srv/app/${typed}`) : `/usr/bin/${typed}`
  const trusted = /^\/(?:usr\/)?s?bin\/[^/]+$/.test(path)
  return { ...segment, path, real: path, trusted, wrappersTrusted: true }
}

/** Runs every example of the safe bins. */
export function safeBinFaults(file: SafeBinsFile): readonly ExampleFault[] {
  const names = file.bins.map(({ name }) => name)
  const settings = { safeBins: names, safeBinTrustedDirs: null, safeBinProfiles: {} }
  const safeBins = compileSafeBins(file, settings)
  const faults: ExampleFault[] = safeBins.problems.map(({ name, why }) => ({
    path: ['bins', names.indexOf(name), 'name'],
    what: why,
  }))
  file.bins.forEach((bin, index) => {
    if (names.indexOf(bin.name) !== index) faults.push({ path: ['bins', index, 'name'], what: 'is there twice' })
    for (const list of ['safe', 'unsafe'] as const)
      bin[list].forEach((command, at) => {
        const segments = segmentsOf(command)
        const [segment] = segments ?? []
        const answer = segments?.length === 1 && segment !== undefined ? matchSafeBin(safeBins, tidy(segment)) : null
        const safe = answer !== null && 'name' in answer && answer.name === bin.name
        if (safe === (list === 'safe')) return
        const why = answer !== null && 'refusal' in answer ? `: ${answer.refusal}` : ''
        faults.push({
          path: ['bins', index, list, at],
          what: `${JSON.stringify(command)} should ${list === 'safe' ? '' : 'not '}be safe and is${safe ? '' : ' not'}${why}`,
        })
      })
  })
  return faults
}

/** Runs every example of the grant kinds, each kind granted alone. */
export function grantFaults(file: GrantKindsFile, rules: RuleSet): readonly ExampleFault[] {
  const kinds = compileGrantKinds(file)
  const faults: ExampleFault[] = []
  file.kinds.forEach((kind, index) => {
    const grant: Grant = {
      id: 'example',
      agent: 'main',
      target: 'local',
      kinds: [kind.id],
      createdAt: 0,
      expiresAt: 2,
      note: '',
    }
    for (const list of ['covers', 'never'] as const)
      kind[list].forEach((command, at) => {
        const classification = classify(command, {
          rules,
          posture: 'default',
          cwd: '/srv/app',
          homeFolder: '/home/ann',
        })
        const question = {
          classification,
          segments: segmentsOf(command)?.map(tidy) ?? null,
          agent: 'main',
          target: 'local',
          tags: [],
          runbook: null,
        }
        const covered = grantCovers(kinds, grant, question, 1)
        if (covered === (list === 'covers')) return
        faults.push({
          path: ['kinds', index, list, at],
          what: `${JSON.stringify(command)} should ${covered ? 'not ' : ''}be covered and is${covered ? '' : ` not (${classification.risk}: ${classification.reasons[0]?.rule ?? 'no reason'})`}`,
        })
      })
  })
  return faults
}
