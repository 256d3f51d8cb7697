import { join } from 'node:path'
import type { RouteOutput } from '../../src-preload/contract'
import { NomosError } from '../../src-preload/contract/errors'
import type {
  AllowlistEntryView,
  PolicyFields,
  PolicyFileName,
  PolicyInspection,
  PolicyLayerView,
} from '../../src-preload/contract/model'
import { createApprovalsFile, createConfigFile } from '../adapters/approvals-file'
import { ControlUnavailable, createControlClient } from '../adapters/control-socket'
import { loadExecPolicies } from '../adapters/policy-files'
import { resourcesFolder } from '../adapters/system'
import {
  ApprovalsFile,
  CLOSED,
  ConfigFile,
  execSettings,
  fieldFaults,
  hostAllowlist,
  hostAllowsSkills,
  hostPolicy,
  mergeLayers,
  normalizeApprovals,
  type PolicyLayer,
  PRESETS,
  type Preset,
  requestedLayer,
} from '../domain/policy'
import { withoutTokenText } from '../services/policy-desk'
import { presetFields, withConfigFields, withHostFields, withHostPreset } from '../services/policy-draft'
import { type App, ask, homeOf, runFolder } from './app'
import { difference } from './difference'
import { entryViews } from './entries'
import { CliFailure, EXIT } from './exits'
import type { Io } from './io'

type Json = Readonly<Record<string, unknown>>

/** A policy file as text, from the app or from the disk. */
export type PolicyText = RouteOutput<'policy.fileGet'>

/** Both files as text. */
export interface PolicyTexts {
  readonly host: PolicyText
  readonly config: PolicyText
}

/** What can be said of a scope; `local` when no app runs: sessions, grants and switches are not looked at then. */
export type Inspected = Pick<
  PolicyInspection,
  | 'agent'
  | 'target'
  | 'session'
  | 'managedBy'
  | 'host'
  | 'requested'
  | 'effective'
  | 'toolDenied'
  | 'autoAllowSkills'
  | 'allowlist'
>

/** Asks the running app; where none runs, `without` answers from the files. An app that refuses is not gone around. */
export async function appOrFiles<T>(
  io: Io,
  running: (app: App) => Promise<T>,
  without: (home: string) => T,
): Promise<T> {
  const home = homeOf(io)
  const client = createControlClient(runFolder(io))
  try {
    let welcome: App['welcome']
    try {
      welcome = await client.connect()
    } catch (error) {
      if (error instanceof ControlUnavailable && error.kind === 'absent') return without(home)
      throw error
    }
    return await running({ client, welcome })
  } catch (error) {
    if (error instanceof ControlUnavailable) throw new CliFailure(EXIT.noApp, error.kind, error.message)
    throw error
  } finally {
    client.close()
  }
}

/** A file of the policy as text, read from the disk. */
export function localText(home: string, name: PolicyFileName): PolicyText {
  const file = name === 'host' ? createApprovalsFile(home) : createConfigFile(home)
  const read = file.read()
  return {
    path: read.path,
    source: read.kind,
    problem: read.kind === 'broken' ? read.problem : null,
    text: read.kind === 'file' ? file.shown(read.raw) : read.kind === 'broken' ? withoutTokenText(read.text) : '',
    version: read.version,
  }
}

/** Both files, from the app. */
export async function textsOf(app: App): Promise<PolicyTexts> {
  const host = await ask(app, 'policy.fileGet', { file: 'host' })
  return { host, config: await ask(app, 'policy.fileGet', { file: 'config' }) }
}

/** Both files, from the disk. */
export const localTexts = (home: string): PolicyTexts => ({
  host: localText(home, 'host'),
  config: localText(home, 'config'),
})

/** The object in a text. Throws a failure that names what is wrong; `what` says whose text it is. */
export function parsedText(io: Io, what: string, text: string): Json {
  try {
    return createApprovalsFile(homeOf(io)).parse(text)
  } catch (error) {
    if (error instanceof NomosError) throw new CliFailure(EXIT.failed, error.code, `${what}: ${error.message}`)
    throw error
  }
}

/** The object that a file holds; an empty one where there is none yet. A broken one stops with the remedy. */
function contentOf(io: Io, name: PolicyFileName, { source, path, problem, text }: PolicyText): Json {
  if (source === 'broken')
    throw new CliFailure(
      EXIT.failed,
      'broken',
      `${path} cannot be used: ${problem ?? 'it is broken'}. Mend it, put another in its place (nomos approvals set), or see: nomos doctor`,
    )
  if (source === 'absent' || text.trim() === '') return name === 'host' ? { version: 1 } : {}
  return parsedText(io, path, text)
}

/** Looks at a text for the host's file as the app will: every fault with its field, value and what is allowed. */
export function checkedApprovals(raw: Json, what: string): ApprovalsFile {
  const parsed = ApprovalsFile.safeParse(raw)
  if (parsed.success) return parsed.data
  const faults = fieldFaults(parsed.error, raw)
  const told = faults.slice(0, 20).map(({ sentence }) => `  ${sentence}`)
  if (faults.length > told.length) told.push(`  There are ${faults.length - told.length} more.`)
  throw new CliFailure(EXIT.failed, 'bad_input', `${what} cannot be used, nothing was saved:\n${told.join('\n')}`)
}

/** What putting `next` in the place of the host's file changes. The socket stays as it is. */
export function replacement(io: Io, now: PolicyText, next: Json): readonly string[] {
  const before = now.source === 'file' ? parsedText(io, now.path, now.text) : {}
  const { socket = before.socket, ...rest } = next
  const own = before.socket ?? socket
  const kept = own === undefined ? rest : { ...rest, socket: own }
  let count = 0
  const named = normalizeApprovals(ApprovalsFile.parse(kept), () => `new-${++count}`)
  return difference(now.text, createApprovalsFile(homeOf(io)).shown(named))
}

