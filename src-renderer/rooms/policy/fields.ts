import type { PolicyFields, PolicyInspection, PolicyLayerView } from '../../../src-preload/contract'

/** What the room can change. `skills` stands in the host's file only, `strictInlineEval` in the requested policy only. */
export const FIELDS = [
  'security',
  'ask',
  'askFallback',
  'autoAllowReadOnly',
  'riskGate',
  'strictInlineEval',
  'autoAllowSkills',
] as const
export type Field = (typeof FIELDS)[number]
export type LayerField = keyof PolicyLayerView

export const FIELD_WORD: Readonly<Record<Field, string>> = {
  security: 'What may run',
  ask: 'When it asks',
  askFallback: 'When nobody can be asked',
  autoAllowReadOnly: 'Reads',
  riskGate: 'Risk gate',
  strictInlineEval: 'Programs on the command line',
  autoAllowSkills: 'Programs of skills',
}

const ON_OFF = ['on', 'off'] as const

/** Every value of a field, strictest first where there is an order. */
export const VALUES: Readonly<Record<Field, readonly string[]>> = {
  security: ['deny', 'allowlist', 'full'],
  ask: ['always', 'on-miss', 'off'],
  askFallback: ['deny', 'allowlist', 'full'],
  autoAllowReadOnly: ON_OFF,
  riskGate: ON_OFF,
  strictInlineEval: ON_OFF,
  autoAllowSkills: ON_OFF,
}

const MEANS: Readonly<Record<Field, Readonly<Record<string, string>>>> = {
  security: {
    deny: 'Nothing may run.',
    allowlist: 'What is allowed by name runs by itself.',
    full: 'Everything may run.',
  },
  ask: {
    off: 'Below destructive it never asks: it runs or is refused.',
    'on-miss': 'Asks about what is not allowed by name.',
    always: 'Asks about everything.',
  },
  askFallback: {
    deny: 'It is closed without running.',
    allowlist: 'It runs only if every part of it is allowed by name.',
    full: 'It runs, unless it is destructive.',
  },
  autoAllowReadOnly: { on: 'What only reads runs by itself.', off: 'What only reads asks like everything else.' },
  riskGate: {
    on: 'Destructive commands need a typed phrase.',
    off: 'Destructive commands are treated like other changes.',
  },
  strictInlineEval: {
    on: 'python -c, awk and their kind always ask, even when allowed by name.',
    off: 'python -c, awk and their kind are treated like other commands.',
  },
  autoAllowSkills: {
    on: 'Programs that known skills name run by themselves.',
    off: 'Programs of skills are treated like others.',
  },
}

/** A value as it is written: `on` and `off` for true and false. */
export const wordOf = (value: string | boolean): string => (typeof value === 'boolean' ? (value ? 'on' : 'off') : value)

/** What a value means, one sentence. */
export const meaningOf = (field: Field, value: string | boolean): string => MEANS[field][wordOf(value)] ?? ''

/** Where a value stands, in words beside what the core calls it. */
export function fromWord(from: string): string {
  if (from === 'built-in') return 'built in'
  if (from === 'broken') return 'the file cannot be used'
  if (from === 'defaults') return 'for all agents'
  if (from === 'tools.exec') return 'for all agents'
  if (from === 'session') return 'this session'
  if (from === 'elevated') return '/elevated'
  const agent = /^agents\.(.+?)(?:\.tools\.exec)?$/.exec(from)
  return agent === null ? from : `for ${agent[1]}`
}

/** Which of the layers a change is written to. */
export const LAYERS = ['host', 'requested', 'both'] as const
export type Layer = (typeof LAYERS)[number]

export const LAYER_NAME: Readonly<Record<Layer, string>> = {
  host: 'what the host allows',
  requested: 'what is requested',
  both: 'both',
}

/** The fields that can be written to a layer. */
export function fieldsOf(layer: Layer): readonly Field[] {
  return FIELDS.filter(
    (field) =>
      (field !== 'strictInlineEval' || layer === 'requested') && (field !== 'autoAllowSkills' || layer === 'host'),
  )
}

/** What the form says of a field: a value, `inherit` (not written), or `keep` (left as it is). */
export type Choices = Readonly<Partial<Record<Field, string>>>

function writtenIn(layer: 'host' | 'requested', agent: string | null, from: string): boolean {
  if (agent === null) return from === (layer === 'host' ? 'defaults' : 'tools.exec')
  return from === `agents.${agent}` || from === `agents.${agent}.tools.exec` || from === 'agent'
}

function choiceIn(
  inspection: PolicyInspection,
  layer: 'host' | 'requested',
  agent: string | null,
  field: Field,
): string {
  if (field === 'autoAllowSkills') return 'keep'
  const { value, from } = inspection[layer].layer[field]
  // A session's own word covers what is written in the file.
  if (from === 'session' || from === 'elevated') return 'keep'
  return writtenIn(layer, agent, from) ? wordOf(value) : 'inherit'
}

/** What stands in the files at this moment, as the form says it. */
export function choicesOf(inspection: PolicyInspection, layer: Layer, agent: string | null): Choices {
  const out: Partial<Record<Field, string>> = {}
  for (const field of fieldsOf(layer)) {
    if (layer !== 'both') out[field] = choiceIn(inspection, layer, agent, field)
    else {
      const host = choiceIn(inspection, 'host', agent, field)
      out[field] = host === choiceIn(inspection, 'requested', agent, field) ? host : 'keep'
    }
  }
  return out
}

/** The fields in which two states of the form differ. */
export const differing = (one: Choices, other: Choices): readonly Field[] =>
  FIELDS.filter((field) => one[field] !== other[field])

const written = (field: Field, choice: string): string | boolean | null =>
  choice === 'inherit' ? null : VALUES[field] === ON_OFF ? choice === 'on' : choice

/** What is sent: only what was changed. */
export function changedFields(start: Choices, now: Choices): PolicyFields {
  const out: Record<string, string | boolean | null> = {}
  for (const field of differing(start, now)) {
    const choice = now[field]
    if (choice !== undefined && choice !== 'keep') out[field] = written(field, choice)
  }
  return out as PolicyFields
}

/** A layer's change as a draft for simulator and replay. */
export function draftOf(layer: Layer, agent: string | null, fields: PolicyFields) {
  const host = agent === null ? { defaults: fields } : { agent: fields }
  switch (layer) {
    case 'host':
      return host
    case 'requested':
      return { requested: fields }
    case 'both':
      return { ...host, requested: fields }
  }
}
