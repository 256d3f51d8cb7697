import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LintReport, lintPolicies, loadRiskRules } from './index'
import { nestedRepetition } from './patterns'

let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'nomos-lint-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const ABSENT = 'not in any file of this folder'
let folders = 0
function lint(files: Readonly<Record<string, string>>): LintReport & { readonly said: readonly string[] } {
  const folder = join(root, String(folders++))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const all = lintPolicies(folder)
  // These folders hold a rule or two; that the rest is not there has a test of its own.
  const report = { ...all, faults: all.faults.filter(({ what }) => what !== ABSENT) }
  for (const { remedy } of report.faults) expect(remedy).toMatch(/^[A-Z].*\.$/)
  return { ...report, said: report.faults.map(({ file, line, field, what }) => `${file}:${line} (${field}): ${what}`) }
}

const GOOD = `programs:
  - names: foo fooer
    summary: Shows foo.
    options: {flag: "-a --all"}
    operands: path...
    read_only: ["foo -a"]
    not_read_only: ["foo -b"]
`
const RULE = `destructive:
  - id: foo_wipes
    sentence: Wipes everything.
    programs: foo
    options: ["--wipe"]
    destructive: ["foo --wipe"]
    not_destructive: ["foo -a"]
`

describe('lintPolicies', () => {
  it('finds nothing wrong with what is shipped', () => {
    const report = lintPolicies(join(import.meta.dirname, '../../../policies'))
    expect(report.faults).toEqual([])
    expect(report.examples).toBeGreaterThan(1800)
    expect(report.programs).toBeGreaterThan(200)
    expect(report.rules).toBeGreaterThan(100)
  })

  it('takes a folder of policies and a folder of rules alone', () => {
    const whole = lint({
      'risk/programs/a.yaml': GOOD,
      'risk/b.yaml': RULE,
      'risk/README.md': 'x',
      'soul.md': 'Be kind.',
    })
    expect(whole).toMatchObject({ files: 3, programs: 2, rules: 1, examples: 4, faults: [] })
    expect(lint({ 'a.yaml': GOOD })).toMatchObject({ files: 1, programs: 2, faults: [] })
  })

  it('tells every fault at once, each with its own line', () => {
    const text = `sets:
  gnu: {flag: "help"}
programs:
  - names: foo
    summary: Shows foo.
    colour: red
    read_only: ["foo"]
  - names: bar
    summary: Shows bar.
    options: {flag: "-a all -b none"}
    operands: "file dir... "
    use: nothing
    read_only: ["bar -a"]
  - names: bar baz
    summary: Again.
    operands: "/(/"
    read_only: ["baz"]
  - names: bare
    summary: Nothing shows it.
`
    expect(lint({ 'risk/programs/mine.yaml': text }).said).toEqual([
      'risk/programs/mine.yaml:2 (sets.gnu.flag): help is not an option',
      'risk/programs/mine.yaml:6 (programs.0.colour): "colour" is no field here',
      'risk/programs/mine.yaml:10 (programs.1.options.flag): all is not an option',
      'risk/programs/mine.yaml:10 (programs.1.options.flag): none is not an option',
      'risk/programs/mine.yaml:11 (programs.1.operands): file is not a role',
      'risk/programs/mine.yaml:11 (programs.1.operands): dir is not a role',
      'risk/programs/mine.yaml:12 (programs.1.use): there is no set named nothing',
      'risk/programs/mine.yaml:14 (programs.2.names): bar has a schema already',
      'risk/programs/mine.yaml:16 (programs.2.operands): /(/ is not a role',
      'risk/programs/mine.yaml:18 (programs.3): bare has no example, so nobody knows whether it works',
    ])
  })

  it('goes on in other files, and tells doubles across them', () => {
    const { said } = lint({
      'risk/a.yaml': GOOD,
      'risk/b.yaml': `${RULE}${RULE.replace('destructive:\n', '').replace('Wipes everything.', 'wipes_it')}`,
      'risk/c.yaml': `programs:\n  - names: "x\n    summary: y\n`,
      'risk/d.yaml': 'rules: []\nsecret_readers: 5\n',
      'risk/e.yaml': '',
      'risk/f.yml': GOOD,
      'risk/notes.txt': 'x',
      'presets/p.json': '{"a": }',
      'presets/q.yaml': 'a: [1\n',
    })
    const places = said.map((one) => one.replace(/\): .*/, ')'))
    expect(places).toContain('risk/b.yaml:8 (destructive.1.id)')
    expect(said).toContain('risk/b.yaml:8 (destructive.1.id): foo_wipes is used already at risk/b.yaml:2')
    expect(said.find((one) => one.startsWith('risk/c.yaml'))).toMatch(/risk\/c\.yaml:\d+ /)
    expect(said).toContain('risk/d.yaml:1 (rules): "rules" is no field here')
    expect(places).toContain('risk/d.yaml:2 (secret_readers)')
    expect(said).toContain('risk/e.yaml:null (null): is empty')
    expect(said).toContain('risk/f.yml:null (null): is not read, as its name does not end in .yaml')
    expect(said.some((one) => one.startsWith('risk/notes.txt'))).toBe(true)
    expect(said.some((one) => one.startsWith('presets/p.json'))).toBe(true)
    expect(said.some((one) => one.startsWith('presets/q.yaml:'))).toBe(true)
    // A key that stands twice: the second would win silently.
    expect(lint({ 'a.yaml': `${GOOD}programs: []\n` }).said[0]).toMatch(/^a\.yaml:\d+ .*unique/)
  })

  it('speaks to the person who wrote the file', () => {
    const text = GOOD.replace('summary: Shows foo.', 'sumary: 5').replace('operands: path...', 'min: "2"')
    expect(lint({ 'a.yaml': `${text}destructive: [{id: x, programs: y, destructive: []}]\n` }).said).toEqual([
      'a.yaml:2 (programs.0.summary): is missing',
      'a.yaml:3 (programs.0.sumary): "sumary" is no field here',
      'a.yaml:5 (programs.0.min): should be a number and is a text',
      'a.yaml:8 (destructive.0.sentence): is missing',
      'a.yaml:8 (destructive.0.destructive): is an empty list and needs at least one',
      'a.yaml:8 (destructive.0.not_destructive): is missing',
    ])
  })

  it('runs every example', () => {
    const { said, examples } = lint({
      'risk/a.yaml': GOOD.replace('"foo -a"', '"foo -a", "foo --none"').replace('"foo -b"', '"foo -b", "foo"'),
      'risk/b.yaml': RULE.replace('["foo --wipe"]', '["foo --wipe", "foo -x"]').replace(
        '["foo -a"]',
        '["foo --wipe y"]',
      ),
    })
    expect(examples).toBe(7)
    expect(said).toHaveLength(4)
    expect(said[0]).toMatch(
      /^risk\/a\.yaml:6 \(programs\.0\.read_only\.1\): "foo --none" should be a read and is config_mutation: /,
    )
    expect(said[1]).toBe('risk/a.yaml:7 (programs.0.not_read_only.1): "foo" should not be a read and is one')
    expect(said[2]).toMatch(
      /^risk\/b\.yaml:6 \(destructive\.0\.destructive\.1\): "foo -x" should be destructive and is/,
    )
    expect(said[3]).toMatch(/^risk\/b\.yaml:7 \(destructive\.0\.not_destructive\.0\): "foo --wipe y" should not be met/)
  })

  it('names patterns that can take for ever, wherever they stand', () => {
    const { said } = lint({
      'risk/a.yaml': GOOD.replace('path...', '"/(a+)+b/..."'),
      'risk/b.yaml': RULE.replace('options: ["--wipe"]', () => "text: '--wipe(?:\\s*x*)*$'"),
      'risk/c.yaml': "consumed: ['^/x/(?:[^/]+/)*$', '^/x/(?:[^/]*)*$']\n",
    })
    expect(said.map((one) => one.replace(/: the pattern .*: /, ' '))).toEqual([
      'risk/a.yaml:5 (programs.0.operands) (a+)',
      'risk/b.yaml:5 (destructive.0.text) (?:\\s*x*)',
      'risk/c.yaml:1 (consumed.1) (?:[^/]*)',
    ])
  })

  it('says so when there is nothing to check', () => {
    expect(lint({ 'readme.txt': 'x' }).faults).toMatchObject([{ what: 'holds no rule file' }, {}])
    expect(() => lintPolicies(join(root, 'nowhere'))).toThrow()
  })
})

