import { memo } from 'react'
import type { Classification, Risk, Token, TokenKind } from '../../src-preload/contract'
import { segmentsOf } from './command'
import { Visible } from './Visible'

const UNDERLINE: Readonly<Record<Risk, string>> = {
  read_only: 'risky decoration-read-only',
  reversible_low: 'risky decoration-reversible',
  config_mutation: 'risky decoration-change',
  destructive: 'risky decoration-destructive',
}

const COLOUR: Readonly<Record<TokenKind, string>> = {
  program: 'code-program',
  argument: '',
  option: 'code-option',
  string: 'code-string',
  variable: 'code-variable',
  operator: 'code-sign',
  redirection: 'code-sign',
  keyword: 'code-sign',
  comment: 'code-comment',
}

/**
 * A command exactly as it will be sent: nothing hidden, nothing reordered, the risky parts underlined. With `tokens` its parts are
 * coloured as well; the underlines are the same with and without.
 */
export const CommandText = memo(function CommandText({
  command,
  spans,
  tokens,
}: {
  readonly command: string
  readonly spans: Classification['spans']
  readonly tokens?: readonly Token[] | undefined
}) {
  return (
    <code className="exact block font-mono text-code text-ink">
      {segmentsOf(command, spans, tokens).map(({ text, risk, kind }, index) => {
        const look = `${risk === null ? '' : UNDERLINE[risk]} ${kind === null ? '' : COLOUR[kind]}`.trim()
        return look === '' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments have no identity but their place
          <Visible key={index} text={text} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments have no identity but their place
          <span className={look} key={index}>
            <Visible text={text} />
          </span>
        )
      })}
    </code>
  )
})
