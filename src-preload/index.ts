import { contextBridge, type IpcRendererEvent, ipcRenderer } from 'electron'
import { EVENT_CHANNEL, REQUEST_CHANNEL } from './channels'
import type { Bridge } from './contract/bridge'
import type { Envelope } from './contract/errors'
import type { Numbered } from './contract/events'

/** Everything is checked in main; here is only the hand-over, so that this file needs no library and starts at once. */
const bridge: Bridge = {
  request: (route, input) => ipcRenderer.invoke(REQUEST_CHANNEL, route, input) as Promise<Envelope<unknown>>,
  onEvent(listener) {
    const forward = (_event: IpcRendererEvent, numbered: Numbered): void => listener(numbered)
    ipcRenderer.on(EVENT_CHANNEL, forward)
    return () => {
      ipcRenderer.removeListener(EVENT_CHANNEL, forward)
    }
  },
  platform: process.platform,
}

contextBridge.exposeInMainWorld('nomos', bridge)
