import { type RefObject, useEffect } from 'react'
import type { ExecutionView, Shown } from '../../src-preload/contract'
import { request } from './client'
import { type Place, Sight } from './sight'

/** Several cards come into sight at once; one message a moment later is enough. */
const TELL_AFTER_MS = 150
const MOST_AT_ONCE = 1000
/** A card counts as seen when half of it was in sight, or all of the place where it is answered. */
const HALF = 0.5
const WHOLE = 0.98

const sight = new Sight()
let timer: ReturnType<typeof setTimeout> | null = null

function tellLater(): void {
  if (timer === null) timer = setTimeout(tell, TELL_AFTER_MS)
}

function tell(): void {
  timer = null
  const items = sight.untold()
  for (let at = 0; at < items.length; at += MOST_AT_ONCE) {
    const part = items.slice(at, at + MOST_AT_ONCE)
    request('approvals.shown', { items: [...part] }).catch(() => sight.forget(part))
  }
}

/** Another core was started: what the one before was told, this one does not know. */
export function tellAgain(): void {
  sight.forget()
  tellLater()
}

interface Spot {
  readonly key: object
  readonly needs: number
}

const spots = new WeakMap<Element, Spot>()
/** For each thing that is drawn, the elements of it that are enough in sight. */
const lit = new WeakMap<object, Set<Element>>()
let observer: IntersectionObserver | null = null

function observing(): IntersectionObserver {
  if (observer !== null) return observer
  sight.visible(document.visibilityState === 'visible')
  document.addEventListener('visibilitychange', () => {
    sight.visible(document.visibilityState === 'visible')
    tellLater()
  })
  observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, intersectionRatio } of entries) {
        const spot = spots.get(target)
        const on = spot === undefined ? undefined : lit.get(spot.key)
        if (spot === undefined || on === undefined) continue
        if (isIntersecting && intersectionRatio >= spot.needs) on.add(target)
        else on.delete(target)
        sight.sighted(spot.key, on.size > 0)
      }
      tellLater()
    },
    { threshold: [0, HALF, WHOLE] },
  )
  return observer
}

/** The approval of a card as it is shown; null when it does not wait. */
export const shownOf = (view: ExecutionView): Shown | null =>
  view.state === 'pending_approval' && view.approval?.state === 'pending'
    ? { id: view.approval.id, digest: view.approval.digest }
    : null

/**
 * Says that an element stands for these waiting requests, as long as it is there. With `answers`, the part of it that can be pressed
 * counts as the whole.
 */
export function useSeen(
  element: RefObject<Element | null>,
  items: readonly Shown[],
  place: Place,
  answers: string | null = null,
): void {
  const key = items.map(({ id, digest }) => `${id} ${digest}`).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` is what the items say
  useEffect(() => {
    const whole = element.current
    if (whole === null || items.length === 0) return
    const part = answers === null ? null : whole.querySelector(answers)
    const drawn = {}
    const watch = observing()
    sight.put(drawn, items, place)
    lit.set(drawn, new Set())
    const parts: readonly (readonly [Element, number])[] =
      part === null
        ? [[whole, HALF]]
        : [
            [whole, HALF],
            [part, WHOLE],
          ]
    for (const [target, needs] of parts) {
      spots.set(target, { key: drawn, needs })
      watch.observe(target)
    }
    return () => {
      for (const [target] of parts) {
        watch.unobserve(target)
        spots.delete(target)
      }
      sight.drop(drawn)
    }
  }, [element, key, place, answers])
}

/** The cards of the open conversation that somebody can have seen: what words may reach. */
export const seenInConversation = (): readonly Shown[] => sight.inConversation()
