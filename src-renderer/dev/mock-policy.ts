import type {
  AllowlistEntryView,
  AllowlistInput,
  ErrorCode,
  FeedEvent,
  GrantKindView,
  GrantView,
  PolicyDraft,
  PolicyFields,
  PolicyInspection,
  PolicyLayerView,
  PolicySaved,
  PolicyView,
  PresetName,
  Risk,
  RouteArgument,
  RouteName,
  RouteOutput,
  Simulation,
  TraceStep,
} from '../../src-preload/contract'

/** Plays the policy's files, its lists and its grants. The verdicts are rough: they are for looking at, not for trusting. */

type Values = Record<string, string | boolean>
interface Files {
  hostDefaults: Values
  hostAgents: Record<string, Values>
  config: Values
  configAgents: Record<string, Values>
  allowlist: Record<string, AllowlistEntryView[]>
}

interface Past {
  readonly at: number
  readonly what: string
  readonly files: Files
}

const BUILT_IN: Values = {
  security: 'allowlist',
  ask: 'on-miss',
  askFallback: 'deny',
  autoAllowReadOnly: true,
  riskGate: true,
  strictInlineEval: true,
  autoAllowSkills: false,
}

const PRESETS: Readonly<
  Record<PresetName, { title: string; consequences: string[]; opens: string[]; values: Values }>
> = {
  cautious: {
    title: 'Cautious',
    consequences: [
      'Reads run by themselves, every change is asked about, what cannot be undone needs a typed phrase, and no answer means no.',
    ],
    opens: [],
    values: {
      security: 'allowlist',
      ask: 'on-miss',
      askFallback: 'deny',
      autoAllowReadOnly: true,
      riskGate: true,
    },
  },
  allowlist: {
    title: 'Allowlist only',
    consequences: [
      'Only what is on the allowlist runs by itself; everything else, reads included, is denied without a question.',
    ],
    opens: [],
    values: { security: 'allowlist', ask: 'off', askFallback: 'deny', autoAllowReadOnly: false, riskGate: true },
  },
  'deny-all': {
    title: 'Deny everything',
    consequences: ['No command runs, whoever asks and whatever the allowlist says.'],
    opens: [],
    values: { security: 'deny', ask: 'always', askFallback: 'deny', autoAllowReadOnly: false, riskGate: true },
  },
  yolo: {
    title: 'No questions',
    consequences: ['Everything runs without a question, also what cannot be undone.'],
    opens: [
      'Changes run without a question, on this computer and on every host.',
      'Removing data, reformatting disks, power and reading secrets run without a typed phrase.',
      'When nobody can be asked, the command runs.',
    ],
    values: { security: 'full', ask: 'off', askFallback: 'full', autoAllowReadOnly: true, riskGate: false },
  },
}

const KINDS: readonly GrantKindView[] = [
  { id: 'reads', title: 'reads', sentence: 'Run what only reads, several commands in one line included.' },
  { id: 'restarts', title: 'restarts', sentence: 'Restart and reload services and containers.' },
  { id: 'starts-and-stops', title: 'starts and stops', sentence: 'Start and stop services and containers.' },
  { id: 'package-lists', title: 'package lists', sentence: 'Fetch the lists of packages anew, installing nothing.' },
  { id: 'image-pulls', title: 'image pulls', sentence: 'Pull container images, without starting them.' },
]

const HOUR = 3_600_000
const strict = {
  security: ['deny', 'allowlist', 'full'],
  ask: ['always', 'on-miss', 'off'],
  askFallback: ['deny', 'allowlist', 'full'],
} as const

const entry = (patch: Partial<AllowlistEntryView> & { id: string; pattern: string }): AllowlistEntryView => ({
  argPattern: null,
  scope: { target: null, session: null },
  expiresAt: null,
  sudo: false,
  source: null,
  commandText: null,
  lastUsedAt: null,
  lastUsedCommand: null,
  lastResolvedPath: null,
  problem: null,
  warnings: [],
  ...patch,
})

const now = (): number => Date.now()

