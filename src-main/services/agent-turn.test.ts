import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { startModelServer } from '../../e2e/support/model-server'
import { createOpenAiModel } from '../adapters/openai'
import { systemIds } from '../adapters/system'
import { redact } from '../domain/redact'
import { type AgentLoop, createAgentLoop } from './agent-loop'
import { createTestbed, silentLog, type Testbed } from './testbed'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** The loop over the real gate, desk, database and local runner of a testbed. */
function loopOver(bed: Testbed, baseUrl: string): AgentLoop {
  const loop = createAgentLoop({
    store: bed.store,
    model: createOpenAiModel(),
    endpoint: () => ({ baseUrl, model: 'scripted', apiKey: null }),
    gate: {
      async requestRun({ session, turn }, input) {
        const view = await bed.gate.request({ kind: 'agent', id: 'main', session, turn }, input)
        return { executionId: view.id, final: view.finishedAt !== null }
      },
      resultText: (id) => bed.gate.resultText(id),
      cancelPending(session, turn) {
        for (const view of bed.store.openExecutions()) {
          if (view.session === session && view.turn === turn) void bed.gate.cancel(view.id, 'operator', 'window')
        }
      },
    },
    publish: () => undefined,
    clock: bed.clock,
    ids: systemIds(),
    systemPrompt: () => 'You are the agent.',
    log: silentLog,
    redact: (text) => redact(text).text,
  })
  bed.gate.onSettled((view) => loop.onExecutionSettled(view.id, view.session))
  cleanups.push(() => loop.close())
  return loop
}

it('looks, changes with approval, is refused once, and tells what came of it', async () => {
  const bed = createTestbed()
  cleanups.push(() => bed.stop())
  const folder = mkdtempSync(join(tmpdir(), 'turn-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  const made = join(folder, 'made')
  const never = join(folder, 'never')
  const call = (command: string) => ({ arguments: { target: 'local', command, purpose: 'to test it' } })
  const server = await startModelServer([
    { kind: 'calls', text: 'First a look.', calls: [call('uname -s')] },
    { kind: 'calls', calls: [call(`mkdir ${made}`), call(`touch ${never}`), call('a\0b')] },
    { kind: 'text', text: 'One was made, one was not.' },
  ])
  cleanups.push(() => server.stop())
  const loop = loopOver(bed, server.url)
  bed.store.createSession({ id: 's', title: '', createdAt: 1, updatedAt: 1, turn: 'idle' })
  loop.send('s', 'make it')

  await expect.poll(() => loop.turnState('s'), { timeout: 15_000 }).toBe('waiting')
  const results = () => bed.store.messages('s', null, 100).filter((row) => row.role === 'tool')
  await expect.poll(() => results()[0]?.text ?? '').toContain('Linux')
  await expect.poll(() => results()[3]?.text ?? '').toContain('NUL')
  await expect.poll(() => bed.store.pendingApprovals().length).toBe(2)
  const [change, other] = bed.store.executions({ states: ['pending_approval'], before: null, limit: 10 }).toReversed()
  if (change === undefined || other === undefined) throw new Error('two requests should wait')
  await bed.deny(other, 'not that one')
  // What the desk settles by itself is passed on by whoever wires it.
  loop.onExecutionSettled(other.id, 's')
  expect(loop.turnState('s')).toBe('waiting')
  await bed.approve(change)

  await expect.poll(() => loop.turnState('s'), { timeout: 15_000 }).toBe('idle')
  const denied = results()[2]?.text ?? ''
  expect(denied).toContain('state: denied')
  expect(denied).toContain('not that one')
  expect(denied).toContain('Do not ask for the same again')
  expect(denied).not.toContain('output (data')
  expect([existsSync(made), existsSync(never)]).toEqual([true, false])
  expect(results()[1]?.text).toContain('state: completed')
  expect(bed.store.messages('s', null, 100).at(-1)?.text).toBe('One was made, one was not.')
  expect(server.requests.length).toBe(3)
  expect(server.requests[2]?.body.messages.filter((message) => message.role === 'tool').length).toBe(4)
})
