import { sha256 } from '../../domain/ledger'

/** The fields people look for first, in the order they are written; all others follow by name. */
const FIRST = [
  'version',
  'socket',
  'tools',
  'defaults',
  'agents',
  'id',
  'host',
  'security',
  'ask',
  'askFallback',
  'autoAllowReadOnly',
  'autoAllowSkills',
  'riskGate',
  'pattern',
  'argPattern',
  'sudo',
  'scope',
  'expiresAt',
  'source',
  'commandText',
  'lastUsedAt',
  'lastUsedCommand',
  'lastResolvedPath',
  'allowlist',
]
const RANK = new Map(FIRST.map((name, index) => [name, index]))

/** Written by the gate while a policy is used. They say nothing about what is allowed, so they are no other version. */
const TRACES = new Set(['lastUsedAt', 'lastUsedCommand', 'lastResolvedPath'])

function ordered(value: unknown, traces: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => ordered(one, traces))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name, one]) => one !== undefined && (traces || !TRACES.has(name)))
  entries.sort(([a], [b]) => (RANK.get(a) ?? 1000) - (RANK.get(b) ?? 1000) || (a < b ? -1 : a > b ? 1 : 0))
  // Not by assignment: a name such as __proto__ is a name here.
  return Object.fromEntries(entries.map(([name, one]) => [name, ordered(one, traces)]))
}

/** The one way a policy file is written: JSON, two blanks, a fixed order of fields, a line end at its end. */
export const canonicalText = (value: unknown): string => `${JSON.stringify(ordered(value, true), null, 2)}\n`

/** Names the content of a policy file, apart from when an entry was last used. */
export const contentVersion = (value: unknown): string => sha256(JSON.stringify(ordered(value, false))).slice(0, 16)
