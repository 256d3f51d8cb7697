import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { rangesOf } from './find'
import { OutputText } from './OutputPane'

const FOUND = 'found'
const CURRENT = 'found-current'

/** A long output with a search in it. What is found is marked by the browser's own highlights: no element is added or moved. */
export function OutputReader({ text, start }: { readonly text: string; readonly start: number }) {
  const box = useRef<HTMLPreElement>(null)
  const [wanted, setWanted] = useState('')
  const [ranges, setRanges] = useState<readonly Range[]>([])
  const [at, setAt] = useState(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: new text holds new places
  useEffect(() => {
    // Typing is not slowed down by looking through megabytes for each letter.
    const timer = setTimeout(() => {
      setRanges(box.current === null ? [] : rangesOf(box.current, wanted))
      setAt(0)
    }, 120)
    return () => clearTimeout(timer)
  }, [wanted, text])

  useEffect(() => {
    CSS.highlights.set(FOUND, new Highlight(...ranges))
    const current = ranges[at]
    CSS.highlights.set(CURRENT, new Highlight(...(current === undefined ? [] : [current])))
    const show = (): void => {
      const pre = box.current
      if (current === undefined || pre === null) return
      const place = current.getBoundingClientRect()
      const frame = pre.getBoundingClientRect()
      if (place.top >= frame.top && place.bottom <= frame.bottom) return
      pre.scrollTop += place.top - frame.top - frame.height / 2
    }
    show()
    // Pieces that were out of sight had an estimated height; once they are laid out the place may have moved.
    const later = requestAnimationFrame(() => requestAnimationFrame(show))
    return () => {
      cancelAnimationFrame(later)
      CSS.highlights.delete(FOUND)
      CSS.highlights.delete(CURRENT)
    }
  }, [ranges, at])

  const step = (by: number): void => {
    if (ranges.length > 0) setAt((at + by + ranges.length) % ranges.length)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
    event.preventDefault()
    step(event.shiftKey ? -1 : 1)
  }
  return (
    <>
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b px-4 py-2">
        <input
          aria-label="Search in the output"
          className="input max-w-72"
          data-testid="output-search"
          onChange={(event) => setWanted(event.target.value)}
          onKeyDown={onKey}
          placeholder="Search in the output"
          spellCheck={false}
          value={wanted}
        />
        <button className="btn" disabled={ranges.length === 0} onClick={() => step(-1)} type="button">
          Previous
        </button>
        <button className="btn" disabled={ranges.length === 0} onClick={() => step(1)} type="button">
          Next
        </button>
        <span className="tabular text-ink-2" role="status">
          {wanted === ''
            ? ''
            : ranges.length === 0
              ? 'not found'
              : `${at + 1} of ${ranges.length >= 2000 ? 'over 2,000' : ranges.length}`}
        </span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a named box of text, not a set of fields */}
      <pre
        aria-label="Whole output"
        className="exact min-h-24 grow overflow-auto bg-page px-4 py-3 font-mono text-code"
        ref={box}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <OutputText start={start} text={text} />
      </pre>
    </>
  )
}
