import type { Classification, Effect, Flags, Posture, Reason, Risk, Span } from '../../../src-preload/contract/model'
import { type EFFECT_KINDS, RISKS } from '../../../src-preload/contract/model'
import {
  findInvisible,
  type Invocation,
  MAX_LENGTH,
  MAX_WRAPPERS,
  parseShell,
  programName,
  type Redirection,
  type SimpleCommand,
  scanShell,
  suspectedName,
  unfold,
  type Word,
} from '../shell'
import { codeDestroys, commandsInCode, destructions, hasOption, positionals, sqlDestroys } from './destructive'
import { asksForHelp, type Failed, harmlessAssignment, type Matched, matchProgram, secretRead } from './match'
import { elsewhere, moves, pathCandidates, resolve, secretOf, type Where, whereabouts } from './paths'
import type { RuleSet } from './rules'
import { holdsHome, reachesSelf, sweepsSelf } from './self'

export interface ClassifyOptions {
  readonly rules: RuleSet
  readonly declaredRisk?: string | null
  readonly posture: Posture
  readonly targetKind?: 'local' | 'ssh' | 'lxc'
  /** Tags of the target, and of known targets a command is carried on to; they may raise the class. */
  readonly tags?: readonly string[]
  /** The folder Nomos keeps its own data in; a command that names it carries the flag `self`. */
  readonly nomosHome?: string | null
  /**
   * The folder the command would run in, absolute and canonical where that is known. Null or absent means unknown, and relative
   * paths are then judged as if they stood in the home folder.
   */
  readonly cwd?: string | null
  /** The home folder of the user the command would run as, absolute; `~/x`, `$HOME/x` and this folder's `x` are the same. */
  readonly homeFolder?: string | null
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const NO_FLAGS: Flags = {
  self: false,
  inlineEval: false,
  compound: false,
  unending: false,
  interactive: false,
  tooLarge: false,
  tooDeep: false,
  invisible: false,
}

/** More reasons than this help nobody; the worst ones are kept. */
const MAX_REASONS = 24
const KEPT_REASONS = 128
const MAX_EFFECTS = 32
/** A longer text (UTF-16 units) never counts as a read: somebody looks at it first, and its parts need not be understood one by one. */
export const LONGEST_READ = 2048
/** More commands than this in one text are never judged as reads, however harmless each of them is. */
const MAX_PIECES = 64

function higher(a: Risk, b: Risk): Risk {
  return RISKS.indexOf(a) >= RISKS.indexOf(b) ? a : b
}

class Judgement {
  readonly reasons: Reason[] = []
  readonly effects: Effect[] = []
  readonly flags: Mutable<Flags> = { ...NO_FLAGS }
  partial = false
  /** The highest class any finding asked for. */
  highest: Risk = 'read_only'
  private readonly seen = new Set<string>()
  private readonly length: number

  constructor(length: number) {
    this.length = length
  }

  reason(rule: string, risk: Risk, span: Span | null, sentence: string): void {
    // A long text gives thousands of findings of one kind; those that raise nothing are not kept beyond a number.
    if (this.reasons.length >= KEPT_REASONS && RISKS.indexOf(risk) <= RISKS.indexOf(this.highest)) return
    this.highest = higher(this.highest, risk)
    const key = `${rule} ${span?.start} ${span?.end}`
    if (this.seen.has(key)) return
    this.seen.add(key)
    this.reasons.push({
      rule,
      risk,
      span: span ? { start: Math.min(span.start, this.length), end: Math.min(span.end, this.length) } : null,
      sentence,
    })
  }

  effect(kind: (typeof EFFECT_KINDS)[number], detail: string): void {
    const short = detail.length > 120 ? `${detail.slice(0, 119)}…` : detail
    if (this.effects.length < MAX_EFFECTS && !this.effects.some((e) => e.kind === kind && e.detail === short))
      this.effects.push({ kind, detail: short })
  }

