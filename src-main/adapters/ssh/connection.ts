import { connect as connectSocket } from 'node:net'
import type { AuthenticationType, AuthHandlerMiddleware, Client, ClientChannel, ServerHostKeyAlgorithm } from 'ssh2'
import type { KeyFingerprint } from '../../../src-preload/contract/model'
import type { InspectWish, PathSeen } from '../../ports'
import {
  authRefused,
  connectionLost,
  hostKeyChanged,
  hostKeyRevoked,
  hostKeyUnknown,
  placeOf,
  protocolFault,
  type Refusal,
  secondFactor,
  shellFault,
  timedOut,
  unreachable,
  type Whereto,
} from './failures'
import {
  alikeCommand,
  type FarGroup,
  type FarSide,
  killCommand,
  type Located,
  locateCommand,
  nonce,
  parseLocated,
  parseProbe,
  probeCommand,
} from './far-side'
import type { Identity } from './identity'
import { answerBytes, inspectCommand, parseInspected } from './inspect'
import {
  fingerprintOf,
  type HostKnowledge,
  judge,
  type KnownHostEntry,
  keyTypeOf,
  knownFingerprints,
} from './known-hosts'
import { ssh2 } from './library'
import { Slots } from './slots'

/** MaxSessions is 10 by default: six runs, three stops, and one to spare. */
const RUNS_AT_ONCE = 6
const KILLS_AT_ONCE = 3

/** An agent may ask its owner first (ssh-add -c, a key that wants a touch). */
const AGENT_LOGIN_MS = 60_000

/** How long a short command of ours (probe, kill, uname) may take. */
const SHORT_COMMAND_MS = 30_000
/** Output of those is a line, the last one; what a chatty login puts before it is dropped from its beginning. */
const SHORT_COMMAND_BYTES = 64 * 1024

/**
 * Host key algorithms in the order of preference, by the type of the key in known_hosts. `ssh-rsa` signatures (SHA-1) are not offered, as
 * OpenSSH does not offer them any more; RSA keys sign with SHA-2.
 */
const HOST_KEY_ALGORITHMS: readonly (readonly [keyType: string, algorithms: readonly ServerHostKeyAlgorithm[]])[] = [
  ['ssh-ed25519', ['ssh-ed25519']],
  ['ecdsa-sha2-nistp256', ['ecdsa-sha2-nistp256']],
  ['ecdsa-sha2-nistp384', ['ecdsa-sha2-nistp384']],
  ['ecdsa-sha2-nistp521', ['ecdsa-sha2-nistp521']],
  ['ssh-rsa', ['rsa-sha2-512', 'rsa-sha2-256']],
]

/** What we know comes first: a host known by one key must not be called unknown because it showed another. */
export function hostKeyAlgorithms(knowledge: HostKnowledge): ServerHostKeyAlgorithm[] {
  const known = new Set(
    knowledge.keys
      .filter((entry) => !knowledge.revoked.some((other) => other.key.equals(entry.key)))
      .map((entry) => entry.keyType),
  )
  const first = HOST_KEY_ALGORITHMS.filter(([type]) => known.has(type))
  const rest = HOST_KEY_ALGORITHMS.filter(([type]) => !known.has(type))
  return [...first, ...rest].flatMap(([, algorithms]) => algorithms)
}

/** A raw key as people compare it. */
export function presentedKey(key: Buffer): KeyFingerprint {
  return { algorithm: keyTypeOf(key) ?? 'unknown', fingerprint: fingerprintOf(key) }
}

function placesOf(entries: readonly KnownHostEntry[]): string[] {
  return [...new Set(entries.map((entry) => `${entry.file}:${entry.line}`))]
}

/** Why this key is not good enough; null when it is known. */
export function hostKeyRefusal(to: Whereto, knowledge: HostKnowledge, key: Buffer): Refusal | null {
  const presented = presentedKey(key)
  const known = knownFingerprints(knowledge)
  switch (judge(knowledge, key)) {
    case 'ok':
      return null
    case 'revoked':
      return hostKeyRevoked(to, presented, placesOf(knowledge.revoked.filter((entry) => entry.key.equals(key))))
    case 'changed':
      return hostKeyChanged(
        to,
        presented,
        known,
        placesOf(knowledge.keys.filter((entry) => entry.keyType === presented.algorithm)),
      )
    case 'unknown':
      return hostKeyUnknown(to, presented, known, knowledge)
  }
}

