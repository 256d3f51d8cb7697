import type { DesktopSettings, DesktopStatus } from '../../src-preload/contract/model'
import type { Announcer } from './announcer'

/** Where the operator's eyes may be: a window of Nomos has the focus, one is to be seen, or none is. */
export type Attention = 'focused' | 'visible' | 'hidden'

/** The desktop Nomos runs on. A headless host has none. */
export interface Desktop {
  status(): DesktopStatus
  /** Puts settings into force (the entry that starts Nomos with the login). Throws an Error with a sentence when it cannot. */
  apply(settings: DesktopSettings): Promise<void>
  attention(): Attention
  /** Called whenever `attention` or `status` may have changed. Returns what ends it. */
  onChange(listener: () => void): () => void
  /** The native notice and the tray; the window tells by itself what it shows. */
  readonly announcers: readonly Announcer[]
}
