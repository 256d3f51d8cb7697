import { useEffect } from 'react'
import { approve, deny, stop } from '../bridge/desk'
import { useExecutions, useWorld } from '../bridge/stores'
import { goTo, ROOMS, useUi } from '../bridge/ui'
import { keyAction } from './keys'

const SECOND_PRESS_MS = 2000

const isMac = (): boolean => window.nomos.platform === 'darwin'

/** The name of the modifier key on this system. */
export const modifier = (): string => (isMac() ? '⌘' : 'Ctrl')

function typingIn(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type)
}

/** Puts the cursor into the composer, changing to the chat when another room is shown. */
export function focusComposer(): void {
  goTo('chat')
  requestAnimationFrame(() => document.querySelector<HTMLTextAreaElement>('[data-testid="composer"]')?.focus())
}

function walkCards(step: 1 | -1): void {
  const cards = [...document.querySelectorAll<HTMLElement>('main [data-card]')]
  if (cards.length === 0) return
  const current = document.activeElement?.closest<HTMLElement>('[data-card]') ?? null
  const at = current === null ? -1 : cards.indexOf(current)
  // In the chat the newest card is the last one, and the first press should reach it.
  const first = useUi.getState().room === 'chat' ? cards.length - 1 : 0
  const next = at === -1 ? first : Math.min(cards.length - 1, Math.max(0, at + step))
  const card = cards[next]
  card?.scrollIntoView({ block: 'nearest' })
  card?.focus({ preventScroll: true })
  // Only its place is there so far: it is drawn, and takes the focus itself.
  if (card?.dataset.far !== undefined) useUi.setState({ reveal: card.dataset.card ?? null })
}

let armed: { id: string; digest: string; timer: ReturnType<typeof setTimeout> } | null = null

function disarm(): void {
  if (armed !== null) clearTimeout(armed.timer)
  armed = null
  if (useUi.getState().armed !== null) useUi.setState({ armed: null })
}

function onLetter(letter: 'a' | 'd' | 's'): void {
  const card = document.activeElement?.closest<HTMLElement>('[data-card]')
  const { card: id, far, group } = card?.dataset ?? {}
  // A letter answers the one card that is read: no place of a card that is not drawn, and not several at once.
  if (far !== undefined || group !== undefined) return
  const view = id === undefined ? undefined : useExecutions.getState().byId[id]
  if (view === undefined) return
  if (letter === 's') {
    if (view.state === 'running') void stop(view.id)
    return
  }
  const approval = view.approval
  if (view.state !== 'pending_approval' || approval === null) return
  if (letter === 'd') {
    disarm()
    void deny(view)
    return
  }
  // A phrase is typed, never pressed; and what counts as destructive is never approved by letters, whatever it asks for.
  if (approval.outcome !== 'ask' || view.risk === 'destructive') return
  if (armed !== null && armed.id === view.id && armed.digest === approval.digest) {
    disarm()
    void approve(view, null)
    return
  }
  disarm()
  armed = { id: view.id, digest: approval.digest, timer: setTimeout(disarm, SECOND_PRESS_MS) }
  useUi.setState({ armed: view.id })
}

/** Closes the topmost thing only. Open dialogs close themselves. */
function onEscape(): void {
  const ui = useUi.getState()
  if (armed !== null) disarm()
  else if (ui.nowOver) useUi.setState({ nowOver: false })
  else if (ui.listOver) useUi.setState({ listOver: false })
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

/** Listens to the keys of the whole window. */
export function useShortcuts(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return
      const letters = useWorld.getState().settings?.letterShortcuts ?? false
      const action = keyAction(
        {
          key: event.key,
          ctrlKey: event.ctrlKey,
          metaKey: event.metaKey,
          altKey: event.altKey,
          shiftKey: event.shiftKey,
          repeat: event.repeat,
          typing: typingIn(event.target),
          layered: document.querySelector('dialog[open]') !== null,
        },
        letters,
        isMac(),
      )
      if (action === null) return
      if (action.kind !== 'escape') event.preventDefault()
      if (action.kind !== 'letter') disarmUnless(action.kind)
      switch (action.kind) {
        case 'palette':
          useUi.setState((ui) => ({ overlay: ui.overlay === 'palette' ? null : 'palette' }))
          return
        case 'shortcuts':
          useUi.setState({ overlay: 'shortcuts' })
          return
        case 'room': {
          const room = ROOMS[action.index]
          if (room !== undefined) goTo(room)
          return
        }
        case 'composer':
          focusComposer()
          return
        case 'escape':
          onEscape()
          return
        case 'card':
          walkCards(action.step)
          return
        case 'letter':
          onLetter(action.letter)
          return
      }
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

/** Any other key takes back a first `A`; Esc does it by itself, as the topmost thing it closes. */
function disarmUnless(kind: string): void {
  if (kind !== 'escape') disarm()
}