export interface ConnectSpec {
  readonly to: Whereto
  readonly identity: Identity
  readonly knowledge: HostKnowledge
  readonly connectTimeoutMs: number
  readonly keepaliveMs: number
  /** How long a server may take to accept or refuse a channel while it still answers keepalives. */
  readonly startTimeoutMs: number
}

export type ConnectResult =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly refusal: Refusal; readonly presented: Buffer | null }

interface LibraryError extends Error {
  readonly level?: string
  readonly code?: string | number
}

/**
 * Connects, checks the host key, and only then logs in. Never rejects, and answers within the connect time-out plus the login time-out.
 */
export function connect(spec: ConnectSpec): Promise<ConnectResult> {
  const { to, identity } = spec
  return new Promise((resolve) => {
    const client: Client = new (ssh2().Client)()
    const socket = connectSocket({
      host: to.address,
      port: to.port,
      // The default of 250 ms for each address gives up on far hosts that have several.
      autoSelectFamilyAttemptTimeout: Math.max(250, Math.floor(spec.connectTimeoutMs / 3)),
    })
    socket.setNoDelay(true)

    let presented: Buffer | null = null
    let keyRefusal: Refusal | null = null
    let agentFault: string | null = null
    let phase: 'socket' | 'handshake' | 'login' | 'done' = 'socket'
    let methods: readonly string[] = []
    let partial = false
    let timer: NodeJS.Timeout | null = null

    const refuse = (refusal: Refusal): void => {
      if (phase === 'done') return
      phase = 'done'
      if (timer !== null) clearTimeout(timer)
      socket.destroy()
      resolve({ ok: false, refusal, presented })
    }
    const within = (ms: number): void => {
      if (timer !== null) clearTimeout(timer)
      timer = setTimeout(() => {
        refuse(timedOut(to, ms, phase === 'login' ? 'login' : phase === 'handshake' ? 'handshake' : 'connect'))
      }, ms)
    }
    within(spec.connectTimeoutMs)

    const loginFault = (detail: string | null): Refusal => {
      if (partial) return secondFactor(to, methods)
      const offered =
        identity.kind === 'agent'
          ? `the ${identity.keys === 1 ? 'key' : `${identity.keys} keys`} of the SSH agent${agentFault === null ? '' : ` (${agentFault})`}`
          : `the key ${identity.path}`
      return authRefused(to, offered, methods, detail)
    }

    socket.once('connect', () => {
      if (phase === 'socket') phase = 'handshake'
    })
    client.on('handshake', () => {
      if (phase !== 'handshake') return
      phase = 'login'
      within(identity.kind === 'agent' ? Math.max(AGENT_LOGIN_MS, spec.connectTimeoutMs) : spec.connectTimeoutMs)
    })
    client.on('error', (error: LibraryError) => {
      if (phase === 'done') return
      if (keyRefusal !== null) return refuse(keyRefusal)
      if (error.level === 'agent') {
        // The library goes on with the agent's next key; only when none is left does it give up.
        agentFault = error.message
        return
      }
      if (error.level === 'client-authentication') return refuse(loginFault(null))
      if (error.level === 'client-socket') {
        const code = String(error.code ?? '')
        if (code === 'ETIMEDOUT') return refuse(timedOut(to, spec.connectTimeoutMs, 'connect'))
        const refusal = unreachable(to, code, error.message)
        return refuse(
          refusal ??
            connectionLost(
              to,
              phase === 'login' ? 'during the login' : 'before the SSH handshake was done',
              error.message,
            ),
        )
      }
      if (phase === 'login') {
        if (/too many authentication failures/i.test(error.message)) return refuse(loginFault(error.message))
        return refuse(connectionLost(to, 'during the login', error.message))
      }
      if (/connection lost before handshake/i.test(error.message)) {
        return refuse(connectionLost(to, 'before the SSH handshake', null))
      }
      refuse(protocolFault(to, error.message))
    })
    client.on('close', () => {
      refuse(
        keyRefusal ?? connectionLost(to, phase === 'login' ? 'during the login' : 'during the SSH handshake', null),
      )
    })
    client.on('ready', () => {
      if (phase === 'done' || presented === null) return
      phase = 'done'
      if (timer !== null) clearTimeout(timer)
      resolve({ ok: true, connection: new Connection(client, () => socket.destroy(), presented, spec) })
    })

    let tried = false
    const authHandler: AuthHandlerMiddleware = (
      left: AuthenticationType[] | null,
      partialSuccess: boolean | null,
      next,
    ) => {
      if (left !== null) methods = left
      if (partialSuccess === true) partial = true
      // The declared type leaves out `false`, which is how the library is told that nothing is left to try.
      const giveUp = next as unknown as (answer: false) => void
      if (tried) return giveUp(false)
      tried = true
      const username = to.user
      if (identity.kind === 'agent') next({ type: 'agent', username, agent: identity.agent })
      else next({ type: 'publickey', username, key: identity.key })
    }

    try {
      client.connect({
        sock: socket,
        username: to.user,
        ident: 'Nomos',
        readyTimeout: 0,
        keepaliveInterval: spec.keepaliveMs,
        keepaliveCountMax: 3,
        algorithms: { serverHostKey: hostKeyAlgorithms(spec.knowledge) },
        authHandler,
        // Called before anything of ours is sent, and again at each renewal of the session keys.
        hostVerifier: (key: Buffer): boolean => {
          if (presented !== null) return presented.equals(key)
          presented = Buffer.from(key)
          keyRefusal = hostKeyRefusal(to, spec.knowledge, presented)
          return keyRefusal === null
        },
      })
    } catch (error) {
      refuse(protocolFault(to, error instanceof Error ? error.message : String(error)))
    }
  })
}

