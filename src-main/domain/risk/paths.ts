import type { SimpleCommand, Word } from '../shell'
import type { PathRule, RuleSet } from './rules'

/** Stands for the home folder of the user, wherever it lies: `~/x`, `$HOME/x` and its absolute form are one path. */
const HOME = '/home/~'

/** What relative paths and `~` stand for, and where Nomos keeps its own data. Every path in here is in its resolved form. */
export interface Where {
  readonly cwd: string
  /** The home folder as it is written; null when nobody knows it. */
  readonly userHome: string | null
  /** Nomos's own folder, in every form it may be reached by. */
  readonly homes: readonly string[]
}

interface Walked {
  readonly path: string
  /** It leads through another process, to whatever that one has open. */
  readonly door: boolean
}

/** Walks an absolute path the way the kernel does, as far as that can be told from the text. */
function walk(path: string, cwd: string, userHome: string | null): Walked {
  if (!path.includes('/.') && !path.includes('//') && !path.startsWith('/proc') && !path.startsWith('/dev/fd'))
    return { path: underHome(path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path, userHome), door: false }
  let out: string[] = []
  let door = false
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      out.pop()
      continue
    }
    out.push(part)
    if (out[0] === 'dev' && out[1] === 'fd' && out.length > 2) door = true
    if (out[0] !== 'proc' || !(out.length === 3 || (out.length === 5 && out[2] === 'task'))) continue
    // `/proc/1/root` is the root folder again, `/proc/self/cwd` the folder the command runs in.
    if (part === 'root') out = []
    else if (part === 'cwd' && /^(?:self|thread-self)$/.test(out[1] ?? '')) out = cwd.split('/').slice(1)
    else if (part === 'cwd' || part === 'fd' || part === 'map_files') door = true
  }
  return { path: underHome(`/${out.join('/')}`, userHome), door }
}

function underHome(path: string, userHome: string | null): string {
  if (userHome === null || !path.startsWith(userHome)) return path
  if (path.length === userHome.length) return HOME
  return path[userHome.length] === '/' ? HOME + path.slice(userHome.length) : path
}

/** The text as an absolute path, or null when only a run can tell where it begins. */
function absolute(shape: string, cwd: string): string | null {
  const first = shape[0]
  if (first === '/') return shape
  if (first === '~') {
    const slash = shape.indexOf('/')
    const name = slash < 0 ? shape.slice(1) : shape.slice(1, slash)
    const rest = slash < 0 ? '' : shape.slice(slash)
    if (name === '') return HOME + rest
    if (name === '+') return cwd + rest
    if (/^[\w.-]+$/.test(name)) return (name === 'root' ? '/root' : `/home/${name}`) + rest
  } else if (first === '$') {
    const match = /^\$(?:\{(HOME|PWD)\}|(HOME|PWD)(?=\/|$))/.exec(shape)
    if (match) return ((match[1] ?? match[2]) === 'HOME' ? HOME : cwd) + shape.slice(match[0].length)
    return null
  } else if (first === '`' || first === '<') return null
  return `${cwd}/${shape}`
}

/** The one form of a path that is judged. */
export function resolve(where: Where, shape: string): string {
  const path = absolute(shape, where.cwd)
  return path === null ? normalisePath(shape) : walk(path, where.cwd, where.userHome).path
}

/** True when the path leads through another process or an open descriptor: nobody knows to what. */
export function leadsThroughProcess(where: Where, shape: string): boolean {
  const path = absolute(shape, where.cwd)
  return path !== null && walk(path, where.cwd, where.userHome).door
}

function known(path: string | null | undefined): string | null {
  const clean = normalisePath((path ?? '').trim())
  return clean.startsWith('/') && clean !== '/' ? clean : null
}

const SOMEBODYS_HOME = /^(\/root|\/(?:home|Users)\/[^/]+)\/(.+)$/