describe('the grammar of assent', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../policies/assent.yaml'), 'utf8')

  it('is checked whole: every fault with its line and field, every example run', () => {
    const changed = text
      .replace('longest: 200', 'longest: 2')
      .replace('  - yep\n', '  - Yep\n')
      .replace(/^connectives:.*$/m, 'connectives: []\ncolour: red')
    const { said } = lint({ 'risk/a.yaml': GOOD, 'assent.yaml': changed })
    const line = (start: string) => changed.split('\n').findIndex((one) => one.startsWith(start)) + 1
    expect(said).toEqual([
      expect.stringMatching(`^assent.yaml:${line('longest')} \\(longest\\): `),
      `assent.yaml:${line('  - Yep')} (grant.1): words in small letters, separated by one space`,
      `assent.yaml:${line('connectives')} (connectives): is an empty list and needs at least one`,
      `assent.yaml:${line('colour')} (colour): "colour" is no field here`,
    ])
    const { said: phrases } = lint({ 'risk/a.yaml': GOOD, 'assent.yaml': text.replace('  - yep\n', '  - no\n') })
    expect(phrases).toEqual([
      expect.stringMatching(/^assent\.yaml:\d+ \(grant\.1\): "no" holds a phrase of "negation"/),
    ])
  })

  it('counts its examples', () => {
    const without = lint({ 'risk/a.yaml': GOOD }).examples
    const more = lint({ 'risk/a.yaml': GOOD, 'assent.yaml': text })
    expect(more.said).toEqual([])
    expect(more.examples - without).toBeGreaterThan(250)
  })
})

