import { z } from 'zod'
import type { FeedEvent } from '../../src-preload/contract'
import type { Message } from '../../src-preload/contract/model'
import type { Clock, Ids, Log, Store } from '../ports'
import { clipBytes, PROMPT_BUDGET, rowSize } from './agent-prompt'

/** Bytes of a result kept in the store; a live round gets the whole text of the gate. */
export const STORED_RESULT_BYTES = 4096

const PAGE = 200

/**
 * Where the turn of a session stands, kept as a setting so that a crash shows in it. `asking`: an answer of the model was on its way.
 * `settling`: its calls are with the gate. No mark: no turn.
 */
const Mark = z.object({ turn: z.string(), phase: z.enum(['asking', 'settling']) })
export type Mark = z.infer<typeof Mark>
const MARK = 'agent.turn.'

export interface TranscriptDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  publish(event: FeedEvent): void
  readonly log: Log
  redact(text: string): string
}

/** The conversation of a session as it is kept: its messages, the results of its calls, and where its turn stands. */
export interface Transcript {
  readMark(session: string): Mark | null
  saveMark(session: string, mark: Mark | null): void
  /** Sessions that have a mark. */
  marked(): readonly string[]
  publish(message: Message): void
  add(
    session: string,
    turn: string,
    message: Pick<Message, 'role' | 'text'> & Partial<Pick<Message, 'toolCalls' | 'callId' | 'error'>>,
  ): Message
  /** What Nomos itself has to say; `retry` offers "Try again". */
  notice(session: string, turn: string, code: string, text: string, retry: boolean): void
  /** Puts the one result of a call in its place, if it has none. True when it did. */
  fill(id: string, text: string): boolean
  /** The whole result of a call of a turn that goes on; null when only the row's shortened copy is left. */
  wholeResult(id: string): string | null
  forgetResults(session: string): void
  /** Calls of a turn that have no result yet. */
  open(session: string, turn: string): readonly Message[]
  /** Messages of a session, oldest first, from as far back as `enough` asks for. */
  readBack(session: string, enough: (rows: readonly Message[]) => boolean): readonly Message[]
  /** The rows of one turn, oldest first. */
  turnRows(session: string, turn: string): readonly Message[]
  lastTurn(session: string): string | null
  /** What the next prompt may be made of: at least the turn before this one, and as much as fits. */
  promptRows(session: string, turn: string): readonly Message[]
}

export function createTranscript(deps: TranscriptDeps): Transcript {
  const { store, clock, ids, log } = deps
  /** Whole result texts of turns that go on, by message id. The rows hold a shortened copy. */
  const results = new Map<string, { readonly session: string; readonly text: string }>()

  const transcript: Transcript = {
    readMark(session) {
      const text = store.setting(MARK + session)
      if (text === null) return null
      try {
        return Mark.parse(JSON.parse(text))
      } catch {
        log.warn('the mark of a turn could not be read and is dropped', { session })
        store.saveSetting(MARK + session, null)
        return null
      }
    },

    saveMark(session, mark) {
      store.saveSetting(MARK + session, mark === null ? null : JSON.stringify(mark))
    },

    marked: () => Object.keys(store.settings(MARK)),

    publish(message) {
      deps.publish({ type: 'message', message })
    },

    add(session, turn, message) {
      const at = clock.now()
      const row = store.addMessage({
        id: ids.next('msg'),
        session,
        turn,
        role: message.role,
        text: message.text,
        toolCalls: message.toolCalls ?? [],
        callId: message.callId ?? null,
        executionId: null,
        error: message.error ?? null,
        at,
      })
      store.updateSession(session, { updatedAt: at })
      return row
    },

    notice(session, turn, code, text, retry) {
      transcript.publish(
        transcript.add(session, turn, { role: 'notice', text: deps.redact(text), error: { code, retry } }),
      )
    },

    // Reading and writing happen in one go of the only writer, so it is filled once.
    fill(id, text) {
      const row = store.message(id)
      if (row === null || row.text !== null) return false
      const whole = deps.redact(text)
      results.set(id, { session: row.session, text: whole })
      transcript.publish(store.updateMessage(id, { text: clipBytes(whole, STORED_RESULT_BYTES) }))
      return true
    },

    wholeResult: (id) => results.get(id)?.text ?? null,

    forgetResults(session) {
      for (const [id, result] of results) if (result.session === session) results.delete(id)
    },

    open: (session, turn) => store.openToolMessages(session).filter((row) => row.turn === turn),

    readBack(session, enough) {
      let rows: readonly Message[] = []
      let before: number | null = null
      for (;;) {
        const page = store.messages(session, before, PAGE)
        rows = [...page, ...rows]
        const first = page[0]
        if (first === undefined || page.length < PAGE || enough(rows)) return rows
        before = first.seq
      }
    },

    // A turn always begins with the operator's message; words that came while it waited are messages of the operator within it.
    turnRows: (session, turn) =>
      transcript
        .readBack(session, (rows) => rows.some((row) => row.turn !== turn && row.role === 'user'))
        .filter((row) => row.turn === turn),

    lastTurn: (session) =>
      transcript
        .readBack(session, (rows) => rows.some((row) => row.role === 'user'))
        .findLast((row) => row.role === 'user')?.turn ?? null,

    promptRows: (session, turn) =>
      transcript.readBack(
        session,
        (rows) =>
          rows.reduce((sum, row) => sum + rowSize(row), 0) > PROMPT_BUDGET &&
          rows.some((row) => row.turn !== turn && row.role === 'user'),
      ),
  }
  return transcript
}
