import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { _electron, type ElectronApplication, type Locator, type Page } from 'playwright'
import { expect } from 'playwright/test'
import { electronCommand } from '../../scripts/start.mjs'

export { expect } from 'playwright/test'

const root = resolve(import.meta.dirname, '../..')
export const PICTURES = join(root, 'test-results', 'screenshots')

export interface NomosApp {
  readonly app: ElectronApplication
  readonly page: Page
  readonly home: string
  /** Everything that should not be there: page errors, console errors, breaches of the content security policy. */
  readonly faults: string[]
  /** Ends the app as an operator does, and fails if something was in `faults`. The folder stays. */
  close(): Promise<void>
  /** Ends it as a power cut does. */
  kill(): Promise<void>
  /** A second window of the same app. */
  secondWindow(): Promise<Page>
}

export interface LaunchOptions {
  /** Default: a new folder, removed by `forget`. */
  readonly home?: string
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  /** The folder the app is started from; default: this checkout. */
  readonly root?: string
}

const homes = new Set<string>()

/** A folder for one test's data. */
export function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'nomos-e2e-'))
  homes.add(home)
  return home
}

/** Removes the folders of all tests of this file. */
export function forgetHomes(): void {
  for (const home of homes) rmSync(home, { recursive: true, force: true })
  homes.clear()
}

/** Starts the real app on a folder of its own and waits until the composer is there. */
export async function launch(options: LaunchOptions = {}): Promise<NomosApp> {
  const home = options.home ?? newHome()
  const command = electronCommand()
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith('NOMOS_') && !name.startsWith('VITEST')) env[name] = value
  }
  const app = await _electron.launch({
    executablePath: command.executable,
    args: [...command.flags, ...(options.flags ?? []), options.root ?? root],
    env: { ...env, ...command.env, NOMOS_HOME: home, CI: '1', ...options.env },
  })
  const faults: string[] = []
  const watch = (page: Page): void => {
    page.on('pageerror', (error) => faults.push(`page error: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error' || /Content Security Policy/i.test(message.text()))
        faults.push(`console: ${message.text()}`)
    })
  }
  app.on('window', watch)
  const page = await app.firstWindow()
  watch(page)
  await page.getByTestId('composer').waitFor()
  return {
    app,
    page,
    home,
    faults,
    async close() {
      await app.close()
      expect(faults).toEqual([])
    },
    async kill() {
      const child = app.process()
      const gone = new Promise((go) => child.once('exit', go))
      child.kill('SIGKILL')
      await gone
    },
    async secondWindow() {
      const opened = app.waitForEvent('window')
      await app.evaluate(({ Menu }) => {
        const item = Menu.getApplicationMenu()
          ?.items.flatMap((menu) => menu.submenu?.items ?? [])
          .find(({ label }) => label === 'New window')
        item?.click()
      })
      const second = await opened
      await second.getByTestId('composer').waitFor()
      return second
    },
  }
}

/** Types into the composer and sends. */
export async function send(page: Page, text: string): Promise<void> {
  await page.getByTestId('composer').fill(text)
  await page.keyboard.press('Enter')
}

/** The newest card whose command holds this text. */
export const cardOf = (page: Page, command: string): Locator =>
  page.locator('main [data-testid^="card-"]').filter({ hasText: command }).last()

/** Waits until a card says it is in this state. */
export const expectState = (card: Locator, state: string, timeout = 15_000): Promise<void> =>
  expect(card).toHaveAttribute('data-state', state, { timeout })

/** Sends a `/run` and gives back its card, which is that of no request before. */
export async function run(page: Page, target: string, command: string): Promise<Locator> {
  const cards = page.locator('main [data-testid^="card-"]')
  const before = await cards.evaluateAll((all) => all.map((one) => one.getAttribute('data-testid') ?? ''))
  await send(page, `/run ${target} ${command}`)
  await expect
    .poll(() =>
      cards.evaluateAll(
        (all, known) => all.filter((one) => !known.includes(one.getAttribute('data-testid') ?? '')).length,
        before,
      ),
    )
    .toBe(1)
  // What follows `--why "…"` is the command.
  const card = cards.filter({ hasText: command.replace(/^--why "[^"]*" /, '') }).last()
  // Pinned by its id: a later card may show the same text in its output.
  const id = (await card.getAttribute('data-testid')) ?? ''
  return page.locator('main').getByTestId(id)
}

/** Keeps a picture of the window among the results. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name}.png`) })
}
