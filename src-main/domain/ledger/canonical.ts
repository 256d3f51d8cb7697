/**
 * Canonical JSON: object keys sorted by UTF-16 unit, no spaces, no `undefined`. The same data always gives the same bytes, so
 * that a digest of it means something. Throws on what JSON cannot carry (functions, bigint, NaN, Infinity): silently writing
 * `null` for one would let two different plans share a digest.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`canonical JSON cannot hold the number ${value}`)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object') {
    const record = value as Readonly<Record<string, unknown>>
    const parts: string[] = []
    for (const key of Object.keys(record).sort()) {
      if (record[key] !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(record[key])}`)
    }
    return `{${parts.join(',')}}`
  }
  throw new TypeError(`canonical JSON cannot hold a ${typeof value}`)
}
