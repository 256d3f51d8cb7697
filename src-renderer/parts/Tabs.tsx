import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react'

/** Parts of a room, one shown at a time. The arrow keys go from one name to the next. */
export function Tabs<T extends string>({
  label,
  tabs,
  value,
  onChange,
  testId,
  children,
}: {
  readonly label: string
  readonly tabs: readonly { readonly value: T; readonly label: string; readonly count?: number }[]
  readonly value: T
  readonly onChange: (value: T) => void
  /** Test ids are `<testId>-<value>`. */
  readonly testId: string
  readonly children: ReactNode
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const onKey = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.value === value)
    const to =
      event.key === 'ArrowRight'
        ? at + 1
        : event.key === 'ArrowLeft'
          ? at - 1
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? tabs.length - 1
              : null
    if (to === null) return
    const next = tabs[(to + tabs.length) % tabs.length]
    if (next === undefined) return
    event.preventDefault()
    onChange(next.value)
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.value}"]`)?.focus()
  }
  return (
    <>
      <div
        aria-label={label}
        className="flex flex-wrap gap-x-1 border-line border-b"
        onKeyDown={onKey}
        ref={list}
        role="tablist"
      >
        {tabs.map((tab) => {
          const on = tab.value === value
          return (
            <button
              aria-controls={`${id}-panel`}
              aria-selected={on}
              className={`-mb-px whitespace-nowrap border-b-2 px-3 py-1.5 ${on ? 'border-ink font-medium text-ink' : 'border-transparent text-ink-2 hover:text-ink'}`}
              data-tab={tab.value}
              data-testid={`${testId}-${tab.value}`}
              id={`${id}-${tab.value}`}
              key={tab.value}
              onClick={() => onChange(tab.value)}
              role="tab"
              tabIndex={on ? 0 : -1}
              type="button"
            >
              {tab.label}
              {tab.count === undefined || tab.count === 0 ? null : (
                <span className="tabular ml-1.5 text-ink-3">{tab.count}</span>
              )}
            </button>
          )
        })}
      </div>
      <div aria-labelledby={`${id}-${value}`} className="space-y-6" id={`${id}-panel`} role="tabpanel">
        {children}
      </div>
    </>
  )
}
