import { memo, type ReactNode } from 'react'
import { useExecutions } from '../../bridge/stores'
import { useUi } from '../../bridge/ui'
import { RiskBadge } from '../../parts/badges'
import { headOf } from '../../parts/command'
import { Near } from '../../parts/Near'
import { Visible } from '../../parts/Visible'

/** A list up to here is drawn whole: the browser finds text in all of it. */
const ALL_DRAWN = 30
const DRAWN_AT_FIRST = 8

interface Listed {
  readonly key: string
  readonly ids: readonly string[]
}

/** One line for a card that is far out of sight. */
function Far({ id }: { readonly id: string }) {
  const view = useExecutions((state) => state.byId[id])
  if (view === undefined) return null
  return (
    <div className="flex items-center gap-3">
      <RiskBadge risk={view.risk} />
      <span className="logical min-w-0 truncate font-mono text-code text-ink-2">
        <Visible text={`${view.target}  ${headOf(view.command).line.slice(0, 200)}`} />
      </span>
    </div>
  )
}

const Item = memo(function Item({
  entry,
  always,
  first,
  guess,
  draw,
}: {
  readonly entry: Listed
  readonly always: boolean
  readonly first: boolean
  readonly guess: number
  readonly draw: (entry: Listed) => ReactNode
}) {
  const wanted = useUi((ui) => ui.reveal !== null && entry.ids.includes(ui.reveal))
  return (
    <li>
      <Near always={always} far={<Far id={entry.key} />} first={first} guess={guess} name={entry.key} wanted={wanted}>
        {draw(entry)}
      </Near>
    </li>
  )
}, sameItem)

/** Entries are made anew with each list; what one holds says whether it has to be drawn again. */
function sameItem(
  before: { readonly entry: Listed; readonly always: boolean; readonly guess: number },
  after: { readonly entry: Listed; readonly always: boolean; readonly guess: number },
): boolean {
  return (
    before.always === after.always &&
    before.guess === after.guess &&
    before.entry.key === after.entry.key &&
    before.entry.ids.length === after.entry.ids.length &&
    before.entry.ids.every((id, index) => id === after.entry.ids[index])
  )
}

/** Cards under each other, hundreds of them if need be: those out of sight are drawn when they come near. */
export function CardList({
  entries,
  guess,
  children,
}: {
  readonly entries: readonly Listed[]
  /** About how high a card is, until it was drawn once. */
  readonly guess: number
  /** Draws one; it may depend on the entry alone. */
  readonly children: (entry: Listed) => ReactNode
}) {
  return (
    <ul className="space-y-3">
      {entries.map((entry, index) => (
        <Item
          always={entries.length <= ALL_DRAWN}
          draw={children}
          entry={entry}
          first={index < DRAWN_AT_FIRST}
          guess={guess}
          key={entry.key}
        />
      ))}
    </ul>
  )
}
