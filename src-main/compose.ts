import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Numbered } from '../src-preload/contract/events'
import { FINAL_STATES, type HealthProblem } from '../src-preload/contract/model'
import { APPROVALS_FILE, CONFIG_FILE, createApprovalsFile, createConfigFile } from './adapters/approvals-file'
import { createControlServer, pathProblem } from './adapters/control-socket'
import { createLocalRunner } from './adapters/local'
import { createOpenAiModel } from './adapters/openai'
import {
  loadAssent,
  loadExecPolicies,
  loadPreviews,
  loadRiskRules,
  loadUndoRules,
  rulesOfNothing,
} from './adapters/policy-files'
import { DATABASE_FILE, HEAD_FILE, holdHome, openStore, type SqliteStore, StoreProblem } from './adapters/sqlite'
import { createSshRunner } from './adapters/ssh'
import { fileLog, makeHome, systemClock, systemIds } from './adapters/system'
import { createTreeSitterParser } from './adapters/tree-sitter'
import type { AssentGrammar } from './domain/approval'
import { NO_PREVIEWS, type PreviewRules } from './domain/preview'
import { redact } from './domain/redact'
import type { RuleSet } from './domain/risk'
import { NO_UNDO_RULES, type UndoRules } from './domain/undo'
import type { Clock, Desktop, Dispatch, Log, Secrets } from './ports'
import { createAgentLoop } from './services/agent-loop'
import { createAnnouncements } from './services/announcements'
import { createApi } from './services/api'
import { createApprovalDesk } from './services/approval-desk'
import { createChatAnswers } from './services/chat-answers'
import { type Examination, examine } from './services/doctor'
import { createFeed } from './services/feed'
import { createFleet } from './services/fleet'
import { createGate } from './services/gate'
import { createHealth, type Health } from './services/health'
import { createPolicy, NO_POLICY_DATA, type Policy, type PolicyData } from './services/policy'
import { createPolicyDesk } from './services/policy-desk'
import { createPreview } from './services/preview'
import { createRunEvents } from './services/run-events'
import { createSettings } from './services/settings'
import { createUndo } from './services/undo'
import { createUndoReads } from './services/undo-reads'

export interface CoreConfig {
  /** Nomos's own folder, absolute. */
  readonly home: string
  /** The folder that holds `policies/`. */
  readonly resources: string
  readonly version: string
  readonly secrets: Secrets
  readonly headless: boolean
  /** The desktop with its notices and its tray; null or left out on a headless host. */
  readonly desktop?: Desktop | null
  readonly env?: NodeJS.ProcessEnv
  readonly clock?: Clock
}

/** The whole application without a window. */
export interface Core {
  readonly dispatch: Dispatch
  /** Follows events across a restart of the inside (after a damaged database was set aside). */
  subscribe(listener: (event: Numbered) => void): () => void
  /** Brings a card into sight in every window: somebody clicked a notice or an entry of the tray. */
  reveal(executionId: string): void
  /** Opens the control socket. Requests are answered from the beginning, with or without it. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Where no keyring is: nothing can be encrypted, so secrets stay in memory. */
export const NO_SECRETS: Secrets = {
  available: false,
  backend: 'none',
  encrypt() {
    throw new Error('there is no keyring to encrypt with')
  },
  decrypt() {
    throw new Error('there is no keyring to decrypt with')
  },
}

/** How long after the start the risk rules are read, unless a request comes first. */
const WARM_UP_MS = 1500

/** Another core has this folder. */
export class HomeInUse extends Error {}

function stamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/[:.]/g, '-')
}

/** The key of the digests in the ledger; made once, readable by its owner only. */
function macKey(home: string): Uint8Array {
  const folder = join(home, 'keys')
  const file = join(folder, 'ledger.key')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600, flag: 'wx' })
  return readFileSync(file)
}

