import {
  type Classification,
  type Effect,
  type Flags,
  type Posture,
  type Reason,
  RISKS,
  type Risk,
} from '../../src-preload/contract/model'
import { phraseFor } from '../domain/approval'
import { CAUTIOUS, decide } from '../domain/policy'
import { phraseVerb } from '../domain/risk'
import { MAX_LENGTH } from '../domain/shell'
import { type Mark, markedView, riskColour, wrapped } from './marks'
import { type Started, startedBy, startedLines } from './started'
import { type Paint, visibleLine } from './visible'

const WORD: Readonly<Record<Risk, string>> = {
  read_only: 'read-only',
  reversible_low: 'reversible',
  config_mutation: 'change',
  destructive: 'destructive',
}
const SIGN: Readonly<Record<Risk, string>> = {
  read_only: '○',
  reversible_low: '◐',
  config_mutation: '■',
  destructive: '▲',
}
const EFFECT: Readonly<Record<Effect['kind'], string>> = {
  exec: 'runs',
  read: 'reads',
  write: 'writes',
  delete: 'deletes',
  network: 'network',
  privilege: 'rights',
  secret: 'secret',
  power: 'power',
}
const FLAG: Readonly<Record<keyof Flags, string>> = {
  self: 'It reaches Nomos itself: never automatic, and confirmed by a typed phrase.',
  inlineEval: 'It hands an interpreter a program text on the command line.',
  compound: 'It is more than one simple command.',
  unending: 'It does not end by itself; an automatic run is stopped after its time limit.',
  interactive: 'It needs a terminal, and gets none here.',
  tooLarge: 'It is longer than 16 KB, so only what cannot be undone was looked for.',
  tooDeep: 'It is nested too deeply, so only what cannot be undone was looked for.',
  invisible: 'It holds characters that cannot be seen; they are written out above.',
}

/** Findings that are read first among those of one class: the text is not what it seems, or reaches Nomos. */
const ALARMS = new Set(['self', 'invisible', 'nul'])

/** More rows than this of what is too large to be judged are not printed. */
const MOST_ROWS = 24
const MOST_STARTED = 40
const LABEL = 12

/** Findings of the default posture alone. */
const OF_POSTURE = new Set(['compound', 'carrier', 'redirection'])

/** Whether it is worth asking what the other posture would say: nothing else stands against the command. */
export const onlyPostureAgainst = (verdict: Classification): boolean =>
  verdict.risk === 'config_mutation' &&
  verdict.reasons.every(({ rule, risk }) => risk === 'read_only' || OF_POSTURE.has(rule))

/** What the default policy would do with a verdict, on a target that nobody has tagged. `phrase` is for this computer. */
export function byDefault(
  command: string,
  verdict: Classification,
): { readonly outcome: 'auto' | 'ask' | 'confirm' | 'deny'; readonly phrase: string | null } {
  const { outcome } = decide(
    {
      risk: verdict.risk,
      self: verdict.flags.self,
      inlineEval: verdict.flags.inlineEval,
      matched: false,
      toolDenied: false,
      switches: { askAboutEverything: false, pauseAutomatic: false },
      target: { slug: 'local', tags: [], dependents: 0 },
    },
    [{ name: 'host-policy', layer: CAUTIOUS }],
  )
  return { outcome, phrase: outcome === 'confirm' ? phraseFor(phraseVerb(command, verdict), 'local') : null }
}

function outcomeWords({ outcome, phrase }: ReturnType<typeof byDefault>): string {
  switch (outcome) {
    case 'auto':
      return 'would run by itself'
    case 'ask':
      return 'would be asked about'
    case 'confirm':
      return `needs the typed phrase "${visibleLine(phrase ?? '')}"`
    case 'deny':
      return 'would be refused'
  }
}

interface Numbered {
  readonly number: number
  readonly reason: Reason
  readonly places: Reason['span'][]
}

function marksOf(reasons: readonly Numbered[]): readonly Mark[] {
  const marks = new Map<string, { start: number; end: number; labels: number[]; risk: Risk }>()
  for (const { number, reason, places } of reasons) {
    for (const span of places) {
      if (span === null || span.end <= span.start) continue
      const key = `${span.start} ${span.end}`
      const same = marks.get(key)
      if (same === undefined) marks.set(key, { ...span, labels: [number], risk: reason.risk })
      else same.labels.push(number)
    }
  }
  return [...marks.values()].map(({ start, end, labels, risk }) => ({ start, end, risk, label: labels.join(',') }))
}

