import {
  ASKS,
  type Decision,
  OUTCOMES,
  type Outcome,
  type Risk,
  SECURITIES,
  type TraceStep,
} from '../../../src-preload/contract/model'
import type { PolicyLayer } from './file'

/** The stricter of two values of an ordered list (loosest first). */
function stricter<T>(order: readonly T[], a: T, b: T): T {
  return order.indexOf(a) >= order.indexOf(b) ? a : b
}

const FALLBACKS = ['full', 'allowlist', 'deny'] as const
/** `SECURITIES` is written strictest first. */
const SECURITY_ORDER = [...SECURITIES].reverse()

/** Merges two layers field by field to the stricter. Idempotent, order-free. */
export function mergeLayers(a: PolicyLayer, b: PolicyLayer): PolicyLayer {
  return {
    security: stricter(SECURITY_ORDER, a.security, b.security),
    ask: stricter(ASKS, a.ask, b.ask),
    askFallback: stricter(FALLBACKS, a.askFallback, b.askFallback),
    autoAllowReadOnly: a.autoAllowReadOnly && b.autoAllowReadOnly,
    riskGate: a.riskGate || b.riskGate,
    strictInlineEval: a.strictInlineEval || b.strictInlineEval,
  }
}

export interface Switches {
  readonly askAboutEverything: boolean
  readonly pauseAutomatic: boolean
}

export interface Question {
  readonly risk: Risk
  readonly self: boolean
  readonly inlineEval: boolean
  /** True when every segment is allowlisted, a safe bin or an allowed skill. */
  readonly matched: boolean
  /** `tools.deny: [run]` stands for this agent. */
  readonly toolDenied: boolean
  readonly switches: Switches
  readonly target: { readonly slug: string; readonly tags: readonly string[]; readonly dependents: number }
  /** The operator has switched automatic runs off for this target, or for one that the command reaches. */
  readonly neverAuto?: boolean
}

export interface NamedLayer {
  readonly name: 'requested-policy' | 'host-policy' | 'session'
  readonly layer: PolicyLayer
}

/** Dependents from which on a target never changes automatically (a setting later). */
export const MANY_DEPENDENTS = 5

type Column = 'read' | 'change' | 'destructive'

function column(question: Question, layer: PolicyLayer): Column {
  // What reaches Nomos itself is judged as destructive, the risk gate being off included.
  if (question.self) return 'destructive'
  switch (question.risk) {
    case 'read_only':
      return 'read'
    case 'reversible_low':
    case 'config_mutation':
      return 'change'
    case 'destructive':
      return layer.riskGate ? 'destructive' : 'change'
  }
}

const byColumn = (at: Column, read: Outcome, change: Outcome, destructive: Outcome): Outcome =>
  at === 'read' ? read : at === 'change' ? change : destructive

/** The decision table of DESIGN.md, section 5, for one layer: the first row that matches, by name. */
export function tableRow(question: Question, layer: PolicyLayer): { readonly row: string; readonly outcome: Outcome } {
  const at = column(question, layer)
  const answer = (row: string, read: Outcome, change: Outcome, destructive: Outcome) => ({
    row,
    outcome: byColumn(at, read, change, destructive),
  })
  if (layer.security === 'deny') return answer('security-deny', 'deny', 'deny', 'deny')
  if (question.toolDenied) return answer('tool-denied', 'deny', 'deny', 'deny')
  if (layer.ask === 'always') return answer('ask-always', 'ask', 'ask', 'confirm')
  if (question.switches.askAboutEverything) return answer('ask-about-everything', 'ask', 'ask', 'confirm')
  if (layer.strictInlineEval && question.inlineEval && at !== 'read') {
    return answer('strict-inline-eval', 'ask', layer.ask === 'off' ? 'deny' : 'ask', 'confirm')
  }
  if (question.matched && !question.self) return answer('allowlisted', 'auto', 'auto', 'confirm')
  if (layer.security === 'allowlist') {
    return layer.ask === 'on-miss'
      ? answer('allowlist-on-miss', layer.autoAllowReadOnly ? 'auto' : 'ask', 'ask', 'confirm')
      : answer('allowlist-off', layer.autoAllowReadOnly ? 'auto' : 'deny', 'deny', 'deny')
  }
  return layer.ask === 'on-miss'
    ? answer('full-on-miss', 'auto', 'ask', 'confirm')
    : answer('full-off', 'auto', 'auto', 'confirm')
}

/** Changes here are never automatic, whoever grants them: it is tagged `prod`, or many depend on it. */
function neverChangesAlone({ risk, target }: Question): boolean {
  return risk !== 'read_only' && (target.tags.includes('prod') || target.dependents >= MANY_DEPENDENTS)
}

