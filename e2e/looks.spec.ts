import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect, expectState, forgetHomes, launch, type NomosApp, PICTURES, picture, run, send } from './support/app'
import { type ModelServer, startModelServer } from './support/model-server'

const ROOMS = ['chat', 'approvals', 'activity', 'fleet', 'policy', 'settings'] as const
const SIZES = [
  [1280, 800],
  [900, 640],
  [640, 800],
] as const
const THEMES = ['light', 'dark'] as const

async function resize(app: NomosApp, width: number, height: number): Promise<void> {
  await app.app.evaluate(({ BrowserWindow }, [w, h]) => BrowserWindow.getAllWindows()[0]?.setContentSize(w, h), [
    width,
    height,
  ] as [number, number])
  await expect.poll(() => app.page.evaluate(() => window.innerWidth)).toBe(width)
}

async function setTheme(page: Page, theme: string): Promise<void> {
  await page.keyboard.press('Control+6')
  await page.getByTestId(`theme-${theme}`).click()
  await expect(page.locator('html')).toHaveAttribute('data-theme', theme)
}

/** Nothing may stick out of the window sideways. */
async function expectNoOverflow(page: Page): Promise<void> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect(wide).toBeLessThanOrEqual(0)
}

async function expectAccessible(page: Page, where: string): Promise<void> {
  // Electron has no second target for axe's isolated frames.
  const { violations, passes } = await new AxeBuilder({ page }).setLegacyMode(true).analyze()
  const found = violations.map(
    ({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
  expect(found).toEqual([])
  expect(passes.length).toBeGreaterThan(10)
}

async function lookAtEverything(app: NomosApp, state: string): Promise<void> {
  for (const theme of THEMES) {
    await setTheme(app.page, theme)
    for (const [width, height] of SIZES) {
      await resize(app, width, height)
      for (const [index, room] of ROOMS.entries()) {
        await app.page.keyboard.press(`Control+${index + 1}`)
        await expect(app.page.getByTestId(`room-${room}`)).toHaveAttribute('aria-current', 'page')
        await app.page.locator('main h1').first().waitFor()
        await app.page.waitForTimeout(250)
        await expectNoOverflow(app.page)
        await picture(app.page, `${state}-${room}-${width}-${theme}`)
        if (width !== 900) await expectAccessible(app.page, `${state} ${room} ${width} ${theme}`)
      }
    }
  }
}

describe('what people see', () => {
  let app: NomosApp
  let model: ModelServer
  beforeAll(async () => {
    app = await launch()
    model = await startModelServer([])
  })
  afterAll(async () => {
    await app.close()
    await model.stop()
    forgetHomes()
  })

  it('empty', async () => {
    await lookAtEverything(app, 'empty')
  }, 240_000)

  it('the picture of the README', async () => {
    const { page } = app
    await setTheme(page, 'dark')
    await resize(app, 1280, 800)
    await page.keyboard.press('Control+1')
    await expectState(await run(page, 'local', 'df -h /'), 'completed')
    await expectState(
      await run(page, 'local', '--why "a place for the new site" mkdir -p /srv/site'),
      'pending_approval',
    )
    await expectState(
      await run(page, 'local', '--why "the old site has moved" rm -rf /srv/old-site'),
      'pending_approval',
    )
    await page.getByTestId('composer').blur()
    await page.waitForTimeout(300)
    await picture(page, 'readme')
    if (process.env.NOMOS_KEEP_PICTURE === '1') {
      copyFileSync(join(PICTURES, 'readme.png'), join(import.meta.dirname, '../resources/window.png'))
    }
    const waiting = page.locator('main [data-state="pending_approval"]')
    for (let left = 1; left >= 0; left--) {
      await waiting.first().getByTestId('deny').click()
      await expect(waiting).toHaveCount(left)
    }
    await page.getByTestId('session-new').click()
  }, 60_000)

  it('busy, with long content', async () => {
    const { page } = app
    await resize(app, 1280, 800)
    await page.keyboard.press('Control+1')
    await expectState(await run(page, 'local', 'uname -a'), 'completed')
    await expectState(await run(page, 'local', 'cat /etc/services'), 'completed')
    await expectState(await run(page, 'local', 'ls /nowhere/at/all'), 'failed')
    const denied = await run(page, 'local', 'touch /tmp/nomos-look-denied')
    await denied.getByTestId('deny').click()
    await expectState(denied, 'denied')
    const long = Array.from({ length: 24 }, (_, n) => `echo ${'part'.repeat(n % 7)}${n} && `).join('')
    await expectState(await run(page, 'local', `${long}touch /tmp/${'deep/'.repeat(30)}end`), 'pending_approval')
    await expectState(await run(page, 'local', 'rm -rf /srv/old-site /var/backups/weekly'), 'pending_approval')
    const running = await run(page, 'local', 'echo working; sleep 600')
    await running.getByTestId('approve').click()
    await expectState(running, 'running')
    await send(page, `/run local ${'x'.repeat(400)}`)
    await expect(page.locator('main [data-state="pending_approval"]')).toHaveCount(3)
    await lookAtEverything(app, 'busy')
    await resize(app, 1280, 800)
    await page.keyboard.press('Control+1')
    await page.locator('main [data-state="running"]').getByTestId('stop').click()
    await expect(page.locator('main [data-state="cancelled"]')).toHaveCount(1)
  }, 240_000)

  it('with a model that answers, and with one that fails', async () => {
    const { page } = app
    await page.getByTestId('session-new').click()
    await page.keyboard.press('Control+6')
    await page.getByTestId('model-base-url').fill(model.url)
    await page.getByTestId('model-name').fill('scripted')
    await page.getByTestId('model-save').click()
    await expect(page.getByTestId('model-key-storage')).toContainText(/key/i)
    model.push({
      kind: 'calls',
      text: 'I look at the disks first, then I make the folder.\n\n1. Read `df -h`.\n2. Make **/srv/site**.\n\n```\nmkdir -p /srv/site\n```',
      calls: [
        { name: 'run', arguments: { target: 'local', command: 'df -h /', purpose: 'see how full the disk is' } },
        {
          name: 'run',
          arguments: {
            target: 'local',
            command: 'mkdir -p /srv/site',
            purpose: 'a place for the new site',
            risk: 'config_mutation',
          },
        },
      ],
    })
    await page.keyboard.press('Control+1')
    await send(page, 'Put a folder for the new site on this machine.')
    await expect(page.locator('main [data-state="pending_approval"]')).toHaveCount(1)
    for (const theme of THEMES) {
      await setTheme(page, theme)
      await page.keyboard.press('Control+1')
      await page.waitForTimeout(250)
      await picture(page, `model-${theme}`)
      await expectAccessible(page, `model ${theme}`)
    }
    model.push({ kind: 'status', status: 401 })
    await page.locator('main [data-state="pending_approval"]').getByTestId('deny').click()
    await expect(page.getByTestId('retry')).toBeVisible()
    await picture(page, 'model-failed')
    await expectAccessible(page, 'model failed')
  }, 120_000)
})
