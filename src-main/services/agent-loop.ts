import { type FeedEvent, NomosError } from '../../src-preload/contract'
import { type ExecutionView, FINAL_STATES, type Message, type Session } from '../../src-preload/contract/model'
import { type Clock, type Ids, type Log, type Model, type ModelEndpoint, ModelFailure, type Store } from '../ports'
import { denials, MAX_ROUNDS, roundsOf } from './agent-limits'
import { buildPrompt, NO_RESULT } from './agent-prompt'
import { type RawCall, RUN_TOOL, type RunInput, readRunCall, withUniqueIds } from './agent-tool'
import { createTranscript, type Mark } from './agent-transcript'
import { createWriter, type Writer } from './agent-writer'

/** What the loop needs of the gate. The gate tells back through `AgentLoop.onExecutionSettled`. */
export interface AgentGate {
  /**
   * Asks for a run in the name of the chat agent. Throws `NomosError` for bad input; no execution exists then and the message of the
   * error is the result of the call. `final` is true when it is settled already (denied by policy, failed at once).
   */
  requestRun(
    caller: { readonly session: string; readonly turn: string },
    input: RunInput,
  ): Promise<{ readonly executionId: string; readonly final: boolean }>
  /** The text for the model about an execution that is final. A denied one has no output. */
  resultText(executionId: string): string
  /** Cancels whatever of this turn still waits for an approval or runs. Safe to call more than once. */
  cancelPending(session: string, turn: string): void
}

export interface AgentLoopDeps {
  readonly store: Store
  readonly model: Model
  /** The endpoint as it is set right now; null when none is set. */
  endpoint(): ModelEndpoint | null
  readonly gate: AgentGate
  publish(event: FeedEvent): void
  readonly clock: Clock
  readonly ids: Ids
  systemPrompt(session: string): string
  readonly log: Log
  redact(text: string): string
}

export interface AgentLoop {
  /**
   * Appends the operator's message and begins a turn; the answer comes by events. Throws `turn_active` while a turn of this session
   * goes on, `not_found` for an unknown session, `bad_input` for an empty text. `note` is said right behind it.
   */
  send(session: string, text: string, note?: string | null): { readonly turn: string; readonly message: Message }
  /**
   * Appends the operator's words to the turn that goes on, with what Nomos has to say about them (`note`); they reach the agent when it
   * goes on. Without a turn they stand alone. Throws `not_found` for an unknown session.
   */
  append(session: string, text: string, note: string | null): Message
  /** The executions that the newest answer of the agent asked for, whatever became of them; none once it has said something else. */
  proposals(session: string): readonly string[]
  /** Ends the turn of a session, if there is one: what was said stays, open calls are cancelled and get their results. */
  stop(session: string): void
  /** Runs the next round of the last turn again, without a new message. Throws `conflict` when there is nothing to go on with. */
  retry(session: string): { readonly turn: string }
  /** To be called for every execution that became final, as often as one likes; one that is not final is ignored. */
  onExecutionSettled(executionId: string, session: string | null): void
  /** Picks up what the last end of the app left behind. Called once at start, after the gate has settled its own leftovers. */
  resume(): void
  /** Whether a turn of this session streams or waits for runs and approvals. */
  turnState(session: string): Session['turn']
  /** The session with its turn as it is now; the store knows nothing of turns. */
  withTurn(session: Session): Session
  /** The message as it is now when it is just being written, with its newest text and `streaming` set; else unchanged. */
  live(message: Message): Message
  /** Forgets a session that is being removed: nothing more is written for it and its open runs are cancelled. */
  discard(session: string): void
  /** Ends all streams and keeps what was said; the turns are offered for a retry at the next start. */
  close(): void
  /** Resolves once no turn is being worked on. Turns that wait for approvals do not count. */
  whenQuiet(): Promise<void>
}

/** Calls of one answer that are handed to the gate at most; the others get a result that says so. */
export const MAX_CALLS = 32

/** Characters of one answer; a model that writes more has lost its way. */
const MAX_ANSWER = 500_000
const RETRY_MS = 500
/** A server that wants a longer pause than this is left to the operator. */
const LONGEST_RETRY_MS = 30_000
const PAGE = 200
const TITLE_LENGTH = 60
const CANCELLED = 'Cancelled by the operator. It was not carried out to its end; do not repeat it by yourself.'

