import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it, vi } from 'vitest'
import { execution } from '../dev/fixtures'
import { ActionCard, type CardActions } from './ActionCard'
import { AlwaysPanel } from './AlwaysPanel'
import { CommandText } from './CommandText'
import { DecodedWords } from './DecodedWords'
import { FailureText } from './FailureText'
import { Markdown } from './Markdown'
import { OutputText } from './OutputPane'

// What is folded away is looked at as well.
vi.mock('./Fold', () => ({
  Fold: ({ label, children }: { readonly label: ReactNode; readonly children: ReactNode }) => (
    <div>
      {label}
      {children}
    </div>
  ),
}))

// A surface that shows what somebody else wrote may hold none of these as such.
const LIES = '\u202egnp.exe\u202c\u200b\u2066\u0007\u0085\ue000\u{f0000}\ufeff\u00ad\u2028\u{e0041}'
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202e\u2066-\u2069\ue000-\uf8ff\ufeff]|[\u{e0000}-\u{e0fff}]|[\u{f0000}-\u{10ffff}]/u

const actions: CardActions = {
  approve: () => {},
  deny: () => {},
  requestChanges: () => {},
  preview: () => {},
  closePreview: () => {},
  undo: () => {},
  show: () => {},
  showAlike: () => {},
  askAlways: () => {},
  approveAlways: () => {},
  grant: () => {},
  stop: () => {},
  start: () => {},
  again: () => {},
  openWhole: () => {},
  showAgain: () => {},
}

function lying(state: 'pending_approval' | 'failed' | 'denied') {
  const view = execution({ id: 'e', command: `rm -rf ${LIES}`, state, risk: 'destructive', purpose: LIES })
  const span = { start: 7, end: 7 + LIES.length }
  return {
    ...view,
    target: `host:${LIES}`,
    cwd: `/srv/${LIES}`,
    user: LIES,
    verify: `ls ${LIES}`,
    stateReason: `Because of ${LIES}`,
    output: `out ${LIES}`,
    outputBytes: 30,
    sandbox: 'files',
    principal: { ...view.principal, kind: 'mcp' as const, id: `mcp:${LIES}` },
    argv: [
      [
        { text: 'rm', known: true },
        { text: LIES, known: true },
      ],
    ],
    classification: {
      ...view.classification,
      reasons: [{ rule: `program:${LIES}`, risk: 'destructive' as const, span, sentence: LIES }],
      effects: [{ kind: 'delete' as const, detail: LIES }],
      spans: [{ ...span, risk: 'destructive' as const }],
    },
    decision: {
      ...view.decision,
      trace: [{ layer: 'table' as const, rule: LIES, verdict: 'ask', sentence: LIES, spans: [] }],
    },
    approval:
      view.approval === null
        ? null
        : {
            ...view.approval,
            phrase: `rm ${LIES}`,
            settlement: { by: LIES, surface: 'cli' as const, words: LIES, note: LIES, at: 1 },
          },
  }
}

describe('nothing hides', () => {
  it.each(['pending_approval', 'failed', 'denied'] as const)('on a card that is %s', (state) => {
    const html = renderToStaticMarkup(
      <ActionCard
        actions={actions}
        armed={false}
        busy={null}
        highlight
        madeAgain={false}
        output={null}
        outputOpen
        problem={{ code: 'internal', message: LIES, field: null, detail: null }}
        view={lying(state)}
      />,
    )
    expect(html).toContain('\\u202E')
    expect(html).toContain('\\uE000')
    expect(html).toContain('sandboxed')
    expect(HIDDEN.exec(html)?.index ?? -1).toBe(-1)
  })

  it('in what "Always…" would store, or why it would not', () => {
    const view = lying('pending_approval')
    const entry = { pattern: LIES, argPattern: LIES, commandText: LIES, scope: { target: LIES } }
    for (const state of [
      { kind: 'offer' as const, offer: { entries: [entry], refusal: null } },
      { kind: 'offer' as const, offer: { entries: [], refusal: LIES } },
    ]) {
      const html = renderToStaticMarkup(
        <AlwaysPanel
          busy={false}
          onApprove={() => {}}
          onClose={() => {}}
          onGrant={() => {}}
          state={state}
          view={{ ...view, principal: { ...view.principal, kind: 'mcp', id: `mcp:${LIES}` } }}
        />,
      )
      expect(html).toContain('\\u202E')
      expect(html).not.toMatch(HIDDEN)
      expect(html.includes('always-confirm')).toBe(state.offer.refusal === null)
    }
  })

  it('never offers "Always…" for what cannot be undone', () => {
    const card = (risk: 'destructive' | 'config_mutation'): string =>
      renderToStaticMarkup(
        <ActionCard
          actions={actions}
          armed={false}
          busy={null}
          madeAgain={false}
          output={null}
          outputOpen
          problem={null}
          view={execution({ id: 'e', command: 'rm x', state: 'pending_approval', risk })}
        />,
      )
    expect(card('destructive')).not.toContain('data-testid="always"')
    expect(card('config_mutation')).toContain('data-testid="always"')
  })

  it('in decoded words, output, chat and failures', () => {
    for (const part of [
      <DecodedWords argv={[[{ text: LIES, known: true }]]} key="a" />,
      <OutputText key="b" start={0} text={LIES} />,
      <Markdown key="c" text={`# ${LIES}\n\n- **${LIES}** \`${LIES}\`\n\n\`\`\`${LIES}\n${LIES}\n\`\`\``} />,
      <FailureText failure={{ code: 'internal', message: LIES, field: null, detail: LIES }} key="d" />,
    ])
      expect(renderToStaticMarkup(part)).not.toMatch(HIDDEN)
  })
})

describe('a command with and without colours', () => {
  const command = 'sudo rm -rf "$HOME/x" | cat # all'
  const spans = [{ start: 5, end: 21, risk: 'destructive' as const }]
  const tokens = [
    { start: 0, end: 4, kind: 'program' as const },
    { start: 5, end: 7, kind: 'program' as const },
    { start: 8, end: 11, kind: 'option' as const },
    { start: 12, end: 21, kind: 'string' as const },
    { start: 22, end: 23, kind: 'operator' as const },
    { start: 28, end: 33, kind: 'comment' as const },
  ]
  const text = (html: string): string => html.replace(/<[^>]*>/g, '')
  const underlined = (html: string): string =>
    [...html.matchAll(/<span class="([^"]*)">([^<]*)<\/span>/g)]
      .filter(([, look]) => look?.includes('decoration-destructive'))
      .map(([, , part]) => part)
      .join('')

  it('says the same, with the same marks of risk', () => {
    const plain = renderToStaticMarkup(<CommandText command={command} spans={spans} />)
    const colours = renderToStaticMarkup(<CommandText command={command} spans={spans} tokens={tokens} />)
    expect(text(colours)).toBe(text(plain))
    expect(underlined(plain).replaceAll('&quot;', '"')).toBe('rm -rf "$HOME/x"')
    expect(underlined(colours)).toBe(underlined(plain))
    expect(plain).not.toContain('code-')
    expect(colours).toContain('code-comment')
  })
})
