const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const two = (value: number): string => String(value).padStart(2, '0')

/** How long something took or has taken so far: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`, `4 d 3 h`. */
export function duration(ms: number, running = false): string {
  const safe = Math.max(0, ms)
  if (!running && safe < 1) return '0 s'
  if (!running && safe < SECOND) return `${Math.max(1, Math.round(safe))} ms`
  if (!running && safe < 9950) return `${(safe / SECOND).toFixed(1)} s`
  const seconds = running ? Math.floor(safe / SECOND) : Math.round(safe / SECOND)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`
  const hours = Math.floor(minutes / 60)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Time left until `at`: whole days or minutes while there are many, seconds when it gets close. Null when it is over. */
export function timeLeft(at: number, now: number): string | null {
  const left = at - now
  if (left <= 0) return null
  if (left < 2 * MINUTE) return `${Math.ceil(left / SECOND)} s left`
  if (left < 2 * HOUR) return `${Math.floor(left / MINUTE)} min left`
  if (left < 2 * DAY) return `${Math.floor(left / HOUR)} h left`
  return `${Math.round(left / DAY)} days left`
}

/** A time of day, with the date when it is not today. */
export function clock(at: number, now: number): string {
  const date = new Date(at)
  const today = new Date(now)
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`
  if (date.toDateString() === today.toDateString()) return time
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`
  return date.getFullYear() === today.getFullYear() ? `${day} ${time}` : `${day} ${date.getFullYear()} ${time}`
}

/** A time to the second, for the ledger. */
export function exactClock(at: number): string {
  const date = new Date(at)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** How long ago, in one short word, for lists: `now`, `5 min`, `3 h`, `2 d`, then the date. */
export function ago(at: number, now: number): string {
  const past = now - at
  if (past < MINUTE) return 'now'
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`
  if (past < DAY) return `${Math.floor(past / HOUR)} h`
  if (past < 7 * DAY) return `${Math.floor(past / DAY)} d`
  const date = new Date(at)
  return `${date.getDate()} ${MONTHS[date.getMonth()]}`
}

/** A number of bytes as people read it. */
export function size(bytes: number): string {
  if (bytes === 1) return '1 byte'
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`
  if (bytes < 1024 ** 3) return `${(bytes / 1024 / 1024).toFixed(1)} MB`
  return `${(bytes / 1024 ** 3).toFixed(1)} GB`
}

/** `1 line`, `12 lines`, `5,000 lines`. */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`
}
