// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import { describe, expect, it } from 'vitest'
import type { Log } from '../../ports'
import { createTreeSitterParser, LONGEST_READ } from './index'

const errors: string[] = []
const log: Log = { info: () => {}, warn: () => {}, error: (message) => errors.push(message) }
const parser = createTreeSitterParser(log)
await parser.ready()

describe('the names of the commands', () => {
  it.each<[string, readonly string[]]>([
    ['ls -l', ['ls']],
    ['A=1 ls >/dev/null 2>&1', ['ls']],
    ['>f ls', ['ls']],
    ["'ls' -l", ["'ls'"]],
    ["l's' -l", ["l's'"]],
    ['\\ls', ['\\ls']],
    ['a | b && c || d; e &', ['a', 'b', 'c', 'd', 'e']],
    ['echo $(a) `b` "$(c)" <(d)', ['echo', 'a', 'b', 'c', 'd']],
    ['if a; then b; fi; for x in 1; do c; done; f() { d; }', ['a', 'b', 'c', 'd']],
    ['cat <<E\n$(a)\nE\n', ['cat', 'a']],
    ['! ls', ['ls']],
    ['time ls', ['ls']],
    ['time -p ls a', ['ls']],
    ['\\time ls', ['\\time']],
    ['time', []],
    ['[ -f a ] && ls', ['[', 'ls']],
    ['test -f a', ['test']],
    ['[[ -f a ]]', []],
    ['export A=$(a); declare -x B; unset C; local D', ['export', 'a', 'declare', 'unset', 'local']],
    ['A=b', []],
    ['', []],
  ])('%j', (text, names) => {
    expect(parser.commandNames(text)).toEqual(names)
  })

  it('are in the order of the text, also behind characters of four bytes', () => {
    expect(parser.commandNames('echo 😀 é; [ a ]; ls 😀')).toEqual(['echo', '[', 'ls'])
  })

  it.each(['ls (', 'ls "a', 'if a', 'a )', '${'])('are not given for a text that is broken: %s', (text) => {
    expect(parser.commandNames(text)).toBeNull()
    expect(parser.commandNames('ls')).toEqual(['ls'])
  })
})

describe('limits', () => {
  it('a long text is not read', () => {
    expect(parser.commandNames(`ls ${'a'.repeat(LONGEST_READ - 3)}`)).toEqual(['ls'])
    expect(parser.commandNames(`ls ${'a'.repeat(LONGEST_READ)}`)).toBeNull()
  })

  it('shapes that are bad for it come to an end, and it goes on as before', () => {
    for (const piece of ['a=(', '<<E ', '>', '|', '${', '$(', '`', '[[ ', '{ ', 'a['])
      expect([null, []]).toContainEqual(
        parser.commandNames(piece.repeat(Math.floor(LONGEST_READ / piece.length)))?.slice(0, 0) ?? null,
      )
    expect(parser.commandNames('ls -l | wc')).toEqual(['ls', 'wc'])
    expect(errors).toEqual([])
  })

  it('keeps no memory: as many texts as a long session has', () => {
    parser.commandNames('ls $(a) | b')
    const before = process.memoryUsage().rss
    for (let i = 0; i < 20_000; i++) parser.commandNames(`ls -l ${i} | grep "$(a)" > /dev/null`)
    expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(120)
  })
})

it('says nothing before it is ready', () => {
  expect(createTreeSitterParser(log).commandNames('ls')).toBeNull()
})
