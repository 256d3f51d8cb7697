import type { Message, ToolCall } from '../../../src-preload/contract'

/** One call of a message with its result, where there is one. */
export interface CallLine {
  readonly call: ToolCall
  readonly result: Message | null
}

/** What the conversation shows, line by line. */
export type Line =
  | { readonly kind: 'message'; readonly message: Message; readonly calls: readonly CallLine[] }
  | { readonly kind: 'card'; readonly id: string; readonly executionId: string }

/** What a line of Nomos itself is: told of one run (`event`), of what words did or what was set (`note`), or of something that went wrong. */
export type NoticeKind = 'event' | 'note' | 'fault'

/** Which of them a notice is. */
export function noticeKind({ error, executionId }: Pick<Message, 'error' | 'executionId'>): NoticeKind {
  // A note is kept with its code where the agent has to read it too; that makes no fault of it.
  if (error !== null && error.code !== 'note') return 'fault'
  return executionId === null ? 'note' : 'event'
}

/**
 * Puts calls and their results together: a call that became an execution is a card in its place, every other call stands under
 * the message that made it.
 */
export function linesOf(messages: readonly Message[]): readonly Line[] {
  const results = new Map<string, Message>()
  for (const message of messages) {
    if (message.role === 'tool' && message.callId !== null) results.set(`${message.turn}/${message.callId}`, message)
  }
  const shown = new Set<string>()
  const lines: Line[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (message.executionId !== null) lines.push({ kind: 'card', id: message.id, executionId: message.executionId })
      else if (!shown.has(message.id)) lines.push({ kind: 'message', message, calls: [] })
      continue
    }
    if (message.role === 'run' && message.executionId !== null) {
      lines.push({ kind: 'card', id: message.id, executionId: message.executionId })
      continue
    }
    const calls: CallLine[] = []
    for (const call of message.toolCalls) {
      const result = results.get(`${message.turn}/${call.callId}`) ?? null
      if (result !== null && result.executionId !== null) continue
      if (result !== null) shown.add(result.id)
      calls.push({ call, result })
    }
    if ((message.text ?? '') === '' && calls.length === 0 && message.toolCalls.length > 0) continue
    lines.push({ kind: 'message', message, calls })
  }
  return lines
}
