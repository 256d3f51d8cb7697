import { z } from 'zod'
import { ExecutionState, Message, Session } from './model'

/**
 * What main tells the windows. Events only say that something changed (or carry text for display); the truth is read again
 * through a request. `seq` grows by one for each event of one `boot`; a gap or another boot means: read everything again.
 */
export const FeedEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('execution'), id: z.string(), session: z.string().nullable(), state: ExecutionState }),
  z.object({ type: z.literal('approval'), id: z.string(), executionId: z.string() }),
  /** Somebody clicked a notice or an entry of the tray: the windows bring this card into sight. */
  z.object({ type: z.literal('reveal'), executionId: z.string() }),
  /** `offset` is the place of `text` in the redacted output, in UTF-16 units. */
  z.object({ type: z.literal('output'), id: z.string(), offset: z.number(), text: z.string(), bytes: z.number() }),
  z.object({ type: z.literal('message'), message: Message }),
  z.object({
    type: z.literal('delta'),
    session: z.string(),
    messageId: z.string(),
    offset: z.number(),
    text: z.string(),
  }),
  z.object({ type: z.literal('session'), session: Session }),
  z.object({ type: z.literal('session-removed'), id: z.string() }),
  z.object({ type: z.literal('hosts') }),
  z.object({ type: z.literal('settings') }),
  z.object({ type: z.literal('policy') }),
  z.object({ type: z.literal('health') }),
  z.object({ type: z.literal('ledger'), seq: z.number() }),
])
export type FeedEvent = z.infer<typeof FeedEvent>

export interface Numbered {
  readonly boot: string
  readonly seq: number
  readonly event: FeedEvent
}
