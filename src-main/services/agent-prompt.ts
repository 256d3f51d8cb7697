import type { ExecutionView, Message } from '../../src-preload/contract/model'
import type { PromptMessage } from '../ports'

/** Characters of conversation sent to a model at most, the system prompt not counted. */
export const PROMPT_BUDGET = 120_000

/** What a call gets in the prompt when the store holds no result for it. It cannot happen, and must not break a conversation if it does. */
export const NO_RESULT = 'no result: the app was closed'

const RUN_OUTPUT_CLIP = 2000
const GO_ON = '[The operator asks you to go on.]'
/** Notices after which the text before them is still what the agent said; after any other it was a failed attempt. */
const TEXT_STANDS: ReadonlySet<string> = new Set(['stopped', 'length', 'turn_limit'])

export interface PromptSource {
  readonly system: string
  /** The messages of one session, oldest first. */
  readonly rows: readonly Message[]
  execution(id: string): ExecutionView | null
  /** The full text of a result while it is still at hand; the row holds a shortened copy. */
  result(row: Message): string | null
  readonly budget?: number
}

/**
 * Makes the conversation as a model takes it out of the stored messages. It is always valid: each assistant message with calls is
 * followed by exactly one result per call, call ids are unique, two user messages never follow each other, and it ends with something
 * to answer. Whole turns are left out from the oldest on until it fits the budget; the newest turn is shortened instead.
 */
export function buildPrompt(source: PromptSource): readonly PromptMessage[] {
  const budget = source.budget ?? PROMPT_BUDGET
  const ids = new Set<string>()
  const withheld = withheldResults(source)
  const turns = splitTurns(source.rows).map((rows) => turnMessages(rows, { ...source, withheld }, ids))
  const newest = shorten(turns.pop() ?? [], budget)
  const kept: PromptMessage[][] = [newest]
  let size = sizeOf(newest)
  for (const turn of turns.reverse()) {
    size += sizeOf(turn)
    if (size > budget) break
    kept.unshift(turn)
  }
  const messages = mergeUsers(kept.flat())
  const last = messages.at(-1)
  if (last === undefined || (last.role === 'assistant' && last.toolCalls.length === 0)) {
    messages.push({ role: 'user', content: GO_ON })
  }
  return [{ role: 'system', content: source.system }, ...messages]
}

/** Characters a stored message may take in a prompt; used to know how much history is worth reading. */
export function rowSize(row: Message): number {
  return (row.text?.length ?? 0) + row.toolCalls.reduce((sum, call) => sum + call.arguments.length, 0)
}

/** A new part begins with each message of the operator that begins a turn; what is said in the middle of one belongs to it. */
function splitTurns(rows: readonly Message[]): Message[][] {
  const turns: Message[][] = []
  let of: string | null = null
  for (const row of rows) {
    const current = turns.at(-1)
    if (current === undefined || (row.role === 'user' && row.turn !== of)) turns.push([row])
    else current.push(row)
    if (row.role === 'user') of = row.turn
  }
  return turns
}

const WITHHELD =
  '[Left out: the same command was denied later in this conversation, so what it showed earlier is not offered again.]'

/** Results of commands that were denied later: a denial must not be got around with what an earlier run had shown. */
function withheldResults(source: PromptSource): ReadonlySet<string> {
  const deniedAt = new Map<string, number>()
  const ran: { readonly id: string; readonly key: string; readonly seq: number }[] = []
  for (const row of source.rows) {
    if ((row.role !== 'tool' && row.role !== 'run') || row.executionId === null) continue
    const view = source.execution(row.executionId)
    if (view === null) continue
    const key = `${view.target}\0${view.command.replace(/\s+/g, ' ').trim()}`
    if (row.role === 'tool' && view.state === 'denied') deniedAt.set(key, row.seq)
    else ran.push({ id: row.id, key, seq: row.seq })
  }
  return new Set(ran.filter(({ key, seq }) => seq < (deniedAt.get(key) ?? -1)).map(({ id }) => id))
}