/** Without a folder a command is judged as if it ran in the home folder: that is where most of what is secret lies. */
export function whereabouts(options: {
  readonly cwd?: string | null | undefined
  readonly homeFolder?: string | null | undefined
  readonly nomosHome?: string | null | undefined
}): Where {
  const own = known(options.nomosHome)
  const somebodys = own === null ? null : SOMEBODYS_HOME.exec(own)
  const userHome = known(options.homeFolder) ?? somebodys?.[1] ?? null
  const homes: string[] = []
  if (own !== null) {
    homes.push(underHome(own, userHome))
    // On another machine, or as another user, the same place in that home is taken for ours as well.
    if (somebodys) homes.push(`${HOME}/${somebodys[2]}`, own)
  }
  // A folder of another kind of system is still known by its text.
  else if (options.nomosHome && /[\\/]./.test(options.nomosHome.trim())) homes.push(options.nomosHome.trim())
  const cwd = (options.cwd ?? '').trim()
  return {
    cwd: cwd.startsWith('/') ? walk(cwd, HOME, userHome).path : HOME,
    userHome,
    homes: [...new Set(homes)],
  }
}

/** The same, for a command that another machine or a container runs. */
export function elsewhere(where: Where): Where {
  return where.cwd === HOME ? where : { ...where, cwd: HOME }
}

/** Lexical clean-up: `//`, `/./` and `x/../` do not change which file is meant. */
export function normalisePath(path: string): string {
  if (!path.includes('/')) return path
  const absolute = path.startsWith('/')
  const out: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && out.length > 0 && out[out.length - 1] !== '..') out.pop()
    else if (part !== '..' || !absolute) out.push(part)
  }
  return (absolute ? '/' : '') + out.join('/')
}

/** Matches `*`, `?` and `[…]` against a name, in linear time for one star and without back-tracking explosions for more. */
export function globCouldMatch(pattern: string, name: string): boolean {
  let p = 0
  let n = 0
  let star = -1
  let mark = 0
  while (n < name.length) {
    const c = pattern[p]
    if (c === '*') {
      star = p++
      mark = n
    } else if (c === '[') {
      const end = pattern.indexOf(']', p + 2)
      // A class is taken as matching anything: for danger, too much is right.
      p = end < 0 ? pattern.length : end + 1
      n++
    } else if (c === '?' || c === name[n]) {
      p++
      n++
    } else if (star >= 0) {
      p = star + 1
      n = ++mark
    } else return false
  }
  while (pattern[p] === '*') p++
  return p >= pattern.length
}

/** The forms in which a word may name a file: itself, what follows `=` or `@`, without `file://`. */
export function pathCandidates(shape: string): string[] {
  const out = [shape]
  const equals = shape.indexOf('=')
  if (equals >= 0) out.push(shape.slice(equals + 1))
  const at = shape.lastIndexOf('@')
  if (at >= 0) out.push(shape.slice(at + 1))
  if (shape.startsWith('-') && !shape.startsWith('--') && shape.length > 2) out.push(shape.slice(2).replace(/^@/, ''))
  const scheme = shape.indexOf('file://')
  if (scheme >= 0) out.push(shape.slice(scheme + 7))
  return out
}

function matches(rule: PathRule, path: string): boolean {
  return rule.pattern.test(path) && !(rule.unless?.test(path) ?? false)
}

export interface Secret {
  readonly rule: PathRule
  /** False when a wide wildcard merely could reach one (`cat *`): not a leak, but not a plain read either. */
  readonly certain: boolean
}

/** The resolved forms of a word. A literal `~` may be the name of a folder. */
function places(where: Where, word: Pick<Word, 'shape' | 'dynamic'>): readonly string[] {
  const path = resolve(where, word.shape)
  return word.shape[0] === '~' && word.dynamic.length === 0 ? [path, resolve(where, `./${word.shape}`)] : [path]
}

function literals(pattern: string): number {
  return pattern.replace(/\[[^\]]*\]|[*?]/g, '').length
}

/** How a path with wildcards could become the file `name`, whose folders are named as far as they matter. */
function couldName(rule: PathRule, parts: readonly string[], name: string): 'no' | 'possible' | 'certain' {
  const wanted = name.split('/')
  const from = parts.length - wanted.length
  if (from < 0) return 'no'
  let total = 0
  let bare = false
  for (let i = wanted.length - 1; i >= 0; i--) {
    const pattern = parts[from + i] as string
    if (!globCouldMatch(pattern, wanted[i] as string)) return 'no'
    const count = literals(pattern)
    total += count
    if (count === 0) bare = true
  }
  if (!matches(rule, [...parts.slice(0, from), name].join('/'))) return 'no'
  return total >= 3 && !bare ? 'certain' : 'possible'
}

/** What wildcards of one text were found to reach: a long one repeats them. */
const reached = new WeakMap<Where, Map<string, Secret | null>>()

