import { BrowserWindow } from 'electron'
import type { FeedEvent } from '../../src-preload/contract/events'
import type { DesktopStatus, ExecutionView, Host, PolicyView, SettingsView } from '../../src-preload/contract/model'
import type { Announcer, Desktop, Dispatch, Log, NativeDesktop, Notice } from '../ports'
import { createAnswers } from './answers'
import { attentionNow, watchAttention } from './attention'
import type { Autostart } from './autostart-entry'
import { approvalNotice } from './notice-text'
import { rememberDesktop } from './remembered'
import { createTrayIcon, type TrayIcon } from './tray'
import { listed, MOST_ENTRIES, type TrayAction, type TrayState } from './tray-menu'

export interface DesktopConfig {
  readonly home: string
  /** The folder that holds `resources/`. */
  readonly resources: string
  /** Loaded once the window is up. */
  readonly native: () => Promise<{ readonly native: NativeDesktop; readonly log: Log }>
  readonly autostart: Autostart
  /** Waits for the core. */
  readonly dispatch: Dispatch
  /** How many commands run. */
  readonly running: () => number
  /** Brings a window to the front, opening one if there is none; with an id the card comes into sight. */
  readonly show: (executionId: string | null) => void
  readonly quit: () => void
}

export interface DesktopShell {
  readonly desktop: Desktop
  /** Looks at what the desktop has and shows what there is to show. Called when the window is up; before it, by what cannot wait. */
  begin(): Promise<void>
  /** Every event of the core. */
  follow(event: FeedEvent): void
  /** Whether Nomos goes on without a window. */
  stays(): boolean
  /** The last window is gone and Nomos goes on: said once, with how to end it. */
  stayed(): void
  /** Whether it is to start without a window, by the settings of the last time. */
  readonly startsHidden: boolean
  /** Resolves to true as soon as the tray is there, to false after `ms` or when none can come. */
  trayWithin(ms: number): Promise<boolean>
  close(): Promise<void>
}

/** How long the notice about the tray stands, in ms. */
const TOLD_MS = 20_000
const TOLD = 'nomos:tray'
/** Many changes of one moment are one look. */
const LOOK_MS = 150
const LATE_MS = 5_000
/** A panel that is started anew takes its icons back; without one for longer than this a window is opened, or nobody could reach Nomos. */
const PANEL_MS = 10_000

