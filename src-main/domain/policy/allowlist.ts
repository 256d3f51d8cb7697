import { Minimatch } from 'minimatch'
import { RE2JS } from 're2js'
import type { AllowlistEntry } from './file'
import type { ResolvedSegment } from './segments'
import { unsuitable } from './unsuitable'

/** Who asks, where and when. */
export interface MatchContext {
  readonly agent: string
  /** Slug of the target. */
  readonly target: string
  readonly targetKind: 'local' | 'ssh' | 'lxc'
  readonly session: string | null
  /** ms since the epoch. */
  readonly now: number
  /** Home folder of the user on the target, absolute; what `~` in a pattern stands for. Empty when it is not known. */
  readonly home: string
  readonly cwd: string
}

/** Something to say about an entry. An error means that it never matches. */
export interface EntryNote {
  readonly index: number
  readonly entryId: string | null
  readonly level: 'error' | 'warning'
  readonly rule:
    | 'bad-pattern'
    | 'bad-arg-pattern'
    | 'bad-scope'
    | 'unanchored'
    | 'path-only-beside'
    | 'runs-anything'
    | 'expired'
    | 'duplicate-id'
  readonly field: 'pattern' | 'argPattern' | 'scope' | 'expiresAt' | 'id'
  readonly sentence: string
}

