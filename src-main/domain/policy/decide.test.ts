import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ASKS, OUTCOMES, type Outcome, RISKS, SECURITIES } from '../../../src-preload/contract/model'
import { CAUTIOUS, CLOSED, decide, fallbackOf, mergeLayers, type PolicyLayer, type Question, tableRow } from '.'

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

/**
 * The table of the design once more, as text, read by code that shares nothing with the engine. A row's conditions, then what happens
 * to a read, a change and what cannot be undone; `-` goes on to the next row.
 */
const TABLE = `
security=deny                                      | deny | deny | deny
tool=denied                                        | deny | deny | deny
ask=always                                         | ask  | ask  | confirm
everything=asked                                   | ask  | ask  | confirm
strict=yes inline=yes ask=off                      | -    | deny | confirm
strict=yes inline=yes                              | -    | ask  | confirm
matched=yes self=no                                | auto | auto | confirm
security=allowlist ask=on-miss reads=auto          | auto | ask  | confirm
security=allowlist ask=on-miss                     | ask  | ask  | confirm
security=allowlist ask=off reads=auto              | auto | deny | deny
security=allowlist ask=off                         | deny | deny | deny
security=full ask=on-miss                          | auto | ask  | confirm
security=full ask=off                              | auto | auto | confirm
`
const TABLE_ROWS = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))

function tableSays(facts: Readonly<Record<string, string>>, at: 1 | 2 | 3): string {
  for (const row of TABLE_ROWS) {
    const holds = (row[0] as string).split(/ +/).every((one) => {
      const [name, value] = one.split('=') as [string, string]
      return facts[name] === value
    })
    if (holds && row[at] !== '-') return row[at] as string
  }
  throw new Error('no row')
}

describe('every combination', () => {
  const both = [false, true]
  const yes = (one: boolean): string => (one ? 'yes' : 'no')
  function* combinations(): Generator<{ q: Question; l: PolicyLayer }> {
    for (const security of SECURITIES)
      for (const ask of ASKS)
        for (const askFallback of ['deny', 'allowlist', 'full'] as const)
          for (const autoAllowReadOnly of both)
            for (const riskGate of both)
              for (const strictInlineEval of both)
                for (const risk of RISKS)
                  for (const matched of both)
                    for (const inlineEval of both)
                      for (const self of both)
                        for (const toolDenied of both)
                          for (const askAboutEverything of both)
                            for (const pauseAutomatic of both)
                              for (const tags of [[], ['prod']])
                                yield {
                                  l: { security, ask, askFallback, autoAllowReadOnly, riskGate, strictInlineEval },
                                  q: {
                                    risk,
                                    self,
                                    inlineEval,
                                    matched,
                                    toolDenied,
                                    switches: { askAboutEverything, pauseAutomatic },
                                    target: { slug: 'local', tags, dependents: 0 },
                                  },
                                }
  }
  const facts = (q: Question, l: PolicyLayer): Record<string, string> => ({
    security: l.security,
    ask: l.ask,
    reads: l.autoAllowReadOnly ? 'auto' : 'asked',
    strict: yes(l.strictInlineEval),
    tool: q.toolDenied ? 'denied' : 'allowed',
    everything: q.switches.askAboutEverything ? 'asked' : 'as usual',
    inline: yes(q.inlineEval),
    matched: yes(q.matched),
    self: yes(q.self),
  })
  const ORDER = ['auto', 'ask', 'confirm', 'deny']

  it('is what the table says', () => {
    let count = 0
    const wrong: string[] = []
    for (const { q, l } of combinations()) {
      count += 1
      const last = q.self || (q.risk === 'destructive' && l.riskGate)
      const at = last ? 3 : q.risk === 'read_only' ? 1 : 2
      let expected = ORDER.indexOf(tableSays(facts(q, l), at))
      if (q.self) expected = Math.max(expected, 2)
      if (q.risk !== 'read_only' && q.target.tags.length > 0) expected = Math.max(expected, 1)
      if (q.switches.pauseAutomatic) expected = Math.max(expected, 1)
      const { outcome } = decide(q, [{ name: 'host-policy', layer: l }])
      if (outcome !== ORDER[expected] && wrong.length < 5)
        wrong.push(`${JSON.stringify({ q, l })}: ${outcome}, not ${ORDER[expected]}`)
    }
    expect(wrong).toEqual([])
    expect(count).toBe(3 * 3 * 3 * 4 * 2 ** 10)
  })

  it('without anybody to ask, runs only what the fallback lets run', () => {
    const wrong: string[] = []
    let ran = 0
    for (const { q, l } of combinations()) {
      const layers = [{ name: 'host-policy' as const, layer: l }]
      const { outcome } = decide(q, layers)
      const { run } = fallbackOf(q, layers, outcome)
      const quiet = !q.switches.askAboutEverything && !q.switches.pauseAutomatic
      const may =
        outcome === 'ask' &&
        quiet &&
        !q.self &&
        q.risk !== 'destructive' &&
        (q.risk === 'read_only' || q.target.tags.length === 0) &&
        (l.askFallback === 'full' ||
          (l.askFallback === 'allowlist' &&
            q.matched &&
            !(l.strictInlineEval && q.inlineEval && q.risk !== 'read_only')))
      if (run) ran += 1
      if (run !== may && wrong.length < 5) wrong.push(JSON.stringify({ q, l, outcome, run }))
    }
    expect(wrong).toEqual([])
    expect(ran).toBeGreaterThan(100)
  })

  it('two layers: the strictest of their merge and of each alone, whatever their order', () => {
    fc.assert(
      fc.property(layer, layer, layer, question, (a, b, c, q) => {
        const named = (some: readonly PolicyLayer[]) =>
          some.map((one) => ({ name: 'host-policy' as const, layer: one }))
        expect(mergeLayers(mergeLayers(a, b), c)).toEqual(mergeLayers(a, mergeLayers(b, c)))
        const outcome = decide(q, named([a, b, c])).outcome
        expect(decide(q, named([c, a, b])).outcome).toBe(outcome)
        expect(decide(q, named([a, b, b, c, a])).outcome).toBe(outcome)
        expect(rank(outcome)).toBeGreaterThanOrEqual(rank(decide(q, named([a, b])).outcome))
      }),
    )
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
