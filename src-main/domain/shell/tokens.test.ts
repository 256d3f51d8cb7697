import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { argvOf, dissect, tokensOf } from './tokens'

const read = (command: string) =>
  tokensOf(command).map(({ start, end, kind }) => `${kind} ${command.slice(start, end)}`)

describe('tokensOf', () => {
  it('names the parts of a pipeline', () => {
    expect(read(`LANG=C sudo grep -c "a b" /var/log/x 2>&1 | sort -rn # most`)).toEqual([
      'variable LANG=',
      'argument C',
      'program sudo',
      'program grep',
      'option -c',
      'string "a b"',
      'argument /var/log/x',
      'redirection 2>&',
      'argument 1',
      'operator |',
      'program sort',
      'option -rn',
      'comment # most',
    ])
  })

  it('goes into substitutions and loops, and shows variables', () => {
    expect(read('for f in a b; do rm "$f.bak"; done')).toEqual([
      'keyword for',
      'argument f',
      'keyword in',
      'argument a',
      'argument b',
      'operator ;',
      'keyword do',
      'program rm',
      'string "',
      'variable $f',
      'string .bak"',
      'operator ;',
      'keyword done',
    ])
    expect(read('echo $(date -u) && ls')).toContain('program date')
  })

  it('is in order, without overlaps, inside the text, for any text', () => {
    const piece = fc.constantFrom(
      '$(',
      ')',
      '`',
      '"',
      "'",
      'a',
      ' ',
      '|',
      '&',
      ';',
      '<<E\n',
      '\n',
      '{',
      '}',
      '\\',
      '#',
      '$x',
      '>',
      '\u202e',
      '😀',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 40 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(text, (command) => {
        let at = 0
        for (const { start, end } of tokensOf(command)) {
          expect(start).toBeGreaterThanOrEqual(at)
          expect(end).toBeGreaterThan(start)
          at = end
        }
        expect(at).toBeLessThanOrEqual(command.length)
        argvOf(command)
      }),
      { numRuns: 2000 },
    )
  })

  it('leaves what is too large alone', () => {
    expect(tokensOf('a '.repeat(20_000))).toEqual([])
    expect(dissect('a '.repeat(20_000))).toEqual({ tokens: undefined, argv: null })
  })
})

describe('argvOf', () => {
  it('is null while every word stands there as it is typed', () => {
    expect(argvOf('systemctl restart caddy | wc -l')).toBeNull()
    expect(argvOf('ls $HOME')).toBeNull()
    expect(argvOf('')).toBeNull()
  })

  it('decodes quotes, escapes and joins, and says what is only known later', () => {
    expect(argvOf(`find . -'delete' a\\ b $'\\x41' "$HOME/x"`)).toEqual([
      [
        { text: 'find', known: true },
        { text: '.', known: true },
        { text: '-delete', known: true },
        { text: 'a b', known: true },
        { text: 'A', known: true },
        { text: '"$HOME/x"', known: false },
      ],
    ])
  })

  it('says nothing about a text that is not understood', () => {
    expect(argvOf(`echo 'a b' "`)).toBeNull()
  })
})
