import type { Envelope } from './errors'
import type { Numbered } from './events'

/** What the sandboxed preload puts on `window.nomos`: one way in, one way out. Main checks everything that comes through it. */
export interface Bridge {
  readonly request: (route: string, input: unknown) => Promise<Envelope<unknown>>
  /** Calls back for every event until the returned function is called. */
  readonly onEvent: (listener: (event: Numbered) => void) => () => void
  readonly platform: string
}

declare global {
  interface Window {
    readonly nomos: Bridge
  }
}
