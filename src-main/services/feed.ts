import type { FeedEvent, Numbered } from '../../src-preload/contract/events'
import type { Feed, Log } from '../ports'

/** The numbered stream of events of one start of the core. */
export function createFeed(boot: string, log: Log): Feed {
  const listeners = new Set<(event: Numbered) => void>()
  let seq = 0
  return {
    boot,
    get seq() {
      return seq
    },
    publish(event: FeedEvent) {
      const numbered: Numbered = { boot, seq: ++seq, event }
      for (const listener of listeners) {
        try {
          listener(numbered)
        } catch (error) {
          // One broken window must not keep the others from the truth.
          log.error('a listener of the feed failed', { error: String(error), type: event.type })
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
