import { useEffect, useMemo, useState } from 'react'
import type { ExecutionView } from '../../../src-preload/contract'
import { RoomBody, RoomHead } from '../../app/RoomHead'
import { openApproveAll, useApprovable } from '../../bridge/ApproveAll'
import { ExampleCommand } from '../../bridge/ExampleCommand'
import { GroupCard } from '../../bridge/GroupCard'
import { arrange, type Entry } from '../../bridge/groups'
import { LiveCard } from '../../bridge/LiveCard'
import { useExecutions } from '../../bridge/stores'
import { useUi } from '../../bridge/ui'
import { CardList } from './CardList'
import { History } from './History'

/** A card that is being used takes no other request in: nothing on it may change under the pointer or the keys. */
function inUse(key: string): boolean {
  const card = document.querySelector(`main [data-card="${CSS.escape(key)}"]`)
  return card !== null && (card.contains(document.activeElement) || card.querySelector('[data-keep]') !== null)
}

const mayJoin = (entry: Entry): boolean => !entry.ids.some(inUse)

/**
 * The waiting cards, newest first, and those among them that were settled while this room is open: a card stays where it was
 * answered, so that its outcome is seen and nothing slips under the pointer. For the same reason new ones are held back while
 * the pointer is over an answer.
 */
function useSteadyOrder(waiting: readonly ExecutionView[]): {
  readonly shown: readonly Entry[]
  readonly held: number
} {
  const newestFirst = useMemo(() => [...waiting].reverse(), [waiting])
  const [shown, setShown] = useState<readonly Entry[]>(() => arrange([], newestFirst, mayJoin))
  useEffect(() => {
    const update = (): void => {
      if (document.querySelector('[data-answer]:hover') !== null) return
      setShown((old) => arrange(old, newestFirst, mayJoin))
    }
    update()
    const timer = setInterval(update, 500)
    return () => clearInterval(timer)
  }, [newestFirst])
  const held = useMemo(() => {
    const here = new Set(shown.flatMap((entry) => entry.ids))
    return waiting.filter((view) => !here.has(view.id)).length
  }, [shown, waiting])
  return { shown, held }
}

const drawEntry = ({ key, ids }: { readonly key: string; readonly ids: readonly string[] }) =>
  ids.length === 1 ? <LiveCard id={key} /> : <GroupCard ids={ids} />

/** From here on what is settled is a long way down. */
const LONG = 5

function ApproveAllButton() {
  const approvable = useApprovable()
  // For one there is its card.
  if (approvable < 2) return null
  return (
    <button className="btn" data-testid="approve-all" onClick={openApproveAll} type="button">
      Approve all non-destructive ({approvable})…
    </button>
  )
}

/** What waits for an answer, newest first, then what was settled. */
export default function Approvals() {
  const waiting = useExecutions((state) => state.waiting)
  const approved = useExecutions((state) => state.approved)
  const running = useExecutions((state) => state.running)
  const wanted = useUi((ui) => ui.reveal)
  const [opened, setOpened] = useState<string | null>(null)
  const { shown, held } = useSteadyOrder(waiting)
  const here = useMemo(() => new Set(shown.flatMap((entry) => entry.ids)), [shown])
  const active = [...approved, ...running].filter((view) => !here.has(view.id)).reverse()

  useEffect(() => {
    if (wanted !== null) setOpened(wanted)
  }, [wanted])

  const elsewhere =
    opened !== null &&
    !here.has(opened) &&
    !waiting.some((view) => view.id === opened) &&
    !active.some((view) => view.id === opened)
  const extra = elsewhere ? opened : null
  return (
    <>
      <RoomHead title="Approvals" />
      <RoomBody>
        {extra === null ? null : (
          <section aria-labelledby="opened" className="space-y-3">
            <h2 className="font-semibold" id="opened">
              Opened
            </h2>
            <LiveCard id={extra} key={extra} />
          </section>
        )}
        <section aria-labelledby="pending" className="space-y-3">
          <div className="flex min-h-7 flex-wrap items-center gap-3">
            <h2 className="grow font-semibold" id="pending">
              Waiting for your answer <span className="tabular font-normal text-ink-2">({waiting.length})</span>
            </h2>
            {shown.length > LONG ? (
              <button
                className="link"
                onClick={() => document.getElementById('history')?.scrollIntoView()}
                type="button"
              >
                Go to what is settled
              </button>
            ) : null}
            <ApproveAllButton />
          </div>
          {held > 0 ? <p className="text-ink-2">{held} more arrived</p> : null}
          {shown.length === 0 ? (
            <div className="space-y-2 text-ink-2">
              <p>Nothing waits. What changes a machine waits here for your answer, for example:</p>
              <ExampleCommand text="/run local mkdir /tmp/nomos-example" />
            </div>
          ) : (
            <CardList entries={shown} guess={250}>
              {drawEntry}
            </CardList>
          )}
        </section>
        {active.length === 0 ? null : (
          <section aria-labelledby="active" className="space-y-3">
            <h2 className="font-semibold" id="active">
              Approved and running <span className="tabular font-normal text-ink-2">({active.length})</span>
            </h2>
            <ul className="space-y-3">
              {active.map((view) => (
                <li key={view.id}>
                  <LiveCard id={view.id} />
                </li>
              ))}
            </ul>
          </section>
        )}
        <History elsewhere={here} />
      </RoomBody>
    </>
  )
}
