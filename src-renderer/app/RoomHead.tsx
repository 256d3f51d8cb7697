import type { ReactNode } from 'react'
import { useExecutions } from '../bridge/stores'
import { useUi } from '../bridge/ui'
import { Icon } from '../parts/icons'

function toggleNow(): void {
  // Beside the room when there is place for it, over it when there is not; the style sheet knows the same width.
  if (window.matchMedia('(width >= 1100px)').matches) useUi.setState({ nowFolded: false })
  else useUi.setState((ui) => ({ nowOver: !ui.nowOver, listOver: false }))
}

/** The line on top of every room: its name, what is particular to it, and the way to Now where Now is folded away. */
export function RoomHead({
  title,
  list = false,
  children,
}: {
  readonly title: ReactNode
  readonly list?: boolean
  readonly children?: ReactNode
}) {
  const waiting = useExecutions((state) => state.waiting.length)
  const running = useExecutions((state) => state.running.length)
  const listFolded = useUi((ui) => ui.listFolded)
  return (
    <header className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-2 border-line border-b px-4">
      {list ? (
        <>
          <button
            aria-label="Sessions"
            className="btn btn-plain btn-small only-narrow -ml-2"
            data-testid="list-over"
            onClick={() => useUi.setState((ui) => ({ listOver: !ui.listOver, nowOver: false }))}
            type="button"
          >
            <Icon name="list" />
          </button>
          <button
            aria-label={listFolded ? 'Show the session list' : 'Fold the session list away'}
            aria-pressed={!listFolded}
            className="btn btn-plain btn-small -ml-2 max-mid:hidden"
            onClick={() => useUi.setState({ listFolded: !listFolded })}
            title={listFolded ? 'Show the session list' : 'Fold the session list away'}
            type="button"
          >
            <Icon name="list" />
          </button>
        </>
      ) : null}
      <h1 className="min-w-0 truncate font-semibold text-read">{title}</h1>
      {children}
      <div className="only-without-now ml-auto flex shrink-0 items-center gap-3">
        {running > 0 ? (
          <span className="tabular flex items-center gap-1.5 whitespace-nowrap text-ink-2">
            <span className="pulse h-2 w-2 rounded-full bg-accent" />
            {running} running
          </span>
        ) : null}
        <button
          className="btn btn-small"
          data-testid="now-over"
          onClick={toggleNow}
          title="Show what waits and runs"
          type="button"
        >
          <Icon name="now" size={14} />
          Now{waiting > 0 ? <span className="tabular text-change">{waiting}</span> : null}
        </button>
      </div>
    </header>
  )
}

/** The scrolling part of a room that is not a conversation. */
export function RoomBody({ children }: { readonly children: ReactNode }) {
  return (
    <div className="min-h-0 grow overflow-y-auto" data-scroller="true">
      <div className="max-w-[920px] space-y-6 px-4 py-4">{children}</div>
    </div>
  )
}
