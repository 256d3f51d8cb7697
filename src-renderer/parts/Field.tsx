import { type InputHTMLAttributes, type ReactNode, useId } from 'react'

/** A fault without the technical name of the field it stands at: `"host.port": use a port…` becomes "Use a port…". */
const worded = (error: string): string =>
  error.replace(/^"[\w.]+": (\w?)/, (_whole, first: string) => first.toUpperCase())

/** A labelled text field with its hint and, in its place, what is wrong with it. */
export function Field({
  label,
  hint,
  error,
  testId,
  mono = false,
  children,
  ...input
}: {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | null
  readonly testId?: string
  readonly mono?: boolean
  readonly children?: ReactNode
} & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  const wrong = error !== undefined && error !== null
  const about = wrong ? `${id}-error` : hint === undefined ? undefined : `${id}-hint`
  return (
    <div className="min-w-0">
      <label className="mb-1 block font-medium text-ink" htmlFor={id}>
        {label}
      </label>
      <div className="flex gap-2">
        <input
          aria-describedby={about}
          aria-invalid={wrong}
          autoComplete="off"
          className={`input ${mono ? 'font-mono text-code' : ''}`}
          data-testid={testId}
          id={id}
          spellCheck={false}
          {...input}
        />
        {children}
      </div>
      {wrong ? (
        <p className="mt-1 text-destructive" id={`${id}-error`}>
          {worded(error)}
        </p>
      ) : hint === undefined ? null : (
        <p className="mt-1 text-ink-3" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
