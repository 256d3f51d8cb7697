import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Posture } from '../../src-preload/contract/model'
import { cachesOf, classify, compileRules } from '../domain/risk'
import { byDefault, explanation, onlyPostureAgainst, widthOf } from './explain'
import { markedView, wrapped } from './marks'
import { startedBy, startedLines } from './started'
import { painter } from './visible'

// Rules of its own, so that the pictures below change when the words do and not when a program is added.
const rules = compileRules([
  {
    name: 'mine.yaml',
    data: {
      programs: [
        { names: 'df', summary: 'Shows how full file systems are.', options: { flag: '-h' }, operands: 'path...' },
        { names: 'wc', summary: 'Counts lines.', options: { flag: '-l' }, operands: 'read...' },
        { names: 'pkg', summary: 'Lists packages.', caches: '~/.pkg/cache /var/log/pkg*.log', commands: { list: {} } },
        { names: 'ls', summary: 'Lists what a folder holds.', options: { flag: '-l' }, operands: 'path...' },
      ],
      destructive: [
        {
          id: 'rm_recursive',
          sentence: 'Removes a folder and everything in it.',
          programs: 'rm',
          options: ['-r -R --recursive'],
          effects: ['delete'],
          destructive: ['rm -r a'],
          not_destructive: ['rm a'],
        },
        {
          id: 'find_delete',
          sentence: 'Removes every file that is found.',
          programs: 'find',
          text: '(?:^|\\s)-delete(?:\\s|$)',
          effects: ['delete'],
          destructive: ['find . -delete'],
          not_destructive: ['find .'],
        },
      ],
    },
  },
])
const plain = painter({}, {})

function explain(command: string, width = 78, posture: Posture = 'default', whole = true): string {
  const verdict = classify(command, { rules, posture, cwd: '/srv/app', homeFolder: '/home/ann' })
  const readsOtherwise =
    onlyPostureAgainst(verdict) && classify(command, { rules, posture: 'every-segment' }).risk === 'read_only'
  return `\n${explanation(command, verdict, { paint: plain, width, posture, whole, readsOtherwise, caches: cachesOf(verdict.reasons, rules) })}`
}

