import { type ReactNode, useId } from 'react'

/** One of a few, as radio buttons in a line or under each other. */
export function Choice<T extends string>({
  legend,
  options,
  value,
  onChange,
  testId,
  stacked = false,
}: {
  readonly legend: ReactNode
  readonly options: readonly {
    readonly value: T
    readonly label: ReactNode
    readonly hint?: string
    readonly disabled?: boolean
  }[]
  readonly value: T
  readonly onChange: (value: T) => void
  /** Test ids are `<testId>-<value>`. */
  readonly testId: string
  readonly stacked?: boolean
}) {
  const id = useId()
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-ink-2">{legend}</legend>
      <div className={stacked ? 'space-y-1' : 'flex flex-wrap gap-x-4 gap-y-1'}>
        {options.map((option) => (
          <div className="flex items-start gap-2" key={option.value}>
            <input
              aria-describedby={option.hint === undefined ? undefined : `${id}-${option.value}-hint`}
              checked={option.value === value}
              className="mt-1"
              data-testid={`${testId}-${option.value}`}
              disabled={option.disabled}
              id={`${id}-${option.value}`}
              name={id}
              onChange={() => onChange(option.value)}
              type="radio"
            />
            <div className="min-w-0">
              <label className={option.disabled === true ? 'text-ink-3' : ''} htmlFor={`${id}-${option.value}`}>
                {option.label}
              </label>
              {option.hint === undefined ? null : (
                <p className="text-meta text-ink-3" id={`${id}-${option.value}-hint`}>
                  {option.hint}
                </p>
              )}
            </div>
          </div>
        ))}
      </div>
    </fieldset>
  )
}
