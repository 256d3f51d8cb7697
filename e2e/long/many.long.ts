import { afterAll, describe, it } from 'vitest'
import { expect, forgetHomes, launch } from '../support/app'
import { ask, waiting } from '../support/asking'

const MANY = 500
const ANSWERS = 40
const STEPS = 150
/** The most script of the main thread that one answer may take, ms. */
const MOST_MS = 50

const round = (value: number): number => Math.round(value * 10) / 10
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

afterAll(forgetHomes)

describe(`${MANY} requests that wait`, () => {
  it('the room opens, cards are walked and answered without a pause that could be felt', async () => {
    const { page, app, kill, faults } = await launch()
    try {
      const asking = performance.now()
      await page.evaluate(async (many) => {
        for (let n = 0; n < many; n += 1) {
          const got = await window.nomos.request('executions.request', {
            target: 'local',
            command: `touch /tmp/nomos-many-${n}; echo ${n} of many, with a line that is about as long as those of real life`,
            purpose: `request ${n}`,
            session: null,
          })
          if (!got.ok) throw new Error(got.error.message)
        }
      }, MANY)
      const asked = performance.now() - asking
      await expect(page.getByTestId('waiting-badge')).toContainText(String(MANY))

      // Every task of the page's main thread that took longer than 50 ms, from here on.
      await page.evaluate(() => {
        const tasks: { at: number; ms: number }[] = []
        Object.assign(window, { tasks })
        new PerformanceObserver((list) => {
          for (const { startTime, duration } of list.getEntries()) tasks.push({ at: startTime, ms: duration })
        }).observe({ type: 'longtask' })
      })
      const longest = (from: number): Promise<number> =>
        page.evaluate(
          (since) =>
            Math.max(
              0,
              ...(window as unknown as { tasks: { at: number; ms: number }[] }).tasks
                .filter(({ at }) => at >= since)
                .map(({ ms }) => ms),
            ),
          from,
        )

      const opened = await page.evaluate(async () => {
        const from = performance.now()
        document.querySelector<HTMLElement>('[data-testid="room-approvals"]')?.click()
        while (document.querySelector('main [data-state="pending_approval"] [data-testid="deny"]') === null)
          await new Promise((go) => requestAnimationFrame(go))
        await new Promise((go) => requestAnimationFrame(go))
        return { from, ms: performance.now() - from }
      })
      await page.waitForTimeout(1500)
      const roomTask = await longest(opened.from)
      // It is a list of places of which only those near are drawn.
      const places = await page.locator('main [data-card]').count()
      const drawn = await waiting(page).count()
      expect(places).toBeGreaterThanOrEqual(MANY)
      expect(drawn).toBeLessThan(100)

      // Work of the main thread alone, in its own processor time: what other programs take from this machine does not count.
      const devtools = await page.context().newCDPSession(page)
      await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
      const worked = async (): Promise<{ readonly script: number; readonly task: number }> => {
        const { metrics } = await devtools.send('Performance.getMetrics')
        const of = (wanted: string): number => (metrics.find(({ name }) => name === wanted)?.value ?? 0) * 1000
        return { script: of('ScriptDuration'), task: of('TaskDuration') }
      }

      // Presses Deny as a pointer does, one card after the other, and waits until that card says that it is denied.
      const answering = { from: await page.evaluate(() => performance.now()), times: [] as number[] }
      const scripts: number[] = []
      const tasks: number[] = []
      for (let n = 0; n < ANSWERS; n += 1) {
        const before = await worked()
        const took = await page.evaluate(async () => {
          const card = document.querySelector<HTMLElement>('main [data-state="pending_approval"]')
          const button = card?.querySelector<HTMLElement>('[data-testid="deny"]')
          if (!card || !button) throw new Error('there is no card to answer')
          const redrawn = new Promise<void>((go) => {
            new MutationObserver((_changes, observer) => {
              if (card.dataset.state === 'pending_approval') return
              observer.disconnect()
              go()
            }).observe(card, { attributes: true, attributeFilter: ['data-state'] })
          })
          const pressed = performance.now()
          button.click()
          await redrawn
          const ms = performance.now() - pressed
          // The picture that shows it belongs to the work.
          await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))
          return ms
        })
        const after = await worked()
        answering.times.push(took)
        scripts.push(after.script - before.script)
        tasks.push(after.task - before.task)
        await page.evaluate(() =>
          document.querySelector('main [data-state="pending_approval"]')?.scrollIntoView({ block: 'start' }),
        )
        await page.waitForTimeout(150)
      }
      const answerTask = await longest(answering.from)

      // Walking: every step moves the focus to the next card, also to one that was not drawn yet.
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      const walkFrom = await page.evaluate(() => performance.now())
      const walking = performance.now()
      const steps = new Set<string>()
      const walkBefore = await worked()
      for (let n = 0; n < STEPS; n += 1) {
        await page.keyboard.press('j')
        steps.add(
          await page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-card]')?.dataset.card ?? ''),
        )
      }
      const walked = (performance.now() - walking) / STEPS
      const walkScript = ((await worked()).script - walkBefore.script) / STEPS
      steps.delete('')
      expect(steps.size).toBeGreaterThan(STEPS * 0.95)
      for (let n = 0; n < STEPS; n += 1) await page.keyboard.press('k')
      const walkTask = await longest(walkFrom)

      const memory = await app.evaluate(({ app: main }) =>
        Object.fromEntries(
          main
            .getAppMetrics()
            .map(({ type, pid, memory: { workingSetSize } }) => [
              `${type} ${pid}`.replace(/ \d+$/, ''),
              Math.round(workingSetSize / 1024),
            ]),
        ),
      )
      const heap = await page.evaluate(
        () => (performance as unknown as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize ?? 0,
      )
      const left = await ask(page, 'approvals.pending', {})
      console.log(
        JSON.stringify({
          pending: MANY,
          askedMsEach: round(asked / MANY),
          roomShownMs: round(opened.ms),
          roomLongestTaskMs: round(roomTask),
          drawn,
          answerMedianMs: round(median(answering.times)),
          answerWorstMs: round(Math.max(...answering.times)),
          answerScriptMedianMs: round(median(scripts)),
          answerScriptWorstMs: round(Math.max(...scripts)),
          answerWorkMedianMs: round(median(tasks)),
          answerWorkWorstMs: round(Math.max(...tasks)),
          answerLongestTaskMs: round(answerTask),
          stepMs: round(walked),
          stepScriptMs: round(walkScript),
          walkLongestTaskMs: round(walkTask),
          left: left.length,
          heapMb: round(heap / 1024 / 1024),
          memoryMb: memory,
        }),
      )
      expect(left).toHaveLength(MANY - ANSWERS)
      expect(Math.max(...scripts)).toBeLessThan(MOST_MS)
      expect(median(scripts)).toBeGreaterThan(0)
      expect(walkScript).toBeLessThan(MOST_MS)
      expect(faults).toEqual([])
    } finally {
      await kill()
    }
  })
})
