import type {
  Classification,
  DoctorCheck,
  ExecutionState,
  ExecutionView,
  HealthProblem,
  Host,
  LedgerEntry,
  LedgerReport,
  Message,
  PolicyView,
  PreviewView,
  Risk,
  Session,
  SettingsView,
  Target,
} from '../../src-preload/contract'

export const NOW = Date.now()
const MINUTE = 60_000

const noFlags: Classification['flags'] = {
  self: false,
  inlineEval: false,
  compound: false,
  unending: false,
  interactive: false,
  tooLarge: false,
  tooDeep: false,
  invisible: false,
}

const SENTENCE: Readonly<Record<Risk, string>> = {
  read_only: 'Only reads: every word of it is in the list of reads.',
  reversible_low: 'Can be taken back with a known inverse.',
  config_mutation: 'Changes the state of the machine.',
  destructive: 'Deletes without a way back.',
}

let serial = 0

export interface Draft {
  readonly id: string
  readonly command: string
  readonly target?: string
  readonly risk?: Risk
  readonly state: ExecutionState
  readonly purpose?: string | null
  readonly risky?: string
  readonly session?: string | null
  readonly operator?: boolean
  readonly patch?: Partial<ExecutionView>
  readonly classification?: Partial<Classification>
}

/** One card's worth of data, in the state that is asked for. */
export function execution(draft: Draft): ExecutionView {
  serial += 1
  const risk = draft.risk ?? 'config_mutation'
  const { state } = draft
  const requestedAt = NOW - serial * 40_000
  const started = ['running', 'completed', 'failed', 'timed_out', 'unknown'].includes(state)
  const final = !['requested', 'pending_approval', 'approved', 'running'].includes(state)
  const asked = risk !== 'read_only' || state === 'pending_approval'
  const at = draft.risky === undefined ? -1 : draft.command.indexOf(draft.risky)
  const verb = risk === 'destructive' ? 'destroy' : 'run'
  const target = draft.target ?? 'local'
  const approvalState =
    state === 'pending_approval'
      ? 'pending'
      : state === 'denied'
        ? 'denied'
        : state === 'expired'
          ? 'expired'
          : state === 'cancelled'
            ? 'cancelled'
            : 'approved'
  return {
    id: draft.id,
    session: draft.session === undefined ? 's1' : draft.session,
    turn: 't1',
    principal:
      draft.operator === true
        ? { kind: 'operator', id: 'operator', session: 's1', turn: null }
        : { kind: 'agent', id: 'main', session: 's1', turn: 't1' },
    target,
    user: target === 'local' ? 'ada' : 'root',
    cwd: target === 'local' ? '/home/ada' : null,
    command: draft.command,
    redacted: false,
    purpose: draft.purpose === undefined ? 'picks up the new Caddyfile' : draft.purpose,
    verify: null,
    declaredRisk: risk,
    classification: {
      risk,
      reasons: [
        {
          rule: `risk/${risk}/example`,
          risk,
          span: at < 0 ? null : { start: at, end: at + (draft.risky?.length ?? 0) },
          sentence: SENTENCE[risk],
        },
        { rule: 'shell/single', risk: 'read_only', span: null, sentence: 'Is one simple command.' },
      ],
      effects: [
        { kind: 'exec', detail: draft.command.split(' ')[0] ?? '' },
        ...(risk === 'destructive' ? [{ kind: 'delete' as const, detail: '/tmp/x' }] : []),
      ],
      coverage: 'full',
      spans: at < 0 ? [] : [{ start: at, end: at + (draft.risky?.length ?? 0), risk }],
      flags: noFlags,
      ...draft.classification,
    },
    risk,
    decision: {
      outcome: risk === 'read_only' ? 'auto' : risk === 'destructive' ? 'confirm' : 'ask',
      risk,
      trace: [
        { layer: 'classifier', rule: `risk/${risk}/example`, verdict: risk, sentence: SENTENCE[risk], spans: [] },
        {
          layer: 'table',
          rule: 'allowlist/on-miss',
          verdict: 'ask',
          sentence: 'It is not allowed by name, so it asks.',
          spans: [],
        },
      ],
    },
    state,
    stateReason: null,
    failure: null,
    requestedAt,
    startedAt: started ? requestedAt + 4000 : null,
    finishedAt: final && started ? requestedAt + 9300 : null,
    exitCode: state === 'completed' ? 0 : state === 'failed' ? 2 : null,
    signal: null,
    outputBytes: 0,
    output: '',
    truncated: false,
    retryOf: null,
    approval: asked
      ? {
          id: `a-${draft.id}`,
          executionId: draft.id,
          state: approvalState,
          outcome: risk === 'destructive' ? 'confirm' : 'ask',
          phrase: risk === 'destructive' ? `${verb} ${target}` : null,
          digest: `digest-${draft.id}`,
          createdAt: requestedAt,
          expiresAt: requestedAt + 60 * MINUTE,
          settlement:
            approvalState === 'pending'
              ? null
              : {
                  by: 'operator',
                  surface: approvalState === 'expired' ? 'system' : 'window',
                  words: risk === 'destructive' && approvalState === 'approved' ? `${verb} ${target}` : null,
                  note: state === 'denied' ? 'use the staging host first' : null,
                  at: requestedAt + 3000,
                },
        }
      : null,
    ...draft.patch,
  }
}

