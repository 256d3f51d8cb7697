import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findInvisible, parseShell, unfold } from './index'

const values = (text: string) => parseShell(text).commands.map((command) => command.words.map((word) => word.value))
const programs = (text: string) =>
  unfold(parseShell(text)).invocations.map((invocation) => invocation.words.map((word) => word.shape).join(' '))

describe('parseShell', () => {
  it('takes a tree that is too deep for one that cannot be judged, not for a fault', () => {
    const parsed = parseShell(`echo $((${'1+'.repeat(8000)}1)); rm -rf a`)
    expect(parsed.tooDeep).toBe(true)
    expect(parsed.commands.some(({ words }) => words[0]?.shape === 'rm')).toBe(true)
  })

  it('decodes words', () => {
    expect(values("l's' -\"l\"a \\-x a\\ b $'\\x41\\n' 'it''s' a\\\nb")).toEqual([
      ['ls', '-la', '-x', 'a b', 'A\n', 'its', 'ab'],
    ])
  })

  it.each([
    ['echo $A', 'variable'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not a template
    ['echo "${A}"', 'variable'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not a template
    ['echo ${A:=b}', 'expansion'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not a template
    ['echo ${!A}', 'expansion'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not a template
    ['echo ${A@P}', 'expansion'],
    ['echo $@', 'expansion'],
    ['echo *.c', 'glob'],
    ['echo a[12]', 'glob'],
    ['echo {a,b}', 'brace'],
    ['echo ~/a', 'tilde'],
    ['echo $(a)', 'substitution'],
    ['echo `a`', 'substitution'],
    ['echo <(a)', 'substitution'],
    ['echo $((1))', 'arithmetic'],
    ['echo +(a)', 'expansion'],
  ])('%s is %s', (text, kind) => {
    const word = parseShell(text).commands.find((command) => command.words[0]?.shape === 'echo')?.words[1]
    expect(word?.value).toBeNull()
    expect(word?.dynamic).toContain(kind)
  })

  it.runIf(spawnSync('bash', ['--version']).status === 0)('decodes as bash does', () => {
    const pieces =
      'a|b c|\'|"|\\|\t|\n|\\\n|$\'|\\x41|\\n|$|"$"|~|*|[|]|{|}|,|!|#| #|=|-|\'\'|""|\\\'|;|&|>|<|(|)|`|$(|${|@|%|:|/|.|é|\\\\|$"|\\101|\\u00e9|\\c|\r'
        .split('|')
        .concat('|')
    const literal: { text: string; words: (string | null)[] }[] = []
    const shapes = fc.sample(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 9 }), {
      numRuns: 6000,
      seed: 20,
    })
    for (const shape of shapes) {
      const text = `zz ${shape.join('')}`
      const parsed = parseShell(text)
      const command = parsed.commands[0]
      if (!command || !parsed.plain || parsed.commands.length > 1 || command.redirections.length > 0) continue
      if (command.words.every((word) => word.value !== null))
        literal.push({ text, words: command.words.map((word) => word.value) })
    }
    expect(literal.length).toBeGreaterThan(300)
    // With no PATH nothing can run; the handler only tells with which words something would have been run.
    const script = `command_not_found_handle() { printf '%s\\0' "$@"; }
      PATH=/nonexistent; while IFS= read -r -d '' c; do ( eval "$c" ) 2>/dev/null </dev/null; printf 'STOP\\0'; done`
    const { stdout } = spawnSync('bash', ['--norc', '-c', script], {
      input: literal.map(({ text }) => `${text}\0`).join(''),
      env: { LC_ALL: 'C.UTF-8', HOME: '/h' },
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
    const answers = stdout.split('STOP\0').map((answer) => answer.split('\0').slice(0, -1))
    literal.forEach(({ text, words }, i) => {
      expect(answers[i], JSON.stringify(text)).toEqual(words)
    })
  })

  it('keeps spans in UTF-16 units', () => {
    const text = "echo '😀' zwei"
    const word = parseShell(text).commands[0]?.words[2]
    expect(text.slice(word?.start, word?.end)).toBe('zwei')
  })

  it('lists assignments and redirections', () => {
    const command = parseShell('A=1 B+=2 ls 2>&1 >>out <in').commands[0]
    expect(command?.assignments.map((a) => [a.name, a.special])).toEqual([
      ['A', false],
      ['B', true],
    ])
    expect(command?.redirections.map((r) => [r.operator, r.fd, r.target?.value])).toEqual([
      ['>&', 2, '1'],
      ['>>', null, 'out'],
      ['<', null, 'in'],
    ])
  })

  it('finds the commands of every construct', () => {
    const text =
      'a | b && c || d; e & (f); { g; }; if h; then i; elif j; then k; else l; fi; for x in y; do m; done; while n; do o; done; case p in q) r;; esac; s() { t; }; v $(w) `x` <(y)'
    const names = parseShell(text)
      .commands.map((command) => command.words[0]?.shape)
      .sort()
    expect(names).toEqual('a b c d e f g h i j k l m n o r t v w x y'.split(' '))
  })

  it.each([
    ['{rm,-rf,/}', 'rm'],
    ['{ls,/} | cat', 'ls'],
    ['$X rm a', 'rm'],
    ['$(true) rm a', 'rm'],
    ["printf -v 'a[$(rm a)]' x", 'rm'],
    ["let 'a[`rm a`]'", 'rm'],
    ["trap 'rm a' EXIT", 'rm'],
  ])('suspects what is only made at run time: %s', (text, name) => {
    const { commands } = parseShell(text)
    expect(commands.map(({ words }) => words[0]?.shape)).toContain(name)
    expect(commands.length).toBeGreaterThan(1)
  })

  it.each([
    'ls )',
    'ls "a',
    '[[ -f a ]]',
    '((1))',
    'A=($(id))x',
    'ls 3<&-rm',
    'ls >',
    'if',
    'case a',
    'coproc a b',
    'ls 2\\\n>f',
    '>f a[ 1 ]=b ls',
    "ls $'\\x{41}'",
    "ls $'\\xe9'",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell text
    'echo ${A[{a,$(id)}]}',
    'ls a\\',
    "ls >& '$(id)'",
  ])('does not claim to have understood %j', (text) => expect(parseShell(text).findings.length).toBeGreaterThan(0))

  it('tells plain sequences from everything else', () => {
    for (const text of ['ls', 'a | b', 'a && b; c\nd', '! a', '# note\nls'])
      expect(parseShell(text).plain, text).toBe(true)
    for (const text of ['a &', '(a)', 'a $(b)', 'f() { a; }', 'a <<E\nE', 'if a; then b; fi'])
      expect(parseShell(text).plain, text).toBe(false)
  })

  it('reads coarsely what is too long or too deep', () => {
    const long = parseShell(`${'a; '.repeat(6000)}"r"m -rf 'x y'`)
    expect(long.tooLarge).toBe(true)
    expect(long.commands.at(-1)?.words.map((word) => word.value)).toEqual(['rm', '-rf', 'x y'])
    const deep = parseShell(`${'$(a '.repeat(50)}rm x${')'.repeat(50)}`)
    expect(deep.tooDeep).toBe(true)
    expect(deep.commands.some((command) => command.words.some((word) => word.value === 'rm'))).toBe(true)
  })

  it('never throws and stays within the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        for (const command of unfold(parseShell(text)).commands) {
          expect(command.start).toBeGreaterThanOrEqual(0)
          expect(command.start).toBeLessThanOrEqual(text.length)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('unfold', () => {
  it.each([
    ['sudo -u bob rm x', 'rm x'],
    ['env -i A=1 -u B rm x', 'rm x'],
    ["env -S 'rm x'", 'rm x'],
    ['nice -10 rm x', 'rm x'],
    ['ionice -c 3 rm x', 'rm x'],
    ['timeout --signal=KILL 5 rm x', 'rm x'],
    ['stdbuf -oL rm x', 'rm x'],
    ['time -p rm x', 'rm x'],
    ['/usr/bin/time -f %e rm x', 'rm x'],
    ['xargs -n 1 -I {} rm {}', 'rm {}'],
    ['find . -name a -exec rm {} + -print', 'rm {}'],
    ['find . -ok rm {} \\;', 'rm {}'],
    ["sh -ec 'rm x'", 'rm x'],
    ["bash -o pipefail -c 'rm x'", 'rm x'],
    ["ssh -o A=b host -- 'rm x'", 'rm x'],
    ['ssh host rm x', 'rm x'],
    ['docker exec -it -u root web rm x', 'rm x'],
    ['docker compose exec web rm x', 'rm x'],
    ['docker run --rm -v /:/mnt alpine rm x', 'rm x'],
    ['kubectl -n a exec web -c b -- rm x', 'rm x'],
    ['pct exec 101 -- rm x', 'rm x'],
    ['lxc-attach -n web -- rm x', 'rm x'],
    ['qm guest exec 100 -- rm x', 'rm x'],
    ["su - bob -c 'rm x'", 'rm x'],
    ['runuser -u bob -- rm x', 'rm x'],
    ["flock /tmp/l -c 'rm x'", 'rm x'],
    ['flock /tmp/l rm x', 'rm x'],
    ['chroot /mnt rm x', 'rm x'],
    ['nsenter -t 1 -m rm y', 'rm y'],
    ['systemd-run --uid=0 rm x', 'rm x'],
    ["watch 'rm x'", 'rm x'],
    ["tmux new-session -d 'rm x'", 'rm x'],
    ['parallel rm ::: a', 'rm a'],
    ['busybox rm x', 'rm x'],
    ["script -c 'rm x' /dev/null", 'rm x'],
    ["eval 'rm x'", 'rm x'],
    ["git submodule foreach 'rm x'", 'rm x'],
    ['echo cm0geA== | base64 -d | bash', 'rm x'],
    ['echo 726d2078 | xxd -r -p | sh', 'rm x'],
    ["echo 'x mr' | rev | sh", 'rm x'],
    ['A=rm; $A x', 'rm x'],
    ['for c in rm; do $c x; done', 'rm x'],
  ])('%s starts %s', (text, program) => expect(programs(text)).toContain(program))

  it('does not take a question for a start', () => {
    expect(programs('command -v rm')).toEqual(['command -v rm'])
    expect(programs("echo 'rm x'")).toEqual(['echo rm x'])
    expect(programs("bash a.sh 'rm x'")).toEqual(['bash a.sh rm x'])
  })

  it('stops at a cap and says so', () => {
    expect(unfold(parseShell(`${'nice '.repeat(30)}ls`)).cut).toBe(true)
    expect(unfold(parseShell(`${'nice '.repeat(10)}ls`)).cut).toBe(false)
  })
})

describe('findInvisible', () => {
  it('finds what nobody sees', () => {
    for (const c of [
      '\u00a0',
      '\u200b',
      '\u202e',
      '\u2066',
      '\ufeff',
      '\u0000',
      '\u001b',
      '\r',
      '\ue000',
      '\u3164',
      '\u{e0041}',
      '\ud800',
    ])
      expect(findInvisible(`ls ${c}a`), JSON.stringify(c)).toMatchObject({ start: 3 })
    for (const text of ['ls\t-l\n', 'größe', '日本', '😀', 'é']) expect(findInvisible(text), text).toBeNull()
  })
})
