import type { ExecutionView, NotificationUse } from '../../src-preload/contract/model'
import { answerPlaceOf } from '../domain/approval'
import type { Announcer, Clock, Desktop, Feed, Log, Notice, Store } from '../ports'

/** Tells every surface what waits, takes back what is settled, and says when nobody could be told. It answers nothing. */
export interface Announcements {
  /** A window has drawn these waiting cards while it was to be seen. */
  shown(approvalIds: readonly string[]): void
  /** Brings every surface to what waits now. Called at start and by every change; safe to call at any time. */
  look(): void
  /** Resolves once every announcement that is on its way has come to an end. */
  whenQuiet(): Promise<void>
  close(): void
}

export interface AnnouncementsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly feed: Feed
  readonly log: Log
  readonly announcers: () => readonly Announcer[]
  /** null on a headless host. */
  readonly desktop: Desktop | null
  readonly use: () => NotificationUse
  /** Delivery has failed on every surface. */
  readonly undelivered: (executionId: string) => Promise<void>
}

/** Notices of the system that stand at the same time; what waits beyond them is counted in the newest. */
export const MOST_NOTICES = 5
/** How long a window has to draw a card before it counts as not shown, in ms. */
export const DRAWN_MS = 5_000
/** How long a panel, a service of notices or a slow window may be late before nobody could be told, in ms. */
export const PATIENCE_MS = 25_000
/** How long a surface may take to say whether it has shown something, in ms. */
export const SHOW_MS = 20_000
const LONGEST_TEXT = 120

type Surface = Announcer['surface']

interface Told {
  readonly executionId: string
  /** Surfaces that have acknowledged. */
  readonly by: Set<Surface>
  /** A notice of the system stands for it, or is on its way. */
  noticed: boolean
  /** How many others its notice counts, and what comes of showing it. */
  counted: { readonly others: number; readonly shown: Promise<boolean> } | null
  /** Announcements on their way. */
  under: number
  /** Resolves a wait for the window. */
  drawn: (() => void) | null
  /** Nobody could be told; it is tried once more, after that it falls. */
  tried: boolean
}

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  const characters = [...line]
  return characters.length <= LONGEST_TEXT ? line : `${characters.slice(0, LONGEST_TEXT - 1).join('')}…`
}

const RISK_TITLE = {
  read_only: 'Read',
  reversible_low: 'Reversible change',
  config_mutation: 'Change',
  destructive: 'Destructive command',
} as const

/** What a notice says of a waiting request. The command is the redacted one; what an agent wrote as its purpose is quoted. */
export function noticeOf(execution: ExecutionView, others: number): Notice | null {
  const { approval } = execution
  if (approval === null) return null
  const place = answerPlaceOf(execution)
  const who =
    execution.principal.kind === 'operator'
      ? 'you'
      : execution.principal.kind === 'agent'
        ? 'the agent'
        : execution.principal.id
  const more = others === 0 ? '' : ` · ${others} more ${others === 1 ? 'waits' : 'wait'}`
  return {
    approvalId: approval.id,
    executionId: execution.id,
    digest: approval.digest,
    title: oneLine(`${RISK_TITLE[execution.risk]} waits on ${execution.target}`),
    body: `${oneLine(execution.command)}\nasked by ${oneLine(who)}${place === 'anywhere' ? '' : ' · review it on its card'}${more}`,
    others,
    mayApprove: place === 'anywhere',
  }
}

