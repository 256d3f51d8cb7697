import type { FeedEvent, Numbered } from '../../src-preload/contract'

/** More than this is never held while a snapshot is on its way; past it, another snapshot is cheaper than a replay. */
const MOST_HELD = 5000

/** Events to apply now, or the news that some were missed and everything has to be read again. */
export type FeedStep = readonly FeedEvent[] | 'resync'

/**
 * Follows the numbering of the event feed. Events that arrive while a snapshot is being read are held and replayed after it,
 * so nothing falls between the two.
 */
export class FeedCursor {
  private at: { boot: string; seq: number } | null = null
  private held: Numbered[] = []
  private overflowed = false

  /** Call before asking for a snapshot. */
  reading(): void {
    this.at = null
    this.held = []
    this.overflowed = false
  }

  /** Call with the numbers of the snapshot that was read. */
  synced(boot: string, seq: number): FeedStep {
    const held = this.held
    const overflowed = this.overflowed
    this.reading()
    this.at = { boot, seq }
    if (overflowed) return 'resync'
    const events: FeedEvent[] = []
    for (const numbered of held) {
      const step = this.accept(numbered)
      if (step === 'resync') return 'resync'
      events.push(...step)
    }
    return events
  }

  /** What one event means for this window. */
  accept(numbered: Numbered): FeedStep {
    if (this.at === null) {
      if (this.held.length < MOST_HELD) this.held.push(numbered)
      else this.overflowed = true
      return []
    }
    if (numbered.boot !== this.at.boot) return 'resync'
    if (numbered.seq <= this.at.seq) return []
    if (numbered.seq !== this.at.seq + 1) return 'resync'
    this.at = { boot: this.at.boot, seq: numbered.seq }
    return [numbered.event]
  }
}
