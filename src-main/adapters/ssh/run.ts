import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientChannel } from 'ssh2'
import type { Plan } from '../../../src-preload/contract/model'
import { signalFromSandbox } from '../../domain/risk'
import type { Log, RunEnd, RunHandle, RunMode, RunSink } from '../../ports'
import { type Connection, presentedKey } from './connection'
import { hostKeyNotAsPlanned, hostKeyNotPlanned, placeOf, type Refusal, shellFault, type Whereto } from './failures'
import { buildCommand, type FarGroup, fitsBesideInput, nonce } from './far-side'
import { MarkerFilter } from './marker'

/** A connection that is in use until it is given back. */
export interface Lease {
  readonly connection: Connection
  release(): void
}

export interface RunDeps {
  readonly lease: (
    plan: Plan,
  ) => Promise<{ readonly ok: true; readonly lease: Lease } | { readonly ok: false; readonly refusal: Refusal }>
  readonly log: Log
  /** How long a login shell may take until it reaches the command. */
  readonly startTimeoutMs: number
}

/** A process that left children behind which hold its output: how long to wait for more of it. */
const QUIET_AFTER_EXIT_MS = 1000
/** TERM, two seconds, KILL, the same through sudo, and the way there and back. After that nothing more can be done. */
const STOP_LIMIT_MS = 12_000
/** When the far side said that the group is gone and the channel stays open all the same. */
const GONE_GRACE_MS = 1500
/** The app has its own clock for the limit, and the far side its dead-man; this one only keeps a run from hanging for ever. */
const BEYOND_LIMIT_MS = 30_000
/** A server that refuses a session may have one again in a moment. */
const REFUSED_PAUSE_MS = 50
const MOST_REFUSALS = 100
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Starts a plan at its host. The handle's `end` never rejects and always settles. */
export function startRun(deps: RunDeps, plan: Plan, mode: RunMode, sink: RunSink): RunHandle {
  return new SshRun(deps, plan, mode, sink)
}

function failed(code: string, sentence: string, detail: string | null = null): RunEnd {
  return { kind: 'failed', code, sentence, detail }
}

function refused(refusal: Refusal): RunEnd {
  return failed(refusal.failure, refusal.sentence, refusal.detail)
}

/** What a plan must hold to be run here; null when it does. */
function planFault(plan: Plan): RunEnd | null {
  const wrong = (what: string): RunEnd =>
    failed(
      'plan_invalid',
      `The plan for ${plan.target} cannot be run over SSH: ${what}. Nothing was run. Ask for the command again.`,
    )
  if (plan.kind !== 'ssh') return wrong(`it is of kind ${plan.kind}`)
  if (plan.endpoint === null || plan.user === null) return wrong('it names no host and user')
  if (plan.script === null) return wrong('it holds no script')
  if (plan.script.includes('\0') || plan.cwd?.includes('\0')) {
    return failed(
      'command_nul',
      'The command holds a NUL byte, which no shell can take. Nothing was run. Remove it and ask again.',
    )
  }
  for (const [name, value] of Object.entries(plan.env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      return failed(
        'env_invalid',
        `The environment variable "${name}" has no usable name (letters, digits and _ only, not beginning with a digit). Nothing was run.`,
      )
    }
    if (value.includes('\0')) {
      return failed('env_invalid', `The environment variable "${name}" holds a NUL byte. Nothing was run.`)
    }
  }
  return null
}

function inputFault(plan: Plan, mode: RunMode): RunEnd | null {
  if (mode.input === undefined || fitsBesideInput(plan.script ?? '')) return null
  return failed(
    'input_failed',
    `The command for ${plan.target} is too long to be sent together with what it is to read. Nothing was run. Ask for it in parts.`,
  )
}

class SshRun implements RunHandle {
  readonly end: Promise<RunEnd>
  readonly #deps: RunDeps
  readonly #plan: Plan
  readonly #mode: RunMode
  readonly #sink: RunSink
  readonly #stopAsked: Promise<void>
  #askStop: () => void = () => undefined
  #settle: (end: RunEnd) => void = () => undefined
  #ended = false
  #stopping = false
  /** Set once the command is with the far side: from here on a stop has to be carried out there. */
  #stopFar: (() => void) | null = null