export function createAnnouncements(deps: AnnouncementsDeps): Announcements {
  const { store, feed, log, clock } = deps
  const told = new Map<string, Told>()
  const running = new Set<Promise<void>>()
  let closed = false
  let looking = false
  let again = false

  const surfaceOf = (surface: Surface): Announcer | undefined =>
    deps.announcers().find((announcer) => announcer.surface === surface)

  /** Whether the system's own notice is wanted at this moment. */
  function wantsNotice(): boolean {
    switch (deps.use()) {
      case 'never':
        return false
      case 'always':
        return true
      case 'away':
        return deps.desktop?.attention() !== 'focused'
    }
  }

  const noticesUp = (): number => [...told.values()].filter(({ noticed }) => noticed).length

  function tell(announcer: Announcer, execution: ExecutionView, entry: Told, others: number): Promise<boolean> {
    const shown = show(announcer, execution, entry, others)
    if (announcer.surface === 'notification') entry.counted = { others, shown }
    return shown
  }

  async function show(announcer: Announcer, execution: ExecutionView, entry: Told, others: number): Promise<boolean> {
    const notice = noticeOf(execution, others)
    if (notice === null) return false
    const own = announcer.surface === 'notification'
    // Taken before it is asked for, so that a burst does not get more places than there are.
    if (own) entry.noticed = true
    try {
      const shown = await inTime(announcer.announce(notice), announcer.surface)
      if (shown) entry.by.add(announcer.surface)
      else if (own) entry.noticed = false
      return shown
    } catch (error) {
      if (own) entry.noticed = false
      log.warn('a surface failed to show what waits', { surface: announcer.surface, error: String(error) })
      return false
    }
  }

  /** A surface that says nothing has shown nothing. */
  function inTime(job: Promise<boolean>, surface: Surface): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const forget = clock.after(SHOW_MS, () => {
        log.warn('a surface did not say whether it has shown what waits', { surface })
        resolve(false)
      })
      job.then(resolve, reject).finally(forget)
    })
  }

  /** A window that is to be seen has drawn others that wait; it counts those for which it has no room. */
  function countedInWindow(): boolean {
    if (deps.desktop === null || deps.desktop.attention() === 'hidden') return false
    return [...told.values()].some(({ by }) => by.has('window'))
  }

  /** Brings the newest notice to how many others wait: there the further ones are told. */
  function recount(announcer: Announcer, others: number): Promise<boolean> {
    const last = [...told.values()].reverse().find(({ noticed }) => noticed)
    // In a burst every one of them would say the same again.
    if (last?.counted?.others === others) return last.counted.shown
    const execution = last === undefined ? null : store.execution(last.executionId)
    if (last === undefined || execution === null) return Promise.resolve(false)
    return tell(announcer, execution, last, others)
  }

  /** True once a window that is to be seen has drawn the card. */
  function drawn(entry: Told): Promise<boolean> {
    if (entry.by.has('window')) return Promise.resolve(true)
    return new Promise((resolve) => {
      const forget = clock.after(DRAWN_MS, () => {
        entry.drawn = null
        resolve(entry.by.has('window') || countedInWindow())
      })
      entry.drawn = () => {
        forget()
        entry.drawn = null
        resolve(true)
      }
    })
  }

  /** Tells one request on every surface there is. Surfaces do not wait for each other; it has failed when all have. */
  async function deliver(execution: ExecutionView, entry: Told, others: number): Promise<void> {
    const id = execution.approval?.id ?? ''
    const attempts: Promise<{ readonly surface: Surface; readonly shown: boolean }>[] = []
    const attempt = (surface: Surface, job: Promise<boolean>): void => {
      attempts.push(job.then((shown) => ({ surface, shown })))
    }
    const attention = deps.desktop?.attention() ?? 'hidden'
    if (deps.desktop !== null && attention !== 'hidden') attempt('window', drawn(entry))
    const notification = surfaceOf('notification')
    if (notification !== undefined && wantsNotice()) {
      if (noticesUp() < MOST_NOTICES) attempt('notification', tell(notification, execution, entry, others))
      else attempt('notification', recount(notification, others))
    }
    for (const surface of ['tray', 'cli'] as const) {
      const announcer = surfaceOf(surface)
      if (announcer !== undefined) attempt(surface, tell(announcer, execution, entry, others))
    }
    const results = await Promise.all(attempts)
    if (closed || told.get(id) !== entry) return
    let shownOn = results.filter(({ shown }) => shown).map(({ surface }) => surface)
    if (shownOn.length === 0 && notification !== undefined && !wantsNotice() && deps.use() !== 'never') {
      // The window that had the focus has not drawn it: the next surface is tried after all.
      if (await tell(notification, execution, entry, others)) shownOn = ['notification']
    }
    if (closed || told.get(id) !== entry) return
    const failed = results.filter(({ shown }) => !shown).map(({ surface }) => surface)
    store.appendLedger(
      {
        kind: 'approval.announced',
        actor: 'nomos',
        executionId: execution.id,
        approvalId: id,
        data: { shown: shownOn, failed },
      },
      clock.now(),
    )
    if (shownOn.length > 0 || entry.by.size > 0 || store.approval(id)?.state !== 'pending') return
    if (entry.tried || deps.desktop === null) return deps.undelivered(execution.id)
    entry.tried = true
    clock.after(PATIENCE_MS, () => {
      if (closed || told.get(id) !== entry || entry.by.size > 0) return
      const now = store.execution(execution.id)
      if (now !== null) begin(now, entry, deliver(now, entry, Math.max(0, store.pendingIds().length - 1)), look)
    })
  }

  function withdraw(id: string): void {
    for (const announcer of deps.announcers()) {
      try {
        announcer.withdraw(id)
      } catch (error) {
        log.warn('a notice could not be withdrawn', { surface: announcer.surface, error: String(error) })
      }
    }
  }

  function begin(execution: ExecutionView, entry: Told, job: Promise<void>, then: () => void = () => {}): void {
    entry.under += 1
    const worker = job
      .catch((error) => log.error('an announcement failed', { id: execution.id, error: String(error) }))
      .finally(() => {
        entry.under -= 1
        running.delete(worker)
        then()
      })
    running.add(worker)
  }

  function reconcile(): void {
    const waiting = store.pendingIds()
    const ids = new Set(waiting.map(({ approvalId }) => approvalId))
    for (const id of [...told.keys()]) {
      if (ids.has(id)) continue
      const entry = told.get(id)
      told.delete(id)
      entry?.drawn?.()
      withdraw(id)
    }
    const others = Math.max(0, waiting.length - 1)
    // Oldest first, so that the newest notice is the one on top. A row is read only where there is something to tell of it.
    for (const { approvalId, executionId } of waiting) {
      const known = told.get(approvalId)
      if (known !== undefined && !wantsReminder(known)) continue
      const execution = store.execution(executionId)
      if (execution === null) continue
      if (known === undefined) {
        const entry: Told = {
          executionId,
          by: new Set(),
          noticed: false,
          counted: null,
          under: 0,
          drawn: null,
          tried: false,
        }
        told.set(approvalId, entry)
        // Where people look may have changed while it was on its way.
        begin(execution, entry, deliver(execution, entry, others), look)
      } else remind(execution, known, others)
    }
  }

  /** It was told where nobody looks any more, or nowhere: a notice of the system is due. */
  function wantsReminder({ under, by, noticed }: Told): boolean {
    if (under > 0 || noticed || surfaceOf('notification') === undefined) return false
    if (!wantsNotice() || noticesUp() >= MOST_NOTICES) return false
    return !by.has('window') || deps.desktop?.attention() === 'hidden'
  }

  /** A notice for something that was told elsewhere before. */
  function remind(execution: ExecutionView, entry: Told, others: number): void {
    const notification = surfaceOf('notification')
    if (notification === undefined || !wantsNotice() || noticesUp() >= MOST_NOTICES) return
    begin(
      execution,
      entry,
      tell(notification, execution, entry, others).then(() => undefined),
    )
  }

  /** Many changes of one moment are one look. */
  function look(): void {
    if (closed) return
    again = true
    if (looking) return
    looking = true
    queueMicrotask(() => {
      try {
        while (again && !closed) {
          again = false
          reconcile()
        }
      } catch (error) {
        log.error('what waits could not be announced', { error: String(error) })
      } finally {
        looking = false
      }
    })
  }

  const unsubscribe = feed.subscribe(({ event }) => {
    if (event.type === 'approval' || event.type === 'settings') look()
  })
  const offDesktop = deps.desktop?.onChange(look) ?? (() => {})

  return {
    shown(approvalIds) {
      if (deps.desktop !== null && deps.desktop.attention() === 'hidden') return
      for (const id of approvalIds) {
        const entry = told.get(id)
        if (entry === undefined) continue
        entry.by.add('window')
        entry.drawn?.()
      }
    },
    look,
    async whenQuiet() {
      await null
      while (running.size > 0) await Promise.all([...running])
    },
    close() {
      closed = true
      unsubscribe()
      offDesktop()
      for (const [id, entry] of told) {
        entry.drawn?.()
        withdraw(id)
      }
      told.clear()
    },
  }
}
