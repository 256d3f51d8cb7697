import { type ReactNode, type SelectHTMLAttributes, useId } from 'react'

/** A labelled list to pick one from. */
export function Pick({
  label,
  hint,
  testId,
  options,
  className,
  ...select
}: {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly testId?: string
  readonly options: readonly { readonly value: string; readonly label: string }[]
} & Omit<SelectHTMLAttributes<HTMLSelectElement>, 'children'>) {
  const id = useId()
  return (
    <div className={`min-w-0 ${className ?? ''}`}>
      <label className="mb-1 block font-medium text-ink" htmlFor={id}>
        {label}
      </label>
      <select
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="input"
        data-testid={testId}
        id={id}
        {...select}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {hint === undefined ? null : (
        <p className="mt-1 text-meta text-ink-3" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
