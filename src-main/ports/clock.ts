/** Time as the services see it, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once after `ms`; the returned function forgets it. Never keeps the process alive by itself. */
  after(ms: number, callback: () => void): () => void
}

/** New identifiers: sortable by time within one process, unguessable. */
export interface Ids {
  next(prefix: string): string
}