describe('an explanation', () => {
  it('of a read', () => {
    expect(explain('df -h /srv')).toMatchInlineSnapshot(`
      "
      ○ read-only · would run by itself

        df -h /srv

          ○ df -h /srv: Shows how full file systems are. [program:df]

        starts      df -h /srv
        runs        df
        understood  all of it

      Judged by its text alone, under the default policy. Not looked at, because
      they need the place it would run at: the second parser, where the executable
      resolves, the tags of the target. They can only make it stricter.
      "
    `)
  })

  it('of a program that keeps a cache', () => {
    const shown = explain('pkg list')
    expect(shown).toContain('  runs        pkg\n  cache       may write its own: ~/.pkg/cache, /var/log/pkg*.log\n')
    expect(explain('pkg remove')).not.toContain('may write')
  })

  it('of a pipeline of reads, in both postures', () => {
    expect(explain('df -h | wc -l')).toMatchInlineSnapshot(`
      "
      ■ change · would be asked about

        df -h | wc -l

        1 ■ Several commands in one line are always asked about. [compound]
          ○ df -h: Shows how full file systems are. [program:df]
          ○ wc -l: Counts lines. [program:wc]

        starts         df -h
                    |  wc -l
        runs        df, wc
        understood  all of it
        note        It is more than one simple command.

      Every part of it only reads: where the policy lets such lines through
      (every-segment), it would run by itself.

      Judged by its text alone, under the default policy. Not looked at, because
      they need the place it would run at: the second parser, where the executable
      resolves, the tags of the target. They can only make it stricter.
      "
    `)
    expect(explain('df -h | wc -l', 78, 'every-segment')).toMatchInlineSnapshot(`
      "
      ○ read-only · would run by itself

        df -h | wc -l

          ○ df -h: Shows how full file systems are. [program:df]
          ○ wc -l: Counts lines. [program:wc]

        starts         df -h
                    |  wc -l
        runs        df, wc
        understood  all of it
        note        It is more than one simple command.

      Judged by its text alone, under the default policy with lines of several reads
      let through. Not looked at, because they need the place it would run at: the
      second parser, where the executable resolves, the tags of the target. They can
      only make it stricter.
      "
    `)
  })

  it('of what is destroyed behind wrappers, on another machine', () => {
    expect(explain(`ssh web1 'sudo -u bob sh -c "rm -r /srv/x; id" | tee -a log'`)).toMatchInlineSnapshot(`
      "
      ▲ destructive · needs the typed phrase "rm local"

        ssh web1 'sudo -u bob sh -c "rm -r /srv/x; id" | tee -a log'
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 1
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 2

        1 ▲ Removes a folder and everything in it. [rm_recursive]
        2 ■ ssh is not a program that is known to only read. [unknown_program]

        starts      ssh web1
                      › sudo -u bob › sh -c
                          › rm -r /srv/x
                          › id
                      › | tee -a log
        runs        ssh, sudo, sh, rm, id, tee
        deletes     /srv/x
        network     ssh, ssh sudo, ssh sudo sh
        rights      sudo
        understood  all of it

      Judged by its text alone, under the default policy. On another target the
      phrase ends with its name. Not looked at, because they need the place it would
      run at: the second parser, where the executable resolves, the tags of the
      target. They can only make it stricter.
      "
    `)
  })

  it('of several lines, in a narrow window', () => {
    expect(
      explain(
        'cd /srv/app\nfor f in *.log; do\n  gzip --best --keep --verbose "$f" /srv/app/archive/of/everything\ndone',
        48,
      ),
    ).toMatchInlineSnapshot(`
      "
      ■ change · would be asked about

       1 │ cd /srv/app
         │ ^^^^^^^^^^^ 3
       2 │ for f in *.log; do
       3 │   gzip --best --keep --verbose "$f"
         │   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
         │ /srv/app/archive/of/everything
         │ ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 4
       4 │ done

        1 ■ Several commands in one line are always
            asked about. [compound]
        2 ■ More than a plain sequence of commands is
            always asked about. [structure]
        3 ■ cd is not a program that is known to only
            read. [unknown_program]
        4 ■ gzip is not a program that is known to
            only read. [unknown_program]

        starts         cd /srv/app
                    ;  gzip --best --keep --verbose
                       "$f"
                       /srv/app/archive/of/everything 
                       (in a loop)
                    What has $, *, ~ or $(…) in it is
                    only settled when it runs.
        runs        cd, gzip
        understood  all of it
        note        It is more than one simple
                    command.

      Judged by its text alone, under the default
      policy. Not looked at, because they need the
      place it would run at: the second parser, where
      the executable resolves, the tags of the target.
      They can only make it stricter.
      "
    `)
  })

  it('of characters that lie', () => {
    expect(explain('ls \u202egnp.x\u202c\u200b\u0007')).toMatchInlineSnapshot(`
      "
      ■ change · would be asked about

        ls \\u{202e}gnp.x\\u{202c}\\u{200b}␇
           ^^^^^^^^ 1

        1 ■ There are characters here that a reader cannot see or takes for others.
            [invisible]
          ○ ls \\u{202e}gnp.x\\u{202c}\\u{200b…: Lists what a folder holds.
            [program:ls]

        starts      ls \\u{202e}gnp.x\\u{202c}\\u{200b}␇
        runs        ls
        understood  all of it
        note        It holds characters that cannot be seen; they are written out
                    above.

      Judged by its text alone, under the default policy. Not looked at, because
      they need the place it would run at: the second parser, where the executable
      resolves, the tags of the target. They can only make it stricter.
      "
    `)
  })

  it('of quoted options and operators that are only text', () => {
    expect(explain(`find . -'delete' "a && b" $'c\\td' it\\'s $HOME`)).toMatchInlineSnapshot(`
      "
      ▲ destructive · needs the typed phrase "find local"

        find . -'delete' "a && b" $'c\\td' it\\'s $HOME
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 1

        1 ▲ Removes every file that is found. [find_delete]
            Also found there: unknown_program

        starts      find . -delete 'a && b' 'c␉d' 'it'\\''s' $HOME
                    What has $, *, ~ or $(…) in it is only settled when it runs.
        runs        find
        deletes     .
        understood  all of it

      Judged by its text alone, under the default policy. On another target the
      phrase ends with its name. Not looked at, because they need the place it would
      run at: the second parser, where the executable resolves, the tags of the
      target. They can only make it stricter.
      "
    `)
  })

  it('of what is too large: a view that says what it leaves out', () => {
    const text = explain(`${'df -h\n'.repeat(4000)}rm -r /srv/x\n`)
    expect(text.split('\n').length).toBeLessThan(60)
    expect(text).toMatchInlineSnapshot(`
      "
      ▲ destructive · needs the typed phrase "rm local"

         1 │ df -h
         2 │ df -h
         3 │ df -h
         4 │ df -h
         5 │ df -h
         6 │ df -h
         7 │ df -h
         8 │ df -h
         9 │ df -h
        10 │ df -h
        11 │ df -h
        12 │ df -h
         ⋮ 3983 rows left out
      3996 │ df -h
      3997 │ df -h
      3998 │ df -h
      3999 │ df -h
      4000 │ df -h
      4001 │ rm -r /srv/x
           │ ^^^^^^^^^^^^ 1
        ↑ all of it: 5

        1 ▲ Removes a folder and everything in it. [rm_recursive]
        2 ■ More than 2048 characters are read by a person before they run. [long]
        3 ■ Several commands in one line are always asked about. [compound]
        4 ■ More than a plain sequence of commands is always asked about.
            [structure]
        5 ■ The command is longer than 16 KB, too long to be judged piece by piece.
            [too_large]

        starts         df -h  (4000 times)
                    ;  rm -r /srv/x
        runs        df, rm
        deletes     /srv/x
        understood  only part of it, so it never counts as a read
        note        It is more than one simple command.
                    It is longer than 16 KB, so only what cannot be undone was
                    looked for.

      Judged by its text alone, under the default policy. On another target the
      phrase ends with its name. Not looked at, because they need the place it would
      run at: the second parser, where the executable resolves, the tags of the
      target. They can only make it stricter.
      "
    `)
  })

  it('at a glance', () => {
    expect(explain('rm -r /srv/x', 78, 'default', false)).toMatchInlineSnapshot(`
      "
      ▲ destructive · needs the typed phrase "rm local"

        rm -r /srv/x
        ^^^^^^^^^^^^ 1

        1 ▲ Removes a folder and everything in it. [rm_recursive]

      Judged by its text alone, under the default policy. On another target the
      phrase ends with its name. Not looked at, because they need the place it would
      run at: the second parser, where the executable resolves, the tags of the
      target. They can only make it stricter.
      More about it: nomos classify --explain …
      "
    `)
    expect(explain('  ', 78, 'default', false)).toMatchInlineSnapshot(`
      "
      ■ change · would be asked about

        (an empty command)

        1 ■ There is no command. [empty]

      Judged by its text alone, under the default policy. Not looked at, because
      they need the place it would run at: the second parser, where the executable
      resolves, the tags of the target. They can only make it stricter.
      More about it: nomos classify --explain …
      "
    `)
  })

  it('prints a command of one long line whole, and never wider than the window', () => {
    const command = `ls ${Array.from({ length: 120 }, (_, i) => `/srv/folder-${i}`).join(' ')} ${'x'.repeat(300)}`
    for (const width of [40, 80, 160]) {
      const text = explain(command, width)
      for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(width)
      const shown = text.split('\n').slice(3).join('').replace(/\s/g, '')
      expect(shown).toContain(command.replace(/\s/g, ''))
    }
  })

  it('is coloured at a terminal only, and says the same', () => {
    const command = 'df -h; rm -r /srv/x'
    const verdict = classify(command, { rules, posture: 'default' })
    const options = { width: 78, posture: 'default' as const, whole: true, readsOtherwise: false, caches: [] }
    const colour = explanation(command, verdict, { ...options, paint: painter({ isTTY: true }, {}) })
    const none = explanation(command, verdict, { ...options, paint: painter({ isTTY: true }, { NO_COLOR: '1' }) })
    expect(colour).toContain('\u001b[31mrm -r /srv/x\u001b[0m')
    expect(none).not.toContain('\u001b')
    expect(colour.replaceAll(/\u001b\[\d+m/g, '')).toBe(none)
  })

  it('never hands a character of the command to the terminal to obey', () => {
    const command = `ls '\u001b[2J' "\u202e" $'\\e[31m' \u0000 \u{e0041} \ue000`
    expect(explain(command)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202a-\u202e\ue000]|\u{e0041}/u)
  })
})

