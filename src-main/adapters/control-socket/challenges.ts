import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import type { RouteName } from '../../../src-preload/contract'

/** How long an operator has from asking to typing the code. */
export const CHALLENGE_MS = 60_000

/** No 0/O, 1/I/L: what is read on a screen has to be typed. */
const CODE_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
const CODE_LENGTH = 6
/** A connection with more of them open than this is not a person at a terminal. */
const MAX_OPEN = 4

export interface Challenge {
  readonly id: string
  readonly nonce: string
  readonly code: string
  readonly pid: number
  readonly route: RouteName
  /** What will be dispatched, kept here so that the answer cannot be swapped after the proof. */
  readonly input: unknown
  readonly expiresAt: number
  /** Set by the proof: start time of the process on Linux, the empty text elsewhere. */
  started: string | null
}

/** The open challenges of one connection. Each can be settled once: taking it out is the first thing that is done with it. */
export class Challenges {
  private readonly open = new Map<string, Challenge>()

  constructor(private readonly now: () => number) {}

  /** Makes one for exactly this route and input, or null when the connection has too many open ones. */
  offer(pid: number, route: RouteName, input: unknown): Challenge | null {
    for (const [id, old] of this.open) if (old.expiresAt <= this.now()) this.open.delete(id)
    if (this.open.size >= MAX_OPEN) return null
    const challenge: Challenge = {
      id: randomBytes(12).toString('base64url'),
      // Short, because a process title has only the room of the original command line.
      nonce: randomBytes(12).toString('base64url'),
      code: Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join(''),
      pid,
      route,
      input,
      expiresAt: this.now() + CHALLENGE_MS,
      started: null,
    }
    this.open.set(challenge.id, challenge)
    return challenge
  }

  /** Looks at one without using it up. */
  peek(id: string): Challenge | null {
    return this.open.get(id) ?? null
  }

  /** Takes one out for good. */
  take(id: string): Challenge | null {
    const challenge = this.open.get(id) ?? null
    this.open.delete(id)
    return challenge
  }

  expired(challenge: Challenge): boolean {
    return challenge.expiresAt <= this.now()
  }
}

/** Compares in a time that does not tell how much of it was right. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** A typed code: blanks, dashes and case do not matter. */
export function sameCode(typed: string, code: string): boolean {
  return sameSecret(typed.replace(/[\s-]/g, '').toUpperCase(), code)
}
