// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
/** Texts of 16 KB that are bad for a reader of shell: repeated pieces, deep ones, long ones, and random mixtures of fragments. */

/** The most the gate parses, in UTF-16 units. */
export const SIZE = 16 * 1024

/** Repeats a piece between a head and a tail until the whole is as long as allowed. */
function fill(piece, head = '', tail = '') {
  const room = SIZE - head.length - tail.length
  return head + piece.repeat(Math.max(0, Math.floor(room / piece.length))) + tail
}

/** Counts up in the pieces, so that no two are the same. */
function count(piece, head = '', tail = '') {
  let text = head
  for (let i = 0; ; i++) {
    const next = piece(i)
    if (text.length + next.length + tail.length > SIZE) return text + tail
    text += next
  }
}

/** `sh -c` inside `sh -c`: every level is quoted once more than the one inside it. */
function nestedShells(levels) {
  let text = 'ls'
  for (let i = 0; i < levels; i++) {
    const next = `sh -c '${text.replaceAll("'", "'\\''")}'`
    if (next.length > SIZE) break
    text = next
  }
  return text
}

const around = (open, inner, close, levels) => open.repeat(levels) + inner + close.repeat(levels)

/** @type {Readonly<Record<string, () => string>>} */
export const generators = {
  'one command many words': () => fill(' a', 'ls'),
  'many small commands': () => fill('ls;'),
  'many small commands on lines': () => fill('ls\n'),
  'many different commands': () => count((i) => `c${i};`),
  'many unknown words with numbers': () => count((i) => ` w${i}`, 'cat'),
  'one long word': () => fill('a', 'cat '),
  'one long path': () => fill('/a', 'cat '),
  'one long dotted path': () => fill('/..', 'cat /a'),
  'many paths': () => fill(' /a', 'cat'),
  'many home paths': () => fill(' ~/a', 'cat'),
  'many climbing paths': () => fill(' ../a', 'cat'),
  'many secret paths': () => fill(' ~/.ssh/id_rsa', 'cat'),
  'many near secret paths': () => fill(' ~/.ssh/x', 'cat'),
  'many globs': () => fill(' *', 'cat'),
  'one word of globs': () => fill('*a', 'cat '),
  'many bracket globs': () => fill(' [a-z]*', 'cat'),
  'one long bracket': () => fill('a', 'cat [', ']'),
  'many open brackets': () => fill('[', 'cat '),
  'many braces': () => fill(' {a,b}', 'cat'),
  'one word of braces': () => fill('{a,b}', 'cat '),
  'long brace list': () => fill('a,', 'cat {', 'a}'),
  'deep braces': () => `cat ${around('{a,', 'b', '}', 4000)}`,
  'many options': () => fill(' -a', 'ls'),
  'many long options': () => fill(' --all', 'ls'),
  'many options with values': () => fill(' --a=b', 'ls'),
  'one cluster of options': () => fill('a', 'ls -'),
  'many single quotes': () => fill(" 'a'", 'cat'),
  'one word of single quotes': () => fill("'a'", 'cat '),
  'empty quotes': () => fill("''", 'cat '),
  'many double quotes': () => fill(' "a"', 'cat'),
  'one word of double quotes': () => fill('"a"', 'cat '),
  'many ANSI-C quotes': () => fill(" $'a'", 'cat'),
  'one word of ANSI-C escapes': () => fill('\\x41', "cat $'", "'"),
  'open quote': () => fill('a ', "cat '"),
  'many escapes': () => fill('\\a', 'cat '),
  'many backslashes': () => fill('\\', 'cat '),
  'line continuations': () => fill('\\\n', 'cat ', 'a'),
  'continuations in words': () => fill('a\\\n', 'cat '),
  'many variables': () => fill(' $a', 'cat'),
  'one word of variables': () => fill('$a', 'cat '),
  'many quoted variables': () => fill(' "$a"', 'cat'),
  'many expansions': () => fill(' ${a}', 'cat'),
  'many expansions with defaults': () => fill(' ${a:-b}', 'cat'),
  'nested expansions': () => `cat ${around('${a:-', 'b', '}', 38)}`.repeat(1),
  'many nested expansions': () => fill(` ${around('${a:-', 'b', '}', 30)}`, 'cat').slice(0, SIZE),
  'many assignments': () => fill('A=b '),
  'many assignments and a command': () => fill('A=b ', '', 'ls'),
  'many assignment commands': () => fill('A=b;'),
  'assignments that grow': () => fill('A=$A$A;'),
  'variables that are followed': () => count((i) => `A${i}=rm;$A${i} x;`),
  'array elements': () => fill(' a', 'A=(', ')'),
  'many arrays': () => fill('A=(a);'),
  'many subscripts': () => fill(' ${a[1]}', 'cat'),
  'many substitutions': () => fill(' $(a)', 'cat'),
  'many empty substitutions': () => fill(' $()', 'cat'),
  'many quoted substitutions': () => fill(' "$(a)"', 'cat'),
  'many backticks': () => fill(' `a`', 'cat'),
  'open backtick': () => fill('a ', 'cat `'),
  'under 600 substitutions': () => `cat${' $(aaaaaaaaaaaaaaaaaaaaaaa)'.repeat(599)}`.slice(0, SIZE),
  'deep substitutions': () => around('$(', 'a', ')', 5000),
  'substitutions of depth 39': () => fill(`${around('$(a ', 'b', ')', 39)};`).slice(0, SIZE),
  'long deep substitutions': () => around(`$(a ${'b '.repeat(190)}`, 'c', ')', 39),
  'deep subshells': () => around('(', 'a', ')', 8000),
  'deep groups': () => around('{ ', 'a;', ' }', 3000),
  'many subshells': () => fill('(a);'),
  'many groups': () => fill('{ a;};'),
  'process substitutions': () => fill(' <(a)', 'cat'),
  'many arithmetic expansions': () => fill(' $((1))', 'cat'),
  'one long sum': () => fill('1+', 'echo $((', '1))'),
  'deep arithmetic': () => `echo $((${around('(', '1', ')', 38)}))`,
  'many arithmetic commands': () => fill('((1));'),
  'many tests': () => fill('[[ a ]];'),
  'one long test': () => fill('a && ', '[[ ', 'a ]]'),
  'many bracket tests': () => fill('[ a ];'),
  'many redirections': () => fill(' >a', 'ls'),
  'many redirections to nothing': () => fill(' >/dev/null', 'ls'),
  'many copies of descriptors': () => fill(' 2>&1', 'ls'),
  'many inputs': () => fill(' <a', 'cat'),
  'many redirected commands': () => fill('a>b;'),
  'hidden commands behind descriptors': () => fill(' 3<&-a', 'ls'),
  'many here-strings': () => fill(' <<<a', 'cat'),
  'one long here-document': () => fill('a\n', 'cat <<E\n', 'E\n'),
  'a here-document with variables': () => fill('$a\n', 'cat <<E\n', 'E\n'),
  'a here-document with substitutions': () => `cat <<E\n${'$(a) '.repeat(599)}\nE\n`,
  'a quoted here-document': () => fill('$(a)\n', "cat <<'E'\n", 'E\n').replaceAll('(', '['),
  'many here-documents': () => fill('cat <<E\na\nE\n'),
  'many here-documents on one line': () => fill(' <<E', 'cat'),
  'here-document without an end': () => fill('a\n', 'cat <<E\n'),
  'one long pipeline': () => fill('a|', '', 'a'),
  'a pipeline of reads': () => fill('cat|', '', 'cat'),
  'a pipeline of filters': () => fill('grep a|', '', 'wc'),
  'one long list': () => fill('a&&', '', 'a'),
  'one long list of or': () => fill('ls||', '', 'ls'),
  'many in the background': () => fill('a&'),
  'many semicolons': () => fill(';'),
  'many pipes': () => fill('|'),
  'many ampersands': () => fill('&'),
  'many comments': () => fill('#a\n'),
  'one long comment': () => fill('a', 'ls #'),
  'many blanks': () => fill(' ', 'ls', 'a'),
  'many new lines': () => fill('\n', 'ls', 'ls'),
  'many conditions': () => fill('if a;then b;fi;'),
  'deep conditions': () => around('if a;then ', 'b', ';fi', 1000),
  'many loops': () => fill('for a in b;do c;done;'),
  'one long loop list': () => fill(' a', 'for x in', ';do c;done'),
  'many while loops': () => fill('while a;do b;done;'),
  'deep while loops': () => around('while a;do ', 'b', ';done', 700),
  'many cases': () => fill('case a in b) c;;esac;'),
  'one long case': () => fill('a) b;;', 'case x in ', 'esac'),
  'many case patterns': () => fill('a|', 'case x in ', 'a) b;;esac'),
  'many functions': () => fill('f(){ a;};'),
  'many different functions': () => count((i) => `f${i}(){ a;};f${i};`),
  'functions that call themselves': () => fill('f(){ f|f&};f;'),
  'many coprocesses': () => fill('coproc a;'),
  'broken from the start': () => fill('ls ', ') '),
  'broken at the end': () => fill('ls;', '', ')'),
  'many errors': () => fill(') '),
  'many fi': () => fill('fi;'),
  'many open groups': () => fill('{ '),
  'many open conditions': () => fill('if '),
  'many unknown signs': () => fill('é'),
  'many emoji': () => fill('😀', 'cat '),
  'invisible characters': () => fill('\u200b', 'cat '),
  'a chain of sudo': () => fill('sudo ', '', 'ls'),
  'a chain of env': () => fill('env ', '', 'ls'),
  'a chain of nice': () => fill('nice ', '', 'ls'),
  'a chain of timeouts': () => fill('timeout 5 ', '', 'ls'),
  'a chain of xargs': () => fill('xargs ', '', 'ls'),
  'a chain of mixed wrappers': () => fill('sudo env nice timeout 5 ', '', 'ls'),
  'many wrapped commands': () => fill('sudo ls;'),
  'many commands wrapped 15 times': () => fill(`${'nice '.repeat(15)}ls;`),
  'wrapped 15 times with many words': () => fill(' a', `${'nice '.repeat(15)}ls`),
  'wrapped 15 times with many paths': () => fill(' /a', `${'sudo '.repeat(15)}cat`),
  'sudo with many options': () => fill(' -n', 'sudo', ' ls'),
  'env with many assignments': () => fill(' A=b', 'env', ' ls'),
  'find with many tests': () => fill(' -name a', 'find .'),
  'find with many actions': () => fill(' -exec a {} \\;', 'find .'),
  'find with many brackets': () => fill(' \\( -name a \\)', 'find .'),
  'xargs with many words': () => fill(' a', 'xargs ls'),
  'sh -c of many commands': () => fill('ls;', "sh -c '", "'"),
  'sh -c of one long word': () => fill('a', "sh -c 'cat ", "'"),
  'sh -c of many quotes': () => fill('"a"', "sh -c 'cat ", "'"),
  'many sh -c': () => fill("sh -c 'ls';"),
  'sh -c in sh -c': () => nestedShells(12),
  'bash -c in substitutions': () => fill(" $(bash -c 'a')", 'echo').slice(0, SIZE),
  'ssh with many words': () => fill(' a', 'ssh h'),
  'many ssh': () => fill('ssh h a;'),
  'eval of many commands': () => fill('ls;', "eval '", "'"),
  'many eval': () => fill('eval ls;'),
  'many docker exec': () => fill('docker exec c ls;'),
  'base64 chains': () => fill('echo cm0gLXJmIC8=|base64 -d|sh;'),
  'one long base64': () => fill('cm0g', 'echo ', '|base64 -d|sh'),
  'base64 through many cats': () => fill('cat|', 'echo cm0gLXJmIC8=|base64 -d|', 'sh'),
  'many printf': () => fill("printf 'a\\n'|sh;"),
  'printf with many values': () => fill(' a', "printf '%s'", '|sh'),
  'long printf format': () => fill('%s', "printf '", "' a|sh"),
  'echo -e escapes': () => fill('\\x72', "echo -e '", "'|sh"),
  'tr chains': () => fill('tr a b|', 'echo a|', 'sh'),
  'rev chains': () => fill('rev|', 'echo a|', 'sh'),
  'many python -c': () => fill("python3 -c 'a';"),
  'one long python -c': () => fill('a ', "python3 -c '", "'"),
  'python -c with many quotes': () => fill('"a" ', "python3 -c '", "'"),
  'python -c with many calls': () => fill('os.system("a");', "python3 -c '", "'"),
  'one long awk program': () => fill('{print $1}', "awk '", "' a"),
  'one long sed program': () => fill('s/a/b/;', "sed '", "' a"),
  'sed with many expressions': () => fill(' -e p', 'sed'),
  'one long jq program': () => fill('.a|', "jq '", ".' a"),
  'one long SQL text': () => fill('select 1;', "psql -c '", "'"),
  'SQL that drops nothing': () => fill('drop ', "psql -c '", "'"),
  'many git': () => fill('git log;'),
  'git with many configurations': () => fill(' -c a=b', 'git', ' log'),
  'many kubectl': () => fill('kubectl get pods;'),
  'kubectl with many operands': () => fill(' a', 'kubectl get'),
  'many curl': () => fill('curl http://a;'),
  'curl with many addresses': () => fill(' http://a', 'curl'),
  'many rm': () => fill('rm a;'),
  'rm with many paths': () => fill(' /a', 'rm -rf'),
  'dd with many operands': () => fill(' of=a', 'dd'),
  'many chmod': () => fill('chmod 7 a;'),
  'chmod with many paths': () => fill(' /a', 'chmod -R 7'),
  'many reads of secrets': () => fill('cat ~/.ssh/id_rsa;'),
  'grep in many files': () => fill(' /a', 'grep a'),
  'a long grep pattern': () => fill('a', "grep '", "' b"),
  'tar with many members': () => fill(' a', 'tar tf b'),
  'many programs by path': () => fill('/bin/ls;'),
  'many programs from variables': () => fill('$a b;'),
  'many programs from substitutions': () => fill('$(a) b;').slice(0, SIZE),
  'many programs from fallbacks': () => fill('${x:-rm} a;').slice(0, SIZE),
  'colons in words': () => fill('a:', 'cat '),
  'equal signs in words': () => fill('a=', 'cat '),
  'tildes in words': () => fill(':~', 'cat a=b'),
  'commas in words': () => fill('a,', 'cat '),
  'at signs in words': () => fill('a@', 'cat '),
  'many host:file': () => fill(' h:a', 'rsync'),
  'many nomos paths': () => fill(' nomos', 'ls'),
  'many nomos commands': () => fill('nomos x;'),
}

