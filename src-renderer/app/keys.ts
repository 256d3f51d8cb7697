/** What a key press means, apart from where it lands. Pure, so that the rules can be tested. */
export type KeyAction =
  | { readonly kind: 'palette' }
  | { readonly kind: 'room'; readonly index: number }
  | { readonly kind: 'shortcuts' }
  | { readonly kind: 'composer' }
  | { readonly kind: 'escape' }
  | { readonly kind: 'card'; readonly step: 1 | -1 }
  | { readonly kind: 'letter'; readonly letter: 'a' | 'd' | 's' }

export interface KeyPress {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
  readonly repeat: boolean
  /** True inside a text field. */
  readonly typing: boolean
  /** True while a layer lies over the window. */
  readonly layered: boolean
}

/** The meaning of a key press, or null. Letters never act inside text fields, on repeat, or when they are switched off. */
export function keyAction(press: KeyPress, letters: boolean, mac: boolean): KeyAction | null {
  const { key, altKey } = press
  const command = mac ? press.metaKey && !press.ctrlKey : press.ctrlKey && !press.metaKey
  if (command && !altKey && !press.shiftKey) {
    if (key.toLowerCase() === 'k') return { kind: 'palette' }
    if (!press.layered && /^[1-6]$/.test(key)) return { kind: 'room', index: Number(key) - 1 }
    return null
  }
  if (press.ctrlKey || press.metaKey || altKey || press.layered) return null
  if (key === 'Escape') return { kind: 'escape' }
  if (press.typing || press.repeat) {
    // Walking along the cards with the key held down is fine; deciding with it is not.
    const walk = key.toLowerCase()
    return !press.typing && letters && (walk === 'j' || walk === 'k')
      ? { kind: 'card', step: walk === 'j' ? 1 : -1 }
      : null
  }
  if (key === '/') return { kind: 'composer' }
  if (key === '?') return { kind: 'shortcuts' }
  if (!letters || press.shiftKey) return null
  switch (key.toLowerCase()) {
    case 'j':
      return { kind: 'card', step: 1 }
    case 'k':
      return { kind: 'card', step: -1 }
    case 'a':
    case 'd':
    case 's':
      return { kind: 'letter', letter: key.toLowerCase() as 'a' | 'd' | 's' }
    default:
      return null
  }
}
