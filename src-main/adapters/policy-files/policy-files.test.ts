import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadRiskRules, RuleFileError } from './index'

const shipped = join(import.meta.dirname, '../../../policies/risk')
let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'nomos-rules-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

let folders = 0
function folderWith(text: string): string {
  const folder = join(root, String(folders++))
  cpSync(shipped, folder, { recursive: true, filter: (from) => !/[\\/]programs[\\/]/.test(from) })
  mkdirSync(join(folder, 'programs'), { recursive: true })
  writeFileSync(join(folder, 'programs', 'mine.yaml'), text)
  return folder
}

function failure(text: string): RuleFileError {
  try {
    loadRiskRules(folderWith(text))
  } catch (error) {
    if (error instanceof RuleFileError) return error
    throw error
  }
  throw new Error('the file was taken')
}

const GOOD = `programs:
  - names: foo
    summary: Shows foo.
    options: {flag: "-a --all"}
    operands: path...
    read_only: ["foo -a"]
    not_read_only: ["foo -b"]
`

describe('loadRiskRules', () => {
  it('loads what is shipped, the same every time', () => {
    const rules = loadRiskRules(shipped)
    expect(rules.programs.get('ls')?.forms.length).toBeGreaterThan(0)
    expect(rules.destructive.get('rm')?.length).toBeGreaterThan(0)
    expect(loadRiskRules(shipped).version).toBe(rules.version)
    for (const program of rules.programs.values()) expect(program.forms.length).toBeGreaterThan(0)
  })

  it('takes a good file and gives another version for other data', () => {
    const one = loadRiskRules(folderWith(GOOD))
    const two = loadRiskRules(folderWith(GOOD.replace('--all', '--any')))
    expect(one.programs.has('foo')).toBe(true)
    expect(one.version).not.toBe(two.version)
  })

  it.each([
    ['broken YAML', GOOD.replace('summary: Shows foo.', 'summary: "Shows foo.'), 3, null],
    ['an unknown field', GOOD.replace('operands:', 'operand:'), 2, 'programs.0'],
    ['a wrong type', GOOD.replace('summary: Shows foo.', 'summary: [a]'), 3, 'programs.0.summary'],
    ['something that is no option', GOOD.replace('-a --all', 'all'), 4, 'programs.0.options.flag'],
    ['an unknown role', GOOD.replace('path...', 'file...'), 5, 'programs.0.operands'],
    ['a broken pattern', GOOD.replace('path...', '"/(/"'), 5, 'programs.0.operands'],
    ['a cache that could be anything', GOOD.replace('operands: path...', 'caches: ~/*'), 5, 'programs.0.caches'],
    ['a cache outside of any folder', GOOD.replace('operands: path...', 'caches: /var/../etc'), 5, 'programs.0.caches'],
    ['an unknown set', GOOD.replace('operands: path...', 'use: nothing'), 5, 'programs.0.use'],
    ['a name used twice', `${GOOD}${GOOD.replace('programs:\n', '')}`, 8, 'programs.1.names'],
  ])('names file, line and field of %s', (_what, text, line, field) => {
    const error = failure(text)
    expect(error.file).toBe('programs/mine.yaml')
    expect(error.line).toBe(line)
    expect(error.field).toBe(field)
    expect(error.message).toContain('programs/mine.yaml')
  })

  it.each([
    ['secrets.yaml', 'secrets'],
    ['destructive.yaml', 'destructive'],
    ['interpreters.yaml', 'inline_eval'],
    ['tags.yaml', 'tags'],
    ['programs/mine.yaml', 'programs'],
  ])('does not start with half a policy: without %s', (file, field) => {
    const folder = folderWith(GOOD)
    rmSync(join(folder, file))
    const said = new RegExp(`\\((?:\\w+, )*${field}(?:, \\w+)*\\): not in any file of this folder`)
    expect(() => loadRiskRules(folder)).toThrow(said)
    writeFileSync(join(folder, file), `${field}: ${field === 'inline_eval' ? '{}' : '[]'}\n`)
    expect(() => loadRiskRules(folder)).toThrow(said)
  })

  it('does not start without any rule', () => {
    expect(() => loadRiskRules(join(root, 'nowhere'))).toThrow()
    mkdirSync(join(root, 'empty'))
    expect(() => loadRiskRules(join(root, 'empty'))).toThrow(RuleFileError)
  })
})

describe('the two readers', () => {
  it('read the same out of every shipped file', () => {
    for (const name of readdirSync(shipped, { recursive: true, encoding: 'utf8' }).filter((n) => n.endsWith('.yaml'))) {
      const text = readFileSync(join(shipped, name), 'utf8')
      expect(load(text), name).toEqual(parse(text))
    }
  })
})
