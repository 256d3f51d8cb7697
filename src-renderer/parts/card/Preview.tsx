import { useRef } from 'react'
import { Visible } from '../Visible'
import { visibleText } from '../visible'
import { nameOf } from './name'
import { PreviewPanel } from './PreviewPanel'
import type { ActionCardProps } from './props'

/** The way to what a command would do, and what was seen there. */
export function Preview({ view, preview = null, actions }: Pick<ActionCardProps, 'view' | 'preview' | 'actions'>) {
  const opener = useRef<HTMLButtonElement>(null)
  const label = view.state === 'pending_approval' ? (view.preview ?? null) : null
  if (label === null && preview === null) return null
  const word = preview?.kind === 'busy' ? 'Looking…' : preview === null ? 'Preview' : 'Preview again'
  const close = (): void => {
    actions.closePreview()
    opener.current?.focus({ preventScroll: true })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes what was opened, wherever in it the focus is
    <div
      className="space-y-2"
      data-keep={preview === null ? undefined : 'true'}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || preview === null) return
        event.preventDefault()
        close()
      }}
    >
      {label === null ? null : (
        <div className="flex flex-wrap items-center gap-2">
          <button
            aria-label={`${word}: ${visibleText(label)}: ${nameOf(view)}`}
            className="btn btn-small"
            data-testid="preview"
            // Not `disabled`: that would take the focus from it while it looks, and Esc would close nothing.
            aria-disabled={preview?.kind === 'busy'}
            onClick={() => (preview?.kind === 'busy' ? undefined : actions.preview())}
            ref={opener}
            type="button"
          >
            {word}
          </button>
          <span className="min-w-0 break-words text-ink-2">
            <Visible text={label} />
          </span>
        </div>
      )}
      {preview === null ? null : <PreviewPanel onClose={close} state={preview} />}
    </div>
  )
}
