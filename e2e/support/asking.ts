import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Locator, Page } from 'playwright'
import { openDatabase } from '../../src-main/adapters/sqlite/driver'
import type { ExecutionView, RouteName, RouteOutput } from '../../src-preload/contract'
import { expect } from './app'
import type { ModelRequest, ScriptedCall } from './model-server'

/** A request of the contract, made by the window as any other. Throws what main answers with. */
export async function ask<R extends RouteName>(page: Page, route: R, input: unknown): Promise<RouteOutput<R>> {
  const envelope = await answer(page, route, input)
  if (!envelope.ok) throw new Error(`${envelope.error.code}: ${envelope.error.message}`)
  return envelope.value as RouteOutput<R>
}

/** The same, with a refusal given back instead of thrown. */
export function answer(
  page: Page,
  route: RouteName,
  input: unknown,
): Promise<{ ok: true; value: unknown } | { ok: false; error: { code: string; message: string } }> {
  return page.evaluate(
    ([name, value]) =>
      (
        window as unknown as {
          nomos: {
            request(
              route: unknown,
              input: unknown,
            ): Promise<{ ok: true; value: unknown } | { ok: false; error: { code: string; message: string } }>
          }
        }
      ).nomos.request(name, value),
    [route, input] as const,
  )
}

/** Sets the model as the settings form does, without going there. */
export async function setModel(page: Page, baseUrl: string): Promise<void> {
  await ask(page, 'settings.saveModel', { baseUrl, model: 'scripted', apiKey: null })
  await expect(page.getByTestId('composer')).toHaveAttribute('placeholder', /Message/)
}

/** A `run` call on this computer. */
export const call = (command: string, more: Readonly<Record<string, unknown>> = {}): ScriptedCall => ({
  arguments: { target: 'local', command, purpose: 'because the test wants it', ...more },
})

/** Everything the app knows of executions, newest first. */
export const executions = async (page: Page): Promise<readonly ExecutionView[]> =>
  (await ask(page, 'executions.list', { before: null, limit: 200 })).executions

/** The execution with exactly this command that was asked for last. */
export async function executionOf(page: Page, command: string): Promise<ExecutionView> {
  const found = (await executions(page)).find((one) => one.command === command)
  if (found === undefined) throw new Error(`nobody has asked for ${command}`)
  return found
}

export interface LedgerRow {
  readonly kind: string
  readonly actor: string
  readonly executionId: string | null
  readonly approvalId: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The whole ledger, newest first, of one kind if it is named. */
export async function ledger(page: Page, kind?: string): Promise<readonly LedgerRow[]> {
  const rows: LedgerRow[] = []
  let before: number | null = null
  for (;;) {
    const got: RouteOutput<'ledger.page'> = await ask(page, 'ledger.page', { before, limit: 200 })
    rows.push(...(got.entries as unknown as LedgerRow[]))
    before = got.entries.at(-1)?.seq ?? null
    if (!got.more || before === null) return kind === undefined ? rows : rows.filter((row) => row.kind === kind)
  }
}

/** The results that a request to the model holds for calls whose arguments hold this text. */
export function resultsOf(request: ModelRequest | undefined, part: string): string[] {
  const messages = request?.body.messages ?? []
  const ids = messages
    .flatMap((message) => message.tool_calls ?? [])
    .filter((one) => one.function.arguments.includes(part))
    .map(({ id }) => id)
  return messages
    .filter((message) => message.role === 'tool' && ids.includes(message.tool_call_id ?? ''))
    .map((message) => message.content ?? '')
}

/** Texts of the system itself and of the operator in the last request to the model. */
export const saidTo = (request: ModelRequest | undefined, role: string): string =>
  (request?.body.messages ?? [])
    .filter((message) => message.role === role)
    .map((message) => message.content ?? '')
    .join('\n')

export const assistant = (page: Page): Locator => page.locator('main [data-role="assistant"]')
export const users = (page: Page): Locator => page.locator('main [data-role="user"]')
export const waiting = (page: Page): Locator => page.locator('main [data-state="pending_approval"]')
/** What Nomos itself says between the messages. */
export const notices = (page: Page): Locator => page.locator('main').getByTestId('notice')
export const events = (page: Page): Locator => page.locator('main').getByTestId('system-event')

/** Waits until the app counts the card as seen: words reach no other. */
export async function seen(card: Locator): Promise<void> {
  await expect(card).toBeInViewport({ ratio: 0.5 })
  // The observer of the page reports with the next picture.
  await card.page().evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))))
}

/** Fails where axe finds something. Electron has no second target for its isolated frames. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  const { violations, passes } = await new AxeBuilder({ page }).setLegacyMode(true).analyze()
  expect(
    violations.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`),
  ).toEqual([])
  expect(passes.length).toBeGreaterThan(10)
}

/** Changes the database of an app that does not run. */
export function furnish(home: string, sql: string): void {
  const db = openDatabase(join(home, 'nomos.db'))
  try {
    db.exec(sql)
  } finally {
    db.close()
  }
}

/** Lines of a file that a command appends to; 0 where there is none. */
export const linesOf = (path: string): number =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