const lines = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `${String(i + 1).padStart(5)}  /var/log/journal/entry-${i}  ${(i * 7919) % 100_000} kB  ok`,
  ).join('\n')

export const LONG_OUTPUT = `${lines(5000)}\n`

const longCommand = `cat > /etc/caddy/Caddyfile <<'EOF'\n${Array.from({ length: 198 }, (_, i) => `  reverse_proxy /service-${i}/* 10.0.0.${i % 250}:80${i % 10}`).join('\n')}\nEOF`

/** Commands whose words are not what they look like. */
export const wordsExecutions: readonly ExecutionView[] = [
  execution({
    id: 'e-words',
    command: `sudo find /srv/www -name '*.bak' -'delete' -o -path "/srv/www/old backups" 2>/dev/null | wc -l # how many`,
    risky: "find /srv/www -name '*.bak' -'delete' -o -path \"/srv/www/old backups\" 2>/dev/null",
    risk: 'destructive',
    target: 'host:strong',
    state: 'pending_approval',
    purpose: 'clears old copies',
  }),
  execution({
    id: 'e-lies',
    command: 'cat /srv/invoice-\u202efdp.exe\u202c "$HOME/a b" $\'\\x41\\tB\'',
    risky: '\u202efdp.exe\u202c',
    target: 'local',
    state: 'pending_approval',
    purpose: 'reads \u202ean invoice\u202c',
  }),
  execution({
    id: 'e-sandboxed',
    command: 'LANG=C grep -rn --include="*.conf" listen /etc/nginx',
    risk: 'read_only',
    target: 'local',
    state: 'completed',
    purpose: 'looks which ports are used',
    patch: { sandbox: 'files', output: '/etc/nginx/nginx.conf:12: listen 80;\n', outputBytes: 38 },
  }),
  execution({
    id: 'e-script',
    command:
      'for host in web1 web2; do\n  # one after the other\n  ssh "$host" \'systemctl reload nginx\' || exit 1\ndone > /tmp/reload.log',
    risky: '> /tmp/reload.log',
    target: 'local',
    state: 'pending_approval',
    purpose: 'picks up the new certificate',
  }),
]

