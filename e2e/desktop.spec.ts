import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Message } from '@jellybrick/dbus-next'
import type { ElectronApplication, Page } from 'playwright'
import { afterAll, afterEach, beforeEach, describe, it } from 'vitest'
import { cardOf, expect, expectState, forgetHomes, launch, type NomosApp, newHome, run, send } from './support/app'
import { end, startBus, type TestBus, until } from './support/desktop/bus'
import { type Dunst, startDunst } from './support/desktop/dunst'
import { launchHidden, startAgain } from './support/desktop/hidden'
import { startPanel } from './support/desktop/panel'
import { startSaver } from './support/desktop/saver'

let bus: TestBus
let dunst: Dunst | null
let nomos: NomosApp | null
let hidden: ElectronApplication | null
let scratch: string
beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'nomos-desktop-'))
  bus = await startBus()
  dunst = null
  nomos = null
  hidden = null
})
afterEach(async () => {
  if (nomos !== null) await end(nomos.app.process(), 'SIGKILL')
  if (hidden !== null) await end(hidden.process(), 'SIGKILL')
  await dunst?.stop()
  await bus.stop()
  rmSync(scratch, { recursive: true, force: true })
})
afterAll(forgetHomes)

/** A request of the contract, made by the window as any other. */
async function ask<T>(page: Page, route: string, input: unknown): Promise<T> {
  const envelope = await page.evaluate(
    ([name, value]) =>
      (
        window as unknown as {
          nomos: { request(route: unknown, input: unknown): Promise<{ ok: boolean; value: unknown; error: unknown }> }
        }
      ).nomos.request(name, value),
    [route, input] as const,
  )
  if (!envelope.ok) throw new Error(JSON.stringify(envelope.error))
  return envelope.value as T
}

interface Status {
  readonly desktopStatus: Record<
    'tray' | 'notifications' | 'autostart' | 'lock',
    { available: boolean; sentence: string }
  >
}
const statusOf = (page: Page): Promise<Status['desktopStatus']> =>
  ask<Status>(page, 'settings.get', {}).then(({ desktopStatus }) => desktopStatus)

const noticesAlways = (page: Page): Promise<unknown> =>
  ask(page, 'settings.saveDesktop', {
    closeToTray: true,
    startHidden: false,
    autostart: false,
    notifications: 'always',
  })

/** Asks something of the main process. Now and then its debugger loses an answer to the garbage collector, so ask what may be repeated. */
async function inMain<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask()
    } catch (error) {
      if (attempt >= 5 || !String(error).includes('garbage collected')) throw error
    }
  }
}

const windows = (app: ElectronApplication): Promise<number> =>
  inMain(() => app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length))

const closeWindows = (app: ElectronApplication): Promise<void> =>
  inMain(() =>
    app.evaluate(({ BrowserWindow }) => {
      for (const window of BrowserWindow.getAllWindows()) window.close()
    }),
  )

/** The window that the app opens next, once it can be used. */
async function nextWindow(app: ElectronApplication, job: () => Promise<unknown>): Promise<Page> {
  const opened = app.waitForEvent('window')
  await job()
  const page = await opened
  await page.getByTestId('composer').waitFor()
  return page
}

interface Question {
  question: { asked: string[]; response: number }
}

/** Answers every question of the app with its first button, "Keep running", and keeps what was asked. */
const answerQuestions = (app: ElectronApplication): Promise<void> =>
  inMain(() =>
    app.evaluate(({ dialog }) => {
      const state = { asked: [] as string[], response: 0 }
      Object.assign(globalThis, { question: state })
      dialog.showMessageBox = (...args: unknown[]) => {
        const options = args.at(-1) as { message: string; detail: string }
        state.asked.push(`${options.message} ${options.detail}`)
        return Promise.resolve({ response: state.response, checkboxChecked: false })
      }
    }),
  )

const asked = (app: ElectronApplication): Promise<readonly string[]> =>
  inMain(() => app.evaluate(() => (globalThis as unknown as Question).question.asked))

