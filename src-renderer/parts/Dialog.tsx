import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Icon } from './icons'

/**
 * A layer over the window, opened only by what the operator does. The browser's own dialog keeps the focus inside, closes the
 * topmost one on Esc and gives the focus back.
 */
export function Dialog({
  title,
  wide = false,
  bare = false,
  onClose,
  children,
}: {
  readonly title: string
  readonly wide?: boolean
  /** Without a visible head; the title is then only spoken. */
  readonly bare?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog === null || dialog.open) return
    dialog.showModal()
    return () => dialog.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it; the click is for the pointer only
    <dialog
      aria-labelledby={id}
      className={`appear fixed inset-x-0 top-[8vh] mx-auto flex max-h-[84vh] flex-col overflow-hidden rounded border border-line bg-panel text-ink shadow-overlay ${wide ? 'w-[min(1100px,94vw)]' : 'w-[min(560px,94vw)]'}`}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
      ref={ref}
    >
      <div className={bare ? 'visually-hidden' : 'flex items-center gap-2 border-line border-b px-4 py-2'}>
        <h2 className="grow font-semibold text-ui" id={id}>
          {title}
        </h2>
        {bare ? null : (
          <button aria-label="Close" className="btn btn-plain btn-small" onClick={onClose} type="button">
            <Icon name="close" size={14} />
          </button>
        )}
      </div>
      {children}
    </dialog>
  )
}