  result(risk: Risk): Classification {
    const reasons = [...this.reasons]
      .sort((a, b) => RISKS.indexOf(b.risk) - RISKS.indexOf(a.risk) || (a.span?.start ?? -1) - (b.span?.start ?? -1))
      .slice(0, MAX_REASONS)
    const spans: { start: number; end: number; risk: Risk }[] = []
    for (const { span, risk: of } of reasons) {
      if (!span || of === 'read_only' || span.end <= span.start) continue
      if (!spans.some((s) => s.start === span.start && s.end === span.end)) spans.push({ ...span, risk: of })
    }
    spans.sort((a, b) => a.start - b.start || b.end - a.end)
    return {
      risk,
      reasons,
      effects: this.effects,
      coverage: this.partial ? 'partial' : 'full',
      spans,
      flags: this.flags,
    }
  }
}

function wholeOf(command: string): Span {
  return { start: 0, end: command.length }
}

function spanOf(words: readonly Word[]): Span {
  let start = words[0]?.start ?? 0
  let end = words[0]?.end ?? 0
  for (const word of words) {
    start = Math.min(start, word.start)
    end = Math.max(end, word.end)
  }
  return { start, end }
}

/** Takes off `sudo` when it changes no more than the user; null when it may do more. */
function withoutSudo(words: readonly Word[]): readonly Word[] | null {
  if (programName(words[0]) !== 'sudo' || words[0]?.value === null) return words
  let i = 1
  for (; i < words.length; i++) {
    const text = words[i]?.value
    if (text === null || text === undefined) return null
    if (text === '-n' || text === '--non-interactive') continue
    if (text === '-u' || text === '--user') {
      const user = words[++i]?.value
      if (!user || !/^#?[A-Za-z0-9_][A-Za-z0-9_.-]*\$?$/.test(user)) return null
      continue
    }
    if (/^(?:-u|--user=)[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(text)) continue
    if (text === '--') {
      i++
      break
    }
    if (text.startsWith('-')) return null
    break
  }
  const rest = words.slice(i)
  // `sudo NAME=value …` sets the environment; a second sudo is not first any more.
  if (rest.length === 0 || /^[A-Za-z_][A-Za-z0-9_]*=/.test(rest[0]?.shape ?? '') || programName(rest[0]) === 'sudo')
    return null
  return rest
}

/** `2>&1`, `>&-`: a descriptor is copied or closed, no file is touched. */
export function duplicates(redirection: Redirection): boolean {
  return (
    (redirection.operator === '>&' || redirection.operator === '<&') &&
    redirection.fdVariable === null &&
    /^(?:[0-9]{1,2}-?|-)$/.test(redirection.target?.value ?? '')
  )
}

export function toNull(redirection: Redirection): boolean {
  return (
    redirection.target?.value === '/dev/null' &&
    redirection.fdVariable === null &&
    /^(?:[<>]|>>|>\||&>|&>>|>&)$/.test(redirection.operator)
  )
}

const FORK_BOMB = /(?:^|[\s;&|])(?:function\s+)?([\w:.@+-]+)\s*\(\)\s*\{[^}]*\1\s*\|\s*\1[^}]*\}/

function judge(command: string, options: ClassifyOptions): Classification {
  const { rules, posture } = options
  const where = whereabouts(options)
  const out = new Judgement(command.length)
  const whole = wholeOf(command)
  const hasNul = command.includes('\0')
  // Bash drops NUL and joins what stands around it: that is what destructive rules have to look at.
  const text = hasNul ? command.split('\0').join('') : command
  if (hasNul) {
    out.partial = true
    out.reason(
      'nul',
      'config_mutation',
      whole,
      'The command holds a NUL character, which the shell drops: it would not run as it reads.',
    )
  }
  const invisible = findInvisible(command)
  if (invisible) {
    out.flags.invisible = true
    out.reason(
      'invisible',
      'config_mutation',
      invisible,
      'There are characters here that a reader cannot see or takes for others.',
    )
  }
  const parsed = parseShell(text, hasNul ? whole : null)
  const unfolded = unfold(parsed)
  const { invocations, commands } = unfolded
  if (commands.length === 0 && !parsed.tooLarge && !parsed.tooDeep) {
    const empty = text.trim() === ''
    out.partial = !empty
    out.reason(
      'empty',
      'config_mutation',
      null,
      empty ? 'There is no command.' : 'No command was found in this text, so nobody knows what it does.',
    )
    return declared(out, 'config_mutation', options)
  }
  for (const finding of [...parsed.findings, ...unfolded.findings]) {
    out.partial = true
    out.reason(finding.rule, 'config_mutation', finding, finding.sentence)
  }
  out.flags.tooLarge = parsed.tooLarge
  out.flags.tooDeep = parsed.tooDeep || unfolded.cut
  if (unfolded.cut) {
    out.partial = true
    out.reason('too_deep', 'config_mutation', whole, 'Wrappers are nested too deeply to be taken off.')
  }

  const long = text.length > LONGEST_READ
  for (const invocation of invocations) judgeInvocation(invocation, rules, where, out, long)
  for (const simple of commands) judgeRedirections(simple, rules, where, out)
  // The tree shows a function that calls itself; without a tree the text has to do.
  const bomb = parsed.plain || parsed.functions.length > 0 ? null : FORK_BOMB.exec(text.slice(0, 2048))
  if (bomb || forkBomb(unfolded.functions, commands))
    out.reason('fork_bomb', 'destructive', whole, 'Starts copies of itself without end until the machine stands still.')

  let self = reachesSelf(invocations, commands, where)
  for (const { from, where: there } of moves(commands, where)) {
    const later = invocations.filter(({ command: { start } }) => start >= from)
    const after = commands.filter(({ start }) => start >= from)
    for (const invocation of later) judgeInvocation(invocation, rules, there, out, long)
    for (const simple of after) judgeRedirections(simple, rules, there, out)
    self ??= reachesSelf(later, after, there)
  }
  if (self) {
    selfFound(hasNul ? whole : self, out)
  }

  const structured =
    !parsed.plain ||
    parsed.commands.length > 1 ||
    parsed.commands.some(
      (simple) => simple.redirections.some((r) => !duplicates(r) && !toNull(r)) || simple.place.background,
    )
  out.flags.compound = structured

  // Which pieces only read is worked out in both postures: a refused one says where and why.
  let every = parsed.commands.length <= MAX_PIECES && !long
  if (long) {
    out.reason(
      'long',
      'config_mutation',
      null,
      `More than ${LONGEST_READ} characters are read by a person before they run.`,
    )
  } else if (!every)
    out.reason('too_many', 'config_mutation', null, 'So many commands in one line are always asked about.')
  else {
    const budget = { pieces: parsed.commands.length }
    const scene: Scene = { rules, posture, where, out, functions: parsed.functions, fed: false, depth: 0, budget }
    for (const simple of parsed.commands) every = judgePiece(simple, scene) && every
  }
  const redirected = parsed.commands.some((simple) => simple.redirections.some((r) => !duplicates(r) && !toNull(r)))
  if (posture === 'default') {
    if (structured && parsed.commands.length > 1)
      out.reason('compound', 'config_mutation', null, 'Several commands in one line are always asked about.')
    else if (redirected)
      out.reason('redirection', 'config_mutation', null, 'A command with a redirection is always asked about.')
  }
  if (!parsed.plain)
    out.reason('structure', 'config_mutation', null, 'More than a plain sequence of commands is always asked about.')

  let risk = out.highest
  if (risk === 'read_only' && (!every || out.partial || out.flags.interactive)) {
    // A safety net: no path above may leave a command cleared that was not wholly understood.
    risk = 'config_mutation'
    out.reason('not_understood', risk, whole, 'This command is not understood well enough to be let through.')
  }
  return declared(out, risk, options)
}

/** A declared class and the tags of the target may only raise. */
function declared(out: Judgement, risk: Risk, options: ClassifyOptions): Classification {
  return out.result(tagged(out, asked(out, risk, options), options))
}

function asked(out: Judgement, risk: Risk, options: ClassifyOptions): Risk {
  const text = options.declaredRisk
  if (text === null || text === undefined || text.trim() === '') return risk
  const known = RISKS.find((name) => name === text)
  const wanted = known ?? 'config_mutation'
  if (!known)
    out.reason(
      'declared_unknown',
      'config_mutation',
      null,
      'It was declared with a risk nobody knows, which counts as a change.',
    )
  else if (RISKS.indexOf(wanted) > RISKS.indexOf(risk))
    out.reason('declared', wanted, null, `Whoever asks declared it as ${wanted.replace('_', ' ')}.`)
  return higher(risk, wanted)
}

function tagged(out: Judgement, risk: Risk, options: ClassifyOptions): Risk {
  let highest = risk
  for (const tag of options.tags ?? []) {
    const rule = options.rules.tags.get(tag)
    const to = rule?.raise.get(risk)
    if (!rule || to === undefined) continue
    out.reason(`tag:${tag}`, to, null, rule.sentence)
    highest = higher(highest, to)
  }
  return highest
}

/** What these start reads nothing of the pipe they stand in: they take it for themselves, and `/dev/null` is left. */
const TAKES_INPUT = /^(?:g?xargs|parallel)$/

const PRIVILEGED = new Set(['sudo', 'sudo-rs', 'doas', 'su', 'pkexec', 'run0', 'runuser'])

/** `coarse`: it will be asked about in any case, so that only what makes it worse is looked for. */
function judgeInvocation(invocation: Invocation, rules: RuleSet, here: Where, out: Judgement, coarse = false): void {
  const { words } = invocation
  const where = invocation.remote ? elsewhere(here) : here
  const head = words[0] as Word
  const name = suspectedName(head)
  let whole: Span | null = null
  const span = (): Span => {
    whole ??= spanOf(words)
    return whole
  }
  out.effect('exec', name === '' ? 'unknown' : name)
  if (PRIVILEGED.has(name)) out.effect('privilege', name)
  if (invocation.remote) out.effect('network', invocation.via.join(' '))
  const program = rules.programs.get(programName(head))
  if (program && asksForHelp(program, words)) return
  for (const { rule, detail } of destructions(rules, where, invocation)) {
    out.reason(rule.id, 'destructive', span(), rule.sentence)
    for (const kind of rule.effects) out.effect(kind, detail)
  }
  // A secret counts where its content is handed on. What a schema understands is judged by the roles of its words.
  const fed = invocation.command.place.stage > 0 && !invocation.via.some((one) => TAKES_INPUT.test(one))
  const matched = program && !coarse ? matchProgram(rules, where, words, fed) : null
  if (matched?.kind !== 'match') {
    const swept = sweepsSelf(invocation, where)
    if (swept) selfFound(swept, out)
  }
  if (matched?.kind === 'match') {
    const secret = secretRead(rules, where, matched)
    if (secret) secretFound(secret.word, secret, out)
    judgeHanded(matched, rules, where, out)
    for (const word of matched.reads) out.effect('read', word.shape)
    if (matched.network) out.effect('network', name)
  } else if (rules.secretReaders.has(name)) {
    // It reads a folder that is not even named.
    if (matched && !words.includes(matched.at)) {
      const secret = secretOf(rules, where, matched.at)
      if (secret?.certain) secretFound(span(), secret.rule, out)
    }
    const pattern = rules.secretPatternFirst.has(name) ? positionals(words, undefined)[0] : undefined
    for (const word of distinct(words)) {
      if (word === pattern && !/^[~/.]/.test(word.shape)) continue
      for (const candidate of pathCandidates(word.shape)) {
        if (candidate === '') continue
        const secret = secretOf(rules, where, { shape: candidate, dynamic: word.dynamic }, true)
        if (secret?.certain) secretFound(word, secret.rule, out)
      }
    }
  }
  const inline =
    rules.inlineEval.get(name) ?? (/\d$/.test(name) ? rules.inlineEval.get(name.replace(/[\d.]+$/, '')) : undefined)
  const byOption = inline?.some((option) => hasOption(words, option)) ?? false
  const byOperand =
    rules.inlineOperand.has(name) &&
    words.length > 1 &&
    !(words.length === 2 && /^--?[vVh]/.test(words[1]?.shape ?? ''))
  const byInput = inline !== undefined && words.length === 1 && invocation.input !== null
  if (byOption || byOperand || byInput) {
    out.flags.inlineEval = true
    // What a parser of its own understands is judged as what it is.
    if (matched?.kind !== 'match')
      out.reason(
        'inline_program',
        'config_mutation',
        span(),
        `Gives ${name} a program text to run, which can do anything.`,
      )
    for (const word of matched?.kind === 'match' ? [] : words.slice(1))
      for (const quoted of word.shape.matchAll(/["'`]([^"'`\n]{1,200})["'`]/g)) {
        const secret = secretOf(rules, where, { shape: quoted[1] as string, dynamic: [] }, true)
        if (secret) secretFound(word, secret.rule, out)
      }
  }
  if (byOption || byOperand || inline !== undefined) {
    const texts = (byOption || byOperand) && matched?.kind !== 'match' ? words.slice(1).map((word) => word.shape) : []
    if (invocation.input !== null) texts.push(invocation.input)
    for (const code of texts) judgeCode(code, span(), invocation, rules, where, out)
  }
  if (rules.sqlClients.has(name)) {
    const sql = words.slice(1).find((word) => sqlDestroys(word.shape))
    if (sql || (invocation.input !== null && sqlDestroys(invocation.input)))
      out.reason('sql_destroys', 'destructive', sql ?? span(), 'The SQL throws away tables or all of their rows.')
  }
  // With a script it was given to run it needs no terminal, whatever the script does.
  if (rules.interactive.has(name) && matched?.kind !== 'match' && !matched?.rule.endsWith('_script')) {
    out.flags.interactive = true
    out.reason(
      'interactive',
      'config_mutation',
      span(),
      `${name} needs a terminal, which a command run from here does not have.`,
    )
  }
}

/** The words behind the first, each form once: a long command repeats them. */
function distinct(words: readonly Word[]): readonly Word[] {
  if (words.length < 64) return words.slice(1)
  const seen = new Map<string, Word>()
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as Word
    const key = word.value === null ? `${word.dynamic.join()} ${word.shape}` : word.shape
    if (!seen.has(key)) seen.set(key, word)
  }
  return [...seen.values()]
}

/** What a search hands on (`find -name .env -exec cat {} +`): the words as typed do not name it. */
function judgeHanded({ carried }: Matched, rules: RuleSet, where: Where, out: Judgement, depth = 0): void {
  for (const one of carried) {
    if (one.kind !== 'words' || !one.words.some((word) => word.one === true)) continue
    const inner = matchProgram(rules, where, one.words, false)
    if (inner.kind !== 'match') continue
    const secret = secretRead(rules, where, inner)
    if (secret) secretFound(secret.word, secret, out)
    if (depth < MAX_WRAPPERS) judgeHanded(inner, rules, where, out, depth + 1)
  }
}

/** A program text is not understood, but the commands written in it are looked at. */
function judgeCode(
  code: string,
  span: Span,
  invocation: Invocation,
  rules: RuleSet,
  where: Where,
  out: Judgement,
): void {
  if (codeDestroys(code))
    out.reason('code_destroys', 'destructive', span, 'The program text removes whole folders or writes over a disk.')
  for (const text of commandsInCode(code))
    for (const inner of unfold(parseShell(text, span)).invocations)
      for (const { rule, detail } of destructions(rules, where, { ...inner, command: invocation.command })) {
        out.reason(rule.id, 'destructive', span, rule.sentence)
        for (const kind of rule.effects) out.effect(kind, detail)
      }
}

function selfFound(at: Span, out: Judgement): void {
  out.flags.self = true
  out.reason('self', 'config_mutation', at, 'Reaches Nomos itself: its files, its process or its answers.')
}

function secretFound(at: Span, rule: { readonly id: string; readonly sentence: string }, out: Judgement): void {
  out.reason(rule.id, 'destructive', at, rule.sentence)
  out.effect('secret', rule.id)
}

function judgeRedirections(simple: SimpleCommand, rules: RuleSet, where: Where, out: Judgement): void {
  for (const redirection of simple.redirections) {
    const { target, operator } = redirection
    if (!target || duplicates(redirection) || toNull(redirection)) continue
    if (operator === '<' || operator === '<>') {
      const secret = secretOf(rules, where, target)
      if (secret?.certain) secretFound(target, secret.rule, out)
    }
    if (operator.startsWith('>') || operator.startsWith('&>') || operator === '<>') {
      const path = resolve(where, target.shape)
      for (const rule of rules.targets)
        if (rule.pattern.test(path) && !(rule.unless?.test(path) ?? false)) {
          out.reason(rule.id, 'destructive', redirection, rule.sentence)
          out.effect('delete', target.shape)
        }
      out.effect('write', target.shape)
      out.reason('writes_file', 'config_mutation', redirection, 'Writes to a file.')
    } else if (operator === '<') out.effect('read', target.shape)
  }
}

/** A function that starts itself more than once, or in the background, multiplies without end. */
function forkBomb(functions: readonly string[], commands: readonly SimpleCommand[]): boolean {
  if (functions.length === 0) return false
  const calls = new Map<string, number>()
  for (const simple of commands) {
    const name = simple.words[0]?.shape
    if (name === undefined || simple.place.functionName !== name || !functions.includes(name)) continue
    calls.set(name, (calls.get(name) ?? 0) + (simple.place.background ? 2 : 1))
  }
  return [...calls.values()].some((count) => count > 1)
}

/** What the pieces of a text are judged with. */
interface Scene {
  readonly rules: RuleSet
  readonly posture: Posture
  readonly where: Where
  readonly out: Judgement
  /** Names of functions the text defines. */
  readonly functions: readonly string[]
  /** Something is fed to it from outside of the text it stands in. */
  readonly fed: boolean
  /** How many wrappers stand around it. */
  readonly depth: number
  /** Counts the pieces of all texts together. */
  readonly budget: { pieces: number }
}

function refused(scene: Scene, rule: string, span: Span, sentence: string): false {
  scene.out.reason(rule, 'config_mutation', span, sentence)
  return false
}

/** True when one simple command of the text only reads; otherwise the reason is noted. */
function judgePiece(simple: SimpleCommand, scene: Scene): boolean {
  for (const assignment of simple.assignments) {
    const value = assignment.value?.value
    if (assignment.special || value === null || value === undefined || !harmlessAssignment(assignment.name, value))
      return refused(scene, 'environment', assignment, 'Sets a variable that can change what the program does.')
  }
  if (simple.words.length === 0)
    return refused(scene, 'no_program', simple, 'There is no program here, only what surrounds one.')
  for (const redirection of simple.redirections)
    if (!duplicates(redirection) && !toNull(redirection)) {
      if (redirection.operator.includes('>')) return refused(scene, 'writes_file', redirection, 'Writes to a file.')
      return refused(scene, 'redirection', redirection, 'Feeds the command from somewhere else.')
    }
  if (simple.place.background)
    return refused(scene, 'background', simple, 'Goes on in the background after the command has ended.')
  // Only in front of a command of a text: inside a wrapper's words it is refused as any program without a schema.
  const words = withoutSudo(simple.words)
  if (words === null)
    return refused(scene, 'sudo', spanOf(simple.words), 'This use of sudo changes more than the user.')
  return judgeWords(words, simple.place.stage > 0 || scene.fed, scene)
}

/** The same for the words of a program, wrappers taken off one by one. */
function judgeWords(words: readonly Word[], fed: boolean, scene: Scene): boolean {
  const { rules, where, out } = scene
  if (scene.functions.includes(words[0]?.shape ?? ''))
    return refused(scene, 'function', spanOf(words), 'Calls a function of its own.')
  const result: Matched | Failed = matchProgram(rules, where, words, fed)
  if (result.kind === 'fail') {
    if (result.rule === 'dynamic_program') out.partial = true
    const wide =
      result.rule === 'unknown_program' || result.rule.startsWith('needs_') || result.rule.endsWith('_script')
    return refused(scene, result.rule, wide ? spanOf(words) : result.at, result.sentence)
  }
  for (const word of result.reads)
    if (holdsHome(word.shape, where))
      return refused(scene, 'self_above', word, 'Reads a folder that also holds the files of Nomos.')
  const secret = secretRead(rules, where, result)
  if (secret) return refused(scene, secret.id, secret.word, secret.sentence)
  if (result.network && fed)
    return refused(scene, 'sends_input', spanOf(words), 'Could send what it is fed over the network.')
  if (result.unending) out.flags.unending = true
  if (result.carried.length === 0) {
    out.reason(`program:${programName(words[0])}`, 'read_only', spanOf(words), result.summary)
    return true
  }
  return judgeCarried(words, result, fed, scene)
}

/** What a wrapper carries is judged where it runs; the wrapper may only add to it. */
function judgeCarried(words: readonly Word[], { carried, carrier }: Matched, fed: boolean, scene: Scene): boolean {
  const { out } = scene
  if (scene.depth >= MAX_WRAPPERS)
    return refused(scene, 'too_deep', spanOf(words), 'Wrappers are nested too deeply to be taken off.')
  // What a shell is given through another program's words is written to be seen by nobody (`timeout 5 sh -c …`).
  if (carrier === 'shell' && scene.depth > 0)
    refused(scene, 'shell_inside', spanOf(words), 'A shell inside another program is always asked about.')
  if (carrier !== 'local' && scene.posture === 'default')
    out.reason(
      'carrier',
      'config_mutation',
      words[0] as Word,
      carrier === 'remote'
        ? 'Hands a command to another machine or a container, which is always asked about.'
        : 'Hands a text to a shell, which is always asked about.',
    )
  const inner: Scene = {
    ...scene,
    fed,
    depth: scene.depth + 1,
    where: carrier === 'remote' ? elsewhere(scene.where) : scene.where,
  }
  let every = carrier !== 'shell' || scene.depth === 0
  for (const one of carried) {
    if (one.kind === 'words') {
      every = judgeWords(one.words, fed, inner) && every
      continue
    }
    if (one.text.length > MAX_LENGTH) return refused(scene, 'too_large', one.span, 'This script is too long to judge.')
    const parsed = parseShell(one.text, one.span)
    scene.budget.pieces += parsed.commands.length
    if (scene.budget.pieces > MAX_PIECES)
      return refused(scene, 'too_many', one.span, 'So many commands in one line are always asked about.')
    if (
      !parsed.plain ||
      parsed.tooLarge ||
      parsed.tooDeep ||
      parsed.findings.length > 0 ||
      parsed.commands.length === 0
    )
      every = refused(scene, 'structure', one.span, 'More than a plain sequence of commands is always asked about.')
    for (const simple of parsed.commands)
      every = judgePiece(simple, { ...inner, functions: [...scene.functions, ...parsed.functions] }) && every
  }
  return every
}

/**
 * The class of a command, with reasons. Pure and synchronous; it never throws: a fault of its own is a finding that asks.
 */
export function classify(command: string, options: ClassifyOptions): Classification {
  try {
    return judge(command, options)
  } catch {
    const out = new Judgement(command.length)
    out.partial = true
    out.reason(
      'internal_error',
      'config_mutation',
      wholeOf(command),
      'The classifier failed on this text, so it has to be asked about.',
    )
    try {
      const where = whereabouts(options)
      // Whatever failed, what the coarse reader sees may still condemn.
      const coarse = { plain: false, functions: [], findings: [], tooLarge: false, tooDeep: false }
      const { invocations, commands } = unfold({ ...coarse, commands: scanShell(command) })
      for (const invocation of invocations) judgeInvocation(invocation, options.rules, where, out)
      const self = reachesSelf(invocations, commands, where)
      if (self) selfFound(self, out)
    } catch {
      // Then there is nothing more to say about it: it is asked about as it is.
    }
    return declared(out, out.highest, options)
  }
}

const VERBS = new Set(
  'destroy delete del rm rmi remove prune purge drop kill poweroff reboot halt shutdown suspend hibernate reset clean push down uninstall stop disable flush format wipe erase erase-device secure-erase zap drain nuke rollback restore mklabel lvremove vgremove pvremove terminate rb unset unregister decommission deactivate labelclear flushall flushdb truncate luksformat luksremovekey lukserase isolate'.split(
    ' ',
  ),
)
const SINGLE = new Set(
  'rm dd shred wipefs mkfs reboot shutdown poweroff halt init telinit fdisk sfdisk parted mkswap blkdiscard chmod chown userdel deluser groupdel crontab truncate cat kill killall pkill iptables ip6tables nft ufw drop curl wget scp cp tar'.split(
    ' ',
  ),
)

function verb(words: readonly Word[]): string | null {
  const name = suspectedName(words[0]).toLowerCase()
  for (const word of positionals(words, undefined))
    if (VERBS.has(word.shape.toLowerCase())) return word.shape.toLowerCase()
  return SINGLE.has(name) || /^mkfs\./.test(name) ? name.replace(/\..*$/, '') : null
}

/** The verb of the typed phrase that confirms a destructive command: lower case, `[a-z0-9-]+`, `run` when there is none. */
export function phraseVerb(command: string, classification: Classification): string {
  const span = classification.reasons.find((reason) => reason.risk === 'destructive' && reason.span !== null)?.span
  const { invocations } = unfold(parseShell(command))
  const covering = span
    ? invocations.filter(({ words }) => {
        const own = spanOf(words)
        return own.start <= span.start && own.end >= span.end
      })
    : invocations
  // The innermost program comes last; of the commands of one script the one with a telling verb is meant.
  const inner = covering.toReversed()
  const names = [
    ...inner.map(({ words }) => verb(words)),
    ...inner.map(({ words }) => suspectedName(words[0]).toLowerCase()),
  ]
  return names.find((name) => name !== null && /^[a-z0-9-]+$/.test(name)) ?? 'run'
}