/**
 * What `askFallback` does with a request that waits for an answer when nothing can be asked: `run` only where the strictest of all
 * layers lets it. Never for what cannot be undone, what reaches Nomos itself, a change on a target that never changes alone, or
 * while a switch says that nothing is automatic. A program text under `strictInlineEval` is not let through by a match.
 */
export function fallbackOf(
  question: Question,
  layers: readonly NamedLayer[],
  outcome: Outcome,
): { readonly run: boolean; readonly sentence: string } {
  const no = (sentence: string) => ({ run: false, sentence })
  const merged = layers.map(({ layer }) => layer).reduce(mergeLayers)
  if (outcome !== 'ask') return no('Nobody can be asked, and this takes more than a yes.')
  if (question.self || question.risk === 'destructive')
    return no('Nobody can be asked, and what cannot be undone or reaches Nomos itself never runs without an answer.')
  if (merged.security === 'deny' || question.toolDenied) return no('The policy denies it.')
  if (question.switches.askAboutEverything || question.switches.pauseAutomatic || question.neverAuto === true)
    return no('Nobody can be asked, and a switch says that nothing runs by itself.')
  if (neverChangesAlone(question))
    return no(`Nobody can be asked, and changes on ${question.target.slug} are never automatic.`)
  switch (merged.askFallback) {
    case 'deny':
      return no('Nobody can be asked, and askFallback is deny.')
    case 'allowlist':
      if (!question.matched) return no('Nobody can be asked, and not every part of it is on the allowlist.')
      if (merged.strictInlineEval && question.inlineEval && question.risk !== 'read_only')
        return no('Nobody can be asked, and a program text is asked about even if its program is on the allowlist.')
      return {
        run: true,
        sentence: 'Nobody can be asked; every part of it is on the allowlist, and askFallback allows that.',
      }
    case 'full':
      return { run: true, sentence: 'Nobody can be asked, and askFallback is full.' }
  }
}

const ROW_SENTENCES: Readonly<Record<string, string>> = {
  'security-deny': 'The policy denies every command here.',
  'tool-denied': 'The run tool is denied for this agent.',
  'ask-always': 'The policy asks about every command.',
  'ask-about-everything': 'The switch "Ask about everything" is on.',
  'strict-inline-eval': 'A program text on the command line is always asked about.',
  allowlisted: 'Every part of the command is on the allowlist.',
  'allowlist-on-miss': 'Reads run by themselves, everything that is not on the allowlist is asked about.',
  'allowlist-off': 'What is not on the allowlist is denied without asking.',
  'full-on-miss': 'Reads run by themselves, changes are asked about.',
  'full-off': 'Everything but what cannot be undone runs by itself.',
}

/**
 * The verdict: the strictest of the merge of all layers and of each layer alone, then what the target, the switches and law 9
 * add. `before` is the trace of the layers that came earlier; it is kept in front.
 */
export function decide(question: Question, layers: readonly NamedLayer[], before: readonly TraceStep[] = []): Decision {
  const trace: TraceStep[] = [...before]
  let outcome: Outcome = 'auto'
  const raise = (layer: TraceStep['layer'], rule: string, verdict: Outcome, sentence: string): void => {
    outcome = stricter(OUTCOMES, outcome, verdict)
    trace.push({ layer, rule, verdict, sentence, spans: [] })
  }
  for (const { name, layer } of layers) {
    const { row, outcome: verdict } = tableRow(question, layer)
    raise(name, row, verdict, ROW_SENTENCES[row] ?? row)
  }
  const merged = layers.map(({ layer }) => layer).reduce(mergeLayers)
  const { row, outcome: verdict } = tableRow(question, merged)
  raise('table', row, verdict, ROW_SENTENCES[row] ?? row)

  if (question.self) {
    raise('target', 'self', 'confirm', 'It reaches Nomos itself: it is never automatic and needs the typed phrase.')
  }
  const prod = question.target.tags.includes('prod')
  if (neverChangesAlone(question)) {
    const why = prod ? 'it is tagged prod' : `${question.target.dependents} others depend on it`
    raise(
      'target',
      prod ? 'prod' : 'dependents',
      'ask',
      `Changes on ${question.target.slug} are never automatic: ${why}.`,
    )
  }
  if (question.neverAuto === true) {
    raise(
      'session',
      'never-auto',
      'ask',
      `Nothing runs by itself on ${question.target.slug}: it is switched off there.`,
    )
  }
  if (question.switches.pauseAutomatic) {
    raise('session', 'pause-automatic', 'ask', 'Automatic runs are paused.')
  }
  return { outcome, risk: question.risk, trace }
}
