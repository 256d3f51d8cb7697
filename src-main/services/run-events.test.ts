import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ExecutionView, Principal } from '../../src-preload/contract/model'
import { systemIds } from '../adapters/system'
import { createFeed } from './feed'
import { createRunEvents, RUNNING_AFTER_MS, type RunEvents } from './run-events'
import { createTestbed, silentLog, type Testbed } from './testbed'

const session = 'ses_1'
const IN_SESSION: Principal = { kind: 'operator', id: 'operator', session, turn: null }

let bed: Testbed
let folder: string
let events: RunEvents
/** What was planned on the clock of these lines, to be let go by hand. */
let planned: { ms: number; run: () => void }[]
let publish: (execution: ExecutionView) => void
beforeEach(() => {
  bed = createTestbed()
  folder = mkdtempSync(join(tmpdir(), 'run-events-'))
  planned = []
  bed.store.createSession({ id: session, title: '', createdAt: 1, updatedAt: 1, turn: 'idle' })
  const feed = createFeed('boot', silentLog)
  publish = ({ id, state }) => feed.publish({ type: 'execution', id, session, state })
  events = createRunEvents({
    store: bed.store,
    feed,
    clock: {
      now: () => bed.clock.now(),
      after(ms, run) {
        const entry = { ms, run }
        planned.push(entry)
        return () => {
          planned = planned.filter((one) => one !== entry)
        }
      },
    },
    ids: systemIds(() => bed.clock.now()),
    log: silentLog,
  })
  bed.gate.onSettled((execution) => events.settled(execution))
})
afterEach(async () => {
  events.close()
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

const lines = (): readonly string[] => bed.store.messages(session, null, 50).map(({ text }) => text ?? '')

it('what did not run is named by why: denied, expired and undeliverable are three words', async () => {
  const [one, two, three] = [
    await bed.ask(`mkdir ${folder}/a`, {}, IN_SESSION),
    await bed.ask(`mkdir ${folder}/b`, {}, IN_SESSION),
    await bed.ask(`mkdir ${folder}/c`, {}, IN_SESSION),
  ]
  bed.deny(one, 'not here')
  await bed.gate.undelivered(two.id)
  bed.clock.move(2 * 60 * 60 * 1000)
  bed.desk.expire()
  const said = (word: string, { approval, command }: ExecutionView): string =>
    `Exec ${word} (run ${approval?.id}): “${command}” on local. `
  const [denied, undeliverable, expired] = lines()
  expect(lines()).toHaveLength(3)
  expect(denied).toBe(`${said('denied', one)}Denied by the operator: not here`)
  expect(undeliverable?.startsWith(said('undeliverable', two))).toBe(true)
  expect(undeliverable).not.toMatch(/denied|expired/i)
  expect(expired).toBe(`${said('expired', three)}Nobody answered in time. Nothing ran.`)
})

it('a run that was agreed to is told at its end, one that ran by itself only when it took long', async () => {
  const change = await bed.ask(`mkdir ${folder}/a`, {}, IN_SESSION)
  bed.approve(change)
  await bed.until(change.id, 'completed')
  expect(lines()).toEqual([
    `Exec finished (run ${change.approval?.id}): “${change.command}” on local, done, exit code 0.`,
  ])
  const read = await bed.ask('uname -s', {}, IN_SESSION)
  await bed.until(read.id, 'completed')
  expect(lines()).toHaveLength(1)
})

it('a run that takes long is told once, and its end after that', async () => {
  const slow = await bed.ask(`sleep 30; mkdir ${folder}/a`, {}, IN_SESSION)
  bed.approve(slow)
  const running = await bed.until(slow.id, 'running')
  publish(running)
  publish(running)
  expect(planned.map(({ ms }) => ms)).toEqual([RUNNING_AFTER_MS])
  planned[0]?.run()
  publish(running)
  expect(lines()).toEqual([
    `Exec running (run ${slow.approval?.id}): “${slow.command}” on local, for ${RUNNING_AFTER_MS / 1000} s so far.`,
  ])
  await bed.gate.cancel(slow.id, 'operator', 'window')
  await bed.until(slow.id, 'cancelled')
  expect(lines()).toHaveLength(2)
  expect(lines()[1]).toContain(`Exec finished (run ${slow.approval?.id})`)
})
