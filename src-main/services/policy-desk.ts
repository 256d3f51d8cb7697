import { z } from 'zod'
import { NomosError } from '../../src-preload/contract/errors'
import type {
  AllowlistEntryView,
  AllowlistInput,
  AlwaysOffer,
  ExecutionView,
  GrantKindView,
  GrantView,
  Outcome,
  PolicyDraft,
  PolicyFields,
  PolicyFileName,
  PolicyFileView,
  PolicyInspection,
  PolicyLayerView,
  PolicySaved,
  PresetName,
  Replay,
  Simulation,
} from '../../src-preload/contract/model'
import { OUTCOMES } from '../../src-preload/contract/model'
import {
  type AllowlistEntry,
  type ApprovalsFile,
  CLOSED,
  type ConfigFile,
  decide,
  entriesFor,
  hostAllowlist,
  hostAllowsSkills,
  hostPolicy,
  inspectAllowlist,
  mergeLayers,
  POLICY_FIELDS,
  type PolicyField,
  type PolicyLayer,
  requestedLayer,
} from '../domain/policy'
import { redact } from '../domain/redact'
import type { Clock, Feed, Ids, PolicySource, SourceEditing, SourceRead, Store } from '../ports'
import type { Asker, Gate } from './gate'
import { type Policy, type PolicyData, type PolicyFiles, policyAgent, stampOf } from './policy'
import { lineDiff } from './policy-diff'
import {
  entryOf,
  presetFields,
  requireFields,
  withAllowlist,
  withConfigFields,
  withDraft,
  withHostFields,
  withHostPreset,
  withoutEntry,
} from './policy-draft'

type Json = Readonly<Record<string, unknown>>

export interface PolicyDesk {
  inspect(agent: string, target: string, session: string | null): PolicyInspection
  save(input: {
    readonly layer: 'host' | 'requested' | 'both'
    readonly agent: string | null
    readonly fields: PolicyFields
    readonly baseVersion: string | null
    readonly baseConfigVersion?: string | null | undefined
  }): Promise<PolicySaved>
  allowlistAdd(agent: string, entry: AllowlistInput, baseVersion: string | null): Promise<AllowlistEntryView>
  allowlistRemove(agent: string, id: string, baseVersion: string | null): Promise<void>
  fileGet(file: PolicyFileName): {
    readonly path: string
    readonly source: 'absent' | 'file' | 'broken'
    readonly problem: string | null
    readonly text: string
    readonly version: string
  }
  fileSet(file: PolicyFileName, text: string, baseVersion: string | null, dryRun: boolean): Promise<PolicySaved>
  preset(name: PresetName, dryRun: boolean): Promise<PolicySaved>
  undo(): Promise<PolicySaved>
  simulate(input: {
    readonly command: string
    readonly target: string
    readonly agent: string
    readonly session: string | null
    readonly draft?: PolicyDraft | undefined
  }): Promise<Simulation>
  replay(agent: string, draft: PolicyDraft, limit: number): Promise<Replay>
  grantKinds(): readonly GrantKindView[]
  addGrant(input: {
    readonly agent: string
    readonly target: string
    readonly kinds: readonly string[]
    readonly minutes: number
    readonly note: string | null
  }): GrantView
  revokeGrant(id: string): void
  /** What "allow always" would store for a request that waits. */
  alwaysOffer(execution: ExecutionView, options?: AlwaysOptions): Promise<AlwaysOffer>
  /** Stores what was offered. */
  storeAlways(execution: ExecutionView, entries: readonly AllowlistInput[]): Promise<void>
}

export interface AlwaysOptions {
  /** ms since the epoch, or null for no end. */
  readonly expiresAt: number | null
  readonly scope: 'target' | 'session'
}

export interface PolicyDeskDeps {
  readonly host: PolicySource<ApprovalsFile>
  readonly config: PolicySource<ConfigFile>
  readonly policy: Policy
  readonly data: () => PolicyData
  readonly gate: Pick<Gate, 'weigh' | 'planOf' | 'driftOf'>
  /** Throws `target_unknown`. */
  readonly resolve: (slug: string) => { readonly target: { readonly policySource: 'app' | 'node' } }
  readonly targets: () => readonly { readonly slug: string; readonly tags: readonly string[] }[]
  readonly homeFolder: string
  readonly store: Store
  readonly feed: Feed
  readonly clock: Clock
  readonly ids: Ids
}

