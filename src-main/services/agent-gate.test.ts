import { describe, expect, it } from 'vitest'
import { NomosError } from '../../src-preload/contract'
import type { ExecutionView, Principal } from '../../src-preload/contract/model'
import { createAgentGate } from './agent-gate'
import type { RunRequest } from './gate'

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
const view = (id: string, state: ExecutionView['state'], principal: Partial<Principal>) =>
  ({ id, state, principal: { kind: 'agent', id: 'main', session: 's', turn: 't', ...principal } }) as ExecutionView

function gateWith(open: readonly ExecutionView[], answer: ExecutionView | NomosError) {
  const asked: (readonly [Principal, RunRequest])[] = []
  const cancelled: string[] = []
  const gate = createAgentGate(
    {
      request: async (principal, request) => {
        asked.push([principal, request])
        if (answer instanceof Error) throw answer
        return answer
      },
      resultText: (id) => `result of ${id}`,
      cancel: async (id, by, surface) => {
        cancelled.push(`${id} ${by} ${surface}`)
        throw new NomosError('already_settled', 'too late')
      },
    },
    { openExecutions: () => open },
    quiet,
  )
  return { gate, asked, cancelled }
}

const input = { target: 'local', command: 'ls', purpose: 'look', declaredRisk: null, cwd: null, verify: null }

describe('the gate as the agent meets it', () => {
  it('asks as the chat agent of its session and turn, whatever the input says', async () => {
    const { gate, asked } = gateWith([], view('e1', 'running', {}))
    expect(await gate.requestRun({ session: 's', turn: 't' }, input)).toEqual({ executionId: 'e1', final: false })
    expect(asked).toEqual([[{ kind: 'agent', id: 'main', session: 's', turn: 't' }, input]])
    expect(gate.resultText('e1')).toBe('result of e1')
  })

  it('says when it is settled at once, and passes refusals on', async () => {
    const denied = gateWith([], view('e1', 'denied', {}))
    expect(await denied.gate.requestRun({ session: 's', turn: 't' }, input)).toEqual({ executionId: 'e1', final: true })
    const refused = gateWith([], new NomosError('target_unknown', 'no such target'))
    await expect(refused.gate.requestRun({ session: 's', turn: 't' }, input)).rejects.toThrow('no such target')
  })

  it('cancels what the agent left open in this turn and nothing else', async () => {
    const { gate, cancelled } = gateWith(
      [
        view('mine', 'pending_approval', {}),
        view('running', 'running', {}),
        view('other turn', 'running', { turn: 'u' }),
        view('other session', 'running', { session: 'r' }),
        view('the operator', 'running', { kind: 'operator' }),
      ],
      view('e1', 'running', {}),
    )
    gate.cancelPending('s', 't')
    await null
    expect(cancelled).toEqual(['mine the operator window', 'running the operator window'])
  })
})
