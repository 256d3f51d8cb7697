import { useExecutions } from '../bridge/stores'
import { goTo, ROOMS, type RoomName, useUi } from '../bridge/ui'
import { Icon } from '../parts/icons'
import { modifier } from './shortcuts'

/** What people call each room. */
export const ROOM_LABEL: Readonly<Record<RoomName, string>> = {
  chat: 'Chat',
  approvals: 'Approvals',
  activity: 'Activity',
  fleet: 'Fleet',
  policy: 'Policy',
  settings: 'Settings',
}

/** The rooms, one button each; what waits is a number on its room. */
export function Rail() {
  const room = useUi((ui) => ui.room)
  const waiting = useExecutions((state) => state.waiting.length)
  return (
    <nav aria-label="Rooms" className="frame-rail">
      {ROOMS.map((name, index) => {
        const badge = name === 'approvals' && waiting > 0
        const count = waiting > 999 ? '999+' : String(waiting)
        const label = badge ? `${ROOM_LABEL[name]}, ${count} waiting` : ROOM_LABEL[name]
        return (
          <button
            aria-current={room === name ? 'page' : undefined}
            aria-label={label}
            className={`relative flex h-10 w-10 shrink-0 items-center justify-center rounded ${room === name ? 'bg-raised text-ink' : 'text-ink-2 hover:bg-raised hover:text-ink'}`}
            data-testid={`room-${name}`}
            key={name}
            onClick={() => goTo(name)}
            title={`${ROOM_LABEL[name]} (${modifier()} ${index + 1})`}
            type="button"
          >
            {room === name ? (
              <span className="absolute bg-ink max-mid:inset-x-2 max-mid:bottom-0 max-mid:h-0.5 mid:inset-y-2 mid:left-0 mid:w-0.5" />
            ) : null}
            <Icon name={name} size={20} />
            {badge ? (
              <span
                className="tabular absolute top-0.5 right-0 min-w-4 rounded-full bg-change px-1 text-center font-semibold text-meta text-page leading-4"
                data-testid="waiting-badge"
              >
                {count}
              </span>
            ) : null}
          </button>
        )
      })}
      <button
        aria-label="Commands"
        className="flex h-10 w-10 shrink-0 items-center justify-center rounded text-ink-2 hover:bg-raised hover:text-ink max-mid:ml-auto mid:mt-auto"
        data-testid="open-palette"
        onClick={() => useUi.setState({ overlay: 'palette' })}
        title={`Commands (${modifier()} K)`}
        type="button"
      >
        <Icon name="search" size={18} />
      </button>
    </nav>
  )
}
