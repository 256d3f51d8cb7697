import type { FeedEvent } from '../../src-preload/contract/events'
import type { Clock } from '../ports'

/** Characters of one run that are kept in memory from its beginning. */
const HEAD_CHARS = 512 * 1024
/** Raw bytes of the end that are kept once the head is full. */
const TAIL_BYTES = 128 * 1024
/** Runs whose output is still in memory after their end. */
const KEPT_RUNS = 64
/** Events are collected for this long: a window draws no faster, and a busy run must not flood it. */
const PUBLISH_MS = 50
/** What a stored copy may take, in bytes (DESIGN.md, section 8). */
export const PERSISTED_BYTES = 4096
const PERSISTED_HEAD = 1600

export interface StreamRedactor {
  push(text: string): string
  flush(): string
}

/** Cuts to at most `bytes` bytes of UTF-8, from the start or the end, never inside a character. */
export function cutBytes(text: string, bytes: number, from: 'start' | 'end'): string {
  const encoded = Buffer.from(text, 'utf8')
  if (encoded.length <= bytes) return text
  if (from === 'start') {
    let end = bytes
    while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end--
    return encoded.subarray(0, end).toString('utf8')
  }
  let start = encoded.length - bytes
  while (start < encoded.length && ((encoded[start] ?? 0) & 0xc0) === 0x80) start++
  return encoded.subarray(start).toString('utf8')
}

/** NUL is kept visible: SQLite's own tools, terminals and some fonts stop at it. */
const visible = (text: string): string => text.replaceAll('\0', '␀')

/** One run's output: bytes in, redacted text out, bounded whatever comes. */
export class OutputRecorder {
  private readonly decoders = { stdout: new TextDecoder('utf-8'), stderr: new TextDecoder('utf-8') }
  private readonly redactors: Record<'stdout' | 'stderr', StreamRedactor>
  private text = ''
  private tail: Buffer[] = []
  private tailBytes = 0
  private tailText = ''
  private full = false
  private pushed = 0
  private published = 0
  private cancelPublish: (() => void) | null = null
  private ended = false
  bytes = 0

  constructor(
    private readonly id: string,
    private readonly deps: {
      readonly redactor: () => StreamRedactor
      readonly redact: (text: string) => string
      readonly clock: Clock
      readonly publish: (event: FeedEvent) => void
    },
  ) {
    this.redactors = { stdout: deps.redactor(), stderr: deps.redactor() }
  }

  add(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    if (this.ended) return
    this.bytes += bytes.byteLength
    if (this.full) this.keepTail(bytes)
    else this.append(stream, visible(this.decoders[stream].decode(bytes, { stream: true })))
    this.cancelPublish ??= this.deps.clock.after(PUBLISH_MS, () => this.publish())
  }

  private append(stream: 'stdout' | 'stderr', decoded: string): void {
    this.text += this.redactors[stream].push(decoded)
    // Counted before the redactor: it may hold back a whole key block or a line without an end.
    this.pushed += decoded.length
    if (this.pushed < HEAD_CHARS) return
    // What the redactors still hold back belongs to the head; from here on only the newest bytes are kept, as they are.
    this.text += this.redactors.stdout.flush() + this.redactors.stderr.flush()
    this.full = true
  }

  private keepTail(bytes: Uint8Array): void {
    this.tail.push(Buffer.from(bytes))
    this.tailBytes += bytes.byteLength
    while (this.tail.length > 1 && this.tailBytes - (this.tail[0]?.length ?? 0) >= TAIL_BYTES) {
      this.tailBytes -= this.tail.shift()?.length ?? 0
    }
  }

  private publish(): void {
    this.cancelPublish = null
    const text = this.text.slice(this.published)
    this.deps.publish({ type: 'output', id: this.id, offset: this.published, text, bytes: this.bytes })
    this.published = this.text.length
  }

  /** Closes the text: nothing held back remains, the tail is decoded and redacted. */
  end(): void {
    if (this.ended) return
    this.ended = true
    this.cancelPublish?.()
    if (!this.full) {
      for (const stream of ['stdout', 'stderr'] as const) {
        this.text +=
          this.redactors[stream].push(visible(this.decoders[stream].decode())) + this.redactors[stream].flush()
      }
    } else {
      const raw = Buffer.concat(this.tail)
      const kept = raw.subarray(Math.max(0, raw.length - TAIL_BYTES))
      // The first line may be half a secret, and a key block may have begun before it: neither is shown.
      const whole = visible(new TextDecoder('utf-8').decode(kept.subarray(kept.indexOf(10) + 1)))
      const keyEnd = /-----END [A-Z ]*PRIVATE KEY-----/.exec(whole)
      const keyStart = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.exec(whole)
      const from =
        keyEnd !== null && (keyStart === null || keyStart.index > keyEnd.index) ? keyEnd.index + keyEnd[0].length : 0
      this.tailText = this.deps.redact(whole.slice(from))
    }
    this.tail = []
    this.publish()
  }

  /** All that is kept, with a line for what is not. */
  whole(): string {
    return this.full
      ? `${this.text}\n… ${this.bytes.toLocaleString('en')} bytes in all, the middle is not kept …\n${this.tailText}`
      : this.text
  }

  /** The copy for the store: head and tail, at most 4,096 bytes, with the full size noted between them. */
  persisted(): { readonly output: string; readonly truncated: boolean } {
    const whole = this.whole()
    if (Buffer.byteLength(whole, 'utf8') <= PERSISTED_BYTES) return { output: whole, truncated: this.full }
    const note = `\n… cut here: ${this.bytes.toLocaleString('en')} bytes in all …\n`
    const head = cutBytes(whole, PERSISTED_HEAD, 'start')
    const room = PERSISTED_BYTES - Buffer.byteLength(head, 'utf8') - Buffer.byteLength(note, 'utf8')
    return { output: head + note + cutBytes(whole, room, 'end'), truncated: true }
  }
}

/** The outputs that are in memory: those of live runs and of the last ones that ended. */
export class Outputs {
  private readonly kept = new Map<string, { readonly recorder: OutputRecorder; live: boolean }>()

  open(id: string, recorder: OutputRecorder): void {
    this.kept.set(id, { recorder, live: true })
  }

  close(id: string): void {
    const entry = this.kept.get(id)
    if (entry === undefined) return
    entry.live = false
    this.kept.delete(id)
    this.kept.set(id, entry)
    for (const [old, { live }] of this.kept) {
      if (this.kept.size <= KEPT_RUNS) break
      if (!live) this.kept.delete(old)
    }
  }

  get(id: string): { readonly text: string; readonly live: boolean; readonly bytes: number } | null {
    const entry = this.kept.get(id)
    return entry ? { text: entry.recorder.whole(), live: entry.live, bytes: entry.recorder.bytes } : null
  }
}
