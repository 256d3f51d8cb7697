import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadRiskRules } from '../src-main/adapters/policy-files'
import { readOnlyOf } from './truth/commands'
import { loadExceptions } from './truth/exceptions'
import { measure, summaryOf, told } from './truth/measure'
import { isolationProblem } from './truth/root'

const rules = loadRiskRules(resolve(import.meta.dirname, '../policies/risk'))

/** Of the examples beyond the first of each program, every so many are run here; `npm run test:long` runs all. */
const SPREAD = 5

const problem = isolationProblem()
if (problem !== null) console.warn(problem)

/** What is called a read is one: our own examples are run, and every call that changes something or talks to somebody is seen. */
describe.skipIf(problem !== null)('the truth test', () => {
  it('examples that are called read-only do nothing but read', { timeout: 300_000 }, async () => {
    const seen = new Set<string>()
    let rest = 0
    const commands = rules.examples
      .filter(({ rule }) => {
        if (seen.has(rule)) return rest++ % SPREAD === 0
        seen.add(rule)
        return true
      })
      .map(({ command }) => command)
    const report = await measure(readOnlyOf(commands, rules), loadExceptions(), {
      limits: { unending: 500, others: 3000 },
    })
    console.log(summaryOf(report))
    expect(told(report)).toEqual([])
    expect(report.unseen).toEqual([])
    expect(report.ran).toBeGreaterThan(100)
  })
})
