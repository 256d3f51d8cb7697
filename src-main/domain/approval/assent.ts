import { z } from 'zod'

const Phrase = z
  .string()
  .regex(
    /^[a-z0-9]+(?:['-][a-z0-9]+)*(?: [a-z0-9]+(?:['-][a-z0-9]+)*)*$/,
    'words in small letters, separated by one space',
  )
const Phrases = z.array(Phrase).min(1)
const Examples = z.array(z.string()).min(1)

/** `policies/assent.yaml`. */
export const AssentFile = z.strictObject({
  longest: z.number().int().min(20).max(400),
  grant: Phrases,
  deny: Phrases,
  wait: Phrases,
  negators: Phrases,
  actions: Phrases,
  yet: Phrases,
  fillers: Phrases,
  refusing_fillers: Phrases,
  connectives: Phrases,
  hints: Phrases,
  not_assent: Phrases,
  negation: Phrases,
  questions: Phrases,
  conditions: Phrases,
  partial: Phrases,
  signs: z
    .array(z.string().regex(/^(?:[^\p{L}\p{N}\s\p{Cf}?]+)$/u, 'signs that are neither letters nor a question mark'))
    .min(1),
  examples: z.strictObject({
    grant: Examples,
    deny: Examples,
    later: Examples,
    unclear: z.strictObject({
      negation: Examples,
      question: Examples,
      condition: Examples,
      partial: Examples,
      command: Examples,
    }),
    none: Examples,
  }),
})
export type AssentFile = z.infer<typeof AssentFile>

export type Unclear = 'negation' | 'question' | 'condition' | 'partial' | 'command'

/** What the words of the operator mean for the requests that wait. */
export type Assent =
  | { readonly kind: 'grant' }
  | { readonly kind: 'deny' }
  /** It stays as it is; Nomos confirms again. */
  | { readonly kind: 'later' }
  /** It sounds like assent and is no plain one: it grants nothing and is asked again. */
  | { readonly kind: 'unclear'; readonly why: Unclear }
  /** An ordinary message. */
  | { readonly kind: 'none' }

/** Sequences of words by their first one, longest first. */
type Index = ReadonlyMap<string, readonly (readonly string[])[]>

export interface AssentGrammar {
  readonly longest: number
  readonly grant: Index
  readonly deny: Index
  /** Deny where nothing but a filler follows them in their clause. */
  readonly bare: Index
  readonly wait: Index
  readonly fillers: Index
  readonly refusing: Index
  readonly connectives: Index
  readonly hints: Index
  readonly notAssent: Index
  readonly negation: Index
  readonly questions: Index
  readonly conditions: Index
  readonly partial: Index
  /** Longest first. */
  readonly signs: readonly string[]
}

function indexOf(phrases: readonly string[]): Index {
  const index = new Map<string, (readonly string[])[]>()
  for (const phrase of new Set(phrases)) {
    const words = phrase.split(' ')
    const [first = ''] = words
    const same = index.get(first)
    if (same === undefined) index.set(first, [words])
    else same.push(words)
  }
  for (const same of index.values()) same.sort((a, b) => b.length - a.length)
  return index
}

/** The grammar of a file that `assentFaults` finds nothing wrong with. */
export function compileAssent(file: AssentFile): AssentGrammar {
  const refusals = file.negators.flatMap((negator) => file.actions.map((action) => `${negator} ${action}`))
  return {
    longest: file.longest,
    grant: indexOf(file.grant),
    deny: indexOf([...file.deny, ...refusals]),
    bare: indexOf(file.negators),
    wait: indexOf([
      ...file.wait,
      ...[...file.negators, ...refusals].flatMap((refusal) => file.yet.map((yet) => `${refusal} ${yet}`)),
    ]),
    fillers: indexOf(file.fillers),
    refusing: indexOf([...file.fillers, ...file.refusing_fillers]),
    connectives: indexOf(file.connectives),
    hints: indexOf(file.hints),
    notAssent: indexOf(file.not_assent),
    negation: indexOf(file.negation),
    questions: indexOf(file.questions),
    conditions: indexOf(file.conditions),
    partial: indexOf(file.partial),
    signs: [...file.signs].sort((a, b) => b.length - a.length),
  }
}

