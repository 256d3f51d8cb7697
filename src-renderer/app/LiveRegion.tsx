import { useEffect, useRef, useState } from 'react'
import type { ExecutionView } from '../../src-preload/contract'
import { useExecutions, useWorld } from '../bridge/stores'
import { headOf } from '../parts/command'
import { visibleText } from '../parts/visible'
import { RISK_WORD } from '../parts/words'

/** Requests that come this close together are told as a number. */
const BURST_MS = 400

/** What is said of new requests: the one in words, several as a number. */
export function announcement(fresh: readonly ExecutionView[], waiting: number): string {
  const [first] = fresh
  if (first === undefined) return ''
  if (fresh.length === 1) {
    const line = visibleText(headOf(first.command).line).slice(0, 120)
    return `Waiting for your answer: ${RISK_WORD[first.risk]} on ${visibleText(first.target)}: ${line}.`
  }
  return waiting > fresh.length
    ? `${fresh.length} more requests wait for your answer, ${waiting} in all.`
    : `${waiting} requests wait for your answer.`
}

/** Tells a screen reader of each new approval, once. What waited already when the window opened is announced as a number. */
export function LiveRegion() {
  const waiting = useExecutions((state) => state.waiting)
  const phase = useWorld((world) => world.phase)
  const told = useRef<Set<string> | null>(null)
  const latest = useRef(waiting)
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const [text, setText] = useState('')
  useEffect(() => {
    latest.current = waiting
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
    if (timer.current !== null || waiting.every((view) => known.has(view.approval?.id ?? view.id))) return
    timer.current = setTimeout(() => {
      timer.current = null
      const fresh = latest.current.filter((view) => !known.has(view.approval?.id ?? view.id))
      for (const view of fresh) known.add(view.approval?.id ?? view.id)
      if (fresh.length > 0) setText(announcement(fresh, latest.current.length))
    }, BURST_MS)
  }, [waiting, phase])
  return (
    <div aria-live="polite" className="visually-hidden" data-testid="announcements" role="status">
      {text}
    </div>
  )
}
