import type { Effect, ExecutionView, Flags, Outcome, Principal, Risk, Settlement } from '../../src-preload/contract'
import { visibleText } from './visible'

/** What a card calls each class of risk. */
export const RISK_WORD: Readonly<Record<Risk, string>> = {
  read_only: 'read-only',
  reversible_low: 'reversible',
  config_mutation: 'change',
  destructive: 'destructive',
}

/** A state as a card shows it: those of executions, and `revoked`, which only an approval can be. */
export type CardState = ExecutionView['state'] | 'revoked'

/** What a card calls each state. */
export const STATE_WORD: Readonly<Record<CardState, string>> = {
  requested: 'checking',
  pending_approval: 'waiting',
  approved: 'approved, not started',
  running: 'running',
  completed: 'done',
  failed: 'failed',
  timed_out: 'timed out',
  cancelled: 'cancelled',
  denied: 'denied',
  expired: 'expired',
  undeliverable: 'undeliverable',
  unknown: 'unknown',
  revoked: 'revoked',
}

/** What a state means where its word alone does not say it. */
export const STATE_MEANS: Partial<Readonly<Record<CardState, string>>> = {
  unknown:
    'Its end was not seen: it may have run wholly, partly or not at all. Look at the target before running it again.',
  undeliverable: 'Nothing could show the question, so it was closed without running.',
  expired: 'Nobody answered in time, so it was closed without running.',
  approved: 'It was approved and has not been started. Nothing has run.',
}

/** The state to show: a revoked approval says more than the cancelled execution under it. */
export function cardState(view: ExecutionView): CardState {
  return view.approval?.state === 'revoked' && view.state !== 'running' && view.state !== 'expired'
    ? 'revoked'
    : view.state
}

/** What becomes of a request, in words. */
export const OUTCOME_WORD: Readonly<Record<Outcome, string>> = {
  auto: 'runs without asking',
  ask: 'asks',
  confirm: 'asks for a typed phrase',
  deny: 'is refused',
}

/** Who asks, in words. */
export function principalWord(principal: Principal): string {
  switch (principal.kind) {
    case 'operator':
      return 'you'
    case 'agent':
      return 'the agent'
    case 'mcp':
      return `${visibleText(principal.id.replace(/^mcp:/, ''))} (over MCP)`
    case 'runbook':
      return `runbook ${visibleText(principal.id.replace(/^runbook:/, ''))}`
    case 'health':
      return 'a health check'
  }
}

/** Why a waiting request is answered on its card and nowhere else; null when it may be answered in other places too. */
export function cardOnlyWord(view: ExecutionView): string | null {
  if (view.answerAt !== 'card') return null
  const asks = (rule: string): boolean =>
    view.decision.trace.some((step) => step.layer === 'target' && step.rule === rule)
  if (view.risk === 'destructive') return 'Answered here only: it cannot be undone.'
  if (asks('self')) return 'Answered here only: it reaches Nomos itself.'
  if (asks('dependents')) return 'Answered here only: others depend on it.'
  if (asks('prod')) return `Answered here only: ${visibleText(view.target)} is tagged prod.`
  return 'Answered here only: words and notices do not reach it.'
}

const SURFACE_WORD: Readonly<Record<Settlement['surface'], string>> = {
  window: 'on a card',
  chat: 'in the chat',
  cli: 'at the command line',
  headless: 'at the headless host',
  agent: 'by the agent',
  mcp: 'over MCP',
  notification: 'on a notification',
  tray: 'in the tray menu',
  system: 'by Nomos itself',
}

/** The places an answer of a person can come in by, for a list to pick from. */
export const ANSWERED_FROM = [
  'window',
  'chat',
  'notification',
  'tray',
  'cli',
  'system',
] as const satisfies readonly Settlement['surface'][]

/** The place an answer came in by, in words. */
export const surfaceWord = (surface: Settlement['surface']): string => SURFACE_WORD[surface]

/** Who answered, in words; `null` when the surface alone says it. */
function answererWord(settlement: Settlement): string | null {
  if (settlement.surface === 'system') return null
  return settlement.by === 'operator' ? 'you' : visibleText(settlement.by)
}

/** How a question ended, as the beginning of a line. Time and a lack of surfaces are no person, and each has its own word. */
export function settledWord(view: ExecutionView): string {
  const { approval } = view
  const settlement = approval?.settlement ?? null
  if (approval === null || settlement === null) return ''
  if (approval.state === 'expired') return 'Expired'
  if (view.state === 'undeliverable') return 'Closed as undeliverable'
  const verb = approval.state === 'pending' ? 'answered' : approval.state
  const by = answererWord(settlement)
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${by === null ? '' : `by ${by} `}${surfaceWord(settlement.surface)}`
}

const EFFECT_WORD: Readonly<Record<Effect['kind'], string>> = {
  exec: 'runs',
  read: 'reads',
  write: 'writes',
  delete: 'deletes',
  network: 'reaches',
  privilege: 'gains rights',
  secret: 'reads a secret',
  power: 'switches power',
}

/** One effect as a short phrase. */
export const effectWord = (effect: Effect): string => `${EFFECT_WORD[effect.kind]}: ${effect.detail}`

const FLAG_WORD: Readonly<Record<keyof Flags, string>> = {
  self: 'reaches Nomos itself',
  inlineEval: 'carries a program on its command line',
  compound: 'is more than one simple command',
  unending: 'does not end by itself',
  interactive: 'needs a terminal',
  tooLarge: 'is too large to be read whole',
  tooDeep: 'is nested too deeply',
  invisible: 'holds characters that cannot be seen',
}

/** The flags that are set, in words. */
export function flagWords(flags: Flags): readonly string[] {
  return (Object.keys(FLAG_WORD) as (keyof Flags)[]).filter((name) => flags[name]).map((name) => FLAG_WORD[name])
}

const LAYER_WORD: Readonly<Record<string, string>> = {
  declared: 'declared by the asker',
  classifier: 'classifier',
  gate: 'gate',
  target: 'target',
  'requested-policy': 'requested policy',
  'host-policy': 'host policy',
  session: 'session',
  table: 'decision table',
}

/** The layer of a decision step, in words. */
export const layerWord = (layer: string): string => LAYER_WORD[layer] ?? layer
