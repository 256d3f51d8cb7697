import { describe, expect, it } from 'vitest'
import { median } from './bench/window.mjs'
import { loadBenches } from './bench.mjs'
import { parseArguments, planSteps } from './test.mjs'

describe('the arguments of npm test', () => {
  it('are a filter, except --long', () => {
    expect(parseArguments([])).toEqual({ long: false, filter: [] })
    expect(parseArguments(['--long', 'gate'])).toEqual({ long: true, filter: ['gate'] })
    expect(parseArguments(['-t', 'a name'])).toEqual({ long: false, filter: ['-t', 'a name'] })
  })

  it('decide which steps there are', () => {
    const names = (options) => planSteps(options).map((step) => step.name)
    expect(names({ long: false, filter: [] })).toEqual(['typecheck', 'lint', 'unit', 'end to end'])
    expect(names({ long: true, filter: [] })).toHaveLength(6)
    const left = planSteps({ long: false, filter: ['gate'] }).filter((step) => step.unless === 'a filter was given')
    expect(left.map((step) => step.name)).toEqual(['typecheck', 'lint'])
  })
})

describe('benches', () => {
  it('are found by name, and an unknown name tells the known ones', async () => {
    expect((await loadBenches(['window'])).map((bench) => bench.name)).toEqual(['window'])
    await expect(loadBenches(['windows'])).rejects.toThrow('There is no bench named windows')
  })

  it('compute a median', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
  })
})
