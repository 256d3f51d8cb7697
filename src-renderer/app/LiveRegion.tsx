import { useEffect, useRef, useState } from 'react'
import { useExecutions, useWorld } from '../bridge/stores'
import { headOf } from '../parts/command'
import { visibleText } from '../parts/visible'
import { RISK_WORD } from '../parts/words'

/** Tells a screen reader of each new approval, once. What waited already when the window opened is announced as a number. */
export function LiveRegion() {
  const waiting = useExecutions((state) => state.waiting)
  const phase = useWorld((world) => world.phase)
  const told = useRef<Set<string> | null>(null)
  const [text, setText] = useState('')
  useEffect(() => {
    if (phase !== 'ready') return
    if (told.current === null) {
      told.current = new Set(waiting.map((view) => view.approval?.id ?? view.id))
      if (waiting.length > 0) {
        setText(
          waiting.length === 1
            ? 'One request waits for your answer.'
            : `${waiting.length} requests wait for your answer.`,
        )
      }
      return
    }
    const known = told.current
    const fresh = waiting.filter((view) => !known.has(view.approval?.id ?? view.id))
    if (fresh.length === 0) return
    for (const view of fresh) known.add(view.approval?.id ?? view.id)
    const sentences = fresh
      .slice(0, 3)
      .map(
        (view) =>
          `${RISK_WORD[view.risk]} on ${visibleText(view.target)}: ${visibleText(headOf(view.command).line).slice(0, 120)}.`,
      )
    setText(
      `Waiting for your answer: ${sentences.join(' ')}${fresh.length > 3 ? ` And ${fresh.length - 3} more.` : ''}`,
    )
  }, [waiting, phase])
  return (
    <div aria-live="polite" className="visually-hidden" data-testid="announcements" role="status">
      {text}
    </div>
  )
}
