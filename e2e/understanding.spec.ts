import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, afterEach, beforeEach, describe, it } from 'vitest'
import { cardOf, expect, expectState, forgetHomes, launch, type NomosApp, picture, run, send } from './support/app'

let app: NomosApp
beforeEach(async () => {
  app = await launch()
})
afterEach(() => app.close())
afterAll(forgetHomes)

describe('what the operator sees of a command', () => {
  it('a pipeline of reads asks, runs by itself once the policy room says so, and what was asked before does not run', async () => {
    const { page } = app
    const before = await run(page, 'local', 'cat /etc/hostname | wc -l')
    await expectState(before, 'pending_approval')

    await page.getByTestId('room-policy').click()
    await expect(page.getByTestId('compound-never')).toBeChecked()
    await page.getByTestId('compound-every-segment').check()
    await expect(page.getByTestId('compound-every-segment')).toBeChecked()
    await picture(page, 'policy-compound')

    await page.getByTestId('room-chat').click()
    await before.getByTestId('approve').click()
    await expectState(before, 'denied')
    await expect(before.getByTestId('state-reason')).toContainText('policy')
    await expectState(await run(page, 'local', 'cat /etc/hosts | wc -c'), 'completed')
    await expectState(await run(page, 'local', 'cat /etc/hosts | tee /tmp/never'), 'pending_approval')

    await page.getByTestId('room-activity').click()
    await expect(page.locator('[data-kind="setting.changed"]')).toContainText('let lines of several reads run')
  })

  it('decoded words open with the keyboard, colours are a setting, and nothing hides', async () => {
    const { page } = app
    await send(page, `/run local touch '/tmp/a b' -'x' "$HOME/\u202egnp"`)
    const card = cardOf(page, '/tmp/a b')
    await expectState(card, 'pending_approval')
    await expect(card).toContainText('\\u202E')
    expect(await card.locator('.code-program').count()).toBe(0)
    const fold = card.getByTestId('decoded').getByRole('button')
    await fold.focus()
    await page.keyboard.press('Enter')
    await expect(card.locator('.word')).toHaveText(['touch', '/tmp/a b', '-x', '"$HOME/\\u202Egnp"'])

    await page.getByTestId('room-settings').click()
    await page.getByTestId('command-highlighting').click()
    await page.getByTestId('room-chat').click()
    await expect(card.locator('.code-program')).toHaveText('touch')
    await expect(card.locator('.code-variable')).toHaveText('$HOME')
    await expectState(card, 'pending_approval')
    await picture(page, 'decoded-and-coloured')
    const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
  })
})
