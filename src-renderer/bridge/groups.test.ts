import { describe, expect, it } from 'vitest'
import { execution } from '../dev/fixtures'
import { alike, alone, arrange, type Entry, othersLike } from './groups'

const one = (id: string, group?: string) => (group === undefined ? { id } : { id, group })
const entry = (key: string, group: string | null = null, ids: readonly string[] = [key]): Entry => ({ key, group, ids })
const always = (): boolean => true

describe('order of approvals', () => {
  it('puts new ones first and lets nothing else move', () => {
    const shown = [entry('b'), entry('a')]
    expect(arrange(shown, [one('c'), one('b'), one('a')], always)).toEqual([entry('c'), entry('b'), entry('a')])
    expect(arrange(shown, [one('a')], always)).toEqual([entry('b'), entry('a')])
    expect(arrange(shown, [one('c'), one('a')], always)).toEqual([entry('c'), entry('b'), entry('a')])
    expect(arrange(shown, [one('b'), one('a')], always)).toBe(shown)
    const many = Array.from({ length: 80 }, (_, i) => entry(`x${i}`))
    expect(arrange(many, [one('x79')], always)).toHaveLength(51)
  })

  it('makes one entry of identical requests, in the place of the first', () => {
    expect(arrange([], [one('c', 'g'), one('b'), one('a', 'g')], always)).toEqual([
      entry('b'),
      entry('a', 'g', ['a', 'c']),
    ])
    const shown = [entry('b'), entry('a', 'g')]
    expect(arrange(shown, [one('c', 'g'), one('b'), one('a', 'g')], always)).toEqual([
      entry('b'),
      entry('a', 'g', ['a', 'c']),
    ])
  })

  it('never changes an entry that is being used, nor one that is settled', () => {
    const shown = [entry('a', 'g')]
    expect(arrange(shown, [one('b', 'g'), one('a', 'g')], () => false)).toEqual([entry('b', 'g'), entry('a', 'g')])
    expect(arrange(shown, [one('b', 'g')], always)).toEqual([entry('b', 'g'), entry('a', 'g')])
  })

  it('puts what asks for the same together for a short list', () => {
    expect(alike([one('c', 'g'), one('b'), one('a', 'g'), one('x')])).toEqual([
      [one('c', 'g'), one('a', 'g')],
      [one('b')],
      [one('x')],
    ])
  })

  it('keeps requests of old rows, which have no group, apart', () => {
    expect(arrange([], [one('b'), one('a')], always)).toEqual([entry('b'), entry('a')])
  })
})

describe('what may be approved among several', () => {
  const waiting = (patch: object, risk: 'config_mutation' | 'destructive' = 'config_mutation') =>
    execution({ id: 'e', command: 'x', state: 'pending_approval', risk, patch })

  it('is only what may be answered anywhere', () => {
    expect(alone(waiting({ answerAt: 'anywhere' }))).toBeNull()
    expect(alone(waiting({ answerAt: 'card' }))).toContain('own card')
    expect(alone(waiting({ answerAt: 'phrase' }))).toContain('phrase')
    expect(alone(waiting({}))).toContain('own card')
    expect(alone(waiting({ answerAt: 'anywhere' }, 'destructive'))).toContain('cannot be undone')
  })

  it('counts who else waits for the same', () => {
    const a = execution({ id: 'a', command: 'x', state: 'pending_approval', patch: { group: 'g' } })
    const b = execution({ id: 'b', command: 'x', state: 'pending_approval', patch: { group: 'g' } })
    const c = execution({ id: 'c', command: 'x', state: 'pending_approval' })
    expect(othersLike(a, [a, b, c]).map(({ id }) => id)).toEqual(['b'])
    expect(othersLike(c, [a, b, c])).toEqual([])
    expect(othersLike({ ...a, state: 'denied' }, [a, b])).toEqual([])
  })
})
