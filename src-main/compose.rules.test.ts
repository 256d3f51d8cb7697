import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Envelope, ExecutionView, HealthProblem } from '../src-preload/contract'
import { resourcesFolder } from './adapters/system'
import { type Core, createCore, NO_SECRETS } from './compose'

const WINDOW = { surface: 'window' as const, operator: true }

let home: string
let resources: string
let core: Core
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'nomos-rules-home-'))
  resources = mkdtempSync(join(tmpdir(), 'nomos-rules-resources-'))
  cpSync(join(resourcesFolder(), 'policies'), join(resources, 'policies'), { recursive: true })
})
afterEach(async () => {
  await core.stop()
  for (const folder of [home, resources]) rmSync(folder, { recursive: true, force: true })
})

const start = (): void => {
  core = createCore({ home, resources, version: '0.0.1', secrets: NO_SECRETS, headless: true })
}
async function value<T>(route: string, input: unknown): Promise<T> {
  const answer = (await core.dispatch(WINDOW, route, input)) as Envelope<T>
  if (!answer.ok) throw new Error(`${route}: ${answer.error.code}: ${answer.error.message}`)
  return answer.value
}
const ask = (command: string) =>
  value<ExecutionView>('executions.request', { target: 'local', command, purpose: null, session: null })
const health = async () => (await value<{ health: HealthProblem[] }>('app.snapshot', {})).health

describe('risk rules that cannot be used', () => {
  it.each([
    [
      'programs/versions.yaml',
      (text: string) => text.replace(/^ {4}summary:/m, '    sumary:'),
      /programs\/versions\.yaml:\d+ \(programs\.0/,
    ],
    ['destructive.yaml', () => 'destructive: [', /destructive\.yaml:\d+/],
    ['secrets.yaml', () => 'secrets: []\nsecrts: []\n', /secrets\.yaml:\d+ \(secrts|secrets\.yaml/],
  ])('%s: everything is asked with its phrase, and it is told where', async (name, spoil, place) => {
    const file = join(resources, 'policies', 'risk', name)
    const good = readFileSync(file, 'utf8')
    writeFileSync(file, spoil(good))
    start()
    for (const command of [
      'uname -s',
      'df -h',
      'mkdir /tmp/x',
      'rm -rf /srv/x',
      'cat /etc/hostname | wc -l',
      'mkfs.ext4 /dev/x',
    ]) {
      const view = await ask(command)
      expect(view).toMatchObject({ state: 'pending_approval', risk: 'destructive', approval: { outcome: 'confirm' } })
      expect(view.classification.reasons[0]).toMatchObject({ rule: 'rules_broken' })
    }
    const [problem] = await health()
    expect(problem).toMatchObject({ code: 'rules_broken', blocksRuns: false })
    expect(problem?.sentence).toMatch(place)

    // Mended, it counts at once.
    writeFileSync(file, good)
    expect(await ask('uname -r')).toMatchObject({ risk: 'read_only' })
    expect(await health()).toEqual([])
  })
})
