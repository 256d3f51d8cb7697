/** How much of what a login prints before the command is kept for an error message. */
const KEPT_NOISE = 2048

/**
 * Finds the line `<nonce><rest>\n` in a byte stream, whatever the chunking, and tells what came before it (noise of the login) from what
 * comes after it (output of the command). The nonce is fresh for every run, so nothing but our own shell can have written it.
 */
export class MarkerFilter {
  readonly #nonce: Buffer
  #held: Buffer = Buffer.alloc(0)
  #noise: Buffer = Buffer.alloc(0)
  #found = false

  constructor(nonce: string) {
    this.#nonce = Buffer.from(nonce, 'latin1')
  }

  /**
   * Takes the next bytes.
   * @returns `marker` is what stood behind the nonce, given once; `after` is output of the command, null while there is none
   */
  push(chunk: Buffer): { readonly marker: string | null; readonly after: Buffer | null } {
    if (this.#found) return { marker: null, after: chunk }
    const seen = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const at = seen.indexOf(this.#nonce)
    if (at < 0) {
      // The nonce may begin in the last bytes: hold back one less than its length.
      const keep = Math.min(seen.length, this.#nonce.length - 1)
      this.#addNoise(seen.subarray(0, seen.length - keep))
      this.#held = Buffer.from(seen.subarray(seen.length - keep))
      return { marker: null, after: null }
    }
    const end = seen.indexOf(0x0a, at + this.#nonce.length)
    if (end < 0) {
      this.#addNoise(seen.subarray(0, at))
      this.#held = Buffer.from(seen.subarray(at))
      return { marker: null, after: null }
    }
    this.#addNoise(seen.subarray(0, at))
    this.#found = true
    this.#held = Buffer.alloc(0)
    const rest = seen.subarray(end + 1)
    return {
      marker: seen.toString('latin1', at + this.#nonce.length, end),
      after: rest.length === 0 ? null : Buffer.from(rest),
    }
  }

  /** What came before the marker, or all there was when none came; cut to its first part. */
  noise(): string {
    const all = this.#found ? this.#noise : Buffer.concat([this.#noise, this.#held])
    return all.toString('utf8').trim()
  }

  #addNoise(bytes: Buffer): void {
    const room = KEPT_NOISE - this.#noise.length
    if (room > 0 && bytes.length > 0) this.#noise = Buffer.concat([this.#noise, bytes.subarray(0, room)])
  }
}
