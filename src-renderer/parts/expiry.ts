/** How long something that is allowed may last, in the words of a choice. */
export const EXPIRIES = ['hour', 'today', 'month', 'never'] as const
export type Expiry = (typeof EXPIRIES)[number]

export const EXPIRY_WORD: Readonly<Record<Expiry, string>> = {
  hour: 'for 1 hour',
  today: 'today',
  month: 'for 30 days',
  never: 'with no end',
}

const HOUR = 3_600_000

/** The last moment of the day that `now` falls in, in local time, in ms since the epoch. */
export function endOfDay(now: number): number {
  const date = new Date(now)
  date.setHours(23, 59, 59, 999)
  return date.getTime()
}

/** When a choice made at `now` ends, in ms since the epoch; null for no end. */
export function expiryAt(choice: Expiry, now: number): number | null {
  switch (choice) {
    case 'hour':
      return now + HOUR
    case 'today':
      return endOfDay(now)
    case 'month':
      return now + 30 * 24 * HOUR
    case 'never':
      return null
  }
}
