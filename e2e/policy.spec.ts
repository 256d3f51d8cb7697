import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeEach, describe, it } from 'vitest'
import { expect, expectState, forgetHomes, launch, type NomosApp, picture, run, send } from './support/app'

let app: NomosApp
let scratch: string
beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'nomos-policy-'))
  app = await launch()
  app.page.setDefaultTimeout(8000)
})
afterEach(async () => {
  await app.close()
  rmSync(scratch, { recursive: true, force: true })
})
afterAll(forgetHomes)

const hostFile = (): string => join(app.home, 'exec-approvals.json')

async function openPart(page: Page, tab: string): Promise<void> {
  await page.getByTestId('room-policy').click()
  await page.getByTestId(`policy-tab-${tab}`).click()
  await expect(page.getByTestId(`policy-tab-${tab}`)).toHaveAttribute('aria-selected', 'true')
}

async function expectAccessible(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze()
  expect(
    violations.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`),
  ).toEqual([])
}

const focusedTestId = (page: Page): Promise<string | null> =>
  page.evaluate(() => document.activeElement?.getAttribute('data-testid') ?? null)

describe('presets', () => {
  it('one is shown with its difference, written, in force at the next command, and taken back', async () => {
    const { page } = app
    await expectState(await run(page, 'local', 'uname -a'), 'completed')

    await openPart(page, 'presets')
    await expect(page.getByTestId('preset-cautious')).toHaveAttribute('data-active', 'true')
    await page.getByTestId('preset-show-deny-all').click()
    await expect(page.getByTestId('preset-diff')).toContainText('deny')
    await expect(page.getByTestId('replay')).toContainText('1 would have asked or been refused')
    // Looking at it has written nothing.
    expect(existsSync(hostFile())).toBe(false)
    await page.getByTestId('preset-apply').click()
    await expect(page.getByTestId('preset-deny-all')).toHaveAttribute('data-active', 'true')
    expect(JSON.parse(readFileSync(hostFile(), 'utf8')).defaults.security).toBe('deny')
    await picture(page, 'policy-presets')
    await page.getByTestId('room-chat').click()
    await expectState(await run(page, 'local', 'uname -r'), 'denied')

    await openPart(page, 'presets')
    await page.getByTestId('policy-undo').click()
    await expect(page.getByTestId('preset-cautious')).toHaveAttribute('data-active', 'true')
    await page.getByTestId('room-chat').click()
    await expectState(await run(page, 'local', 'uname -s'), 'completed')
  })

  it('"yolo" takes its word typed, and a red strip stands in every room while it holds', async () => {
    const { page } = app
    await openPart(page, 'presets')
    await page.getByTestId('preset-show-yolo').click()
    await expect(page.getByTestId('preset-apply')).toBeDisabled()
    await page.getByTestId('preset-phrase').fill('yes')
    await expect(page.getByTestId('preset-apply')).toBeDisabled()
    await expect(page.getByTestId('open-strip')).toHaveCount(0)
    await page.getByTestId('preset-phrase').fill('yolo')
    await page.getByTestId('preset-apply').click()
    await expect(page.getByTestId('open-strip')).toBeVisible()
    await page.getByTestId('room-fleet').click()
    await expect(page.getByTestId('open-strip')).toBeVisible()
    await expectAccessible(page, 'open strip')
    await picture(page, 'policy-open')
    await page.getByTestId('room-chat').click()
    const folder = join(scratch, 'made unasked')
    await expectState(await run(page, 'local', `mkdir '${folder}'`), 'completed')
    expect(existsSync(folder)).toBe(true)

    await openPart(page, 'presets')
    await page.getByTestId('preset-show-cautious').click()
    await page.getByTestId('preset-apply').click()
    await expect(page.getByTestId('open-strip')).toHaveCount(0)
  })
})

describe('what holds', () => {
  it('an edit is saved, one that is stale shows both versions, and nothing of another is written over', async () => {
    const { page } = app
    await openPart(page, 'holds')
    await expect(page.getByTestId('effective-ask')).toContainText('on-miss')
    await expect(page.getByTestId('host-ask')).toContainText('built in')
    await page.getByTestId('policy-edit-host').click()
    await expect(page.getByTestId('edit-save')).toBeDisabled()
    await page.getByTestId('edit-ask').selectOption('always')
    await page.getByTestId('edit-save').click()
    await expect(page.getByTestId('effective-ask')).toContainText('always')
    await expect(page.getByTestId('effective-ask')).toContainText('the host is stricter')
    await expect(page.getByTestId('host-ask')).toContainText('for all agents')
    // The keyboard is where it was.
    await expect.poll(() => focusedTestId(page)).toBe('policy-edit-host')

    await page.getByTestId('policy-edit-host').click()
    await page.getByTestId('edit-ask').selectOption('off')
    const other = JSON.parse(readFileSync(hostFile(), 'utf8'))
    writeFileSync(hostFile(), JSON.stringify({ ...other, defaults: { ...other.defaults, security: 'deny' } }), {
      mode: 0o600,
    })
    // Where the app has noticed the other change first, both versions stand there already and there is nothing to press.
    await page
      .getByTestId('edit-save')
      .click({ timeout: 1000 })
      .catch(() => undefined)
    await expect(page.getByTestId('edit-stale')).toBeVisible()
    await expect(page.getByTestId('stale-there-security')).toHaveText('deny')
    await expect(page.getByTestId('stale-mine-ask')).toHaveText('off')
    await expectAccessible(page, 'stale edit')
    await picture(page, 'policy-stale')
    expect(JSON.parse(readFileSync(hostFile(), 'utf8')).defaults.ask).toBe('always')
    await page.getByTestId('edit-keep-mine').click()
    await page.getByTestId('edit-save').click()
    await expect(page.getByTestId('policy-editor')).toHaveCount(0)
    expect(JSON.parse(readFileSync(hostFile(), 'utf8')).defaults).toMatchObject({ ask: 'off', security: 'deny' })
  })

  it('one agent is told something else than all, and the room shows where each value stands', async () => {
    const { page } = app
    await openPart(page, 'holds')
    await page.getByTestId('scope-agent').selectOption('main')
    await page.getByTestId('policy-edit-host').click()
    await page.getByTestId('edit-autoAllowReadOnly').selectOption('off')
    await page.getByTestId('edit-save').click()
    await expect(page.getByTestId('host-autoAllowReadOnly')).toContainText('for main')
    await expect(page.getByTestId('effective-autoAllowReadOnly')).toContainText('off')
    await page.getByTestId('scope-agent').selectOption('')
    await expect(page.getByTestId('effective-autoAllowReadOnly')).toContainText('on')
    await page.getByTestId('room-chat').click()
    const card = await run(page, 'local', 'uname -a')
    await expectState(card, 'pending_approval')
    await card.getByTestId('deny').click()
    await expectState(card, 'denied')
  })

  it('a raised session is a red strip that ends it', async () => {
    const { page } = app
    await expectState(await run(page, 'local', 'uname -a'), 'completed')
    await send(page, '/elevated full')
    const strip = page.locator('[data-testid^="elevated-"]').first()
    await expect(strip).toContainText('is raised')
    await page.getByTestId('room-settings').click()
    await expect(strip).toBeVisible()
    await expectAccessible(page, 'elevated strip')
    await page.locator('[data-testid^="elevated-end-"]').click()
    await expect(page.getByTestId('policy-strip')).toHaveCount(0)
  })
})

describe('always', () => {
  it('stores exactly what it shows; the same runs unasked, another does not, and after its removal it asks again', async () => {
    const { page } = app
    const path = join(scratch, 'always')
    const first = await run(page, 'local', `touch ${path}`)
    await expectState(first, 'pending_approval')
    await first.getByTestId('always').click()
    await expect(first.getByTestId('always-entry')).toContainText(`touch ${path}`)
    // It opened by itself nothing that could be pressed by accident.
    expect(await focusedTestId(page)).toBe('always')
    await expect(first.getByTestId('always-expiry-hour')).toBeChecked()
    await expectAccessible(page, 'always')
    await picture(page, 'policy-always')
    await page.keyboard.press('Escape')
    await expect(first.getByTestId('always-panel')).toHaveCount(0)
    await expectState(first, 'pending_approval')
    await first.getByTestId('always').click()
    await first.getByTestId('always-expiry-month').check()
    await first.getByTestId('always-confirm').click()
    await expectState(first, 'completed')
    expect(existsSync(path)).toBe(true)

    const second = await run(page, 'local', `touch ${path} `.trim())
    await expectState(second, 'completed')
    await expect(second.getByTestId('settlement')).toHaveCount(0)
    const other = await run(page, 'local', `touch ${path}-other`)
    await expectState(other, 'pending_approval')
    await other.getByTestId('deny').click()
    await expectState(other, 'denied')

    await openPart(page, 'allowlist')
    await page.getByTestId('scope-agent').selectOption('main')
    const entry = page.locator('[data-testid="allow-list"] > li')
    await expect(entry).toHaveCount(1)
    await expect(entry).toContainText(`touch ${path}`)
    await expect(entry).toContainText('an approval')
    await expect(entry.getByTestId('allow-end')).toContainText('days left')
    // Its end is taken away: it goes on, with no end.
    await entry.locator('[data-testid^="allow-end-"]').first().click()
    await entry.getByTestId('allow-end-never').click()
    await expect(entry.getByTestId('allow-end')).toHaveText('no end')
    await expect(entry).toHaveCount(1)
    await page.getByTestId('room-chat').click()
    await expectState(await run(page, 'local', `touch ${path}`), 'completed')

    await openPart(page, 'allowlist')
    await entry.locator('[data-testid^="allow-remove-"]').click()
    await expect(page.getByTestId('allow-empty')).toBeVisible()
    await page.getByTestId('room-chat').click()
    const again = await run(page, 'local', `touch ${path}`)
    await expectState(again, 'pending_approval')
    await again.getByTestId('deny').click()
  })

  it('says why a shell is not offered, and is not there at all for what cannot be undone', async () => {
    const { page } = app
    const shell = await run(page, 'local', `bash -c 'touch ${scratch}/x'`)
    await expectState(shell, 'pending_approval')
    await shell.getByTestId('always').click()
    await expect(shell.getByTestId('always-refusal')).toContainText('cannot be allowed always')
    await expect(shell.getByTestId('always-confirm')).toHaveCount(0)
    await shell.getByTestId('deny').click()
    const removal = await run(page, 'local', `rm -rf ${scratch}/y`)
    await expectState(removal, 'pending_approval')
    await expect(removal.getByTestId('always')).toHaveCount(0)
    await removal.getByTestId('deny').click()
    await expectState(removal, 'denied')
  })

  it('a program allowed by hand is warned about, and one whose pattern cannot be used says that it never matches', async () => {
    const { page } = app
    await openPart(page, 'allowlist')
    await page.getByTestId('allow-main').click()
    await page.getByTestId('allow-add').click()
    await expect(page.getByTestId('allow-pattern')).toBeFocused()
    await page.getByTestId('allow-pattern').fill('/usr/bin/touch')
    await page.getByTestId('allow-args').fill(scratch)
    await expect(page.getByTestId('allow-anchor')).toBeVisible()
    await page.getByTestId('allow-save').click()
    await expect(page.getByTestId('allow-warning').first()).toBeVisible()
    await expect.poll(() => focusedTestId(page)).toBe('allow-add')
    await expectAccessible(page, 'allowlist')
    await picture(page, 'policy-allowlist')
    await page.getByTestId('room-chat').click()
    await expectState(await run(page, 'local', `touch ${scratch}/by-hand`), 'completed')

    await openPart(page, 'allowlist')
    await page.getByTestId('allow-add').click()
    await page.getByTestId('allow-pattern').fill('/usr/bin/mkdir')
    await page.getByTestId('allow-args').fill('^(?=x)')
    await page.getByTestId('allow-save').click()
    await expect(page.locator('[data-entry="/usr/bin/mkdir"]').getByTestId('allow-problem')).toContainText(
      'Never matches',
    )
    await page.getByTestId('room-chat').click()
    const folder = await run(page, 'local', `mkdir ${scratch}/x`)
    await expectState(folder, 'pending_approval')
    await folder.getByTestId('deny').click()
  })
})

describe('simulator', () => {
  it('tells verdict, deciding rule, who vouches for which part and the way there; nothing runs', async () => {
    const { page } = app
    await openPart(page, 'simulator')
    await page.getByTestId('sim-command').fill(`touch ${scratch}/simulated`)
    await page.getByTestId('sim-command').press('Enter')
    await expect(page.getByTestId('sim-verdict')).toHaveAttribute('data-outcome', 'ask')
    await expect(page.getByTestId('sim-segment')).toHaveAttribute('data-by', 'nobody')
    await expect(page.getByTestId('sim-deciding')).not.toBeEmpty()
    await expect(page.getByTestId('sim-path').locator('[data-deciding="true"]')).toHaveCount(1)
    await expectAccessible(page, 'simulator')
    await picture(page, 'policy-simulator')
    for (const [command, outcome] of [
      ['uname -a', 'auto'],
      [`rm -rf ${scratch}`, 'confirm'],
    ] as const) {
      await page.getByTestId('sim-command').fill(command)
      await page.getByTestId('sim-run').click()
      await expect(page.getByTestId('sim-verdict')).toHaveAttribute('data-outcome', outcome)
    }
    expect(existsSync(`${scratch}/simulated`)).toBe(false)
    expect(existsSync(scratch)).toBe(true)

    // The same with a change that is not saved, and it follows the policy while it is looked at.
    await page.getByTestId('sim-command').fill('uname -a')
    await page.getByTestId('sim-run').click()
    await expect(page.getByTestId('sim-verdict')).toHaveAttribute('data-outcome', 'auto')
    await page.getByTestId('policy-tab-holds').click()
    await page.getByTestId('policy-edit-host').click()
    await page.getByTestId('edit-security').selectOption('deny')
    await page.getByTestId('policy-tab-simulator').click()
    await expect(page.getByTestId('sim-verdict')).toHaveAttribute('data-outcome', 'deny')
    await page.getByTestId('sim-draft').click()
    await expect(page.getByTestId('sim-verdict')).toHaveAttribute('data-outcome', 'auto')
  })
})

describe('grants', () => {
  it('one is made with the keyboard, covers what it names and nothing else, and ends with one click', async () => {
    const { page } = app
    const waiting = await run(page, 'local', 'df -h | sort -k5')
    await expectState(waiting, 'pending_approval')
    await waiting.getByTestId('always').click()
    await waiting.getByTestId('always-grant').click()
    await expect(page.getByTestId('policy-tab-grants')).toHaveAttribute('aria-selected', 'true')
    await expect(page.getByTestId('grants-empty')).toBeVisible()
    await page.getByTestId('grant-kind-reads').focus()
    await page.keyboard.press('Space')
    await page.getByTestId('grant-note').focus()
    await page.keyboard.type('looking around')
    await page.keyboard.press('Enter')
    const list = page.getByTestId('grants-list').locator('li')
    await expect(list).toHaveCount(1)
    await expect(list).toContainText('reads')
    await expect(list.getByTestId('grant-left')).toContainText('min left')
    await expectAccessible(page, 'grants')
    await picture(page, 'policy-grants')

    await page.getByTestId('room-chat').click()
    await waiting.getByTestId('deny').click()
    await expectState(await run(page, 'local', 'df -h | sort -k4'), 'completed')
    const change = await run(page, 'local', `touch ${scratch}/not-granted`)
    await expectState(change, 'pending_approval')
    await change.getByTestId('deny').click()
    await expectState(change, 'denied')

    await openPart(page, 'grants')
    await list.locator('[data-testid^="grant-revoke-"]').click()
    await expect(page.getByTestId('grants-empty')).toBeVisible()
    await page.getByTestId('room-chat').click()
    const after = await run(page, 'local', 'df -h | sort -k3')
    await expectState(after, 'pending_approval')
    await after.getByTestId('deny').click()
    await expectState(after, 'denied')
  })
})

describe('the keyboard alone', () => {
  it('walks the parts with the arrow keys, and every control of each is reached by Tab', async () => {
    const { page } = app
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+5')
    await page.getByTestId('policy-tab-holds').focus()
    for (const tab of ['allowlist', 'grants', 'simulator', 'presets', 'holds']) {
      await page.keyboard.press('ArrowRight')
      await expect(page.getByTestId(`policy-tab-${tab}`)).toBeFocused()
      await expect(page.getByTestId(`policy-tab-${tab}`)).toHaveAttribute('aria-selected', 'true')
      await page.waitForTimeout(150)
      await expectAccessible(page, tab)
    }
    await page.keyboard.press('Tab')
    const seen: (string | null)[] = []
    for (let i = 0; i < 12; i += 1) {
      seen.push(await focusedTestId(page))
      await page.keyboard.press('Tab')
    }
    expect(seen).toEqual(expect.arrayContaining(['policy-ask', 'policy-pause', 'policy-edit-host', 'policy-edit-both']))
  })
})