export const busyExecutions: readonly ExecutionView[] = [
  execution({
    id: 'e-pending',
    command: 'systemctl restart caddy',
    risky: 'restart',
    target: 'host:strong',
    state: 'pending_approval',
  }),
  execution({
    id: 'e-destroy',
    command: 'zpool destroy -f tank/old-backups && rm -rf /srv/backups/2019',
    risk: 'destructive',
    risky: 'zpool destroy -f tank/old-backups',
    target: 'host:strong',
    state: 'pending_approval',
    purpose: 'frees the space of the old backups, which are on the new pool since March',
  }),
  execution({
    id: 'e-running',
    command: 'apt-get update',
    target: 'host:media',
    state: 'running',
    patch: {
      output:
        'Hit:1 http://deb.debian.org/debian bookworm InRelease\nGet:2 http://deb.debian.org/debian bookworm-updates',
      outputBytes: 101,
      startedAt: NOW - 4000,
    },
  }),
  execution({
    id: 'e-running-2',
    command: 'journalctl -f -u caddy',
    risk: 'read_only',
    target: 'host:strong',
    state: 'running',
    session: 's2',
    purpose: 'follows the log',
    patch: { startedAt: NOW - 184_000 },
  }),
  execution({
    id: 'e-approved',
    command: 'docker compose up -d',
    target: 'host:media',
    state: 'approved',
    purpose: 'starts the stack again',
  }),
  execution({
    id: 'e-done',
    command: 'df -h --output=target,pcent',
    risk: 'read_only',
    state: 'completed',
    purpose: 'looks which disk is full',
    patch: { output: 'Mounted on Use%\n/           43%\n/home       71%\n/srv        98%\n', outputBytes: 64 },
  }),
  execution({
    id: 'e-failed',
    command: 'systemctl reload nginx',
    target: 'host:media',
    state: 'failed',
    patch: {
      output: 'Failed to reload nginx.service: Unit nginx.service not found.\n',
      outputBytes: 62,
      exitCode: 5,
    },
  }),
  execution({
    id: 'e-hostkey',
    command: 'uptime',
    risk: 'read_only',
    target: 'host:attic',
    state: 'failed',
    purpose: null,
    operator: true,
    patch: {
      failure: 'host_key_changed',
      stateReason:
        'host:attic showed another key (SHA256:9nq…b1w) than the known one (SHA256:Zk2…0aE), so nothing was run. If the host was set up anew, compare the new key at its console and trust it in Fleet.',
      exitCode: null,
      startedAt: null,
      finishedAt: null,
    },
  }),
  execution({ id: 'e-timeout', command: 'rsync -a /srv/ /mnt/backup/', state: 'timed_out' }),
  execution({ id: 'e-cancelled', command: 'ping 10.0.0.1', state: 'cancelled', risk: 'reversible_low' }),
  execution({ id: 'e-denied', command: 'apt-get dist-upgrade -y', target: 'host:strong', state: 'denied' }),
  execution({ id: 'e-expired', command: 'systemctl stop smbd', target: 'host:media', state: 'expired' }),
  execution({ id: 'e-undeliverable', command: 'ufw reload', state: 'undeliverable' }),
  execution({
    id: 'e-revoked',
    command: 'ufw allow 8443/tcp',
    state: 'cancelled',
    patch: {
      approval: {
        id: 'a-rev',
        executionId: 'e-revoked',
        state: 'revoked',
        outcome: 'ask',
        phrase: null,
        digest: 'd',
        createdAt: NOW - 500_000,
        expiresAt: NOW,
        settlement: { by: 'operator', surface: 'cli', words: null, note: null, at: NOW - 400_000 },
      },
    },
  }),
  execution({
    id: 'e-unknown',
    command: 'dpkg --configure -a',
    target: 'host:strong',
    state: 'unknown',
    purpose: 'finishes the interrupted upgrade',
  }),
]

export const longExecutions: readonly ExecutionView[] = [
  execution({
    id: 'e-long-command',
    command: longCommand,
    risky: "cat > /etc/caddy/Caddyfile <<'EOF'",
    target: 'host:strong',
    state: 'pending_approval',
  }),
  execution({
    id: 'e-hidden',
    command: 'rm \u202e/etc/passwd\u202c -rf \u200b\u200b\u200b\u200b\u200b ./x\u00a0y\r\u001b[8m && true',
    risk: 'destructive',
    risky: 'rm',
    state: 'pending_approval',
    purpose: 'cleans up\u202e ruomra',
    classification: { flags: { ...noFlags, invisible: true, compound: true }, coverage: 'partial' },
  }),
  execution({
    id: 'e-word',
    command: `echo ${'0123456789abcdef'.repeat(60)}`,
    state: 'completed',
    target: `host:${'very-long-name-'.repeat(4)}x`,
    purpose: 'a'.repeat(300),
    patch: { output: `${'abcdefghij'.repeat(300)}\n`, outputBytes: 3001 },
  }),
  execution({
    id: 'e-output',
    command: 'journalctl --no-pager -n 5000',
    risk: 'read_only',
    state: 'completed',
    patch: { output: LONG_OUTPUT.slice(0, 4096), outputBytes: LONG_OUTPUT.length, truncated: true },
  }),
]

const dependents = [
  ...['lxc:caddy', 'service:wiki', 'lxc:media', 'service:backup', 'host:attic'].map((slug, i) => ({
    slug,
    kind: slug.split(':')[0] ?? '',
    steps: i < 3 ? 1 : 2,
  })),
]

