/**
 * Puts the keyboard back where it was used when the control that held it has gone. What still holds the focus keeps it. `find` is asked
 * after the next picture, when everything stands where it will stand.
 */
export function focusIfLost(find: () => HTMLElement | null | undefined): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const held = document.activeElement
      if (held !== null && held !== document.body && document.contains(held)) return
      find()?.focus({ preventScroll: true })
    }),
  )
}

/** A control by its name for tests. */
export const byTestId = (name: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-testid="${CSS.escape(name)}"]`)
