import { useId } from 'react'

/** A switch with its name and what it does. */
export function Switch({
  label,
  name,
  hint,
  on,
  disabled = false,
  testId,
  onChange,
}: {
  readonly label: string
  /** What is spoken in place of the label, where it would not say enough; it begins with the label. */
  readonly name?: string
  readonly hint?: string
  readonly on: boolean
  readonly disabled?: boolean
  readonly testId?: string
  readonly onChange: (on: boolean) => void
}) {
  const id = useId()
  return (
    <div className="flex items-start gap-2">
      <button
        aria-checked={on}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        aria-label={name}
        aria-labelledby={name === undefined ? `${id}-label` : undefined}
        className={`mt-0.5 flex h-4 w-7 shrink-0 items-center rounded-full border px-px ${on ? 'border-ink bg-ink' : 'border-edge bg-raised'} ${disabled ? 'opacity-60' : ''}`}
        data-testid={testId}
        disabled={disabled}
        onClick={() => onChange(!on)}
        role="switch"
        type="button"
      >
        <span
          className={`block h-3 w-3 rounded-full transition-transform duration-[120ms] ${on ? 'translate-x-3 bg-page' : 'bg-ink-2'}`}
        />
      </button>
      <div className="min-w-0">
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the switch beside it takes the keys */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a larger place to click for the switch beside it */}
        <span
          className={disabled ? 'text-ink-3' : 'text-ink'}
          id={`${id}-label`}
          onClick={() => (disabled ? undefined : onChange(!on))}
        >
          {label}
        </span>
        {hint === undefined ? null : (
          <p className="text-meta text-ink-3" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
