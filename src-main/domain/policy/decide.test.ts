import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ASKS, OUTCOMES, type Outcome, RISKS, SECURITIES } from '../../../src-preload/contract/model'
import {
  ApprovalsFile,
  CAUTIOUS,
  CLOSED,
  decide,
  hostLayer,
  mergeLayers,
  type PolicyLayer,
  type Question,
  tableRow,
} from '.'

const layer = fc.record({
  security: fc.constantFrom(...SECURITIES),
  ask: fc.constantFrom(...ASKS),
  askFallback: fc.constantFrom('deny' as const, 'allowlist' as const, 'full' as const),
  autoAllowReadOnly: fc.boolean(),
  riskGate: fc.boolean(),
  strictInlineEval: fc.boolean(),
})
const question = fc.record({
  risk: fc.constantFrom(...RISKS),
  self: fc.boolean(),
  inlineEval: fc.boolean(),
  matched: fc.boolean(),
  toolDenied: fc.boolean(),
  switches: fc.record({ askAboutEverything: fc.boolean(), pauseAutomatic: fc.boolean() }),
  target: fc.record({ slug: fc.constant('local'), tags: fc.constantFrom([], ['prod']), dependents: fc.nat(8) }),
})
const plain: Question = {
  risk: 'read_only',
  self: false,
  inlineEval: false,
  matched: false,
  toolDenied: false,
  switches: { askAboutEverything: false, pauseAutomatic: false },
  target: { slug: 'local', tags: [], dependents: 0 },
}
const rank = (outcome: Outcome): number => OUTCOMES.indexOf(outcome)

describe('the table', () => {
  // Rows of the table as it is printed in the design: layer, then read, change, destructive.
  const rows: [string, Partial<PolicyLayer>, Partial<Question>, Outcome, Outcome, Outcome][] = [
    ['deny', { security: 'deny' }, {}, 'deny', 'deny', 'deny'],
    ['tool denied', { security: 'full', ask: 'off' }, { toolDenied: true }, 'deny', 'deny', 'deny'],
    ['ask always', { security: 'full', ask: 'always' }, { matched: true }, 'ask', 'ask', 'confirm'],
    [
      'ask about everything',
      { security: 'full', ask: 'off' },
      { switches: { askAboutEverything: true, pauseAutomatic: false } },
      'ask',
      'ask',
      'confirm',
    ],
    [
      'inline, asking',
      { security: 'full', ask: 'on-miss' },
      { inlineEval: true, matched: true },
      'auto',
      'ask',
      'confirm',
    ],
    ['inline, off', { security: 'full', ask: 'off' }, { inlineEval: true, matched: true }, 'auto', 'deny', 'confirm'],
    ['allowlisted', { security: 'allowlist', ask: 'off' }, { matched: true }, 'auto', 'auto', 'confirm'],
    ['allowlist on-miss', { security: 'allowlist', ask: 'on-miss' }, {}, 'auto', 'ask', 'confirm'],
    [
      'allowlist on-miss, reads not automatic',
      { security: 'allowlist', ask: 'on-miss', autoAllowReadOnly: false },
      {},
      'ask',
      'ask',
      'confirm',
    ],
    ['allowlist off', { security: 'allowlist', ask: 'off' }, {}, 'auto', 'deny', 'deny'],
    [
      'allowlist off, reads not automatic',
      { security: 'allowlist', ask: 'off', autoAllowReadOnly: false },
      {},
      'deny',
      'deny',
      'deny',
    ],
    ['full on-miss', { security: 'full', ask: 'on-miss' }, {}, 'auto', 'ask', 'confirm'],
    ['full off', { security: 'full', ask: 'off' }, {}, 'auto', 'auto', 'confirm'],
    ['no risk gate', { security: 'full', ask: 'off', riskGate: false }, {}, 'auto', 'auto', 'auto'],
    ['no risk gate, on-miss', { security: 'full', ask: 'on-miss', riskGate: false }, {}, 'auto', 'ask', 'ask'],
  ]
  it.each(rows)('%s', (_name, change, asked, read, changed, destructive) => {
    const at = { ...CAUTIOUS, ...change }
    const answer = (risk: Question['risk']) => tableRow({ ...plain, ...asked, risk }, at).outcome
    expect([answer('read_only'), answer('reversible_low'), answer('config_mutation'), answer('destructive')]).toEqual([
      read,
      changed,
      changed,
      destructive,
    ])
  })
})