  constructor(deps: RunDeps, plan: Plan, mode: RunMode, sink: RunSink) {
    this.#deps = deps
    this.#plan = plan
    this.#mode = mode
    this.#sink = sink
    this.#stopAsked = new Promise((resolve) => {
      this.#askStop = resolve
    })
    this.end = new Promise((resolve) => {
      this.#settle = (end) => {
        if (this.#ended) return
        this.#ended = true
        resolve(end)
      }
    })
    this.#begin().catch((error: unknown) => {
      // Only a mistake of ours gets here. Whether the command had begun decides what may be said of it.
      const detail = error instanceof Error ? error.message : String(error)
      deps.log.error('an SSH run broke', { target: plan.target, detail })
      this.#settle(
        this.#stopFar === null
          ? failed(
              'internal',
              `The command could not be sent to ${plan.target} because of a fault in Nomos. Nothing was run.`,
              detail,
            )
          : {
              kind: 'lost',
              sentence: `Nomos lost sight of the command at ${plan.target} because of a fault of its own: ${detail}.`,
            },
      )
    })
  }

  stop(): void {
    if (this.#stopping || this.#ended) return
    this.#stopping = true
    this.#askStop()
    this.#stopFar?.()
  }

  #stoppedBefore(): RunEnd {
    return failed('stopped', `The command was stopped before it was sent to ${this.#plan.target}. Nothing was run.`)
  }

  /** Waits for something, but no longer than until a stop is asked for; then null. What comes later goes to `late`. */
  async #unlessStopped<T>(work: Promise<T>, late: (value: T) => void): Promise<T | null> {
    let given = false
    work.then(
      (value) => {
        if (given) late(value)
      },
      () => undefined,
    )
    const first = await Promise.race([work, this.#stopAsked.then(() => null)])
    if (first === null || this.#stopping) {
      given = true
      if (first !== null) late(first)
      return null
    }
    return first
  }

  async #begin(): Promise<void> {
    const plan = this.#plan
    const fault = planFault(plan) ?? inputFault(plan, this.#mode)
    if (fault !== null) return this.#settle(fault)
    if (plan.script === null) return
    let attempts = 0
    for (;;) {
      attempts += 1
      const got = await this.#unlessStopped(this.#deps.lease(plan), (late) => {
        if (late.ok) late.lease.release()
      })
      if (got === null) return this.#settle(this.#stoppedBefore())
      if (!got.ok) return this.#settle(refused(got.refusal))
      const { lease } = got
      try {
        const again = await this.#over(lease.connection, plan.script, attempts)
        if (!again) return
      } finally {
        lease.release()
      }
    }
  }

  /** Runs over one connection. True when that one died before the command was given to it, and another should be tried. */
  async #over(connection: Connection, script: string, attempts: number): Promise<boolean> {
    const plan = this.#plan
    const { to } = connection
    const presented = presentedKey(connection.hostKey)
    const planned = plan.hostKeys ?? []
    if (planned.length === 0) {
      this.#settle(refused(hostKeyNotPlanned(to)))
      return false
    }
    if (!planned.some((key) => key.algorithm === presented.algorithm && key.fingerprint === presented.fingerprint)) {
      this.#settle(refused(hostKeyNotAsPlanned(to, presented, planned)))
      return false
    }
    const far = await this.#unlessStopped(connection.farSide(), () => undefined)
    if (far === null) {
      this.#settle(this.#stoppedBefore())
      return false
    }
    if ('failure' in far) {
      if (far.failure === 'connection_lost' && attempts < 2) return true
      this.#settle(refused(far))
      return false
    }
    const argv = this.#mode.automatic ? plan.argv : null
    const sandbox = argv === null ? null : plan.sandbox
    if (sandbox !== null && !(far.sandbox && sandbox === 'files')) {
      const sentence = `The sandbox "${sandbox}" this was to run in is not there at ${placeOf(to)}. Nothing was run. Ask again.`
      this.#settle(failed('sandbox_missing', sentence))
      return false
    }
    let refusals = 0
    for (;;) {
      const waited = await this.#unlessStopped(
        connection.runs.acquire().then((slot) => ({ slot })),
        (late) => late.slot?.release(),
      )
      if (waited === null) {
        this.#settle(this.#stoppedBefore())
        return false
      }
      const { slot } = waited
      if (slot === null) {
        if (attempts < 2) return true
        this.#settle(
          failed(
            'connection_lost',
            `The connection to ${placeOf(to)} ended twice before the command was sent. Nothing was run. Test the connection in the fleet room.`,
            connection.reason,
          ),
        )
        return false
      }
      try {
        const word = nonce()
        const built = buildCommand(far, word, {
          script,
          argv,
          sandbox,
          cwd: plan.cwd === '' ? null : plan.cwd,
          env: plan.env,
          timeoutMs: plan.limits.timeoutMs,
          automatic: this.#mode.automatic,
          input: this.#mode.input ?? null,
        })
        const watch = new Watch(this.#deps, connection, word, to, plan, sandbox !== null, this.#sink)
        // From here a stop cannot be answered by "nothing was run": the request is on its way.
        this.#stopFar = () => watch.stop()
        const opened = await connection.exec(built.line, (channel) => ({ end: watch.follow(channel, built.stdin) }))
        if (opened.ok) {
          this.#settle(await opened.value.end)
          return false
        }
        this.#stopFar = null
        if (opened.begun) {
          this.#settle({
            kind: 'lost',
            sentence: `The connection to ${placeOf(to)} ended just as the command was sent${reasonOf(connection)}. Whether it ran is not known: look at the host before asking again.`,
          })
          return false
        }
        if (this.#stopping) {
          this.#settle(this.#stoppedBefore())
          return false
        }
        if (opened.why === 'busy' && refusals < MOST_REFUSALS) {
          // The server takes fewer sessions than we thought: wait until one of the others ends. With no other, the session that ended
          // last is still being cleared away over there.
          refusals += 1
          if (connection.runs.taken > 1) connection.runs.lower(connection.runs.taken - 1)
          else await this.#unlessStopped(sleep(REFUSED_PAUSE_MS), () => undefined)
          continue
        }
        if (opened.why === 'dead' && attempts < 2) return true
        this.#settle(
          opened.why === 'dead'
            ? failed(
                'connection_lost',
                `The connection to ${placeOf(to)} ended before the command was sent. Nothing was run. Test the connection in the fleet room.`,
                opened.detail,
              )
            : refused(shellFault(to, `it gave no session for the command (${opened.detail})`, '')),
        )
        return false
      } finally {
        slot.release()
      }
    }
  }
}

