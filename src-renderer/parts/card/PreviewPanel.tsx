import type { Failure, PreviewView } from '../../../src-preload/contract'
import { DiffLines } from '../DiffLines'
import { FailureText } from '../FailureText'
import { clock } from '../time'
import { Visible } from '../Visible'
import { visibleText } from '../visible'

/** What is known of a preview that was asked for. */
export type PreviewState =
  | { readonly kind: 'busy' }
  | { readonly kind: 'shown'; readonly preview: PreviewView }
  | { readonly kind: 'failed'; readonly failure: Failure }

function Body({ preview }: { readonly preview: PreviewView }) {
  const { kind, text, title } = preview
  if (text === '')
    return <p className="text-ink-2">{kind === 'diff' ? 'Nothing would change.' : 'It showed nothing.'}</p>
  if (kind === 'diff') return <DiffLines label={visibleText(title)} lines={text.replace(/\n$/, '').split('\n')} />
  if (kind === 'count') {
    return (
      <p className="tabular whitespace-pre-wrap break-words text-ink text-read" data-testid="preview-count">
        <Visible text={text} />
      </p>
    )
  }
  return (
    // No landmark: the same preview may stand on several cards.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
    <div
      aria-label={visibleText(title)}
      className="max-h-72 overflow-auto rounded border border-line bg-page px-3 py-2"
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
      tabIndex={0}
    >
      <code className="exact block font-mono text-code text-ink">
        <Visible text={text} />
      </code>
    </div>
  )
}

/** What a command would do, as far as it can be shown without doing it. It stands in its place on the card and takes no focus. */
export function PreviewPanel({ state, onClose }: { readonly state: PreviewState; readonly onClose: () => void }) {
  return (
    <div className="space-y-2 rounded border border-edge px-3 py-2.5" data-testid="preview-panel">
      {state.kind === 'busy' ? <p className="text-ink-2">Looking at what it would do…</p> : null}
      {state.kind === 'failed' ? <FailureText failure={state.failure} testId="preview-failed" /> : null}
      {state.kind === 'shown' ? (
        <>
          <p className="break-words font-medium text-ink">
            <Visible text={state.preview.title} />
            <span className="tabular font-normal text-ink-3"> · seen at {clock(state.preview.at, Date.now())}</span>
          </p>
          <Body preview={state.preview} />
          {state.preview.truncated ? <p className="text-ink-2">There was more than is shown here.</p> : null}
          {state.preview.note === null ? null : (
            <p className="break-words text-ink-2">
              <Visible text={state.preview.note} />
            </p>
          )}
          {state.preview.commands.length === 0 ? null : (
            <div className="text-meta text-ink-3">
              <p>Run for this, and only reads:</p>
              <ul>
                {state.preview.commands.map((command, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the same read may have been needed twice
                  <li key={index}>
                    <code className="exact font-mono text-ink-2">
                      <Visible text={command} />
                    </code>
                  </li>
                ))}
              </ul>
            </div>
          )}
        </>
      ) : null}
      <button className="btn btn-plain btn-small" data-testid="preview-close" onClick={onClose} type="button">
        Close
      </button>
    </div>
  )
}