describe('the merge', () => {
  it('is idempotent, order-free and never looser than either', () => {
    fc.assert(
      fc.property(layer, layer, question, (a, b, q) => {
        expect(mergeLayers(a, a)).toEqual(a)
        expect(mergeLayers(a, b)).toEqual(mergeLayers(b, a))
        const both = decide(q, [
          { name: 'requested-policy', layer: a },
          { name: 'host-policy', layer: b },
        ])
        for (const one of [a, b]) {
          expect(rank(both.outcome)).toBeGreaterThanOrEqual(
            rank(decide(q, [{ name: 'host-policy', layer: one }]).outcome),
          )
        }
      }),
    )
  })
})

describe('the verdict', () => {
  it('never runs by itself what reaches Nomos, what cannot be undone under a risk gate, or a change on prod', () => {
    fc.assert(
      fc.property(layer, question, (l, q) => {
        const { outcome } = decide(q, [{ name: 'host-policy', layer: l }])
        if (q.self) expect(rank(outcome)).toBeGreaterThanOrEqual(rank('confirm'))
        if (q.risk === 'destructive' && l.riskGate) expect(rank(outcome)).toBeGreaterThanOrEqual(rank('confirm'))
        if (q.risk !== 'read_only' && (q.target.tags.length > 0 || q.target.dependents >= 5))
          expect(outcome).not.toBe('auto')
        if (q.switches.pauseAutomatic || q.switches.askAboutEverything) expect(outcome).not.toBe('auto')
      }),
    )
  })
  it('never loosens when the class rises', () => {
    fc.assert(
      fc.property(layer, question, fc.nat(2), (l, q, step) => {
        const higher = RISKS[Math.min(3, RISKS.indexOf(q.risk) + step)] ?? 'destructive'
        const at = (risk: Question['risk']) => rank(decide({ ...q, risk }, [{ name: 'host-policy', layer: l }]).outcome)
        // "deny when ask is off" stands in the change column of an inline program only; the destructive column confirms there.
        if (l.strictInlineEval && q.inlineEval && l.ask === 'off') return
        expect(at(higher)).toBeGreaterThanOrEqual(at(q.risk))
      }),
    )
  })
  it('denies everything when the file is broken', () => {
    fc.assert(
      fc.property(layer, question, (l, q) => {
        const layers = [
          { name: 'requested-policy' as const, layer: l },
          { name: 'host-policy' as const, layer: CLOSED },
        ]
        expect(decide(q, layers).outcome).toBe('deny')
      }),
    )
  })
})

describe('the file', () => {
  it('fills what is omitted: the agent, then the defaults, then cautious', () => {
    const file = ApprovalsFile.parse({
      version: 1,
      kept: 1,
      defaults: { ask: 'always' },
      agents: { main: { security: 'full', allowlist: [] } },
    })
    expect(hostLayer(file, 'main')).toEqual({ ...CAUTIOUS, security: 'full', ask: 'always' })
    expect(hostLayer(file, 'other')).toEqual({ ...CAUTIOUS, ask: 'always' })
    expect(hostLayer(null, 'main')).toEqual(CAUTIOUS)
    expect(file.kept).toBe(1)
  })
  it('refuses values that are not of the list', () => {
    const wrong = ApprovalsFile.safeParse({ version: 1, defaults: { security: 'fulll' } })
    expect(wrong.success).toBe(false)
    expect(wrong.error?.issues[0]?.path).toEqual(['defaults', 'security'])
  })
})