function excerpt(command: string, reason: Reason): string {
  if (reason.span === null) return ''
  const text = visibleLine(command.slice(reason.span.start, reason.span.end).trim())
  return text.length > 32 ? `${text.slice(0, 31)}…` : text
}

/** Labelled lines: the label once, everything else under each other. */
function labelled(label: string, lines: readonly string[], paint: Paint): readonly string[] {
  return lines.map((line, index) => `  ${paint('dim', (index === 0 ? label : '').padEnd(LABEL))}${line}`)
}

function effectLines(effects: readonly Effect[], width: number, paint: Paint): readonly string[] {
  const lines: string[] = []
  for (const kind of Object.keys(EFFECT) as Effect['kind'][]) {
    const details = effects.filter((effect) => effect.kind === kind).map(({ detail }) => visibleLine(detail))
    if (details.length === 0) continue
    lines.push(...labelled(EFFECT[kind], wrapped(details.join(', '), width - LABEL - 2, 0), paint))
  }
  return lines
}

const unknownIn = (started: readonly Started[]): boolean =>
  started.some(({ words, starts }) => words.some(({ known }) => !known) || unknownIn(starts))

export interface ExplainOptions {
  readonly paint: Paint
  /** Columns there are. */
  readonly width: number
  readonly posture: Posture
  /** Everything, or what fits on a glance. */
  readonly whole: boolean
  /** Under the posture `every-segment` it is a read. */
  readonly readsOtherwise: boolean
  /** What its programs may write for themselves, see `cachesOf`. */
  readonly caches: readonly string[]
}

