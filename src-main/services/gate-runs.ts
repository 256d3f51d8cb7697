import type { ExecutionState, Plan } from '../../src-preload/contract/model'
import { createStreamRedactor, redact } from '../domain/redact'
import { literalArgv } from '../domain/shell'
import type { Clock, Feed, Log, RunEnd, RunHandle, Runner, Store } from '../ports'
import type { Health } from './health'
import { OutputRecorder, Outputs } from './output'

/** How long a run may take that nobody was asked about, in ms. */
export const AUTOMATIC_LIMIT_MS = 2 * 60 * 1000

interface LiveRun {
  handle: RunHandle | null
  /** Why it is being stopped, once it is. */
  stopping: 'cancelled' | 'timed_out' | null
  stoppedBy: string | null
  done: Promise<void>
}

export interface GateRunsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly feed: Feed
  readonly log: Log
  readonly health: Health
  readonly runnerFor: (kind: Plan['kind']) => Runner
  /** Called when an execution has begun and when it has ended. */
  readonly changed: (executionId: string) => void
}

/** The gate's second half: what happens to an execution from its claim to its written end. Only the gate makes one. */
export interface GateRuns {
  /** Spawns a claimed execution. Whatever happens then, its end is written. */
  run(executionId: string, plan: Plan, automatic: boolean, input?: Uint8Array): void
  /** Ends a run; false when there is none of this id. */
  stop(executionId: string, by: string): boolean
  readonly outputs: Outputs
  /** Stops all runs and waits for their ends to be written. */
  close(): Promise<void>
}

/** Times a failed write of an end is tried, and the pause between two of them in ms. */
const MOST_WRITES = 12
const WRITE_AGAIN_MS = 5000

/** What an execution has come to, by how its run ended and why it was stopped. */
function endState(
  entry: LiveRun,
  end: RunEnd,
  verified: boolean | null,
): { state: ExecutionState; reason: string | null; failure: string | null } {
  // Stopped before it was sent: nothing ran, and that is what was wanted.
  if (end.kind === 'failed' && end.code === 'stopped' && entry.stopping === 'cancelled') {
    return {
      state: 'cancelled',
      reason: `Stopped by ${entry.stoppedBy ?? 'the operator'} before it began.`,
      failure: null,
    }
  }
  if (end.kind === 'failed') return { state: 'failed', reason: end.sentence, failure: end.code }
  if (end.kind === 'lost') {
    // The sentence says what is not known; every case has words of its own.
    return { state: 'unknown', reason: end.sentence, failure: 'connection_lost' }
  }
  if (entry.stopping === 'timed_out')
    return { state: 'timed_out', reason: 'It took longer than it may and was stopped.', failure: 'timeout' }
  if (entry.stopping === 'cancelled')
    return { state: 'cancelled', reason: `Stopped by ${entry.stoppedBy ?? 'the operator'}.`, failure: null }
  if (end.signal !== null) return { state: 'failed', reason: `It was ended by ${end.signal}.`, failure: 'signal' }
  if (end.exitCode !== 0)
    return { state: 'failed', reason: `It ended with exit code ${end.exitCode}.`, failure: 'exit' }
  if (verified === false)
    return {
      state: 'failed',
      reason: 'It ended well, but the verifying command did not confirm it.',
      failure: 'not_verified',
    }
  return {
    state: 'completed',
    reason: verified === true ? 'Confirmed by the verifying command.' : null,
    failure: null,
  }
}

/** Makes the second half; it holds the runs that are going on. */
/** The verifying command in the place of the other. Files that were pinned for that one are as it has left them. */
const verifying = (plan: Plan, script: string): Plan => ({
  ...plan,
  script,
  input: null,
  argv: literalArgv(script),
  sandbox: null,
  folder: null,
  executable: null,
  programs: [],
  boundFile: null,
})

