// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what looks like a template is text for a shell
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { literalArgv } from './argv'

describe('the words of a literal command', () => {
  it.each([
    ['uname -s', ['uname', '-s']],
    ['  ls   -l\t/srv  ', ['ls', '-l', '/srv']],
    [`grep 'a b' "c d" e\\ f`, ['grep', 'a b', 'c d', 'e f']],
    [`cat ''`, ['cat', '']],
    ['cat a\\\nb', ['cat', 'ab']],
    ['l"s" -a', ['ls', '-a']],
    ['ls;', ['ls']],
    ['ls # all of it', ['ls']],
    ['sudo -n cat /etc/hosts', ['sudo', '-n', 'cat', '/etc/hosts']],
    ['echo $', ['echo', '$']],
    ['printenv A=b', ['printenv', 'A=b']],
    [`grep '*' "~" '{a,b}' '$HOME'`, ['grep', '*', '~', '{a,b}', '$HOME']],
  ])('%j', (command, argv) => {
    expect(literalArgv(command)).toEqual(argv)
  })

  it.each([
    '',
    '#',
    'ls; ls',
    'ls && ls',
    'ls | wc',
    'ls &',
    '! ls',
    'time ls',
    '(ls)',
    '{ ls; }',
    'ls >a',
    'ls 2>/dev/null',
    'ls 2>&1',
    'cat <a',
    'cat <<<a',
    'cat <<E\na\nE',
    'LC_ALL=C ls',
    'A=b',
    'ls $HOME',
    'ls "$HOME"',
    'ls ${A}',
    'ls $(pwd)',
    'ls `pwd`',
    'ls *',
    'ls a?',
    'ls [a]',
    'ls {a,b}',
    'ls ~',
    'ls ~root',
    'dd of=~/x',
    'ls $((1))',
    `printf $'\\xff'`,
    'echo $"a"',
    'type ls',
    'command -v ls',
    'ulimit -a',
    'cd /srv',
    '. ./x',
    'if true; then ls; fi',
    '[[ -f a ]]',
    `'' a`,
    `'-x' a`,
    `'A=b' c`,
    'f() { ls; }; f',
    'ls \0',
    'ls "a',
  ])('none for %j', (command) => {
    expect(literalArgv(command)).toBeNull()
  })

  it('are the ones that bash would give', () => {
    const piece = fc.constantFrom(
      ...[
        'a',
        'b c',
        "'",
        '"',
        '\\',
        '\\\n',
        ' ',
        '\t',
        "'x y'",
        '"p q"',
        '"\\$"',
        "'*'",
        '\\*',
        '#',
        ';',
        '=',
        '~',
        '$',
        'é',
        '!',
      ],
    )
    const texts: string[] = []
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
        const text = `printf ${pieces.join('')}`
        // A last backslash would take in the next text of the script below.
        if (literalArgv(text)?.[0] === 'printf' && !text.endsWith('\\')) texts.push(text)
      }),
      { numRuns: 3000, seed: 8 },
    )
    expect(texts.length).toBeGreaterThan(200)
    // One bash for all: `printf` is a function here that writes down what it was given.
    const script = ['printf() { builtin printf "%s\\0" "$@"; builtin printf "\\1\\0"; }', ...texts].join('\n')
    const { stdout } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8', cwd: '/' })
    const given = stdout.split('\u0001\0').slice(0, -1)
    const wanted = texts.map((text) => (literalArgv(text) ?? []).slice(1))
    expect(given).toHaveLength(wanted.length)
    given.forEach((found, i) => {
      const words = wanted[i] as readonly string[]
      // Without any argument `%s` is still written once, empty.
      expect([texts[i], found]).toEqual([
        texts[i],
        `${words.length === 0 ? '\0' : ''}${words.map((word) => `${word}\0`).join('')}`,
      ])
    })
  })
})