/**
 * The rule by which a word names a secret, or null. With a wildcard, what it could match counts. `guessed`: nobody knows whether the
 * word is a path at all, so a bare name counts by itself or by the folder it would be in, not by both together.
 */
export function secretOf(
  rules: RuleSet,
  where: Where,
  word: Pick<Word, 'shape' | 'dynamic'>,
  guessed = false,
): Secret | null {
  const bare = guessed && !word.shape.includes('/')
  const glob = word.dynamic.includes('glob')
  const paths = places(where, word)
  for (const path of paths) {
    if (!rules.anySecret.test(path)) continue
    for (const rule of rules.secrets)
      if (matches(rule, path) && (!bare || matches(rule, word.shape) || !matches(rule, `/x/${word.shape}`)))
        return { rule, certain: true }
  }
  if (!glob) return null
  let known = reached.get(where)
  if (known === undefined) {
    known = new Map()
    reached.set(where, known)
  }
  let possible: Secret | null = null
  for (const path of paths) {
    let found = known.get(path)
    if (found === undefined) {
      found = globSecret(rules, path)
      known.set(path, found)
    }
    if (found?.certain) return found
    possible ??= found
  }
  return possible
}

/** The secret a path with wildcards could become. */
function globSecret(rules: RuleSet, path: string): Secret | null {
  let possible: Secret | null = null
  const parts = path.split('/')
  const folder = parts.slice(0, -1).join('/')
  const open = rules.openFolders.some((pattern) => pattern.test(folder))
  for (const rule of rules.secrets)
    for (const name of rule.names) {
      const could = couldName(rule, parts, name)
      if (could === 'certain') return { rule, certain: true }
      if (could === 'possible' && !open) possible ??= { rule, certain: false }
    }
  if (folder !== '' && rules.anySecret.test(folder))
    for (const rule of rules.secrets) if (matches(rule, folder)) return { rule, certain: true }
  return possible
}

/** True when something secret is known to lie somewhere below this folder. */
export function holdsSecrets(rules: RuleSet, where: Where, word: Pick<Word, 'shape' | 'dynamic'>): boolean {
  for (const path of places(where, word)) {
    if (rules.secretFolders.some((folder) => folder.test(path))) return true
    if (where.userHome?.startsWith(`${path}/`)) return true
    if (!word.dynamic.includes('glob')) continue
    const slash = path.lastIndexOf('/')
    const base = path.slice(slash + 1)
    for (const name of rules.secretFolderNames)
      if (globCouldMatch(base, name) && rules.secretFolders.some((f) => f.test(path.slice(0, slash + 1) + name)))
        return true
  }
  return false
}

/** More folders than this are not followed through one text. */
const MAX_MOVES = 4

/**
 * Where a text goes by itself (`cd x`, `env -C x …`), each with the place in the text from which that may hold. It may fail as well,
 * so these are judged beside the folder the text starts in, never instead of it.
 */
export function moves(commands: readonly SimpleCommand[], start: Where): readonly { from: number; where: Where }[] {
  const out: { from: number; where: Where }[] = []
  let where = start
  for (const { words, start: from } of commands) {
    const name = words[0]?.shape ?? ''
    if (words.length < 2 || !/^(?:cd|pushd|chdir|env|sudo|git|make|tar|command|builtin)$/.test(name)) continue
    let target: string | undefined
    if (/^(?:cd|pushd|chdir|command|builtin)$/.test(name)) {
      const rest = words.slice(1).filter(({ shape }) => !shape.startsWith('-') && !/^(?:cd|pushd)$/.test(shape))
      if (/^(?:command|builtin)$/.test(name) && !/^(?:cd|pushd)$/.test(words[1]?.shape ?? '')) continue
      target = rest[0]?.shape ?? '~'
    } else
      for (let i = 1; i < words.length && target === undefined; i++) {
        const shape = (words[i] as Word).shape
        if (/^(?:-C|-D|--chdir|--directory)$/.test(shape)) target = words[i + 1]?.shape
        else target = /^(?:--chdir|--directory)=(.+)$/.exec(shape)?.[1]
      }
    if (target === undefined) continue
    const cwd = resolve(where, target)
    if (!cwd.startsWith('/') || cwd === where.cwd) continue
    const moved = { ...where, cwd }
    out.push({ from, where: moved })
    if (out.length >= MAX_MOVES) break
    if (!/^(?:env|sudo|git|make|tar)$/.test(name)) where = moved
  }
  return out
}
