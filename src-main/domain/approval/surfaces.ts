import type { AnswerPlace, ExecutionView, Surface } from '../../../src-preload/contract/model'

/** What may be answered at one surface. The matrix of the approval surfaces as data; `desk.answer` holds to it, whatever a surface shows. */
export interface SurfaceRights {
  /** Requests that it may approve once, by where they are to be answered. */
  readonly once: readonly AnswerPlace[]
  readonly always: boolean
  readonly deny: boolean
  readonly changes: boolean
  /** Where the phrase may be typed: never, always, or on a headless host only. */
  readonly phrase: 'never' | 'always' | 'headless'
  /** Whether `once` holds while the screen is locked, too. */
  readonly onceLocked: boolean
}

const NOTHING: SurfaceRights = {
  once: [],
  always: false,
  deny: false,
  changes: false,
  phrase: 'never',
  onceLocked: false,
}

export const SURFACE_RIGHTS: Readonly<Record<Surface, SurfaceRights>> = {
  window: { once: ['anywhere', 'card'], always: true, deny: true, changes: true, phrase: 'always', onceLocked: true },
  // "go ahead" and /approve: words never reach what has to be looked at on its card.
  chat: { once: ['anywhere'], always: true, deny: true, changes: false, phrase: 'never', onceLocked: true },
  cli: { once: ['anywhere', 'card'], always: true, deny: true, changes: true, phrase: 'headless', onceLocked: true },
  notification: { once: ['anywhere'], always: false, deny: true, changes: false, phrase: 'never', onceLocked: false },
  tray: { once: ['anywhere'], always: false, deny: true, changes: false, phrase: 'never', onceLocked: false },
  headless: NOTHING,
  agent: NOTHING,
  mcp: NOTHING,
  system: NOTHING,
}

/** Steps of a decision that ask for a look at the card itself. */
const ON_THE_CARD: ReadonlySet<string> = new Set(['prod', 'dependents', 'self'])

/**
 * Where a request may be answered: with its phrase, on its card (many depend on the place, it is tagged `prod`, or the command reaches
 * Nomos itself), or anywhere.
 */
export function answerPlaceOf({
  approval,
  decision,
  risk,
}: Pick<ExecutionView, 'approval' | 'decision' | 'risk'>): AnswerPlace {
  if (approval?.outcome === 'confirm') return 'phrase'
  // With the risk gate off it takes no phrase, and still nobody agrees to it without having seen the card.
  if (risk === 'destructive') return 'card'
  return decision.trace.some(({ layer, rule }) => layer === 'target' && ON_THE_CARD.has(rule)) ? 'card' : 'anywhere'
}
