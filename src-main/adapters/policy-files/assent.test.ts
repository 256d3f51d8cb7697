import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAssent } from '../../domain/approval'
import { lintPolicies, loadAssent, RuleFileError } from './index'

const shipped = join(import.meta.dirname, '../../../policies')
const text = readFileSync(join(shipped, 'assent.yaml'), 'utf8')
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nomos-assent-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Where in the file a line begins with these words. */
const lineOf = (words: string, whole = text): number =>
  whole.split('\n').findIndex((line) => line.startsWith(words)) + 1

function failure(changed: string): RuleFileError {
  writeFileSync(join(folder, 'assent.yaml'), changed)
  try {
    loadAssent(folder)
  } catch (error) {
    if (error instanceof RuleFileError) return error
    throw error
  }
  throw new Error('the file was taken')
}

describe('loadAssent', () => {
  it('reads the shipped grammar', () => {
    const grammar = loadAssent(shipped)
    expect(readAssent(grammar, 'OK go ahead and run it.')).toEqual({ kind: 'grant' })
    expect(readAssent(grammar, 'no')).toEqual({ kind: 'deny' })
  })

  it('says that a file is not there, which one and why', () => {
    expect(() => loadAssent(join(folder, 'nowhere'))).toThrow(/^assent\.yaml: ENOENT/)
  })

  it.each([
    ['broken YAML', text.replace('longest: 200', 'longest: "200'), null, null],
    ['no table', 'x', null, null],
    ['an unknown field', `${text}colour: red\n`, 'colour:', 'colour'],
    ['a wrong type', text.replace('longest: 200', 'longest: many'), 'longest:', 'longest'],
    ['capital letters', text.replace('  - yep\n', '  - Yep\n'), '  - Yep', 'grant.1'],
    [
      'a phrase that denies among those that grant',
      text.replace('  - yep\n', '  - nope then\n'),
      '  - nope then',
      'grant.1',
    ],
    ['a filler that is a question', text.replace('  - pls\n', '  - why\n'), '  - why', 'fillers.1'],
    ['a double', text.replace('  - yup\n', '  - yep\n'), null, 'grant.3'],
  ])('names file, line and field of %s', (_what, changed, start, field) => {
    expect(changed).not.toBe(text)
    const error = failure(changed)
    expect(error.file).toBe('assent.yaml')
    expect(error.message).toMatch(/^assent\.yaml/)
    expect(error.field).toBe(field)
    if (start !== null) expect(error.line).toBe(lineOf(start, changed))
  })

  it('starts with an example that does not hold, which only lint tells', () => {
    const changed = text.replace('    - go ahead\n', '    - go away\n')
    mkdirSync(join(folder, 'risk'))
    writeFileSync(join(folder, 'risk', 'none.yaml'), 'programs: []\n')
    writeFileSync(join(folder, 'assent.yaml'), changed)
    expect(readAssent(loadAssent(folder), 'yes')).toEqual({ kind: 'grant' })
    const told = lintPolicies(folder).faults.filter(({ file }) => file === 'assent.yaml')
    expect(told).toMatchObject([
      {
        line: lineOf('    - go away', changed),
        field: 'examples.grant.0',
        what: '"go away" should be grant and is none',
      },
    ])
  })
})
