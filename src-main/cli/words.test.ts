import { describe, expect, it } from 'vitest'
import { CliFailure, EXIT } from './exits'
import { nearest } from './near'
import { readCount, readOptions } from './options'
import { byPrefix } from './prefixes'
import { markedLines, painter, visibleLine, visibleText } from './visible'

function failure(work: () => unknown): CliFailure {
  try {
    work()
  } catch (error) {
    if (error instanceof CliFailure) return error
    throw error
  }
  throw new Error('it did not fail')
}

describe('nearest', () => {
  const names = ['classify', 'run', 'executions', 'approvals', 'ledger', 'doctor', 'version', 'help']
  it.each([
    ['clasify', 'classify'],
    ['classfiy', 'classify'],
    ['ledgr', 'ledger'],
    ['RUN', 'run'],
    ['ru', 'run'],
    ['exec', 'executions'],
    ['aprovals', 'approvals'],
    ['xyz', null],
    ['', null],
    ['sun', 'run'],
    ['destroy', null],
  ])('%s → %s', (typed, meant) => expect(nearest(typed, names)).toBe(meant))
})

describe('byPrefix', () => {
  const items = [{ id: 'apr_1abc' }, { id: 'apr_1abd' }, { id: 'apr_2' }, { id: 'apr_22' }]
  const find = (given: string) => byPrefix(given, items, (item) => [item.id], 'approval').id
  it('takes a beginning that fits one, with or without the kind', () => {
    expect(find('apr_1abc')).toBe('apr_1abc')
    expect(find('apr_1abd')).toBe('apr_1abd')
    expect(find('1abc')).toBe('apr_1abc')
    expect(find('22')).toBe('apr_22')
  })
  it('prefers the exact id over a longer one', () => expect(find('apr_2')).toBe('apr_2'))
  it('refuses what fits several, with their ids, and what fits none', () => {
    const several = failure(() => find('apr_1'))
    expect(several.exit).toBe(EXIT.usage)
    expect(several.message).toContain('apr_1abc, apr_1abd')
    expect(failure(() => find('2')).message).toContain('fits 2')
    expect(failure(() => find('zzz')).exit).toBe(EXIT.failed)
    expect(failure(() => find('')).exit).toBe(EXIT.usage)
  })
})

describe('readOptions', () => {
  const spec = {
    json: { kind: 'flag' },
    why: { kind: 'text' },
    count: { kind: 'text', short: 'n' },
    state: { kind: 'list' },
  } as const
  it('reads the forms anywhere', () => {
    const { options, rest } = readOptions(
      ['a', '--json', '--why=x=y', '-n', '3', '--state', 'p', 'b', '--state=q', '--', '--json'],
      spec,
    )
    expect(options).toEqual({ json: true, why: 'x=y', count: '3', state: ['p', 'q'] })
    expect(rest).toEqual(['a', 'b', '--json'])
  })
  it('leaves a command alone from its first word', () => {
    expect(readOptions(['--json', 'rm', '--why', 'x'], spec, 'before').rest).toEqual(['rm', '--why', 'x'])
    expect(readOptions(['--', '--json'], spec, 'before').rest).toEqual(['--json'])
    expect(readOptions(['--', 'x'], spec, 'words-only').rest).toEqual(['--', 'x'])
  })
  it('refuses what it does not know, with what was meant', () => {
    expect(failure(() => readOptions(['--jsn'], spec)).message).toContain('Did you mean --json?')
    expect(failure(() => readOptions(['--why'], spec)).message).toContain('needs a value')
    expect(failure(() => readOptions(['--json=1'], spec)).message).toContain('takes no value')
    expect(failure(() => readOptions(['-x'], spec)).exit).toBe(EXIT.usage)
  })
  it.each(['0', '-1', '1.5', '1e3', 'x', '', '999'])('takes no count %j', (text) => {
    expect(failure(() => readCount('-n', text, 20, 1, 200)).exit).toBe(EXIT.usage)
  })
})

describe('what a terminal shows', () => {
  it('hides nothing', () => {
    expect(visibleLine('a\u001b[2Jb\u202ec\u200bd\u0000\n\u007f\u00a0\u{e0041}')).toBe(
      'a␛[2Jb\\u{202e}c\\u{200b}d␀␊␡\\u{a0}\\u{e0041}',
    )
    expect(visibleLine('\ud800x')).toBe('\\u{d800}x')
    expect(visibleLine('naïve 漢字 👍')).toBe('naïve 漢字 👍')
    expect(visibleText('a\n\tb\r')).toBe('a\n\tb␍')
  })
  it('marks spans under the text they mean, line by line', () => {
    expect(markedLines('ls; rm x', [{ start: 4, end: 8 }])).toEqual([{ text: 'ls; rm x', marks: '    ^^^^' }])
    expect(markedLines('a\nrm b', [{ start: 2, end: 4 }])).toEqual([
      { text: 'a␊', marks: '' },
      { text: 'rm b', marks: '^^' },
    ])
    expect(markedLines('漢 rm', [{ start: 2, end: 4 }])[0]?.marks).toBe('   ^^')
    expect(markedLines('\u200brm', [{ start: 1, end: 3 }])[0]).toEqual({ text: '\\u{200b}rm', marks: '        ^^' })
    expect(markedLines('', [])).toEqual([{ text: '', marks: '' }])
  })
  it('paints on a terminal only', () => {
    expect(painter({ isTTY: true }, {})('red', 'x')).toBe('\u001b[31mx\u001b[0m')
    expect(painter({ isTTY: true }, { NO_COLOR: '1' })('red', 'x')).toBe('x')
    expect(painter({}, {})('red', 'x')).toBe('x')
  })
})
