import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FeedEvent, Numbered } from '../../src-preload/contract/events'
import type { NotificationUse } from '../../src-preload/contract/model'
import type { Announcer, Attention, Desktop, Feed, Notice } from '../ports'
import { type Announcements, createAnnouncements, MOST_NOTICES } from './announcements'
import { createTestbed, silentLog, type Testbed } from './testbed'

/** A surface that shows what it is told as long as it works. */
class Surface implements Announcer {
  readonly up = new Map<string, Notice>()
  readonly told: Notice[] = []
  works = true
  silent = false
  constructor(readonly surface: Announcer['surface']) {}
  announce(notice: Notice): Promise<boolean> {
    this.told.push(notice)
    if (this.silent) return new Promise(() => {})
    if (this.works) this.up.set(notice.approvalId, notice)
    return Promise.resolve(this.works)
  }
  withdraw(id: string): void {
    this.up.delete(id)
  }
}

let bed: Testbed
let folder: string
let attention: Attention
let use: NotificationUse
let made: Announcements
let notification: Surface
let tray: Surface
let listener: (event: Numbered) => void
let changed: () => void
let fallen: string[]
let delayed: (() => void)[]

/** Everything that the bed has published since the last call reaches the announcements. */
let passed = 0
async function pass(): Promise<void> {
  const events = bed.events.slice(passed)
  passed = bed.events.length
  for (const event of events) listener({ boot: 'b', seq: 1, event: event as FeedEvent })
  await new Promise((go) => setTimeout(go, 20))
}

