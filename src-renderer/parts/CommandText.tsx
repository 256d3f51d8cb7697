import { memo } from 'react'
import type { Classification, Risk } from '../../src-preload/contract'
import { segmentsOf } from './command'
import { Visible } from './Visible'

const UNDERLINE: Readonly<Record<Risk, string>> = {
  read_only: 'risky decoration-read-only',
  reversible_low: 'risky decoration-reversible',
  config_mutation: 'risky decoration-change',
  destructive: 'risky decoration-destructive',
}

/** A command exactly as it will be sent: nothing hidden, nothing reordered, the risky parts underlined. */
export const CommandText = memo(function CommandText({
  command,
  spans,
}: {
  readonly command: string
  readonly spans: Classification['spans']
}) {
  return (
    <code className="exact block font-mono text-code text-ink">
      {segmentsOf(command, spans).map((segment, index) =>
        segment.risk === null ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments have no identity but their place
          <Visible key={index} text={segment.text} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments have no identity but their place
          <span className={UNDERLINE[segment.risk]} key={index}>
            <Visible text={segment.text} />
          </span>
        ),
      )}
    </code>
  )
})
