import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { afterAll, describe, it } from 'vitest'
import { expect, forgetHomes, launch } from '../support/app'
import { answer, ask, executions, ledger, linesOf, setModel } from '../support/asking'
import { operatorAt } from '../support/cli'
import { startBus, until } from '../support/desktop/bus'
import { startDunst } from '../support/desktop/dunst'
import { startPanel } from '../support/desktop/panel'
import { startModelServer } from '../support/model-server'

const ROUNDS = Number(process.env.NOMOS_RACE_ROUNDS ?? 200)
/** A terminal takes a second to come up, so it takes part in every second round. */
const TERMINAL_EVERY = 2
const SESSION_EVERY = 20
/** All answers of a round are sent within this time, ms; who comes first is left to chance. */
const SPREAD_MS = 60
/** In every third round the slow ones (a daemon that draws a menu, a process at a terminal) get this much of a start, ms. */
const HEAD_START_MS = 110

const pause = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms))
const coin = (): boolean => Math.random() < 0.5

type Surface = 'window 1' | 'window 2' | 'words' | '/approve' | 'notice' | 'tray' | 'terminal'

/**
 * What came back to a surface.
 * - `told`: who was first · `over`: words that came after the agent's next answer had begun, which ends what they reach
 * - `gone`: a press in a menu, of which no answer comes back · `silent`: lost without being told
 */
interface Back {
  readonly surface: Surface
  readonly said: string
  readonly kind: 'won' | 'told' | 'over' | 'gone' | 'silent'
}

afterAll(forgetHomes)

/** Answers in a window as its card does. */
async function byWindow(page: Page, surface: Surface, id: string, digest: string, approve: boolean): Promise<Back> {
  const got = await answer(page, 'approvals.answer', {
    id,
    answer: approve ? { kind: 'approve', phrase: null } : { kind: 'deny', note: null },
    digest,
  })
  if (got.ok) return { surface, said: 'ok', kind: 'won' }
  const told = got.error.code === 'already_settled' && /already, by /.test(got.error.message)
  return { surface, said: `${got.error.code}: ${got.error.message}`, kind: told ? 'told' : 'silent' }
}

/** Says it in the conversation, with the card in sight. */
async function byWords(page: Page, session: string, text: string, id: string, digest: string): Promise<Back> {
  const surface: Surface = text.startsWith('/') ? '/approve' : 'words'
  const got = await answer(page, 'chat.send', { session, text, shown: [{ id, digest }] })
  const said = got.ok
    ? String((got.value as { readonly sentence?: string | null }).sentence ?? '')
    : `${got.error.code}: ${got.error.message}`
  if (/^Approved|^Denied/.test(said)) return { surface, said, kind: 'won' }
  if (got.ok && (got.value as { readonly kind: string }).kind === 'message') return { surface, said, kind: 'over' }
  return { surface, said, kind: /already, by /.test(said) ? 'told' : 'silent' }
}