/** Stands for punctuation between words. */
const PAUSE = ','
/** Stands for whatever is no word of ours: it is in no phrase. */
const FOREIGN = '\uFFFD'

const TYPOGRAPHIC: Readonly<Record<string, string>> = {
  '\u2018': "'",
  '\u2019': "'",
  '\u201C': '"',
  '\u201D': '"',
  '\u2026': '.',
  '\u2013': ' - ',
  '\u2014': ' - ',
  '\u00A0': ' ',
}

/** A message may have outer space, and still not be read to its end to find that out. */
const MOST_SPACE = 4

/** `trim` takes invisible characters away as well, and these have to be seen. */
function withoutOuterSpace(text: string): string {
  const isSpace = (at: number): boolean => '\t\n\r \u00A0'.includes(text.charAt(at))
  let start = 0
  let end = text.length
  while (start < end && isSpace(start)) start++
  while (end > start && isSpace(end - 1)) end--
  return text.slice(start, end)
}

/** A tone of the skin, and the wish for a picture instead of a letter. */
const EMOJI_STYLE = /^(?:\uFE0F|\uD83C[\uDFFB-\uDFFF])/

/** The text in small letters of ASCII; a listed sign is a pause, any other character the foreign one. */
function plainText(grammar: AssentGrammar, text: string): string {
  let plain = ''
  for (let at = 0; at < text.length; ) {
    const sign = grammar.signs.find((one) => text.startsWith(one, at))
    // `:)` is a sign where it stands alone; within a word it is a part of something else.
    if (sign !== undefined && (/[^ -~]/.test(sign) || standsAlone(text, at, sign.length))) {
      at += sign.length
      while (EMOJI_STYLE.test(text.slice(at, at + 2))) at += text.startsWith('\uFE0F', at) ? 1 : 2
      plain += ` ${PAUSE} `
      continue
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
    if (/[\t\n\r -~]/.test(character)) plain += character === '\n' ? ` ${PAUSE} ` : character.toLowerCase()
    // A question mark of another script is a question.
    else plain += TYPOGRAPHIC[character] ?? (character.normalize('NFKC').includes('?') ? '?' : FOREIGN)
    at += character.length
  }
  return plain
}

function standsAlone(text: string, at: number, length: number): boolean {
  return /^(?:|\s)$/.test(text.charAt(at - 1)) && /^(?:|\s)$/.test(text.charAt(at + length))
}

/** Signs of a shell, quotes, options, names of files and places, and a colon behind which the text would come. */
const COMMAND =
  /["`$/|<>;=\\&*~#@%^{}[\]()+_]|(?:^|[^a-z0-9])'|'(?:[^a-z0-9]|$)|(?:^|[\s,])-+[a-z0-9]|[a-z0-9][.:][a-z0-9]|:[\s,]*$/

const TOKEN = /[a-z0-9\uFFFD]+(?:['-][a-z0-9\uFFFD]+)*|[-.,!:]+/g

function tokensOf(plain: string): readonly string[] {
  return (plain.match(TOKEN) ?? []).map((token) => (/^[-.,!:]/.test(token) ? PAUSE : token))
}

/** Lengths of the phrases that begin at a token. */
function lengthsAt(index: Index, tokens: readonly string[], at: number): readonly number[] {
  const phrases = index.get(tokens[at] ?? PAUSE)
  if (phrases === undefined) return []
  return phrases.filter((words) => words.every((word, i) => tokens[at + i] === word)).map((words) => words.length)
}

const contains = (index: Index, tokens: readonly string[]): boolean =>
  tokens.some((_, at) => lengthsAt(index, tokens, at).length > 0)

const NOTHING: Index = new Map()

/** What a message may consist of. It has to hold one of `wanted`. */
interface Shape {
  readonly wanted: readonly Index[]
  readonly allowed: readonly Index[]
  /** Allowed where their clause ends behind them. */
  readonly bare: Index
  /** Whether one of those is enough. */
  readonly bareWanted: boolean
  readonly fillers: Index
  readonly connectives: Index
}

// What is known at a place of the message, as bits of a number.
const BEGUN = 1
const FOUND = 2
/** A connective waits for what it connects with. */
const OPEN = 4
const STATES = 8

/** Whether every token belongs to a phrase, a filler or a connective between two of them. */
function consistsOf(shape: Shape, tokens: readonly string[]): boolean {
  const reached: boolean[][] = Array.from({ length: tokens.length + 1 }, () => new Array<boolean>(STATES).fill(false))
  const reach = (at: number, state: number): void => {
    const states = reached[at]
    if (states !== undefined) states[state] = true
  }
  reach(0, 0)
  for (let at = 0; at < tokens.length; at++) {
    const states = [...(reached[at] ?? []).keys()].filter((state) => reached[at]?.[state])
    if (states.length === 0) continue
    const bare = lengthsAt(shape.bare, tokens, at).filter((n) => clauseEnds(shape, tokens, at + n))
    const wanted = shape.wanted.flatMap((index) => lengthsAt(index, tokens, at)).concat(shape.bareWanted ? bare : [])
    const allowed = shape.allowed.flatMap((index) => lengthsAt(index, tokens, at)).concat(bare)
    const fillers = lengthsAt(shape.fillers, tokens, at)
    const connectives = lengthsAt(shape.connectives, tokens, at)
    for (const state of states) {
      if (tokens[at] === PAUSE) reach(at + 1, state)
      for (const n of wanted) reach(at + n, BEGUN | FOUND)
      for (const n of allowed) reach(at + n, (state | BEGUN) & ~OPEN)
      for (const n of fillers) reach(at + n, state | BEGUN)
      if ((state & BEGUN) !== 0 && (state & OPEN) === 0) for (const n of connectives) reach(at + n, state | OPEN)
    }
  }
  return reached[tokens.length]?.[BEGUN | FOUND] === true
}

function clauseEnds(shape: Shape, tokens: readonly string[], at: number): boolean {
  const ended = (place: number): boolean => place >= tokens.length || tokens[place] === PAUSE
  return ended(at) || lengthsAt(shape.fillers, tokens, at).some((n) => ended(at + n))
}

/**
 * Reads a message of the operator as an answer to what waits. Pure, in time linear to its length. A word that the grammar does not know
 * never grants; nor does a negation, a question, a condition, consent to a part, or anything that looks like a command.
 */
export function readAssent(grammar: AssentGrammar, text: string): Assent {
  if (text.length > MOST_SPACE * grammar.longest) return { kind: 'none' }
  const trimmed = withoutOuterSpace(text)
  if (trimmed.length > grammar.longest) return { kind: 'none' }
  const plain = plainText(grammar, trimmed)
  const tokens = tokensOf(plain)
  const unclear = (why: Unclear): Assent =>
    soundsLikeAssent(grammar, tokens) ? { kind: 'unclear', why } : { kind: 'none' }

  if (COMMAND.test(plain)) return unclear('command')
  if (plain.includes('?') || contains(grammar.questions, tokens)) return unclear('question')
  const { connectives, fillers, refusing } = grammar
  // Before the negations: "not yet" does not deny.
  const waits = {
    wanted: [grammar.wait],
    allowed: [grammar.grant, grammar.deny],
    bare: grammar.bare,
    bareWanted: false,
    fillers: refusing,
    connectives,
  }
  if (consistsOf(waits, tokens)) return { kind: 'later' }
  const denies = { ...waits, wanted: [grammar.deny], allowed: [], bareWanted: true }
  if (consistsOf(denies, tokens)) return { kind: 'deny' }
  const negated = tokens.some((token) => token.endsWith("n't"))
  if (negated || contains(grammar.negation, tokens) || contains(grammar.deny, tokens)) return unclear('negation')
  if (contains(grammar.conditions, tokens)) return unclear('condition')
  if (contains(grammar.partial, tokens)) return unclear('partial')
  const words = tokens.filter((token) => token !== PAUSE)
  if (contains(grammar.notAssent, words)) return { kind: 'none' }
  const grants = { ...waits, wanted: [grammar.grant], allowed: [], bare: NOTHING, fillers }
  return consistsOf(grants, tokens) ? { kind: 'grant' } : { kind: 'none' }
}

function soundsLikeAssent(grammar: AssentGrammar, tokens: readonly string[]): boolean {
  return contains(grammar.grant, tokens) || lengthsAt(grammar.hints, tokens, 0).length > 0
}

/** One thing that is wrong with the file, with its place in the data. */
export interface AssentFault {
  readonly path: readonly (string | number)[]
  readonly what: string
}

/** Lists whose phrases may hold no word that keeps a message from granting: they would never grant, or hide that it is there. */
const GRANTING = ['grant', 'fillers', 'connectives'] as const
const GUARDS = ['negation', 'questions', 'conditions', 'partial', 'deny'] as const
const LISTS = [
  ...GRANTING,
  ...GUARDS,
  'wait',
  'negators',
  'actions',
  'yet',
  'refusing_fillers',
  'hints',
  'not_assent',
  'signs',
] as const

/** What keeps the lists from being used, without the examples. */
export function assentDataFaults(file: AssentFile): readonly AssentFault[] {
  const faults: AssentFault[] = []
  for (const list of LISTS)
    file[list].forEach((phrase, at) => {
      if (file[list].indexOf(phrase) !== at) faults.push({ path: [list, at], what: `"${phrase}" is there twice` })
    })
  const grammar = compileAssent(file)
  for (const list of GRANTING)
    file[list].forEach((phrase, at) => {
      const words = phrase.split(' ')
      const guard = GUARDS.find((one) => contains(grammar[one], words))
      if (guard !== undefined)
        faults.push({
          path: [list, at],
          what: `"${phrase}" holds a phrase of "${guard}", so it can never grant`,
        })
    })
  file.negators.forEach((negator, at) => {
    if (!contains(grammar.negation, negator.split(' ')))
      faults.push({ path: ['negators', at], what: `"${negator}" is not in "negation"` })
  })
  return faults
}

const shown = (assent: Assent): string => (assent.kind === 'unclear' ? `unclear (${assent.why})` : assent.kind)

/** Every example of the file, with what it has to be and where it stands. */
function examplesOf({
  examples,
}: AssentFile): readonly (AssentFault & { readonly text: string; readonly assent: Assent })[] {
  const { unclear, ...plain } = examples
  const wanted: readonly [readonly string[], readonly string[], Assent][] = [
    ...(['grant', 'deny', 'later', 'none'] as const).map((kind): [readonly string[], readonly string[], Assent] => [
      plain[kind],
      [kind],
      { kind },
    ]),
    ...(Object.keys(unclear) as Unclear[]).map((why): [readonly string[], readonly string[], Assent] => [
      unclear[why],
      ['unclear', why],
      { kind: 'unclear', why },
    ]),
  ]
  return wanted.flatMap(([texts, path, assent]) =>
    texts.map((text, at) => ({ text, assent, path: ['examples', ...path, at], what: '' })),
  )
}

/** How many examples the file holds. */
export const assentExamples = (file: AssentFile): number => examplesOf(file).length

/** Everything that is wrong with the file: phrases that cannot be used, and examples that do not hold. */
export function assentFaults(file: AssentFile): readonly AssentFault[] {
  const faults = assentDataFaults(file)
  if (faults.length > 0) return faults
  const grammar = compileAssent(file)
  return examplesOf(file).flatMap(({ text, assent, path }) => {
    const found = shown(readAssent(grammar, text))
    const wanted = shown(assent)
    return found === wanted ? [] : [{ path, what: `${JSON.stringify(text)} should be ${wanted} and is ${found}` }]
  })
}
