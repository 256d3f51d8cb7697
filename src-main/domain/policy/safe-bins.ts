import { z } from 'zod'
import type { ResolvedSegment } from './segments'
import { unsuitable } from './unsuitable'

const OptionNames = z
  .string()
  .regex(
    /^(?:--?[A-Za-z0-9][A-Za-z0-9-]*)(?: --?[A-Za-z0-9][A-Za-z0-9-]*)*$/,
    'names of options, separated by one space',
  )

/** What a program may be given so that it reads nothing but its standard input. What is not named is refused. */
export const SafeBinProfile = z
  .strictObject({
    summary: z.string().optional(),
    /** Options without a value. Short ones may be clustered. */
    flag: OptionNames.optional(),
    /** Options with any one value, glued or as the next word. It must never name a file. */
    text: OptionNames.optional(),
    /** The same with a number (`10`, `+5`, `-3`, `2k`). */
    number: OptionNames.optional(),
    /** Options that are known and refused, with more in mind than the unknown ones: for the sentence that says so. */
    deny: OptionNames.optional(),
    /** How many operands there may be; they must be texts, never files. None unless said. */
    operands: z.strictObject({ min: z.number().int().min(0).max(8), max: z.number().int().min(0).max(8) }).optional(),
    /** `-20` is a number of lines. */
    numeric: z.boolean().optional(),
  })
  .readonly()
export type SafeBinProfile = z.infer<typeof SafeBinProfile>

const ShippedBin = SafeBinProfile.unwrap().extend({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  /** On without being named in `tools.exec.safeBins`. */
  default: z.boolean(),
  safe: z.array(z.string()).min(1),
  unsafe: z.array(z.string()).min(1),
})

/** `policies/safe-bins.yaml`. */
export const SafeBinsFile = z.strictObject({
  trusted_dirs: z.array(z.string().regex(/^\/[^\0\n]*$/)).min(1),
  bins: z.array(ShippedBin).min(1),
})
export type SafeBinsFile = z.infer<typeof SafeBinsFile>

interface Shape {
  readonly flags: ReadonlySet<string>
  readonly texts: ReadonlySet<string>
  readonly numbers: ReadonlySet<string>
  readonly denied: ReadonlySet<string>
  readonly min: number
  readonly max: number
  readonly numeric: boolean
}

export interface SafeBins {
  readonly bins: ReadonlyMap<string, Shape>
  readonly trustedDirs: readonly string[]
  /** Names that were asked for and never match, with the reason. */
  readonly problems: readonly { readonly name: string; readonly why: string }[]
}

/** No safe bins at all. */
export const NO_SAFE_BINS: SafeBins = { bins: new Map(), trustedDirs: [], problems: [] }

const setOf = (text: string | undefined): ReadonlySet<string> => new Set(text === undefined ? [] : text.split(' '))

function shapeOf(profile: SafeBinProfile): Shape {
  return {
    flags: setOf(profile.flag),
    texts: setOf(profile.text),
    numbers: setOf(profile.number),
    denied: setOf(profile.deny),
    min: profile.operands?.min ?? 0,
    max: profile.operands?.max ?? 0,
    numeric: profile.numeric ?? false,
  }
}

/**
 * The safe bins of one agent. `names` and `trustedDirs` are those of the settings, null meaning the shipped ones; a name without a
 * shipped or own profile, and any shell, interpreter, package runner or wrapper, never matches and is a problem.
 */
export function compileSafeBins(
  file: SafeBinsFile,
  settings: {
    readonly safeBins: readonly string[] | null
    readonly safeBinTrustedDirs: readonly string[] | null
    readonly safeBinProfiles: Readonly<Record<string, SafeBinProfile>>
  },
): SafeBins {
  const shipped = new Map(file.bins.map((bin) => [bin.name, bin]))
  const names = settings.safeBins ?? file.bins.filter((bin) => bin.default).map(({ name }) => name)
  const bins = new Map<string, Shape>()
  const problems: { name: string; why: string }[] = []
  for (const name of new Set(names)) {
    const kind = unsuitable(name)
    const own = Object.hasOwn(settings.safeBinProfiles, name) ? settings.safeBinProfiles[name] : undefined
    const profile = own ?? shipped.get(name)
    if (kind !== null) {
      problems.push({
        name,
        why: `${name} is a ${kind}: it runs what it is given, so it is never a safe bin. Remove it from safeBins.`,
      })
    } else if (name.includes('/')) {
      problems.push({ name, why: 'A safe bin is a bare name.' })
    } else if (profile === undefined) {
      problems.push({
        name,
        why: `${name} has no profile. Add one under tools.exec.safeBinProfiles, or remove it from safeBins.`,
      })
    } else bins.set(name, shapeOf(profile))
  }
  return { bins, trustedDirs: settings.safeBinTrustedDirs ?? file.trusted_dirs, problems }
}

