import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCore, NO_SECRETS } from '../../src-main/compose'
import type { ExecutionView } from '../../src-preload/contract'

const RUNS = 3000

describe('soak', () => {
  it(`${RUNS} automatic runs, 8 at a time, with output: memory stays bounded, all is settled, the chain holds`, async () => {
    const home = mkdtempSync(join(tmpdir(), 'nomos-soak-'))
    const core = createCore({
      home,
      resources: resolve(import.meta.dirname, '../..'),
      version: 'soak',
      secrets: NO_SECRETS,
      headless: true,
    })
    const caller = { surface: 'window' as const, operator: true }
    const settled = new Map<string, string>()
    core.subscribe(({ event }) => {
      if (event.type === 'execution' && !['requested', 'running'].includes(event.state))
        settled.set(event.id, event.state)
    })
    const ids: string[] = []
    let left = RUNS
    let early = 0
    const worker = async (): Promise<void> => {
      while (left-- > 0) {
        const answer = await core.dispatch(caller, 'executions.request', {
          target: 'local',
          command: 'cat /etc/services',
          purpose: null,
          session: null,
        })
        if (!answer.ok) throw new Error(answer.error.message)
        const { id } = answer.value as ExecutionView
        ids.push(id)
        while (!settled.has(id)) await new Promise((go) => setTimeout(go, 1))
        if (early === 0 && ids.length >= 500) {
          globalThis.gc?.()
          early = process.memoryUsage().rss
        }
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    globalThis.gc?.()
    const late = process.memoryUsage().rss
    expect(ids.every((id) => settled.get(id) === 'completed')).toBe(true)
    const report = await core.dispatch(caller, 'ledger.verify', {})
    expect(report).toMatchObject({ ok: true, value: { intact: true } })
    console.log(
      JSON.stringify({
        runs: RUNS,
        rssAfter500MiB: Math.round(early / 2 ** 20),
        rssAtEndMiB: Math.round(late / 2 ** 20),
      }),
    )
    expect(late - early).toBeLessThan(150 * 2 ** 20)
    await core.stop()
    rmSync(home, { recursive: true, force: true })
  })
})
