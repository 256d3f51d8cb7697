import { useEffect, useState } from 'react'
import type { PolicyDraft } from '../../../src-preload/contract'
import { FailureText } from '../../parts/FailureText'
import { Fold } from '../../parts/Fold'
import { Visible } from '../../parts/Visible'
import { visibleText } from '../../parts/visible'
import { OUTCOME_WORD } from '../../parts/words'
import { replaySentence } from './replay-words'
import { type ReplayState, replay } from './room'

const AFTER_TYPING_MS = 250

/** What a change that is not saved would have meant for what ran. */
export function ReplayLine({ agent, draft }: { readonly agent: string | null; readonly draft: PolicyDraft }) {
  const [state, setState] = useState<ReplayState>({ kind: 'reading' })
  const text = JSON.stringify(draft)
  useEffect(() => {
    let gone = false
    setState({ kind: 'reading' })
    const timer = setTimeout(() => {
      void replay(agent, JSON.parse(text) as PolicyDraft).then((next) => (gone ? undefined : setState(next)))
    }, AFTER_TYPING_MS)
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [agent, text])
  if (state.kind === 'failed') return <FailureText failure={state.failure} testId="replay-failed" />
  if (state.kind === 'reading') return <p className="text-ink-3">Holding this against what ran…</p>
  const { examples, destructiveAmongThem } = state.replay
  return (
    <div className="space-y-1">
      <p aria-live="polite" className={destructiveAmongThem > 0 ? 'text-destructive' : 'text-ink'} data-testid="replay">
        {replaySentence(state.replay)}
      </p>
      {examples.length === 0 ? null : (
        <Fold label={examples.length === 1 ? 'The one' : `${examples.length} of them`}>
          <ul className="mt-1 space-y-1" data-testid="replay-examples">
            {examples.map((example) => (
              <li className="grid gap-x-3 mid:grid-cols-[minmax(0,1fr)_auto]" key={example.executionId}>
                <code className="logical block truncate font-mono text-code" title={visibleText(example.command)}>
                  <Visible text={example.command} />
                </code>
                <span className="text-ink-2">
                  {OUTCOME_WORD[example.before]} → {OUTCOME_WORD[example.after]}
                </span>
              </li>
            ))}
          </ul>
        </Fold>
      )}
    </div>
  )
}