/** Both files with a change that is not saved, and what it changes. */
export interface Draft {
  readonly host: ApprovalsFile
  readonly config: ConfigFile
  /** One block for each file that changes. */
  readonly diffs: readonly { readonly path: string; readonly diff: readonly string[] }[]
}

function draftOf(io: Io, texts: PolicyTexts, change: (host: Json, config: Json) => readonly [Json, Json]): Draft {
  const before = [contentOf(io, 'host', texts.host), contentOf(io, 'config', texts.config)] as const
  const [host, config] = change(...before)
  const shown = createApprovalsFile(homeOf(io)).shown
  return {
    host: ApprovalsFile.parse(host),
    config: ConfigFile.parse(config),
    diffs: [
      { path: texts.host.path, diff: host === before[0] ? [] : difference(texts.host.text, shown(host)) },
      { path: texts.config.path, diff: config === before[1] ? [] : difference(texts.config.text, shown(config)) },
    ],
  }
}

/** Fields of a layer, written into one file or both. */
export function draftOfFields(
  io: Io,
  texts: PolicyTexts,
  layer: 'host' | 'requested' | 'both',
  agent: string | null,
  fields: PolicyFields,
): Draft {
  return draftOf(io, texts, (host, config) => [
    layer === 'requested' ? host : withHostFields(host, agent, fields),
    layer === 'host' ? config : withConfigFields(config, agent, fields),
  ])
}

/** A preset, written into both files. */
export function draftOfPreset(io: Io, texts: PolicyTexts, preset: Preset): Draft {
  return draftOf(io, texts, (host, config) => [
    withHostPreset(host, preset),
    withConfigFields(config, null, presetFields(preset).config),
  ])
}

/** The shipped presets, in the order they are shown. */
export function shippedPresets(): readonly Preset[] {
  const { presets } = loadExecPolicies(join(resourcesFolder(), 'policies'))
  return Object.values(presets).sort((a, b) => PRESETS.indexOf(a.name) - PRESETS.indexOf(b.name))
}

/** True when nothing at all is asked any more for an agent: full, off, and no phrase for what cannot be undone. */
export function isOpen({ host, config }: Pick<Draft, 'host' | 'config'>, agent: string): boolean {
  const requested = requestedLayer(config, agent, null)
  const merged = mergeLayers(requested.layer, hostPolicy(host, agent).layer)
  return !requested.toolDenied && merged.security === 'full' && merged.ask === 'off' && !merged.riskGate
}

function layerView(layer: PolicyLayer, from: (field: keyof PolicyLayer) => string): PolicyLayerView {
  const one = <K extends keyof PolicyLayer>(field: K) => ({ value: layer[field], from: from(field) })
  return {
    security: one('security'),
    ask: one('ask'),
    askFallback: one('askFallback'),
    autoAllowReadOnly: one('autoAllowReadOnly'),
    riskGate: one('riskGate'),
    strictInlineEval: one('strictInlineEval'),
  }
}

/** The allowlist of an agent, read from the disk; empty where the file says nothing or cannot be used. */
export function localAllowlist(home: string, agent: string, now: number): readonly AllowlistEntryView[] {
  const read = createApprovalsFile(home).read()
  return entryViews(hostAllowlist(read.kind === 'file' ? read.file : null, agent), now)
}

/** What the two files say for an agent, read from the disk. A file that cannot be used denies, as the app does. */
export function localInspection(home: string, agent: string, target: string, now: number): Inspected {
  const hostRead = createApprovalsFile(home).read()
  const configRead = createConfigFile(home).read()
  const fileView = (read: typeof hostRead | typeof configRead) => ({
    path: read.path,
    source: read.kind,
    problem: read.kind === 'broken' ? read.problem : null,
    version: read.version,
    restorable:
      read.kind === 'broken' &&
      (read === hostRead ? createApprovalsFile(home) : createConfigFile(home)).kept() !== null,
  })
  const hostFile = hostRead.kind === 'file' ? hostRead.file : null
  const configFile = configRead.kind === 'file' ? configRead.file : null
  const host = hostPolicy(hostFile, agent)
  const requested = requestedLayer(configFile, agent, null)
  const hostLayer = hostRead.kind === 'broken' ? CLOSED : host.layer
  const askedLayer = configRead.kind === 'broken' ? CLOSED : requested.layer
  const merged = mergeLayers(askedLayer, hostLayer)
  const hostFrom = { agent: `agents.${agent}`, defaults: 'defaults', 'built-in': 'built-in' } as const
  const askedFrom = {
    agent: `agents.${agent}`,
    global: 'tools.exec',
    'built-in': 'built-in',
    session: 'session',
    elevated: 'elevated',
  } as const
  return {
    agent,
    target,
    session: null,
    managedBy: execSettings(configFile, agent, null).host === 'node' ? 'node' : 'app',
    host: {
      file: fileView(hostRead),
      layer: layerView(hostLayer, (field) => (hostRead.kind === 'broken' ? 'broken' : hostFrom[host.from[field]])),
    },
    requested: {
      file: fileView(configRead),
      layer: layerView(askedLayer, (field) =>
        configRead.kind === 'broken' ? 'broken' : askedFrom[requested.from[field]],
      ),
    },
    effective: layerView(merged, (field) =>
      askedLayer[field] === hostLayer[field] ? 'both' : merged[field] === hostLayer[field] ? 'host' : 'requested',
    ),
    toolDenied: requested.toolDenied,
    autoAllowSkills: hostAllowsSkills(hostFile, agent).on,
    allowlist: entryViews(hostAllowlist(hostFile, agent), now),
  }
}
