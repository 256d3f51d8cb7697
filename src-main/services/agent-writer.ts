import type { FeedEvent } from '../../src-preload/contract'
import type { Message } from '../../src-preload/contract/model'
import type { Clock, Log, Store } from '../ports'
import { type RawCall, redactArguments } from './agent-tool'
import type { Transcript } from './agent-transcript'

const DELTA_MS = 40
const PERSIST_MS = 1000
const LONGEST_WORD = 256

/** The assistant message that is being written. */
export interface Writer {
  append(text: string): void
  /** A second attempt writes into the same message. */
  restart(): void
  /** Writes what came so far; the message is then no longer streaming. */
  leave(): void
  /** Writes the whole answer with its calls (as they may be stored) and gives back the row. */
  complete(calls: readonly RawCall[]): Message
  overlay(message: Message): Message
}

export interface WriterDeps {
  readonly store: Pick<Store, 'updateMessage'>
  readonly transcript: Pick<Transcript, 'add' | 'publish'>
  publish(event: FeedEvent): void
  readonly clock: Clock
  readonly log: Log
  redact(text: string): string
}

/**
 * Writes the answer of a turn as it comes: shown at once in words that are whole, kept about every second. `live` says whether the turn
 * is still written by this writer.
 */
export function createWriter(
  deps: WriterDeps,
  turn: { readonly session: string; readonly turn: string },
  live: () => boolean,
): Writer {
  const { store, transcript, clock, log } = deps
  let row: Message | null = null
  let raw = ''
  let shown = ''
  let lastDelta = Number.NEGATIVE_INFINITY
  let lastPersisted = clock.now()
  let forget: (() => void) | null = null

  const overlay = (message: Message): Message => ({ ...message, text: shown, streaming: true })

  const show = (text: string) => {
    forget?.()
    forget = null
    const next = deps.redact(text)
    // A second attempt that fails without a word leaves what the first one said.
    if (next === shown || next.trim() === '') return
    lastDelta = clock.now()
    if (row === null) {
      // Only now: an attempt that fails without a word leaves no empty message behind.
      row = transcript.add(turn.session, turn.turn, { role: 'assistant', text: next })
      shown = next
      lastPersisted = clock.now()
      transcript.publish(overlay(row))
      return
    }
    if (next.startsWith(shown)) {
      const offset = shown.length
      shown = next
      deps.publish({ type: 'delta', session: turn.session, messageId: row.id, offset, text: next.slice(offset) })
    } else {
      shown = next
      transcript.publish(overlay(row))
    }
    if (clock.now() - lastPersisted >= PERSIST_MS) {
      lastPersisted = clock.now()
      row = store.updateMessage(row.id, { text: shown })
    }
  }

  const showLater = () => {
    if (!live()) return
    try {
      show(withoutLastWord(raw))
    } catch (error) {
      // The worker of the turn meets the same fault when it writes, and ends the turn.
      log.error('a part of an answer could not be written', { session: turn.session, error: String(error) })
    }
  }

  return {
    append(text) {
      raw += text
      if (clock.now() - lastDelta >= DELTA_MS) show(withoutLastWord(raw))
      else forget ??= clock.after(DELTA_MS, showLater)
    },
    restart() {
      show(raw)
      raw = ''
    },
    leave() {
      show(raw)
      forget?.()
      if (row !== null) transcript.publish(store.updateMessage(row.id, { text: shown }))
    },
    complete(calls) {
      forget?.()
      const text = deps.redact(raw)
      const toolCalls = calls.map((call) => ({ ...call, arguments: redactArguments(call.arguments, deps.redact) }))
      row =
        row === null
          ? transcript.add(turn.session, turn.turn, { role: 'assistant', text, toolCalls })
          : store.updateMessage(row.id, { text, toolCalls })
      transcript.publish(row)
      return row
    },
    overlay(message) {
      return row !== null && message.id === row.id ? overlay(message) : message
    },
  }
}

/** Holds back a word that is still being written, so that a token is never shown before the redactor could know it. */
function withoutLastWord(text: string): string {
  // Longer ones are shown in the end; looking at more than the tail would be slow on a text without spaces.
  const tail = text.slice(-LONGEST_WORD)
  return text.slice(0, text.length - tail.length) + tail.replace(/[\x21-\x7e]+$/, '')
}
