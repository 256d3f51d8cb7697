import type { Invocation, Word } from '../shell'
import { suspectedName } from '../shell'
import { resolve, type Where } from './paths'
import type { DestructiveRule, RuleSet } from './rules'

/** True when an option may be among the words: exact, with `=`, abbreviated, or in a cluster of short ones. */
export function hasOption(
  words: readonly Word[],
  option: string,
  valued?: ReadonlySet<string>,
  exact = false,
): boolean {
  const cluster = option.length === 2 && option[0] === '-' && option[1] !== '-'
  for (let i = 1; i < words.length; i++) {
    const text = (words[i] as Word).shape
    if (text === '--') return false
    if (text !== option && valued?.has(text)) {
      i++
      continue
    }
    if (text[0] !== '-' && text[0] !== '+' && text[0] !== '/') continue
    if (text === option) return true
    if (cluster) {
      if (
        text[1] !== '-' &&
        /^-[A-Za-z0-9]+/.test(text) &&
        (/^-[A-Za-z0-9]+/.exec(text)?.[0] ?? '').includes(option[1] as string)
      )
        return true
      continue
    }
    // What clears a command has to be there in full, without a value that may say no.
    if (exact) continue
    const equals = text.indexOf('=')
    const name = equals < 0 ? text : text.slice(0, equals)
    if (name === option) return true
    if (name.startsWith('--') && name.length >= 3 && option.startsWith(name)) return true
  }
  return false
}

/** The values given to an option, glued or as the next word. */
function optionValues(words: readonly Word[], option: string): string[] {
  const out: string[] = []
  for (let i = 1; i < words.length; i++) {
    const text = (words[i] as Word).shape
    if (text === option) out.push(words[i + 1]?.shape ?? '')
    else if (text.startsWith(`${option}=`)) out.push(text.slice(option.length + 1))
    else if (option.length === 2 && text.startsWith(option)) out.push(text.slice(2))
  }
  return out
}

/** Operands, with the values of known value options left out. */
export function positionals(words: readonly Word[], valued: ReadonlySet<string> | undefined): Word[] {
  const out: Word[] = []
  let dashes = false
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as Word
    const text = word.shape
    if (!dashes && text === '--') {
      dashes = true
      continue
    }
    if (!dashes && text.length > 1 && (text[0] === '-' || (text[0] === '+' && valued?.has(text)))) {
      if (valued?.has(text)) i++
      continue
    }
    out.push(word)
  }
  return out
}

