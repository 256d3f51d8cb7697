import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Envelope, ExecutionView, LedgerEntry, PolicyView, SettingsView } from '../src-preload/contract'
import { resourcesFolder } from './adapters/system'
import { type Core, createCore, NO_SECRETS } from './compose'

const WINDOW = { surface: 'window' as const, operator: true }

let home: string
let core: Core
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'nomos-posture-'))
  core = createCore({ home, resources: resourcesFolder(), version: '0.0.1', secrets: NO_SECRETS, headless: true })
})
afterEach(async () => {
  await core.stop()
  rmSync(home, { recursive: true, force: true })
})

async function value<T>(route: string, input: unknown): Promise<T> {
  const answer = (await core.dispatch(WINDOW, route, input)) as Envelope<T>
  if (!answer.ok) throw new Error(`${route}: ${answer.error.code}: ${answer.error.message}`)
  return answer.value
}
const ask = (command: string) =>
  value<ExecutionView>('executions.request', { target: 'local', command, purpose: null, session: null })
const settled = async (id: string): Promise<ExecutionView> => {
  for (let i = 0; i < 500; i++) {
    const view = await value<ExecutionView>('executions.get', { id })
    if (!['requested', 'approved', 'running'].includes(view.state)) return view
    await new Promise((go) => setTimeout(go, 10))
  }
  throw new Error(`${id} did not end`)
}

describe('the setting for lines of several commands', () => {
  it('lets the same pipeline ask or run, is in the ledger, and is part of what was agreed to', async () => {
    const pipeline = 'cat /etc/hostname | wc -l'
    expect(await value<SettingsView>('settings.get', {})).toMatchObject({ compound: 'never' })
    const before = await value<PolicyView>('policy.show', {})
    const first = await ask(pipeline)
    expect(first).toMatchObject({ state: 'pending_approval', risk: 'config_mutation' })

    expect(await value<SettingsView>('policy.setCompound', { compound: 'every-segment' })).toMatchObject({
      compound: 'every-segment',
    })
    const after = await value<PolicyView>('policy.show', {})
    expect(after.version).not.toBe(before.version)
    // What was agreed to under the other value is not what would run now.
    await value('approvals.answer', {
      id: first.approval?.id,
      answer: { kind: 'approve', phrase: null },
      digest: first.approval?.digest,
    })
    expect(await settled(first.id)).toMatchObject({ state: 'denied', failure: 'drift' })

    const second = await ask(pipeline)
    expect(await settled(second.id)).toMatchObject({ state: 'completed', risk: 'read_only', output: '1\n' })
    expect(await ask('cat /etc/hostname | tee /tmp/x')).toMatchObject({ state: 'pending_approval' })

    await value('policy.setCompound', { compound: 'never' })
    await value('policy.setCompound', { compound: 'never' })
    expect((await value<PolicyView>('policy.show', {})).version).toBe(before.version)
    expect(await ask('cat /etc/hostname | wc -c')).toMatchObject({ state: 'pending_approval' })
    const { entries } = await value<{ entries: LedgerEntry[] }>('ledger.page', { before: null, limit: 100 })
    expect(entries.filter(({ kind }) => kind === 'setting.changed').map(({ data }) => data.compound)).toEqual([
      'never',
      'every-segment',
    ])
  })
})

describe('what a card shows beside the text', () => {
  it('is there with every view, over the redacted command, and colours decide nothing', async () => {
    const command = `grep -c 'a b' /etc/hostname # token=ghp_0123456789abcdefghijABCDEFGHIJ012345`
    const plain = await ask(command)
    expect(plain.redacted).toBe(true)
    const words = JSON.stringify([plain.tokens, plain.argv])
    expect(words).toContain('a b')
    expect(words).not.toContain('ghp_0123456789')
    for (const { start, end } of plain.tokens ?? [])
      expect(end).toBeLessThanOrEqual(Math.max(start, plain.command.length))

    await value('settings.savePreferences', { theme: 'dark', letterShortcuts: true, commandHighlighting: true })
    expect(await value<SettingsView>('settings.get', {})).toMatchObject({ commandHighlighting: true })
    for (const same of ['df -h', 'mkdir /tmp/x', 'rm -rf /srv/x', 'df -h | wc -l']) {
      const on = await ask(same)
      await value('settings.savePreferences', { theme: 'dark', letterShortcuts: true, commandHighlighting: false })
      const off = await ask(`${same} `)
      expect({ risk: off.risk, outcome: off.decision.outcome }).toEqual({ risk: on.risk, outcome: on.decision.outcome })
      expect(off.classification.flags).toEqual(on.classification.flags)
      await value('settings.savePreferences', { theme: 'dark', letterShortcuts: true, commandHighlighting: true })
    }
    // Not named, it stays.
    await value('settings.savePreferences', { theme: 'light', letterShortcuts: true })
    expect(await value<SettingsView>('settings.get', {})).toMatchObject({ commandHighlighting: true, theme: 'light' })
  })
})
