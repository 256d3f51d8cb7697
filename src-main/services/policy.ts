import { z } from 'zod'
import type { Classification, GrantView, PolicyView, Principal, TraceStep } from '../../src-preload/contract/model'
import { Ask, Security } from '../../src-preload/contract/model'
import { canonicalJson, sha256 } from '../domain/ledger'
import {
  type Allowlist,
  type AllowlistEntry,
  type ApprovalsFile,
  CLOSED,
  type ConfigFile,
  compileAllowlist,
  compileSafeBins,
  compileSkills,
  ExecHost,
  execSettings,
  Grant,
  type GrantKinds,
  grantCovers,
  grantRuns,
  hostAllowlist,
  hostAllowsSkills,
  hostPolicy,
  hostRefusal,
  type Match,
  matchSegments,
  matchTrace,
  mergeLayers,
  type NamedLayer,
  NO_SAFE_BINS,
  NO_SKILLS,
  type Preset,
  type ResolvedSegment,
  requestedLayer,
  type SafeBins,
  type SafeBinsFile,
  type SessionOverride,
  type SkillBins,
  type Skills,
  type Switches,
} from '../domain/policy'
import { redact } from '../domain/redact'
import type { Clock, Feed, Log, PolicySource, Store } from '../ports'
import type { Health } from './health'
import { COMPOUND_SETTING } from './settings'

/** The shipped data of the exec policy (`policies/`). */
export interface PolicyData {
  readonly safeBins: SafeBinsFile
  readonly grantKinds: GrantKinds
  readonly presets: readonly Preset[]
}

/** Both files as they are looked at: null where there is none, `broken` where one cannot be understood. */
export interface PolicyFiles {
  readonly host: ApprovalsFile | null | 'broken'
  readonly config: ConfigFile | null | 'broken'
}

/** The layers for one agent in one session, with the version that goes into a plan. */
export interface Layers {
  readonly layers: readonly NamedLayer[]
  /** `tools.deny: [run]` stands for this agent. */
  readonly toolDenied: boolean
  /** Of everything that these layers depend on. Entries of an allowlist are no part of it: who was asked did not rely on them. */
  readonly version: string
  /** `askFallback` stands in one of the files; otherwise it is only what is built in. */
  readonly fallbackSet: boolean
}

/** Who asks for what, as far as the policy looks at it. */
export interface VouchQuestion {
  readonly agent: string
  readonly session: string | null
  readonly target: { readonly slug: string; readonly kind: 'local' | 'ssh' | 'lxc'; readonly tags: readonly string[] }
  /** The runbook that asks, if one does. */
  readonly runbook: string | null
  readonly cwd: string
  /** Where `~` is at the target; empty when that is not known. */
  readonly home: string
  /** null where the words of the command cannot be known. */
  readonly segments: readonly ResolvedSegment[] | null
  readonly classification: Classification
}

/** Who vouches for a command, so that it may run without a question. */
export interface Vouch {
  readonly all: boolean
  readonly match: Match
  /** The grant that covers it as a whole; null when none does or none was needed. */
  readonly grant: GrantView | null
  /** Steps for the trace, one for each segment, or one for the grant. */
  readonly steps: readonly TraceStep[]
  /** Names everything that was relied on: the entries word for word, the files the programs are. Part of an automatic plan. */
  readonly basis: string
}

export interface Policy {
  files(): PolicyFiles
  /** The layers as they stand at this moment, or as they would with other files. */
  layers(agent: string, session: string | null, files?: PolicyFiles): Layers
  vouch(question: VouchQuestion, files?: PolicyFiles): Vouch
  /** Remembers that entries were used. Written into the file a moment later; it is no other policy for that. */
  used(agent: string, vouch: Vouch, segments: readonly ResolvedSegment[] | null): void
  /** Writes what `used` has remembered. */
  flush(): Promise<void>
  /** Why commands may not go to this target while `tools.exec.host` is what it is; null when they may. */
  placeRefusal(agent: string, session: string | null, policySource: 'app' | 'node'): string | null
  /** Whether an entry of this agent names a path of that target, so that it has to be asked where its programs are. */
  locates(agent: string, target: string, files?: PolicyFiles): boolean
  /** Whether the parts of a shown command are coloured. Nothing is decided by it. */
  highlighting(agent: string): boolean
  safeBins(agent: string): SafeBins
  skills(agent: string): Skills
  switches(): Switches
  setSwitch(name: keyof Switches, on: boolean, actor: string): void
  /** Targets at which nothing runs by itself. */
  neverAuto(): readonly string[]
  setNeverAuto(target: string, on: boolean, actor: string): void
  /** What the operator typed for a session; null when nothing. */
  session(id: string | null): SessionOverride | null
  /** Changes what holds for a session. Only ever called for what an operator typed into the composer. */
  setSession(id: string, change: SessionOverride, actor: string): SessionOverride
  clearSession(id: string, actor: string): void
  grants(): readonly GrantView[]
  addGrant(grant: GrantView, actor: string): void
  /** False when there is none of this id that still runs. */
  revokeGrant(id: string, actor: string): boolean
  show(agent: string): PolicyView
  /**
   * Looks at both files, raises or clears their health problems, and writes a change that nobody made here (an editor, another program)
   * into the ledger.
   */
  check(): void
  /** Says that what stands in the files now was written here. */
  written(): void
  /** Looks at the files every few seconds, so that windows show an outside edit before the next decision. */
  watch(): void
  close(): Promise<void>
}