/** From now on the answer is the other button. */
const sayYes = (app: ElectronApplication): Promise<void> =>
  inMain(() =>
    app.evaluate(() => {
      ;(globalThis as unknown as Question).question.response = 1
    }),
  )

async function start(): Promise<NomosApp> {
  nomos = await launch({ env: bus.env })
  return nomos
}

interface Told {
  readonly shown: readonly string[]
  readonly failed: readonly string[]
}
/** Waits until the surfaces have been told of so many requests. */
const told = (page: Page, count: number): Promise<void> =>
  until('the announcements', async () => {
    const { entries } = await ask<{ entries: { kind: string }[] }>(page, 'ledger.page', { before: null, limit: 200 })
    return entries.filter(({ kind }) => kind === 'approval.announced').length >= count
  })

/** What the ledger says of the last announcement. */
async function lastTold(page: Page): Promise<Told | null> {
  const { entries } = await ask<{ entries: { kind: string; data: Told }[] }>(page, 'ledger.page', {
    before: null,
    limit: 50,
  })
  return entries.find(({ kind }) => kind === 'approval.announced')?.data ?? null
}

describe('notices of the desktop', () => {
  it('one stands while the window is closed, says no secret and no markup, and its button runs the command', async () => {
    dunst = await startDunst(bus)
    const panel = await startPanel(bus)
    const { app, page } = await start()
    await panel.icon()
    const file = `${scratch}/made`
    await send(page, `/run local touch ${file}; echo "password=correcthorse1 <b>fine</b> & $(pwd)"`)
    await expectState(cardOf(page, `touch ${file}`), 'pending_approval')
    // Somebody looks at the window: nothing else is needed.
    await told(page, 1)
    expect(await dunst.count()).toBe(0)
    await closeWindows(app)
    await expect.poll(() => dunst?.count()).toBe(2)
    await dunst.dismiss()
    expect((await dunst.history()).map(({ title }) => title).sort()).toEqual([
      'Change waits on local',
      'Nomos stays in the tray',
    ])
    const body = (await dunst.history()).find(({ title }) => title.startsWith('Change'))?.body ?? ''
    expect(body).toContain('touch')
    expect(body).toContain('&lt;b&gt;fine')
    expect(body).not.toContain('correcthorse1')
    // Put away it still waits, and does not come back by itself.
    expect((await panel.labels()).some((label) => label.startsWith('touch'))).toBe(true)

    const other = `${scratch}/other`
    const opened = await nextWindow(app, () => panel.activate())
    await run(opened, 'local', `touch ${other}`)
    await told(opened, 2)
    await closeWindows(app)
    await expect.poll(() => dunst?.count()).toBe(1)
    await dunst.press('Approve once')
    await until('the command ran', () => existsSync(other))
    await expect.poll(() => dunst?.count()).toBe(0)
    expect(await windows(app)).toBe(0)
    expect(existsSync(file)).toBe(false)
    const back = await nextWindow(app, () => panel.click('Open Nomos'))
    await expectState(cardOf(back, `touch ${other}`), 'completed')
    await expect(cardOf(back, `touch ${other}`).getByTestId('settlement')).toContainText(/notification|notice/i)
  })

  it('a click brings the card up, in a new window or in the one that is there', async () => {
    dunst = await startDunst(bus)
    const panel = await startPanel(bus)
    const { app, page } = await start()
    await panel.icon()
    await run(page, 'local', `touch ${scratch}/first`)
    await told(page, 1)
    await closeWindows(app)
    await expect.poll(() => dunst?.count()).toBe(2)
    await dunst.dismiss()
    const second = await nextWindow(app, () => panel.activate())
    await noticesAlways(second)
    await run(second, 'local', `touch ${scratch}/second`)
    await expect.poll(() => dunst?.count()).toBeGreaterThan(0)
    await closeWindows(app)
    const third = await nextWindow(app, () => dunst?.press('Review (Change') ?? Promise.resolve())
    await expect(cardOf(third, `touch ${scratch}/second`)).toBeInViewport()
    await expectState(cardOf(third, `touch ${scratch}/second`), 'pending_approval')

    await dunst.dismiss()
    await third.getByTestId('room-fleet').click()
    await request(third, `touch ${scratch}/third`)
    await expect.poll(() => dunst?.count()).toBe(1)
    await dunst.click()
    await expect(cardOf(third, `touch ${scratch}/third`)).toBeInViewport()
    expect(await windows(app)).toBe(1)
  })

  it('one is withdrawn when the window answers, and what cannot be undone has no "Approve once"', async () => {
    dunst = await startDunst(bus)
    const { page } = await start()
    await until('notices', async () => (await statusOf(page)).notifications.available)
    await noticesAlways(page)
    const card = await run(page, 'local', `touch ${scratch}/a`)
    await expect.poll(() => dunst?.count()).toBe(1)
    await card.getByTestId('deny').click()
    await expect.poll(() => dunst?.count()).toBe(0)

    const removal = await run(page, 'local', `rm -rf ${scratch}/a`)
    await expect.poll(() => dunst?.count()).toBe(1)
    const buttons = await dunst.buttons()
    expect(buttons.filter((line) => /Review|Deny/.test(line))).toHaveLength(2)
    expect(buttons.join('\n')).not.toContain('Approve')
    expect(dunst.urgencies()).toEqual(['NORMAL', 'CRITICAL'])
    await dunst.press('Deny')
    await expectState(removal, 'denied')
  })

  it('with the daemon gone it is told elsewhere, and a new daemon shows what still waits', async () => {
    dunst = await startDunst(bus)
    const panel = await startPanel(bus)
    const { page } = await start()
    await panel.icon()
    await noticesAlways(page)
    const card = await run(page, 'local', `touch ${scratch}/a`)
    await expect.poll(() => dunst?.count()).toBe(1)
    await dunst.stop('SIGKILL')
    await until('no notices', async () => !(await statusOf(page)).notifications.available)
    expect((await statusOf(page)).notifications.sentence).toContain('No notices on this desktop')
    await run(page, 'local', `touch ${scratch}/b`)
    await expect.poll(async () => (await lastTold(page))?.failed).toContain('notification')
    expect((await lastTold(page))?.shown).toContain('tray')
    await expectState(card, 'pending_approval')

    dunst = await startDunst(bus)
    await expect.poll(() => dunst?.count()).toBe(2)
    await dunst.press('Approve once')
    await expect.poll(() => dunst?.count()).toBe(1)
  })

  it('after a crash what waits stands once', async () => {
    dunst = await startDunst(bus)
    const first = await start()
    await until('notices', async () => (await statusOf(first.page)).notifications.available)
    await noticesAlways(first.page)
    await run(first.page, 'local', `touch ${scratch}/a`)
    await expect.poll(() => dunst?.count()).toBe(1)
    await first.kill()
    expect(await dunst.count()).toBe(1)
    nomos = await launch({ home: first.home, env: bus.env })
    await until('it was announced anew', () => (dunst?.urgencies().length ?? 0) === 2)
    await expect.poll(() => dunst?.count()).toBe(1)
    await dunst.press('Approve once')
    await until('the command ran', () => existsSync(`${scratch}/a`))
  })

  it('a signal that somebody else on the bus sends answers nothing', async () => {
    dunst = await startDunst(bus)
    const { page } = await start()
    await until('notices', async () => (await statusOf(page)).notifications.available)
    await noticesAlways(page)
    const card = await run(page, 'local', `touch ${scratch}/a`)
    await expect.poll(() => dunst?.count()).toBe(1)
    const forger = await bus.connect()
    const names = await forger.call(
      new Message({
        destination: 'org.freedesktop.DBus',
        path: '/org/freedesktop/DBus',
        interface: 'org.freedesktop.DBus',
        member: 'ListNames',
      }),
    )
    const everybody = ((names?.body[0] ?? []) as string[]).filter((name) => name.startsWith(':'))
    for (const destination of everybody)
      for (let id = 1; id < 20; id += 1) {
        const signal = Message.newSignal(
          '/org/freedesktop/Notifications',
          'org.freedesktop.Notifications',
          'ActionInvoked',
          'us',
          [id, 'approve'],
        )
        signal.destination = destination
        forger.send(signal)
      }
    await new Promise((go) => setTimeout(go, 1000))
    await expectState(card, 'pending_approval')
    // The same from the daemon itself counts.
    await dunst.press('Approve once')
    await expectState(card, 'completed')
  })
})

