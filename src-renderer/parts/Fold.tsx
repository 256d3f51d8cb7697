import { type ReactNode, useId, useState } from 'react'
import { Icon } from './icons'

/** A line that opens what stands under it. */
export function Fold({
  label,
  open: openAtFirst = false,
  children,
}: {
  readonly label: ReactNode
  readonly open?: boolean
  readonly children: ReactNode
}) {
  const [open, setOpen] = useState(openAtFirst)
  const id = useId()
  return (
    <div className="min-w-0">
      <button
        aria-controls={id}
        aria-expanded={open}
        className="flex max-w-full items-start gap-1 rounded text-left text-ink-2 hover:text-ink"
        onClick={() => setOpen(!open)}
        type="button"
      >
        <Icon className={`mt-1 ${open ? 'rotate-90' : ''}`} name="chevron" size={12} />
        <span className="min-w-0">{label}</span>
      </button>
      <div className="pl-4" hidden={!open} id={id}>
        {open ? children : null}
      </div>
    </div>
  )
}
