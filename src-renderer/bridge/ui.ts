import { create } from 'zustand'
import type { Failure } from '../../src-preload/contract'
import { request } from './client'

export const ROOMS = ['chat', 'approvals', 'activity', 'fleet', 'policy', 'settings'] as const
export type RoomName = (typeof ROOMS)[number]

/** What the history of approvals is narrowed to; an empty text narrows nothing. */
export interface HistoryChoice {
  readonly state: string
  readonly risk: string
  readonly target: string
  readonly agent: string
  readonly surface: string
  readonly text: string
  /** Only what somebody was asked about. */
  readonly asked: boolean
}

export const WHOLE_HISTORY: HistoryChoice = {
  state: 'all',
  risk: '',
  target: '',
  agent: '',
  surface: '',
  text: '',
  asked: true,
}

type Saved = Readonly<Record<string, string | number | boolean | null>>

/** What the window remembers. It never decides anything; main keeps it as small values by name. */
export interface Ui {
  readonly room: RoomName
  /** The chosen session; null is a new one that does not exist before its first message. */
  readonly session: string | null
  readonly listFolded: boolean
  readonly nowFolded: boolean
  /** Overlays of narrow windows; they do not outlive the window. */
  readonly nowOver: boolean
  readonly listOver: boolean
  readonly overlay: 'palette' | 'shortcuts' | 'approve-all' | null
  /** Why a switch could not be flipped from a place that is gone by then (the palette); the strip of switches shows it. */
  readonly switchFailure: Failure | null
  /** Unsent text by session id, `new` for the session that does not exist yet. */
  readonly drafts: Readonly<Record<string, string>>
  readonly history: HistoryChoice
  /** A card that should be scrolled to and focused as soon as it is there. */
  readonly reveal: string | null
  /** The card on which one `A` was pressed. */
  readonly armed: string | null
}

export const useUi = create<Ui>(() => ({
  room: 'chat',
  session: null,
  listFolded: false,
  nowFolded: false,
  nowOver: false,
  listOver: false,
  overlay: null,
  switchFailure: null,
  drafts: {},
  history: WHOLE_HISTORY,
  reveal: null,
  armed: null,
}))

/** Typing is saved in pauses; what was chosen at once, so that even a crash right after finds it again. */
const SAVE_TYPING_AFTER_MS = 400
const LONGEST_NAME = 64
const LONGEST_TEXT = 65_536
let timer: ReturnType<typeof setTimeout> | null = null
let restored = false
/** Names written before: a draft that is gone has to be written as null, or it would come back. */
const written = new Set<string>()

/** The window's state as the values that main keeps. */
export function savedFrom(ui: Ui, before: ReadonlySet<string>): Record<string, string | boolean | null> {
  const out: Record<string, string | boolean | null> = {}
  for (const name of before) out[name] = null
  out.room = ui.room
  out.session = ui.session
  out.listFolded = ui.listFolded
  out.nowFolded = ui.nowFolded
  out.history = JSON.stringify(ui.history)
  for (const [session, text] of Object.entries(ui.drafts)) {
    const name = `draft:${session}`
    if (text !== '' && name.length <= LONGEST_NAME && text.length <= LONGEST_TEXT) out[name] = text
  }
  return out
}

/** The narrowing of the history from its saved text; anything unexpected is left at its default. */
export function historyFrom(saved: string | number | boolean | null | undefined): HistoryChoice {
  if (typeof saved !== 'string') return WHOLE_HISTORY
  let found: unknown
  try {
    found = JSON.parse(saved)
  } catch {
    return WHOLE_HISTORY
  }
  if (typeof found !== 'object' || found === null) return WHOLE_HISTORY
  const fields = new Map<string, unknown>(Object.entries(found))
  const text = (name: keyof HistoryChoice, fallback: string): string => {
    const value = fields.get(name)
    return typeof value === 'string' ? value.slice(0, 500) : fallback
  }
  return {
    state: text('state', WHOLE_HISTORY.state),
    risk: text('risk', ''),
    target: text('target', ''),
    agent: text('agent', ''),
    surface: text('surface', ''),
    text: text('text', ''),
    asked: fields.get('asked') !== false,
  }
}

