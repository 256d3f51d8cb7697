import type { Shown } from '../../src-preload/contract'

/** Where a waiting request stands: as a card of its conversation, or anywhere else (another room, Now, a bar that counts). */
export type Place = 'conversation' | 'elsewhere'

const nameOf = ({ id, digest }: Shown): string => `${id} ${digest}`

interface Drawn {
  readonly items: readonly Shown[]
  readonly place: Place
  inSight: boolean
  /** It was in sight while the window was, at some time since it was drawn. */
  seen: boolean
}

/**
 * Remembers which waiting requests stand in the window and which of them somebody can have seen. It knows no page: what is drawn, what
 * is in sight and whether the window is, it is told.
 */
export class Sight {
  readonly #drawn = new Map<object, Drawn>()
  /** Approval and digest of what main was told. */
  readonly #told = new Set<string>()
  #visible = true

  /** Something was drawn. Drawn again with other requests, or the same in another version, it has to be seen again. */
  put(key: object, items: readonly Shown[], place: Place): void {
    this.#drawn.set(key, { items, place, inSight: false, seen: false })
  }

  drop(key: object): void {
    this.#drawn.delete(key)
  }

  /** It came into sight, or left it. */
  sighted(key: object, yes: boolean): void {
    const drawn = this.#drawn.get(key)
    if (drawn === undefined) return
    drawn.inSight = yes
    if (yes && this.#visible) drawn.seen = true
  }

  /** The whole window came into sight, or left it. */
  visible(yes: boolean): void {
    this.#visible = yes
    if (yes) for (const drawn of this.#drawn.values()) if (drawn.inSight) drawn.seen = true
  }

  /** The cards of the open conversation that stand there now and were seen, with the digest that stood on each. */
  inConversation(): readonly Shown[] {
    return [...this.#drawn.values()].flatMap(({ items, place, seen }) =>
      seen && place === 'conversation' ? [...items] : [],
    )
  }

  /** What was seen anywhere and main was not told of yet; it counts as told from here on. */
  untold(): readonly Shown[] {
    const fresh: Shown[] = []
    for (const { items, seen } of this.#drawn.values()) {
      if (!seen) continue
      for (const item of items) {
        if (this.#told.has(nameOf(item))) continue
        this.#told.add(nameOf(item))
        fresh.push(item)
      }
    }
    return fresh
  }

  /** Telling failed, or another core is there: it has to be told again. Without items: everything. */
  forget(items?: readonly Shown[]): void {
    if (items === undefined) this.#told.clear()
    else for (const item of items) this.#told.delete(nameOf(item))
  }
}
