import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Envelope, ExecutionView } from '../src-preload/contract'
import { resourcesFolder } from './adapters/system'
import { type Core, createCore, NO_SECRETS } from './compose'

const WINDOW = { surface: 'window' as const, operator: true }

let home: string
let folder: string
let core: Core
const start = (): Core =>
  createCore({ home, resources: resourcesFolder(), version: '0.0.1', secrets: NO_SECRETS, headless: false })
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'nomos-undo-home-'))
  folder = mkdtempSync(join(tmpdir(), 'nomos-undo-'))
  core = start()
})
afterEach(async () => {
  await core.stop()
  rmSync(home, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
})

async function value<T>(route: string, input: unknown): Promise<T> {
  const answer = (await core.dispatch(WINDOW, route, input)) as Envelope<T>
  if (!answer.ok) throw new Error(`${route}: ${answer.error.code}: ${answer.error.message}`)
  return answer.value
}
const get = (id: string): Promise<ExecutionView> => value('executions.get', { id })

async function approved({ id, approval }: ExecutionView): Promise<ExecutionView> {
  await value('approvals.answer', {
    id: approval?.id,
    answer: { kind: 'approve', phrase: approval?.phrase ?? null },
    digest: approval?.digest,
  })
  for (let i = 0; i < 1000; i++) {
    const view = await get(id)
    if (!['approved', 'running'].includes(view.state) && view.undoState !== undefined) return view
    await new Promise((go) => setTimeout(go, 10))
  }
  throw new Error(`${id} did not end`)
}

it('a run is taken back through the routes of the window, also after a restart', async () => {
  const path = join(folder, 'motd')
  writeFileSync(path, 'as it was')
  const asked = await value<ExecutionView>('executions.request', {
    target: 'local',
    command: `echo new > ${path}`,
    purpose: null,
    session: null,
  })
  expect(asked.undo?.sentence).toBe(`Changes ${path}, which can be put back.`)
  expect((await approved(asked)).undoState).toMatchObject({ state: 'ready' })

  await core.stop()
  core = start()
  const undo = await value<ExecutionView>('executions.undo', { id: asked.id })
  expect(undo).toMatchObject({ state: 'pending_approval', undoOf: asked.id, command: `cat > ${path}` })
  expect((await get(asked.id)).undoState).toMatchObject({ state: 'asked', executionId: undo.id })
  await expect(value('executions.undo', { id: asked.id })).rejects.toThrow('conflict: Undo was asked for.')
  expect(readFileSync(path, 'utf8')).toBe('new\n')
  await approved(undo)
  expect(readFileSync(path, 'utf8')).toBe('as it was')
  expect((await get(asked.id)).undoState).toMatchObject({ state: 'asked', sentence: 'It was put back.' })
})

it('an undo that did not come to its end is asked for again with what it is to read, also after a restart', async () => {
  const path = join(folder, 'motd')
  writeFileSync(path, 'as it was')
  const asked = await value<ExecutionView>('executions.request', {
    target: 'local',
    command: `echo new > ${path}`,
    purpose: null,
    session: null,
  })
  await approved(asked)
  for (const restarted of [false, true]) {
    const undo = await value<ExecutionView>('executions.undo', { id: asked.id })
    await value('approvals.answer', {
      id: undo.approval?.id,
      answer: { kind: 'deny', note: null },
      digest: undo.approval?.digest,
    })
    if (restarted) {
      await core.stop()
      core = start()
    }
    const again = await value<ExecutionView>('executions.again', { id: undo.id })
    expect(again).toMatchObject({ state: 'pending_approval', undoOf: asked.id, retryOf: undo.id })
    if (!restarted) {
      await value('executions.cancel', { id: again.id })
      continue
    }
    await approved(again)
    expect(readFileSync(path, 'utf8')).toBe('as it was')
  }
})

it('what has nothing kept cannot be taken back', async () => {
  const read = await value<ExecutionView>('executions.request', {
    target: 'local',
    command: 'ls /',
    purpose: null,
    session: null,
  })
  await expect(value('executions.undo', { id: read.id })).rejects.toThrow('conflict: Nothing was kept')
  await expect(value('executions.undo', { id: 'exe_none' })).rejects.toThrow('not_found')
})
