import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeEach, describe, it } from 'vitest'
import { expect, expectState, forgetHomes, launch, type NomosApp } from './support/app'

let app: NomosApp
let scratch: string
beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'nomos-keys-'))
  app = await launch()
  app.page.setDefaultTimeout(5000)
})
afterEach(async () => {
  await app.close()
  rmSync(scratch, { recursive: true, force: true })
})
afterAll(forgetHomes)

const card = (page: Page, n: number) => page.locator('main [data-testid^="card-"]').nth(n)

async function typeAndSend(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/')
  await expect(page.getByTestId('composer')).toBeFocused()
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}

/** Leaves the text field, so that letters are keys. */
async function leaveComposer(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
}

describe('the keyboard alone', () => {
  it('runs, approves with A twice, denies with D, stops with S', async () => {
    const { page } = app
    await leaveComposer(page)
    await typeAndSend(page, `/run local touch ${scratch}/a`)
    await expectState(card(page, 0), 'pending_approval')
    await leaveComposer(page)
    await page.keyboard.press('j')
    await expect(card(page, 0)).toBeFocused()
    await page.keyboard.press('a')
    // One press is not an answer.
    await page.waitForTimeout(300)
    expect(existsSync(`${scratch}/a`)).toBe(false)
    await page.keyboard.press('a')
    await expectState(card(page, 0), 'completed')
    expect(existsSync(`${scratch}/a`)).toBe(true)

    await typeAndSend(page, `/run local touch ${scratch}/d`)
    await expectState(card(page, 1), 'pending_approval')
    await leaveComposer(page)
    await page.keyboard.press('j')
    if (!(await card(page, 1).evaluate((one) => one === document.activeElement))) await page.keyboard.press('j')
    await expect(card(page, 1)).toBeFocused()
    await page.keyboard.press('d')
    await expectState(card(page, 1), 'denied')

    await typeAndSend(page, '/run local true; sleep 600')
    await expectState(card(page, 2), 'pending_approval')
    await card(page, 2).focus()
    await page.keyboard.press('a')
    await page.keyboard.press('a')
    await expectState(card(page, 2), 'running')
    await page.keyboard.press('s')
    await expectState(card(page, 2), 'cancelled')
  })

  it('A never approves what cannot be undone; the phrase is reached with Tab', async () => {
    const { page } = app
    await leaveComposer(page)
    await typeAndSend(page, `/run local rm -rf ${scratch}/gone`)
    await expectState(card(page, 0), 'pending_approval')
    await card(page, 0).focus()
    await page.keyboard.press('a')
    await page.keyboard.press('a')
    await page.waitForTimeout(300)
    await expectState(card(page, 0), 'pending_approval')
    await card(page, 0).focus()
    for (let n = 0; n < 12; n++) {
      if (
        await card(page, 0)
          .getByTestId('phrase')
          .evaluate((one) => one === document.activeElement)
      )
        break
      await page.keyboard.press('Tab')
    }
    await expect(card(page, 0).getByTestId('phrase')).toBeFocused()
    await page.keyboard.type('rm local')
    await page.keyboard.press('Enter')
    await expectState(card(page, 0), 'completed')
  })

  it('a new approval takes the focus from nobody', async () => {
    const { page } = app
    await page.getByTestId('composer').focus()
    await page.keyboard.type('/run local touch /tmp/nomos-focus')
    await page.keyboard.press('Enter')
    await expectState(card(page, 0), 'pending_approval')
    await expect(page.getByTestId('composer')).toBeFocused()
    // What is typed on goes into the composer and answers nothing.
    await page.keyboard.type('aad yes')
    await expect(page.getByTestId('composer')).toHaveValue('aad yes')
    await expectState(card(page, 0), 'pending_approval')
  })

  it('reaches every room, the palette and the list of keys, and Escape closes the topmost thing', async () => {
    const { page } = app
    for (const [index, room] of ['chat', 'approvals', 'activity', 'fleet', 'policy', 'settings'].entries()) {
      await page.keyboard.press(`Control+${index + 1}`)
      await expect(page.getByTestId(`room-${room}`)).toHaveAttribute('aria-current', 'page')
    }
    await page.keyboard.press('Control+k')
    await expect(page.getByTestId('palette-input')).toBeFocused()
    await page.keyboard.type('fleet')
    await page.keyboard.press('Enter')
    await expect(page.getByTestId('room-fleet')).toHaveAttribute('aria-current', 'page')
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    await expect(page.getByTestId('palette-input')).toHaveCount(0)
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog')).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
  })
})
