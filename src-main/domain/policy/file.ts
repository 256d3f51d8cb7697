import { z } from 'zod'
import { Ask, Security } from '../../../src-preload/contract/model'

export const FALLBACKS = ['deny', 'allowlist', 'full'] as const
export const Fallback = z.enum(FALLBACKS)
export type Fallback = z.infer<typeof Fallback>

const Fields = {
  security: Security.optional(),
  ask: Ask.optional(),
  askFallback: Fallback.optional(),
  autoAllowReadOnly: z.boolean().optional(),
  autoAllowSkills: z.boolean().optional(),
  riskGate: z.boolean().optional(),
  /** The requesting side's setting; a host may insist on it as well. */
  strictInlineEval: z.boolean().optional(),
}

/** Longest pattern, in UTF-16 units. */
const MAX_PATTERN = 1024
/** Longest pattern of arguments: the encoded form holds a whole command. */
const MAX_ARG_PATTERN = 32 * 1024

/**
 * One allowlist entry of the host's file. Times are in ms since the epoch. What is wrong *inside* a pattern does not break the file:
 * such an entry never matches, and `inspectAllowlist` says so.
 */
export const AllowlistEntry = z.looseObject({
  id: z.string().min(1).max(100).optional(),
  /** A glob on the path of the program, or a bare name that is found through PATH. */
  pattern: z.string().min(1).max(MAX_PATTERN),
  /** Searched in the arguments joined by one space, or an exact argv in its encoded form (`encodeArgv`). */
  argPattern: z.string().max(MAX_ARG_PATTERN).optional(),
  scope: z
    .looseObject({
      /** Slug of a target; without it the entry is for this computer only. */
      target: z.string().min(1).optional(),
      agent: z.string().min(1).optional(),
      session: z.string().min(1).optional(),
    })
    .optional(),
  expiresAt: z.number().finite().nonnegative().optional(),
  /** Only for a command behind plain `sudo`; without it the entry does not match behind `sudo`. */
  sudo: z.boolean().optional(),
  source: z.string().max(100).optional(),
  commandText: z.string().optional(),
  lastUsedAt: z.number().finite().nonnegative().optional(),
  lastUsedCommand: z.string().optional(),
  lastResolvedPath: z.string().optional(),
})
export type AllowlistEntry = Readonly<z.infer<typeof AllowlistEntry>>

/** `exec-approvals.json` of the host that executes (DESIGN.md, section 5). Unknown fields are kept, wrong ones refused. */
export const ApprovalsFile = z.looseObject({
  version: z.literal(1),
  socket: z.looseObject({ path: z.string().optional(), token: z.string().optional() }).optional(),
  defaults: z.looseObject(Fields).optional(),
  agents: z.record(z.string(), z.looseObject({ ...Fields, allowlist: z.array(AllowlistEntry).optional() })).optional(),
})
export type ApprovalsFile = z.infer<typeof ApprovalsFile>

/** The agent that chat and composer share. */
export const MAIN_AGENT = 'main'
/** What older files call it. */
const LEGACY_AGENT = 'default'

/**
 * The same file in its canonical form: the legacy agent `default` becomes `main` (what `main` says itself wins, both allowlists
 * count), and every allowlist entry has an id that no other has. `newId` is asked for one each time; unknown fields stay.
 * Answers the same object when there is nothing to change.
 */
export function normalizeApprovals(file: ApprovalsFile, newId: () => string): ApprovalsFile {
  const before = file.agents
  if (before === undefined) return file
  let changed = false
  let agents = before
  if (Object.hasOwn(before, LEGACY_AGENT)) {
    changed = true
    const { [LEGACY_AGENT]: legacy, ...others } = before
    const main = Object.hasOwn(others, MAIN_AGENT) ? others[MAIN_AGENT] : undefined
    const lists = [...(main?.allowlist ?? []), ...(legacy?.allowlist ?? [])]
    agents = { ...others, [MAIN_AGENT]: { ...legacy, ...main, ...(lists.length > 0 ? { allowlist: lists } : {}) } }
  }
  const taken = new Set<string>()
  const withIds: [string, NonNullable<ApprovalsFile['agents']>[string]][] = Object.entries(agents).map(
    ([name, agent]) => {
      const list = agent.allowlist
      if (list === undefined) return [name, agent]
      const filled = list.map((entry) => {
        if (entry.id !== undefined && !taken.has(entry.id)) {
          taken.add(entry.id)
          return entry
        }
        const fresh = newId()
        let id = fresh
        for (let n = 2; taken.has(id); n++) id = `${fresh}-${n}`
        taken.add(id)
        changed = true
        return { ...entry, id }
      })
      return [name, { ...agent, allowlist: filled }]
    },
  )
  return changed ? { ...file, agents: Object.fromEntries(withIds) } : file
}

