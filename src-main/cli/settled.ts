import type { ExecutionView, Surface } from '../../src-preload/contract/model'
import { ago } from '../domain/approval'
import { type App, ask } from './app'
import { STATE_WORDS } from './cards'
import { CliFailure, EXIT } from './exits'
import { byPrefix } from './prefixes'
import { visibleLine } from './visible'
import { momentShown } from './when'

const PLACES: Readonly<Record<Surface, string>> = {
  window: 'window',
  chat: 'chat',
  cli: 'command line',
  headless: 'headless',
  agent: 'agent',
  mcp: 'mcp',
  notification: 'notification',
  tray: 'tray',
  system: 'Nomos itself',
}

/** By whom and where something was answered: `operator (notification)`; null when nobody answered. */
export function answererShown(view: ExecutionView): string | null {
  const settlement = view.approval?.settlement
  if (settlement === null || settlement === undefined) return null
  return `${visibleLine(settlement.by)} (${PLACES[settlement.surface]})`
}

/** Why a request takes no answer any more: which way it went, by whom and when. */
export function settledSentence(view: ExecutionView, now: number): string {
  const { approval, state } = view
  if (approval === null)
    return `${view.id} was not asked about: it is ${STATE_WORDS[state]}. See: nomos executions show ${view.id}`
  const { id, settlement } = approval
  const when = settlement === null ? null : ago(settlement.at, now, momentShown)
  const who = answererShown(view)
  const by = who === null ? '' : ` by ${who} ${when ?? ''}`
  const note = settlement?.note ?? null
  const why = note === null || note.trim() === '' ? '' : `: ${visibleLine(note.trim()).replace(/\.+$/, '')}`
  if (state === 'undeliverable')
    return `${id} is undeliverable: nobody could be asked${when === null ? '' : ` ${when}`}, and nothing ran. Ask again: nomos run`
  switch (approval.state) {
    case 'pending':
      return `${id} waits for an answer.`
    case 'approved':
      return `${id} was approved${by}; ${view.id} is ${STATE_WORDS[state]}${view.stateReason === null ? '.' : `: ${visibleLine(view.stateReason)}`}`
    case 'denied':
      return `${id} was denied${by}${why}.`
    case 'expired':
      return `${id} expired${when === null ? '' : ` ${when}`}: nobody answered in time, and nothing ran. Ask again: nomos run`
    case 'cancelled':
      return `${id} was withdrawn${by}${why}. Nothing ran.`
    case 'revoked':
      return `${id} was approved and taken back${by}${why}.`
  }
}

/** How far back an id is looked for. */
const SEARCHED_PAGES = 10
const PAGE = 200

/** The executions of the last pages, newest first; those that somebody was asked about when `asked`. */
export async function pastExecutions(app: App, asked: boolean): Promise<readonly ExecutionView[]> {
  const seen: ExecutionView[] = []
  let before: string | null = null
  for (let page = 0; page < SEARCHED_PAGES; page += 1) {
    const { executions, more }: { executions: readonly ExecutionView[]; more: boolean } = await ask(
      app,
      'executions.list',
      { before, limit: PAGE, ...(asked ? { filter: { asked } } : {}) },
    )
    seen.push(...executions)
    before = executions.at(-1)?.id ?? null
    if (!more || before === null) break
  }
  return seen
}

/** What the ids of other things begin with. */
const OTHER_KINDS: Readonly<Record<string, readonly [string, string]>> = {
  grt: ['a grant', 'nomos grants list'],
  ses: ['a session', 'nomos approvals pending'],
  alw: ['an entry of the allowlist', 'nomos approvals allowlist list'],
  al: ['an entry of the allowlist', 'nomos approvals allowlist list'],
  msg: ['a message', 'nomos approvals pending'],
  trn: ['a turn', 'nomos approvals pending'],
  turn: ['a turn', 'nomos approvals pending'],
}

/** The waiting request with this id, or whose id begins so. Of one that waits no more it is said what became of it. */
export async function waitingOne(app: App, given: string): Promise<ExecutionView> {
  const idsOf = (view: ExecutionView): readonly string[] => [view.approval?.id ?? '', view.id]
  const waiting = await ask(app, 'approvals.pending', {})
  try {
    return byPrefix(given, waiting, idsOf, 'waiting approval')
  } catch (error) {
    if (!(error instanceof CliFailure) || error.code !== 'not_found') throw error
    const [kind, list] = OTHER_KINDS[given.slice(0, Math.max(0, given.indexOf('_')))] ?? []
    if (kind !== undefined)
      throw new CliFailure(
        EXIT.failed,
        'not_found',
        `${JSON.stringify(given)} is the id of ${kind}, not of an approval. See: ${list}`,
      )
    const found = await settledOne(app, given, idsOf)
    if (found === null) throw new CliFailure(EXIT.failed, 'not_found', `${error.message} See: nomos approvals pending`)
    const expired = found.approval?.state === 'expired'
    throw new CliFailure(EXIT.failed, expired ? 'expired' : 'already_settled', settledSentence(found, Date.now()))
  }
}

async function settledOne(
  app: App,
  given: string,
  idsOf: (view: ExecutionView) => readonly string[],
): Promise<ExecutionView | null> {
  if (given.startsWith('exe_') && given.length <= 64) {
    const exact = await app.client.request('executions.get', { id: given })
    if (exact.ok) return exact.value
  }
  try {
    return byPrefix(given, await pastExecutions(app, true), idsOf, 'approval')
  } catch (error) {
    if (error instanceof CliFailure && error.code === 'not_found') return null
    throw error
  }
}