/** A verdict as text for the person who typed the command: what it is, where and why, what it starts, what was not looked at. */
export function explanation(command: string, verdict: Classification, options: ExplainOptions): string {
  const { paint, width, posture, whole } = options
  const colour = riskColour(verdict.risk)
  const outcome = byDefault(command, verdict)
  const out: string[] = [
    `${paint(colour, `${SIGN[verdict.risk]} ${WORD[verdict.risk]}`)} ${paint('dim', '·')} ${paint('bold', outcomeWords(outcome))}`,
    '',
  ]

  const worst = [...verdict.reasons].sort(
    (a, b) => RISKS.indexOf(b.risk) - RISKS.indexOf(a.risk) || Number(ALARMS.has(b.rule)) - Number(ALARMS.has(a.rule)),
  )
  // Of two findings on the very same part only the worse one is news.
  const counts = (reason: Reason): boolean =>
    reason.risk !== 'read_only' &&
    !worst.some(
      (other) =>
        RISKS.indexOf(other.risk) > RISKS.indexOf(reason.risk) &&
        reason.span !== null &&
        other.span?.start === reason.span.start &&
        other.span.end === reason.span.end,
    )
  // The same finding at several places is told once and marked at each.
  const against: Numbered[] = []
  for (const reason of worst.filter(counts)) {
    const told = against.find(({ reason: { rule, sentence } }) => rule === reason.rule && sentence === reason.sentence)
    if (told === undefined) against.push({ number: against.length + 1, reason, places: [reason.span] })
    else told.places.push(reason.span)
  }
  const lesser = worst.filter((reason) => reason.risk !== 'read_only' && !counts(reason))
  const reads = worst.filter(({ risk }) => risk === 'read_only')
  const clipped = command.length > MAX_LENGTH ? MOST_ROWS : null
  if (command.trim() === '') out.push(paint('dim', '  (an empty command)'))
  else {
    const { lines, undrawn } = markedView(command, marksOf(against), width, paint, clipped)
    out.push(...lines)
    for (const { label } of undrawn) out.push(paint('dim', `  ↑ all of it: ${label}`))
  }
  out.push('')

  const digits = String(against.length).length
  for (const { number, reason } of against) {
    const lead = `  ${String(number).padStart(digits)} `
    const rows = wrapped(visibleLine(`${reason.sentence} [${reason.rule}]`), width - lead.length - 2, 0)
    rows.forEach((row, index) => {
      const text = row.replace(/\[[^\]]*\]?$/, (rule) => paint('dim', rule))
      out.push(
        index === 0
          ? `${lead}${paint(riskColour(reason.risk), SIGN[reason.risk])} ${text}`
          : `${' '.repeat(lead.length + 2)}${text}`,
      )
    })
  }
  if (whole || against.length === 0) {
    const lead = ' '.repeat(digits + 3)
    for (const reason of reads) {
      const rows = wrapped(
        `${excerpt(command, reason)}: ${visibleLine(`${reason.sentence} [${reason.rule}]`)}`,
        width - lead.length - 2,
        0,
      )
      rows.forEach((row, index) => {
        out.push(index === 0 ? `${lead}${paint('green', SIGN.read_only)} ${row}` : `${lead}  ${row}`)
      })
    }
  }
  if (whole && lesser.length > 0) {
    const rules = [...new Set(lesser.map(({ rule }) => visibleLine(rule)))].join(', ')
    for (const row of wrapped(`Also found there: ${rules}`, width - digits - 5))
      out.push(`${' '.repeat(digits + 5)}${paint('dim', row)}`)
  }
  if (against.length === 0 && reads.length === 0) out.push('  Nothing speaks against it.')
  out.push('')

  if (whole && command.trim() !== '') {
    const started = startedBy(command)
    const lines = startedLines(started).map((line) => (line.length > 400 ? `${line.slice(0, 399)}…` : line))
    const shown = lines.slice(0, MOST_STARTED).flatMap((line) => wrapped(line, width - LABEL - 2, 3))
    if (lines.length > MOST_STARTED) shown.push(`… and ${lines.length - MOST_STARTED} more`)
    if (shown.length > 0) {
      out.push(...labelled('starts', shown, paint))
      if (unknownIn(started)) {
        const later = wrapped('What has $, *, ~ or $(…) in it is only settled when it runs.', width - LABEL - 2)
        out.push(
          ...labelled(
            '',
            later.map((row) => paint('dim', row)),
            paint,
          ),
        )
      }
    }
    out.push(...effectLines(verdict.effects, width, paint))
    if (options.caches.length > 0) {
      const may = `may write its own: ${options.caches.join(', ')}`
      out.push(...labelled('cache', wrapped(may, width - LABEL - 2, 0), paint))
    }
    out.push(
      ...labelled(
        'understood',
        [verdict.coverage === 'full' ? 'all of it' : 'only part of it, so it never counts as a read'],
        paint,
      ),
    )
    const flags = (Object.keys(FLAG) as (keyof Flags)[]).filter((name) => verdict.flags[name])
    out.push(
      ...labelled(
        'note',
        flags.flatMap((name) => wrapped(FLAG[name], width - LABEL - 2, 0)),
        paint,
      ),
    )
    out.push('')
  }
  if (options.readsOtherwise)
    out.push(
      ...wrapped(
        'Every part of it only reads: where the policy lets such lines through (every-segment), it would run by itself.',
        width,
      ),
      '',
    )
  for (const row of wrapped(limits(posture, outcome.outcome), width)) out.push(paint('dim', row))
  if (!whole) out.push(paint('dim', 'More about it: nomos classify --explain …'))
  return `${out.join('\n')}\n`
}

function limits(posture: Posture, outcome: ReturnType<typeof byDefault>['outcome']): string {
  const under =
    posture === 'default' ? 'the default policy' : 'the default policy with lines of several reads let through'
  const phrase = outcome === 'confirm' ? ' On another target the phrase ends with its name.' : ''
  return `Judged by its text alone, under ${under}.${phrase} Not looked at, because they need the place it would run at: the second parser, where the executable resolves, the tags of the target. They can only make it stricter.`
}

/** The width to write for: that of the terminal within reason, else what fits a mail. */
export function widthOf(out: { readonly isTTY?: boolean; readonly columns?: number }, env: NodeJS.ProcessEnv): number {
  const wanted = out.isTTY === true ? (out.columns ?? 80) : Number(env.COLUMNS ?? 100)
  return Number.isFinite(wanted) && wanted > 0 ? Math.min(Math.max(Math.trunc(wanted), 40), 160) : 100
}
