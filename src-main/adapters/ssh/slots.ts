/** A place among the channels of one connection. */
export interface Slot {
  /** Gives it back. Safe to call more than once. */
  release(): void
}

/** Counts channels: a server refuses those above its limit, so they wait here, first come first served. */
export class Slots {
  #limit: number
  #taken = 0
  #closed = false
  readonly #waiting: ((slot: Slot | null) => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  get taken(): number {
    return this.#taken
  }

  /** Waits for a place; null when there will be none because the connection ended. */
  acquire(): Promise<Slot | null> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#serve()
    })
  }

  /** A place if there is one at this moment. */
  tryAcquire(): Slot | null {
    return this.#closed || this.#taken >= this.#limit ? null : this.#take()
  }

  /** The server allows fewer than we thought. Never goes below one. */
  lower(limit: number): void {
    this.#limit = Math.max(1, Math.min(this.#limit, limit))
  }

  /** Answers everybody who waits, and all who come later, with null. */
  close(): void {
    this.#closed = true
    this.#serve()
  }

  #serve(): void {
    while (this.#waiting.length > 0 && (this.#closed || this.#taken < this.#limit)) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      next(this.#closed ? null : this.#take())
    }
  }

  #take(): Slot {
    this.#taken += 1
    let held = true
    return {
      release: () => {
        if (!held) return
        held = false
        this.#taken -= 1
        this.#serve()
      },
    }
  }
}
