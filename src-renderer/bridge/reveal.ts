import { EXECUTION_ID, revealFromOutside } from './desk'
import { onReveal, ready } from './sync'

/** The execution that an address names; null for any other address. */
export function revealIn(hash: string): string | null {
  const id = /^#reveal=(.*)$/.exec(hash)?.[1] ?? ''
  return EXECUTION_ID.test(id) ? id : null
}

/** Follows what a notice or the tray asks to see: the address at the start, events afterwards. Call once. */
export function startReveal(): void {
  onReveal((id) => void revealFromOutside(id))
  const asked = revealIn(window.location.hash)
  if (window.location.hash === '') return
  // A reload is no second click.
  window.history.replaceState(null, '', window.location.pathname + window.location.search)
  if (asked !== null) void ready.then(() => revealFromOutside(asked))
}
