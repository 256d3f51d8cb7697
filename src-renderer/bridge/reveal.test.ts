import { describe, expect, it } from 'vitest'
import { revealIn } from './reveal'

describe('the address a window starts with', () => {
  it('names one execution, and nothing else', () => {
    expect(revealIn('#reveal=exe_01j9zk')).toBe('exe_01j9zk')
    for (const hash of [
      '',
      '#',
      '#reveal=',
      '#reveal=exe_',
      '#reveal=exe_A',
      '#reveal=exe_1/../x',
      '#reveal=exe_1 ',
      'reveal=exe_1',
      '#reveal=exe_1\n',
      '#x#reveal=exe_1',
    ])
      expect(revealIn(hash)).toBeNull()
  })
})
