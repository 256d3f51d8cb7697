import { useState } from 'react'
import type { ExecutionView } from '../../../src-preload/contract'
import { CommandText } from '../CommandText'
import { DecodedWords } from './DecodedWords'
import { Place } from './Place'

/** A settled card need not show 200 lines; one that waits for an answer always does. */
const LINES_WHEN_SETTLED = 12

/** The command as it would run; whole for as long as it waits. */
export function Command({ view, highlight }: { readonly view: ExecutionView; readonly highlight: boolean }) {
  const [whole, setWhole] = useState(false)
  const lines = view.command.split('\n')
  const short =
    view.state !== 'pending_approval' && !whole && (lines.length > LINES_WHEN_SETTLED + 2 || view.command.length > 4000)
  const shown = short ? lines.slice(0, LINES_WHEN_SETTLED).join('\n').slice(0, 4000) : view.command
  return (
    <div className="rounded border border-line bg-page px-3 py-2">
      {view.command === '' ? (
        <span className="text-ink-3">an empty command</span>
      ) : (
        <CommandText command={shown} spans={view.classification.spans} tokens={highlight ? view.tokens : undefined} />
      )}
      {view.argv === null || view.argv === undefined ? null : (
        <div className="mt-1.5">
          <DecodedWords argv={view.argv} />
        </div>
      )}
      {short ? (
        <button className="link mt-1" onClick={() => setWhole(true)} type="button">
          Show the whole command ({lines.length} lines)
        </button>
      ) : null}
    </div>
  )
}

/** What belongs to the command without standing in it: the folder it runs in, and what runs afterwards to confirm it. */
export function CommandContext({ view }: { readonly view: ExecutionView }) {
  const waits = view.state === 'pending_approval'
  const folder = waits || (view.principal.kind !== 'operator' && view.cwd !== null)
  if (!folder && view.verify === null) return null
  return (
    <div className="space-y-0.5 text-ink-2">
      {folder ? (
        <p className="break-words" data-testid="folder">
          <span className="text-ink-3">in </span>
          {view.cwd === null ? (
            <>
              the default folder of <Place value={view.target} />
            </>
          ) : (
            <Place value={view.cwd} />
          )}
        </p>
      ) : null}
      {view.verify === null ? null : (
        <p className="break-words" data-testid="verify">
          <span className="text-ink-3">then confirms with </span>
          <Place value={view.verify} />
        </p>
      )}
    </div>
  )
}
