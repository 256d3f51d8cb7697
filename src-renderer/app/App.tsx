import { lazy, Suspense, useEffect } from 'react'
import { ApproveAll } from '../bridge/ApproveAll'
import { useExecutions, useWorld } from '../bridge/stores'
import { type RoomName, useUi } from '../bridge/ui'
import { Chat } from '../rooms/chat/Chat'
import { HealthBar } from './HealthBar'
import { LiveRegion } from './LiveRegion'
import { Now } from './Now'
import { Palette } from './Palette'
import { PolicyStrip } from './PolicyStrip'
import { Rail } from './Rail'
import { SessionList } from './SessionList'
import { ShortcutList } from './ShortcutList'
import { useShortcuts } from './shortcuts'
import { applyTheme } from './theme/apply'

const LAZY = {
  approvals: lazy(() => import('../rooms/approvals/Approvals')),
  activity: lazy(() => import('../rooms/activity/Activity')),
  fleet: lazy(() => import('../rooms/fleet/Fleet')),
  policy: lazy(() => import('../rooms/policy/Policy')),
  settings: lazy(() => import('../rooms/settings/Settings')),
} as const

function Room({ name }: { readonly name: RoomName }) {
  if (name === 'chat') return <Chat />
  const Lazy = LAZY[name]
  return (
    <Suspense fallback={null}>
      <Lazy />
    </Suspense>
  )
}

/** The frame: rail, sessions, the room, Now. It is drawn at once and fills as the first snapshot arrives. */
export function App() {
  const room = useUi((ui) => ui.room)
  const listFolded = useUi((ui) => ui.listFolded)
  const nowFolded = useUi((ui) => ui.nowFolded)
  const nowOver = useUi((ui) => ui.nowOver)
  const listOver = useUi((ui) => ui.listOver)
  const overlay = useUi((ui) => ui.overlay)
  const theme = useWorld((world) => world.settings?.theme)
  const waiting = useExecutions((state) => state.waiting.length)
  useShortcuts()

  useEffect(() => {
    if (theme !== undefined) applyTheme(theme)
  }, [theme])

  useEffect(() => {
    document.title = waiting === 0 ? 'Nomos' : `Nomos: ${waiting} waiting`
  }, [waiting])

  const list = room === 'chat'
  return (
    <>
      <div
        className="frame"
        data-list={listFolded || !list ? 'folded' : 'open'}
        data-list-over={list && listOver}
        data-now={nowFolded ? 'folded' : 'open'}
        data-now-over={nowOver}
      >
        <div className="frame-health">
          <PolicyStrip />
          <HealthBar />
        </div>
        <Rail />
        {list ? <SessionList /> : null}
        <main className="frame-main" data-room={room} id="main" tabIndex={-1}>
          <Room key={room} name={room} />
        </main>
        <Now />
        {nowOver || listOver ? (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does the same
          // biome-ignore lint/a11y/noStaticElementInteractions: a place to click away from what lies over the room
          <div className="frame-away" onClick={() => useUi.setState({ nowOver: false, listOver: false })} />
        ) : null}
      </div>
      <LiveRegion />
      {overlay === 'palette' ? <Palette /> : null}
      {overlay === 'shortcuts' ? <ShortcutList /> : null}
      {overlay === 'approve-all' ? <ApproveAll /> : null}
    </>
  )
}
