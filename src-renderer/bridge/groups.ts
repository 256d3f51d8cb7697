import type { ExecutionView } from '../../src-preload/contract'

/** Settled cards that stay in their places while the room is open. */
const MOST_SETTLED = 50

/** One place of the list of approvals: a request, or several that ask for the same. */
export interface Entry {
  /** The request it began with. */
  readonly key: string
  readonly group: string | null
  /** Oldest first. */
  readonly ids: readonly string[]
}

/**
 * The list of approvals after something changed. New ones come first, identical ones join the entry that waits already; everything shown
 * keeps its place, the oldest settled ones leave at the end. An entry that is being used (`mayJoin` says no) takes nobody in.
 */
export function arrange(
  shown: readonly Entry[],
  waitingNewestFirst: readonly Pick<ExecutionView, 'id' | 'group'>[],
  mayJoin: (entry: Entry) => boolean,
): readonly Entry[] {
  const live = new Set(waitingNewestFirst.map((view) => view.id))
  const known = new Set(shown.flatMap((entry) => entry.ids))
  let settled = 0
  const kept = shown.filter((entry) => {
    if (entry.ids.some((id) => live.has(id))) return true
    settled += 1
    return settled <= MOST_SETTLED
  })
  const fresh = waitingNewestFirst.filter((view) => !known.has(view.id))
  // The same array when nothing changed, so that nothing is drawn again.
  if (fresh.length === 0) return kept.length === shown.length ? shown : kept
  const joined = new Map<string, string[]>()
  const open = new Map<string, string>()
  for (const entry of kept) {
    if (entry.group !== null && !open.has(entry.group) && entry.ids.some((id) => live.has(id)) && mayJoin(entry))
      open.set(entry.group, entry.key)
  }
  const made: { key: string; group: string | null }[] = []
  for (const { id, group = null } of [...fresh].reverse()) {
    const key = group === null ? undefined : open.get(group)
    if (key !== undefined) {
      joined.set(key, [...(joined.get(key) ?? []), id])
      continue
    }
    made.unshift({ key: id, group })
    if (group !== null) open.set(group, id)
  }
  const withJoined = (entry: Entry): Entry => {
    const more = joined.get(entry.key)
    return more === undefined ? entry : { ...entry, ids: [...entry.ids, ...more] }
  }
  return [...made.map(({ key, group }) => withJoined({ key, group, ids: [key] })), ...kept.map(withJoined)]
}

/** Puts those that ask for the same together, in the place of the first of each. */
export function alike<T extends Pick<ExecutionView, 'id' | 'group'>>(views: readonly T[]): readonly (readonly T[])[] {
  const byGroup = new Map<string, T[]>()
  for (const view of views) {
    const key = view.group ?? `alone ${view.id}`
    const have = byGroup.get(key)
    if (have === undefined) byGroup.set(key, [view])
    else have.push(view)
  }
  return [...byGroup.values()]
}

/** The other requests that wait for the same as this one. */
export function othersLike(view: ExecutionView, waiting: readonly ExecutionView[]): readonly ExecutionView[] {
  if (view.group === undefined || view.state !== 'pending_approval') return []
  return waiting.filter((other) => other.id !== view.id && other.group === view.group)
}

/** Why a waiting request cannot be approved among several; null when it can. Anything that is not known to be harmless is left out. */
export function alone(view: ExecutionView): string | null {
  if (view.risk === 'destructive') return 'It cannot be undone, so it is answered on its own card.'
  switch (view.answerAt) {
    case 'anywhere':
      return view.approval?.outcome === 'ask' ? null : 'It takes a typed phrase.'
    case 'phrase':
      return 'It takes a typed phrase.'
    case 'card':
    case undefined:
      return 'It is answered on its own card only.'
  }
}