/** How long and for how many commands a look into the sandbox holds. */
const ALIKE_MS = 5000
const MOST_ALIKE = 64

/** How opening a channel went. `begun` is false when the far side cannot have been given the command. */
export type Opened<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: 'busy' | 'refused' | 'dead'; readonly begun: boolean; readonly detail: string }

/** One logged-in connection. */
export class Connection {
  readonly hostKey: Buffer
  readonly to: Whereto
  readonly runs = new Slots(RUNS_AT_ONCE)
  readonly #kills = new Slots(KILLS_AT_ONCE)
  readonly #client: Client
  readonly #destroy: () => void
  readonly #spec: ConnectSpec
  readonly #ended = new Set<() => void>()
  #alive = true
  #reason: string | null = null
  #farSide: Promise<FarSide | Refusal> | null = null
  #knownFarSide: FarSide | null = null
  /** What was found alike, with when. */
  readonly #alike = new Map<string, number>()

  constructor(client: Client, destroy: () => void, hostKey: Buffer, spec: ConnectSpec) {
    this.#client = client
    this.#destroy = destroy
    this.#spec = spec
    this.hostKey = hostKey
    this.to = spec.to
    client.on('error', (error: Error) => {
      this.#reason ??= error.message
      // The library only half-closes after a fault, which a dead peer never answers.
      this.#destroy()
    })
    client.on('end', () => this.#destroy())
    client.on('close', () => this.#die())
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Why it ended, in the words of the library; null while it lives or when nothing was said. */
  get reason(): string | null {
    return this.#reason
  }

  /** Calls back once when the connection is gone; the returned function forgets it. */
  onEnd(callback: () => void): () => void {
    if (!this.#alive) {
      queueMicrotask(callback)
      return () => undefined
    }
    this.#ended.add(callback)
    return () => this.#ended.delete(callback)
  }

  #die(): void {
    if (!this.#alive) return
    this.#alive = false
    this.runs.close()
    this.#kills.close()
    const callbacks = [...this.#ended]
    this.#ended.clear()
    for (const callback of callbacks) callback()
  }

  /**
   * Opens a channel with a command. Does not count against the slots: the caller holds one.
   * @param attach is called in the same turn in which the channel opens: a short command's exit may stand in the same packet, and an
   *   event that nobody listens to is lost
   */
  exec<T>(line: string, attach: (channel: ClientChannel) => T): Promise<Opened<T>> {
    return new Promise((resolve) => {
      let given = false
      const give = (opened: Opened<T>): void => {
        given = true
        clearTimeout(timer)
        resolve(opened)
      }
      const timer = setTimeout(() => {
        give({ ok: false, why: 'dead', begun: true, detail: `no answer within ${this.#spec.startTimeoutMs} ms` })
      }, this.#spec.startTimeoutMs)
      try {
        this.#client.exec(line, (error: (Error & { reason?: number | string }) | undefined, channel) => {
          if (given) {
            if (!error) channel.close()
            return
          }
          if (!error) return give({ ok: true, value: attach(channel) })
          const detail = error.message
          if (typeof error.reason === 'number') {
            // 2 is what OpenSSH says above MaxSessions, 4 is "resource shortage".
            const why = error.reason === 2 || error.reason === 4 ? 'busy' : 'refused'
            return give({ ok: false, why, begun: false, detail })
          }
          if (detail === 'Unable to exec') {
            // The channel was open and the request was sent: refused by a living server, or not answered by a dead one.
            const refused = this.#alive && this.#reason === null
            return give({ ok: false, why: refused ? 'refused' : 'dead', begun: !refused, detail })
          }
          give({ ok: false, why: 'dead', begun: false, detail })
        })
      } catch (error) {
        give({ ok: false, why: 'dead', begun: false, detail: error instanceof Error ? error.message : String(error) })
      }
    })
  }

  /** What the far side offers, asked once. */
  farSide(): Promise<FarSide | Refusal> {
    this.#farSide ??= this.#probe().then((answer) => {
      // A fault may pass (a full process table); ask again next time.
      if ('failure' in answer) this.#farSide = null
      return answer
    })
    return this.#farSide
  }

  async #probe(): Promise<FarSide | Refusal> {
    const slot = await this.runs.acquire()
    if (slot === null) return connectionLost(this.to, 'before the command was sent', this.#reason)
    try {
      const word = nonce()
      const answer = await this.short(probeCommand(word))
      if (!answer.ok) {
        if (answer.why === 'dead')
          return connectionLost(this.to, 'before the command was sent', this.#reason ?? answer.detail)
        return shellFault(this.to, `it gave no session (${answer.detail})`, '')
      }
      const far = parseProbe(word, answer.stdout)
      if (far !== null) {
        this.#knownFarSide = far
        return far
      }
      const printed = `${answer.stdout}\n${answer.stderr}`.trim().slice(0, 2048)
      return shellFault(this.to, `its login shell did not run /bin/sh (${endedHow(answer)})`, printed)
    } finally {
      slot.release()
    }
  }

  /**
   * Whether a run would read the same in the sandbox, as far as that can be told at once: only over a connection that has been used, with
   * a channel to spare. A good answer is kept for a moment, so that the look right before the start costs nothing. Never rejects.
   */
  async seenAlike(cwd: string | null, operands: readonly string[]): Promise<boolean> {
    if (!this.#alive || this.#knownFarSide?.sandbox !== true) return false
    const key = JSON.stringify([cwd, ...operands])
    const kept = this.#alike.get(key)
    if (kept !== undefined && performance.now() - kept < ALIKE_MS) return true
    this.#alike.delete(key)
    const word = nonce()
    const line = alikeCommand(word, cwd, operands)
    const slot = line === null ? null : this.runs.tryAcquire()
    if (line === null || slot === null) return false
    try {
      const answer = await this.short(line)
      if (!answer.ok || !answer.stdout.includes(`${word} alike`)) return false
      if (this.#alike.size >= MOST_ALIKE) this.#alike.clear()
      this.#alike.set(key, performance.now())
      return true
    } finally {
      slot.release()
    }
  }

  /** Where a run that nobody was asked about would find programs; null when that cannot be told. Never rejects. */
  async locate(programs: readonly string[], signal: AbortSignal): Promise<Located | null> {
    const word = nonce()
    const line = locateCommand(word, programs)
    const slot = line === null ? null : await this.runs.acquire()
    if (line === null || slot === null) return null
    try {
      if (signal.aborted) return null
      const answer = await this.short(line)
      return answer.ok && answer.exitCode === 0 ? parseLocated(word, programs, answer.stdout) : null
    } finally {
      slot.release()
    }
  }

  /** What stands at a path; null when that cannot be told. Never rejects. */
  async inspect(cwd: string | null, wish: InspectWish, signal: AbortSignal): Promise<PathSeen | null> {
    const slot = await this.runs.acquire()
    if (slot === null) return null
    try {
      if (signal.aborted) return null
      const word = nonce()
      const answer = await this.short(inspectCommand(word, cwd, wish), answerBytes(wish.content))
      return answer.ok ? parseInspected(word, wish, answer.stdout) : null
    } finally {
      slot.release()
    }
  }

  /** Runs a short command of our own and collects the end of what it says, at most `most` bytes. Never rejects. */
  async short(line: string, most = SHORT_COMMAND_BYTES): Promise<ShortAnswer> {
    const opened = await this.exec(line, (channel) => ({ answer: this.#collect(channel, most) }))
    if (!opened.ok) return { ok: false, why: opened.why, detail: opened.detail }
    return opened.value.answer
  }

  #collect(channel: ClientChannel, most: number): Promise<ShortAnswer> {
    return new Promise((resolve) => {
      const said = { stdout: new Tail(most), stderr: new Tail(SHORT_COMMAND_BYTES) }
      let exitCode: number | null = null
      let done = false
      const finish = (dead: boolean): void => {
        if (done) return
        done = true
        clearTimeout(timer)
        forget()
        if (dead) resolve({ ok: false, why: 'dead', detail: this.#reason ?? 'the connection ended' })
        else resolve({ ok: true, stdout: said.stdout.text(), stderr: said.stderr.text(), exitCode })
      }
      const timer = setTimeout(() => {
        channel.close()
        finish(false)
      }, SHORT_COMMAND_MS)
      const forget = this.onEnd(() => finish(true))
      channel.on('data', (chunk: Buffer) => said.stdout.add(chunk))
      channel.stderr.on('data', (chunk: Buffer) => said.stderr.add(chunk))
      channel.on('error', () => undefined)
      channel.on('exit', (code: number | null) => {
        exitCode = code
      })
      channel.on('close', () => finish(!this.#alive))
      channel.end()
    })
  }

  /**
   * Ends a process group: TERM, then KILL. Goes over a channel that is kept for this; where the server allows no second one, over a
   * connection of its own.
   */
  async kill(target: FarGroup): Promise<'gone' | 'left' | 'undelivered'> {
    const slot = await this.#kills.acquire()
    if (slot === null) return 'undelivered'
    try {
      const word = nonce()
      const line = killCommand(word, target)
      let answer = await this.short(line)
      if (!answer.ok && answer.why !== 'dead') {
        const second = await connect(this.#spec)
        if (!second.ok) return 'undelivered'
        answer = await second.connection.short(line)
        second.connection.end()
      }
      if (!answer.ok) return 'undelivered'
      if (answer.stdout.includes(`${word} gone`)) return 'gone'
      return answer.stdout.includes(`${word} left`) ? 'left' : 'undelivered'
    } finally {
      slot.release()
    }
  }

  /** Says goodbye, and hangs up after a second when nobody answers. */
  end(): void {
    if (!this.#alive) return
    this.#client.end()
    setTimeout(() => this.#destroy(), 1000).unref()
  }

  toString(): string {
    return `${this.to.user}@${placeOf(this.to)}`
  }
}

export type ShortAnswer =
  | { readonly ok: true; readonly stdout: string; readonly stderr: string; readonly exitCode: number | null }
  | { readonly ok: false; readonly why: 'busy' | 'refused' | 'dead'; readonly detail: string }

/** The last bytes of a stream. */
class Tail {
  readonly #most: number
  #chunks: Buffer[] = []
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    // Put together now and then, not at each piece of a long answer.
    if (this.#length > 2 * this.#most) this.#cut()
  }

  #cut(): void {
    const all = Buffer.concat(this.#chunks)
    const kept = all.length > this.#most ? Buffer.from(all.subarray(all.length - this.#most)) : all
    this.#chunks = [kept]
    this.#length = kept.length
  }

  text(): string {
    this.#cut()
    return this.#chunks[0]?.toString('utf8') ?? ''
  }
}

function endedHow(answer: { readonly exitCode: number | null }): string {
  return answer.exitCode === null ? 'it ended without an exit code' : `it ended with exit code ${answer.exitCode}`
}