/** Moves the database, with what belongs to it, into `<home>/quarantine/`. Nothing is deleted. */
function quarantineDatabase(home: string, clock: Clock): void {
  const folder = join(home, 'quarantine')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`, HEAD_FILE]) {
    if (existsSync(join(home, name))) renameSync(join(home, name), join(folder, `${stamp(clock)}-${name}`))
  }
}

interface Inside {
  readonly dispatch: Dispatch
  readonly reveal: (executionId: string) => void
  readonly subscribe: (listener: (event: Numbered) => void) => () => void
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Wires the application. Synchronous up to the first answer: a window that opens at the same time waits for nothing but the database.
 * @throws HomeInUse when another core has the folder; Error when the folder cannot be made.
 */
export function createCore(config: CoreConfig): Core {
  makeHome(config.home)
  const release = holdHome(config.home)
  if (release === null)
    throw new HomeInUse(
      `Another Nomos uses ${config.home}, with a window or headless. Stop it first, answer it with "nomos approvals watch", or set NOMOS_HOME to another folder.`,
    )

  const listeners = new Set<(event: Numbered) => void>()
  let started = false
  let inside = assemble(config, restart)
  let unsubscribe = inside.subscribe(forward)

  function forward(event: Numbered): void {
    for (const listener of listeners) listener(event)
  }

  /** After the database was set aside: everything anew, under a new boot id, so that every window reads it all again. */
  async function restart(): Promise<void> {
    unsubscribe()
    await inside.stop()
    quarantineDatabase(config.home, config.clock ?? systemClock)
    inside = assemble(config, restart)
    unsubscribe = inside.subscribe(forward)
    if (started) await inside.start()
  }

  return {
    dispatch: (caller, route, input) => inside.dispatch(caller, route, input),
    reveal: (executionId) => inside.reveal(executionId),
    subscribe(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    async start() {
      started = true
      await inside.start()
    },
    async stop() {
      unsubscribe()
      await inside.stop()
      release()
    },
  }
}

function openOrExplain(
  home: string,
  health: (problem: HealthProblem, act: (action: string) => Promise<void>) => void,
  restart: () => Promise<void>,
): SqliteStore {
  try {
    return openStore(home)
  } catch (error) {
    if (!(error instanceof StoreProblem)) throw error
    health(
      {
        code: error.code === 'corrupt' ? 'database_corrupt' : 'database_locked',
        sentence: `${error.message}. Nothing runs until this is resolved.`.replace('..', '.'),
        path: error.path,
        blocksRuns: true,
        actions: error.code === 'unavailable' ? [] : [{ id: 'set-aside', label: 'Set it aside and begin a new one' }],
      },
      restart,
    )
    // What the window shows meanwhile has to live somewhere; nothing of it is kept.
    return openStore(null)
  }
}

function assemble(config: CoreConfig, restart: () => Promise<void>): Inside {
  const { home, secrets } = config
  const env = config.env ?? process.env
  const clock = config.clock ?? systemClock
  const ids = systemIds(() => clock.now())
  const log: Log = fileLog(home, (text) => redact(text).text)
  const feed = createFeed(ids.next('boot'), log)
  const health: Health = createHealth(feed)
  const store = openOrExplain(home, (problem, act) => health.set(problem, act), restart)
  checkLedger(store, health, clock)

  let execData: PolicyData | null = null
  const loadExecData = (): PolicyData => {
    if (execData !== null) return execData
    try {
      const loaded = loadExecPolicies(join(config.resources, 'policies'))
      execData = { ...loaded, presets: Object.values(loaded.presets) }
      return execData
    } catch (error) {
      // Without them nothing is a safe bin and no grant covers anything: stricter, never looser. Read again the next time.
      log.warn('the data of the exec policy cannot be used', { error: String(error) })
      return NO_POLICY_DATA
    }
  }
  const policyFiles = { host: createApprovalsFile(home), config: createConfigFile(home) }
  // Skills that name executables come with the skills themselves.
  const policy = createPolicy({ ...policyFiles, data: loadExecData, skills: () => [], store, feed, health, clock, log })
  const local = createLocalRunner(env)
  const ssh = createSshRunner({
    ownKnownHosts: join(home, 'known_hosts'),
    knownHostsFiles: [
      join(homedir(), '.ssh', 'known_hosts'),
      join(homedir(), '.ssh', 'known_hosts2'),
      '/etc/ssh/ssh_known_hosts',
    ],
    agentSocket: env.SSH_AUTH_SOCK ?? null,
    log,
  })
  const fleet = createFleet({ store, probe: ssh, clock, feed })
  const settings = createSettings({
    store,
    secrets,
    feed,
    clock,
    log,
    highlighting: () => policy.highlighting('main'),
    desktop: config.desktop ?? null,
  })

  let rules: RuleSet | null = null
  const loadRules = (): RuleSet => {
    if (rules !== null) return rules
    const path = join(config.resources, 'policies', 'risk')
    try {
      rules = loadRiskRules(path)
      health.clear('rules_broken')
      return rules
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      log.warn('the risk rules cannot be used', { error: why })
      const sentence = `The risk rules cannot be used: ${why}. Until that is mended nothing runs by itself, and every command takes its typed phrase. "nomos policy lint" lists all faults.`
      const actions = [{ id: 'recheck', label: 'Check again' }]
      health.set({ code: 'rules_broken', sentence, path, blocksRuns: false, actions }, () => void loadRules())
      // Read again at the next request: a mended file counts at once.
      return rulesOfNothing()
    }
  }

  let grammar: AssentGrammar | null = null
  const loadGrammar = (): AssentGrammar | null => {
    if (grammar !== null) return grammar
    try {
      grammar = loadAssent(join(config.resources, 'policies'))
    } catch (error) {
      // Without it no words approve or deny anything: cards do. Read again the next time.
      log.warn('the grammar of assent cannot be used', { error: String(error) })
    }
    return grammar
  }

  let undoRules: UndoRules | null = null
  const loadUndo = (): UndoRules => {
    try {
      undoRules ??= loadUndoRules(join(config.resources, 'policies'))
      return undoRules
    } catch (error) {
      // What a command changes is then unknown, and the card says so. Read again the next time.
      log.warn('the undo rules cannot be used', { error: String(error) })
      return NO_UNDO_RULES
    }
  }

  const secondParser = createTreeSitterParser(log)
  // Both are made of the gate's own reads.
  const key = macKey(home)
  const undo = createUndo({
    store,
    clock,
    feed,
    log,
    secrets,
    // They look at files and start nothing; what a state is told by is a command, and goes through the gate.
    inspectors: [local, ssh],
    reads: createUndoReads({ gate: () => gate, store, feed, clock }),
    macKey: key,
    rules: loadRules,
    undoRules: loadUndo,
    home,
    homeFolder: homedir(),
    resolve: (slug) => fleet.resolve(slug),
  })
  const gate = createGate({
    undo,
    store,
    clock,
    ids,
    feed,
    log,
    health,
    secrets,
    runners: [local, ssh],
    macKey: key,
    home,
    homeFolder: homedir(),
    rules: loadRules,
    posture: () => (settings.compound() === 'every-segment' ? 'every-segment' : 'default'),
    secondParser,
    policy,
    // A window can always be asked; without one, somebody has to be watching.
    reachable: () => !config.headless || control.watched(),
    resolve: (slug) => fleet.resolve(slug),
    reached: (destinations) => fleet.reached(destinations),
  })
  let previewRules: PreviewRules | null = null
  const loadPreviewRules = (): PreviewRules => {
    if (previewRules !== null) return previewRules
    try {
      previewRules = loadPreviews(join(config.resources, 'policies'))
    } catch (error) {
      // Nothing depends on them: the cards are without previews until the next start.
      log.warn('the data of the previews cannot be used', { error: String(error) })
      previewRules = NO_PREVIEWS
    }
    return previewRules
  }
  const preview = createPreview({ gate, clock, undo, rules: loadPreviewRules, risk: loadRules, homeFolder: homedir() })
  const soul = readFileSync(join(config.resources, 'policies', 'soul.md'), 'utf8')
  const loop = createAgentLoop({
    store,
    model: createOpenAiModel({ log }),
    endpoint: () => settings.endpoint(),
    gate: {
      async requestRun(caller, input) {
        const execution = await gate.request(
          { kind: 'agent', id: 'main', session: caller.session, turn: caller.turn },
          input,
        )
        return { executionId: execution.id, final: FINAL_STATES.includes(execution.state) }
      },
      resultText: (id) => gate.resultText(id),
      cancelPending(session, turn) {
        for (const execution of store.openExecutions()) {
          if (execution.session !== session || execution.turn !== turn || execution.principal.kind !== 'agent') continue
          void gate.cancel(execution.id, 'operator', 'window').catch((error) => {
            log.info('nothing left to cancel', { id: execution.id, error: String(error) })
          })
        }
      },
    },
    publish: (event) => feed.publish(event),
    clock,
    ids,
    systemPrompt: () =>
      `${soul}\n\n# Targets\n\n${fleet
        .targets()
        .map((target) => `- ${target.slug}${target.tags.length > 0 ? ` (${target.tags.join(', ')})` : ''}`)
        .join('\n')}\n`,
    log,
    redact: (text) => redact(text).text,
  })
  const policyDesk = createPolicyDesk({
    ...policyFiles,
    policy,
    data: loadExecData,
    gate,
    resolve: (slug) => fleet.resolve(slug),
    targets: () => fleet.targets(),
    homeFolder: homedir(),
    store,
    feed,
    clock,
    ids,
  })
  const announcements = createAnnouncements({
    store,
    clock,
    feed,
    log,
    announcers: () => [...(config.desktop?.announcers ?? []), control.announcer],
    desktop: config.desktop ?? null,
    use: () => settings.desktop().notifications,
    // Without a window, what nobody can be told of was decided when it was asked for.
    undelivered: (id) => (config.headless ? Promise.resolve() : gate.undelivered(id)),
  })
  const desk = createApprovalDesk({
    store,
    clock,
    feed,
    log,
    headless: config.headless,
    start: (id) => gate.startApproved(id),
    lapse: () => gate.lapse(),
    announce: (id) => gate.announce(id),
    always: {
      offer: (execution, options) => policyDesk.alwaysOffer(execution, options),
      store: (execution, entries) => policyDesk.storeAlways(execution, entries),
    },
  })
  const events = createRunEvents({
    store,
    feed,
    clock,
    ids,
    log,
  })
  const chatAnswers = createChatAnswers({ store, clock, desk, loop, grammar: loadGrammar })
  gate.onSettled((execution) => events.settled(execution))
  gate.onSettled((execution) => loop.onExecutionSettled(execution.id, execution.session))

  const control = createControlServer({
    folder: join(home, 'run'),
    dispatch: (caller, route, input) => dispatch(caller, route, input),
    feed,
    runs: () => local.groups(),
    log,
    host: config.headless ? 'headless' : 'window',
    onRefused: (reason, { route, approvalId }) => {
      const executionId = approvalId === null ? null : (store.approval(approvalId)?.executionId ?? null)
      const data = { surface: 'cli', route, reason: redact(reason).text }
      store.appendLedger({ kind: 'approval.refused', actor: 'cli', executionId, approvalId, data }, clock.now())
    },
  })
  const dispatch = createApi({
    store,
    clock,
    ids,
    feed,
    log,
    health,
    gate,
    desk,
    loop,
    fleet,
    policy,
    policyDesk,
    settings,
    chatAnswers,
    undo,
    preview,
    announcements,
    doctor: () => {
      // A file that was mended a moment ago is not reported as broken.
      policy.check()
      return examine(
        examinations({
          config,
          store,
          health,
          secrets,
          policy,
          socket: control.path,
        }),
      )
    },
    version: config.version,
    home,
  })

  gate.recover()
  policy.check()
  desk.expire()
  gate.onSettled((execution) => void undo.after(execution))
  loop.resume()

  return {
    dispatch,
    subscribe: (listener) => feed.subscribe(listener),
    reveal: (executionId) => feed.publish({ type: 'reveal', executionId }),
    async start() {
      // Read before the first request needs them, but not while the window comes up. A fault is told by the health bar.
      clock.after(WARM_UP_MS, loadRules)
      policy.watch()
      announcements.look()
      clock.after(WARM_UP_MS, () => void secondParser.ready())
      try {
        await control.start()
      } catch (error) {
        log.warn('the control socket could not be opened', { error: String(error) })
        health.set({
          code: 'control_socket',
          sentence: `The nomos command cannot reach this app: ${error instanceof Error ? error.message : String(error)}`,
          path: control.path,
          blocksRuns: false,
          actions: [],
        })
      }
    },
    async stop() {
      events.close()
      announcements.close()
      desk.close()
      loop.close()
      // In this order, so that whoever follows a run at the socket still hears of its end.
      await gate.close()
      await policy.close()
      await control.stop()
      await Promise.all([local.close(), ssh.close()])
      store.close()
    },
  }
}

/** A cheap look at every start: does the remembered head still fit the table? The whole chain is walked by `ledger verify`. */
function checkLedger(store: SqliteStore, health: Health, clock: Clock): void {
  const problem = store.ledgerHeadProblem()
  if (problem === null) {
    if (store.ledgerPage(null, 1).length === 0) {
      store.appendLedger(
        { kind: 'ledger.opened', actor: 'system', executionId: null, approvalId: null, data: {} },
        clock.now(),
      )
    }
    return
  }
  health.set(
    {
      code: 'ledger_broken',
      sentence: `The ledger does not fit what was remembered of it: ${problem}. Nothing runs until you have accepted this.`,
      path: store.path,
      blocksRuns: true,
      actions: [{ id: 'accept', label: 'Accept it and write that into the ledger' }],
    },
    () => {
      store.acceptLedger('operator', problem, clock.now())
      health.clear('ledger_broken')
    },
  )
}

function examinations(deps: {
  readonly config: CoreConfig
  readonly store: SqliteStore
  readonly health: Health
  readonly secrets: Secrets
  readonly policy: Policy
  readonly socket: string
}): readonly Examination[] {
  const { config, store, health, secrets } = deps
  const ok = (found: string) => ({ status: 'ok' as const, found, remedy: null })
  return [
    {
      name: 'Folder of Nomos',
      run() {
        const mode = statSync(config.home).mode & 0o777
        return (mode & 0o077) === 0 || process.platform === 'win32'
          ? ok(config.home)
          : {
              status: 'failed',
              found: `${config.home} has mode ${mode.toString(8)}`,
              remedy: `Run: chmod 700 ${config.home}`,
            }
      },
    },
    {
      name: 'Problems that stop runs',
      run() {
        const blocking = health.list().filter(({ blocksRuns }) => blocksRuns)
        return blocking.length === 0
          ? ok('none')
          : {
              status: 'failed',
              found: blocking.map(({ sentence }) => sentence).join(' '),
              remedy: config.headless
                ? 'Run "nomos doctor resolve" to see what can be done about each.'
                : 'Use the buttons in the bar at the top of the window.',
            }
      },
    },
    {
      name: 'Ledger',
      run() {
        const report = store.verifyLedger()
        return report.intact
          ? ok(`intact, ${report.entries} entries`)
          : {
              status: 'failed',
              found: `row ${report.problem?.seq ?? 0}: ${report.problem?.what ?? 'broken'}`,
              remedy: 'Keep a copy of the folder of Nomos, then find out who changed the database.',
            }
      },
    },
    {
      name: 'Approvals file',
      run() {
        const { problem, source } = deps.policy.show('main')
        const path = join(config.home, APPROVALS_FILE)
        if (source === 'broken')
          return {
            status: 'failed',
            found: `${path}: ${problem}`,
            remedy:
              'Mend the file, restore its last good copy, or set it aside: in the window, or with "nomos doctor resolve".',
          }
        return ok(existsSync(path) ? path : 'none, so the cautious policy holds')
      },
    },
    {
      name: 'Requested policy',
      run() {
        const { problem, source } = deps.policy.show('main')
        const path = join(config.home, CONFIG_FILE)
        if (problem !== null && source !== 'broken')
          return { status: 'failed', found: `${path}: ${problem}`, remedy: 'Mend the file, restore or set it aside.' }
        const bins = deps.policy.safeBins('main').problems
        if (bins.length > 0)
          return {
            status: 'warning',
            found: bins.map(({ why }) => why).join(' '),
            remedy: `They are never let through. Change tools.exec.safeBins in ${path}.`,
          }
        return ok(existsSync(path) ? path : 'none, so what is built in is asked for')
      },
    },
    {
      name: 'Keyring for the model key',
      run: () =>
        secrets.available
          ? ok(secrets.backend)
          : {
              status: 'warning',
              found: `no real one (${secrets.backend})`,
              remedy: 'Install and unlock a keyring such as gnome-keyring; until then keys are kept in memory only.',
            },
    },
    {
      name: 'Control socket',
      run() {
        const problem = pathProblem(deps.socket)
        if (problem !== null) return { status: 'failed', found: problem, remedy: 'Set NOMOS_HOME to a shorter path.' }
        return existsSync(deps.socket) || process.platform === 'win32'
          ? ok(deps.socket)
          : {
              status: 'failed',
              found: `${deps.socket} is not there`,
              remedy: 'Restart Nomos; the log file says why it could not be opened.',
            }
      },
    },
    ...(config.desktop == null
      ? []
      : (['tray', 'notifications'] as const).map((part) => ({
          name: part === 'tray' ? 'Tray' : 'Notices of the system',
          run() {
            const { available, sentence } = config.desktop?.status()[part] ?? { available: false, sentence: 'unknown' }
            return available
              ? ok(sentence)
              : {
                  status: 'warning' as const,
                  found: sentence,
                  remedy:
                    'Nothing is lost: what waits is shown in the window. The README says what each desktop needs.',
                }
          },
        }))),
    {
      name: 'Shell',
      run: () =>
        existsSync('/bin/bash') || existsSync('/usr/bin/bash')
          ? ok('bash')
          : {
              status: 'warning',
              found: 'no bash, sh is used',
              remedy: 'Install bash: commands are judged as bash reads them.',
            },
    },
  ]
}
