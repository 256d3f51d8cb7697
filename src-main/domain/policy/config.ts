import { z } from 'zod'
import { Ask, Security } from '../../../src-preload/contract/model'
import { CAUTIOUS, Fallback, type PolicyField, type PolicyLayer } from './file'
import { SafeBinProfile } from './safe-bins'

export const EXEC_HOSTS = ['auto', 'local', 'node'] as const
export const ExecHost = z.enum(EXEC_HOSTS)
/** Where commands run: `auto` lets a call ask for a node, anything else needs the setting. */
export type ExecHost = z.infer<typeof ExecHost>

/** A bare program name. */
const ProgramName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/, 'a bare program name is needed')
/** An absolute folder without `..`. */
const Folder = z.string().regex(/^\/(?!.*(?:^|\/)\.\.(?:\/|$))[^\0\n]*$/, 'an absolute folder without ".." is needed')

const Exec = z.looseObject({
  host: ExecHost.optional(),
  security: Security.optional(),
  ask: Ask.optional(),
  askFallback: Fallback.optional(),
  strictInlineEval: z.boolean().optional(),
  /** Colours tokens of a shown command; nothing is decided by it. */
  commandHighlighting: z.boolean().optional(),
  safeBins: z.array(ProgramName).max(200).optional(),
  safeBinTrustedDirs: z.array(Folder).max(50).optional(),
  safeBinProfiles: z.record(ProgramName, SafeBinProfile).optional(),
  autoAllowReadOnly: z.boolean().optional(),
  riskGate: z.boolean().optional(),
})

const Tools = z.looseObject({
  exec: Exec.optional(),
  /** Tools that are blocked; `run` is the one that runs commands. */
  deny: z.array(z.string()).optional(),
})

/** `config.json` as far as it concerns commands. JSON5 in, unknown fields kept, wrong ones refused. */
export const ConfigFile = z.looseObject({
  tools: Tools.optional(),
  agents: z.record(z.string(), z.looseObject({ tools: Tools.optional() })).optional(),
})
export type ConfigFile = z.infer<typeof ConfigFile>

/** What the operator typed for one session (`/exec security=… ask=… host=…`, `/elevated full|off`). */
export interface SessionOverride {
  readonly security?: PolicyLayer['security']
  readonly ask?: PolicyLayer['ask']
  readonly host?: ExecHost
  /** Break-glass: the requested policy becomes full and off. The host's file still caps it. */
  readonly elevated?: boolean
}

/** Where the requested layer has a field from. */
export type RequestedSource = 'session' | 'elevated' | 'agent' | 'global' | 'built-in'

export interface Requested {
  readonly layer: PolicyLayer
  readonly from: Readonly<Record<PolicyField, RequestedSource>>
  /** `tools.deny` names `run`, for all or for this agent: a hard block. */
  readonly toolDenied: boolean
  readonly toolDeniedFrom: 'agent' | 'global' | null
}

/** The tool that runs commands. */
const RUN_TOOL = 'run'

function partsOf(config: ConfigFile | null, agent: string) {
  const agents = config?.agents
  const own = agents !== undefined && Object.hasOwn(agents, agent) ? agents[agent]?.tools : undefined
  return { general: config?.tools, own }
}

/** The requested layer: the session, else the agent's part, else the global part, else cautious. `null` is an absent file. */
export function requestedLayer(config: ConfigFile | null, agent: string, session: SessionOverride | null): Requested {
  const { general, own } = partsOf(config, agent)
  const from = {} as Record<PolicyField, RequestedSource>
  const typed: Partial<PolicyLayer> = {
    ...(session?.security === undefined ? {} : { security: session.security }),
    ...(session?.ask === undefined ? {} : { ask: session.ask }),
  }
  const elevated: Partial<PolicyLayer> = session?.elevated === true ? { security: 'full', ask: 'off' } : {}
  const pick = <K extends PolicyField>(field: K): PolicyLayer[K] => {
    const said: readonly (readonly [RequestedSource, PolicyLayer[K] | undefined])[] = [
      ['elevated', elevated[field]],
      ['session', typed[field]],
      ['agent', own?.exec?.[field] as PolicyLayer[K] | undefined],
      ['global', general?.exec?.[field] as PolicyLayer[K] | undefined],
    ]
    for (const [source, value] of said) {
      if (value === undefined) continue
      from[field] = source
      return value
    }
    from[field] = 'built-in'
    return CAUTIOUS[field]
  }
  const layer: PolicyLayer = {
    security: pick('security'),
    ask: pick('ask'),
    askFallback: pick('askFallback'),
    autoAllowReadOnly: pick('autoAllowReadOnly'),
    riskGate: pick('riskGate'),
    strictInlineEval: pick('strictInlineEval'),
  }
  const toolDeniedFrom = general?.deny?.includes(RUN_TOOL) ? 'global' : own?.deny?.includes(RUN_TOOL) ? 'agent' : null
  return { layer, from, toolDenied: toolDeniedFrom !== null, toolDeniedFrom }
}

/** The settings beside the layer, for one agent: the agent's part, else the global one, else the built-in value. */
export interface ExecSettings {
  readonly host: ExecHost
  readonly commandHighlighting: boolean
  /** Names of safe bins; null means the shipped ones. */
  readonly safeBins: readonly string[] | null
  /** Folders safe bins may lie in; null means the shipped ones. */
  readonly safeBinTrustedDirs: readonly string[] | null
  /** Profiles of custom bins; the agent's add to the global ones and win over them. */
  readonly safeBinProfiles: Readonly<Record<string, SafeBinProfile>>
}

export function execSettings(config: ConfigFile | null, agent: string, session: SessionOverride | null): ExecSettings {
  const { general, own } = partsOf(config, agent)
  return {
    host: session?.host ?? own?.exec?.host ?? general?.exec?.host ?? 'auto',
    commandHighlighting: own?.exec?.commandHighlighting ?? general?.exec?.commandHighlighting ?? false,
    safeBins: own?.exec?.safeBins ?? general?.exec?.safeBins ?? null,
    safeBinTrustedDirs: own?.exec?.safeBinTrustedDirs ?? general?.exec?.safeBinTrustedDirs ?? null,
    safeBinProfiles: { ...general?.exec?.safeBinProfiles, ...own?.exec?.safeBinProfiles },
  }
}

/**
 * Whether a call may ask for this place. `node` may be asked for under `auto`; everything else needs the setting itself.
 * Answers null when it may, else the sentence that says why not.
 */
export function hostRefusal(setting: ExecHost, asked: ExecHost | null): string | null {
  if (asked === null || asked === setting || (setting === 'auto' && asked === 'node')) return null
  return `A call may not choose host=${asked} while tools.exec.host is ${setting}. Set tools.exec.host, or type /exec host=${asked}.`
}
