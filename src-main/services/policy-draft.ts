import { NomosError } from '../../src-preload/contract/errors'
import type { AllowlistInput, PolicyDraft, PolicyFields } from '../../src-preload/contract/model'
import { ApprovalsFile, ConfigFile, type Preset } from '../domain/policy'

type Json = Readonly<Record<string, unknown>>

/** The fields that each of the two files has. */
const HOST_FIELDS = [
  'security',
  'ask',
  'askFallback',
  'autoAllowReadOnly',
  'autoAllowSkills',
  'riskGate',
  'strictInlineEval',
] as const
const CONFIG_FIELDS = [
  'security',
  'ask',
  'askFallback',
  'autoAllowReadOnly',
  'riskGate',
  'strictInlineEval',
  'commandHighlighting',
] as const
type FieldName = keyof PolicyFields

/** Refuses a field that a layer does not have, so that nobody believes it was saved. */
export function requireFields(layer: 'host' | 'requested', fields: PolicyFields): void {
  const known: readonly string[] = layer === 'host' ? HOST_FIELDS : CONFIG_FIELDS
  const wrong = Object.keys(fields).find((name) => fields[name as FieldName] !== undefined && !known.includes(name))
  if (wrong === undefined) return
  const place = layer === 'host' ? "the host's file" : 'config.json'
  throw new NomosError('bad_input', `"fields.${wrong}" is no field of ${place}; it has ${known.join(', ')}.`, {
    field: `fields.${wrong}`,
  })
}

const json = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

const child = (parent: Json, name: string): Json => (Object.hasOwn(parent, name) ? json(parent[name]) : {})

/** The same object with another value under a name; names such as `__proto__` are names here. */
const withChild = (parent: Json, name: string, value: unknown): Json =>
  Object.fromEntries([...Object.entries(parent).filter(([key]) => key !== name), [name, value]])

function withFields(section: Json, fields: PolicyFields, known: readonly FieldName[]): Json {
  const next = new Map(Object.entries(section))
  for (const name of known) {
    const value = fields[name]
    if (value === null) next.delete(name)
    else if (value !== undefined) next.set(name, value)
  }
  return Object.fromEntries(next)
}

/** Writes fields into the host's file: its defaults, or the part of one agent. */
export function withHostFields(raw: Json, agent: string | null, fields: PolicyFields): Json {
  if (agent === null) return withChild(raw, 'defaults', withFields(child(raw, 'defaults'), fields, HOST_FIELDS))
  const agents = child(raw, 'agents')
  return withChild(raw, 'agents', withChild(agents, agent, withFields(child(agents, agent), fields, HOST_FIELDS)))
}

/** Writes fields into `tools.exec` of config.json: the global one, or that of one agent. */
export function withConfigFields(raw: Json, agent: string | null, fields: PolicyFields): Json {
  if (agent !== null) {
    const agents = child(raw, 'agents')
    return withChild(raw, 'agents', withChild(agents, agent, withConfigFields(child(agents, agent), null, fields)))
  }
  const tools = child(raw, 'tools')
  return withChild(raw, 'tools', withChild(tools, 'exec', withFields(child(tools, 'exec'), fields, CONFIG_FIELDS)))
}

const listOf = (section: Json): readonly unknown[] => (Array.isArray(section.allowlist) ? section.allowlist : [])

/** Puts another allowlist in the place of an agent's. */
export function withAllowlist(
  raw: Json,
  agent: string,
  change: (list: readonly unknown[]) => readonly unknown[],
): Json {
  const agents = child(raw, 'agents')
  const own = child(agents, agent)
  return withChild(raw, 'agents', withChild(agents, agent, withChild(own, 'allowlist', change(listOf(own)))))
}

/** An entry as it is written down. */
export const entryOf = (input: AllowlistInput, more: Json = {}): Json => ({
  ...more,
  ...Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)),
})

export const withoutEntry =
  (id: string) =>
  (list: readonly unknown[]): readonly unknown[] =>
    list.filter((entry) => json(entry).id !== id)

/**
 * A preset in the host's file: its defaults. What an agent says for itself stays, but for a preset that denies everything: then no
 * agent's part says anything else.
 */
export function withHostPreset(raw: Json, preset: Preset): Json {
  const fields = presetFields(preset).host
  const next = withHostFields(raw, null, fields)
  if (fields.security !== 'deny') return next
  return Object.entries(child(next, 'agents'))
    .filter(([, own]) => json(own).security !== undefined)
    .reduce((file, [agent]) => withHostFields(file, agent, { security: null }), next)
}

/** A preset as fields of the two files. */
export const presetFields = (preset: Preset): { readonly host: PolicyFields; readonly config: PolicyFields } => ({
  host: { strictInlineEval: null, ...preset.approvals },
  config: preset.config,
})

/** Both files as they would be with a change. Throws `bad_input` for a preset or a field that is not known. */
export function withDraft(
  files: { readonly host: Json; readonly config: Json },
  agent: string,
  draft: PolicyDraft,
  presets: readonly Preset[],
): { readonly host: ApprovalsFile; readonly config: ConfigFile } {
  let { host, config } = files
  if (draft.preset !== undefined) {
    const preset = presets.find(({ name }) => name === draft.preset)
    if (preset === undefined) throw new NomosError('bad_input', `There is no preset "${draft.preset}".`)
    host = withHostPreset(host, preset)
    config = withConfigFields(config, null, presetFields(preset).config)
  }
  if (draft.defaults !== undefined) {
    requireFields('host', draft.defaults)
    host = withHostFields(host, null, draft.defaults)
  }
  if (draft.agent !== undefined) {
    requireFields('host', draft.agent)
    host = withHostFields(host, agent, draft.agent)
  }
  if (draft.requested !== undefined) {
    requireFields('requested', draft.requested)
    config = withConfigFields(config, null, draft.requested)
  }
  const gone = new Set(draft.remove ?? [])
  const added = draft.add ?? []
  if (gone.size > 0 || added.length > 0) {
    host = withAllowlist(host, agent, (list) => [
      ...list.filter((entry) => !gone.has(String(json(entry).id))),
      ...added.map((entry, index) => entryOf(entry, { id: `draft-${index + 1}` })),
    ])
  }
  return { host: ApprovalsFile.parse(host), config: ConfigFile.parse(config) }
}