describe('half a policy', () => {
  it('is told by the fields that went missing with a file', () => {
    const folder = join(root, 'half')
    cpSync(join(import.meta.dirname, '../../../policies'), folder, { recursive: true })
    rmSync(join(folder, 'risk/tags.yaml'))
    expect(lintPolicies(folder).faults).toEqual([
      { file: 'risk/', line: null, field: 'tags', what: ABSENT, remedy: 'Bring back the file that held it.' },
    ])
  })

  it('is told by bytes that are no text', () => {
    expect(lint({ 'a.yaml': 'programs:\n  \0' }).said).toEqual(['a.yaml:2 (null): null byte is not allowed in input'])
  })

  it('is told by a value that has to be another', () => {
    expect(lint({ 'a.yaml': GOOD.replace('operands: path...', 'sandbox: other') }).said).toEqual([
      'a.yaml:5 (programs.0.sandbox): should be "files"',
    ])
  })
})

describe('loading', () => {
  it('passes no rule file over for its name', () => {
    const folder = join(root, 'yml')
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.yaml'), GOOD)
    writeFileSync(join(folder, 'b.yml'), RULE)
    expect(() => loadRiskRules(folder)).toThrow('b.yml: is not read')
  })
})

describe('a nested repetition', () => {
  it.each([
    '(a+)+',
    '(?:a*b?)*',
    '^(?:\\w+\\s?)*$',
    '((?:x|y)+)*',
    '(?:(a+)|b)+',
    '(?:[a-z]+){2,}',
    '(?:.*,)*',
    'x(?:\\d+|\\d+a)*',
  ])('is found in %s', (source) => {
    expect(nestedRepetition(source)).not.toBeNull()
  })
  it.each([
    '^a+b*c+$',
    '(?:/[^/]+)*',
    '(?:[^/]+/)*',
    '(?:-\\S+ )*',
    '[a-z0-9]*(?:\\.[0-9][A-Za-z0-9_-]*)*',
    '(?:a+){0,8}',
    '(?:^|\\s)x(?:\\s|$)',
    '(?=a+)b*',
    '[(+*]+',
    '\\(a+\\)+',
    '(?:a|b)*',
    '',
  ])('is not blamed on %s', (source) => {
    expect(nestedRepetition(source)).toBeNull()
  })
})
