import { Visible } from './Visible'

const SIGN = { '+': 'added', '-': 'removed' } as const

/** A difference line by line: `- ` was there, `+ ` is there now. Colours of risk say nothing here: what is taken out may be the safer one. */
export function DiffLines({
  lines,
  label,
  testId,
}: {
  readonly lines: readonly string[]
  readonly label: string
  readonly testId?: string
}) {
  return (
    // No landmark: several of the same name may stand on one page.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
    <div
      aria-label={label}
      className="max-h-72 overflow-auto rounded border border-line bg-page py-1"
      data-testid={testId}
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
      tabIndex={0}
    >
      {lines.map((line, index) => {
        const sign = line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : null
        return (
          <div
            className={`exact px-3 font-mono text-code ${sign === '+' ? 'text-ink' : sign === '-' ? 'text-ink-2' : 'text-ink-3'}`}
            data-change={sign === null ? undefined : SIGN[sign]}
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
            key={index}
          >
            <Visible text={line} />
          </div>
        )
      })}
    </div>
  )
}