const UNDO_SETTING = 'policy.undo'
const UNDO_DEPTH = 20
/** Changed lines of a save that the ledger keeps. */
const LEDGER_LINES = 100

const Undo = z.array(
  z.object({
    at: z.number(),
    what: z.string(),
    files: z.array(z.object({ file: z.enum(['host', 'config']), backup: z.string().nullable(), version: z.string() })),
  }),
)
type Undo = z.infer<typeof Undo>

/** What an absent file begins as. */
const EMPTY: Readonly<Record<PolicyFileName, Json>> = { host: { version: 1 }, config: {} }

const rawOf = (read: SourceRead<unknown>, file: PolicyFileName): Json => (read.kind === 'file' ? read.raw : EMPTY[file])

type LayerField = { readonly value: unknown; readonly from: string }

function layerView(layer: PolicyLayer, from: Readonly<Record<PolicyField, string>>): PolicyLayerView {
  const fields: Partial<Record<PolicyField, LayerField>> = {}
  for (const name of POLICY_FIELDS) fields[name] = { value: layer[name], from: from[name] }
  // Every field of the layer is there with its own type; TypeScript cannot follow the loop.
  return fields as unknown as PolicyLayerView
}

/** Each field of the merge, with the layer that made it so strict. */
function effectiveView(requested: PolicyLayer, host: PolicyLayer): PolicyLayerView {
  const merged = mergeLayers(requested, host)
  const from = Object.fromEntries(
    POLICY_FIELDS.map((name) => [
      name,
      requested[name] === host[name] ? 'both' : merged[name] === host[name] ? 'host' : 'requested',
    ]),
  ) as Record<PolicyField, string>
  return layerView(merged, from)
}

const sourceWords = (
  agent: string,
  general: string,
  from: Readonly<Record<PolicyField, string>>,
): Record<PolicyField, string> =>
  Object.fromEntries(
    POLICY_FIELDS.map((name) => {
      const source = from[name]
      return [
        name,
        source === 'agent' ? `agents.${agent}` : source === 'defaults' || source === 'global' ? general : source,
      ]
    }),
  ) as Record<PolicyField, string>

const closedView = (): PolicyLayerView =>
  layerView(CLOSED, Object.fromEntries(POLICY_FIELDS.map((name) => [name, 'broken'])) as Record<PolicyField, string>)

export function entryView(
  entry: AllowlistEntry,
  notes: ReturnType<typeof inspectAllowlist>,
  index: number,
): AllowlistEntryView {
  const own = notes.filter((note) => note.index === index)
  const shown = (text: string | undefined): string | null => (text === undefined ? null : redact(text).text)
  return {
    id: entry.id ?? '',
    pattern: redact(entry.pattern).text,
    argPattern: shown(entry.argPattern),
    scope: { target: entry.scope?.target ?? null, session: entry.scope?.session ?? null },
    expiresAt: entry.expiresAt ?? null,
    sudo: entry.sudo === true,
    source: shown(entry.source),
    commandText: shown(entry.commandText),
    lastUsedAt: entry.lastUsedAt ?? null,
    lastUsedCommand: shown(entry.lastUsedCommand),
    lastResolvedPath: shown(entry.lastResolvedPath),
    problem: own.find(({ level, rule }) => level === 'error' || rule === 'expired')?.sentence ?? null,
    warnings: own
      .filter(({ level, rule }) => level === 'warning' && rule !== 'expired')
      .map(({ sentence }) => sentence),
  }
}

