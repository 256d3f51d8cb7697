import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionView, Surface } from '../../src-preload/contract/model'
import { SURFACES } from '../../src-preload/contract/model'
import { answerPlaceOf, SURFACE_RIGHTS } from '../domain/approval'
import type { Caller } from '../ports'
import { createApprovalDesk } from './approval-desk'
import { createTestbed, silentLog, type Testbed } from './testbed'

let bed: Testbed
let folder: string
beforeEach(() => {
  bed = createTestbed()
  folder = mkdtempSync(join(tmpdir(), 'desk-'))
})
afterEach(async () => {
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

const caller = (surface: Surface, more: Partial<Caller> = {}): Caller => ({ surface, operator: true, ...more })
const itemOf = (view: ExecutionView) => ({ id: view.approval?.id ?? '', digest: view.approval?.digest ?? '' })
let made = 0
const change = () => bed.ask(`mkdir ${join(folder, `d${made++}`)}`)
const destroy = () => bed.ask(`rm -rf ${join(folder, `d${made++}`)}`)

/** What comes of an answer: settled, or the code of the refusal. */
function outcome(answer: () => unknown): string {
  try {
    answer()
    return 'settled'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

describe('the matrix of surfaces', () => {
  it('is what the desk holds to, for every surface, kind of request and answer', async () => {
    for (const surface of SURFACES) {
      const rights = SURFACE_RIGHTS[surface]
      const plain = await change()
      expect(answerPlaceOf(plain)).toBe('anywhere')
      const { id, digest } = itemOf(plain)
      const once = outcome(() => bed.desk.answer(caller(surface), id, { kind: 'approve', phrase: null }, digest))
      expect([surface, once]).toEqual([surface, rights.once.includes('anywhere') ? 'settled' : 'forbidden'])

      const other = itemOf(await change())
      const denied = outcome(() =>
        bed.desk.answer(caller(surface), other.id, { kind: 'deny', note: null }, other.digest),
      )
      expect([surface, denied]).toEqual([surface, rights.deny ? 'settled' : 'forbidden'])

      const third = itemOf(await change())
      const changed = outcome(() =>
        bed.desk.answer(caller(surface), third.id, { kind: 'changes', note: 'not there' }, third.digest),
      )
      expect([surface, changed]).toEqual([surface, rights.changes ? 'settled' : 'forbidden'])

      const last = await destroy()
      expect(answerPlaceOf(last)).toBe('phrase')
      const typed = outcome(() =>
        bed.desk.answer(
          caller(surface),
          itemOf(last).id,
          { kind: 'approve', phrase: last.approval?.phrase ?? '' },
          itemOf(last).digest,
        ),
      )
      expect([surface, typed]).toEqual([surface, rights.phrase === 'always' ? 'settled' : 'forbidden'])
    }
  })

  it('gives an agent, a forwarded answer and the system nothing at all', () => {
    for (const surface of ['agent', 'mcp', 'headless', 'system'] as const) {
      expect(SURFACE_RIGHTS[surface]).toMatchObject({ once: [], always: false, deny: false, phrase: 'never' })
    }
  })

  it('lets a locked screen approve nothing by a button, and deny', async () => {
    for (const surface of ['notification', 'tray'] as const) {
      const one = itemOf(await change())
      const locked = caller(surface, { locked: true })
      expect(outcome(() => bed.desk.answer(locked, one.id, { kind: 'approve', phrase: null }, one.digest))).toBe(
        'forbidden',
      )
      expect(outcome(() => bed.desk.answer(locked, one.id, { kind: 'deny', note: null }, one.digest))).toBe('settled')
    }
  })

  it('keeps what many depend on for its card', async () => {
    const gone = await change()
    const card = {
      ...gone,
      decision: {
        ...gone.decision,
        trace: [...gone.decision.trace, { layer: 'target', rule: 'prod', verdict: 'ask', sentence: 's', spans: [] }],
      },
    } as ExecutionView
    expect(answerPlaceOf(card)).toBe('card')
    expect(answerPlaceOf({ ...gone, risk: 'destructive' })).toBe('card')
  })
})

describe('several at once', () => {
  it('settles each on its own, leaves out what takes a phrase, and says what was settled before', async () => {
    const [one, two, three, late] = [await change(), await change(), await destroy(), await change()]
    bed.deny(late)
    const results = bed.desk.answerMany(caller('window'), [one, two, three, late].map(itemOf), { kind: 'approve' })
    expect(results.map(({ ok, code }) => [ok, code])).toEqual([
      [true, null],
      [true, null],
      [false, 'forbidden'],
      [false, 'already_settled'],
    ])
    expect(results[3]?.sentence).toMatch(/denied already, by the operator on its card \d+ s ago/)
    await bed.until(one.id, 'completed')
    await bed.until(two.id, 'completed')
    expect(bed.store.execution(three.id)?.state).toBe('pending_approval')
  })

  it('refuses one whose digest is another', async () => {
    const one = await change()
    expect(bed.desk.answerMany(caller('window'), [{ ...itemOf(one), digest: 'x' }], { kind: 'approve' })[0]?.code).toBe(
      'drift',
    )
  })
})

describe('request changes', () => {
  it('denies with the note, and the caller is told to follow it', async () => {
    const one = await change()
    bed.desk.answer(
      caller('window'),
      itemOf(one).id,
      { kind: 'changes', note: 'make it under /srv' },
      itemOf(one).digest,
    )
    const view = bed.store.execution(one.id)
    expect(view).toMatchObject({ state: 'denied', stateReason: 'The operator asks for changes: make it under /srv' })
    expect(bed.gate.resultText(one.id)).toContain('do what the note says')
  })
})

describe('a denial with a reason', () => {
  it('is a no, and not told as a wish for another command', async () => {
    const one = await change()
    bed.deny(one, 'never on a Friday')
    const text = bed.gate.resultText(one.id)
    expect(text).toContain('Denied by the operator: never on a Friday')
    expect(text).toContain('The operator said no')
    expect(text).not.toContain('propose the changed command')
  })
})

describe('words', () => {
  it('are kept with the grant, and told to the caller', async () => {
    const one = await change()
    bed.desk.answer(
      caller('chat'),
      itemOf(one).id,
      { kind: 'approve', phrase: null },
      itemOf(one).digest,
      'go ahead, please',
    )
    await bed.until(one.id, 'completed')
    expect(bed.store.approval(itemOf(one).id)?.settlement).toMatchObject({ surface: 'chat', words: 'go ahead, please' })
    expect(bed.gate.resultText(one.id)).toContain('approved by the operator with the words: "go ahead, please"')
  })
})

describe('a write that fails', () => {
  it('does not keep the desk from looking again', async () => {
    const planned: (() => void)[] = []
    const one = await change()
    const works = { now: false }
    const desk = createApprovalDesk({
      store: new Proxy(bed.store, {
        get: (target, name) =>
          name === 'settleApproval' && !works.now
            ? () => {
                throw new Error('disk full')
              }
            : Reflect.get(target, name),
      }),
      clock: {
        now: () => bed.clock.now(),
        after: (_, callback) => {
          planned.push(callback)
          return () => {}
        },
      },
      feed: { boot: 'b', seq: 0, publish: () => {}, subscribe: () => () => {} },
      log: silentLog,
      headless: false,
      start: () => Promise.resolve(),
      announce: () => {},
      always: { offer: () => Promise.reject(new Error('no')), store: () => Promise.reject(new Error('no')) },
    })
    bed.clock.move(61 * 60 * 1000)
    desk.expire()
    works.now = true
    expect(planned).toHaveLength(1)
    planned[0]?.()
    expect(bed.store.approval(itemOf(one).id)?.state).toBe('expired')
  })
})

describe('a clock that jumps', () => {
  it('forward ends what waits, backward does not make it live longer', async () => {
    const one = await change()
    let running = 0
    const desk = createApprovalDesk({
      store: bed.store,
      clock: bed.clock,
      feed: { boot: 'b', seq: 0, publish: () => {}, subscribe: () => () => {} },
      log: silentLog,
      headless: false,
      start: () => Promise.resolve(),
      announce: () => {},
      always: { offer: () => Promise.reject(new Error('no')), store: () => Promise.reject(new Error('no')) },
      running: () => running,
    })
    desk.expire()
    bed.clock.move(-24 * 60 * 60 * 1000)
    desk.expire()
    expect(bed.store.approval(itemOf(one).id)?.state).toBe('pending')
    running = 61 * 60 * 1000
    desk.expire()
    expect(bed.store.approval(itemOf(one).id)?.state).toBe('expired')
    bed.clock.move(24 * 60 * 60 * 1000)
    const two = await change()
    bed.clock.move(2 * 60 * 60 * 1000)
    expect(
      outcome(() =>
        desk.answer(caller('window'), itemOf(two).id, { kind: 'approve', phrase: null }, itemOf(two).digest),
      ),
    ).toBe('expired')
    desk.close()
  })
})