const same = (id: string, principal: ExecutionView['principal'], minutes: number): ExecutionView =>
  execution({
    id,
    command: 'systemctl reload nginx',
    target: 'host:media',
    risky: 'reload',
    risk: 'reversible_low',
    state: 'pending_approval',
    purpose: 'picks up the renewed certificate',
    patch: {
      group: 'g-nginx',
      session: principal.session,
      principal,
      requestedAt: NOW - minutes * MINUTE,
      answerAt: 'anywhere',
      blast: { targets: ['host:media'], total: 0, dependents: [] },
    },
  })

/** One of everything that the approval desk shows. */
export const deskExecutions: readonly ExecutionView[] = [
  execution({
    id: 'exe_everything',
    command: "sed -i 's/worker_processes 2/worker_processes auto/' /etc/nginx/nginx.conf && systemctl restart nginx",
    target: 'host:strong',
    risky: "sed -i 's/worker_processes 2/worker_processes auto/' /etc/nginx/nginx.conf",
    state: 'pending_approval',
    purpose: 'lets nginx use all cores of strong',
    patch: {
      requestedAt: NOW - 20_000,
      cwd: '/etc/nginx',
      verify: 'nginx -t',
      answerAt: 'card',
      reached: ['host:strong'],
      group: 'g-1',
      blast: { targets: ['host:strong'], total: 7, dependents },
      preview: 'The lines of /etc/nginx/nginx.conf that would change',
      undo: {
        verdict: 'part',
        sentence: 'Changes /etc/nginx/nginx.conf, which can be put back, and the unit nginx, whose restart cannot.',
        items: [
          {
            kind: 'file',
            subject: '/etc/nginx/nginx.conf',
            canPutBack: true,
            sentence: 'is kept as it is now.',
            bytes: 2482,
          },
          {
            kind: 'unit',
            subject: 'nginx.service',
            canPutBack: false,
            sentence: 'ran before and runs afterwards; connections are cut.',
            bytes: null,
          },
        ],
      },
      decision: {
        outcome: 'ask',
        risk: 'config_mutation',
        trace: [
          {
            layer: 'target',
            rule: 'dependents',
            verdict: 'ask',
            sentence: 'Changes on host:strong are never automatic: 7 others depend on it.',
            spans: [],
          },
        ],
      },
    },
  }),
  execution({
    id: 'exe_remove',
    command: 'rm -rf /srv/backups/2019 /srv/backups/2020',
    target: 'host:media',
    risk: 'destructive',
    risky: 'rm -rf /srv/backups/2019 /srv/backups/2020',
    state: 'pending_approval',
    purpose: 'frees the space of backups that are on the new pool as well',
    patch: {
      requestedAt: NOW - 50_000,
      answerAt: 'phrase',
      preview: 'How many files and how much would be deleted',
      blast: { targets: ['host:media'], total: 1, dependents: dependents.slice(2, 3) },
      undo: {
        verdict: 'none',
        sentence: 'Deletes 2 folders of 212.0 GB, which cannot be put back.',
        items: [
          {
            kind: 'file',
            subject: '/srv/backups/2019',
            canPutBack: false,
            sentence: 'is larger than what is kept.',
            bytes: null,
          },
          {
            kind: 'file',
            subject: '/srv/backups/2020',
            canPutBack: false,
            sentence: 'is larger than what is kept.',
            bytes: null,
          },
        ],
      },
    },
  }),
  same('exe_same1', { kind: 'agent', id: 'main', session: 's1', turn: 't1' }, 9),
  same('exe_same2', { kind: 'mcp', id: 'mcp:editor', session: 's2', turn: null }, 6),
  same('exe_same3', { kind: 'runbook', id: 'runbook:cert-renewal', session: 's3', turn: null }, 2),
  execution({
    id: 'exe_upgrade',
    command: 'apt-get upgrade -y',
    risky: 'upgrade',
    state: 'pending_approval',
    purpose: 'brings the security updates of this week',
    patch: {
      requestedAt: NOW - 70_000,
      answerAt: 'anywhere',
      preview: 'What apt-get would do',
      blast: { targets: ['local'], total: 0, dependents: [] },
      undo: { verdict: 'unknown', sentence: 'Nobody knows all that it changes, so nothing is kept of it.', items: [] },
    },
  }),
  execution({
    id: 'exe_takesback',
    command: 'install -m 644 -o root -g root /dev/stdin /etc/motd',
    state: 'pending_approval',
    risk: 'reversible_low',
    purpose: 'puts back /etc/motd as it was',
    operator: true,
    patch: {
      requestedAt: NOW - 80_000,
      undoOf: 'exe_undoasked',
      answerAt: 'anywhere',
      blast: { targets: ['local'], total: 0, dependents: [] },
    },
  }),
  execution({
    id: 'exe_undoready',
    command: 'systemctl stop smbd',
    target: 'host:media',
    state: 'completed',
    risk: 'reversible_low',
    purpose: 'nothing uses the shares any more',
    patch: {
      undoState: { state: 'ready', executionId: null, sentence: 'The unit smbd ran before; it can be started again.' },
    },
  }),
  execution({
    id: 'exe_undoasked',
    command: 'echo maintenance > /etc/motd',
    state: 'completed',
    patch: {
      undoState: {
        state: 'asked',
        executionId: 'exe_takesback',
        sentence: 'Taking back /etc/motd was asked for.',
      },
    },
  }),
  execution({
    id: 'exe_undogone',
    command: 'ufw allow 8443/tcp',
    state: 'completed',
    patch: {
      undoState: { state: 'gone', executionId: null, sentence: 'What was kept of it was removed after 30 days.' },
      approval: {
        id: 'apr_words',
        executionId: 'exe_undogone',
        state: 'approved',
        outcome: 'ask',
        phrase: null,
        digest: 'd',
        createdAt: NOW - 400_000,
        expiresAt: NOW,
        settlement: { by: 'operator', surface: 'chat', words: 'ok go ahead', note: null, at: NOW - 390_000 },
      },
    },
  }),
]

