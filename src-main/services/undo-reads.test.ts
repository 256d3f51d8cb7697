import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTestbed, type Testbed } from './testbed'
import { createUndoReads } from './undo-reads'

let bed: Testbed
beforeEach(() => {
  bed = createTestbed()
})
afterEach(() => bed.stop())

it('asks nobody where the policy changes between the weighing and the read', async () => {
  const reads = createUndoReads({
    gate: () => ({
      ...bed.gate,
      request(principal, asked) {
        bed.policy.switches = { ...bed.policy.switches, askAboutEverything: true }
        return bed.gate.request(principal, asked)
      },
    }),
    store: bed.store,
    feed: { subscribe: () => () => {} },
    clock: bed.clock,
  })
  expect(await reads.state('local', 'uname -s')).toEqual({
    ok: false,
    why: 'the policy does not let it be read without a question.',
  })
  expect(bed.store.pendingApprovals()).toEqual([])
})