function reasonOf(connection: Connection): string {
  return connection.reason === null ? '' : ` (${connection.reason})`
}

/** Follows one channel from the request to its end. */
class Watch {
  readonly #deps: RunDeps
  readonly #connection: Connection
  readonly #to: Whereto
  readonly #plan: Plan
  readonly #sandboxed: boolean
  readonly #sink: RunSink
  readonly #stdout: MarkerFilter
  readonly #stderr: MarkerFilter
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Output of the command that was read before its start was; it is told afterwards. */
  #early: { stream: 'stdout' | 'stderr'; bytes: Buffer }[] = []
  #channel: ClientChannel | null = null
  #resolve: (end: RunEnd) => void = () => undefined
  #done = false
  #started = false
  #folderRefused = false
  #inputRefused = false
  #group: FarGroup | null = null
  #exit: { code: number | null; signal: string | null } | null = null
  #closed = false
  #stdoutEnded = false
  #stderrEnded = false
  #quiet: NodeJS.Timeout | null = null
  #stopping = false
  #killed: 'gone' | 'left' | 'undelivered' | null = null
  #waitsForKill = false
  #late = false

  constructor(
    deps: RunDeps,
    connection: Connection,
    word: string,
    to: Whereto,
    plan: Plan,
    sandboxed: boolean,
    sink: RunSink,
  ) {
    this.#deps = deps
    this.#connection = connection
    this.#to = to
    this.#plan = plan
    this.#sandboxed = sandboxed
    this.#sink = sink
    this.#stdout = new MarkerFilter(word)
    this.#stderr = new MarkerFilter(word)
  }