export interface PolicyDeps {
  readonly host: PolicySource<ApprovalsFile>
  readonly config: PolicySource<ConfigFile>
  readonly data: () => PolicyData
  /** Executables that the metadata of known skills names. */
  readonly skills: () => readonly SkillBins[]
  readonly store: Store
  readonly feed: Feed
  readonly health: Health
  readonly clock: Clock
  readonly log: Log
}

/** What holds while that data cannot be used: nothing is safe, nothing can be granted, there are no presets. */
export const NO_POLICY_DATA: PolicyData = {
  safeBins: { trusted_dirs: [], bins: [] },
  grantKinds: { kinds: new Map() },
  presets: [],
}

const SESSION_SETTING = 'policy.session.'
const NEVER_AUTO_SETTING = 'never_auto_act.'
const GRANT_SETTING = 'policy.grant.'
/** How long uses are collected before they are written. */
const USED_AFTER_MS = 5_000
/** How often the files are looked at while nobody asks for anything. */
const WATCH_MS = 3_000
const SEEN_SETTING = 'policy.seen.'
/** Longest command that is kept as the last one, in UTF-16 units. */
const USED_COMMAND = 500

const StoredOverride = z.object({
  security: Security.optional(),
  ask: Ask.optional(),
  host: ExecHost.optional(),
})

export const stampOf = (clock: Clock): string => new Date(clock.now()).toISOString().replace(/[:.]/g, '-')

interface Use {
  readonly agent: string
  readonly id: string
  readonly at: number
  readonly command: string
  readonly path: string | null
}

