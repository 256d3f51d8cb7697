import { memo, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { chunksOf, lineCount } from './chunks'
import { counted, size } from './time'
import { Visible } from './Visible'
import { plainOutput } from './visible'

/** The height of a line of output, as the theme has it. */
const LINE_PX = 18

/**
 * One piece. Older pieces are laid out only when they come into sight; the newest ones always, because the box follows their end
 * and must know where it is.
 */
const ChunkView = memo(function ChunkView({ text, newest }: { readonly text: string; readonly newest: boolean }) {
  return (
    <div
      className={newest ? undefined : 'out-of-sight'}
      style={newest ? undefined : { containIntrinsicBlockSize: `auto ${lineCount(text) * LINE_PX}px` }}
    >
      <Visible text={plainOutput(text)} />
    </div>
  )
})

/** The output text itself, drawn piece by piece. */
export function OutputText({ text, start }: { readonly text: string; readonly start: number }) {
  const chunks = useMemo(() => chunksOf(text, start), [text, start])
  return (
    <>
      {chunks.map((chunk, index) => (
        <ChunkView key={chunk.at} newest={index >= chunks.length - 2} text={chunk.text} />
      ))}
    </>
  )
}

export interface OutputProps {
  readonly text: string
  /** Place of the first shown character; above 0 the beginning is not here. */
  readonly start: number
  readonly bytes: number
  readonly truncated: boolean
  readonly live: boolean
  readonly label: string
  readonly onOpenWhole: () => void
}

/** Output in a bounded box. It follows the end until somebody scrolls up, and again when asked. */
export function OutputPane({ text, start, bytes, truncated, live, label, onOpenWhole }: OutputProps) {
  const box = useRef<HTMLPreElement>(null)
  const [follow, setFollow] = useState(true)
  // What was watched while it ran stays at its end; what had ended before begins at its beginning.
  const watched = useRef(false)
  if (live) watched.current = true
  const [copied, setCopied] = useState(false)
  const lines = useMemo(() => lineCount(text), [text])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the box has to follow whenever the text grows
  useLayoutEffect(() => {
    const pre = box.current
    if (pre !== null && follow && watched.current) pre.scrollTop = pre.scrollHeight
  }, [text, follow, live])

  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), 1500)
      },
      () => setCopied(false),
    )
  }

  const notes = [counted(lines, 'line', 'lines'), `${size(bytes)} in all`]
  if (truncated) notes.push('cut')
  if (start > 0) notes.push('beginning not shown')
  return (
    <div className="min-w-0" data-testid="output">
      {/* biome-ignore lint/a11y/useSemanticElements: a named box of text, not a set of fields */}
      <pre
        aria-label={label}
        className="exact max-h-56 overflow-y-auto rounded border border-line bg-page px-3 py-2 font-mono text-code text-ink"
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget
          setFollow(scrollHeight - scrollTop - clientHeight < 24)
        }}
        ref={box}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {text === '' ? (
          <span className="text-ink-3">{live ? 'No whole line so far' : 'Nothing of it was kept'}</span>
        ) : (
          <OutputText start={start} text={text} />
        )}
      </pre>
      <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-meta text-ink-3">
        <span className="tabular grow">{notes.join(' · ')}</span>
        {live && !follow ? (
          <button className="link" onClick={() => setFollow(true)} type="button">
            Follow the end
          </button>
        ) : null}
        <button className="link" onClick={copy} type="button">
          {copied ? 'Copied' : 'Copy output'}
        </button>
        <button className="link" onClick={onOpenWhole} type="button">
          Open whole
        </button>
      </div>
    </div>
  )
}