/** A turn that is being worked on right now. Turns that wait are not here: they are rows in the store. */
interface Active {
  readonly session: string
  readonly turn: string
  readonly abort: AbortController
  /** Resolves when the turn was ended from outside; whatever awaits something races it against this. */
  readonly over: Promise<'over'>
  /** Set once it was ended from outside; from then on its worker writes nothing. */
  ended: boolean
  writer: Writer | null
}

/** Creates the chat agent's loop. It holds no truth of its own: conversation, open calls and the state of turns are in the store. */
export function createAgentLoop(deps: AgentLoopDeps): AgentLoop {
  const { store, gate, clock, ids, log } = deps
  const transcript = createTranscript(deps)
  const active = new Map<string, Active>()
  const workers = new Set<Promise<void>>()
  let closed = false

  // ---- small pieces

  function turnState(session: string): Session['turn'] {
    if (active.has(session)) return 'streaming'
    return store.openToolMessages(session).length > 0 ? 'waiting' : 'idle'
  }

  function withTurn(session: Session): Session {
    return { ...session, turn: turnState(session.id) }
  }

  function publishSession(session: string): void {
    const row = store.session(session)
    if (row !== null) deps.publish({ type: 'session', session: withTurn(row) })
  }

  function resultOf(executionId: string): string {
    try {
      return gate.resultText(executionId)
    } catch (error) {
      log.error('the result of an execution could not be read', { executionId, error: String(error) })
      return 'No result could be read for this run. Look at the state of the machine before you go on.'
    }
  }

  function isFinal(executionId: string): boolean {
    const state = store.execution(executionId)?.state
    return state !== undefined && FINAL_STATES.includes(state)
  }

  // ---- one turn

  function begin(session: string, turn: string): void {
    const abort = new AbortController()
    const over = new Promise<'over'>((resolve) => {
      abort.signal.addEventListener('abort', () => resolve('over'), { once: true })
    })
    const current: Active = { session, turn, abort, over, ended: false, writer: null }
    active.set(session, current)
    transcript.saveMark(session, { turn, phase: 'asking' })
    publishSession(session)
    const worker = work(current).finally(() => workers.delete(worker))
    workers.add(worker)
  }

  /** The turn is not worked on any more; `mark` says whether it waits (and is picked up again) or is over. */
  function release(turn: Active, mark: Mark | null): void {
    turn.ended = true
    turn.writer = null
    active.delete(turn.session)
    if (mark === null) transcript.forgetResults(turn.session)
    transcript.saveMark(turn.session, mark)
    publishSession(turn.session)
  }

  async function work(turn: Active): Promise<void> {
    // Whoever began the turn still has to return; events about it come after that.
    await null
    try {
      while (!turn.ended) {
        if (!(await round(turn))) return
      }
    } catch (error) {
      log.error('a turn of the agent failed', { session: turn.session, error: String(error) })
      if (turn.ended) return
      try {
        turn.writer?.leave()
        for (const row of transcript.open(turn.session, turn.turn)) {
          if (row.executionId === null) transcript.fill(row.id, 'Not run: something failed inside the app.')
        }
        transcript.notice(
          turn.session,
          turn.turn,
          'internal',
          `The turn was ended by a fault inside the app: ${String(error)}. Try again.`,
          true,
        )
        release(
          turn,
          transcript.open(turn.session, turn.turn).length > 0 ? { turn: turn.turn, phase: 'settling' } : null,
        )
      } catch (second) {
        // The store itself is gone. The mark of the turn is still there and says at the next start that it was cut.
        log.error('the end of a failed turn could not be written', { session: turn.session, error: String(second) })
        turn.ended = true
        active.delete(turn.session)
      }
    }
  }

  /** Asks the model once and carries out its calls. True when the next round can begin at once. */
  async function round(turn: Active): Promise<boolean> {
    const { session } = turn
    const endpoint = deps.endpoint()
    if (endpoint === null) {
      transcript.notice(
        session,
        turn.turn,
        'model_unset',
        'No model is set, so nobody can answer. Open Settings, Model, and enter the base URL of any OpenAI-compatible endpoint ' +
          '(OpenRouter, OpenAI, Ollama, llama.cpp), a model name and, where needed, a key. ' +
          'Commands work without a model: try /run local uname -a',
        false,
      )
      release(turn, null)
      return false
    }
    if (roundsOf(transcript.turnRows(session, turn.turn)) >= MAX_ROUNDS) {
      transcript.notice(
        session,
        turn.turn,
        'turn_limit',
        `The agent took ${MAX_ROUNDS} rounds in this turn and was stopped there. “Try again” lets it go on, or tell it what to do next.`,
        true,
      )
      release(turn, null)
      return false
    }
    const repeated = denials(transcript.turnRows(session, turn.turn), (id) => store.execution(id))
    if (repeated !== null) {
      transcript.notice(session, turn.turn, 'denied_repeatedly', repeated, true)
      release(turn, null)
      return false
    }
    transcript.saveMark(session, { turn: turn.turn, phase: 'asking' })
    const answer = await ask(turn, endpoint)
    if (answer === null) return false
    if (answer.calls.length === 0) {
      if (answer.cut) {
        transcript.notice(
          session,
          turn.turn,
          'length',
          'The answer reached the length limit of the model. “Try again” lets it go on.',
          true,
        )
      }
      release(turn, null)
      return false
    }
    await dispatch(turn, answer.calls)
    if (turn.ended) return false
    if (transcript.open(session, turn.turn).length === 0) return true
    release(turn, { turn: turn.turn, phase: 'settling' })
    return false
  }

  /** One answer, with one automatic second attempt. Null when the turn is over; what there is to say about it has been said. */
  async function ask(
    turn: Active,
    endpoint: ModelEndpoint,
  ): Promise<{ readonly calls: readonly RawCall[]; readonly cut: boolean } | null> {
    const prompt = buildPrompt({
      system: deps.systemPrompt(turn.session),
      rows: transcript.promptRows(turn.session, turn.turn),
      execution: (id) => store.execution(id),
      result: (row) => transcript.wholeResult(row.id),
    })
    const writer = createWriter({ ...deps, transcript }, turn, () => !turn.ended && turn.writer !== null)
    turn.writer = writer
    for (let attempt = 1; ; attempt += 1) {
      const calls: RawCall[] = []
      let said = false
      let size = 0
      let failure: ModelFailure
      try {
        let end: 'stop' | 'calls' | 'length' | 'filtered' | 'aborted' | null = null
        for await (const event of untilAborted(
          deps.model.stream(endpoint, prompt, [RUN_TOOL], turn.abort.signal),
          turn.abort.signal,
        )) {
          if (turn.ended) return null
          if (event.kind !== 'done') size += event.kind === 'text' ? event.text.length : event.arguments.length
          if (size > MAX_ANSWER) {
            throw new ModelFailure(
              'protocol',
              'The model did not come to an end and was cut off. Try again, or try another model.',
            )
          }
          if (event.kind === 'text') {
            said ||= event.text.trim() !== ''
            writer.append(event.text)
          } else if (event.kind === 'call') {
            calls.push(event)
          } else {
            end = event.reason
          }
        }
        if (turn.ended) return null
        if (end === null || end === 'aborted')
          throw new ModelFailure('cut', 'The answer of the model was cut off. Try again.')
        if (end === 'filtered') {
          throw new ModelFailure(
            'refused',
            "The endpoint's content filter stopped the answer. Say it in other words, or try again.",
          )
        }
        if (!said && calls.length === 0) throw new ModelFailure('empty', 'The model answered with nothing. Try again.')
        return { calls: settleAnswer(turn, writer, calls), cut: end === 'length' }
      } catch (error) {
        if (turn.ended) return null
        if (!(error instanceof ModelFailure)) throw error
        failure = error
      }
      log.warn('an answer of the model failed', { session: turn.session, code: failure.code, attempt })
      const pause = failure.retryAfterMs ?? RETRY_MS
      // A wrong key or address does not get right by asking again.
      const hopeless = failure.code === 'unauthorised' || failure.code === 'not_found' || pause > LONGEST_RETRY_MS
      if (attempt >= 2 || hopeless) {
        writer.leave()
        transcript.notice(turn.session, turn.turn, failure.code, failure.message, true)
        release(turn, null)
        return null
      }
      writer.restart()
      await Promise.race([sleep(pause), turn.over])
      if (turn.ended) return null
    }
  }

  /** Makes a complete answer durable, together with one open result for each of its calls, before anything is asked of the gate. */
  function settleAnswer(turn: Active, writer: Writer, raw: readonly RawCall[]): readonly RawCall[] {
    const calls = withUniqueIds(raw, () => ids.next('call')).map(({ callId, name, arguments: text }) => ({
      callId,
      name,
      arguments: text,
    }))
    writer.complete(calls)
    turn.writer = null
    if (calls.length === 0) return calls
    for (const call of calls) {
      transcript.publish(transcript.add(turn.session, turn.turn, { role: 'tool', text: null, callId: call.callId }))
    }
    transcript.saveMark(turn.session, { turn: turn.turn, phase: 'settling' })
    return calls
  }

  /** Hands the calls to the gate one after the other, in the order the model wrote them. */
  async function dispatch(turn: Active, calls: readonly RawCall[]): Promise<void> {
    const open = transcript.open(turn.session, turn.turn)
    for (const [index, call] of calls.entries()) {
      const row = open.find((other) => other.callId === call.callId)
      if (row === undefined) continue
      if (index >= MAX_CALLS) {
        transcript.fill(
          row.id,
          `Not run: one answer may hold at most ${MAX_CALLS} calls. Ask for this one again if it is still needed.`,
        )
        continue
      }
      const read = readRunCall(call)
      if (!read.ok) {
        transcript.fill(row.id, read.error)
        continue
      }
      await Promise.race([request(turn, row, read.input), turn.over])
      if (turn.ended) return
    }
  }

  /** Never rejects. Goes on after the turn was stopped, to take back what the gate was just about to begin. */
  async function request(turn: Active, row: Message, input: RunInput): Promise<void> {
    const { session, turn: id } = turn
    let asked: { readonly executionId: string; readonly final: boolean }
    try {
      asked = await gate.requestRun({ session, turn: id }, input)
    } catch (error) {
      // A stopped turn has given this call its result already; a closed app finds it open at the next start.
      if (turn.ended) return
      if (error instanceof NomosError) {
        const field = error.field === null ? '' : ` (argument: ${error.field})`
        const detail = error.detail === null ? '' : ` ${error.detail}`
        transcript.fill(row.id, `Not run: ${error.message}${detail}${field}`)
      } else {
        log.error('the gate failed to take a request', { session, error: String(error) })
        transcript.fill(row.id, 'Not run: something failed inside the app while the request was prepared.')
      }
      return
    }
    if (closed) return
    try {
      if (turn.ended) gate.cancelPending(session, id)
      if (store.message(row.id) === null) return
      transcript.publish(store.updateMessage(row.id, { executionId: asked.executionId }))
      // It may have ended before this call knew its id. A stopped turn has filled the place already.
      if (asked.final || isFinal(asked.executionId)) transcript.fill(row.id, resultOf(asked.executionId))
    } catch (error) {
      log.error('a request could not be recorded in the conversation', { session, error: String(error) })
    }
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void clock.after(ms, resolve))
  }

  // ---- picking up again

  /** Goes on with a turn whose calls all have their results, if it is one that waited for them. */
  function continueIfReady(session: string, turn: string): void {
    if (closed || active.has(session)) return
    const mark = transcript.readMark(session)
    if (mark === null || mark.turn !== turn || mark.phase !== 'settling') return
    if (transcript.open(session, turn).length > 0) return
    begin(session, turn)
  }

  /** Gives calls that never reached the gate their result, and adds results that were never even opened. True if there were any. */
  function repairCalls(session: string, turn: string): boolean {
    const rows = transcript.turnRows(session, turn)
    const answer = rows.findLast((row) => row.role === 'assistant')
    if (answer === undefined) return false
    const opened = rows.filter((row) => row.role === 'tool' && row.seq > answer.seq)
    let repaired = false
    for (const call of answer.toolCalls) {
      if (opened.some((row) => row.callId === call.callId)) continue
      const row = transcript.add(session, turn, { role: 'tool', text: null, callId: call.callId })
      repaired = true
      transcript.fill(row.id, NO_RESULT)
    }
    for (const row of opened) {
      if (row.text !== null || row.executionId !== null) continue
      repaired = true
      const call = answer.toolCalls.find((other) => other.callId === row.callId)
      const executionId = call === undefined ? null : orphanOf(session, turn, call, rows)
      if (executionId === null)
        transcript.fill(row.id, `${NO_RESULT}. Nothing is known of this call; look before you ask for it again.`)
      else transcript.publish(store.updateMessage(row.id, { executionId }))
    }
    return repaired
  }

  /** The execution a call led to whose id was not written down before the app ended. */
  function orphanOf(session: string, turn: string, call: RawCall, rows: readonly Message[]): string | null {
    const read = readRunCall(call)
    if (!read.ok) return null
    const known = new Set(transcript.turnRows(session, turn).map((row) => row.executionId))
    for (const row of rows) known.add(row.executionId)
    const fits = (view: ExecutionView): boolean =>
      view.session === session &&
      view.turn === turn &&
      view.principal.kind === 'agent' &&
      !known.has(view.id) &&
      view.target === read.input.target &&
      view.command === read.input.command
    // What waits must be found whatever others have asked for since: nothing else would lead from the turn to its card.
    const found = store.openExecutions().find(fits) ?? store.executions({ before: null, limit: PAGE }).find(fits)
    return found?.id ?? null
  }

  function resumeSession(session: string): void {
    if (active.has(session)) return
    const mark = transcript.readMark(session)
    const repaired = mark !== null && repairCalls(session, mark.turn)
    for (const row of store.openToolMessages(session)) {
      if (row.executionId === null) transcript.fill(row.id, NO_RESULT)
      else if (store.execution(row.executionId) === null) transcript.fill(row.id, NO_RESULT)
      else if (isFinal(row.executionId)) transcript.fill(row.id, resultOf(row.executionId))
    }
    if (mark === null) return
    if (mark.phase === 'settling' || repaired || transcript.open(session, mark.turn).length > 0) {
      transcript.saveMark(session, { turn: mark.turn, phase: 'settling' })
      continueIfReady(session, mark.turn)
      return
    }
    transcript.saveMark(session, null)
    transcript.notice(
      session,
      mark.turn,
      'interrupted',
      'The app was closed while the answer was on its way. “Try again” asks for it anew.',
      true,
    )
    publishSession(session)
  }

  function describeOpen(session: string): string {
    const open = store.openToolMessages(session)
    const names = open.slice(0, 3).map((row) => {
      const view = row.executionId === null ? null : store.execution(row.executionId)
      if (view === null) return 'a call that is being prepared'
      const state =
        view.state === 'pending_approval' ? 'waits for your approval' : `is ${view.state.replaceAll('_', ' ')}`
      const command = view.command.length > 60 ? `${view.command.slice(0, 60)}…` : view.command
      return `"${command}" on ${view.target} ${state}`
    })
    const more = open.length > names.length ? ` and ${open.length - names.length} more` : ''
    return `${names.join('; ')}${more}`
  }

  function refuseWhileActive(session: string): void {
    const state = turnState(session)
    if (state === 'idle') return
    const what =
      state === 'streaming'
        ? 'the agent is still working on the last one'
        : `the agent waits for its runs: ${describeOpen(session)}`
    throw new NomosError('turn_active', `Not sent: ${what}. Wait for it, answer what waits, or press Stop.`)
  }

  function existing(session: string): Session {
    const row = store.session(session)
    if (row === null)
      throw new NomosError('not_found', 'This session does not exist any more. Open another one.', { field: 'session' })
    return row
  }

  function titleFrom(text: string): string {
    const line = text.replace(/\s+/g, ' ').trim()
    const characters = [...line]
    return characters.length <= TITLE_LENGTH ? line : `${characters.slice(0, TITLE_LENGTH - 1).join('')}…`
  }

  return {
    append(session, text, note) {
      existing(session)
      const turn = active.get(session)?.turn ?? transcript.readMark(session)?.turn ?? ids.next('turn')
      const message = transcript.add(session, turn, { role: 'user', text: deps.redact(text) })
      transcript.publish(message)
      if (note !== null) transcript.notice(session, turn, 'note', note, false)
      return message
    },

    proposals(session) {
      const rows = transcript.readBack(session, (all) => all.some((row) => row.role === 'assistant'))
      const answer = rows.findLast((row) => row.role === 'assistant')
      if (answer === undefined) return []
      return rows.flatMap((row) =>
        row.role === 'tool' && row.seq > answer.seq && row.executionId !== null ? [row.executionId] : [],
      )
    },

    send(session, text, note = null) {
      const row = existing(session)
      if (text.trim() === '')
        throw new NomosError('bad_input', 'The message is empty. Write something first.', { field: 'text' })
      if (closed) throw new NomosError('unavailable', 'Nomos is closing. Send it again after the next start.')
      refuseWhileActive(session)
      const turn = ids.next('turn')
      const redacted = deps.redact(text)
      const message = transcript.add(session, turn, { role: 'user', text: redacted })
      if (row.title.trim() === '' || row.title === 'New session') {
        store.updateSession(session, { title: titleFrom(redacted) })
      }
      transcript.publish(message)
      if (note !== null) transcript.notice(session, turn, 'note', note, false)
      begin(session, turn)
      return { turn, message }
    },

    stop(session) {
      const current = active.get(session)
      const open = store.openToolMessages(session)
      const turn = current?.turn ?? transcript.readMark(session)?.turn ?? open.at(-1)?.turn
      if (turn === undefined || (current === undefined && open.length === 0)) return
      if (current !== undefined) {
        current.ended = true
        current.abort.abort()
        current.writer?.leave()
      }
      // First the results, then the gate: what it settles now finds its place taken and starts nothing.
      const turns = new Set([turn, ...open.map((row) => row.turn)])
      for (const row of open) transcript.fill(row.id, CANCELLED)
      transcript.notice(session, turn, 'stopped', 'Stopped by the operator.', true)
      if (current !== undefined) release(current, null)
      else {
        transcript.saveMark(session, null)
        publishSession(session)
      }
      for (const id of turns) gate.cancelPending(session, id)
    },

    retry(session) {
      existing(session)
      if (closed) throw new NomosError('unavailable', 'Nomos is closing. Try again after the next start.')
      refuseWhileActive(session)
      const turn = transcript.lastTurn(session)
      const nothing = () => new NomosError('conflict', 'There is nothing to try again: the last answer is complete.')
      if (turn === null) throw nothing()
      const last = transcript
        .turnRows(session, turn)
        .findLast(
          (row) => row.role !== 'run' && (row.role !== 'notice' || (row.error !== null && row.error.code !== 'note')),
        )
      if (last === undefined || (last.role === 'assistant' && last.toolCalls.length === 0)) throw nothing()
      repairCalls(session, turn)
      begin(session, turn)
      return { turn }
    },

    onExecutionSettled(executionId, session) {
      if (closed || session === null || !isFinal(executionId)) return
      const turns = new Set<string>()
      for (const row of store.openToolMessages(session)) {
        if (row.executionId !== executionId) continue
        if (transcript.fill(row.id, resultOf(executionId))) turns.add(row.turn)
      }
      for (const turn of turns) continueIfReady(session, turn)
    },

    resume() {
      const marked = transcript.marked()
      const sessions = new Set([...marked, ...store.openToolMessages(null).map((row) => row.session)])
      for (const session of sessions) {
        try {
          if (store.session(session) === null) transcript.saveMark(session, null)
          else resumeSession(session)
        } catch (error) {
          log.error('a turn could not be picked up', { session, error: String(error) })
        }
      }
    },

    turnState,
    withTurn,

    live(message) {
      return active.get(message.session)?.writer?.overlay(message) ?? message
    },

    discard(session) {
      const current = active.get(session)
      const turns = new Set(store.openToolMessages(session).map((row) => row.turn))
      if (current !== undefined) {
        turns.add(current.turn)
        current.ended = true
        current.writer = null
        current.abort.abort()
        active.delete(session)
      }
      transcript.forgetResults(session)
      transcript.saveMark(session, null)
      for (const turn of turns) gate.cancelPending(session, turn)
    },

    close() {
      closed = true
      for (const current of active.values()) {
        try {
          current.writer?.leave()
        } catch (error) {
          log.error('the text of an unfinished answer could not be kept', { error: String(error) })
        }
        current.ended = true
        current.writer = null
        current.abort.abort()
      }
      active.clear()
    },

    async whenQuiet() {
      while (workers.size > 0) await Promise.allSettled([...workers])
    },
  }
}

/** Ends as soon as `signal` fires, whether or not the source takes notice of it. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  // One listener for all steps: racing each step against one long-lived promise would keep every step in memory.
  let wake: () => void = () => undefined
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  try {
    while (!signal.aborted) {
      const step = await new Promise<IteratorResult<T> | null>((resolve, reject) => {
        wake = () => resolve(null)
        iterator.next().then(resolve, reject)
      })
      if (step === null || step.done === true) return
      yield step.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // Not awaited: a source that hangs must not hold the turn.
    iterator.return?.(undefined)?.then(undefined, () => undefined)
  }
}