const NUMBER = /^[-+]?\d{1,15}[A-Za-z]{0,3}$/

/** Why these words are more than reading standard input; null when they are no more than that. `argv[0]` is not looked at. */
export function safeBinRefusal(shape: Shape, argv: readonly string[]): string | null {
  let operands = 0
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] as string
    if (word === '--') {
      operands += argv.length - i - 1
      break
    }
    if (word === '' || word === '-' || !word.startsWith('-')) {
      operands++
      continue
    }
    if (shape.numeric && /^-\d{1,15}$/.test(word)) continue
    const refusal = word.startsWith('--') ? longOption(word) : shortOptions(word)
    if (refusal !== null) return refusal

    function longOption(long: string): string | null {
      const equals = long.indexOf('=')
      const name = equals < 0 ? long : long.slice(0, equals)
      if (shape.denied.has(name)) return `${name} is not allowed for a safe bin.`
      // An abbreviation is no name: what it stands for is another version's decision.
      if (shape.flags.has(name)) return equals < 0 ? null : `${name} takes no value.`
      const number = shape.numbers.has(name)
      if (!number && !shape.texts.has(name)) return `${name} is not an option that is known to be safe.`
      const value = equals < 0 ? argv[++i] : long.slice(equals + 1)
      if (value === undefined) return `${name} has no value.`
      return number && !NUMBER.test(value) ? `${name} takes a number.` : null
    }
    function shortOptions(cluster: string): string | null {
      for (let k = 1; k < cluster.length; k++) {
        const name = `-${cluster[k]}`
        if (shape.denied.has(name)) return `${name} is not allowed for a safe bin.`
        if (shape.flags.has(name)) continue
        const number = shape.numbers.has(name)
        if (!number && !shape.texts.has(name)) return `${name} is not an option that is known to be safe.`
        const value = k + 1 < cluster.length ? cluster.slice(k + 1) : argv[++i]
        if (value === undefined) return `${name} has no value.`
        return number && !NUMBER.test(value) ? `${name} takes a number.` : null
      }
      return null
    }
  }
  if (operands > shape.max) return shape.max === 0 ? 'It names a file.' : 'It has more words than it needs.'
  return operands < shape.min ? 'It has fewer words than it needs.' : null
}

function inTrustedDir(path: string, dirs: readonly string[]): boolean {
  const folder = path.slice(0, path.lastIndexOf('/')) || '/'
  return dirs.some((dir) => (dir.length > 1 && dir.endsWith('/') ? dir.slice(0, -1) : dir) === folder)
}

export type SafeBinAnswer =
  | { readonly name: string }
  | { readonly refusal: string }
  /** The program is no safe bin at all. */
  | null

/** Whether a segment is a safe bin, used safely, out of a trusted folder, typed by its bare name and not behind sudo. */
export function matchSafeBin(safeBins: SafeBins, segment: ResolvedSegment): SafeBinAnswer {
  const name = segment.argv[0] as string
  const shape = safeBins.bins.get(name)
  if (shape === undefined) return null
  if (segment.viaSudo) return { refusal: 'A safe bin is never run with sudo.' }
  const { path, real, trusted } = segment
  if (path === null || real === null || !trusted)
    return { refusal: `It is not known that ${name} comes from a trusted folder.` }
  if (![path, real].every((one) => inTrustedDir(one, safeBins.trustedDirs)))
    return { refusal: `${path} lies in none of the trusted folders.` }
  const refusal = safeBinRefusal(shape, segment.argv)
  return refusal === null ? { name } : { refusal }
}