/** In front of an exact argv in its encoded form. */
const EXACT = 'argv:'
/** Wildcards work on text that others may choose: these bounds keep their cost small. */
const MAX_STARS = 4
const MAX_GLOBSTARS = 3
const GLOB = { dot: true, nonegate: true, nocomment: true, nobrace: true, noext: true, platform: 'linux' } as const
/** A path or a name of ordinary characters; no part of it begins with a dot. */
const PLAIN = /^(?:\/[A-Za-z0-9_+@-][A-Za-z0-9_.+@-]*)+$|^[A-Za-z0-9_][A-Za-z0-9_.+@-]*$/
const MAGIC = /[*?[\\]/

/** Arguments (without the program) in the form that `argPattern` keeps exactly: `argv:["status","--short"]`. */
export function encodeArgv(args: readonly string[]): string {
  return `${EXACT}${JSON.stringify(args)}`
}

/** The arguments of the encoded form; null when it is none, or a broken one. */
export function decodeArgv(argPattern: string): readonly string[] | null {
  if (!argPattern.startsWith(EXACT)) return null
  try {
    const found: unknown = JSON.parse(argPattern.slice(EXACT.length))
    return Array.isArray(found) && found.every((one) => typeof one === 'string') ? (found as string[]) : null
  } catch {
    return null
  }
}

/** A path with every character that means something in a pattern made literal. */
export function literalPattern(path: string): string {
  return path.replace(/[*?[\]\\!(){}+@]/g, (c) => `\\${c}`)
}

/** Why a pattern can never match; null when it can. */
function patternProblem(pattern: string): string | null {
  // Most are plain paths or names, and there may be thousands.
  if (PLAIN.test(pattern)) return null
  if (pattern.includes('\0') || /[\n\r]/.test(pattern)) return 'It holds a NUL or a line break.'
  if (!pattern.includes('/')) {
    if (pattern === '~') return 'It names the home folder, which is no program.'
    return MAGIC.test(pattern)
      ? 'A bare name holds no wildcards. Write a path, such as /usr/bin/*.'
      : /\s/.test(pattern)
        ? 'A bare name holds no blanks; arguments belong into argPattern.'
        : null
  }
  if (!pattern.startsWith('/') && !pattern.startsWith('~/'))
    return 'A path starts with "/" or "~/". A bare name has no "/" at all.'
  const parts = pattern.split('/')
  if (parts.includes('..') || parts.includes('.'))
    return 'It holds "." or ".." as a folder, which no resolved path has.'
  if (pattern.endsWith('/')) return 'It names a folder. Write /folder/* for the programs in it.'
  if (parts.filter((part) => part === '**').length > MAX_GLOBSTARS) return `It has more than ${MAX_GLOBSTARS} "**".`
  if (parts.some((part) => part !== '**' && part.replace(/\*+/g, '*').split('*').length - 1 > MAX_STARS))
    return `One part of it has more than ${MAX_STARS} "*".`
  return null
}

/** Why a pattern of arguments can never match; null when it can. Compiling is what costs, so it is done when it is asked for. */
function argPatternProblem(argPattern: string): string | null {
  if (argPattern.startsWith(EXACT))
    return decodeArgv(argPattern) === null ? 'After "argv:" a JSON list of texts is needed.' : null
  try {
    RE2JS.compile(argPattern)
    return null
  } catch (error) {
    return `It does not compile: ${error instanceof Error ? error.message : String(error)}. Patterns run in linear time, without look-around and back-references.`
  }
}

const KNOWN_SCOPE: ReadonlySet<string> = new Set(['target', 'agent', 'session'])

/** The fields that narrow an entry, and how others would begin that are meant to (`argpattern`, `expires`, a `target` beside the scope). */
const NARROWING: ReadonlySet<string> = new Set(['argPattern', 'scope', 'expiresAt', 'sudo'])
const MEANT_TO_NARROW = /^[-_]?(?:arg|expir|scope|target|session|agent|host|cwd|folder|until|valid|sudo)/i

/** What nobody knows in a scope or beside it may be meant narrower than it would be read. */
function scopeProblem(entry: AllowlistEntry): string | null {
  for (const key of Object.keys(entry))
    if (!NARROWING.has(key) && MEANT_TO_NARROW.test(key))
      return `"${key}" is no field of an entry; argPattern, scope, expiresAt and sudo are what narrows one.`
  const unknown = Object.keys(entry.scope ?? {}).find((key) => !KNOWN_SCOPE.has(key))
  return unknown === undefined ? null : `"${unknown}" is no scope that is known here; target, agent and session are.`
}

interface Compiled {
  readonly entry: AllowlistEntry
  /** A name that is found through PATH. */
  readonly bare: boolean
  /** The one path a pattern without wildcards stands for. */
  readonly literal: string | null
  /** Null until somebody asks. */
  glob: Minimatch | null
  /** False: it does not compile. Null until somebody asks. */
  args: RE2JS | readonly string[] | false | null
  /** What the joined arguments begin with wherever the pattern matches; empty when that cannot be told by looking at it. */
  readonly prefix: string
}

/** Entries of one program by the plain text their patterns of arguments begin with, of which there are few lengths. */
interface ByPrefix {
  readonly lengths: Set<number>
  readonly entries: Map<string, Compiled[]>
}

/** Entries by what a lookup knows: the program's name, its exact argv, or the folders above it. */
export interface Allowlist {
  readonly size: number
  readonly byName: ReadonlyMap<string, ByPrefix>
  readonly byArgv: ReadonlyMap<string, readonly Compiled[]>
  /** Patterns whose last part is a wildcard, by the literal folders in front. */
  readonly byFolder: ReadonlyMap<string, readonly Compiled[]>
}

const argvKey = (name: string, encoded: string): string => `${name}\0${encoded}`
const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** `\*` is a star. */
const unescaped = (part: string): string => (part.includes('\\') ? part.replace(/\\(.)/g, '$1') : part)
const isLiteral = (part: string): boolean => !/[*?[]/.test(part.includes('\\') ? part.replace(/\\./g, '') : part)

/** The literal folders a pattern starts with: `/opt/app/**` is `/opt/app`. */
function literalFolder(pattern: string): string {
  const parts = pattern.split('/')
  const magic = parts.findIndex((part) => !isLiteral(part))
  return parts.slice(0, magic).map(unescaped).join('/')
}

/**
 * The plain text an anchored pattern begins with: `^restart [a-z]+$` is `restart `. Told without compiling, so that of a thousand
 * patterns for one program only those are compiled that could match.
 */
function literalPrefix(argPattern: string | undefined): string {
  if (argPattern === undefined || argPattern.includes('|')) return ''
  const [, text = '', next = ''] = /^\^([A-Za-z0-9 _/=:,@%"'<>~#;&!-]*)(.?)/s.exec(argPattern) ?? []
  // The last character may be repeated or left out.
  return /[*?+{]/.test(next) ? text.slice(0, -1) : text
}

/** The entries, ready to be looked up. Bad ones are left out; `inspectAllowlist` names them. Patterns compile at their first use. */
export function compileAllowlist(entries: readonly AllowlistEntry[]): Allowlist {
  const byName = new Map<string, ByPrefix>()
  const byArgv = new Map<string, Compiled[]>()
  const byFolder = new Map<string, Compiled[]>()
  const put = (map: Map<string, Compiled[]>, key: string, one: Compiled): void => {
    const list = map.get(key)
    if (list === undefined) map.set(key, [one])
    else list.push(one)
  }
  for (const entry of entries) {
    if (patternProblem(entry.pattern) !== null || scopeProblem(entry) !== null) continue
    const { pattern } = entry
    const one: Compiled = {
      entry,
      bare: !pattern.includes('/'),
      literal: isLiteral(pattern) ? unescaped(pattern) : null,
      glob: null,
      args: null,
      prefix: literalPrefix(entry.argPattern),
    }
    const last = lastPart(pattern)
    if (one.literal === null && !isLiteral(last)) put(byFolder, literalFolder(pattern), one)
    else if (entry.argPattern?.startsWith(EXACT)) {
      const args = decodeArgv(entry.argPattern)
      if (args === null) continue
      one.args = args
      put(byArgv, argvKey(unescaped(last), encodeArgv(args)), one)
    } else {
      const name = unescaped(last)
      let own = byName.get(name)
      if (own === undefined) {
        own = { lengths: new Set(), entries: new Map() }
        byName.set(name, own)
      }
      own.lengths.add(one.prefix.length)
      put(own.entries, one.prefix, one)
    }
  }
  return { size: entries.length, byName, byArgv, byFolder }
}

/** A resolved path that can be compared with a pattern at all. */
const comparable = (path: string): boolean =>
  path.startsWith('/') && !/[\0\n\r]/.test(path) && !/(?:^|\/)\.\.?(?:\/|$)/.test(path)

/** The forms of a path a pattern may be written in: itself, and below the home folder with `~`. */
function forms(path: string, home: string): readonly string[] {
  const folder = home.endsWith('/') ? home.slice(0, -1) : home
  return folder !== '' && path.startsWith(`${folder}/`) ? [path, `~${path.slice(folder.length)}`] : [path]
}

function pathsOf(segment: ResolvedSegment, home: string): readonly string[] {
  const found = new Set<string>()
  // What is resolved only half (a link that leads nowhere) is not resolved.
  if (segment.path === null || segment.real === null) return []
  for (const path of [segment.path, segment.real])
    if (comparable(path)) for (const form of forms(path, home)) found.add(form)
  return [...found]
}

function programMatches(
  one: Compiled,
  segment: ResolvedSegment,
  paths: readonly string[],
  context: MatchContext,
): boolean {
  const { entry, bare, literal } = one
  if (bare) {
    if (segment.argv[0] !== entry.pattern) return false
    if (paths.length > 0) return true
    // Another machine may not tell where a name leads. Then the name must have been granted for exactly that machine.
    return context.targetKind !== 'local' && segment.path === null && entry.scope?.target === context.target
  }
  if (literal !== null) return paths.includes(literal)
  if (paths.length === 0) return false
  one.glob ??= new Minimatch(entry.pattern, GLOB)
  const glob = one.glob
  return paths.some((path) => glob.match(path))
}

function argsMatch(one: Compiled, args: readonly string[], joined: () => string): boolean {
  const { argPattern } = one.entry
  if (argPattern === undefined) return true
  if (one.args === null) {
    if (argPattern.startsWith(EXACT)) one.args = decodeArgv(argPattern) ?? false
    else {
      try {
        one.args = RE2JS.compile(argPattern)
      } catch {
        one.args = false
      }
    }
  }
  const wanted = one.args
  if (wanted === false) return false
  if (wanted instanceof RE2JS) return wanted.matcher(joined()).find()
  return wanted.length === args.length && wanted.every((arg, i) => arg === args[i])
}

/** Whether an entry's own limits let it count here and now. */
export function entryApplies(entry: AllowlistEntry, context: MatchContext, viaSudo: boolean): boolean {
  const { scope, expiresAt, sudo } = entry
  if (expiresAt !== undefined && context.now >= expiresAt) return false
  if (viaSudo !== (sudo === true)) return false
  if (scope?.target === undefined ? context.targetKind !== 'local' : scope.target !== context.target) return false
  if (scope?.agent !== undefined && scope.agent !== context.agent) return false
  return scope?.session === undefined || scope.session === context.session
}

/** The first entry that lets a segment through, exact argvs first; null when none does. */
export function matchAllowlist(
  allowlist: Allowlist,
  segment: ResolvedSegment,
  context: MatchContext,
): AllowlistEntry | null {
  // A wrapper from a folder that anybody may write to is somebody else's program; sudo looks along a path of its own.
  if (segment.wrappers.length > 0 && segment.wrappersTrusted !== true) return null
  const remoteName = context.targetKind !== 'local' && segment.path === null
  if (segment.viaSudo && !segment.trusted && !remoteName) return null
  const [typed = '', ...args] = segment.argv
  const paths = pathsOf(segment, context.home)
  let text: string | null = null
  const joined = (): string => {
    text ??= args.join(' ')
    return text
  }
  const names = new Set(paths.map(lastPart))
  if (!typed.includes('/')) names.add(typed)
  const encoded = encodeArgv(args)
  const lists: (readonly Compiled[] | undefined)[] = []
  for (const name of names) lists.push(allowlist.byArgv.get(argvKey(name, encoded)))
  for (const name of names) {
    const own = allowlist.byName.get(name)
    for (const length of own?.lengths ?? []) lists.push(own?.entries.get(joined().slice(0, length)))
  }
  if (allowlist.byFolder.size > 0) {
    const folders = new Set<string>()
    for (const path of paths)
      for (let end = path.lastIndexOf('/'); end >= 0; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1))
        folders.add(path.slice(0, end))
    for (const path of paths) if (path.startsWith('~/')) folders.add('~')
    for (const folder of folders) lists.push(allowlist.byFolder.get(folder))
  }
  for (const list of lists)
    for (const one of list ?? [])
      if (
        (one.prefix === '' || joined().startsWith(one.prefix)) &&
        entryApplies(one.entry, context, segment.viaSudo) &&
        programMatches(one, segment, paths, context) &&
        argsMatch(one, args, joined)
      )
        return one.entry
  return null
}

/** A pattern that is tied to both ends; an alternative outside of brackets is not (`^a|b$`). */
function anchored(argPattern: string): boolean {
  if (!/^(?:\(\?[isU]+\))?(?:\^|\\A)/.test(argPattern)) return false
  // With this flag, ^ and $ are the ends of a line, and an argument may hold several.
  if (/\(\?[isU]*m/.test(argPattern)) return false
  if (!/(?:^|[^\\])(?:\\\\)*(?:\$|\\z)$/.test(argPattern)) return false
  let depth = 0
  let inClass = false
  for (let i = 0; i < argPattern.length; i++) {
    const c = argPattern[i]
    if (c === '\\') {
      i++
    } else if (inClass) {
      if (c === ']') inClass = false
    } else if (c === '[') {
      inClass = true
      // `]` as the first member is a member.
      if (argPattern[i + 1] === '^') i++
      if (argPattern[i + 1] === ']') i++
    } else if (c === '(') depth++
    else if (c === ')') depth--
    else if (c === '|' && depth === 0) return false
  }
  return true
}

const describe = (entry: AllowlistEntry, index: number): string => `"${entry.id ?? `number ${index + 1}`}"`

/**
 * Everything there is to say about the entries of one agent: those that never match and why, patterns without anchors, a
 * path-only entry that lets through what an entry with a pattern for the same program does not. `now` in ms; null leaves out expiry.
 */
export function inspectAllowlist(entries: readonly AllowlistEntry[], now: number | null): readonly EntryNote[] {
  const notes: EntryNote[] = []
  const ids = new Set<string>()
  const usable = entries.map((entry, index) => {
    const entryId = entry.id ?? null
    const note = (level: EntryNote['level'], rule: EntryNote['rule'], field: EntryNote['field'], sentence: string) =>
      notes.push({ index, entryId, level, rule, field, sentence })
    if (entryId !== null && ids.has(entryId))
      note('warning', 'duplicate-id', 'id', `Another entry has the id "${entryId}" already.`)
    if (entryId !== null) ids.add(entryId)
    const pattern = patternProblem(entry.pattern)
    if (pattern !== null) note('error', 'bad-pattern', 'pattern', `"${entry.pattern}" never matches: ${pattern}`)
    const args = entry.argPattern === undefined ? null : argPatternProblem(entry.argPattern)
    if (args !== null) note('error', 'bad-arg-pattern', 'argPattern', `"${entry.argPattern}" never matches: ${args}`)
    const scope = scopeProblem(entry)
    if (scope !== null) note('error', 'bad-scope', 'scope', `The entry never matches: ${scope}`)
    const ok = pattern === null && args === null && scope === null
    const expired = now !== null && entry.expiresAt !== undefined && now >= entry.expiresAt
    if (expired) note('warning', 'expired', 'expiresAt', 'It has run out and matches no more.')
    if (ok && entry.argPattern !== undefined && decodeArgv(entry.argPattern) === null && !anchored(entry.argPattern))
      note(
        'warning',
        'unanchored',
        'argPattern',
        `"${entry.argPattern}" is searched anywhere in the arguments, so more may stand around it. Write ^…$ to mean the whole.`,
      )
    if (ok && entry.argPattern === undefined) {
      const kind = unsuitable(entry.pattern)
      if (kind !== null)
        note(
          'warning',
          'runs-anything',
          'pattern',
          `This is a ${kind} with any arguments: whatever it is given runs unasked.`,
        )
    }
    return ok && !expired
  })
  const pathOnly = entries
    .map((entry, index) => ({ entry, index }))
    .filter(({ entry, index }) => usable[index] && entry.argPattern === undefined)
  if (pathOnly.length === 0) return notes
  // Compared by the index, so that ten thousand entries are not compared with each other.
  const open = new Map<string, { entry: AllowlistEntry; index: number }[]>()
  const wild: { entry: AllowlistEntry; index: number; glob: Minimatch }[] = []
  for (const one of pathOnly) {
    const last = lastPart(one.entry.pattern)
    if (!isLiteral(one.entry.pattern)) wild.push({ ...one, glob: new Minimatch(one.entry.pattern, GLOB) })
    if (isLiteral(last)) open.set(unescaped(last), [...(open.get(unescaped(last)) ?? []), one])
  }
  entries.forEach((entry, index) => {
    if (!usable[index] || entry.argPattern === undefined) return
    const last = lastPart(entry.pattern)
    const same = [
      ...(isLiteral(last) ? (open.get(unescaped(last)) ?? []) : []),
      ...wild.slice(0, 100).filter(({ glob }) => isLiteral(entry.pattern) && glob.match(unescaped(entry.pattern))),
    ].find((one) => coversScope(one.entry, entry))
    if (same === undefined) return
    notes.push({
      index,
      entryId: entry.id ?? null,
      level: 'warning',
      rule: 'path-only-beside',
      field: 'argPattern',
      sentence: `Entry ${describe(same.entry, same.index)} lets "${same.entry.pattern}" through with any arguments, so this pattern narrows nothing.`,
    })
  })
  return notes
}

/** Whether the first entry counts wherever the second does. */
function coversScope(wide: AllowlistEntry, narrow: AllowlistEntry): boolean {
  const target = (entry: AllowlistEntry): string => entry.scope?.target ?? 'local'
  return (
    target(wide) === target(narrow) &&
    (wide.sudo === true) === (narrow.sudo === true) &&
    (wide.scope?.agent === undefined || wide.scope.agent === narrow.scope?.agent) &&
    (wide.scope?.session === undefined || wide.scope.session === narrow.scope?.session)
  )
}