/** Edits, previews and explains the policy. Every change is one whole save with a backup and an entry in the ledger. */
export function createPolicyDesk(deps: PolicyDeskDeps): PolicyDesk {
  const { policy, store, feed, clock, ids } = deps

  const sourceOf = (file: PolicyFileName): PolicySource<ApprovalsFile> | PolicySource<ConfigFile> =>
    file === 'host' ? deps.host : deps.config

  function record(what: string, data: Readonly<Record<string, unknown>>): void {
    store.appendLedger(
      { kind: 'policy.changed', actor: 'operator', executionId: null, approvalId: null, data: { what, ...data } },
      clock.now(),
    )
    policy.written()
    policy.check()
    feed.publish({ type: 'policy' })
  }

  function undoList(): Undo {
    try {
      return Undo.catch([]).parse(JSON.parse(store.setting(UNDO_SETTING) ?? '[]'))
    } catch {
      return []
    }
  }

  function requireBase(
    source: PolicySource<unknown>,
    read: SourceRead<unknown>,
    base: string | null | undefined,
  ): void {
    if (base === null || base === undefined || base === read.version) return
    const text = read.kind === 'file' ? source.shown(read.raw) : read.kind === 'broken' ? read.text : ''
    throw new NomosError(
      'conflict',
      `${read.path} was changed since you began (yours is of version ${base}, there is ${read.version} now), so nothing was saved. Look at what stands there now and make your change again.`,
      { field: 'baseVersion', detail: text },
    )
  }

  interface Change {
    readonly file: PolicyFileName
    readonly base: string | null | undefined
    /** The whole file as it will be, from what stands there. */
    readonly next: (raw: Json, read: SourceRead<unknown>) => Json
    /** A broken file may be written over as a whole. */
    readonly overBroken?: boolean
  }

  /** Writes one or both files in one step: both locks are held, both texts are good, and only then the first is written. */
  async function write(
    what: string,
    changes: readonly Change[],
    dryRun: boolean,
    remember = true,
  ): Promise<PolicySaved> {
    const [first, second] = changes
    if (first === undefined) throw new Error('nothing to write')
    if (second === undefined)
      return sourceOf(first.file).edit((editing: SourceEditing<unknown>) => commit([[first, editing]]))
    return sourceOf(first.file).edit((one: SourceEditing<unknown>) =>
      sourceOf(second.file).edit((two: SourceEditing<unknown>) =>
        commit([
          [first, one],
          [second, two],
        ]),
      ),
    )

    function commit(pairs: readonly (readonly [Change, SourceEditing<unknown>])[]): PolicySaved {
      const prepared = pairs.map(([change, editing]) => {
        const read = editing.read()
        const source = sourceOf(change.file)
        requireBase(source, read, change.base)
        if (read.kind === 'broken' && change.overBroken !== true)
          throw new NomosError(
            'conflict',
            `${read.path} cannot be used as it is: ${read.problem}. Mend it, restore it or set it aside first.`,
            { detail: read.text },
          )
        const raw = rawOf(read, change.file)
        return { change, editing, raw, ready: editing.prepare(change.next(raw, read)) }
      })
      const changed = prepared.filter(({ ready }) => ready.before !== ready.after)
      const diff = prepared.flatMap(({ change, ready }) => {
        const lines = lineDiff(ready.before, ready.after).map((line) => redact(line).text)
        return pairs.length > 1 && lines.length > 0
          ? [`  ${change.file === 'host' ? 'exec-approvals.json' : 'config.json'}`, ...lines]
          : lines
      })
      const version = prepared.map(({ ready }) => ready.version).join('+')
      if (dryRun || changed.length === 0) return { saved: false, version, diff, backup: null }
      const stamp = stampOf(clock)
      const files: Undo[number]['files'] = []
      try {
        for (const { change, editing, ready } of changed)
          files.push({ file: change.file, backup: editing.commit(stamp), version: ready.version })
      } catch (error) {
        // Half a change is none: what was written already is put back as it was.
        for (const { editing, raw } of changed.slice(0, files.length)) {
          editing.touch(raw)
        }
        policy.written()
        const why = error instanceof Error ? error.message : String(error)
        throw new NomosError('unavailable', `It could not be written, so nothing was saved: ${why}`)
      }
      if (remember) {
        const list = [...undoList(), { at: clock.now(), what, files }].slice(-UNDO_DEPTH)
        store.saveSetting(UNDO_SETTING, JSON.stringify(list))
      }
      const lines = diff.filter((line) => !line.startsWith('  '))
      record(what, {
        files: files.map(({ file, version }) => ({ file, version })),
        lines: lines.slice(0, LEDGER_LINES),
      })
      return { saved: true, version, diff, backup: files.find(({ backup }) => backup !== null)?.backup ?? null }
    }
  }

  function allowlistViews(file: ApprovalsFile | null, agent: string): readonly AllowlistEntryView[] {
    const entries = hostAllowlist(file, agent)
    const notes = inspectAllowlist(entries, clock.now())
    return entries.map((entry, index) => entryView(entry, notes, index))
  }

  function fileView(source: PolicySource<unknown>): PolicyFileView {
    const read = source.read()
    return {
      path: read.path,
      source: read.kind,
      problem: read.kind === 'broken' ? read.problem : null,
      version: read.version,
      restorable: read.kind === 'broken' && source.kept() !== null,
    }
  }

  function views(files: PolicyFiles, agent: string, session: string | null) {
    const override = policy.session(session)
    const requested = files.config === 'broken' ? null : requestedLayer(files.config, agent, override)
    const host = files.host === 'broken' ? null : hostPolicy(files.host, agent)
    return {
      toolDenied: requested?.toolDenied ?? true,
      requested:
        requested === null
          ? closedView()
          : layerView(requested.layer, sourceWords(agent, 'tools.exec', requested.from)),
      host: host === null ? closedView() : layerView(host.layer, sourceWords(agent, 'defaults', host.from)),
      effective: effectiveView(requested?.layer ?? CLOSED, host?.layer ?? CLOSED),
    }
  }

  function filesWith(agent: string, draft: PolicyDraft | undefined): PolicyFiles {
    const now = policy.files()
    if (draft === undefined) return now
    const [host, config] = [deps.host.read(), deps.config.read()]
    const next = withDraft(
      { host: rawOf(host, 'host'), config: rawOf(config, 'config') },
      agent,
      draft,
      deps.data().presets,
    )
    // What is broken stays closed: a draft is not written over it.
    return {
      host: now.host === 'broken' ? 'broken' : next.host,
      config: now.config === 'broken' ? 'broken' : next.config,
    }
  }

  const askerFor = (agent: string, session: string | null): Asker => ({
    agent,
    session,
    runbook: agent.startsWith('runbook:') ? agent.slice('runbook:'.length) : null,
  })

  function presetOf(name: PresetName) {
    const preset = deps.data().presets.find((one) => one.name === name)
    if (preset === undefined)
      throw new NomosError('unavailable', `The preset "${name}" is not there; "nomos policy lint" says what is wrong.`)
    return preset
  }

  const desk: PolicyDesk = {
    inspect(agent, target, session) {
      const { target: found } = deps.resolve(target)
      const files = policy.files()
      const { layers, version } = policy.layers(agent, session)
      void layers
      const shown = views(files, agent, session)
      const host = files.host === 'broken' ? null : files.host
      const config = files.config === 'broken' ? null : files.config
      const bins = policy.safeBins(agent)
      const seen = store.executions({ before: null, limit: 200 }).map(({ principal }) => policyAgent(principal))
      return {
        agent,
        target,
        session,
        managedBy: found.policySource,
        host: { file: fileView(deps.host), layer: shown.host },
        requested: { file: fileView(deps.config), layer: shown.requested },
        effective: shown.effective,
        toolDenied: shown.toolDenied,
        autoAllowSkills: hostAllowsSkills(host, agent).on,
        elevated: policy.session(session)?.elevated === true,
        allowlist: allowlistViews(host, agent),
        safeBins: [
          ...[...bins.bins.keys()].map((name) => ({
            name,
            from: config?.tools?.exec?.safeBinProfiles?.[name] === undefined ? 'built-in' : 'config.json',
            problem: null,
          })),
          ...bins.problems.map(({ name, why }) => ({ name, from: 'config.json', problem: why })),
        ],
        skills: [...policy.skills(agent).bins.keys()],
        grants: policy.grants().filter((grant) => grant.agent === agent),
        agents: [
          ...new Set(['main', ...Object.keys(host?.agents ?? {}), ...Object.keys(config?.agents ?? {}), ...seen]),
        ].sort(),
        presets: deps.data().presets.map((preset) => {
          // What holds for an agent that neither file names.
          const general = { ...hostPolicy(host, '').layer, autoAllowSkills: hostAllowsSkills(host, '').on }
          const asked = requestedLayer(config, '', null).layer
          const same =
            files.host !== 'broken' &&
            files.config !== 'broken' &&
            Object.entries(preset.approvals).every(
              ([name, value]) => general[name as keyof typeof general] === value,
            ) &&
            Object.entries(preset.config).every(([name, value]) => asked[name as keyof typeof asked] === value)
          return {
            name: preset.name,
            title: preset.title,
            consequences: [preset.consequences],
            opens: preset.opens,
            dangerous: preset.dangerous,
            active: same,
          }
        }),
        undo: undoList()
          .map(({ at, what }) => ({ at, what }))
          .reverse(),
        version,
      }
    },

    async save({ layer, agent, fields, baseVersion, baseConfigVersion }) {
      if (layer !== 'both') requireFields(layer, fields)
      const host: Change = { file: 'host', base: baseVersion, next: (raw) => withHostFields(raw, agent, fields) }
      const config: Change = {
        file: 'config',
        base: layer === 'requested' ? (baseConfigVersion ?? baseVersion) : baseConfigVersion,
        next: (raw) => withConfigFields(raw, agent, fields),
      }
      const names = Object.keys(fields).join(', ')
      return write(
        `${names} of ${agent ?? 'all agents'} (${layer})`,
        layer === 'host' ? [host] : layer === 'requested' ? [config] : [config, host],
        false,
      )
    },

    async allowlistAdd(agent, entry, baseVersion) {
      const id = ids.next('alw')
      for (const field of ['pattern', 'argPattern'] as const)
        if (redact(entry[field] ?? '').found.length > 0)
          throw new NomosError(
            'bad_input',
            `"entry.${field}" holds a secret, and the file is no place for one. Match around it.`,
            {
              field: `entry.${field}`,
            },
          )
      const text = entry.commandText === undefined ? {} : { commandText: redact(entry.commandText).text }
      const written = entryOf({ ...entry, ...text }, { id, source: 'operator' })
      await write(
        `allowlist of ${agent}: ${redact(entry.pattern).text} added`,
        [{ file: 'host', base: baseVersion, next: (raw) => withAllowlist(raw, agent, (list) => [...list, written]) }],
        false,
      )
      const files = policy.files()
      const view = allowlistViews(files.host === 'broken' ? null : files.host, agent).find((one) => one.id === id)
      if (view === undefined) throw new Error('the entry is not there after it was saved')
      return view
    },

    async allowlistRemove(agent, id, baseVersion) {
      const { host } = policy.files()
      const known = hostAllowlist(host === 'broken' ? null : host, agent).find((entry) => entry.id === id)
      if (known === undefined && host !== 'broken')
        throw new NomosError('not_found', `${agent} has no allowlist entry "${id}".`, { field: 'id' })
      await write(
        `allowlist of ${agent}: ${redact(known?.pattern ?? id).text} removed`,
        [{ file: 'host', base: baseVersion, next: (raw) => withAllowlist(raw, agent, withoutEntry(id)) }],
        false,
      )
    },

    fileGet(file) {
      const source = sourceOf(file)
      const read = source.read()
      return {
        path: read.path,
        source: read.kind,
        problem: read.kind === 'broken' ? read.problem : null,
        text: read.kind === 'file' ? source.shown(read.raw) : read.kind === 'broken' ? withoutTokenText(read.text) : '',
        version: read.version,
      }
    },

    async fileSet(file, text, baseVersion, dryRun) {
      const source = sourceOf(file)
      const given = source.parse(text)
      return write(
        `${file === 'host' ? 'exec-approvals.json' : 'config.json'} as a whole`,
        [
          {
            file,
            base: baseVersion,
            overBroken: true,
            next: (raw, read) =>
              file === 'host' ? withSocketOf(read.kind === 'broken' ? (source.kept() ?? raw) : raw, given) : given,
          },
        ],
        dryRun,
      )
    },

    async preset(name, dryRun) {
      const preset = presetOf(name)
      return write(
        `preset ${name}`,
        [
          { file: 'config', base: null, next: (raw) => withConfigFields(raw, null, presetFields(preset).config) },
          { file: 'host', base: null, next: (raw) => withHostPreset(raw, preset) },
        ],
        dryRun,
      )
    },

    async undo() {
      const list = undoList()
      const last = list.at(-1)
      if (last === undefined) throw new NomosError('not_found', 'There is no save to take back.')
      const changes = last.files.map(({ file, backup, version }): Change => {
        const kept = backup === null ? EMPTY[file] : sourceOf(file).kept(backup)
        if (kept === null)
          throw new NomosError('not_found', `The backup ${backup ?? ''} is gone, so this save cannot be taken back.`)
        return { file, base: version, next: () => kept }
      })
      const saved = await write(`taken back: ${last.what}`, changes, false, false)
      store.saveSetting(UNDO_SETTING, JSON.stringify(list.slice(0, -1)))
      return saved
    },

    async simulate({ command, target, agent, session, draft }) {
      deps.resolve(target)
      if (command.trim() === '')
        throw new NomosError('command_empty', 'The command is empty. Write what should run.', { field: 'command' })
      if (command.includes('\0'))
        throw new NomosError('command_nul', 'The command holds a NUL character. Remove it.', { field: 'command' })
      const files = filesWith(agent, draft)
      const weighed = await deps.gate.weigh(askerFor(agent, session), { target, command, cwd: null }, files)
      const { decision, vouch, looked } = weighed
      const strict = (verdict: string): boolean => verdict === decision.outcome
      return {
        command: redact(command).text,
        decision,
        segments:
          looked.segments?.map(({ argv, span, viaSudo, path }, index) => {
            const match = vouch.match.perSegment[index]
            return {
              argv: argv.map((word) => redact(word).text),
              span,
              viaSudo,
              path,
              by: match?.by ?? null,
              entryId: match?.entryId ?? null,
              why: redact(match?.why ?? 'Nothing was compared.').text,
            }
          }) ?? null,
        deciding: decision.trace.find(({ verdict }) => strict(verdict)) ?? null,
        effective: views(files, agent, session).effective,
      }
    },

    async replay(agent, draft, limit) {
      const [now, then] = [policy.files(), filesWith(agent, draft)]
      let considered = 0
      let wouldNotAsk = 0
      let wouldAskMore = 0
      let destructiveAmongThem = 0
      let skipped = 0
      const examples: Replay['examples'][number][] = []
      for (const execution of store.executions({ before: null, limit })) {
        if (policyAgent(execution.principal) !== agent) continue
        const compared = execution.redacted ? null : await compare(execution, now, then)
        if (compared === null) {
          skipped += 1
          continue
        }
        considered += 1
        const { before, after } = compared
        const [was, is] = [OUTCOMES.indexOf(before), OUTCOMES.indexOf(after)]
        if (was === is) continue
        if (is > was) wouldAskMore += 1
        else if (after === 'auto') {
          wouldNotAsk += 1
          if (execution.risk === 'destructive') destructiveAmongThem += 1
        }
        if (examples.length < 20)
          examples.push({ executionId: execution.id, command: execution.command, before, after })
      }
      return { considered, wouldNotAsk, wouldAskMore, destructiveAmongThem, skipped, examples }
    },

    grantKinds: () =>
      [...deps.data().grantKinds.kinds.values()].map(({ id, summary }) => ({
        id,
        title: id.replaceAll('-', ' '),
        sentence: summary,
      })),

    addGrant({ agent, target, kinds, minutes, note }) {
      const known = deps.data().grantKinds.kinds
      const wrong = kinds.find((kind) => !known.has(kind) && !/^runbook:[A-Za-z0-9_.-]+$/.test(kind))
      if (wrong !== undefined)
        throw new NomosError(
          'bad_input',
          `"${wrong}" cannot be granted. Choose of: ${[...known.keys()].join(', ')}, runbook:<id>.`,
          {
            field: 'kinds',
          },
        )
      const group = /^group:(.+)$/.exec(target)?.[1]
      if (group === undefined) deps.resolve(target)
      else if (!deps.targets().some(({ tags }) => tags.includes(group)))
        throw new NomosError('target_unknown', `No target has the tag "${group}".`, { field: 'target' })
      const at = clock.now()
      const grant: GrantView = {
        id: ids.next('grt'),
        agent,
        target,
        kinds: [...new Set(kinds)],
        createdAt: at,
        expiresAt: at + minutes * 60_000,
        note: redact((note ?? '').trim()).text,
      }
      policy.addGrant(grant, 'operator')
      return grant
    },
    revokeGrant(id) {
      if (!policy.revokeGrant(id, 'operator'))
        throw new NomosError('not_found', 'This grant has run out or was revoked already.', { field: 'id' })
    },

    async alwaysOffer(execution, options = { expiresAt: null, scope: 'target' }) {
      const no = (refusal: string): AlwaysOffer => ({ entries: [], refusal })
      if (execution.state !== 'pending_approval') return no('It does not wait for an answer any more.')
      const plan = deps.gate.planOf(execution.id)
      if (plan === null || plan.script === null) return no('What was asked for is not there any more in its own words.')
      if (Object.keys(plan.env).length > 0) return no('It gets variables of its own, which an entry does not hold.')
      if (plan.input) return no('It is given something to read, which an entry does not hold.')
      const asker = askerFor(policyAgent(execution.principal), execution.session)
      const weighed = await deps.gate.weigh(asker, {
        target: execution.target,
        command: plan.script,
        cwd: plan.cwd,
        declaredRisk: execution.declaredRisk,
      })
      const { classification, question, layers, looked, vouch } = weighed
      // The run would be refused, and what would be stored is not what was on the card.
      const drift = deps.gate.driftOf(plan, weighed)
      if (drift.length > 0) return no(`It changed since it was asked for: ${drift.join(', ')}. Ask again.`)
      if (classification.flags.self) return no('It reaches Nomos itself, which is never let through.')
      if (classification.risk === 'destructive') return no('It cannot be undone, so it is asked about each time.')
      // Would it run unasked from then on at all?
      const then = decide({ ...question, matched: true }, layers.layers)
      const against = then.trace.find(({ verdict }) => verdict === then.outcome)
      if (then.outcome !== 'auto')
        return no(`It would be asked about all the same: ${against?.sentence ?? 'the policy wants it so.'}`)
      if (vouch.all) return no('It is let through already; what asks is something else on its card.')
      // What is let through already (a safe bin behind a pipe) needs no entry.
      const missing = looked.segments?.filter((_, index) => vouch.match.perSegment[index]?.by == null) ?? null
      const answer = entriesFor(
        missing,
        {
          agent: asker.agent,
          target: execution.target,
          targetKind: looked.resolved.target.kind,
          session: execution.session,
          now: clock.now(),
          home: looked.resolved.target.kind === 'local' ? deps.homeFolder : '',
          cwd: plan.cwd ?? '',
        },
        { expiresAt: options.expiresAt, session: options.scope === 'session' },
      )
      return 'refusal' in answer ? no(answer.refusal) : { entries: answer.entries.map(inputOf), refusal: null }
    },

    async storeAlways(execution, entries) {
      const agent = policyAgent(execution.principal)
      const written = entries.map((entry) => entryOf(entry, { id: ids.next('alw'), source: 'approval' }))
      await write(
        `allowlist of ${agent}: always allowed ${execution.command.slice(0, 200)} on ${execution.target}`,
        [{ file: 'host', base: null, next: (raw) => withAllowlist(raw, agent, (list) => [...list, ...written]) }],
        false,
      )
    },
  }

  /** What two policies say about something that was asked for once; null when its place is gone. */
  async function compare(
    execution: ExecutionView,
    now: PolicyFiles,
    then: PolicyFiles,
  ): Promise<{ before: Outcome; after: Outcome } | null> {
    // Sessions end; what was typed in one says nothing about the files.
    const asker = askerFor(policyAgent(execution.principal), null)
    const command = { target: execution.target, command: execution.command, cwd: execution.cwd }
    try {
      const before = await deps.gate.weigh(asker, command, now, execution.classification)
      const after = await deps.gate.weigh(asker, command, then, execution.classification)
      return { before: before.decision.outcome, after: after.decision.outcome }
    } catch (error) {
      if (error instanceof NomosError) return null
      throw error
    }
  }

  return desk
}