export function createDesktop(config: DesktopConfig): DesktopShell {
  const { dispatch } = config
  const remembered = rememberDesktop(config.home)
  const listeners = new Set<() => void>()
  const answer = createAnswers({
    dispatch,
    lock: async () => (await loaded())?.lock ?? null,
    reveal: (executionId) => config.show(executionId),
  })

  let loading: Promise<NativeDesktop | null> | null = null
  let native: NativeDesktop | null = null
  let log: Log | null = null
  let failure: string | null = null
  let begun: Promise<void> | null = null
  let closed = false

  let icon: TrayIcon | null = null
  let registered = false
  let state: TrayState = {
    pending: [],
    running: 0,
    paused: false,
    asking: false,
    targets: ['local'],
    neverAuto: [],
    locked: null,
  }
  let planned: NodeJS.Timeout | null = null
  let looking: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  let withoutPanel: NodeJS.Timeout | null = null
  /** What a notice that stands says, so that its button answers just that. */
  const noticed = new Map<string, Notice>()

  const changed = (): void => {
    for (const listener of listeners) listener()
  }

  function loaded(): Promise<NativeDesktop | null> {
    loading ??= config.native().then(
      (found) => {
        log = found.log
        native = found.native
        return found.native
      },
      (error) => {
        failure = error instanceof Error ? error.message : String(error)
        process.stderr.write(`Nomos has neither notices nor a tray: ${failure}\n`)
        return null
      },
    )
    return loading
  }

  // What waits, read anew.

  const asTray = { surface: 'tray', operator: true } as const

  async function read(): Promise<void> {
    const [pending, policy, hosts] = await Promise.all([
      dispatch(asTray, 'approvals.pending', {}),
      dispatch(asTray, 'policy.show', {}),
      dispatch(asTray, 'hosts.list', {}),
    ])
    state = {
      pending: pending.ok ? (pending.value as readonly ExecutionView[]) : state.pending,
      paused: policy.ok ? (policy.value as PolicyView).pauseAutomatic : state.paused,
      asking: policy.ok ? (policy.value as PolicyView).askAboutEverything : state.asking,
      targets: hosts.ok
        ? ['local', ...(hosts.value as readonly Host[]).map(({ slug }) => `host:${slug}`)]
        : state.targets,
      neverAuto: policy.ok ? (policy.value as PolicyView).neverAuto : state.neverAuto,
      running: config.running(),
      locked: native?.lock.last() ?? null,
    }
    icon?.show(state)
  }

  async function readSettings(): Promise<void> {
    const settings = await dispatch(asTray, 'settings.get', {})
    if (!settings.ok) return
    const { closeToTray, startHidden, autostart } = (settings.value as SettingsView).desktop
    remembered.write({ closeToTray, startHidden, autostart })
  }

  /** A look that begins after now. One at a time: whoever asks during one shares the next. */
  function look(): Promise<void> {
    next ??= looking.then(() => {
      next = null
      looking = read().catch((error) => log?.warn('the tray could not be brought up to date', { error: String(error) }))
      return looking
    })
    return next
  }

  function plan(): void {
    if (icon === null || planned !== null || closed) return
    planned = setTimeout(() => {
      planned = null
      void look()
    }, LOOK_MS)
  }

  // The tray.

  function act(action: TrayAction): void {
    void perform(action).catch((error) => log?.error('an entry of the tray failed', { error: String(error) }))
  }

  async function perform(action: TrayAction): Promise<void> {
    switch (action.do) {
      case 'open':
        return config.show(null)
      case 'review':
        return config.show(action.executionId)
      case 'approvals':
        return config.show(listed(state.pending)[MOST_ENTRIES]?.id ?? null)
      case 'quit':
        return config.quit()
      case 'approve':
      case 'deny': {
        const reason = await reasonAgainstClick()
        if (reason === null) return answer('tray', action.target, action.do)
        log?.warn('a click in the tray was not obeyed', { reason, approval: action.target.approvalId })
        // Refused by the core, so that it stands in the ledger: whoever pressed is no operator.
        await dispatch({ surface: 'tray', operator: false }, 'approvals.answer', {
          id: action.target.approvalId,
          answer: action.do === 'approve' ? { kind: 'approve', phrase: null } : { kind: 'deny', note: null },
          digest: action.target.digest,
        })
        return config.show(action.target.executionId)
      }
      case 'switch':
        return flip('policy.setSwitch', { name: action.name, on: action.on })
      case 'never-auto':
        return flip('policy.setNeverAuto', { target: action.target, on: action.on })
    }
  }

  async function flip(
    route: 'policy.setSwitch' | 'policy.setNeverAuto',
    input: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const reason = await reasonAgainstClick()
    const flipped = reason === null ? await dispatch(asTray, route, input) : null
    if (flipped?.ok !== true) {
      const why = reason ?? (flipped?.ok === false ? flipped.error.message : '')
      log?.warn('a switch in the tray was not flipped', { ...input, reason: why })
      config.show(null)
    }
    // The system has set the tick already, whatever came of it.
    icon?.forget()
    return look()
  }

  const reasonAgainstClick = async (): Promise<string | null> =>
    (await loaded())?.trayHost.reasonAgainstClick() ?? 'the desktop was not looked at'

  /** Brings the icon in line with whether there is a panel for it. */
  function followPanel(): void {
    if (native === null || closed) return
    const there = native.trayHost.present()
    if (there && icon === null) {
      try {
        icon = createTrayIcon(config.resources, state, act)
      } catch (error) {
        log?.warn('the tray icon could not be made', { error: String(error) })
        return
      }
      void look()
      void settleIcon(native, icon)
    }
    if (!there && icon !== null) {
      icon.remove()
      icon = null
      registered = false
      changed()
      withoutPanel ??= setTimeout(openWithoutPanel, PANEL_MS)
    }
  }

  async function settleIcon(from: NativeDesktop, made: TrayIcon): Promise<void> {
    const taken = await from.trayHost.registered()
    if (icon !== made) return
    // A slow panel takes it later.
    if (!taken) setTimeout(() => void settleIcon(from, made), LATE_MS).unref()
    if (taken === registered) return
    registered = taken
    if (taken && withoutPanel !== null) {
      clearTimeout(withoutPanel)
      withoutPanel = null
    }
    changed()
  }

  function openWithoutPanel(): void {
    withoutPanel = null
    if (closed || registered || BrowserWindow.getAllWindows().length > 0) return
    log?.info('the panel with the icon is gone, so a window is opened')
    config.show(null)
  }

  // Notices.

  function onNotice(key: string, action: string): void {
    const notice = noticed.get(key)
    if (key === TOLD) config.show(null)
    else if (notice === undefined) return
    else if (action === 'approve' || action === 'deny')
      void answer('notification', notice, action).catch((error) =>
        log?.error('an answer on a notice failed', { error: String(error) }),
      )
    else config.show(notice.executionId)
  }

  const notification: Announcer = {
    surface: 'notification',
    async announce(notice) {
      await begin()
      if (native === null) return false
      noticed.set(notice.approvalId, notice)
      return native.notices.show(notice.approvalId, approvalNotice(notice, native.lock.last()))
    },
    withdraw(approvalId) {
      noticed.delete(approvalId)
      native?.notices.withdraw(approvalId)
    },
  }

  const tray: Announcer = {
    surface: 'tray',
    async announce(notice) {
      await begin()
      if (native === null || icon === null) return false
      const inMenu = (): boolean => state.pending.some(({ approval }) => approval?.id === notice.approvalId)
      if (!inMenu()) await look()
      if (icon === null || !inMenu()) return false
      await settleIcon(native, icon)
      return registered
    },
    // The menu shows what waits and nothing else.
    withdraw: () => plan(),
  }

  function begin(): Promise<void> {
    begun ??= (async () => {
      const found = await loaded()
      if (found === null || closed) return
      found.notices.onAction(onNotice)
      found.notices.onChange(changed)
      found.trayHost.onChange(followPanel)
      found.lock.onChange(() => {
        plan()
        changed()
      })
      await Promise.all([found.notices.begin(), found.trayHost.begin(), found.lock.begin()])
      followPanel()
      void readSettings()
      changed()
    })()
    return begun
  }

  function status(): DesktopStatus {
    const autostart = config.autostart.status()
    if (native === null) {
      const sentence =
        failure === null
          ? 'Nomos is still looking at what this desktop has.'
          : `This desktop cannot be spoken to: ${failure}. Restart Nomos; the window goes on without it.`
      return {
        tray: { available: false, sentence },
        notifications: { available: false, buttons: false, sentence },
        autostart,
        lock: { known: false, sentence },
      }
    }
    const { trayHost, notices, lock } = native
    const locked = lock.last()
    return {
      tray: registered
        ? { available: true, sentence: 'Nomos has an icon in the tray.' }
        : {
            available: false,
            sentence: `No tray on this desktop: ${trayHost.present() ? 'the panel has not taken the icon' : trayHost.reason()}. Closing the last window ends Nomos.`,
          },
      notifications: notices.state(),
      autostart,
      lock:
        locked === null
          ? {
              known: false,
              sentence:
                'Nobody here tells whether the screen is locked, so notices and the tray approve while it is. What takes a phrase or its card, they never do.',
            }
          : { known: true, sentence: 'While the screen is locked, notices and the tray approve nothing.' },
    }
  }

  watchAttention(changed)

  const desktop: Desktop = {
    status,
    apply(settings) {
      try {
        const { available, on } = config.autostart.status()
        // Where there is no such entry, what was chosen on another day is in nobody's way; only a new choice is refused.
        const kept = !available && settings.autostart === remembered.read().autostart
        if (settings.autostart !== on && !kept) config.autostart.apply(settings.autostart)
        return Promise.resolve()
      } catch (error) {
        return Promise.reject(error)
      }
    },
    attention: attentionNow,
    onChange(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    announcers: [notification, tray],
  }

  return {
    desktop,
    begin,
    follow(event) {
      switch (event.type) {
        case 'settings':
          void readSettings()
          return
        case 'approval':
        case 'execution':
        case 'policy':
        case 'hosts':
          plan()
          return
        default:
          return
      }
    },
    stays: () => registered && remembered.read().closeToTray,
    stayed() {
      if (native === null || remembered.read().toldOfTray) return
      void native.notices
        .show(TOLD, {
          title: 'Nomos stays in the tray',
          body: 'What runs goes on, and what waits is shown. To end it, choose "Quit Nomos" in the menu of its icon; settings say whether it stays.',
          urgency: 'normal',
          actions: [{ key: 'default', label: 'Open Nomos' }],
        })
        .then((shown) => {
          if (!shown) return
          remembered.write({ toldOfTray: true })
          // It asks for nothing, so it need not stand.
          setTimeout(() => native?.notices.withdraw(TOLD), TOLD_MS).unref()
        })
    },
    startsHidden: remembered.read().startHidden,
    async trayWithin(ms) {
      const found = await loaded()
      if (found === null || !found.trayHost.possible) return false
      await begin()
      if (registered) return true
      return new Promise((resolve) => {
        const end = (there: boolean): void => {
          clearTimeout(timer)
          listeners.delete(listener)
          resolve(there)
        }
        const listener = (): void => {
          if (registered) end(true)
        }
        const timer = setTimeout(() => end(false), ms)
        listeners.add(listener)
      })
    },
    async close() {
      closed = true
      if (planned !== null) clearTimeout(planned)
      if (withoutPanel !== null) clearTimeout(withoutPanel)
      native?.notices.withdraw(TOLD)
      icon?.remove()
      icon = null
      await native?.close()
    },
  }
}