function fedBy(names: ReadonlySet<string>, invocation: Invocation): boolean {
  for (const name of names) if (invocation.fedBy(name)) return true
  // `sh -c "$(curl …)"`, `bash <(curl …)`, `eval "$(…)"`: the substitution stands in a word as typed.
  for (const word of invocation.words) {
    if (!word.dynamic.includes('substitution')) continue
    for (const match of word.shape.matchAll(/(?:^|[\s(`|;&])((?:[\w./-]*\/)?[\w-]+)/g)) {
      const typed = match[1] as string
      if (names.has(typed.slice(typed.lastIndexOf('/') + 1))) return true
    }
  }
  return invocation.command.redirections.some(
    (redirection) =>
      redirection.target?.dynamic.includes('substitution') === true &&
      [...names].some((name) => redirection.target?.shape.includes(`(${name} `)),
  )
}

/** A relative word (`x`, `of=x`) as the absolute path it stands for; itself when it is none. */
function placed(where: Where, shape: string): string {
  const equals = shape.indexOf('=')
  const path = equals < 0 ? shape : shape.slice(equals + 1)
  // `.` and `..` by themselves are for the rules to name.
  if (path === '' || /^[-+/~$`<:]|^(?:\.{1,2}\/?)+$/.test(path)) return shape
  return shape.slice(0, equals + 1) + resolve(where, path)
}

function applies(
  rule: DestructiveRule,
  invocation: Invocation,
  where: Where,
  operands: readonly Word[],
  valued: ReadonlySet<string> | undefined,
): boolean {
  const { words } = invocation
  if (rule.via && !invocation.via.some((name) => rule.via?.has(name))) return false
  let at = 0
  for (const step of rule.command) {
    const text = operands[at++]?.shape
    if (text === undefined) return false
    if (!step.includes(rule.ignoreCase ? text.toLowerCase() : text)) return false
  }
  for (const group of rule.options) if (!group.some((option) => hasOption(words, option, valued))) return false
  for (const option of rule.unless) if (hasOption(words, option, valued, true)) return false
  for (const [option, pattern] of rule.values)
    if (!option.split('|').some((name) => optionValues(words, name).some((value) => pattern.test(value)))) return false
  if (rule.operands) {
    const pattern = rule.operands
    if (!operands.slice(at).some(({ shape }) => pattern.test(shape) || pattern.test(placed(where, shape)))) return false
  }
  if (
    rule.text &&
    !rule.text.test(
      words
        .slice(1)
        .map((word) => word.shape)
        .join(' '),
    )
  )
    return false
  if (rule.fedBy && !fedBy(rule.fedBy, invocation)) return false
  return true
}

export interface Destruction {
  readonly rule: DestructiveRule
  readonly detail: string
}

/** Every destructive rule that one started program meets. */
export function destructions(rules: RuleSet, where: Where, invocation: Invocation): Destruction[] {
  const name = suspectedName(invocation.words[0])
  const exact = rules.destructive.get(name)
  const lower = name.toLowerCase()
  const list = exact ?? (lower === name ? undefined : rules.destructive.get(lower)?.filter((rule) => rule.ignoreCase))
  // `mkfs.ext4`, `fsck.xfs`: the family is named by what stands before the dot.
  const dot = name.indexOf('.')
  const family = dot > 0 ? rules.destructive.get(`${name.slice(0, dot)}.*`) : undefined
  if (!list && !family) return []
  const valued = rules.valueOptions.get(name)
  const operands = positionals(invocation.words, valued)
  const out: Destruction[] = []
  for (const rule of [...(list ?? []), ...(family ?? [])])
    if (applies(rule, invocation, where, operands, valued))
      out.push({ rule, detail: operands[rule.command.length]?.shape ?? name })
  return out
}

const SQL_DROP =
  /\b(?:drop\s+(?:table|database|schema|view|index|user|role|keyspace|collection|tablespace|materialized)|truncate\s+(?:table\s+)?["'`\w]|flushall|flushdb)/i
/** A delete without a condition empties the table. */
const SQL_DELETE = /\bdelete\s+from\s+[\w."'`]+\s*(?:;|$)/im

/** What stands in quotations of SQL is data. Names may be quoted as well, so only those with a blank in them are taken out. */
const SQL_QUOTED = /'(?:[^']|'')*\s(?:[^']|'')*'/g

/** True when SQL text destroys data for good. */
export function sqlDestroys(text: string): boolean {
  // Where the quotations do not end, or dialects differ about where, everything counts.
  const certain = !/[\\$`"]|--|\/\*|#/.test(text) && (text.match(/'/g)?.length ?? 0) % 2 === 0
  const bare = certain ? text.replace(SQL_QUOTED, "''") : text
  return SQL_DROP.test(bare) || SQL_DELETE.test(bare)
}

/** Calls by which a program text removes whole folders or overwrites disks. */
const CODE_DESTROYS =
  /\b(?:shutil\.rmtree|rmtree\s*\(|remove_tree|rm_rf?\b\s*[('"]|rimraf|removeSync\s*\(|rmdirSync\s*\(|File(?:Utils|::Path)?[.:]+rm_r\w*|del_tree|RemoveAll\s*\(|deleteRecursive\w*|rm(?:Sync)?\s*\([^)]*recursive)|\bunlink\s*\(?\s*(?:glob|<)|(?:open|file_put_contents)\s*\(\s*["']\/dev\/(?:sd|nvme|vd|mmcblk|mapper)/

export function codeDestroys(text: string): boolean {
  return CODE_DESTROYS.test(text)
}

/** Commands a program text may start: what stands in quotations, and lists of them (`["rm", "-rf", "x"]`). */
export function commandsInCode(code: string): string[] {
  const out: string[] = []
  let list: string[] = []
  let at = 0
  for (const match of code
    .slice(0, 4096)
    .matchAll(
      /"((?:[^"\\\n]|\\.){1,400})"|'((?:[^'\\\n]|\\.){1,400})'|`([^`]{1,400})`|(?:q[qx]?|%x)\s*(?:\{([^}]{1,400})\}|\(([^)]{1,400})\)|!([^!]{1,400})!)/g,
    )) {
    const text = match.slice(1).find((group) => group !== undefined) ?? ''
    if (/^\s*,\s*$/.test(code.slice(at, match.index))) list.push(text)
    else {
      if (list.length > 1) out.push(list.join(' '))
      list = [text]
    }
    at = match.index + match[0].length
    if (/\s/.test(text) || /^[a-z]{4,}$/.test(text)) out.push(text)
    // A quotation within a quotation: `system("sh -c 'rm -rf x'")` is read by the parser, `"bash", "-c", "…"` as a list.
    if (out.length >= 32) break
  }
  if (list.length > 1) out.push(list.join(' '))
  return out
}
