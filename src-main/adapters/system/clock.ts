import { randomBytes } from 'node:crypto'
import type { Clock, Ids } from '../../ports'

/** The machine's clock. Timers are unreferenced: waiting for an expiry must not keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    // setTimeout takes at most 2^31-1 ms and fires at once beyond it.
    const timer = setTimeout(callback, Math.min(ms, 0x7fffffff))
    timer.unref()
    return () => clearTimeout(timer)
  },
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

function base32(value: number, digits: number): string {
  let text = ''
  for (let rest = value; text.length < digits; rest = Math.floor(rest / 32)) text = (ALPHABET[rest % 32] ?? '0') + text
  return text
}

/** Ids such as `exe_01jd…`: 9 digits of time, 3 of a counter (so that two of one millisecond keep their order), 8 random. */
export function systemIds(now: () => number = Date.now): Ids {
  let last = 0
  let counter = 0
  return {
    next(prefix) {
      const at = Math.max(now(), last)
      counter = at === last ? counter + 1 : 0
      last = at
      const random = Array.from(randomBytes(8), (byte) => ALPHABET[byte % 32]).join('')
      return `${prefix}_${base32(at, 9)}${base32(counter, 3)}${random}`
    },
  }
}