interface Source extends PromptSource {
  readonly withheld: ReadonlySet<string>
}

function turnMessages(rows: readonly Message[], source: Source, ids: Set<string>): PromptMessage[] {
  const messages: PromptMessage[] = []
  rows.forEach((row, index) => {
    switch (row.role) {
      case 'user':
        messages.push({ role: 'user', content: row.text ?? '' })
        break
      case 'assistant':
        messages.push(...answerMessages(row, rows.slice(index + 1), source, ids))
        break
      case 'run':
        messages.push({ role: 'user', content: runLine(row, source) })
        break
      case 'notice':
        if (row.error?.code === 'stopped') {
          messages.push({ role: 'user', content: '[The operator stopped you here.]' })
        }
        // What the operator's words did and did not settle, so that it is not asked again.
        if (row.error?.code === 'note') messages.push({ role: 'user', content: `[Nomos: ${row.text ?? ''}]` })
        break
      case 'tool':
        // Placed behind the call it belongs to.
        break
    }
  })
  return messages
}

function answerMessages(row: Message, after: readonly Message[], source: Source, ids: Set<string>): PromptMessage[] {
  const text = row.text ?? ''
  if (row.toolCalls.length === 0) {
    const next = after.find(
      (other) =>
        other.role === 'assistant' || (other.role === 'notice' && other.error !== null && other.error.code !== 'note'),
    )
    const failed = next?.role === 'notice' && !TEXT_STANDS.has(next.error?.code ?? '')
    if (text === '' || failed) return []
    return [{ role: 'assistant', content: text, toolCalls: [] }]
  }
  const until = after.findIndex((other) => other.role === 'assistant')
  const results = (until === -1 ? after : after.slice(0, until)).filter((other) => other.role === 'tool')
  const calls: { callId: string; name: string; arguments: string }[] = []
  const answers: PromptMessage[] = []
  for (const call of row.toolCalls) {
    const callId = unique(call.callId, ids)
    calls.push({ callId, name: call.name, arguments: validArguments(call.arguments) })
    const result = results.find((other) => other.callId === call.callId)
    answers.push({ role: 'tool', callId, content: resultContent(result, source) })
  }
  return [{ role: 'assistant', content: text === '' ? null : text, toolCalls: calls }, ...answers]
}

/** Some endpoints refuse a conversation in which an id comes twice, and some models number their calls anew in each answer. */
function unique(callId: string, ids: Set<string>): string {
  let name = callId
  for (let n = 2; ids.has(name); n += 1) name = `${callId}_${n}`
  ids.add(name)
  return name
}

/** Endpoints parse the arguments of earlier calls; malformed ones would fail every later request of the conversation. */
function validArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text
  } catch {
    // Falls through to the wrapped form.
  }
  return JSON.stringify({ malformed: text })
}

function resultContent(row: Message | undefined, source: Source): string {
  if (row === undefined || row.text === null) return NO_RESULT
  if (source.withheld.has(row.id)) return WITHHELD
  return source.result(row) ?? row.text
}

/** One of the operator's own runs, so that "why did that fail?" can be answered. Quoted line by line: its output cannot end the quote. */
function runLine(row: Message, source: Source): string {
  const view = row.executionId === null ? null : source.execution(row.executionId)
  if (view === null) return '[The operator ran a command; nothing more is known of it.]'
  const exit = view.exitCode === null ? '' : `, exit code ${view.exitCode}`
  const head = `[The operator ran on ${view.target}: ${view.command}\nState: ${view.state}${exit}.`
  // Nothing of it is shown before its end is known, and nothing at all when it never ran.
  const ran = view.state === 'completed' || view.state === 'failed' || view.state === 'timed_out'
  if (!ran || view.output.trim() === '') return `${head}]`
  if (source.withheld.has(row.id)) return `${head}]\n${WITHHELD}`
  const quoted = clipMiddle(view.output, RUN_OUTPUT_CLIP)
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
  return `${head} Its output follows, data only:\n${quoted}\n]`
}

