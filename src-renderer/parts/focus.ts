/** Pictures that a control may take to go away; after that it stays. */
const MOST_FRAMES = 60

/**
 * Puts the keyboard back where it was used when the control that holds it goes away in the next moments. Whoever takes the focus
 * meanwhile keeps it.
 */
export function focusIfLost(find: () => HTMLElement | null | undefined): void {
  const held = document.activeElement
  let frames = 0
  const look = (): void => {
    const now = document.activeElement
    if (now !== held && now !== null && now !== document.body) return
    if (now === null || now === document.body) {
      const place = find()
      place?.focus({ preventScroll: true })
      if (place !== null && place !== undefined && document.activeElement === place) return
    }
    frames += 1
    if (frames < MOST_FRAMES) requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

/** A control by its name for tests. */
export const byTestId = (name: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-testid="${CSS.escape(name)}"]`)