  follow(channel: ClientChannel, stdin: string | Uint8Array | null): Promise<RunEnd> {
    this.#channel = channel
    return new Promise((resolve) => {
      const forget = this.#connection.onEnd(() => {
        // The library closes the channels of a dead connection itself; this is for the case that it does not.
        this.#after(250, () => this.#finish())
      })
      this.#resolve = (end) => {
        if (this.#done) return
        this.#done = true
        forget()
        for (const timer of this.#timers) clearTimeout(timer)
        this.#timers.clear()
        resolve(end)
      }
      channel.on('error', () => undefined)
      channel.on('data', (chunk: Buffer) => this.#take('stdout', chunk))
      channel.stderr.on('data', (chunk: Buffer) => this.#take('stderr', chunk))
      channel.on('end', () => {
        this.#stdoutEnded = true
        this.#finishIfAllSeen()
      })
      channel.stderr.on('end', () => {
        this.#stderrEnded = true
        this.#finishIfAllSeen()
      })
      channel.on('exit', (code: number | null, signal?: string) => {
        this.#exit ??= { code: code ?? null, signal: signal ?? null }
        this.#armQuiet()
      })
      channel.on('close', () => {
        this.#closed = true
        this.#after(1000, () => this.#finish())
        this.#finishIfAllSeen()
      })
      this.#after(this.#deps.startTimeoutMs, () => {
        if (this.#started || this.#done) return
        this.#late = true
        channel.close()
        this.#after(1000, () => this.#finish())
      })
      this.#after(Math.min(this.#plan.limits.timeoutMs + BEYOND_LIMIT_MS, LONGEST_TIMER_MS), () => this.stop())
      if (stdin === null) channel.end()
      else if (typeof stdin === 'string') channel.end(stdin, 'utf8')
      else channel.end(Buffer.from(stdin))
    })
  }

  /** Ends the group on the far side, as soon as it is known. */
  stop(): void {
    if (this.#stopping || this.#done) return
    this.#stopping = true
    if (this.#group !== null) this.#kill(this.#group)
    // Not known yet: the marker brings it, or the limit for the start ends the wait.
  }

  #kill(group: FarGroup): void {
    this.#after(STOP_LIMIT_MS, () => this.#finish(true))
    this.#connection.kill(group).then(
      (result) => {
        this.#killed = result
        if (this.#waitsForKill) this.#finish()
        else if (result === 'gone') this.#after(GONE_GRACE_MS, () => this.#finish())
        if (result !== 'gone')
          this.#deps.log.warn('a stop over SSH was not confirmed', {
            host: placeOf(this.#to),
            group: group.pid,
            result,
          })
      },
      () => undefined,
    )
  }

  #after(ms: number, act: () => void): void {
    if (this.#done) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms)
    this.#timers.add(timer)
  }

