import { usage } from './exits'

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}
const FORMS = 'a time from now (30m, 1h30m, 7d), a time of day (18:00) or a date (2030-01-31, 2030-01-31T18:00)'

/** A length such as `30m` or `1h30m` in ms; null when it is none. */
function lengthOf(text: string): number | null {
  if (!/^(?:\d{1,6}[smhdw])+$/.test(text)) return null
  let sum = 0
  for (const [, count, unit] of text.matchAll(/(\d+)([smhdw])/g)) sum += Number(count) * (UNITS[unit ?? ''] ?? 0)
  return sum
}

/** The next time the clock of this computer shows `hours:minutes`. */
function nextTimeOfDay(hours: number, minutes: number, now: number): number {
  const at = new Date(now)
  at.setHours(hours, minutes, 0, 0)
  if (at.getTime() <= now) at.setDate(at.getDate() + 1)
  return at.getTime()
}

/** A date of the calendar in local time (its end when it names no time), or an exact one with its zone; null when there is no such day. */
function dateOf(text: string): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(Z|[+-]\d{2}:\d{2})?)?$/.exec(
    text,
  )
  if (parts === null) return null
  const [, year, month, day, hours, minutes, seconds, zone] = parts
  const calendar = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (calendar.getUTCMonth() !== Number(month) - 1 || calendar.getUTCDate() !== Number(day)) return null
  if (hours === undefined) return new Date(Number(year), Number(month) - 1, Number(day), 23, 59, 59).getTime()
  const at = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds ?? '00'}${zone ?? ''}`)
  return Number.isNaN(at) ? null : at
}

/** The moment an option such as `--expires 1h` names, in ms since the epoch; null for `never`. Throws a usage error for the past. */
export function readMoment(name: string, text: string, now: number): number | null {
  if (text === 'never') return null
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text)
  const length = lengthOf(text)
  const at =
    length !== null
      ? now + length
      : clock !== null
        ? nextTimeOfDay(Number(clock[1]), Number(clock[2]), now)
        : dateOf(text)
  if (at === null || !Number.isSafeInteger(at))
    throw usage(`${name} takes ${FORMS} or never, not ${JSON.stringify(text)}.`)
  if (at <= now) throw usage(`${name} ${JSON.stringify(text)} is not in the future. It takes ${FORMS}.`)
  return at
}

/** The whole minutes from now until what an option such as `--for 30m` names, rounded down. Throws a usage error below one minute. */
export function readMinutes(name: string, text: string, now: number, most: number): number {
  const at = readMoment(name, text, now)
  const left = at === null ? Number.POSITIVE_INFINITY : at - now
  if (left > most * 60_000) throw usage(`${name} reaches at most ${most / 60} hours, not ${JSON.stringify(text)}.`)
  // Never longer than it was typed.
  const minutes = Math.floor(left / 60_000)
  if (minutes < 1) throw usage(`${name} takes whole minutes, at least 1m, not ${JSON.stringify(text)}.`)
  return minutes
}

/** How far away a moment is: `28 min left`, `3 h left`, `run out`. */
export function timeLeft(at: number, now: number): string {
  const minutes = Math.ceil((at - now) / 60_000)
  if (minutes <= 0) return 'run out'
  if (minutes < 120) return `${minutes} min left`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h left`
  return `${Math.floor(minutes / 1440)} days left`
}

/** A moment as people of this computer read it. */
export function momentShown(at: number): string {
  const date = new Date(at)
  const two = (number: number) => String(number).padStart(2, '0')
  return Number.isNaN(date.getTime())
    ? String(at)
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}
