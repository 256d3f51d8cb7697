import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** So far beyond the edge of what scrolls a card is drawn already. */
const MARGIN = '1200px 0px'

const observers = new WeakMap<Element, IntersectionObserver>()
const heard = new WeakMap<Element, (near: boolean) => void>()

function observerOf(root: Element): IntersectionObserver {
  const have = observers.get(root)
  if (have !== undefined) return have
  const made = new IntersectionObserver(
    (entries) => {
      // At once: what has no focus now may have it a moment later, and must not be taken away then.
      flushSync(() => {
        for (const { target, isIntersecting } of entries) heard.get(target)?.(isIntersecting)
      })
    },
    { root, rootMargin: MARGIN },
  )
  observers.set(root, made)
  return made
}

/**
 * Draws what it holds only near the part that is in sight; elsewhere a box of the same height stands for it. Everything stays in the
 * flow, so that the browser keeps what is read in its place when something above changes its height. What holds the focus, or an answer
 * that was begun (`data-keep`), stays drawn. It needs a scrolling ancestor with `data-scroller`.
 */
export function Near({
  name,
  always,
  wanted,
  first,
  guess,
  far,
  children,
}: {
  /** What `data-card` is, so that the keyboard can walk to it. */
  readonly name: string
  /** Draws it wherever it is: a short list needs none of this. */
  readonly always: boolean
  /** Somebody asks to see it now. */
  readonly wanted: boolean
  /** It begins drawn, because it stands where the list begins. */
  readonly first: boolean
  readonly guess: number
  /** One line that stands for it. */
  readonly far: ReactNode
  readonly children: ReactNode
}) {
  const box = useRef<HTMLDivElement>(null)
  const height = useRef(guess)
  const [near, setNear] = useState(first || always)
  useEffect(() => {
    const element = box.current
    const root = element?.closest('[data-scroller]') ?? null
    if (always || element === null || root === null) return
    heard.set(element, (now) => {
      if (!now) {
        if (element.contains(document.activeElement) || element.querySelector('[data-keep]') !== null) return
        const drawn = element.getBoundingClientRect().height
        if (drawn > 0) height.current = drawn
      }
      setNear(now)
    })
    const observer = observerOf(root)
    observer.observe(element)
    return () => {
      observer.unobserve(element)
      heard.delete(element)
    }
  }, [always])
  // It stays when it is no longer asked for: by then it is in sight.
  useLayoutEffect(() => {
    if (wanted) setNear(true)
  }, [wanted])
  const drawn = near || always || wanted
  return (
    <div ref={box}>
      {drawn ? (
        children
      ) : (
        <div
          className="overflow-hidden rounded border border-line bg-panel px-3 py-2.5"
          data-card={name}
          data-far="true"
          style={{ height: height.current }}
          tabIndex={-1}
        >
          {far}
        </div>
      )}
    </div>
  )
}