export function createPolicy(deps: PolicyDeps): Policy {
  const { store, feed, health, clock, log } = deps
  /** `/elevated` ends with the app: nobody should find a broken glass the next morning. */
  const elevated = new Set<string>()
  const uses = new Map<string, Use>()
  let forget: (() => void) | null = null
  /** Compiled once for each content of a file. */
  const allowlists = new WeakMap<ApprovalsFile, Map<string, Allowlist>>()
  const bins = new WeakMap<object, Map<string, SafeBins>>()
  const NO_CONFIG = {}
  /** Versions of the files that the ledger knows of. */
  const seen = new Map<string, string>()
  let stopWatch: (() => void) | null = null

  function record(actor: string, data: Readonly<Record<string, unknown>>): void {
    store.appendLedger({ kind: 'policy.changed', actor, executionId: null, approvalId: null, data }, clock.now())
    feed.publish({ type: 'policy' })
  }

  function cached<T>(kept: Map<string, T>, key: string, make: () => T): T {
    let value = kept.get(key)
    if (value === undefined) {
      value = make()
      kept.set(key, value)
    }
    return value
  }

  function allowlistOf(file: PolicyFiles['host'], agent: string): Allowlist {
    if (file === null || file === 'broken') return compileAllowlist([])
    let kept = allowlists.get(file)
    if (kept === undefined) {
      kept = new Map()
      allowlists.set(file, kept)
    }
    return cached(kept, agent, () => compileAllowlist(hostAllowlist(file, agent)))
  }

  function safeBinsOf(config: PolicyFiles['config'], agent: string): SafeBins {
    if (config === 'broken') return NO_SAFE_BINS
    const key = config ?? NO_CONFIG
    let kept = bins.get(key)
    if (kept === undefined) {
      kept = new Map()
      bins.set(key, kept)
    }
    return cached(kept, agent, () => compileSafeBins(deps.data().safeBins, execSettings(config, agent, null)))
  }

  function skillsOf(file: PolicyFiles['host'], agent: string): Skills {
    if (file === null || file === 'broken' || !hostAllowsSkills(file, agent).on) return NO_SKILLS
    return compileSkills(deps.skills())
  }

  function storedGrants(): readonly GrantView[] {
    return Object.values(store.settings(GRANT_SETTING))
      .flatMap((text) => {
        try {
          const grant = Grant.safeParse(JSON.parse(text))
          return grant.success ? [grant.data] : []
        } catch {
          return []
        }
      })
      .sort((a, b) => a.expiresAt - b.expiresAt)
  }

  /** Health of one file: a broken one closes everything until somebody mends, restores or sets it aside. */
  function checkFile<T>(
    source: PolicySource<T>,
    code: 'approvals_file_broken' | 'config_file_broken',
    name: string,
    without: string,
  ): void {
    const read = source.read()
    if (read.kind !== 'broken') {
      health.clear(code)
      return
    }
    const kept = source.kept()
    health.set(
      {
        code,
        sentence: `${name} cannot be used: ${read.problem}. Nothing runs until it is mended, restored or set aside.`,
        path: read.path,
        blocksRuns: true,
        actions: [
          { id: 'recheck', label: 'Check again' },
          ...(kept === null ? [] : [{ id: 'restore', label: 'Restore the last good copy' }]),
          { id: 'set-aside', label: without },
        ],
      },
      async (action) => {
        if (source.read().kind === 'broken') {
          const stamp = stampOf(clock)
          if (action === 'set-aside') {
            const to = source.setAside(stamp)
            policy.written()
            record('operator', { setAside: source.path, to })
          } else if (action === 'restore' && kept !== null) {
            await source.edit((file) => {
              // Mended meanwhile: nothing is put over it.
              if (file.read().kind !== 'broken') return
              const to = source.setAside(stamp)
              file.prepare(kept)
              file.commit(stamp)
              policy.written()
              record('operator', { restored: source.path, to })
            })
          }
        }
        policy.check()
        feed.publish({ type: 'policy' })
      },
    )
  }

  function keepSeen(file: string, version: string): void {
    seen.set(file, version)
    store.saveSetting(`${SEEN_SETTING}${file}`, version)
  }

  const policy: Policy = {
    files() {
      const host = deps.host.read()
      const config = deps.config.read()
      return {
        host: host.kind === 'broken' ? 'broken' : host.kind === 'file' ? host.file : null,
        config: config.kind === 'broken' ? 'broken' : config.kind === 'file' ? config.file : null,
      }
    },

    layers(agent, session, files) {
      if (files === undefined) policy.check()
      const { host, config } = files ?? policy.files()
      const override = policy.session(session)
      const requested = config === 'broken' ? null : requestedLayer(config, agent, override)
      const own = host === 'broken' ? null : hostPolicy(host, agent)
      const layers: readonly NamedLayer[] = [
        { name: 'requested-policy', layer: requested?.layer ?? CLOSED },
        { name: 'host-policy', layer: own?.layer ?? CLOSED },
      ]
      const toolDenied = requested?.toolDenied ?? true
      // A plan agreed to under another posture is another plan.
      const posture = store.setting(COMPOUND_SETTING) ?? 'never'
      return {
        layers,
        toolDenied,
        fallbackSet: [own?.from.askFallback, requested?.from.askFallback].some(
          (from) => from !== undefined && from !== 'built-in',
        ),
        version: sha256(canonicalJson({ layers, toolDenied, posture })).slice(0, 16),
      }
    },

    vouch(question, files) {
      const { agent, session, target, segments, classification } = question
      const { host, config } = files ?? policy.files()
      const now = clock.now()
      const trusted = config === 'broken' ? null : execSettings(config, agent, null).safeBinTrustedDirs
      const match = matchSegments(
        allowlistOf(host, agent),
        safeBinsOf(config, agent),
        skillsOf(host, agent),
        segments === null || trusted === null ? segments : segments.map((segment) => trustedBy(segment, trusted)),
        {
          agent,
          target: target.slug,
          targetKind: target.kind,
          session,
          now,
          home: question.home,
          cwd: question.cwd,
        },
      )
      if (match.all && segments !== null) {
        const entries = host === null || host === 'broken' ? [] : hostAllowlist(host, agent)
        return {
          all: true,
          match,
          grant: null,
          steps: matchTrace(match, segments).map((step) => ({ ...step, sentence: redact(step.sentence).text })),
          basis: basisOf(match, segments, entries),
        }
      }
      const { grantKinds } = deps.data()
      const asked = {
        classification,
        segments,
        agent,
        target: target.slug,
        tags: target.tags,
        runbook: question.runbook,
      }
      const grant = storedGrants().find((one) => grantCovers(grantKinds, one, asked, now)) ?? null
      if (grant === null) return { all: false, match, grant, steps: [], basis: '' }
      const until = new Date(grant.expiresAt).toISOString().slice(11, 16)
      return {
        all: true,
        match,
        grant,
        steps: [
          {
            layer: 'host-policy',
            rule: `grant:${grant.id}`,
            verdict: 'match',
            sentence: `You granted ${grant.kinds.join(' and ')} on ${grant.target} until ${until} UTC.`,
            spans: [],
          },
        ],
        basis: sha256(canonicalJson({ grant, programs: (segments ?? []).map(programOf) })).slice(0, 16),
      }
    },

    used(agent, vouch, segments) {
      vouch.match.perSegment.forEach(({ entryId }, index) => {
        const segment = segments?.[index]
        if (entryId === null || segment === undefined) return
        uses.set(`${agent}\n${entryId}`, {
          agent,
          id: entryId,
          at: clock.now(),
          command: redact(segment.argv.join(' ')).text.slice(0, USED_COMMAND),
          path: segment.path,
        })
      })
      if (uses.size > 0) {
        forget ??= clock.after(USED_AFTER_MS, () => {
          void policy.flush()
        })
      }
    },

    async flush() {
      forget?.()
      forget = null
      if (uses.size === 0) return
      const collected = new Map(uses)
      uses.clear()
      try {
        await deps.host.edit((file) => {
          const read = file.read()
          // A file that is broken or gone is nobody's to write for this.
          if (read.kind !== 'file') return
          file.touch({ ...read.raw, agents: withUses(read.file, collected) })
        })
      } catch (error) {
        log.warn('the last use of allowlist entries was not written', { error: String(error) })
      }
    },

    placeRefusal(agent, session, policySource) {
      const { config } = policy.files()
      if (config === 'broken') return null
      const { host } = execSettings(config, agent, policy.session(session))
      return hostRefusal(host, policySource === 'node' ? 'node' : host === 'node' ? 'local' : null)
    },

    locates(agent, target, files) {
      const { host } = files ?? policy.files()
      if (host === null || host === 'broken') return false
      return hostAllowlist(host, agent).some(({ pattern, scope }) => scope?.target === target && pattern.includes('/'))
    },

    highlighting(agent) {
      const { config } = policy.files()
      return config !== 'broken' && execSettings(config, agent, null).commandHighlighting
    },
    safeBins: (agent) => safeBinsOf(policy.files().config, agent),
    skills: (agent) => skillsOf(policy.files().host, agent),

    switches: () => ({
      askAboutEverything: store.setting('switch.askAboutEverything') === 'on',
      pauseAutomatic: store.setting('switch.pauseAutomatic') === 'on',
    }),
    setSwitch(name, on, actor) {
      if (policy.switches()[name] === on) return
      store.saveSetting(`switch.${name}`, on ? 'on' : null)
      record(actor, { switch: name, on })
    },

    neverAuto: () => Object.keys(store.settings(NEVER_AUTO_SETTING)).sort(),
    setNeverAuto(target, on, actor) {
      if (policy.neverAuto().includes(target) === on) return
      store.saveSetting(`${NEVER_AUTO_SETTING}${target}`, on ? 'on' : null)
      record(actor, { neverAuto: target, on })
    },

    session(id) {
      if (id === null) return null
      const text = store.setting(`${SESSION_SETTING}${id}`)
      let stored: SessionOverride = {}
      if (text !== null) {
        try {
          // What cannot be read any more may have been a stricter wish: it asks about everything until it is typed again.
          stored = withoutGaps(StoredOverride.catch({ ask: 'always' }).parse(JSON.parse(text)))
        } catch {
          stored = { ask: 'always' }
        }
      }
      if (elevated.has(id)) stored = { ...stored, elevated: true }
      return Object.keys(stored).length === 0 ? null : stored
    },
    setSession(id, change, actor) {
      const { elevated: raise, ...rest } = change
      const { elevated: _raised, ...before } = policy.session(id) ?? {}
      if (raise === true) elevated.add(id)
      else if (raise === false) elevated.delete(id)
      const next = withoutGaps({ ...before, ...withoutGaps(rest) })
      store.saveSetting(`${SESSION_SETTING}${id}`, Object.keys(next).length === 0 ? null : JSON.stringify(next))
      record(actor, { session: id, ...withoutGaps(rest), ...(raise === undefined ? {} : { elevated: raise }) })
      return policy.session(id) ?? {}
    },
    clearSession(id, actor) {
      if (policy.session(id) === null) return
      elevated.delete(id)
      store.saveSetting(`${SESSION_SETTING}${id}`, null)
      record(actor, { session: id, cleared: true })
    },

    grants: () => storedGrants().filter((grant) => grantRuns(grant, clock.now())),
    addGrant(grant, actor) {
      for (const old of storedGrants())
        if (!grantRuns(old, clock.now())) store.saveSetting(`${GRANT_SETTING}${old.id}`, null)
      store.saveSetting(`${GRANT_SETTING}${grant.id}`, JSON.stringify(grant))
      record(actor, { grant: { ...grant } })
    },
    revokeGrant(id, actor) {
      if (!policy.grants().some((grant) => grant.id === id)) return false
      store.saveSetting(`${GRANT_SETTING}${id}`, null)
      record(actor, { grantRevoked: id })
      return true
    },

    show(agent) {
      const read = deps.host.read()
      const config = deps.config.read()
      const { layers, version } = policy.layers(agent, null)
      const merged = layers.map(({ layer }) => layer).reduce(mergeLayers)
      return {
        source: read.kind,
        path: read.path,
        problem:
          read.kind === 'broken' ? read.problem : config.kind === 'broken' ? `config.json: ${config.problem}` : null,
        ...merged,
        ...policy.switches(),
        neverAuto: policy.neverAuto(),
        elevated: [...elevated],
        open: merged.security === 'full' && merged.ask === 'off' && !merged.riskGate,
        version,
      }
    },

    check() {
      for (const [file, { path, version }] of [
        ['host', deps.host.read()],
        ['config', deps.config.read()],
      ] as const) {
        const before = seen.get(file) ?? store.setting(`${SEEN_SETTING}${file}`)
        if (before === version) {
          seen.set(file, version)
          continue
        }
        keepSeen(file, version)
        if (before !== null) record('outside', { changed: path, from: before, to: version })
      }
      checkFile(deps.host, 'approvals_file_broken', 'The approvals file', 'Set it aside and use the cautious policy')
      checkFile(deps.config, 'config_file_broken', 'The file config.json', 'Set it aside and use what is built in')
    },

    written() {
      keepSeen('host', deps.host.read().version)
      keepSeen('config', deps.config.read().version)
    },

    watch() {
      stopWatch = clock.after(WATCH_MS, () => {
        policy.check()
        policy.watch()
      })
    },

    async close() {
      stopWatch?.()
      await policy.flush()
    },
  }
  return policy
}