const BUSY: readonly AllowlistEntryView[] = [
  entry({
    id: 'a1',
    pattern: '/usr/bin/systemctl',
    argPattern: '^restart\\x00caddy$',
    commandText: 'systemctl restart caddy',
    scope: { target: 'host:media', session: null },
    expiresAt: now() + 40 * 60_000,
    source: 'approval',
    lastUsedAt: now() - 3 * HOUR,
    lastUsedCommand: 'systemctl restart caddy',
    lastResolvedPath: '/usr/bin/systemctl',
  }),
  entry({
    id: 'a2',
    pattern: 'rg',
    lastUsedAt: now() - 26 * HOUR,
    lastUsedCommand: 'rg -n "listen 443" /etc/nginx',
    lastResolvedPath: '/usr/bin/rg',
  }),
  entry({
    id: 'a3',
    pattern: '/usr/bin/docker',
    argPattern: 'compose (ps|logs)',
    warnings: [
      'The argument pattern has no ^ and no $: it also matches arguments that only hold such a text somewhere.',
      'An entry without arguments for the same program still matches when this one does not.',
    ],
  }),
  entry({
    id: 'a4',
    pattern: '~/bin/**/deploy-*',
    argPattern: '^(?=prod)',
    sudo: true,
    problem: 'the argument pattern does not compile: look-ahead is not supported.',
  }),
  entry({
    id: 'a5',
    pattern: '/usr/bin/touch',
    argPattern: '^/tmp/x$',
    commandText: 'touch /tmp/x',
    scope: { target: null, session: 's1' },
    expiresAt: now() - 2 * HOUR,
    source: 'approval',
    problem: 'it has ended.',
  }),
]

const LONG: readonly AllowlistEntryView[] = Array.from({ length: 240 }, (_, i) =>
  entry({
    id: `long-${i}`,
    pattern: `/opt/${'a-very-long-vendor-name/'.repeat(1 + (i % 4))}bin/tool-${i}`,
    argPattern: `^--configuration=/etc/${'deep/'.repeat(i % 9)}file\\.yaml${' --verbose'.repeat(i % 5)}$`,
    lastUsedAt: i % 3 === 0 ? now() - i * HOUR : null,
    lastUsedCommand: i % 3 === 0 ? `tool-${i} ${'--option=value '.repeat(i % 12)}` : null,
    scope: { target: i % 2 === 0 ? null : 'host:strong', session: null },
  }),
)

/** Only what changes, with the lines around it; a whole file would hide it. */
function changedLines(diff: readonly string[], around = 2): readonly string[] {
  const near = new Set<number>()
  diff.forEach((line, index) => {
    if (!line.startsWith('+') && !line.startsWith('-')) return
    for (let at = index - around; at <= index + around; at += 1) near.add(at)
  })
  const out: string[] = []
  diff.forEach((line, index) => {
    if (near.has(index)) out.push(line)
    else if (index > 0 && near.has(index - 1)) out.push('  …')
  })
  return out.at(-1) === '  …' ? out.slice(0, -1) : out
}

export interface PlayedPolicy {
  readonly handlers: Pick<Handlers, PolicyRoute>
  readonly shown: () => PolicyView
}

type Handlers = { [R in RouteName]: (input: RouteArgument<R>) => RouteOutput<R> | Promise<RouteOutput<R>> }
type PolicyRoute =
  | 'policy.show'
  | 'policy.setSwitch'
  | 'policy.setNeverAuto'
  | 'policy.clearSession'
  | 'policy.inspect'
  | 'policy.save'
  | 'policy.allowlistAdd'
  | 'policy.allowlistRemove'
  | 'policy.fileGet'
  | 'policy.fileSet'
  | 'policy.preset'
  | 'policy.undo'
  | 'policy.simulate'
  | 'policy.replay'
  | 'grants.kinds'
  | 'grants.list'
  | 'grants.add'
  | 'grants.revoke'
  | 'approvals.alwaysOffer'

