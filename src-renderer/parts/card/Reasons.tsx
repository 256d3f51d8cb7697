import type { ReactNode } from 'react'
import type { ExecutionView } from '../../../src-preload/contract'
import { rankOf } from '../command'
import { Fold } from '../Fold'
import { RISK_COLOUR, RiskSign } from '../icons'
import { Visible } from '../Visible'
import { effectWord, flagWords, layerWord, OUTCOME_WORD, RISK_WORD } from '../words'
import { Place } from './Place'

function Facts({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
      {rows.map(([name, value]) => (
        <div className="contents" key={name}>
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Findings that are read first among those of one class: the text is not what it seems, or reaches Nomos. */
const ALARMS: ReadonlySet<string> = new Set(['self', 'invisible', 'nul'])

/** Why it counts as this risky and what became of it: a line, and on demand every reason, fact and step of the decision. */
export function Reasons({ view }: { readonly view: ExecutionView }) {
  const { classification, decision } = view
  const reasons = [...classification.reasons].sort(
    (a, b) => rankOf(b.risk) - rankOf(a.risk) || Number(ALARMS.has(b.rule)) - Number(ALARMS.has(a.rule)),
  )
  const first = reasons[0]
  const flags = flagWords(classification.flags)
  const effects = classification.effects.slice(0, 2).map(effectWord)
  const more = Math.max(0, classification.effects.length - effects.length)
  const line = [
    first?.sentence ?? `Counts as ${RISK_WORD[view.risk]}.`,
    ...(effects.length > 0 ? [`${effects.join(', ')}${more > 0 ? ` and ${more} more` : ''}`] : []),
  ]
  return (
    <Fold
      label={
        <span className="line-clamp-2 break-words">
          <Visible text={line.join(' · ')} />
        </span>
      }
    >
      <div className="mt-1 space-y-2 text-ink-2" data-testid="reasons">
        {reasons.length === 0 ? null : (
          <ul className="space-y-0.5">
            {reasons.map((reason, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same rule may speak twice of different places
              <li className="flex gap-1.5" key={index}>
                <span className="mt-[3px]">
                  <RiskSign risk={reason.risk} />
                </span>
                <span className="min-w-0 break-words">
                  <span className={RISK_COLOUR[reason.risk]}>{RISK_WORD[reason.risk]}</span>{' '}
                  <Visible text={reason.sentence} />{' '}
                  <code className="logical font-mono text-code text-ink-3">
                    <Visible text={reason.rule} />
                  </code>
                </span>
              </li>
            ))}
          </ul>
        )}
        <Facts
          rows={[
            ...(classification.effects.length === 0
              ? []
              : ([['effects', <Visible key="e" text={classification.effects.map(effectWord).join(', ')} />]] as const)),
            ...(flags.length === 0 ? [] : ([['this command', flags.join(', ')]] as const)),
            ['understood', classification.coverage === 'full' ? 'all of its text' : 'only a part of its text'],
            ['declared risk', view.declaredRisk ?? 'none'],
            ['folder', <Place key="c" value={view.cwd} />],
            ['user', <Place key="u" value={view.user} />],
            ['decision', OUTCOME_WORD[decision.outcome]],
            ...(view.redacted ? ([['secrets', 'taken out of what is shown here']] as const) : []),
            [
              'request',
              <code className="font-mono text-code" key="i">
                {view.id}
              </code>,
            ],
          ]}
        />
        {decision.trace.length === 0 ? null : (
          <ol className="space-y-0.5">
            {decision.trace.map((step, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place
              <li className="break-words" key={index}>
                <span className="text-ink-3">{layerWord(step.layer)}: </span>
                <Visible text={step.sentence} />{' '}
                <code className="logical font-mono text-code text-ink-3">
                  <Visible text={step.rule} />
                </code>
              </li>
            ))}
          </ol>
        )}
      </div>
    </Fold>
  )
}