/** What a preview shows in the played core. */
export const previews: Readonly<Record<string, Omit<PreviewView, 'at'>>> = {
  exe_everything: {
    kind: 'diff',
    title: 'The lines of /etc/nginx/nginx.conf that would change',
    commands: ["sed 's/worker_processes 2/worker_processes auto/' /etc/nginx/nginx.conf"],
    text: '  user www-data;\n- worker_processes 2;\n+ worker_processes auto;\n  pid /run/nginx.pid;\n',
    truncated: false,
    note: 'The restart of nginx is not part of it.',
  },
  exe_remove: {
    kind: 'count',
    title: 'What would be deleted',
    commands: ['find /srv/backups/2019 /srv/backups/2020 -printf "%y %s\\n"'],
    text: '18,204 files and 311 folders, 212.0 GB',
    truncated: false,
    note: 'Counted at most for 10 seconds; all of it was seen.',
  },
}

const VERBS = ['systemctl restart', 'apt-get install -y', 'docker restart', 'ufw allow', 'chown -R www-data', 'rm -rf']

/** Enough to be too many. */
export const manyExecutions: readonly ExecutionView[] = Array.from({ length: 500 }, (_, i) => {
  const verb = VERBS[i % VERBS.length] ?? ''
  const destructive = verb.startsWith('rm')
  const long = i % 37 === 0
  return execution({
    id: `exe_many${i}`,
    command: long ? `${verb} thing-${i}\n${lines(12)}` : `${verb} thing-${i}`,
    risky: verb,
    target: ['local', 'host:strong', 'host:media'][i % 3] ?? 'local',
    risk: destructive ? 'destructive' : 'config_mutation',
    state: 'pending_approval',
    purpose: `request number ${i}`,
    patch: {
      requestedAt: NOW - (500 - i) * 1000,
      answerAt: destructive ? 'phrase' : 'anywhere',
      blast: { targets: ['local'], total: 0, dependents: [] },
    },
  })
})

export const sessions: readonly Session[] = [
  { id: 's1', title: 'deploy caddy on strong', createdAt: NOW - 4e6, updatedAt: NOW - 20_000, turn: 'waiting' },
  { id: 's2', title: 'disk on media', createdAt: NOW - 9e7, updatedAt: NOW - 5e6, turn: 'idle' },
  { id: 's3', title: 'cert renewal', createdAt: NOW - 9e8, updatedAt: NOW - 3e8, turn: 'idle' },
]