/** The window's state from what main kept; anything unexpected is left at its default. */
export function restoredFrom(saved: Saved): Partial<Ui> {
  const drafts: Record<string, string> = {}
  for (const [name, value] of Object.entries(saved)) {
    if (name.startsWith('draft:') && typeof value === 'string' && value !== '') drafts[name.slice(6)] = value
  }
  const room = ROOMS.find((name) => name === saved.room)
  return {
    ...(room === undefined ? {} : { room }),
    session: typeof saved.session === 'string' ? saved.session : null,
    listFolded: saved.listFolded === true,
    nowFolded: saved.nowFolded === true,
    history: historyFrom(saved.history),
    drafts,
  }
}

function save(): void {
  timer = null
  const values = savedFrom(useUi.getState(), written)
  for (const [name, value] of Object.entries(values)) {
    if (!name.startsWith('draft:')) continue
    if (value === null) written.delete(name)
    else written.add(name)
  }
  // Losing a remembered fold is not worth a message; the next change writes everything again.
  request('ui.save', values).catch(() => undefined)
}

useUi.subscribe((ui, before) => {
  if (!restored) return
  const same =
    ui.room === before.room &&
    ui.session === before.session &&
    ui.listFolded === before.listFolded &&
    ui.nowFolded === before.nowFolded &&
    ui.history === before.history &&
    ui.drafts === before.drafts
  if (same) return
  if (timer !== null) clearTimeout(timer)
  const chosen = ui.room !== before.room || ui.session !== before.session
  timer = setTimeout(save, chosen ? 0 : SAVE_TYPING_AFTER_MS)
})

/** Writes at once what still waits to be written, before the window goes away. */
export function saveUiNow(): void {
  if (timer === null) return
  clearTimeout(timer)
  save()
}

/** Takes over what an earlier window left, once; what was typed or chosen meanwhile wins. */
export function restoreUi(saved: Saved, sessions: ReadonlySet<string>): void {
  if (restored) return
  const before = restoredFrom(saved)
  for (const name of Object.keys(saved)) if (name.startsWith('draft:')) written.add(name)
  const now = useUi.getState()
  const chosen = before.session ?? null
  const session = now.session ?? (chosen !== null && sessions.has(chosen) ? chosen : null)
  const typed = now.drafts.new
  const drafts: Record<string, string> = {}
  for (const [id, text] of Object.entries(before.drafts ?? {})) if (id === 'new' || sessions.has(id)) drafts[id] = text
  if (typed !== undefined && typed !== '') {
    // Typed while the snapshot was still on its way: it belongs to the session that now appears.
    const key = session ?? 'new'
    const older = drafts[key]
    drafts[key] = older === undefined ? typed : `${older}\n${typed}`
    if (key !== 'new') delete drafts.new
  }
  restored = true
  useUi.setState({
    ...before,
    ...(now.room === 'chat' ? {} : { room: now.room }),
    session,
    drafts,
  })
}

/** Leaves a session that is not there any more; what was typed in it goes along to the new one. */
export function leaveLostSession(sessions: ReadonlySet<string>): void {
  const { session, drafts } = useUi.getState()
  if (session === null || sessions.has(session)) return
  const { [session]: typed, ...others } = drafts
  useUi.setState({ session: null, drafts: typed === undefined || typed === '' ? others : { ...others, new: typed } })
}

/** Changes rooms and closes what lay over the old one. */
export function goTo(room: RoomName): void {
  useUi.setState({ room, nowOver: false, listOver: false })
}

/** Chooses a session (null: a new one) and shows it. */
export function openSession(session: string | null): void {
  useUi.setState({ room: 'chat', session, nowOver: false, listOver: false })
}

/** Remembers unsent text. */
export function setDraft(session: string | null, text: string): void {
  const key = session ?? 'new'
  useUi.setState((ui) => {
    const drafts = { ...ui.drafts }
    if (text === '') delete drafts[key]
    else drafts[key] = text
    return { drafts }
  })
}
