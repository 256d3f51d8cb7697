import { useWorld } from '../bridge/stores'
import { openSession, useUi } from '../bridge/ui'
import { Icon } from '../parts/icons'
import { ago } from '../parts/time'
import { useNow } from '../parts/useNow'
import { Visible } from '../parts/Visible'

const TURN_WORD = { idle: '', streaming: 'writing', waiting: 'waiting' } as const

/** The conversations, newest first. */
export function SessionList() {
  const sessions = useWorld((world) => world.sessions)
  const phase = useWorld((world) => world.phase)
  const selected = useUi((ui) => ui.session)
  const now = useNow(60_000)
  return (
    <nav aria-label="Sessions" className="frame-list">
      <div className="flex h-11 shrink-0 items-center gap-2 border-line border-b px-3">
        <h2 className="grow font-semibold">Sessions</h2>
        <button
          aria-label="New session"
          className="btn btn-plain btn-small"
          data-testid="session-new"
          onClick={() => {
            openSession(null)
            document.querySelector<HTMLTextAreaElement>('[data-testid="composer"]')?.focus()
          }}
          title="New session"
          type="button"
        >
          <Icon name="plus" size={14} />
        </button>
      </div>
      {sessions.length === 0 ? (
        <p className="p-3 text-ink-3">{phase === 'ready' ? 'The first message begins a session.' : ''}</p>
      ) : (
        <ul className="min-h-0 grow overflow-y-auto p-1">
          {sessions.map((session) => (
            <li key={session.id}>
              <button
                aria-current={session.id === selected ? 'true' : undefined}
                className={`flex w-full items-baseline gap-2 rounded px-2 py-1 text-left ${session.id === selected ? 'bg-raised text-ink' : 'text-ink-2 hover:bg-raised hover:text-ink'}`}
                data-testid={`session-${session.id}`}
                onClick={() => openSession(session.id)}
                type="button"
              >
                <span className="min-w-0 grow truncate">
                  {session.title === '' ? 'New session' : <Visible text={session.title} />}
                </span>
                <span
                  className={`tabular shrink-0 text-meta ${session.turn === 'waiting' ? 'text-change' : session.turn === 'streaming' ? 'text-accent' : 'text-ink-3'}`}
                >
                  {session.turn === 'idle' ? ago(session.updatedAt, now) : TURN_WORD[session.turn]}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </nav>
  )
}