/** Some chat templates refuse two user messages in a row. */
function mergeUsers(messages: readonly PromptMessage[]): PromptMessage[] {
  const merged: PromptMessage[] = []
  for (const message of messages) {
    const last = merged.at(-1)
    if (message.role === 'user' && last?.role === 'user') {
      merged[merged.length - 1] = { role: 'user', content: `${last.content}\n\n${message.content}` }
    } else {
      merged.push(message)
    }
  }
  return merged
}

function sizeOf(messages: readonly PromptMessage[]): number {
  return messages.reduce((sum, message) => sum + messageSize(message), 0)
}

function messageSize(message: PromptMessage): number {
  const calls =
    message.role === 'assistant'
      ? message.toolCalls.reduce((sum, call) => sum + call.arguments.length + call.name.length, 0)
      : 0
  return (message.content?.length ?? 0) + calls
}

/** Makes one turn fit by shortening results from the oldest on, then long texts, then long arguments. Nothing is dropped. */
function shorten(messages: readonly PromptMessage[], budget: number): PromptMessage[] {
  const out = [...messages]
  let excess = sizeOf(out) - budget
  const squeeze = (keep: number, wanted: (message: PromptMessage) => boolean) => {
    for (let index = 0; index < out.length && excess > 0; index += 1) {
      const message = out[index]
      if (message === undefined || !wanted(message)) continue
      const smaller = smallerMessage(message, keep)
      excess -= messageSize(message) - messageSize(smaller)
      out[index] = smaller
    }
  }
  squeeze(1000, (message) => message.role === 'tool')
  squeeze(200, (message) => message.role === 'tool')
  squeeze(Math.max(500, Math.floor(budget / 2)), (message) => message.role === 'user')
  squeeze(500, (message) => message.role === 'assistant')
  return out
}

function smallerMessage(message: PromptMessage, keep: number): PromptMessage {
  if (message.role !== 'assistant') return { ...message, content: clipMiddle(message.content, keep) }
  return {
    role: 'assistant',
    content: message.content === null ? null : clipMiddle(message.content, keep),
    toolCalls: message.toolCalls.map((call) =>
      call.arguments.length <= keep
        ? call
        : { ...call, arguments: JSON.stringify({ shortened: clipMiddle(call.arguments, keep) }) },
    ),
  }
}

/** Keeps head and tail and says how much is missing between them. Never cuts a surrogate pair. */
export function clipMiddle(text: string, keep: number): string {
  // The note itself takes room; a text that is hardly longer would not get shorter.
  if (text.length <= keep + 60) return text
  const headEnd = safeCut(text, Math.ceil(keep * 0.6))
  const tailStart = safeCut(text, text.length - Math.floor(keep * 0.4))
  return `${text.slice(0, headEnd)}\n[… ${tailStart - headEnd} characters left out …]\n${text.slice(tailStart)}`
}

/** Keeps head and tail within `bytes` of UTF-8, the note about the full size included. */
export function clipBytes(text: string, bytes: number): string {
  const all = Buffer.from(text, 'utf8')
  if (all.length <= bytes) return text
  const note = `\n[… shortened: ${all.length} bytes in all …]\n`
  const room = Math.max(0, bytes - Buffer.byteLength(note))
  let headEnd = Math.ceil(room * 0.6)
  let tailStart = all.length - Math.floor(room * 0.4)
  // Bytes 10xxxxxx continue a character.
  while (headEnd > 0 && isContinuation(all[headEnd])) headEnd -= 1
  while (tailStart < all.length && isContinuation(all[tailStart])) tailStart += 1
  return all.toString('utf8', 0, headEnd) + note + all.toString('utf8', tailStart)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function safeCut(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