  #take(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    if (this.#done) return
    if (this.#quiet !== null) this.#armQuiet()
    const { marker, after } = (stream === 'stdout' ? this.#stdout : this.#stderr).push(chunk)
    if (marker !== null && stream === 'stdout') this.#readMarker(marker)
    if (after === null) return
    if (this.#started) this.#tell(() => this.#sink.output(stream, after))
    else this.#early.push({ stream, bytes: after })
  }

  #readMarker(marker: string): void {
    if (marker === ':cwd') {
      this.#folderRefused = true
      return
    }
    if (marker === ':input') {
      this.#inputRefused = true
      return
    }
    const found = /^:([0-9]+):([gp])$/.exec(marker)
    const pid = Number(found?.[1] ?? Number.NaN)
    // A group of 0 or 1 would mean our own or everybody's.
    this.#group = Number.isSafeInteger(pid) && pid > 1 ? { pid, group: found?.[2] === 'g' } : null
    this.#started = true
    this.#tell(() => this.#sink.started({ pid: this.#group?.pid ?? null }))
    const early = this.#early
    this.#early = []
    for (const { stream, bytes } of early) this.#tell(() => this.#sink.output(stream, bytes))
    if (this.#stopping) {
      if (this.#group !== null) this.#kill(this.#group)
      else this.#after(0, () => this.#finish())
    }
  }

  /** A listener that throws must not take the run with it. */
  #tell(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#deps.log.error('a listener of an SSH run threw', {
        detail: error instanceof Error ? error.message : String(error),
      })
    }
  }

  #armQuiet(): void {
    if (this.#quiet !== null) {
      this.#quiet.refresh()
      return
    }
    this.#quiet = setTimeout(() => this.#finish(), QUIET_AFTER_EXIT_MS)
    this.#timers.add(this.#quiet)
  }

  #finishIfAllSeen(): void {
    if (this.#closed && this.#stdoutEnded && this.#stderrEnded) this.#finish()
  }

  #finish(now = false): void {
    if (this.#done) return
    if (!now && this.#stopping && this.#group !== null && this.#killed === null && this.#connection.alive) {
      // The shell has ended; whether its whole group has is what the other channel is finding out.
      this.#waitsForKill = true
      return
    }
    this.#channel?.close()
    this.#resolve(this.#outcome())
  }

  #outcome(): RunEnd {
    const at = placeOf(this.#to)
    if (this.#folderRefused) {
      return failed(
        'cwd_missing',
        `The folder ${this.#plan.cwd ?? ''} at ${at} does not exist or ${this.#to.user} may not enter it. Nothing was run. Correct the folder or create it first.`,
        this.#stderr.noise() || null,
      )
    }
    if (this.#inputRefused) {
      return failed(
        'input_failed',
        `What the command is to read did not arrive whole at ${at}. Nothing was run. Look for something in the login files of ${this.#to.user} there (.bashrc, .zshenv) that reads from its input.`,
        this.#stderr.noise() || null,
      )
    }
    if (this.#stopping && this.#killed === 'left') {
      return {
        kind: 'lost',
        sentence: `The command at ${at} was told to stop, but part of it still runs${this.#pidHint()}: ${this.#to.user} may not end it, as is the case for what was started through sudo with a password or by another user. End it at the host.`,
      }
    }
    if (this.#started && this.#exit !== null) {
      const { code, signal } = this.#exit
      const inside = this.#sandboxed ? signalFromSandbox(code) : null
      return { kind: 'exited', exitCode: inside === null ? code : null, signal: inside ?? signal }
    }
    if (!this.#connection.alive) {
      return {
        kind: 'lost',
        sentence: this.#started
          ? `The connection to ${at} ended while the command ran${reasonOf(this.#connection)}. How it ended is not known; it may still be running there${this.#pidHint()}.`
          : `The connection to ${at} ended just as the command was sent${reasonOf(this.#connection)}. Whether it ran is not known: look at the host before asking again.`,
      }
    }
    if (this.#late) {
      return {
        kind: 'lost',
        sentence: `The login shell of ${this.#to.user} at ${at} did not reach the command within ${Math.round(this.#deps.startTimeoutMs / 1000)} s, and Nomos hung up. Whether it ran afterwards is not known. Look for something slow in that user's login files (.bashrc, .zshenv).`,
      }
    }
    if (!this.#started) {
      const noise = [this.#stdout.noise(), this.#stderr.noise()].filter((text) => text !== '').join('\n')
      const how =
        this.#exit?.code == null ? 'it ended without an exit code' : `it ended with exit code ${this.#exit.code}`
      return refused(shellFault(this.#to, `its login shell did not run the command (${how})`, noise))
    }
    // The far side itself said that nothing of the group is left: the end was seen, only not how.
    if (this.#killed === 'gone') return { kind: 'exited', exitCode: null, signal: null }
    return {
      kind: 'lost',
      sentence: this.#stopping
        ? `The command at ${at} was told to stop and its end was not seen; it may still be running there${this.#pidHint()}.`
        : `${at} closed the channel of the command without saying how it ended; it may still be running there${this.#pidHint()}.`,
    }
  }

  #pidHint(): string {
    return this.#group === null ? '' : ` (process group ${this.#group.pid})`
  }
}
