import { z } from 'zod'
import { Failure } from '../../../src-preload/contract'

/** Longest line a client may send. A command has 1 MB at most, JSON escapes included it stays below. */
export const MAX_LINE = 2 * 1024 * 1024

const RequestId = z.number().int().nonnegative()

/** The first line of a connection. */
export const Hello = z.object({ hello: z.string().max(256) }).strict()

/** Every later line. The key beside `id` says which one it is. */
export const ClientFrame = z.union([
  z.object({ id: RequestId, route: z.string().max(64), input: z.unknown() }).strict(),
  z.object({ id: RequestId, subscribe: z.object({ watch: z.boolean() }).strict() }).strict(),
  z.object({ id: RequestId, unsubscribe: z.literal(true) }).strict(),
  z
    .object({
      id: RequestId,
      challenge: z.object({ pid: z.number().int().positive(), route: z.string().max(64), input: z.unknown() }).strict(),
    })
    .strict(),
  z.object({ id: RequestId, prove: z.object({ challenge: z.string().max(64) }).strict() }).strict(),
  z
    .object({ id: RequestId, settle: z.object({ challenge: z.string().max(64), code: z.string().max(64) }).strict() })
    .strict(),
  z.object({ shown: z.string().max(64) }).strict(),
])
export type ClientFrame = z.infer<typeof ClientFrame>

/** What the server says of itself once the token fits. `host` tells whether there is a window to answer in. */
export const Welcome = z.object({
  boot: z.string(),
  seq: z.number(),
  host: z.enum(['window', 'headless']),
})
export type Welcome = z.infer<typeof Welcome>

export const Notice = z.object({ approvalId: z.string(), title: z.string(), body: z.string() })
export type Notice = z.infer<typeof Notice>

const EnvelopeFrame = z.union([
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({ ok: z.literal(false), error: Failure }),
])

/** Every line the server sends. */
export const ServerFrame = z.union([
  z.object({ id: RequestId, envelope: EnvelopeFrame }),
  z.object({ event: z.object({ boot: z.string(), seq: z.number(), event: z.unknown() }) }),
  z.object({ announce: Notice }),
  z.object({ withdraw: z.string() }),
  z.object({ welcome: Welcome }),
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
])
export type ServerFrame = z.infer<typeof ServerFrame>

export const ChallengeOffer = z.object({ challenge: z.string(), nonce: z.string(), expiresAt: z.number() })
export type ChallengeOffer = z.infer<typeof ChallengeOffer>
export const ChallengeCode = z.object({ code: z.string() })

/** Splits a byte stream into lines without the newline. A line over `cap` bytes is reported once and the rest is not read. */
export class LineReader {
  private parts: Buffer[] = []
  private size = 0
  private over = false

  constructor(
    private readonly cap: number,
    private readonly onLine: (line: string) => void,
    private readonly onTooLong: () => void,
  ) {}

  push(chunk: Buffer): void {
    let from = 0
    while (!this.over) {
      const end = chunk.indexOf(0x0a, from)
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end)
      if (this.size + piece.length > this.cap) {
        this.over = true
        this.parts = []
        this.onTooLong()
        return
      }
      if (piece.length > 0) {
        this.parts.push(piece)
        this.size += piece.length
      }
      if (end === -1) return
      const line = Buffer.concat(this.parts, this.size).toString('utf8')
      this.parts = []
      this.size = 0
      from = end + 1
      if (line.trim() !== '') this.onLine(line)
    }
  }
}