let messageSeq = 0
export function message(patch: Partial<Message>): Message {
  messageSeq += 1
  return {
    id: `m${messageSeq}`,
    session: 's1',
    turn: 't1',
    seq: messageSeq,
    role: 'user',
    text: null,
    toolCalls: [],
    callId: null,
    executionId: null,
    error: null,
    streaming: false,
    at: NOW - 600_000 + messageSeq * 1000,
    ...patch,
  }
}

export function conversation(executions: readonly ExecutionView[]): readonly Message[] {
  const first = [
    message({ text: 'put caddy in front of the media stack on strong, and tell me what fills /srv' }),
    message({
      role: 'assistant',
      text: 'I look at the disks and at what runs first.',
      toolCalls: [
        { callId: 'c0', name: 'list_targets', arguments: '{}' },
        { callId: 'c9', name: 'read_note', arguments: '{"about": "media"}' },
        ...executions.map((view) => ({ callId: `c-${view.id}`, name: 'run', arguments: '{}' })),
      ],
    }),
    message({ role: 'tool', callId: 'c0', text: 'local\nhost:strong\nhost:media' }),
    message({ role: 'tool', callId: 'c9', text: 'No note about media.' }),
    ...executions.map((view) =>
      message({
        role: view.principal.kind === 'operator' ? 'run' : 'tool',
        callId: `c-${view.id}`,
        executionId: view.id,
      }),
    ),
  ]
  return [
    ...first,
    message({
      role: 'assistant',
      text: [
        '`/srv` is **98 % full**. Three things stand out:',
        '',
        '1. `/srv/backups/2019` holds 212 GB that are on the new pool as well',
        '2. the journal keeps *everything* since March',
        '   - 31 GB on strong',
        '   - 4 GB on media',
        '3. `caddy` is not installed',
        '',
        '## Next',
        'The new block would be:',
        '',
        '```caddyfile',
        'media.example.org {',
        '  reverse_proxy 10.0.0.12:8096',
        '}',
        '```',
        '',
        '> Nothing has been changed so far. <b>This is not HTML</b> & neither is <script>alert(1)</script>.',
      ].join('\n'),
    }),
  ]
}

export const hosts: readonly Host[] = [
  {
    slug: 'strong',
    address: '10.0.0.5',
    port: 22,
    user: 'root',
    auth: 'agent',
    keyPath: null,
    tags: ['prod', 'zfs'],
  },
  {
    slug: 'media',
    address: 'media.lan',
    port: 2222,
    user: 'ada',
    auth: 'key',
    keyPath: '/home/ada/.ssh/id_ed25519',
    tags: [],
  },
]

export const targets: readonly Target[] = [
  { slug: 'local', kind: 'local', tags: [], policySource: 'app' },
  { slug: 'host:strong', kind: 'ssh', tags: ['prod', 'zfs'], policySource: 'app' },
  { slug: 'host:media', kind: 'ssh', tags: [], policySource: 'app' },
]

export const settings: SettingsView = {
  model: {
    baseUrl: 'http://127.0.0.1:11434/v1',
    model: 'qwen3:14b',
    keyStorage: 'memory',
    keyringAvailable: false,
    keyringBackend: 'basic_text',
  },
  theme: 'system',
  letterShortcuts: true,
  commandHighlighting: false,
  compound: 'never',
  desktop: { closeToTray: true, startHidden: false, autostart: false, notifications: 'away' },
  desktopStatus: {
    tray: { available: true, sentence: 'A tray was found: org.kde.StatusNotifierWatcher answers.' },
    notifications: { available: true, buttons: true, sentence: 'The daemon mako 1.7 answers; it shows buttons.' },
    autostart: {
      available: true,
      on: false,
      sentence: 'No entry is there; it would be written to ~/.config/autostart.',
    },
    lock: { known: true, sentence: 'Whether the screen is locked is known from org.freedesktop.login1.' },
  },
}

/** A desktop that has little. */
export const bareDesktop: SettingsView['desktopStatus'] = {
  tray: {
    available: false,
    sentence:
      'This desktop has no tray (nothing answers at org.kde.StatusNotifierWatcher), so closing the window ends Nomos.',
  },
  notifications: {
    available: false,
    buttons: false,
    sentence: 'No notification daemon answers on the session bus, so what waits is shown in the window only.',
  },
  autostart: { available: true, on: true, sentence: 'The entry ~/.config/autostart/nomos.desktop is there.' },
  lock: { known: false, sentence: 'Whether the screen is locked cannot be told here.' },
}

