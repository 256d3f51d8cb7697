import { NomosError } from '../../src-preload/contract/errors'
import type { ExecutionView, Plan, UndoOffer, UndoState } from '../../src-preload/contract/model'
import type { Log, Store } from '../ports'
import type { Looked } from './gate-judge'

/** What was read right before a run and is written down with its claim. Opaque to everybody but `Undo`. */
export interface Taken {
  readonly items: readonly unknown[]
}

/** Keeps what a command is known to change, so that it can be put back. It looks and remembers; every change goes through the gate. */
export interface Undo {
  /** What could be put back after this command, as the place is now. Changes nothing, never throws. */
  offer(asked: { readonly command: string; readonly cwd: string | null }, looked: Looked): Promise<UndoOffer | null>
  /**
   * Reads what is to be kept, right before the run. Null where nothing was offered.
   * @throws Error with a sentence when something that was offered cannot be kept any more: then the run is refused.
   */
  take(execution: ExecutionView, plan: Plan): Promise<Taken | null>
  /** Writes it down, in the moment between claim and start. */
  keep(executionId: string, taken: Taken): void
  /** Looks at the place once the run has ended, so that later changes by others can be told. Never throws. */
  after(execution: ExecutionView): Promise<void>
  /** Whether a run can be taken back now; null where nothing was kept. */
  stateOf(execution: ExecutionView): UndoState | null
  /**
   * The request that would take a run back.
   * @throws NomosError `conflict` when there is nothing to put back, with why.
   */
  request(execution: ExecutionView): UndoRequest
  /** The bytes of an input of a plan by their hash; null when they are gone. */
  input(sha256: string): Uint8Array | null
}

/** A run that takes another one back. `input` are the bytes the command reads. */
export interface UndoRequest {
  readonly command: string
  readonly purpose: string
  readonly input: { readonly bytes: Uint8Array; readonly what: string } | null
}

export function createUndo(_deps: { readonly store: Store; readonly log: Log }): Undo {
  return {
    offer: () => Promise.resolve(null),
    take: () => Promise.resolve(null),
    keep: () => {},
    after: () => Promise.resolve(),
    stateOf: () => null,
    request() {
      throw new NomosError('conflict', 'Nothing was kept of it that could be put back.', { field: 'id' })
    },
    input: () => null,
  }
}