/** One complete set of rules of one layer. */
export interface PolicyLayer {
  readonly security: z.infer<typeof Security>
  readonly ask: z.infer<typeof Ask>
  readonly askFallback: Fallback
  readonly autoAllowReadOnly: boolean
  readonly riskGate: boolean
  readonly strictInlineEval: boolean
}
export type PolicyField = keyof PolicyLayer
export const POLICY_FIELDS: readonly PolicyField[] = [
  'security',
  'ask',
  'askFallback',
  'autoAllowReadOnly',
  'riskGate',
  'strictInlineEval',
]

/** What holds when nothing is written: reads run, changes ask, what cannot be undone needs a phrase, no answer means no. */
export const CAUTIOUS: PolicyLayer = {
  security: 'allowlist',
  ask: 'on-miss',
  askFallback: 'deny',
  autoAllowReadOnly: true,
  riskGate: true,
  strictInlineEval: true,
}

/** What holds when the host's file is there and cannot be understood. */
export const CLOSED: PolicyLayer = { ...CAUTIOUS, security: 'deny', ask: 'always', autoAllowReadOnly: false }

/**
 * What a host says that says nothing: cautious, but inline programs are left to the requesting side, whose default is to be
 * strict. Otherwise nobody could ever switch that off.
 */
export const HOST_SILENT: PolicyLayer = { ...CAUTIOUS, strictInlineEval: false }

/** Where the host's layer has a field from: the agent's part of the file, its defaults, or nothing written at all. */
export type HostSource = 'agent' | 'defaults' | 'built-in'

/** The host's layer for one agent with the source of each field. */
export function hostPolicy(
  file: ApprovalsFile | null,
  agent: string,
): { readonly layer: PolicyLayer; readonly from: Readonly<Record<PolicyField, HostSource>> } {
  const own = ownAgent(file, agent)
  const defaults = file?.defaults
  const from = {} as Record<PolicyField, HostSource>
  const pick = <K extends PolicyField>(field: K): PolicyLayer[K] => {
    const said = own?.[field] ?? defaults?.[field]
    from[field] = own?.[field] !== undefined ? 'agent' : defaults?.[field] !== undefined ? 'defaults' : 'built-in'
    return (said ?? HOST_SILENT[field]) as PolicyLayer[K]
  }
  return {
    layer: {
      security: pick('security'),
      ask: pick('ask'),
      askFallback: pick('askFallback'),
      autoAllowReadOnly: pick('autoAllowReadOnly'),
      riskGate: pick('riskGate'),
      strictInlineEval: pick('strictInlineEval'),
    },
    from,
  }
}

function ownAgent(file: ApprovalsFile | null, agent: string): NonNullable<ApprovalsFile['agents']>[string] | undefined {
  const agents = file?.agents
  // A file that was not normalised yet is read as if it had been.
  if (agents === undefined) return undefined
  if (Object.hasOwn(agents, LEGACY_AGENT) && agent === MAIN_AGENT) {
    return normalizeApprovals({ version: 1, agents }, () => 'unnamed').agents?.[MAIN_AGENT]
  }
  return Object.hasOwn(agents, agent) ? agents[agent] : undefined
}

/** The host's layer for one agent: its own fields, else the file's defaults, else cautious. */
export function hostLayer(file: ApprovalsFile | null, agent: string): PolicyLayer {
  return hostPolicy(file, agent).layer
}

/** The allowlist of one agent; grants never leak from one agent to another. */
export function hostAllowlist(file: ApprovalsFile | null, agent: string): readonly AllowlistEntry[] {
  return ownAgent(file, agent)?.allowlist ?? []
}

/** Whether the executables of known skills are trusted for this agent. Off unless the file says so. */
export function hostAllowsSkills(
  file: ApprovalsFile | null,
  agent: string,
): { readonly on: boolean; readonly from: HostSource } {
  const own = ownAgent(file, agent)?.autoAllowSkills
  if (own !== undefined) return { on: own, from: 'agent' }
  const general = file?.defaults?.autoAllowSkills
  return general === undefined ? { on: false, from: 'built-in' } : { on: general, from: 'defaults' }
}
