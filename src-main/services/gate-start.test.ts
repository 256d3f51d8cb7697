import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLocalRunner } from '../adapters/local'
import { CAUTIOUS } from '../domain/policy'
import { settledSentence } from './approval-desk'
import { createTestbed, type Testbed } from './testbed'

let bed: Testbed
let folder: string
beforeEach(() => {
  bed = createTestbed()
  folder = mkdtempSync(join(tmpdir(), 'undelivered-'))
})
afterEach(async () => {
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

const anyFallback = (): void => {
  bed.policy.requested = { ...CAUTIOUS, askFallback: 'full' }
  bed.policy.host = { ...CAUTIOUS, askFallback: 'full' }
}

describe('what nobody could be told of', () => {
  it('is undeliverable, which is its own word for whoever answers later', async () => {
    const made = join(folder, 'a')
    const one = await bed.ask(`mkdir ${made}`)
    await bed.gate.undelivered(one.id)
    const now = bed.store.execution(one.id)
    expect(now?.state).toBe('undeliverable')
    expect(bed.gate.resultText(one.id)).toContain('Nobody could be asked.')
    if (now?.approval == null) throw new Error('it had an approval')
    const sentence = settledSentence(now.approval, bed.clock.now())
    expect(sentence).toMatch(
      /^It was closed as undeliverable \d+ s ago: Nobody can be asked, and askFallback is deny\./,
    )
    expect(sentence).not.toMatch(/withdrawn|denied|expired/)
    expect(() => bed.approve(one)).toThrow(/undeliverable/)
    expect(existsSync(made)).toBe(false)
  })

  it('is closed also when it cannot be weighed any more', async () => {
    const one = await bed.ask(`mkdir ${join(folder, 'a')}`)
    Object.defineProperty(bed.policy, 'host', {
      get() {
        throw new Error('the file is broken')
      },
    })
    await bed.gate.undelivered(one.id)
    expect(bed.store.execution(one.id)).toMatchObject({
      state: 'undeliverable',
      stateReason: expect.stringContaining('the file is broken'),
    })
  })

  it('runs by the fallback only as it was asked for', async () => {
    const script = join(folder, 'do.sh')
    writeFileSync(script, `touch ${join(folder, 'made')}\n`)
    anyFallback()
    const [one, two] = [await bed.ask(`bash ${script}`), await bed.ask(`bash ${script} again`)]
    await bed.gate.undelivered(one.id)
    await bed.until(one.id, 'completed')
    rmSync(join(folder, 'made'))
    writeFileSync(script, `touch ${join(folder, 'other')}\n`)
    await bed.gate.undelivered(two.id)
    expect(bed.store.execution(two.id)).toMatchObject({ state: 'denied', failure: 'drift' })
    bed.policy.version = 'p1'
    const three = await bed.ask(`touch ${join(folder, 'made')}`)
    bed.policy.version = 'p2'
    await bed.gate.undelivered(three.id)
    expect(bed.store.execution(three.id)).toMatchObject({ state: 'denied', failure: 'drift' })
    expect([existsSync(join(folder, 'made')), existsSync(join(folder, 'other'))]).toEqual([false, false])
  })

  it('is the answer of whoever was first', async () => {
    anyFallback()
    const made = join(folder, 'a')
    const one = await bed.ask(`mkdir ${made}`)
    const falling = bed.gate.undelivered(one.id)
    bed.deny(one, 'no')
    await falling
    expect(bed.store.execution(one.id)).toMatchObject({ state: 'denied', stateReason: 'Denied by the operator: no' })
    expect(existsSync(made)).toBe(false)
  })
})

describe('what was approved and not started', () => {
  it('ends with its approval, in words of its own', async () => {
    const made = join(folder, 'a')
    const one = await bed.ask(`mkdir ${made}`)
    const { approval } = one
    if (approval === null) throw new Error('it had an approval')
    // As a crash right after the answer leaves it.
    bed.store.settleApproval(
      approval.id,
      'approved',
      { by: 'operator', surface: 'window', words: null, note: null, at: bed.clock.now() },
      { state: 'approved', reason: null },
    )
    bed = bed.restart()
    const settled: string[] = []
    bed.gate.onSettled(({ id }) => settled.push(id))
    bed.desk.expire()
    expect(bed.store.execution(one.id)?.state).toBe('approved')
    bed.clock.move(61 * 60 * 1000)
    bed.desk.expire()
    expect(bed.store.execution(one.id)).toMatchObject({ state: 'expired', failure: 'expired' })
    expect(bed.store.approval(approval.id)?.state).toBe('revoked')
    expect(settled).toEqual([one.id])
    const text = bed.gate.resultText(one.id)
    expect(text).toContain('The approval ran out before it was started')
    expect(text).toContain('Ask again if it is still wanted.')
    // Nobody wrote a note, and nobody said no.
    expect(text).not.toContain('The operator wants it otherwise')
    expect(text).not.toContain('The operator said no')
    expect(existsSync(made)).toBe(false)
  })
})

it('what is agreed to at once begins one after the other, so that nothing else stands still', async () => {
  const local = createLocalRunner()
  let moment = 0
  let ticking = true
  const tick = (): void => {
    moment++
    if (ticking) setImmediate(tick)
  }
  const begun: number[] = []
  const other = createTestbed({
    runner: {
      kind: 'local',
      prepare(draft) {
        begun.push(moment)
        return local.prepare(draft)
      },
      start: (plan, mode, sink) => local.start(plan, mode, sink),
      close: () => local.close(),
    },
  })
  try {
    const asked = []
    for (let i = 0; i < 20; i++) asked.push(await other.ask(`mkdir ${join(folder, `many${i}`)}`))
    begun.length = 0
    tick()
    for (const view of asked) other.approve(view)
    for (const { id } of asked) await other.until(id, 'completed')
    expect(new Set(begun).size).toBe(asked.length)
  } finally {
    ticking = false
    await other.stop()
  }
})