describe('any text at all', () => {
  it('is explained without a fault, within the width, with nothing to obey', () => {
    const piece = fc.constantFrom(
      '$(',
      ')',
      '`',
      '"',
      "'",
      'rm -r ',
      'sudo ',
      ' ',
      '|',
      '&&',
      ';',
      '<<E\n',
      '\n',
      '\\',
      '#',
      '$x',
      '>',
      '\u202e',
      '漢',
      'é\u0301',
      "sh -c '",
      'ssh a ',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 120 }), fc.boolean(), (command, width, whole) => {
        const shown = explain(command, width, 'default', whole)
        expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]/)
        for (const mark of shown.matchAll(/\^ (\d+)/g)) expect(shown).toMatch(new RegExp(`^ +${mark[1]} [▲■◐] `, 'm'))
      }),
      { numRuns: 500 },
    )
  })
})

describe('what the default policy would do', () => {
  it.each([
    ['df -h', 'auto', null],
    ['mkdir a', 'ask', null],
    ['rm -r /srv/x', 'confirm', 'rm local'],
  ])('%s: %s', (command, outcome, phrase) => {
    expect(byDefault(command, classify(command, { rules, posture: 'default' }))).toEqual({ outcome, phrase })
  })
})

describe('what is started', () => {
  it.each([
    ['sudo systemctl restart nginx', ['sudo › systemctl restart nginx']],
    ['LANG=C sort a > b', ['LANG=C sort a > b']],
    [`bash -c 'id; rm x' && ls`, ['   bash -c', '     › id', '     › rm x', '&& ls']],
    ['a; a; a; b', ['   a  (3 times)', ';  b']],
    ['ls "a b" "" $x', [`ls 'a b' '' $x`]],
    ['timeout 5 nice -n 3 find . -exec rm {} +', [`timeout 5 › nice -n 3 › find . -exec › rm '{}'`]],
    ['', []],
  ])('%s', (command, lines) => {
    expect(startedLines(startedBy(command))).toEqual(lines)
  })
})

describe('marks', () => {
  it('put a mark inside another one nearest to the text', () => {
    const marks = [
      { start: 0, end: 9, label: '1', risk: 'config_mutation' as const },
      { start: 3, end: 6, label: '2', risk: 'destructive' as const },
    ]
    expect(markedView('rm -rf /x && ls', marks, 80, plain, null).lines).toEqual([
      '  rm -rf /x && ls',
      '     ^^^ 2',
      '  ^^^^^^^^^ 1',
    ])
  })

  it('wrap words', () => {
    expect(wrapped('  one two three', 9, 2)).toEqual(['  one two', '    three'])
    expect(wrapped('', 9)).toEqual([''])
  })

  it('know how wide to be', () => {
    expect(widthOf({ isTTY: true, columns: 62 }, { COLUMNS: '90' })).toBe(62)
    expect(widthOf({ isTTY: true, columns: 4 }, {})).toBe(40)
    expect(widthOf({}, { COLUMNS: '90' })).toBe(90)
    expect(widthOf({}, { COLUMNS: 'x' })).toBe(100)
    expect(widthOf({}, {})).toBe(100)
  })
})