export function createGateRuns(deps: GateRunsDeps): GateRuns {
  const { store, clock, feed, log, health } = deps
  const outputs = new Outputs()
  const live = new Map<string, LiveRun>()
  let closing = false

  function run(executionId: string, plan: Plan, automatic: boolean, input?: Uint8Array): void {
    const recorder = new OutputRecorder(executionId, {
      redactor: createStreamRedactor,
      redact: (text) => redact(text).text,
      clock,
      publish: (event) => feed.publish(event),
    })
    outputs.open(executionId, recorder)
    const entry: LiveRun = { handle: null, stopping: null, stoppedBy: null, done: Promise.resolve() }
    live.set(executionId, entry)
    deps.changed(executionId)

    const runner = deps.runnerFor(plan.kind)
    const attempt = (what: Plan, timeoutMs: number, unasked: boolean, given?: Uint8Array): Promise<RunEnd> => {
      const handle = runner.start(
        what,
        { automatic: unasked, ...(given === undefined ? {} : { input: given }) },
        {
          started: () => {},
          output: (stream, bytes) => {
            recorder.add(stream, bytes)
            if (recorder.bytes > plan.limits.outputBytes && entry.stopping === null) {
              entry.stopping = 'cancelled'
              entry.stoppedBy = 'the output limit of 1 GB'
              handle.stop()
            }
          },
        },
      )
      entry.handle = handle
      if (entry.stopping !== null) handle.stop()
      const forget = clock.after(timeoutMs, () => {
        if (entry.stopping !== null) return
        entry.stopping = 'timed_out'
        handle.stop()
      })
      return handle.end.finally(forget)
    }

    entry.done = (async () => {
      let end: RunEnd
      let verified: boolean | null = null
      try {
        end = await attempt(plan, plan.limits.timeoutMs, automatic, input)
        if (plan.verify !== null && end.kind === 'exited' && end.exitCode === 0 && entry.stopping === null) {
          recorder.add('stdout', Buffer.from(`\n— verifying: ${redact(plan.verify).text}\n`))
          const check = await attempt(verifying(plan, plan.verify), AUTOMATIC_LIMIT_MS, true)
          verified = check.kind === 'exited' && check.exitCode === 0
        }
      } catch (error) {
        // A runner promises not to throw; should one, its end was not seen.
        log.error('a runner failed', { id: executionId, error: String(error) })
        const what = error instanceof Error ? error.message : String(error)
        end = {
          kind: 'lost',
          sentence: `The runner failed: ${what}. Its end was not seen; it may still be running.`,
        }
      }
      recorder.end()
      await finish(executionId, recorder, entry, end, verified)
    })()
  }

  /** Writes the end. A failed write is tried again, for a minute; then it is reported and shows as unknown after a restart. */
  async function finish(
    executionId: string,
    recorder: OutputRecorder,
    entry: LiveRun,
    end: RunEnd,
    verified: boolean | null,
  ): Promise<void> {
    const { state, reason, failure } = endState(entry, end, verified)
    const { output, truncated } = recorder.persisted()
    const row = {
      state,
      stateReason: reason === null ? null : redact(reason).text,
      failure,
      finishedAt: clock.now(),
      exitCode: end.kind === 'exited' ? end.exitCode : null,
      signal: end.kind === 'exited' ? end.signal : null,
      outputBytes: recorder.bytes,
      output,
      truncated,
      verified,
    }
    for (let attempt = 1; ; attempt++) {
      try {
        store.finish(executionId, row, 'gate')
        break
      } catch (error) {
        log.error('the end of a run could not be written', { id: executionId, attempt, error: String(error) })
        if (attempt >= MOST_WRITES || closing) {
          health.set({
            code: 'database_corrupt',
            sentence: `The end of a run could not be written: ${error instanceof Error ? error.message : String(error)}. Check the disk, then restart Nomos.`,
            path: store.path,
            blocksRuns: true,
            actions: [],
          })
          break
        }
        await new Promise<void>((go) => setTimeout(go, WRITE_AGAIN_MS).unref())
      }
    }
    live.delete(executionId)
    outputs.close(executionId)
    deps.changed(executionId)
  }

  return {
    run,
    stop(executionId, by) {
      const entry = live.get(executionId)
      if (entry === undefined) return false
      entry.stopping ??= 'cancelled'
      entry.stoppedBy ??= by
      entry.handle?.stop()
      return true
    },
    outputs,
    async close() {
      closing = true
      for (const entry of live.values()) {
        entry.stopping ??= 'cancelled'
        entry.stoppedBy ??= 'the end of Nomos'
        entry.handle?.stop()
      }
      await Promise.all([...live.values()].map(({ done }) => done))
    },
  }
}
