import { Notification, powerMonitor } from 'electron'
import type { NativeDesktop, Notices, ScreenLock, TrayHost } from '../ports'

/** How long a notice may take to be shown, ms. */
const SHOWN_MS = 4_000

/** What this Electron on this system can do with a notice. Everything that differs between versions is looked at here. */
const can = {
  /** Windows shows none without an installed shortcut; there the click is what is left. */
  buttons: process.platform === 'darwin',
}

/** Notices through Electron. One is held until it is settled: when its object is collected, its click is dead. */
function electronNotices(): Notices {
  const held = new Map<string, Notification>()
  const listeners = new Set<(key: string, action: string) => void>()
  const tell = (key: string, action: string): void => {
    for (const listener of listeners) listener(key, action)
  }
  return {
    begin: () => Promise.resolve(),
    show(key, text) {
      held.get(key)?.close()
      held.delete(key)
      if (!Notification.isSupported()) return Promise.resolve(false)
      const buttons = can.buttons ? text.actions.filter((action) => action.key !== 'default') : []
      const notice = new Notification({
        title: text.title,
        body: text.body,
        urgency: text.urgency,
        timeoutType: 'never',
        actions: buttons.map(({ label }) => ({ type: 'button', text: label })),
      })
      held.set(key, notice)
      const drop = (): void => {
        if (held.get(key) === notice) held.delete(key)
      }
      notice.on('click', () => tell(key, 'default'))
      notice.on('close', drop)
      notice.on('action', (_details, index) => {
        const pressed = buttons[index]
        if (pressed !== undefined && held.get(key) === notice) tell(key, pressed.key)
      })
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), SHOWN_MS)
        const settle = (shown: boolean): void => {
          clearTimeout(timer)
          if (!shown) drop()
          resolve(shown)
        }
        notice.once('show', () => settle(true))
        notice.once('failed', () => settle(false))
        notice.show()
      })
    },
    withdraw(key) {
      const notice = held.get(key)
      held.delete(key)
      notice?.close()
    },
    onAction: (listener) => void listeners.add(listener),
    onChange: () => {},
    state: () =>
      Notification.isSupported()
        ? {
            available: true,
            buttons: can.buttons,
            sentence: can.buttons
              ? 'Notices are shown by the system, with buttons.'
              : 'Notices are shown by the system; a click opens the card.',
          }
        : { available: false, buttons: false, sentence: 'No notices: this system shows none.' },
  }
}

const systemTray: TrayHost = {
  begin: () => Promise.resolve(),
  possible: true,
  present: () => true,
  reason: () => 'the system has none',
  registered: () => Promise.resolve(true),
  // The menu belongs to this process alone.
  reasonAgainstClick: () => Promise.resolve(null),
  onChange: () => {},
}

function systemLock(): ScreenLock {
  const look = (): boolean => powerMonitor.getSystemIdleState(60) === 'locked'
  return {
    begin: () => Promise.resolve(),
    last: look,
    ask: () => Promise.resolve(look()),
    onChange(listener) {
      powerMonitor.on('lock-screen', listener)
      powerMonitor.on('unlock-screen', listener)
    },
  }
}

/** Notices, tray and lock of macOS and Windows. Untested there. */
export function createElsewhere(): NativeDesktop {
  return { notices: electronNotices(), trayHost: systemTray, lock: systemLock(), close: () => Promise.resolve() }
}
