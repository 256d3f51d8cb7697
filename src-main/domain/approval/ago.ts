/** How long ago a moment was: `12 s ago`, `3 min ago`, `5 h ago`; beyond two days `on` its date, where that can be told. */
export function ago(at: number, now: number, dateOf?: (at: number) => string): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (seconds < 90) return `${seconds} s ago`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min ago`
  const hours = Math.round(minutes / 60)
  return hours < 48 || dateOf === undefined ? `${hours} h ago` : `on ${dateOf(at)}`
}