/** `refuse` makes the failure that the window is shown. */
export function playPolicy(
  scene: string,
  base: PolicyView,
  emit: (event: FeedEvent) => void,
  refuse: (code: ErrorCode, message: string, field?: string) => Error,
): PlayedPolicy {
  const empty = scene === 'empty' || scene === 'new'
  let files: Files = {
    hostDefaults: empty ? {} : { security: 'allowlist', ask: 'on-miss' },
    hostAgents: empty ? {} : { main: { askFallback: 'deny' }, 'mcp:editor': { security: 'deny' } },
    config: empty ? {} : { security: 'full', ask: 'on-miss', autoAllowReadOnly: true },
    configAgents: {},
    allowlist: { main: empty ? [] : [...(scene === 'long' ? LONG : BUSY)] },
  }
  let view: PolicyView = {
    ...base,
    source: scene === 'busy' || scene === 'long' ? 'file' : base.source,
    elevated: scene === 'race' ? ['s1'] : [],
  }
  let version = 1
  let serial = 0
  const past: Past[] = []
  let grants: GrantView[] = empty
    ? []
    : [
        {
          id: 'g1',
          agent: 'main',
          target: 'host:media',
          kinds: ['reads', 'restarts'],
          createdAt: now() - 5 * 60_000,
          expiresAt: now() + 25 * 60_000,
          note: scene === 'long' ? 'the certificate move, see the runbook. '.repeat(10) : 'the certificate move',
        },
      ]

  const name = (): string => `v${version}`
  const changed = (): void => {
    version += 1
    emit({ type: 'policy' })
  }
  const keep = (what: string): void => {
    past.unshift({ at: now(), what, files: structuredClone(files) })
  }

  const layer = (agent: string, which: 'host' | 'requested'): PolicyLayerView => {
    const own = (which === 'host' ? files.hostAgents : files.configAgents)[agent] ?? {}
    const general = which === 'host' ? files.hostDefaults : files.config
    const field = (key: string) => {
      const value = own[key] ?? general[key] ?? BUILT_IN[key]
      const from =
        own[key] !== undefined
          ? `agents.${agent}`
          : general[key] !== undefined
            ? which === 'host'
              ? 'defaults'
              : 'tools.exec'
            : 'built-in'
      return { value, from }
    }
    return {
      security: field('security'),
      ask: field('ask'),
      askFallback: field('askFallback'),
      autoAllowReadOnly: field('autoAllowReadOnly'),
      riskGate: field('riskGate'),
      strictInlineEval: field('strictInlineEval'),
    } as PolicyLayerView
  }

  const merged = (agent: string): PolicyLayerView => {
    const host = layer(agent, 'host')
    const requested = layer(agent, 'requested')
    const stricter = (key: keyof typeof strict) => {
      const order: readonly string[] = strict[key]
      return order.indexOf(host[key].value) <= order.indexOf(requested[key].value)
        ? { ...host[key], from: 'host' }
        : { ...requested[key], from: 'requested' }
    }
    const both = (key: 'autoAllowReadOnly') => ({ value: host[key].value && requested[key].value, from: 'both' })
    const either = (key: 'riskGate' | 'strictInlineEval') => ({
      value: host[key].value || requested[key].value,
      from: 'both',
    })
    return {
      security: stricter('security'),
      ask: stricter('ask'),
      askFallback: stricter('askFallback'),
      autoAllowReadOnly: both('autoAllowReadOnly'),
      riskGate: either('riskGate'),
      strictInlineEval: either('strictInlineEval'),
    } as PolicyLayerView
  }

  const shown = (): PolicyView => {
    const effective = merged('main')
    return {
      ...view,
      security: effective.security.value,
      ask: effective.ask.value,
      askFallback: effective.askFallback.value,
      autoAllowReadOnly: effective.autoAllowReadOnly.value,
      riskGate: effective.riskGate.value,
      open: effective.security.value === 'full' && effective.ask.value === 'off' && !effective.riskGate.value,
      version: name(),
    }
  }

  const apply = (section: Values, fields: PolicyFields): Values => {
    const out = { ...section }
    for (const [key, value] of Object.entries(fields)) {
      if (value === null || value === undefined) delete out[key]
      else out[key] = value
    }
    return out
  }
  const need = (baseVersion: string | null): void => {
    if (baseVersion !== null && baseVersion !== name())
      throw refuse('conflict', 'The file was changed meanwhile, so nothing was saved. Look at what is there now.')
  }
  const lines = (before: Files, after: Files): string[] => {
    const a = JSON.stringify(before, null, 2).split('\n')
    const b = JSON.stringify(after, null, 2).split('\n')
    return [
      ...a.filter((line) => !b.includes(line)).map((line) => `- ${line}`),
      ...b.map((line) => (a.includes(line) ? `  ${line}` : `+ ${line}`)),
    ]
  }
  const saved = (before: Files, dry = false): PolicySaved => ({
    saved: !dry,
    version: name(),
    diff: changedLines(lines(before, files)),
    backup: null,
  })
  const presetActive = (preset: PresetName): boolean =>
    Object.entries(PRESETS[preset].values).every(
      ([key, value]) => files.hostDefaults[key] === value && files.config[key] === value,
    )
  const withPreset = (preset: PresetName): Files => ({
    ...files,
    hostDefaults: { ...files.hostDefaults, ...PRESETS[preset].values },
    config: { ...files.config, ...PRESETS[preset].values },
  })

  const inspection = (agent: string, target: string, session: string | null): PolicyInspection => ({
    agent,
    target,
    session,
    managedBy: 'app',
    host: {
      file: {
        path: base.path,
        source: scene === 'error' ? 'broken' : empty ? 'absent' : 'file',
        problem: scene === 'error' ? 'Line 12: a comma is missing.' : null,
        version: name(),
        restorable: true,
      },
      layer: layer(agent, 'host'),
    },
    requested: {
      file: {
        path: base.path.replace('exec-approvals', 'config'),
        source: empty ? 'absent' : 'file',
        problem: null,
        version: name(),
        restorable: false,
      },
      layer: layer(agent, 'requested'),
    },
    effective: merged(agent),
    toolDenied: false,
    autoAllowSkills: false,
    elevated: false,
    allowlist: files.allowlist[agent] ?? [],
    safeBins: [
      ...['cut', 'uniq', 'head', 'tail', 'tr', 'wc'].map((bin) => ({ name: bin, from: 'built-in', problem: null })),
      ...(scene === 'long' ? [{ name: 'python3', from: 'tools.exec', problem: 'an interpreter is never safe' }] : []),
    ],
    skills: [],
    grants,
    agents: ['main', 'mcp:editor', ...(scene === 'long' ? [`mcp:${'long-client-name-'.repeat(3)}`] : [])],
    presets: (Object.keys(PRESETS) as PresetName[]).map((preset) => ({
      name: preset,
      title: PRESETS[preset].title,
      consequences: PRESETS[preset].consequences,
      opens: PRESETS[preset].opens,
      dangerous: preset === 'yolo',
      active: presetActive(preset),
    })),
    undo: past.map(({ at, what }) => ({ at, what })),
    version: name(),
  })

  const withDraft = (draft: PolicyDraft | undefined, agent: string, job: () => Simulation): Simulation => {
    if (draft === undefined) return job()
    const kept = files
    files = structuredClone(draft.preset === undefined ? files : withPreset(draft.preset))
    if (draft.defaults !== undefined) files.hostDefaults = apply(files.hostDefaults, draft.defaults)
    if (draft.agent !== undefined) files.hostAgents[agent] = apply(files.hostAgents[agent] ?? {}, draft.agent)
    if (draft.requested !== undefined) files.config = apply(files.config, draft.requested)
    try {
      return job()
    } finally {
      files = kept
    }
  }

  const simulate = (command: string, agent: string): Simulation => {
    const effective = merged(agent)
    const risk: Risk = /^(sudo )?(rm|zpool destroy|mkfs)/.test(command)
      ? 'destructive'
      : /^(df|uname|uptime|ls|rg|cat)/.test(command)
        ? 'read_only'
        : 'config_mutation'
    const parts = command.includes('$(') ? null : command.split(/\s*(?:\|\||&&|[|;])\s*/)
    const segments =
      parts?.map((part) => {
        const argv = part.split(/\s+/)
        const found = (files.allowlist[agent] ?? []).find((one) => one.commandText === part || one.pattern === argv[0])
        const safe = ['cut', 'uniq', 'head', 'tail', 'tr', 'wc'].includes(argv[0] ?? '')
        return {
          argv,
          span: { start: command.indexOf(part), end: command.indexOf(part) + part.length },
          viaSudo: false,
          path: `/usr/bin/${argv[0]}`,
          by: found !== undefined ? ('allowlist' as const) : safe ? ('safe-bin' as const) : null,
          entryId: found?.id ?? null,
          why:
            found !== undefined
              ? 'The entry names this program with these arguments.'
              : safe
                ? 'It only transforms what is piped into it.'
                : 'No entry names this program with these arguments.',
        }
      }) ?? null
    const all = segments?.every((one) => one.by !== null) ?? false
    const verdict =
      effective.security.value === 'deny'
        ? 'deny'
        : risk === 'destructive' && effective.riskGate.value
          ? 'confirm'
          : effective.ask.value === 'always'
            ? 'ask'
            : all || risk === 'read_only' || effective.security.value === 'full'
              ? 'auto'
              : effective.ask.value === 'off'
                ? 'deny'
                : 'ask'
    const deciding: TraceStep = {
      layer: 'table',
      rule: `table:${effective.security.value}, ${effective.ask.value}`,
      verdict,
      sentence: `Of the merged policy the row “${effective.security.value}, ${effective.ask.value}” is the first that fits.`,
      spans: [],
    }
    const trace: TraceStep[] = [
      {
        layer: 'classifier',
        rule: `program:${command.split(' ')[0]}`,
        verdict: risk,
        sentence: 'Every word of it is understood.',
        spans: [],
      },
      {
        layer: 'requested-policy',
        rule: 'tools.exec',
        verdict: 'ask',
        sentence: 'What is requested would ask.',
        spans: [],
      },
      ...(all
        ? [
            {
              layer: 'host-policy' as const,
              rule: `allowlist:${segments?.[0]?.entryId ?? ''}`,
              verdict: 'auto',
              sentence: 'Every part is allowed by name.',
              spans: [],
            },
          ]
        : []),
      deciding,
    ]
    return { command, decision: { outcome: verdict, risk, trace }, segments, deciding, effective }
  }

  const viewOf = (input: AllowlistInput): AllowlistEntryView => {
    serial += 1
    return entry({
      id: `new-${serial}`,
      pattern: input.pattern,
      argPattern: input.argPattern ?? null,
      scope: { target: input.scope?.target ?? null, session: input.scope?.session ?? null },
      expiresAt: input.expiresAt ?? null,
      sudo: input.sudo ?? false,
      commandText: input.commandText ?? null,
    })
  }

  const handlers: PlayedPolicy['handlers'] = {
    'policy.show': shown,
    'policy.setSwitch': ({ name: which, on }) => {
      view = { ...view, [which]: on }
      return shown()
    },
    'policy.setNeverAuto': ({ target, on }) => {
      const others = view.neverAuto.filter((one) => one !== target)
      view = { ...view, neverAuto: on ? [...others, target].sort() : others }
      return shown()
    },
    'policy.clearSession': ({ session }) => {
      view = { ...view, elevated: view.elevated.filter((one) => one !== session) }
      changed()
      return shown()
    },
    'policy.inspect': ({ agent, target, session }) => inspection(agent, target, session),
    'policy.save': ({ layer: which, agent, fields, baseVersion }) => {
      need(baseVersion)
      const before = structuredClone(files)
      keep(`${which} of ${agent ?? 'all agents'}`)
      files = structuredClone(files)
      if (which !== 'requested') {
        if (agent === null) files.hostDefaults = apply(files.hostDefaults, fields)
        else files.hostAgents[agent] = apply(files.hostAgents[agent] ?? {}, fields)
      }
      if (which !== 'host') {
        if (agent === null) files.config = apply(files.config, fields)
        else files.configAgents[agent] = apply(files.configAgents[agent] ?? {}, fields)
      }
      changed()
      return saved(before)
    },
    'policy.allowlistAdd': ({ agent, entry: input, baseVersion }) => {
      need(baseVersion)
      if (/\s/.test(input.pattern))
        throw refuse(
          'bad_input',
          '"entry.pattern": name one program; arguments belong into the field below.',
          'entry.pattern',
        )
      keep(`allowed ${input.pattern} for ${agent}`)
      files = structuredClone(files)
      const made = viewOf(input)
      files.allowlist[agent] = [...(files.allowlist[agent] ?? []), made]
      changed()
      return made
    },
    'policy.allowlistRemove': ({ agent, id }) => {
      keep(`removed an entry of ${agent}`)
      files = structuredClone(files)
      files.allowlist[agent] = (files.allowlist[agent] ?? []).filter((one) => one.id !== id)
      changed()
      return { done: true as const }
    },
    'policy.fileGet': () => ({
      path: base.path,
      source: 'file',
      problem: null,
      text: JSON.stringify(files, null, 2),
      version: name(),
    }),
    'policy.fileSet': () => {
      throw refuse('unavailable', 'The played core takes no whole files.')
    },
    'policy.preset': ({ name: preset, dryRun }) => {
      const before = structuredClone(files)
      const kept = files
      if (!dryRun) keep(`preset ${preset}`)
      files = withPreset(preset)
      const answer = saved(before, dryRun)
      if (dryRun) files = kept
      else changed()
      return answer
    },
    'policy.undo': () => {
      const last = past.shift()
      if (last === undefined) throw refuse('not_found', 'There is nothing to take back.')
      const before = structuredClone(files)
      files = last.files
      changed()
      return saved(before)
    },
    'policy.simulate': ({ command, agent, draft }) => withDraft(draft, agent, () => simulate(command, agent)),
    'policy.replay': ({ draft, limit }) =>
      empty
        ? { considered: 0, wouldNotAsk: 0, wouldAskMore: 0, destructiveAmongThem: 0, skipped: 0, examples: [] }
        : {
            considered: Math.min(limit, 187),
            wouldNotAsk: draft.preset === 'yolo' ? 41 : draft.preset === undefined ? 12 : 0,
            wouldAskMore: draft.preset === 'deny-all' || draft.preset === 'allowlist' ? 96 : 0,
            destructiveAmongThem: draft.preset === 'yolo' ? 3 : 0,
            skipped: 13,
            examples: [
              {
                executionId: 'e1',
                command: 'systemctl restart caddy',
                before: 'ask',
                after: draft.preset === 'deny-all' ? 'deny' : 'auto',
              },
              {
                executionId: 'e2',
                command: `docker compose up -d ${'service '.repeat(20)}`,
                before: 'ask',
                after: draft.preset === 'deny-all' ? 'deny' : 'auto',
              },
            ],
          },
    'grants.kinds': () => KINDS,
    'grants.list': () => grants.filter((one) => one.expiresAt > now()),
    'grants.add': ({ agent, target, kinds, minutes, note }) => {
      serial += 1
      const made: GrantView = {
        id: `g-new-${serial}`,
        agent,
        target,
        kinds,
        createdAt: now(),
        expiresAt: now() + minutes * 60_000,
        note: note ?? '',
      }
      grants = [...grants, made].sort((a, b) => a.expiresAt - b.expiresAt)
      changed()
      return made
    },
    'grants.revoke': ({ id }) => {
      grants = grants.filter((one) => one.id !== id)
      changed()
      return { done: true as const }
    },
    'approvals.alwaysOffer': ({ id }) =>
      id.includes('shell')
        ? {
            entries: [],
            refusal: 'bash is a shell: it can be used for anything, so it is approved each time.',
          }
        : {
            entries: [
              {
                pattern: '/usr/bin/systemctl',
                argPattern: '^restart\\x00caddy$',
                scope: { target: 'host:media' },
                commandText: 'systemctl restart caddy',
              },
            ],
            refusal: null,
          },
  }
  return { handlers, shown }
}
