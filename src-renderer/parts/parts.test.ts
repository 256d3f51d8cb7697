import { describe, expect, it } from 'vitest'
import { execution } from '../dev/fixtures'
import { chunksOf, lineCount } from './chunks'
import { headOf, segmentsOf } from './command'
import { placesOf } from './find'
import { ago, clock, duration, size, timeLeft } from './time'
import { cardOnlyWord, cardState, flagWords } from './words'

describe('segments of a command', () => {
  it('cover the whole command, with the highest risk where spans overlap', () => {
    const segments = segmentsOf('rm -rf /x && ls', [
      { start: 0, end: 9, risk: 'config_mutation' },
      { start: 3, end: 6, risk: 'destructive' },
    ])
    expect(segments).toEqual([
      { text: 'rm ', risk: 'config_mutation', kind: null },
      { text: '-rf', risk: 'destructive', kind: null },
      { text: ' /x', risk: 'config_mutation', kind: null },
      { text: ' && ls', risk: null, kind: null },
    ])
  })

  it('are cut at tokens too, and keep the marks of risk', () => {
    const tokens = [
      { start: 0, end: 2, kind: 'program' as const },
      { start: 3, end: 6, kind: 'option' as const },
      { start: 7, end: 99, kind: 'argument' as const },
    ]
    const spans = [{ start: 0, end: 6, risk: 'destructive' as const }]
    expect(segmentsOf('rm -rf /x', spans, tokens)).toEqual([
      { text: 'rm', risk: 'destructive', kind: 'program' },
      { text: ' ', risk: 'destructive', kind: null },
      { text: '-rf', risk: 'destructive', kind: 'option' },
      { text: ' ', risk: null, kind: null },
      { text: '/x', risk: null, kind: 'argument' },
    ])
    const marked = (list: ReturnType<typeof segmentsOf>) =>
      list.map(({ text, risk }) => (risk === null ? ' '.repeat(text.length) : text)).join('')
    expect(marked(segmentsOf('rm -rf /x', spans, tokens))).toBe(marked(segmentsOf('rm -rf /x', spans)))
  })

  it('survive spans that do not fit the text', () => {
    expect(segmentsOf('ls', [{ start: -4, end: 90, risk: 'destructive' }])).toEqual([
      { text: 'ls', risk: 'destructive', kind: null },
    ])
    expect(segmentsOf('ls', [{ start: 2, end: 1, risk: 'destructive' }])).toEqual([
      { text: 'ls', risk: null, kind: null },
    ])
    expect(segmentsOf('', [{ start: 0, end: 1, risk: 'destructive' }])).toEqual([])
    expect(headOf('a\nb\nc')).toEqual({ line: 'a', more: 2 })
  })
})

describe('chunks of output', () => {
  it('keep their places and texts while output grows', () => {
    const text = Array.from({ length: 900 }, (_, i) => `line ${i}\n`).join('')
    const before = chunksOf(text.slice(0, 6000), 0, 1000)
    const after = chunksOf(text, 0, 1000)
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
    expect(after.map((chunk) => chunk.text).join('')).toBe(text)
    expect(chunksOf('x'.repeat(10_000), 5, 1000).map((chunk) => chunk.at)).toEqual([5, 4005, 8005])
  })

  it('count lines', () => {
    expect([lineCount(''), lineCount('a'), lineCount('a\n'), lineCount('a\nb'), lineCount('\n\n')]).toEqual([
      0, 1, 1, 2, 2,
    ])
  })
})

describe('search', () => {
  it('finds without regard to case, and keeps the places right where letters change their length', () => {
    expect(placesOf('Error error ERROR', 'error')).toEqual([0, 6, 12])
    expect(placesOf('aaaa', 'aa')).toEqual([0, 2])
    expect(placesOf('İİ error', 'error')).toEqual([3])
    expect(placesOf('x', '')).toEqual([])
    expect(placesOf('x'.repeat(50), 'x', 7)).toHaveLength(7)
  })
})