/** The policy agent of a principal: chat and composer share one. Whatever a client calls itself, it is never that one or another kind's. */
export const policyAgent = ({ kind, id }: Principal): string =>
  kind === 'operator' || kind === 'agent' ? 'main' : id.startsWith(`${kind}:`) ? id : `${kind}:${id}`

/** A folder that the operator has named as trusted makes what lies in it trusted, as the system's own folders do. */
function trustedBy(segment: ResolvedSegment, folders: readonly string[]): ResolvedSegment {
  const { path, real } = segment
  if (segment.trusted || path === null || real === null) return segment
  const within = (file: string): boolean =>
    folders.some((folder) => file.slice(0, file.lastIndexOf('/')) === folder.replace(/\/+$/, ''))
  return within(path) && within(real) ? { ...segment, trusted: true } : segment
}

const programOf = ({ argv, path, real, viaSudo, wrappers }: ResolvedSegment): unknown => ({
  argv,
  path,
  real,
  viaSudo,
  wrappers,
})

/** A change of an entry that was relied on, or of what a name leads to, is another basis. When it was last used is not. */
function basisOf(match: Match, segments: readonly ResolvedSegment[], entries: readonly AllowlistEntry[]): string {
  const relied = match.perSegment.map(({ rule, entryId }, index) => {
    const entry = entryId === null ? null : (entries.find(({ id }) => id === entryId) ?? null)
    const { lastUsedAt: _at, lastUsedCommand: _command, lastResolvedPath: _path, ...words } = entry ?? {}
    const segment = segments[index]
    return { rule, entry: entry === null ? null : words, program: segment === undefined ? null : programOf(segment) }
  })
  return sha256(canonicalJson(relied)).slice(0, 16)
}

function withUses(file: ApprovalsFile, uses: ReadonlyMap<string, Use>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(file.agents ?? {}).map(([agent, section]) => {
      const allowlist = section.allowlist?.map((entry) => {
        const use = uses.get(`${agent}\n${entry.id ?? ''}`)
        if (use === undefined || (entry.lastUsedAt ?? 0) >= use.at) return entry
        return {
          ...entry,
          lastUsedAt: use.at,
          lastUsedCommand: use.command,
          ...(use.path === null ? {} : { lastResolvedPath: use.path }),
        }
      })
      return [agent, allowlist === undefined ? section : { ...section, allowlist }]
    }),
  )
}

function withoutGaps<T extends object>(some: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