/** Mulberry32: the same numbers for the same seed, from 0 up to 1. */
export function random(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const FRAGMENTS = [
  ..."a ls cat rm grep sed awk find xargs sudo env nice timeout sh bash eval ssh docker git kubectl echo printf base64 psql python3 curl tar dd chmod nomos -a -c -rf --all --a=b -exec -e -- / /a ~/a ../ /etc/shadow ~/.ssh/id_rsa /dev/sda * ? [a] {a,b} $a ${a} ${a:-b} $( ) ` ' \" $' \\ ; ;; && || | & > >> < <<< << 2>&1 &> ( ) { } (( )) [[ ]] = A=b += : , @ # ! ~ . .. % é 0 1 for if then fi do done while case esac in function".split(
    ' ',
  ),
  ' ',
  ' ',
  ' ',
  '\n',
  '\t',
  '\\\n',
  "'a'",
  '"a"',
  '$(a)',
  '`a`',
  '$((1))',
  '<(a)',
  "sh -c 'a'",
  'exec c ',
  'sudo -u a ',
  'http://a/b',
  'user@host:a',
  '\u200b',
]

/**
 * Endless random shapes, the same for the same seed: a few fragments, repeated until the text is full.
 * @param {number} seed
 * @returns {Generator<{unit: string, text: string}>}
 */
export function* searched(seed) {
  const next = random(seed)
  const pick = () => FRAGMENTS[Math.floor(next() * FRAGMENTS.length)]
  const some = (most) => {
    let text = ''
    const n = 1 + Math.floor(next() * most)
    for (let i = 0; i < n; i++) {
      text += pick()
      if (next() < 0.4) text += ' '
    }
    return text
  }
  for (;;) {
    const head = next() < 0.6 ? some(3) : ''
    const piece = some(5)
    const tail = next() < 0.3 ? some(2) : ''
    yield { unit: tail === '' ? [head, piece] : [head, piece, tail], text: fill(piece, head, tail) }
  }
}