describe('times', () => {
  it('say durations', () => {
    expect(duration(0)).toBe('0 s')
    expect(duration(412)).toBe('412 ms')
    expect(duration(4200)).toBe('4.2 s')
    expect(duration(9999)).toBe('10 s')
    expect(duration(185_000)).toBe('3 min 05 s')
    expect(duration(2 * 3_600_000 + 600_000)).toBe('2 h 10 min')
    expect(duration(100 * 3_600_000)).toBe('4 d 4 h')
    expect(duration(4900, true)).toBe('4 s')
    expect(duration(-5, true)).toBe('0 s')
  })

  it('say what is left', () => {
    expect(timeLeft(1000 + 3_599_000, 1000)).toBe('59 min left')
    expect(timeLeft(45_500, 0)).toBe('46 s left')
    expect(timeLeft(3 * 3_600_000, 0)).toBe('3 h left')
    expect(timeLeft(30 * 86_400_000 - 5000, 0)).toBe('30 days left')
    expect(timeLeft(5, 5)).toBeNull()
  })

  it('say when', () => {
    const now = new Date(2026, 2, 3, 14, 2, 9).getTime()
    expect(clock(now - 60_000, now)).toBe('14:01')
    expect(clock(new Date(2026, 1, 1, 9, 5).getTime(), now)).toBe('1 Feb 09:05')
    expect(clock(new Date(2024, 1, 1, 9, 5).getTime(), now)).toBe('1 Feb 2024 09:05')
    expect(ago(now - 30_000, now)).toBe('now')
    expect(ago(now - 300_000, now)).toBe('5 min')
    expect(ago(now - 3 * 86_400_000, now)).toBe('3 d')
    expect(ago(new Date(2026, 1, 1).getTime(), now)).toBe('1 Feb')
  })

  it('say sizes', () => {
    expect([size(0), size(1), size(1023), size(2048), size(5_242_880)]).toEqual([
      '0 bytes',
      '1 byte',
      '1023 bytes',
      '2.0 KB',
      '5.0 MB',
    ])
  })
})

describe('words', () => {
  it('show a revoked approval as revoked', () => {
    const view = execution({ id: 'a', command: 'a', state: 'cancelled' })
    expect(cardState(view)).toBe('cancelled')
    const approval = view.approval
    expect(approval === null ? null : cardState({ ...view, approval: { ...approval, state: 'revoked' } })).toBe(
      'revoked',
    )
  })

  it('say the flags that are set', () => {
    const { flags } = execution({ id: 'a', command: 'a', state: 'running' }).classification
    expect(flagWords(flags)).toEqual([])
    expect(flagWords({ ...flags, self: true, compound: true })).toHaveLength(2)
  })
})

describe('why a card is answered on it alone', () => {
  const at = (rule: string, answerAt: 'card' | 'anywhere' = 'card') => {
    const view = execution({ id: 'e', command: 'x', state: 'pending_approval', patch: { answerAt } })
    const step = { layer: 'target' as const, rule, verdict: 'ask', sentence: '', spans: [] }
    return cardOnlyWord({ ...view, decision: { ...view.decision, trace: [...view.decision.trace, step] } })
  }

  it('is what the decision says', () => {
    expect(at('dependents')).toBe('Answered here only: others depend on it.')
    expect(at('prod')).toContain('tagged prod')
    expect(at('self')).toContain('Nomos itself')
    expect(at('other')).toContain('Answered here only')
    expect(at('dependents', 'anywhere')).toBeNull()
    expect(cardOnlyWord(execution({ id: 'e', command: 'x', state: 'pending_approval' }))).toBeNull()
  })

  it('is that it cannot be undone, whatever else is true', () => {
    const view = execution({ id: 'e', command: 'rm x', state: 'pending_approval', risk: 'destructive' })
    expect(cardOnlyWord({ ...view, answerAt: 'card' })).toContain('cannot be undone')
  })
})
