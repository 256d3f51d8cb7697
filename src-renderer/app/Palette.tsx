import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import type { Failure } from '../../src-preload/contract'
import { openApproveAll, useApprovable } from '../bridge/ApproveAll'
import { reveal } from '../bridge/desk'
import { openPolicy, POLICY_TAB_LABEL, POLICY_TABS } from '../bridge/scope'
import { useExecutions, useWorld } from '../bridge/stores'
import { savePreferences, setNeverAuto, setSwitch } from '../bridge/switches'
import { goTo, openSession, ROOMS, setDraft, useUi } from '../bridge/ui'
import { headOf } from '../parts/command'
import { Dialog } from '../parts/Dialog'
import { visibleText } from '../parts/visible'
import { RISK_WORD } from '../parts/words'
import { ROOM_LABEL } from './Rail'
import { focusComposer, modifier } from './shortcuts'

interface Entry {
  readonly id: string
  readonly group: string
  readonly label: string
  readonly hint?: string
  readonly act: () => void
}

/** Entries whose label holds every word that was typed. */
export function matching<T extends { readonly label: string; readonly group: string }>(
  entries: readonly T[],
  query: string,
): readonly T[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return entries.filter((entry) => {
    const text = `${entry.group} ${entry.label}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

const MOST_SHOWN = 60

/** The palette is closed by the time a switch has answered. */
const keepFailure = (switchFailure: Failure | null): void => useUi.setState({ switchFailure })

function useEntries(): readonly Entry[] {
  const sessions = useWorld((world) => world.sessions)
  const policy = useWorld((world) => world.policy)
  const settings = useWorld((world) => world.settings)
  const targets = useWorld((world) => world.targets)
  const waiting = useExecutions((state) => state.waiting)
  const approvable = useApprovable()
  return useMemo(() => {
    const entries: Entry[] = []
    if (approvable > 1) {
      entries.push({
        id: 'approve-all',
        group: 'Waiting',
        label: `Approve all non-destructive (${approvable})…`,
        hint: 'shows them first',
        act: openApproveAll,
      })
    }
    for (const view of [...waiting].reverse()) {
      entries.push({
        id: `w-${view.id}`,
        group: 'Waiting',
        label: `${visibleText(headOf(view.command).line).slice(0, 90)} on ${view.target}`,
        hint: RISK_WORD[view.risk],
        act: () => reveal(view.id),
      })
    }
    ROOMS.forEach((room, index) => {
      entries.push({
        id: `r-${room}`,
        group: 'Room',
        label: ROOM_LABEL[room],
        hint: `${modifier()} ${index + 1}`,
        act: () => goTo(room),
      })
    })
    for (const tab of POLICY_TABS) {
      entries.push({ id: `p-${tab}`, group: 'Policy', label: POLICY_TAB_LABEL[tab], act: () => openPolicy(tab) })
    }
    entries.push({
      id: 'new',
      group: 'Session',
      label: 'New session',
      act: () => {
        openSession(null)
        focusComposer()
      },
    })
    if (policy !== null) {
      entries.push({
        id: 'ask',
        group: 'Switch',
        label: 'Ask about everything',
        hint: policy.askAboutEverything ? 'on: switch off' : 'off: switch on',
        act: () => void setSwitch('askAboutEverything', !policy.askAboutEverything).then(keepFailure),
      })
      entries.push({
        id: 'pause',
        group: 'Switch',
        label: 'Pause automatic runs',
        hint: policy.pauseAutomatic ? 'on: switch off' : 'off: switch on',
        act: () => void setSwitch('pauseAutomatic', !policy.pauseAutomatic).then(keepFailure),
      })
      const slugs = new Set([...targets.map(({ slug }) => slug), ...policy.neverAuto])
      for (const slug of slugs) {
        const on = policy.neverAuto.includes(slug)
        entries.push({
          id: `n-${slug}`,
          group: 'Switch',
          label: `Never automatic on ${visibleText(slug)}`,
          hint: on ? 'on: switch off' : 'off: switch on',
          act: () => void setNeverAuto(slug, !on).then(keepFailure),
        })
      }
    }
    for (const theme of ['system', 'light', 'dark'] as const) {
      entries.push({
        id: `t-${theme}`,
        group: 'Theme',
        label: theme === 'system' ? 'As the system' : theme === 'light' ? 'Light' : 'Dark',
        ...(settings?.theme === theme ? { hint: 'now' } : {}),
        act: () => void savePreferences({ theme }),
      })
    }
    entries.push({
      id: 'keys',
      group: 'Help',
      label: 'Keyboard shortcuts',
      hint: '?',
      act: () => useUi.setState({ overlay: 'shortcuts' }),
    })
    entries.push({
      id: 'fold-now',
      group: 'View',
      label: 'Fold Now away or back',
      act: () => useUi.setState((ui) => ({ nowFolded: !ui.nowFolded })),
    })
    entries.push({
      id: 'fold-list',
      group: 'View',
      label: 'Fold the session list away or back',
      act: () => useUi.setState((ui) => ({ listFolded: !ui.listFolded })),
    })
    for (const target of targets) {
      entries.push({
        id: `h-${target.slug}`,
        group: 'Target',
        label: `Run a command on ${target.slug}`,
        act: () => {
          const { session, drafts } = useUi.getState()
          // What is being written is not thrown away for a shortcut.
          if ((drafts[session ?? 'new'] ?? '') === '') setDraft(session, `/run ${target.slug} `)
          focusComposer()
        },
      })
    }
    for (const session of sessions) {
      entries.push({
        id: `s-${session.id}`,
        group: 'Session',
        label: session.title === '' ? 'New session' : visibleText(session.title),
        act: () => openSession(session.id),
      })
    }
    return entries
  }, [sessions, policy, settings, targets, waiting, approvable])
}

/** Everything the app can do, by typing a part of its name. */
export function Palette() {
  const entries = useEntries()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const found = useMemo(() => matching(entries, query).slice(0, MOST_SHOWN), [entries, query])
  const current = Math.min(at, found.length - 1)

  useEffect(() => {
    list.current?.querySelector(`[data-at="${current}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [current])

  const close = (): void => useUi.setState({ overlay: null })
  const choose = (entry: Entry | undefined): void => {
    if (entry === undefined) return
    close()
    entry.act()
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt(found.length === 0 ? 0 : (current + step + found.length) % found.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      choose(found[current])
    }
  }
  return (
    <Dialog bare onClose={close} title="Commands">
      <input
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${current}`}
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-expanded={found.length > 0}
        aria-label="Go to a room, a session, a waiting request, a switch"
        className="w-full shrink-0 border-line border-b bg-panel px-4 py-3 text-read outline-none"
        data-testid="palette-input"
        onChange={(event) => {
          setQuery(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKey}
        placeholder="Rooms, sessions, waiting requests, switches…"
        role="combobox"
        spellCheck={false}
        value={query}
      />
      <div aria-label="Commands" className="min-h-0 overflow-y-auto p-1" id={`${id}-list`} ref={list} role="listbox">
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            aria-selected={index === current}
            className={`flex items-baseline gap-3 rounded px-3 py-1 ${index === current ? 'bg-raised' : ''}`}
            data-at={index}
            id={`${id}-${index}`}
            key={entry.id}
            onClick={() => choose(entry)}
            onPointerMove={() => setAt(index)}
            role="option"
            tabIndex={-1}
          >
            <span className="w-14 shrink-0 text-meta text-ink-3">{entry.group}</span>
            <span className="min-w-0 grow truncate">{entry.label}</span>
            {entry.hint === undefined ? null : <span className="shrink-0 text-meta text-ink-3">{entry.hint}</span>}
          </div>
        ))}
      </div>
      {found.length === 0 ? <p className="px-4 py-3 text-ink-2">Nothing is called that.</p> : null}
    </Dialog>
  )
}