/** An entry in the words of the contract. Its agent is the list it stands in. */
function inputOf({ pattern, argPattern, scope, expiresAt, sudo, commandText }: AllowlistEntry): AllowlistInput {
  return {
    pattern,
    ...(argPattern === undefined ? {} : { argPattern }),
    ...(scope === undefined
      ? {}
      : {
          scope: {
            ...(scope.target === undefined ? {} : { target: scope.target }),
            ...(scope.session === undefined ? {} : { session: scope.session }),
          },
        }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(sudo === undefined ? {} : { sudo }),
    ...(commandText === undefined ? {} : { commandText }),
  }
}

/** A text that could not be read as a file still must not show what stands behind "token". */
export const withoutTokenText = (text: string): string =>
  text.replace(/(["']?token["']?\s*:\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,}]+)/g, '$1"…"')

/** The given file with the socket of the one that stands there: a text from outside neither knows nor changes its token. */
function withSocketOf(before: Json, given: Json): Json {
  const { socket, ...rest } = given
  const own = before.socket
  const token = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'token' in value ? value.token : undefined
  if (token(socket) !== undefined && token(own) !== undefined && token(socket) !== token(own)) {
    throw new NomosError(
      'bad_input',
      '"socket.token" is not the token of the file that stands there. Leave "socket" out: it is kept as it is. Nothing was saved.',
      { field: 'text' },
    )
  }
  const kept = own ?? socket
  return kept === undefined ? rest : { ...rest, socket: kept }
}
