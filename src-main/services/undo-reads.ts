import { type ExecutionView, FINAL_STATES, type Principal } from '../../src-preload/contract/model'
import type { Clock, Feed, Store } from '../ports'
import type { Gate } from './gate'
import { policyAgent } from './policy'

/** How long the state of a unit or a container may take to be told, in ms. */
const READ_MS = 20_000

const READER: Principal = { kind: 'health', id: 'health', session: null, turn: null }

export type StateAnswer =
  | { readonly ok: true; readonly text: string; readonly exitCode: number | null }
  /** The sentence goes on behind "its state is not known: ". */
  | { readonly ok: false; readonly why: string }

/** Asks a place for the state of a unit or a container. */
export type ReadState = (target: string, command: string) => Promise<StateAnswer>

export interface UndoReads {
  readonly state: ReadState
  /** Why nothing may be read at a place before somebody has agreed to the command; null where reads run by themselves. */
  refusal(target: string): Promise<string | null>
}

export interface UndoReadsDeps {
  readonly gate: () => Pick<Gate, 'weigh' | 'request' | 'output' | 'cancel'>
  readonly store: Pick<Store, 'execution'>
  readonly feed: Pick<Feed, 'subscribe'>
  readonly clock: Clock
}

/**
 * The state is told by a command (`systemctl show`), and commands run through the gate alone: so it is a request like any other, judged
 * by the policy, recorded, and made only where it runs by itself because it only reads. Nobody is ever asked for it.
 */
export function createUndoReads(deps: UndoReadsDeps): UndoReads {
  const { store, feed, clock } = deps

  function ended(id: string): Promise<ExecutionView | null> {
    return new Promise((resolve) => {
      const finish = (execution: ExecutionView | null): void => {
        forget()
        unsubscribe()
        resolve(execution)
      }
      const look = (): void => {
        const execution = store.execution(id)
        if (execution === null || FINAL_STATES.includes(execution.state)) finish(execution)
      }
      const unsubscribe = feed.subscribe(({ event }) => {
        if (event.type === 'execution' && event.id === id) look()
      })
      const forget = clock.after(READ_MS, () => {
        void deps
          .gate()
          .cancel(id, 'undo', 'system')
          .catch(() => {})
        finish(null)
      })
      look()
    })
  }

  /** Whether a read would run there without a question. */
  async function runsByItself(target: string, command: string): Promise<boolean> {
    const asker = { agent: policyAgent(READER), session: null, runbook: null }
    const { classification, decision } = await deps.gate().weigh(asker, { target, command, cwd: null })
    return decision.outcome === 'auto' && classification.risk === 'read_only'
  }

  return {
    async refusal(target) {
      return (await runsByItself(target, 'true'))
        ? null
        : 'The policy does not let anything be read there without a question.'
    },

    async state(target, command) {
      try {
        if (!(await runsByItself(target, command)))
          return { ok: false, why: 'the policy does not let it be read without a question.' }
        const asked = await deps.gate().request(READER, {
          target,
          command,
          purpose: 'The state of what a command changes, so that it can be put back.',
          declaredRisk: null,
          cwd: null,
          verify: null,
        })
        if (asked.state === 'pending_approval') {
          // The policy changed in between: nobody is to be asked for this.
          await deps.gate().cancel(asked.id, 'undo', 'system')
          return { ok: false, why: 'the policy does not let it be read without a question.' }
        }
        const execution = await ended(asked.id)
        if (execution === null) return { ok: false, why: `"${command}" did not answer in time.` }
        if (execution.exitCode === null)
          return { ok: false, why: execution.stateReason ?? `"${command}" was ${execution.state}.` }
        return { ok: true, text: execution.output, exitCode: execution.exitCode }
      } catch (error) {
        return { ok: false, why: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}
