import type { Principal } from '../../src-preload/contract/model'
import { FINAL_STATES } from '../../src-preload/contract/model'
import type { Log, Store } from '../ports'
import type { AgentGate } from './agent-loop'
import type { Gate } from './gate'

/** The gate as the chat agent meets it: always under its own name, in its session and turn, with no way to answer an approval. */
export function createAgentGate(
  gate: Pick<Gate, 'request' | 'resultText' | 'cancel'>,
  store: Pick<Store, 'openExecutions'>,
  log: Log,
): AgentGate {
  return {
    async requestRun({ session, turn }, input) {
      const principal: Principal = { kind: 'agent', id: 'main', session, turn }
      const view = await gate.request(principal, input)
      return { executionId: view.id, final: FINAL_STATES.includes(view.state) }
    },
    resultText: (executionId) => gate.resultText(executionId),
    cancelPending(session, turn) {
      for (const { id, principal } of store.openExecutions()) {
        if (principal.kind !== 'agent' || principal.session !== session || principal.turn !== turn) continue
        gate.cancel(id, 'the operator', 'window').catch((error: unknown) => {
          // It ended by itself in the meantime; that end is in the ledger.
          log.info('a run of a stopped turn was not cancelled', { id, error: String(error) })
        })
      }
    },
  }
}