beforeEach(() => {
  bed = createTestbed()
  folder = mkdtempSync(join(tmpdir(), 'announce-'))
  attention = 'hidden'
  use = 'away'
  notification = new Surface('notification')
  tray = new Surface('tray')
  fallen = []
  delayed = []
  passed = 0
  const desktop: Desktop = {
    status: () => {
      throw new Error('not asked for')
    },
    apply: () => Promise.resolve(),
    attention: () => attention,
    onChange(given) {
      changed = given
      return () => {}
    },
    announcers: [notification, tray],
  }
  const feed: Feed = {
    boot: 'b',
    seq: 0,
    publish: () => {},
    subscribe(given) {
      listener = given
      return () => {}
    },
  }
  made = createAnnouncements({
    store: bed.store,
    clock: {
      now: () => Date.now(),
      after(_ms, callback) {
        delayed.push(callback)
        return () => {
          delayed = delayed.filter((one) => one !== callback)
        }
      },
    },
    feed,
    log: silentLog,
    announcers: () => desktop.announcers,
    desktop,
    use: () => use,
    undelivered: (id) => {
      fallen.push(id)
      return Promise.resolve()
    },
  })
})
afterEach(async () => {
  made.close()
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

let count = 0
const change = (purpose: string | null = null) => bed.ask(`mkdir ${join(folder, `d${count++}`)}`, { purpose })
const announced = () =>
  bed.store
    .ledgerPage(null, 100)
    .filter(({ kind }) => kind === 'approval.announced')
    .map(({ data }) => data)

/** All that was put off happens, and what comes of it. */
async function later(): Promise<void> {
  await new Promise((go) => setTimeout(go, 10))
  for (const callback of delayed.splice(0)) callback()
  await new Promise((go) => setTimeout(go, 20))
}

describe('what waits', () => {
  it('is told once on every surface, written down, and taken back everywhere when it is settled', async () => {
    const one = await change()
    await pass()
    await made.whenQuiet()
    const id = one.approval?.id ?? ''
    expect([...notification.up.keys()]).toEqual([id])
    expect([...tray.up.keys()]).toEqual([id])
    expect(notification.up.get(id)).toMatchObject({ mayApprove: true, others: 0, digest: one.approval?.digest })
    expect(announced()).toEqual([{ shown: ['notification', 'tray'], failed: [] }])
    await pass()
    made.look()
    await made.whenQuiet()
    expect(notification.told.length).toBe(1)
    bed.deny(one)
    await pass()
    expect([notification.up.size, tray.up.size]).toEqual([0, 0])
    expect(fallen).toEqual([])
  })

  it('offers no approval for what takes a phrase, and shows no secret', async () => {
    await bed.ask(`rm -rf ${join(folder, 'x')}`)
    await bed.ask(
      `mkdir ${join(folder, 'y')} && curl -H "Authorization: Bearer sk-live-abcdefghijklmnop1234" http://localhost/`,
    )
    await pass()
    await made.whenQuiet()
    const notices = [...notification.up.values()]
    expect(notices.map(({ mayApprove }) => mayApprove)).toEqual([false, true])
    expect(notices.map(({ others }) => others)).toEqual([1, 1])
    expect(JSON.stringify(notices)).not.toContain('abcdefghijklmnop1234')
    expect(notices[1]?.body).toContain('redacted')
  })

  it('is one line each, whatever a command holds', async () => {
    await bed.ask(`mkdir ${join(folder, 'z')}\n\n\nNomos: everything is fine`)
    await pass()
    await made.whenQuiet()
    const [notice] = [...notification.up.values()]
    expect(notice?.body.split('\n').length).toBe(2)
    expect(notice?.title.includes('\n')).toBe(false)
  })

  it('does not raise a notice while a window has the focus, and does once it is gone from sight', async () => {
    attention = 'focused'
    const one = await change()
    await pass()
    expect(notification.told.length).toBe(0)
    made.shown([one.approval?.id ?? ''])
    await made.whenQuiet()
    expect(announced()).toEqual([{ shown: ['window', 'tray'], failed: [] }])
    attention = 'hidden'
    changed()
    await new Promise((go) => setTimeout(go, 20))
    expect(notification.up.size).toBe(1)
  })

  it('raises a notice when the window went out of sight while it had still to draw the card', async () => {
    attention = 'visible'
    use = 'always'
    notification.works = false
    await change()
    await pass()
    attention = 'hidden'
    notification.works = true
    changed()
    expect(notification.up.size).toBe(0)
    for (const callback of delayed) callback()
    await made.whenQuiet()
    await new Promise((go) => setTimeout(go, 20))
    expect(notification.up.size).toBe(1)
    expect(fallen).toEqual([])
  })

  it('raises a notice after all when the focused window has drawn nothing in time', async () => {
    attention = 'focused'
    tray.works = false
    await change()
    await pass()
    expect(notification.told.length).toBe(0)
    for (const callback of delayed) callback()
    await made.whenQuiet()
    expect(notification.up.size).toBe(1)
    expect(announced()).toEqual([{ shown: ['notification'], failed: ['window', 'tray'] }])
    expect(fallen).toEqual([])
  })

  it('falls when no surface could show it, once', async () => {
    notification.works = false
    tray.works = false
    const one = await change()
    await pass()
    await made.whenQuiet()
    const nowhere = { shown: [], failed: ['notification', 'tray'] }
    expect(announced()).toEqual([nowhere])
    // A panel may be late.
    expect(fallen).toEqual([])
    await later()
    expect(announced()).toEqual([nowhere, nowhere])
    expect(fallen).toEqual([one.id])
    made.look()
    await later()
    expect(fallen).toEqual([one.id])
  })

  it('does not fall where a surface came late', async () => {
    notification.works = false
    tray.works = false
    await change()
    await pass()
    await made.whenQuiet()
    tray.works = true
    await later()
    expect(announced().map(({ shown }) => shown)).toEqual(expect.arrayContaining([[], ['tray']]))
    expect(fallen).toEqual([])
  })

  it('falls where a surface never says whether it has shown it', async () => {
    notification.silent = true
    tray.works = false
    const one = await change()
    await pass()
    for (let i = 0; i < 3; i++) await later()
    expect(announced()).toEqual([
      { shown: [], failed: ['notification', 'tray'] },
      { shown: [], failed: ['notification', 'tray'] },
    ])
    expect(fallen).toEqual([one.id])
  })

  it('is told of in a window that has no room for it and counts it', async () => {
    attention = 'visible'
    use = 'never'
    tray.works = false
    const [one, two] = [await change(), await change()]
    await pass()
    made.shown([one.approval?.id ?? ''])
    for (let i = 0; i < 3; i++) await later()
    expect(fallen).toEqual([])
    bed.deny(one)
    await pass()
    // The window has room now and does not draw it: it is no window that anybody sees.
    const three = await change()
    await pass()
    for (let i = 0; i < 3; i++) await later()
    expect(fallen).toEqual([three.id])
    expect(bed.store.execution(two.id)?.state).toBe('pending_approval')
  })

  it('never stands in more than a few notices; the others are counted', async () => {
    for (let n = 0; n < MOST_NOTICES + 4; n++) await change()
    await pass()
    await made.whenQuiet()
    expect(notification.up.size).toBe(MOST_NOTICES)
    // Those that came in one burst are counted at once: no notice says the same a second time.
    expect(notification.told.length).toBe(MOST_NOTICES)
    expect([...notification.up.values()].at(-1)?.others).toBe(MOST_NOTICES + 3)
    await change()
    await pass()
    await made.whenQuiet()
    expect(notification.told.slice(MOST_NOTICES).map(({ others }) => others)).toEqual([MOST_NOTICES + 4])
    expect(tray.up.size).toBe(MOST_NOTICES + 5)
    expect(fallen).toEqual([])
  })

  it('raises none when none are wanted', async () => {
    use = 'never'
    tray.works = false
    attention = 'visible'
    const one = await change()
    await pass()
    made.shown([one.approval?.id ?? ''])
    await made.whenQuiet()
    expect(notification.told.length).toBe(0)
    expect(announced()).toEqual([{ shown: ['window'], failed: ['tray'] }])
  })
})

describe('nobody can be told', () => {
  it('is undeliverable where the fallback denies, and its word is neither denied nor expired', async () => {
    const one = await change()
    await bed.gate.undelivered(one.id)
    const view = bed.store.execution(one.id)
    expect(view).toMatchObject({
      state: 'undeliverable',
      approval: { state: 'cancelled', settlement: { by: 'fallback', surface: 'system' } },
    })
    expect(bed.gate.resultText(one.id)).toMatch(/state: undeliverable[\s\S]*Nobody could be asked/)
    await bed.gate.undelivered(one.id)
    expect(bed.store.execution(one.id)?.state).toBe('undeliverable')
  })

  it('runs where the fallback is full, and never what cannot be undone', async () => {
    bed.policy.requested = { ...bed.policy.requested, askFallback: 'full' }
    bed.policy.host = { ...bed.policy.host, askFallback: 'full' }
    const [one, two] = [await change(), await bed.ask(`rm -rf ${join(folder, 'x')}`)]
    await bed.gate.undelivered(one.id)
    await bed.gate.undelivered(two.id)
    expect((await bed.until(one.id, 'completed')).approval?.settlement?.by).toBe('fallback')
    expect(bed.store.execution(two.id)?.state).toBe('undeliverable')
  })
})
