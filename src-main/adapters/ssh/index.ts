import { homedir } from 'node:os'
import { join } from 'node:path'
import { NomosError } from '../../../src-preload/contract/errors'
import type { Endpoint, Host, HostTest, KeyFingerprint, Plan } from '../../../src-preload/contract/model'
import type {
  HostProbe,
  InspectedPlace,
  Inspector,
  InspectWish,
  Log,
  PathSeen,
  PlanDraft,
  Prepared,
  RunHandle,
  RunMode,
  Runner,
  RunSink,
} from '../../ports'
import { type Connection, connect, hostKeyRefusal, presentedKey } from './connection'
import { connectionLost, knownHostsUnreadable, placeOf, type Refusal, shellFault, type Whereto } from './failures'
import { type Located, nonce, unameCommand } from './far-side'
import { expandHome, type Found, type Identity, KeyRing, openAgent } from './identity'
import {
  type HostKnowledge,
  judge,
  KnownHostsFiles,
  KnownHostsUnreadable,
  knownFingerprints,
  lookUp,
} from './known-hosts'
import { type Lease, startRun } from './run'

export interface SshRunnerOptions {
  /** Nomos's own known_hosts file, the only one that is written. */
  readonly ownKnownHosts: string
  /** Further known_hosts files, read only. See `usualKnownHostsFiles`. */
  readonly knownHostsFiles: readonly string[]
  /** SSH_AUTH_SOCK; null when there is none. */
  readonly agentSocket: string | null
  /** Passphrases by the path of the key, kept in memory only. */
  readonly passphrases?: Map<string, string>
  /** A silent connection is asked for a sign of life this often; the third unanswered one ends it. Default 10 s. */
  readonly keepaliveMs?: number
  /** For reaching the host and agreeing on keys, and as much again for the login. Default 10 s. */
  readonly connectTimeoutMs?: number
  /** A connection nobody uses is closed after this. Default 60 s. */
  readonly idleCloseMs?: number
  /** How long a server may take to give a channel, and a login shell until it reaches the command. Default 30 s. */
  readonly startTimeoutMs?: number
  readonly log: Log
}

/** Longer than this nobody waits to be told where programs are: then the command is asked about. In ms. */
const LOCATE_MS = 5000

/** Longer than this nobody waits for what files hold. In ms; 8 MiB have to come over the wire in it. */
const INSPECT_MS = 20_000

/** The files OpenSSH reads by default. */
export function usualKnownHostsFiles(home: string = homedir()): string[] {
  return [
    join(home, '.ssh', 'known_hosts'),
    join(home, '.ssh', 'known_hosts2'),
    '/etc/ssh/ssh_known_hosts',
    '/etc/ssh/ssh_known_hosts2',
  ]
}

type Connected =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly refusal: Refusal }

interface PoolEntry {
  readonly key: string
  readonly connecting: Promise<Connected>
  connection: Connection | null
  users: number
  idle: NodeJS.Timeout | null
  /** No new runs; it is closed when the last one ends. */
  retired: boolean
}

/** All that is done at SSH hosts. */
export interface SshPlaces extends Runner, HostProbe, Inspector {
  readonly kind: 'ssh'
}

/** Creates the runner for SSH hosts, which also tests them, remembers their keys and looks at their files. */
export function createSshRunner(options: SshRunnerOptions): SshPlaces {
  return new SshRunner(options)
}

class SshRunner implements SshPlaces {
  readonly kind = 'ssh'
  readonly #files: KnownHostsFiles
  readonly #keys: KeyRing
  readonly #log: Log
  readonly #agentSocket: string | null
  readonly #keepaliveMs: number
  readonly #connectTimeoutMs: number
  readonly #idleCloseMs: number
  readonly #startTimeoutMs: number
  readonly #pool = new Map<string, PoolEntry>()
  readonly #open = new Set<Connection>()
  readonly #runs = new Set<RunHandle>()
  /** The raw key each address showed to the last `test`. */
  readonly #presented = new Map<string, Buffer>()
  #closed = false

