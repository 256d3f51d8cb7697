import { z } from 'zod'

/** One tool call as the model wrote it; `arguments` is its text, valid JSON or not. */
export const ToolCall = z.object({ callId: z.string(), name: z.string(), arguments: z.string() }).readonly()
export type ToolCall = z.infer<typeof ToolCall>

/**
 * One line of a conversation.
 * - `user` / `assistant`: what was said; an assistant message may hold tool calls
 * - `tool`: the one result of one call; `text` is null until the call is settled
 * - `run`: the operator's own `/run`, shown as the card of `executionId`
 * - `notice`: a line of Nomos itself; `error` is set when it offers a retry
 */
export const Message = z
  .object({
    id: z.string(),
    session: z.string(),
    turn: z.string(),
    seq: z.number().int(),
    role: z.enum(['user', 'assistant', 'tool', 'run', 'notice']),
    text: z.string().nullable(),
    toolCalls: z.array(ToolCall).readonly(),
    callId: z.string().nullable(),
    executionId: z.string().nullable(),
    error: z.object({ code: z.string(), retry: z.boolean() }).nullable(),
    /** True while a model is still writing it. */
    streaming: z.boolean(),
    at: z.number(),
  })
  .readonly()
export type Message = z.infer<typeof Message>

export const TURN_STATES = ['idle', 'streaming', 'waiting'] as const

export const Session = z
  .object({
    id: z.string(),
    title: z.string(),
    createdAt: z.number(),
    updatedAt: z.number(),
    /** `waiting`: the model's calls wait for approvals or runs. */
    turn: z.enum(TURN_STATES),
  })
  .readonly()
export type Session = z.infer<typeof Session>
