import { describe, expect, it } from 'vitest'
import { countVitest, exitCodeFor, failuresOf, readReport, sumCounts, summaryLine } from './results.mjs'

const report = (more) => ({ numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, testResults: [], ...more })

describe('counting a vitest run', () => {
  it('takes the numbers of a good run', () => {
    const counts = countVitest(report({ numPendingTests: 2, numTodoTests: 1 }), { ok: true })
    expect(counts).toEqual({ passed: 5, failed: 0, skipped: 3 })
  })

  it('counts failed cases', () => {
    const testResults = [{ status: 'failed', assertionResults: [{ status: 'failed' }, { status: 'failed' }] }]
    expect(countVitest(report({ numFailedTests: 2, testResults }), { ok: false }).failed).toBe(2)
  })

  it('counts a file that could not be loaded as one failure', () => {
    const testResults = [{ status: 'failed', assertionResults: [] }, { status: 'failed' }, { status: 'passed' }]
    expect(countVitest(report({ testResults }), { ok: false }).failed).toBe(2)
  })

  it('counts an error outside of every test as one failure', () => {
    expect(countVitest(report(), { ok: false })).toEqual({ passed: 5, failed: 1, skipped: 0 })
  })

  it.each([undefined, null, {}, { numPassedTests: 5 }, { numPassedTests: '5', numFailedTests: 0, testResults: [] }])(
    'takes the report %j for a crash, even after a good exit',
    (broken) => {
      expect(countVitest(broken, { ok: true })).toEqual({ passed: 0, failed: 1, skipped: 0 })
    },
  )

  it('finds no report where there is none', () => {
    expect(readReport('/does/not/exist.json')).toBeUndefined()
  })
})

describe('what failed', () => {
  it('is named by file and case, with the beginning of its message and without colours', () => {
    const testResults = [
      { name: '/p/a.test.ts', status: 'passed', assertionResults: [{ status: 'passed', fullName: 'good' }] },
      {
        name: '/p/b.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'fine' },
          {
            status: 'failed',
            fullName: 'adds up',
            failureMessages: ['\u001b[31mexpected 3\u001b[39m\n\n  at b.test.ts:4'],
          },
        ],
      },
      { name: '/p/c.test.ts', status: 'failed', message: 'x'.repeat(2_000), assertionResults: [] },
    ]
    const [first, second, ...more] = failuresOf(report({ testResults }), '/p')
    expect(first).toBe('b.test.ts > adds up\n    expected 3\n      at b.test.ts:4')
    expect(second).toMatch(/^c\.test\.ts\n {4}x{600}…$/)
    expect(more).toEqual([])
  })

  it('is nothing where there is no report', () => {
    expect(failuresOf(undefined)).toEqual([])
  })
})

describe('the sum', () => {
  it('adds up and ends with the agreed line', () => {
    const total = sumCounts([
      { passed: 1, failed: 0, skipped: 0 },
      { passed: 40, failed: 2, skipped: 3 },
    ])
    expect(total).toEqual({ passed: 41, failed: 2, skipped: 3 })
    expect(summaryLine(total)).toBe('41 passed, 2 failed')
  })

  it('fails when something failed and when nothing ran', () => {
    expect(exitCodeFor({ passed: 3, failed: 0 })).toBe(0)
    expect(exitCodeFor({ passed: 3, failed: 1 })).toBe(1)
    expect(exitCodeFor(sumCounts([]))).toBe(1)
  })
})
