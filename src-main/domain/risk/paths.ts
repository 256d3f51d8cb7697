import type { Word } from '../shell'
import type { PathRule, RuleSet } from './rules'

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

/** The rule by which a word names a secret, or null. With a wildcard, what it could match counts. */
export function secretOf(rules: RuleSet, word: Pick<Word, 'shape' | 'dynamic'>): Secret | null {
  const path = normalisePath(word.shape)
  for (const rule of rules.secrets) if (matches(rule, path)) return { rule, certain: true }
  if (!word.dynamic.includes('glob')) return null
  const slash = path.lastIndexOf('/')
  const base = path.slice(slash + 1)
  const folder = path.slice(0, slash + 1)
  const literal = base.replace(/\[[^\]]*\]|[*?]/g, '').length
  let possible: PathRule | null = null
  for (const rule of rules.secrets)
    for (const name of rule.names)
      if (globCouldMatch(base, name) && matches(rule, folder + name)) {
        if (literal >= 3) return { rule, certain: true }
        possible ??= rule
      }
  if (slash > 0)
    for (const rule of rules.secrets) if (matches(rule, path.slice(0, slash))) return { rule, certain: true }
  if (possible) return { rule: possible, certain: false }
  return null
}

/** True when something secret is known to lie somewhere below this folder. */
export function holdsSecrets(rules: RuleSet, shape: string): boolean {
  const path = normalisePath(shape)
  return rules.secretFolders.some((folder) => folder.test(path))
}
