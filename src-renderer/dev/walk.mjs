/**
 * Walks through the approval desk of a played core in a headless Chromium and says what is not as it has to be. Usage:
 *   npx vite build -c src-renderer/dev/vite.config.ts --outDir DIR && CHROMIUM=… node src-renderer/dev/walk.mjs DIR
 */
import assert from 'node:assert/strict'
import { chromium } from 'playwright'
import { expect } from 'playwright/test'
import { serve } from './serve.mjs'

const [dir, filter = ''] = process.argv.slice(2)
const server = await serve(dir)
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})

const focusedCard = (page) => page.evaluate(() => document.activeElement?.closest('[data-card]')?.dataset.card ?? null)
const told = (page) => page.evaluate(() => [...window.nomos.told])

const walks = {
  'words carry the cards that were in sight, with their digests, and no others': async (open) => {
    const page = await open('scene=desk&room=chat')
    await page.getByTestId('card-exe_undogone').waitFor()
    const section = page.getByRole('region', { name: 'Conversation' })
    await section.evaluate((box) => {
      box.scrollTop = box.scrollHeight
    })
    await page.waitForTimeout(300)
    const send = async (text) => {
      await page.getByTestId('composer').fill(text)
      await page.getByTestId('send').click()
      await page.waitForTimeout(200)
      return page.evaluate(() => window.nomos.sent.at(-1))
    }
    assert.deepEqual(await send('go ahead'), [], 'nothing that waits is in sight at the end')
    await page.getByTestId('card-exe_upgrade').evaluate((card) => card.scrollIntoView({ block: 'center' }))
    await page.waitForTimeout(300)
    const shown = await send('go ahead')
    assert.ok(
      shown.some((one) => one.id === 'a-exe_upgrade' && one.digest === 'digest-exe_upgrade'),
      JSON.stringify(shown),
    )
    assert.ok(!shown.some((one) => one.id === 'a-exe_everything'), 'a card far above was never in sight')
    // What was answered meanwhile is not there any more.
    await page.getByTestId('card-exe_upgrade').getByTestId('deny').click()
    await expect(page.getByTestId('card-exe_upgrade')).toHaveAttribute('data-state', 'denied')
    assert.ok(!(await send('yes')).some((one) => one.id === 'a-exe_upgrade'))
    await page.getByTestId('room-approvals').click()
    await page.getByTestId('room-settings').click()
    assert.equal(await page.evaluate(() => window.nomos.sent.length), 3)
  },

  'cards and lines of Now are told once, and nothing that nobody can see': async (open) => {
    const page = await open('scene=desk&room=settings', { width: 1280, height: 500 })
    await page.waitForTimeout(600)
    const first = await told(page)
    assert.ok(first.includes('a-exe_everything'), 'the first line of Now')
    assert.equal(new Set(first).size, first.length, 'once each')
    assert.ok(!first.includes('a-exe_takesback'), 'a line below the edge')
    await page.getByTestId('now-fold').click()
    await page.getByTestId('room-approvals').click()
    await page.waitForTimeout(600)
    const then = await told(page)
    assert.equal(new Set(then).size, then.length, 'still once each')
    const narrow = await open('scene=desk&room=settings', { width: 900, height: 640 })
    await narrow.waitForTimeout(600)
    assert.deepEqual(await told(narrow), [], 'Now is folded away and nothing else shows them')
    await narrow.getByTestId('room-chat').click()
    await narrow.waitForTimeout(600)
    assert.ok((await told(narrow)).length >= 7, 'the bar above the composer counts them all')
  },

  'the list of several is confirmed by nobody by accident': async (open) => {
    const page = await open('scene=desk&room=approvals')
    await page.getByTestId('approve-all').click()
    const confirm = page.getByTestId('approve-all-confirm')
    await expect(confirm).toBeVisible()
    await expect(confirm).not.toBeFocused()
    await page.keyboard.press('Enter')
    await page.waitForTimeout(200)
    assert.equal(await page.locator('[data-state="approved"],[data-state="running"]').count(), 0)
    await page.getByTestId('approve-all').click()
    assert.equal(await page.getByTestId('approve-all-left').locator('li').count(), 2)
    await confirm.click()
    await expect(page.getByText('this one was not')).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByTestId('approve-all-list')).toHaveCount(0)
  },

  'a group is answered as one, and stays in its place': async (open) => {
    const page = await open('scene=desk&room=approvals')
    const group = page.getByTestId('group-exe_same1')
    await expect(group.getByTestId('group-count')).toHaveText('3 identical requests')
    // Letters answer one card, never several.
    await group.focus()
    await page.keyboard.press('d')
    await page.keyboard.press('a')
    await page.keyboard.press('a')
    await page.waitForTimeout(200)
    await expect(group.getByTestId('group-count')).toHaveText('3 identical requests')
    await group.getByText('Answer each alone').click()
    await page.getByTestId('card-exe_same2').getByTestId('deny').click()
    await expect(page.getByTestId('card-exe_same2')).toHaveAttribute('data-state', 'denied')
    await expect(group.getByTestId('group-count')).toHaveText('2 of 3 identical requests wait')
    await group.getByTestId('approve-group').click()
    await expect(page.getByTestId('card-exe_same3')).toHaveAttribute('data-state', /approved|running/)
    await expect(page.getByTestId('card-exe_same1')).toHaveAttribute('data-state', /approved|running/)
  },

  'undo makes a request, and each leads to the other': async (open) => {
    const page = await open('scene=desk&room=approvals')
    await page.getByTestId('card-exe_undoready').getByTestId('undo').click()
    const asked = page.getByTestId('card-exe_undoready').getByTestId('undo-state')
    await expect(asked).toHaveAttribute('data-state', 'asked')
    await asked.getByTestId('undo-show').click()
    const made = page.locator('[data-card^="exe_undo1"]').first()
    await expect(made).toBeFocused()
    await expect(made.getByTestId('undo-of')).toContainText('systemctl stop smbd')
  },

  'changes are asked for with a note, and the keyboard alone does it': async (open) => {
    const page = await open('scene=desk&room=approvals')
    const card = page.getByTestId('card-exe_upgrade')
    await card.getByTestId('request-changes').focus()
    await page.keyboard.press('Enter')
    await expect(card.getByTestId('changes-note')).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(card.getByTestId('changes-note')).toBeHidden()
    await expect(card.getByTestId('request-changes')).toBeFocused()
    await page.keyboard.press('Enter')
    await page.keyboard.type('only the security updates')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect(card).toHaveAttribute('data-state', 'denied')
    await expect(card.getByTestId('settlement')).toContainText('only the security updates')
  },

  'a card that is asked for outside the window is brought into sight': async (open) => {
    const page = await open('scene=desk&room=settings')
    await page.evaluate(() => window.nomos.emit({ type: 'reveal', executionId: 'exe_everything' }))
    await expect(page.getByTestId('card-exe_everything')).toBeFocused()
    await expect(page.locator('main')).toHaveAttribute('data-room', 'chat')
    await expect(page.getByTestId('card-exe_everything')).toBeInViewport({ ratio: 0.5 })
    await page.evaluate(() => window.nomos.emit({ type: 'reveal', executionId: '../../x' }))
    await page.evaluate(() => window.nomos.emit({ type: 'reveal', executionId: 'exe_same2' }))
    await expect(page.locator('main')).toHaveAttribute('data-room', 'approvals')
    await expect(page.getByTestId('group-exe_same1')).toBeFocused()
    const started = await open('scene=many&room=settings', undefined, '#reveal=exe_many120')
    await expect(started.getByTestId('card-exe_many120')).toBeFocused()
    await expect(started.getByTestId('card-exe_many120')).toBeInViewport({ ratio: 0.5 })
    assert.equal(new URL(started.url()).hash, '')
  },

  '500 waiting cards: the keys walk all of them, and an answer is quick': async (open) => {
    const page = await open('scene=many&room=approvals')
    await page.getByTestId('card-exe_many499').waitFor()
    const drawn = () => page.locator('[data-card]:not([data-far])').count()
    assert.ok((await drawn()) < 60, `${await drawn()} cards are drawn`)
    for (let i = 0; i < 500; i += 1) await page.keyboard.press('j')
    await page.waitForTimeout(200)
    assert.equal(await focusedCard(page), 'exe_many0')
    assert.ok((await drawn()) < 80, `${await drawn()} cards are drawn at the end`)
    for (let i = 0; i < 200; i += 1) await page.keyboard.press('k')
    await page.waitForTimeout(200)
    assert.equal(await focusedCard(page), 'exe_many200')
    const client = await page.context().newCDPSession(page)
    await client.send('Performance.enable')
    const script = async () => {
      const { metrics } = await client.send('Performance.getMetrics')
      return metrics.find((one) => one.name === 'ScriptDuration').value * 1000
    }
    const costs = []
    const jumps = []
    for (let i = 0; i < 10; i += 1) {
      const id = `exe_many${200 + i * 6 + 1}`
      const card = page.getByTestId(`card-${id}`)
      await page.evaluate(
        (name) => document.querySelector(`[data-card="${name}"]`)?.scrollIntoView({ block: 'center' }),
        id,
      )
      await card.waitFor()
      await page.waitForTimeout(400)
      const top = await card.evaluate((box) => box.getBoundingClientRect().top)
      const before = await script()
      await card.getByTestId('deny').evaluate((button) => button.click())
      await expect(card).toHaveAttribute('data-state', 'denied')
      await page.waitForTimeout(100)
      costs.push((await script()) - before)
      await page.waitForTimeout(700)
      jumps.push(Math.abs((await card.evaluate((box) => box.getBoundingClientRect().top)) - top))
    }
    costs.sort((a, b) => a - b)
    console.log(
      `   script for an answer: ${costs.map((ms) => ms.toFixed(0)).join(' ')} ms; most drawn ${await drawn()}`,
    )
    assert.ok(costs[5] < 50, 'the middle one takes under 50 ms')
    assert.ok(Math.max(...jumps) < 2, `a settled card stays in its place (${jumps.join(' ')})`)
  },

  'what is typed on a card far away is not lost': async (open) => {
    const page = await open('scene=many&room=approvals')
    const card = page.getByTestId('card-exe_many498')
    await card.getByTestId('request-changes').click()
    await card.getByTestId('changes-note').fill('not this one')
    await page.locator('[data-scroller]').evaluate((box) => {
      box.scrollTop = 60_000
    })
    await page.getByRole('button', { name: 'Fold Now away' }).focus()
    await page.waitForTimeout(400)
    await expect(page.getByTestId('card-exe_many300')).toHaveCount(0)
    await expect(card.getByTestId('changes-note')).toHaveValue('not this one')
  },

  'a burst is announced as a number': async (open) => {
    const page = await open('scene=desk&room=approvals')
    await page.waitForTimeout(300)
    await page.evaluate(() => window.nomos.arrive(5))
    await expect(page.getByTestId('announcements')).toHaveText(/^5 more requests wait for your answer, 12 in all\.$/)
    await page.evaluate(() => window.nomos.arrive(1))
    await expect(page.getByTestId('announcements')).toHaveText(/^Waiting for your answer: change on local: true /)
  },

  'switches are named while they are on, and switched off there': async (open) => {
    const page = await open('scene=desk&room=fleet')
    await expect(page.getByTestId('switch-strip')).toContainText('Never automatic on host:strong')
    await expect(page.getByTestId('never-auto-host:strong')).toHaveAttribute('aria-checked', 'true')
    await page.getByTestId('switch-off-host:strong').click()
    await expect(page.getByTestId('never-auto-host:strong')).toHaveAttribute('aria-checked', 'false')
    await page.getByTestId('switch-off-pause').click()
    await expect(page.getByTestId('switch-strip')).toHaveCount(0)
    await page.keyboard.press('Control+k')
    await page.getByTestId('palette-input').fill('never automatic local')
    await page.keyboard.press('Enter')
    await expect(page.getByTestId('switch-strip')).toContainText('Never automatic on local')
  },

  'filters are asked of the core and outlive the room': async (open) => {
    const page = await open('scene=busy&room=approvals')
    await page.getByTestId('history-risk').selectOption('read_only')
    await expect(page.getByTestId('history-empty')).toBeVisible()
    await page.getByTestId('history-asked').click()
    await expect(page.getByTestId('card-e-done')).toBeVisible()
    await page.getByTestId('room-fleet').click()
    await page.getByTestId('room-approvals').click()
    await expect(page.getByTestId('history-risk')).toHaveValue('read_only')
    await page.getByTestId('history-text').fill('fail')
    await expect(page.getByTestId('history-problem')).toBeVisible()
    await page.getByTestId('history-clear').click()
    await expect(page.getByTestId('card-e-denied')).toBeVisible()
  },
}

let wrong = 0
for (const [name, walk] of Object.entries(walks)) {
  if (!name.includes(filter)) continue
  const pages = []
  const open = async (query, viewport = { width: 1280, height: 800 }, hash = '') => {
    const page = await browser.newPage({ viewport })
    pages.push(page)
    page.setDefaultTimeout(8000)
    page.on('pageerror', (error) => {
      wrong += 1
      console.log('   page:', error.message)
    })
    await page.goto(`${server.page}?${query}${hash}`)
    return page
  }
  try {
    await walk(open)
    console.log(`ok  ${name}`)
  } catch (error) {
    wrong += 1
    console.log(`NOT ${name}\n   ${error.message.split('\n').slice(0, 12).join('\n   ')}`)
  }
  for (const page of pages) await page.close()
}
await browser.close()
server.close()
process.exitCode = wrong === 0 ? 0 : 1