  constructor(options: SshRunnerOptions) {
    this.#files = new KnownHostsFiles(options.ownKnownHosts, options.knownHostsFiles)
    this.#keys = new KeyRing(options.passphrases ?? new Map())
    this.#log = options.log
    this.#agentSocket = options.agentSocket
    this.#keepaliveMs = options.keepaliveMs ?? 10_000
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 10_000
    this.#idleCloseMs = options.idleCloseMs ?? 60_000
    this.#startTimeoutMs = options.startTimeoutMs ?? 30_000
  }

  /**
   * Tells the host keys and mostly nothing of the host: a draft is looked at before anybody agreed to anything, and to resolve programs means
   * to log in and run something there. So `resolved` is empty unless the draft asks for it, because an entry of the allowlist names a path
   * of this very host; and an automatic run is held to the system's folders (`SYSTEM_PATH`), which is where programs are looked for then.
   * Only a connection that is open anyway is asked whether a sandbox would do.
   */
  async prepare(draft: PlanDraft): Promise<Prepared> {
    let hostKeys: readonly KeyFingerprint[] = []
    let sandbox: Prepared['sandbox'] = null
    let located: Located | null = null
    if (draft.endpoint !== null) {
      const found = await this.#knowledge(draft.endpoint.address, draft.endpoint.port)
      // Unreadable files bind the plan to no key; its start then refuses with the reason.
      if (found.ok) hostKeys = knownFingerprints(found.value)
      const { endpoint, user } = draft
      if (hostKeys.length > 0 && draft.locate !== 'no' && user !== null)
        located = await this.#locate(user, endpoint, draft.programs, draft.locate === 'connect')
      if (found.ok && draft.sandbox !== null && user !== null) {
        const connection = this.#pool.get(poolKey(user, endpoint))?.connection ?? null
        const to: Whereto = { user, address: endpoint.address, port: endpoint.port }
        if (connection !== null && hostKeyRefusal(to, found.value, connection.hostKey) === null) {
          const alike = await connection.seenAlike(draft.cwd, draft.sandbox.operands)
          if (alike) sandbox = draft.sandbox.profile
        }
      }
    }
    return {
      user: draft.user,
      cwd: draft.cwd,
      folder: null,
      executable: null,
      programs: [],
      boundFile: null,
      hostKeys,
      resolved: located?.programs ?? [],
      ...(located?.home == null ? {} : { home: located.home }),
      sandbox,
      findings: [],
    }
  }