describe('one approval, every surface at once', () => {
  it(`${ROUNDS} times: settled once, run at most once, and every loser hears who was first`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nomos-race-'))
    const bus = await startBus()
    const dunst = await startDunst(bus)
    const panel = await startPanel(bus)
    const server = await startModelServer()
    // What it answers is told by what it was asked last, whatever comes late from a round before.
    server.otherwise(({ body }) => {
      const last = body.messages.at(-1)
      const round = last?.role === 'user' ? /round (\d+)\s*$/.exec(last.content ?? '')?.[1] : undefined
      if (round === undefined) return { kind: 'text', text: 'Well.', piece: 1, delayMs: 150 }
      const command = `echo ${round} >> ${folder}/${round}`
      return { kind: 'calls', calls: [{ arguments: { target: 'local', command, purpose: 'a race' } }] }
    })
    const nomos = await launch({ env: bus.env, flags: ['--password-store=basic'] })
    const { page, home } = nomos
    await setModel(page, server.url)
    await panel.icon()
    await ask(page, 'settings.saveDesktop', {
      closeToTray: true,
      startHidden: false,
      autostart: false,
      notifications: 'always',
    })
    const second = await nomos.secondWindow()
    // The menu of the notice daemon takes the line that holds these words.
    writeFileSync(join(bus.folder, 'wanted'), 'Approve once')
    const press = (): Promise<void> =>
      new Promise((done) => execFile('dunstctl', ['context'], { env: { ...process.env, ...bus.env } }, () => done()))

    const wins: Record<string, number> = {}
    const backs: Record<string, Record<Back['kind'], number>> = {}
    const silent: string[] = []
    const approvals: { readonly id: string; readonly round: number; readonly won: readonly Surface[] }[] = []
    let session = ''
    const begun = Date.now()
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        if (round % SESSION_EVERY === 0) session = (await ask(page, 'sessions.create', {})).id
        await ask(page, 'chat.send', { session, text: `round ${round}` })
        let waits = (await ask(page, 'approvals.pending', {}))[0]
        await until(`the request of round ${round}`, async () => {
          waits = (await ask(page, 'approvals.pending', {}))[0]
          return waits !== undefined
        })
        const id = waits?.approval?.id ?? ''
        const digest = waits?.approval?.digest ?? ''
        expect(waits?.command).toBe(`echo ${round} >> ${folder}/${round}`)
        const withTerminal = round % TERMINAL_EVERY === 0
        const terminal = withTerminal ? operatorAt(home, ['approvals', 'approve', id]) : null
        await until('the notice', async () => (await dunst.count()) === 1)
        await until('the entry of the tray', async () =>
          (await panel.menu()).some(
            ({ label, entries }) =>
              label.includes(`/${round}`) && entries.some((entry) => entry.label === 'Approve once'),
          ),
        )
        await terminal?.asked
        const headStart = round % 3 === 0 ? HEAD_START_MS : 0
        const late = (start = headStart): Promise<void> => pause(start + Math.random() * SPREAD_MS)
        const runners: Promise<Back>[] = [
          late().then(() => byWindow(page, 'window 1', id, digest, coin())),
          late().then(() => byWindow(second, 'window 2', id, digest, coin())),
          late().then(() => byWords(page, session, coin() ? 'go ahead' : 'no', id, digest)),
          late().then(() => byWords(second, session, `/approve ${id} ${coin() ? 'allow-once' : 'deny'}`, id, digest)),
          // The daemon has to draw its menu first, and the panel to read ours.
          press().then(() => ({ surface: 'notice', said: '', kind: 'gone' })),
          late()
            .then(() => panel.click(`/${round}`, 'Approve once'))
            .then(
              () => ({ surface: 'tray', said: '', kind: 'gone' }),
              (error) => ({ surface: 'tray', said: String(error), kind: 'gone' }),
            ),
        ]
        if (terminal !== null) {
          runners.push(
            late(0).then(async () => {
              const { status, output } = await terminal.answer()
              const said = output.slice(-300)
              if (status === 0) return { surface: 'terminal', said, kind: 'won' }
              return {
                surface: 'terminal',
                said,
                kind: /already, by |was (approved|denied)/.test(output) ? 'told' : 'silent',
              }
            }),
          )
        }
        const came = await Promise.all(runners)
        for (const { surface, kind, said } of came) {
          backs[surface] ??= { won: 0, told: 0, over: 0, gone: 0, silent: 0 }
          backs[surface][kind] += 1
          if (kind === 'silent') silent.push(`round ${round}, ${surface}: ${said}`)
        }
        approvals.push({ id, round, won: came.filter(({ kind }) => kind === 'won').map(({ surface }) => surface) })
        await until('the end of the turn', async () => {
          const { sessions } = await ask(page, 'app.snapshot', {})
          return sessions.find((one) => one.id === session)?.turn === 'idle'
        })
        await until('no notice', async () => (await dunst.count()) === 0)
      }
      // Whatever is still on its way from a daemon or a panel comes in.
      await pause(3000)

      const rows = await ledger(page)
      const all = new Map(
        (
          await Promise.all(
            approvals.map(async ({ id }) => {
              const row = rows.find(({ approvalId }) => approvalId === id)
              return ask(page, 'executions.get', { id: row?.executionId ?? '' })
            }),
          )
        ).map((view) => [view.approval?.id ?? '', view]),
      )
      let ran = 0
      for (const { id, round, won } of approvals) {
        const view = all.get(id)
        const of = (kind: string) => rows.filter((row) => row.kind === kind && row.approvalId === id)
        expect([round, of('approval.settled').length]).toEqual([round, 1])
        const started = rows.filter((row) => row.kind === 'execution.started' && row.executionId === view?.id)
        expect([round, started.length <= 1]).toEqual([round, true])
        const lines = linesOf(`${folder}/${round}`)
        expect([round, view?.state, lines]).toEqual([round, lines === 1 ? 'completed' : 'denied', lines])
        ran += lines
        // At most one was told that it was the first.
        expect([round, won.length <= 1]).toEqual([round, true])
        const settlement = view?.approval?.settlement
        const surface = settlement?.surface ?? 'nobody'
        const expected: Readonly<Record<string, readonly Surface[]>> = {
          window: ['window 1', 'window 2'],
          chat: ['words', '/approve'],
          cli: ['terminal'],
        }
        if (won[0] !== undefined) expect([round, expected[surface]?.includes(won[0])]).toEqual([round, true])
        else expect([round, ['notification', 'tray'].includes(surface)]).toEqual([round, true])
        const name = won[0] ?? surface
        wins[name] = (wins[name] ?? 0) + 1
      }
      expect(silent).toEqual([])
      expect(await executions(page)).toHaveLength(Math.min(200, ROUNDS))
      expect((await ask(page, 'ledger.verify', {})).intact).toBe(true)
      const refused = rows.filter(({ kind }) => kind === 'approval.refused').length
      console.log(
        JSON.stringify({ rounds: ROUNDS, ran, wins, backs, refused, seconds: Math.round((Date.now() - begun) / 1000) }),
      )
      // A race that one surface always wins is none.
      expect(Object.keys(wins).length).toBeGreaterThanOrEqual(4)
    } finally {
      await nomos.kill()
      await dunst.stop()
      await bus.stop()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
