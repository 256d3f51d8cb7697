import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { forgetHomes, launch, newHome } from '../support/app'
import { checkCrash } from '../support/crash-check'

const KILLS = 10

afterAll(forgetHomes)

describe('kill -9 of the app with its window', () => {
  it(`${KILLS} times in the middle of asking, approving and running: nothing lost, nothing run twice`, async () => {
    const home = newHome()
    const folder = mkdtempSync(join(tmpdir(), 'nomos-crash-app-'))
    mkdirSync(folder, { recursive: true })
    const asked = new Set<string>()
    let next = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const nomos = await launch({ home })
      let begun = (): void => {}
      const first = new Promise<void>((go) => {
        begun = go
      })
      await nomos.page.exposeFunction('told', (n: number, id: string) => {
        asked.add(id)
        next = Math.max(next, n + 1)
        begun()
      })
      // Left running: the kill ends it, wherever it is.
      const asking = nomos.page.evaluate(
        async ({ folder, first }) => {
          const ask = async (route: string, input: unknown) => {
            const answer = await window.nomos.request(route as never, input as never)
            if (!answer.ok) throw new Error(answer.error.message)
            return answer.value as { id: string; approval: { id: string; digest: string } | null }
          }
          for (let n = first; ; n++) {
            const command = `echo ${n} >> ${folder}/${n}`
            const view = await ask('executions.request', { target: 'local', command, purpose: null, session: null })
            await (window as unknown as { told(n: number, id: string): Promise<void> }).told(n, view.id)
            if (view.approval === null) throw new Error('it should wait')
            await ask('approvals.answer', {
              id: view.approval.id,
              answer: { kind: 'approve', phrase: null },
              digest: view.approval.digest,
            })
          }
        },
        { folder, first: next },
      )
      asking.catch(() => {})
      // From the first request on: until then a busy machine may take any time.
      await Promise.race([first, asking])
      await new Promise((go) => setTimeout(go, kill * 37))
      await nomos.kill()
      next += 5
    }
    await new Promise((go) => setTimeout(go, 500))
    const report = checkCrash(home, asked)
    expect(report.executions).toBeGreaterThanOrEqual(KILLS)
    console.log(JSON.stringify({ kills: KILLS, ...report }))
    rmSync(folder, { recursive: true, force: true })
  })
})
