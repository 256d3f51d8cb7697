import type { Envelope } from '../../src-preload/contract/errors'
import type { FeedEvent, Numbered } from '../../src-preload/contract/events'
import type { Surface } from '../../src-preload/contract/model'

/** Who is on the other side of a transport. Made by the transport from what it knows itself, never from an argument. */
export interface Caller {
  readonly surface: Surface
  /**
   * True when the transport has proven that an operator is there: the window (its sender is checked), or a terminal that
   * passed the challenge of the control socket. Only such a caller may answer approvals, change policy or flip switches.
   */
  readonly operator: boolean
  /** True when the screen is known to be locked: then a notice or the tray approves nothing. */
  readonly locked?: boolean
}

/** Parses, routes, answers. Never rejects: every fault is an envelope. */
export type Dispatch = (caller: Caller, route: string, input: unknown) => Promise<Envelope<unknown>>

/** The numbered stream of events of this start of the core. */
export interface Feed {
  readonly boot: string
  readonly seq: number
  publish(event: FeedEvent): void
  /** Calls back for each event, in order, until the returned function is called. A throwing listener is logged and kept. */
  subscribe(listener: (event: Numbered) => void): () => void
}
