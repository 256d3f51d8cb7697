import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it, vi } from 'vitest'
import type { ApprovalView, ExecutionView } from '../../src-preload/contract'
import { execution } from '../dev/fixtures'
import { CommandText } from './CommandText'
import { ActionCard } from './card/ActionCard'
import { AlwaysPanel } from './card/AlwaysPanel'
import { BlastLine } from './card/BlastLine'
import { DecodedWords } from './card/DecodedWords'
import { PreviewPanel } from './card/PreviewPanel'
import type { ActionCardProps, CardActions } from './card/props'
import { UndoLine } from './card/UndoLine'
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

  it('in what depends on a place, what can be put back, and previews', () => {
    const preview = { title: LIES, commands: [LIES], text: LIES, truncated: true, note: LIES, at: 1 }
    for (const part of [
      <BlastLine blast={{ targets: [LIES], total: 4, dependents: [{ slug: LIES, kind: LIES, steps: 2 }] }} key="a" />,
      <UndoLine
        key="b"
        undo={{
          verdict: 'part',
          sentence: LIES,
          items: [{ kind: 'file', subject: LIES, canPutBack: true, sentence: LIES, bytes: 3 }],
        }}
      />,
      ...(['text', 'diff', 'count'] as const).map((kind) => (
        <PreviewPanel key={kind} onClose={() => {}} state={{ kind: 'shown', preview: { kind, ...preview } }} />
      )),
      <PreviewPanel
        key="f"
        onClose={() => {}}
        state={{ kind: 'failed', failure: { code: 'conflict', message: LIES, field: null, detail: LIES } }}
      />,
    ]) {
      const html = renderToStaticMarkup(part)
      expect(html).toContain('\\u202E')
      expect(html).not.toMatch(HIDDEN)
    }
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

describe('the card of the desk', () => {
  const card = (view: ExecutionView, more: Partial<ActionCardProps> = {}): string =>
    renderToStaticMarkup(
      <ActionCard
        actions={actions}
        armed={false}
        busy={null}
        madeAgain={false}
        output={null}
        outputOpen
        problem={null}
        view={view}
        {...more}
      />,
    )
  const waiting = (patch: Partial<ExecutionView> = {}, risk: 'config_mutation' | 'destructive' = 'config_mutation') =>
    execution({ id: 'e', command: 'touch x', state: 'pending_approval', risk, patch })
  const order = (html: string, names: readonly string[]): readonly number[] =>
    names.map((name) => html.indexOf(`data-testid="${name}"`))

  it('keeps its order, with Deny before Approve', () => {
    const html = card(
      waiting({
        blast: { targets: ['local'], total: 0, dependents: [] },
        undo: { verdict: 'unknown', sentence: 'Nobody knows.', items: [] },
        preview: 'What touch would do',
      }),
    )
    const places = order(html, [
      'folder',
      'reasons',
      'blast',
      'undo-offer',
      'preview',
      'deny',
      'approve',
      'request-changes',
    ])
    expect(Math.min(...places)).toBeGreaterThan(0)
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(html).not.toMatch(/autofocus|type="submit"[^>]*data-testid="(approve|deny)"/i)
  })

  it('names the folder of every waiting card, the default one too', () => {
    expect(card(waiting({ cwd: null }))).toContain('the default folder of')
    expect(card(waiting({ cwd: '/srv/x' }))).toContain('/srv/x')
    const mine = execution({ id: 'e', command: 'x', state: 'pending_approval', operator: true })
    expect(card({ ...mine, cwd: '/srv/y' })).toContain('/srv/y')
  })

  it('says that nothing is known to depend on it, and counts what is not named', () => {
    expect(card(waiting({ blast: { targets: ['local'], total: 0, dependents: [] } }))).toContain(
      'Nothing is known to depend on it.',
    )
    const html = card(
      waiting({
        blast: { targets: ['host:a'], total: 9, dependents: [{ slug: 'lxc:caddy', kind: 'lxc', steps: 1 }] },
      }),
    )
    expect(html).toContain('lxc:caddy')
    expect(html).toContain('and 8 more')
    expect(html).toContain('8 more are not listed')
    expect(card(waiting())).not.toContain('data-testid="blast"')
  })

  it('has three answers, of which only one takes a note', () => {
    const html = card(waiting())
    expect(html.match(/<textarea/g)).toHaveLength(1)
    expect(html).toContain('data-testid="changes-note"')
    expect(html).not.toContain('Deny with a note')
    expect(card(waiting({}, 'destructive'))).toContain('data-testid="request-changes"')
  })

  it('offers a preview only where there is one', () => {
    expect(card(waiting())).not.toContain('data-testid="preview"')
    expect(card(waiting({ preview: null }))).not.toContain('data-testid="preview"')
    const ended = execution({ id: 'e', command: 'x', state: 'completed', patch: { preview: 'What x would do' } })
    expect(card(ended)).not.toContain('data-testid="preview"')
  })

  it('offers Undo once, then leads to its request, then says that it is gone', () => {
    const ended = (undoState: ExecutionView['undoState']): string =>
      card(execution({ id: 'e', command: 'x', state: 'completed', patch: { undoState: undoState ?? null } }))
    expect(ended(null)).not.toContain('undo-state')
    expect(ended({ state: 'ready', executionId: null, sentence: 'It can.' })).toContain('data-testid="undo"')
    const asked = ended({ state: 'asked', executionId: 'exe_1', sentence: 'It was asked for.' })
    expect(asked).toContain('data-testid="undo-show"')
    expect(asked).not.toContain('data-testid="undo"')
    const gone = ended({ state: 'gone', executionId: null, sentence: 'It is gone.' })
    expect(gone).toContain('It is gone.')
    expect(gone).not.toMatch(/data-testid="undo(-show)?"/)
    expect(card(waiting({ undoOf: 'exe_0' }), { takesBack: 'ufw allow 1' })).toContain('ufw allow 1')
  })

  it('answers a group in one place, and never under the name of one of its cards', () => {
    const html = card(waiting(), { group: { head: '3 identical requests', answer: 'all of them' } })
    expect(html).toContain('data-testid="group-e"')
    expect(html).not.toMatch(/data-testid="(card-e|approve|deny)"/)
  })

  it('quotes the words and says where they were said', () => {
    const view = execution({ id: 'e', command: 'x', state: 'completed' })
    const settlement = { by: 'operator', surface: 'chat' as const, words: 'ok go ahead', note: null, at: 1 }
    const html = card({ ...view, approval: view.approval === null ? null : { ...view.approval, settlement } })
    expect(html).toContain('in the chat')
    expect(html).toContain('ok go ahead')
  })

  it('has a word of its own for each way a question ends without an answer', () => {
    const settled = (state: ExecutionView['state'], to: ApprovalView['state'], by: string): string => {
      const view = execution({ id: 'e', command: 'x', state })
      const note = by === 'fallback' ? 'Nobody can be asked. Decided by the fallback.' : null
      const settlement = { by, surface: 'system' as const, words: null, note, at: 1 }
      const approval = view.approval === null ? null : { ...view.approval, state: to, settlement }
      const html = card({ ...view, stateReason: 'Nobody can be asked.', approval })
      return /data-testid="settlement">(.*?)<\/p>/.exec(html)?.[1]?.replace(/<[^>]*>/g, '') ?? ''
    }
    expect(settled('expired', 'expired', 'time')).toMatch(/^Expired at /)
    const undeliverable = settled('undeliverable', 'cancelled', 'fallback')
    expect(undeliverable).toMatch(/^Closed as undeliverable at /)
    // Said once, as the reason.
    expect(undeliverable).not.toContain('Nobody')
    expect(settled('cancelled', 'cancelled', 'recovery')).toMatch(/^Cancelled by Nomos itself at /)
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
