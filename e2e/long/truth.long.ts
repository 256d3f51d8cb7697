import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadRiskRules } from '../../src-main/adapters/policy-files'
import { corpus, readOnlyOf } from '../truth/commands'
import { loadExceptions } from '../truth/exceptions'
import { measure, summaryOf, told } from '../truth/measure'
import { isolationProblem } from '../truth/root'

const rules = loadRiskRules(resolve(import.meta.dirname, '../../policies/risk'))
const CORPORA = ['everyday', 'reads', 'reads-ops', 'must-not-auto'] as const

/** Another Debian system whose programs are run instead of this machine's: it can hold what nobody wants to install here. */
const tree = process.env.NOMOS_TRUTH_TREE

const problem = isolationProblem()
if (problem !== null) console.warn(problem)

describe.skipIf(problem !== null)('the truth test, whole', () => {
  it('every command that is called read-only does nothing but read', async () => {
    const commands = [...rules.examples.map(({ command }) => command), ...CORPORA.flatMap(corpus)]
    const exceptions = loadExceptions()
    const report = await measure(readOnlyOf(commands, rules), exceptions, {
      ...(tree === undefined ? {} : { tree }),
      limits: { unending: 10_000, others: 20_000 },
    })
    console.log(summaryOf(report))
    const idle = exceptions.filter((exception) => !report.used.has(exception))
    console.log(`exceptions that nothing needed here: ${idle.map(({ reason }) => reason).join(' ')}`)
    expect(told(report)).toEqual([])
    expect(report.unseen).toEqual([])
    expect(report.ran).toBeGreaterThan(500)
  })
})