  start(plan: Plan, mode: RunMode, sink: RunSink): RunHandle {
    if (this.#closed) {
      return {
        end: Promise.resolve({
          kind: 'failed',
          code: 'stopped',
          sentence: `Nomos is closing, so the command for ${plan.target} was not sent. Nothing was run.`,
          detail: null,
        }),
        stop: () => undefined,
      }
    }
    const run = startRun(
      { lease: (wanted) => this.#lease(wanted), log: this.#log, startTimeoutMs: this.#startTimeoutMs },
      plan,
      mode,
      sink,
    )
    this.#runs.add(run)
    void run.end.then(() => this.#runs.delete(run))
    return run
  }

  /**
   * Logs in where there is no connection, as `prepare` does for programs: what runs there is our own fixed text, which reads and writes nothing.
   * @throws Error when the host cannot be reached, shows another key than the place names, or does not answer.
   */
  async inspect(place: InspectedPlace, wishes: readonly InspectWish[]): Promise<readonly PathSeen[]> {
    const { endpoint, user } = place
    if (endpoint === null || user === null) throw new Error('The place names no host and user.')
    const to: Whereto = { user, address: endpoint.address, port: endpoint.port }
    const signal = AbortSignal.timeout(INSPECT_MS)
    const late = new Promise<never>((_, reject) => {
      const say = (): void => reject(new Error(`${placeOf(to)} did not answer within ${INSPECT_MS / 1000} s.`))
      signal.addEventListener('abort', say, { once: true })
    })
    const looked = async (): Promise<readonly PathSeen[]> => {
      const leased = await this.#lease({ user, endpoint })
      if (!leased.ok) throw new Error(leased.refusal.sentence)
      const { connection, release } = leased.lease
      try {
        const shown = presentedKey(connection.hostKey)
        const known = (place.hostKeys ?? []).some(
          (key) => key.algorithm === shown.algorithm && key.fingerprint === shown.fingerprint,
        )
        if (!known) throw new Error(`${placeOf(to)} shows another key than was known when this was asked for.`)
        const seen: PathSeen[] = []
        for (const wish of wishes) {
          const one = await connection.inspect(place.cwd === '' ? null : place.cwd, wish, signal)
          if (one === null) throw new Error(`${placeOf(to)} did not tell what stands at a path.`)
          seen.push(one)
        }
        return seen
      } finally {
        release()
      }
    }
    const looking = looked()
    // Whoever loses the race is not waited for.
    looking.catch(() => undefined)
    return await Promise.race([looking, late])
  }

  async test(host: Host, passphrase: string | null): Promise<HostTest> {
    const began = performance.now()
    const to = { user: host.user, address: host.address, port: host.port }
    const place = presentedAt(host)
    const durationMs = (): number => Math.round(performance.now() - began)
    const known = await this.#knowledge(host.address, host.port)
    const knownKeys = known.ok ? knownFingerprints(known.value) : []
    const answer = (refusal: Refusal, presented: Buffer | null): HostTest => ({
      ok: false,
      failure: refusal.failure,
      sentence: refusal.sentence,
      detail: refusal.detail,
      presented: presented === null ? null : presentedKey(presented),
      known: knownKeys,
      banner: null,
      durationMs: durationMs(),
    })
    try {
      if (!known.ok) return answer(known.refusal, null)
      const identity = await this.#identity({ auth: host.auth, keyPath: host.keyPath }, passphrase)
      if (!identity.ok) return answer(identity.refusal, null)
      const result = await connect({
        to,
        identity: identity.value,
        knowledge: known.value,
        connectTimeoutMs: this.#connectTimeoutMs,
        keepaliveMs: this.#keepaliveMs,
        startTimeoutMs: this.#startTimeoutMs,
      })
      if (!result.ok) {
        if (result.presented !== null) this.#presented.set(place, result.presented)
        return answer(result.refusal, result.presented)
      }
      const { connection } = result
      this.#presented.set(place, connection.hostKey)
      try {
        const word = nonce()
        const said = await connection.short(unameCommand(word))
        if (!said.ok) {
          return answer(
            said.why === 'dead'
              ? connectionLost(to, 'after the login', said.detail)
              : shellFault(to, `it gave no session (${said.detail})`, ''),
            connection.hostKey,
          )
        }
        const banner = new RegExp(`${word}:([^\\n]*):${word}`).exec(said.stdout)?.[1] ?? null
        if (banner === null) {
          const printed = `${said.stdout}\n${said.stderr}`.trim().slice(0, 2048)
          return answer(shellFault(to, 'its login shell did not run /bin/sh', printed), connection.hostKey)
        }
        return {
          ok: true,
          failure: null,
          sentence: `Connected to ${placeOf(to)} as ${host.user}: ${banner}.`,
          detail: null,
          presented: presentedKey(connection.hostKey),
          known: knownKeys,
          banner,
          durationMs: durationMs(),
        }
      } finally {
        connection.end()
      }
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      this.#log.error('a connection test broke', { host: host.slug, detail })
      return answer(
        {
          failure: 'protocol',
          sentence: `The test of ${placeOf(to)} broke because of a fault in Nomos: ${detail}.`,
          detail,
        },
        null,
      )
    }
  }

  async trust(host: Host, fingerprint: string): Promise<void> {
    const at = placeOf({ user: host.user, address: host.address, port: host.port })
    const key = this.#presented.get(presentedAt(host))
    if (key === undefined) {
      throw new NomosError(
        'conflict',
        `No key of ${at} was seen since Nomos was started. Test the connection first, then trust what it shows.`,
      )
    }
    const presented = presentedKey(key)
    if (presented.fingerprint !== fingerprint) {
      throw new NomosError(
        'conflict',
        `The key to trust for ${at} was ${fingerprint}, but the host last showed ${presented.algorithm} ${presented.fingerprint}. Nothing was remembered. Test the connection again and compare.`,
      )
    }
    const known = await this.#knowledge(host.address, host.port)
    if (!known.ok) throw new NomosError('unavailable', known.refusal.sentence)
    switch (judge(known.value, key)) {
      case 'ok':
        return
      case 'changed':
      case 'revoked':
        throw new NomosError(
          'conflict',
          hostKeyRefusal({ user: host.user, address: host.address, port: host.port }, known.value, key)?.sentence ??
            `The key of ${at} cannot be trusted.`,
        )
      case 'unknown':
        try {
          await this.#files.append(host.address, host.port, key)
        } catch (error) {
          const detail = error instanceof Error ? error.message : String(error)
          throw new NomosError(
            'unavailable',
            `The key of ${at} could not be remembered: ${detail}. Make Nomos's folder writable for your user and try again.`,
            { detail },
          )
        }
        this.#log.info('a host key was trusted', { host: at, algorithm: presented.algorithm, fingerprint })
    }
  }

  forget(host: Host): void {
    for (const entry of this.#pool.values()) {
      const to = entry.key.startsWith(`${host.user}@${host.address.toLowerCase()} ${host.port} `)
      if (to) this.#retire(entry)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const runs = [...this.#runs]
    for (const run of runs) run.stop()
    await Promise.all(runs.map((run) => run.end))
    for (const entry of [...this.#pool.values()]) this.#retire(entry)
    const open = [...this.#open]
    await Promise.all(
      open.map(
        (connection) =>
          new Promise<void>((resolve) => {
            connection.onEnd(() => resolve())
            connection.end()
          }),
      ),
    )
  }

  async #knowledge(address: string, port: number): Promise<Found<HostKnowledge>> {
    try {
      const { entries } = await this.#files.read()
      return { ok: true, value: lookUp(entries, address, port) }
    } catch (error) {
      if (error instanceof KnownHostsUnreadable)
        return { ok: false, refusal: knownHostsUnreadable(error.file, error.message) }
      throw error
    }
  }

  async #identity(auth: Pick<Endpoint, 'auth' | 'keyPath'>, passphrase: string | null): Promise<Found<Identity>> {
    if (auth.auth === 'agent') return openAgent(this.#agentSocket, this.#connectTimeoutMs)
    const path = expandHome(auth.keyPath ?? '')
    const opened = await this.#keys.open(path, passphrase)
    return opened.ok ? { ok: true, value: { kind: 'key', path, key: opened.value } } : opened
  }

  /** Never rejects, and answers null where there is no connection, or none in time. */
  async #locate(
    user: string,
    endpoint: Endpoint,
    programs: readonly string[],
    connect: boolean,
  ): Promise<Located | null> {
    if (!connect && (this.#pool.get(poolKey(user, endpoint))?.connection ?? null) === null) return null
    const signal = AbortSignal.timeout(LOCATE_MS)
    const late = new Promise<null>((resolve) => {
      signal.addEventListener('abort', () => resolve(null), { once: true })
    })
    const looked = async (): Promise<Located | null> => {
      const leased = await this.#lease({ user, endpoint })
      if (!leased.ok) return null
      try {
        return await leased.lease.connection.locate(programs, signal)
      } finally {
        leased.lease.release()
      }
    }
    try {
      return await Promise.race([looked(), late])
    } catch (error) {
      this.#log.warn('programs were not looked for', { host: endpoint.address, error: String(error) })
      return null
    }
  }

  async #lease(
    plan: Pick<Plan, 'endpoint' | 'user'>,
  ): Promise<{ readonly ok: true; readonly lease: Lease } | { readonly ok: false; readonly refusal: Refusal }> {
    const { endpoint, user } = plan
    if (endpoint === null || user === null) throw new Error('a plan without host and user')
    const to: Whereto = { user, address: endpoint.address, port: endpoint.port }
    const key = poolKey(user, endpoint)
    const known = await this.#knowledge(endpoint.address, endpoint.port)
    if (!known.ok) return known
    if (this.#closed) return { ok: false, refusal: connectionLost(to, 'because Nomos is closing', null) }
    let entry = this.#pool.get(key)
    if (entry?.connection !== undefined && entry.connection !== null) {
      // The files may say something else than when this connection was made.
      const refusal = hostKeyRefusal(to, known.value, entry.connection.hostKey)
      if (refusal !== null) {
        this.#retire(entry)
        return { ok: false, refusal }
      }
      if (!entry.connection.alive) {
        this.#pool.delete(key)
        entry = undefined
      }
    }
    entry ??= this.#dial(key, to, endpoint, known.value)
    entry.users += 1
    if (entry.idle !== null) clearTimeout(entry.idle)
    entry.idle = null
    const held = entry
    let given = false
    const release = (): void => {
      if (given) return
      given = true
      held.users -= 1
      this.#settleIdle(held)
    }
    const result = await held.connecting
    if (!result.ok) {
      release()
      return result
    }
    return { ok: true, lease: { connection: result.connection, release } }
  }

  #dial(key: string, to: Whereto, endpoint: Endpoint, knowledge: HostKnowledge): PoolEntry {
    const connecting = this.#connect(to, endpoint, knowledge)
    const entry: PoolEntry = { key, connecting, connection: null, users: 0, idle: null, retired: false }
    this.#pool.set(key, entry)
    const drop = (): void => {
      if (this.#pool.get(key) === entry) this.#pool.delete(key)
    }
    connecting.then((result) => {
      if (!result.ok) return drop()
      const { connection } = result
      entry.connection = connection
      this.#open.add(connection)
      connection.onEnd(() => {
        this.#open.delete(connection)
        if (entry.idle !== null) clearTimeout(entry.idle)
        entry.idle = null
        drop()
      })
      this.#settleIdle(entry)
    }, drop)
    return entry
  }

  async #connect(to: Whereto, endpoint: Endpoint, knowledge: HostKnowledge): Promise<Connected> {
    const identity = await this.#identity(endpoint, null)
    if (!identity.ok) return identity
    const began = performance.now()
    const result = await connect({
      to,
      identity: identity.value,
      knowledge,
      connectTimeoutMs: this.#connectTimeoutMs,
      keepaliveMs: this.#keepaliveMs,
      startTimeoutMs: this.#startTimeoutMs,
    })
    const ms = Math.round(performance.now() - began)
    if (result.ok) this.#log.info('connected over SSH', { host: placeOf(to), user: to.user, ms })
    else this.#log.warn('no SSH connection', { host: placeOf(to), user: to.user, failure: result.refusal.failure, ms })
    return result
  }

  #retire(entry: PoolEntry): void {
    entry.retired = true
    if (this.#pool.get(entry.key) === entry) this.#pool.delete(entry.key)
    this.#settleIdle(entry)
  }

  /** Closes a connection nobody uses: at once when it is retired, else after a while. */
  #settleIdle(entry: PoolEntry): void {
    if (entry.users > 0 || entry.connection === null) return
    if (entry.retired || this.#closed) {
      entry.connection.end()
      return
    }
    if (entry.idle !== null || !entry.connection.alive) return
    entry.idle = setTimeout(() => this.#retire(entry), this.#idleCloseMs)
    entry.idle.unref()
  }
}

function presentedAt(host: Host): string {
  return `${host.address.toLowerCase()} ${host.port}`
}

function poolKey(user: string, endpoint: Endpoint): string {
  return `${user}@${endpoint.address.toLowerCase()} ${endpoint.port} ${endpoint.auth} ${endpoint.keyPath ?? ''}`
}