export const policy: PolicyView = {
  source: 'absent',
  path: '/home/ada/.config/nomos/exec-approvals.json',
  problem: null,
  security: 'allowlist',
  ask: 'on-miss',
  askFallback: 'deny',
  autoAllowReadOnly: true,
  riskGate: true,
  strictInlineEval: true,
  askAboutEverything: false,
  pauseAutomatic: false,
  neverAuto: [],
  elevated: [],
  open: false,
  version: 'b3f2a1c0d9',
}

export const health: readonly HealthProblem[] = [
  {
    code: 'database_corrupt',
    sentence:
      'The database could not be read: it is damaged at page 14. It was kept aside as it is. Begin with a new one, or restore a backup and restart Nomos.',
    path: '/home/ada/.config/nomos/nomos.db.damaged-2024-03-03',
    blocksRuns: true,
    actions: [{ id: 'begin-new', label: 'Begin a new database' }],
  },
  {
    code: 'approvals_file_broken',
    sentence: 'The exec-approvals file is not valid JSON (line 12). Until it is mended everything is refused.',
    path: '/home/ada/.config/nomos/exec-approvals.json',
    blocksRuns: true,
    actions: [
      { id: 'read-again', label: 'Read it again' },
      { id: 'set-aside', label: 'Set it aside' },
    ],
  },
]

const ledgerKinds: readonly (readonly [LedgerEntry['kind'], string, Record<string, unknown>])[] = [
  ['ledger.opened', 'system', {}],
  ['host.saved', 'operator', { host: { slug: 'strong' }, replaces: null }],
  ['host.key-trusted', 'operator', { slug: 'strong', fingerprint: 'SHA256:Zk2' }],
  ['execution.requested', 'operator', { target: 'local', command: 'uname -a', risk: 'read_only' }],
  ['execution.started', 'gate', { from: 'requested' }],
  ['execution.finished', 'gate', { state: 'completed', exitCode: 0 }],
  ['approval.requested', 'main', { outcome: 'confirm', phrase: 'rm local' }],
  ['approval.settled', 'operator', { to: 'denied', surface: 'cli', words: null, note: 'not today' }],
  ['approval.refused', 'operator', { surface: 'window', code: 'already_settled', state: 'denied' }],
  ['execution.settled', 'gate', { state: 'denied', reason: 'the policy refuses it', failure: null }],
  ['setting.changed', 'operator', { name: 'model', model: 'qwen3:14b' }],
  ['policy.changed', 'operator', { switch: 'askAboutEverything', on: true }],
  ['host.removed', 'operator', { slug: 'attic' }],
  ['recovery', 'operator', { what: 'ledger head accepted' }],
]

export const ledger: readonly LedgerEntry[] = Array.from({ length: 140 }, (_, i) => {
  const [kind, actor, data] = ledgerKinds[i % ledgerKinds.length] ?? ['recovery', 'system', {}]
  return {
    v: 1 as const,
    seq: i + 1,
    at: NOW - (140 - i) * 61_000,
    kind,
    actor,
    executionId: /^(execution|approval)/.test(kind) ? 'e-done' : null,
    approvalId: null,
    data,
    prevHash: '0'.repeat(64),
    hash: `${i.toString(16).padStart(4, '0')}${'9f2c'.repeat(15)}`,
  }
})

export const brokenReport: LedgerReport = {
  intact: false,
  entries: 140,
  problem: { seq: 57, what: 'its hash does not fit its text' },
}

export const doctor: readonly DoctorCheck[] = [
  { number: 1, name: 'Database', status: 'ok', found: 'opens, version 3, 1.2 MB', remedy: null },
  {
    number: 2,
    name: 'Keyring',
    status: 'warning',
    found: 'none that encrypts (basic_text)',
    remedy: 'Install gnome-keyring or kwallet, or enter the key after each start.',
  },
  {
    number: 3,
    name: 'SSH agent',
    status: 'failed',
    found: 'SSH_AUTH_SOCK is not set',
    remedy: 'Start ssh-agent and add a key, or use a key file for each host.',
  },
]
