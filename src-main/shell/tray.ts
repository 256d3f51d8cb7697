import { Menu, type MenuItemConstructorOptions, nativeTheme, Tray } from 'electron'
import { trayImage } from './tray-image'
import { type TrayAction, type TrayEntry, type TrayState, trayFace, trayMenu, trayTip } from './tray-menu'

/** The icon in the panel, with its menu. */
export interface TrayIcon {
  /** Shows a state; nothing is touched when nothing changed. */
  show(state: TrayState): void
  /** The menu is made anew with the next state: an entry was pressed that the system has changed by itself. */
  forget(): void
  remove(): void
}

/** An ampersand in a label would mark the letter after it. */
const label = (text: string): string => text.replace(/&/g, '&&')

function itemOf(entry: TrayEntry, act: (action: TrayAction) => void): MenuItemConstructorOptions {
  switch (entry.kind) {
    case 'separator':
      return { type: 'separator' }
    case 'label':
      return { label: label(entry.label), enabled: false }
    case 'action':
      return { label: label(entry.label), click: () => act(entry.action) }
    case 'check':
      return { type: 'checkbox', label: label(entry.label), checked: entry.checked, click: () => act(entry.action) }
    case 'menu':
      return { label: label(entry.label), submenu: entry.entries.map((inner) => itemOf(inner, act)) }
  }
}

/** Puts the icon into the panel. */
export function createTrayIcon(resources: string, first: TrayState, act: (action: TrayAction) => void): TrayIcon {
  const image = (state: TrayState) => trayImage(resources, trayFace(state), nativeTheme.shouldUseDarkColors)
  const tray = new Tray(image(first))
  let face = ''
  let menu = ''
  let tip = ''
  let last = first

  function show(state: TrayState): void {
    last = state
    const newFace = JSON.stringify([trayFace(state), nativeTheme.shouldUseDarkColors])
    if (newFace !== face) {
      face = newFace
      tray.setImage(image(state))
    }
    const newTip = trayTip(state)
    if (newTip !== tip) {
      tip = newTip
      tray.setToolTip(newTip)
    }
    const entries = trayMenu(state)
    const newMenu = JSON.stringify(entries)
    if (newMenu !== menu) {
      menu = newMenu
      tray.setContextMenu(Menu.buildFromTemplate(entries.map((entry) => itemOf(entry, act))))
    }
  }

  const onTheme = (): void => show(last)
  nativeTheme.on('updated', onTheme)
  // On macOS a click opens the menu.
  if (process.platform !== 'darwin') tray.on('click', () => act({ do: 'open' }))
  show(first)
  return {
    show,
    forget() {
      menu = ''
    },
    remove() {
      nativeTheme.off('updated', onTheme)
      tray.destroy()
    },
  }
}