/** Asks for a run without leaving the room that is open. */
const request = (page: Page, command: string): Promise<unknown> =>
  ask(page, 'executions.request', { target: 'local', command, purpose: null, session: null })

describe('the tray', () => {
  it('shows what waits, approves, pauses, and keeps Nomos when the last window goes', async () => {
    const panel = await startPanel(bus)
    const { app, page } = await start()
    await panel.icon()
    const idle = await panel.look()
    const numbers = await panel.ids()
    expect(Math.min(idle.width, idle.height)).toBeGreaterThanOrEqual(16)
    expect(idle.tip).toBe('Nomos: nothing waits')
    expect(await panel.labels()).toEqual([
      'Open Nomos',
      'Nothing waits',
      'Nothing runs',
      'Pause automatic runs',
      'Ask about everything',
      'Never automatic on',
      'local',
      'Quit Nomos',
    ])
    await run(page, 'local', `touch ${scratch}/a`)
    await run(page, 'local', `rm -rf ${scratch}/a`)
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: 2 wait')
    expect((await panel.look()).pixels).not.toBe(idle.pixels)
    // A press on a menu that is out of date must not meet another entry.
    await expect.poll(async () => (await panel.ids()).some((id) => numbers.includes(id))).toBe(false)
    const [, , count, newest, older] = await panel.menu()
    expect(count?.label).toBe('2 wait')
    expect(newest?.label).toContain('rm -rf')
    expect(newest?.entries.map(({ label }) => label).filter((label) => label !== '')).toEqual([
      'destructive on local',
      'Review…',
      'Deny',
    ])
    expect(older?.entries.map(({ label }) => label)).toContain('Approve once')

    await closeWindows(app)
    await new Promise((go) => setTimeout(go, 500))
    expect(await windows(app)).toBe(0)
    await panel.click('touch', 'Approve once')
    await until('the command ran', () => existsSync(`${scratch}/a`))
    await panel.click('rm -rf', 'Deny')
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: nothing waits')

    await panel.click('Pause automatic runs')
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: automatic runs paused')
    expect((await panel.menu()).find(({ label }) => label.startsWith('Pause'))?.checked).toBe(true)
    const back = await nextWindow(app, () => panel.click('Open Nomos'))
    expect((await ask<{ pauseAutomatic: boolean }>(back, 'policy.show', {})).pauseAutomatic).toBe(true)
    await expectState(cardOf(back, `touch ${scratch}/a`), 'completed')
    await expectState(cardOf(back, `rm -rf ${scratch}/a`), 'denied')
    await panel.click('Pause automatic runs')
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: nothing waits')

    await panel.click('Never automatic on', 'local')
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: never automatic on 1 target')
    expect(await ask<{ neverAuto: string[] }>(back, 'policy.show', {})).toMatchObject({ neverAuto: ['local'] })
    await panel.click('Never automatic on', 'local')
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: nothing waits')
  })

  it('"Review…" opens the card, and quitting asks while something runs', async () => {
    const panel = await startPanel(bus)
    const { app, page } = await start()
    await panel.icon()
    await run(page, 'local', `rm -rf ${scratch}/x`)
    const marker = `41${process.pid}`
    const slow = await run(page, 'local', `echo begun; sleep ${marker}`)
    await slow.getByTestId('approve').click()
    await expectState(slow, 'running')
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: 1 waits, 1 runs')
    await closeWindows(app)
    const back = await nextWindow(app, () => panel.click('rm -rf', 'Review'))
    await expect(cardOf(back, `rm -rf ${scratch}/x`)).toBeInViewport()
    await expectState(cardOf(back, `sleep ${marker}`), 'running')

    await answerQuestions(app)
    await panel.click('Quit Nomos')
    await expect.poll(() => asked(app)).toEqual(['One command is running. Quitting ends Nomos and stops what it runs.'])
    await expectState(cardOf(back, `sleep ${marker}`), 'running')
    await closeWindows(app)
    await sayYes(app)
    const gone = new Promise((go) => app.process().once('exit', go))
    await panel.click('Quit Nomos')
    await gone
    nomos = null
    expect(spawnSync('pgrep', ['-f', `^sleep ${marker}`]).stdout.toString()).toBe('')
  })

  it('a process that a run has started presses in vain', async () => {
    const panel = await startPanel(bus)
    const { page } = await start()
    await panel.icon()
    const card = await run(page, 'local', `touch ${scratch}/a`)
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: 1 waits')
    const words = `${scratch}/words`
    // Under a name that no rule knows.
    const press = `${scratch}/press`
    copyFileSync(spawnSync('which', ['dbus-send'], { encoding: 'utf8' }).stdout.trim(), press)
    chmodSync(press, 0o755)
    const attack = await run(
      page,
      'local',
      `until [ -f ${words} ]; do sleep 0.1; done; ${press} --print-reply $(cat ${words})`,
    )
    await attack.getByTestId('approve').click()
    await expectState(attack, 'running')
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: 1 waits, 1 runs')
    const { item, menu, id } = await panel.address('touch', 'Approve once')
    writeFileSync(
      `${words}.new`,
      `--dest=${item} ${menu} com.canonical.dbusmenu.Event int32:${id} string:clicked variant:int32:0 uint32:0`,
    )
    renameSync(`${words}.new`, words)
    // The service has taken it, and nothing came of it.
    await expectState(attack, 'completed')
    await new Promise((go) => setTimeout(go, 1500))
    await expectState(card, 'pending_approval')
    expect(existsSync(`${scratch}/a`)).toBe(false)
    expect(readFileSync(join(nomos?.home ?? '', 'logs', 'nomos.log'), 'utf8')).toContain('was not obeyed')
    // The panel's own click counts.
    await panel.click('touch', 'Approve once')
    await expectState(card, 'completed')
  })

  it('a locked screen takes "Approve once" away, from the menu and from notices', async () => {
    dunst = await startDunst(bus)
    const panel = await startPanel(bus)
    const saver = await startSaver(bus)
    const { page } = await start()
    await panel.icon()
    await noticesAlways(page)
    const card = await run(page, 'local', `touch ${scratch}/a`)
    await expect.poll(async () => (await panel.look()).tip).toBe('Nomos: 1 waits')
    expect(await panel.labels()).toContain('Approve once')
    expect((await statusOf(page)).lock.sentence).toContain('While the screen is locked')
    await expect.poll(() => dunst?.count()).toBe(1)

    saver.lock(true)
    await expect.poll(() => panel.labels()).not.toContain('Approve once')
    // The notice stood there before, with its button: the core refuses.
    await dunst.press('Approve once')
    await new Promise((go) => setTimeout(go, 700))
    await expectState(card, 'pending_approval')
    saver.lock(false)
    await expect.poll(() => panel.labels()).toContain('Approve once')
    await panel.click('touch', 'Approve once')
    await expectState(card, 'completed')
  })

  it('a panel that comes later counts; one that goes gives the window back', { timeout: 60_000 }, async () => {
    const { app, page } = await start()
    await until('the desktop was looked at', async () => (await statusOf(page)).tray.sentence.startsWith('No tray'))
    expect((await statusOf(page)).tray.sentence).toContain('closing the last window ends Nomos'.replace('c', 'C'))
    const panel = await startPanel(bus)
    await panel.icon()
    await until('the tray', async () => (await statusOf(page)).tray.available)
    await closeWindows(app)
    await new Promise((go) => setTimeout(go, 500))
    expect(await windows(app)).toBe(0)
    // A panel that is started anew has the icon again.
    await panel.leave()
    const again = await startPanel(bus)
    await again.icon()
    await new Promise((go) => setTimeout(go, 500))
    expect(await windows(app)).toBe(0)
    const back = await nextWindow(app, () => again.leave())
    expect((await statusOf(back)).tray.available).toBe(false)
  })
})

