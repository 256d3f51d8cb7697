import { useId } from 'react'
import { Visible } from './Visible'

/** Where a phrase has to be typed before something dangerous. */
export function PhraseField({
  purpose,
  phrase,
  value,
  onChange,
  testId,
  className = '',
}: {
  /** How the label begins: "To run it". */
  readonly purpose: string
  readonly phrase: string
  readonly value: string
  readonly onChange: (typed: string) => void
  readonly testId: string
  readonly className?: string
}) {
  const id = useId()
  return (
    <div className="min-w-0">
      <label className="mb-1 block text-ink-2" htmlFor={id}>
        {purpose}, type{' '}
        <code className="rounded-sm bg-raised px-1 font-mono text-code text-ink">
          <Visible text={phrase} />
        </code>
      </label>
      <input
        autoComplete="off"
        className={`input font-mono text-code ${className}`}
        data-testid={testId}
        id={id}
        onChange={(event) => onChange(event.target.value)}
        spellCheck={false}
        value={value}
      />
    </div>
  )
}