describe('where a desktop has less', () => {
  it('without a tray the last window ends Nomos, asking once while something runs', async () => {
    const { app, page } = await start()
    await until('the desktop was looked at', async () => (await statusOf(page)).tray.sentence.startsWith('No tray'))
    const marker = `51${process.pid}`
    const slow = await run(page, 'local', `echo begun; sleep ${marker}`)
    await slow.getByTestId('approve').click()
    await expectState(slow, 'running')
    await answerQuestions(app)
    await closeWindows(app)
    await expect.poll(async () => (await asked(app)).length).toBe(1)
    expect(await windows(app)).toBe(1)
    await sayYes(app)
    const gone = new Promise((go) => app.process().once('exit', go))
    await closeWindows(app).catch(() => {})
    await gone
    nomos = null
    expect(spawnSync('pgrep', ['-f', `^sleep ${marker}`]).stdout.toString()).toBe('')
  })

  it('without a session bus everything else goes on, and it is said', async () => {
    nomos = await launch({
      env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${scratch}/none`, XDG_RUNTIME_DIR: scratch },
    })
    const { app, page } = nomos
    const card = await run(page, 'local', `touch ${scratch}/a`)
    await expect.poll(async () => (await lastTold(page))?.shown, { timeout: 20_000 }).toEqual(['window'])
    await card.getByTestId('approve').click()
    await expectState(card, 'completed')
    const status = await statusOf(page)
    expect(status.tray.available).toBe(false)
    expect(status.notifications.sentence).toContain('session bus')
    expect(status.autostart.available).toBe(false)
    await expect(
      ask(page, 'settings.saveDesktop', {
        closeToTray: true,
        startHidden: false,
        autostart: true,
        notifications: 'away',
      }),
    ).rejects.toThrow(/Nothing was saved.*checkout/)
    const gone = new Promise((go) => app.process().once('exit', go))
    await closeWindows(app)
    await gone
    expect(nomos.faults).toEqual([])
    nomos = null
  })
})

describe('starting hidden', () => {
  it('is without a window where there is a tray, and the menu opens one', async () => {
    const panel = await startPanel(bus)
    const home = newHome()
    hidden = await launchHidden(home, bus.env)
    await panel.icon()
    await expect.poll(async () => (await panel.labels())[0]).toBe('Open Nomos')
    expect(await windows(hidden)).toBe(0)
    const app = hidden
    // The login starting it once more shows nothing; somebody starting it does.
    expect(await startAgain(home, bus.env, ['--hidden'])).toBe(0)
    await new Promise((go) => setTimeout(go, 500))
    expect(await windows(app)).toBe(0)
    const page = await nextWindow(app, () => startAgain(home, bus.env))
    expect((await statusOf(page)).tray.available).toBe(true)
    await ask(page, 'settings.saveDesktop', {
      closeToTray: true,
      startHidden: true,
      autostart: false,
      notifications: 'away',
    })
    const gone = new Promise((go) => app.process().once('exit', go))
    await panel.click('Quit Nomos')
    await gone
    // The setting alone does the same.
    hidden = await launchHidden(home, bus.env, [])
    await expect.poll(async () => (await panel.labels().catch(() => []))[0]).toBe('Open Nomos')
    expect(await windows(hidden)).toBe(0)
  })

  it('has a window after all where there is no tray', async () => {
    hidden = await launchHidden(newHome(), bus.env)
    const page = await hidden.firstWindow()
    await page.getByTestId('composer').waitFor()
  })
})
