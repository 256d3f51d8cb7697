// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what looks like a template is text for a shell
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { FILES_SANDBOX, SANDBOX_CHANGED } from '../../domain/risk'

/**
 * The text that is sent to the far side. A host's login shell may be anything (bash, dash, zsh, fish, csh), so what it has to read is
 * one line `exec /bin/sh -c '…' …` of single-quoted words without quotes, backslash pairs, `!` or newlines: all of them agree on that.
 * Everything else (script, folder, environment) travels as octal escapes that a `printf %b` of /bin/sh turns back into the exact bytes.
 */

/** What the far side offers, found out once per connection. */
export interface FarSide {
  readonly bash: boolean
  /** `seconds`: `timeout -k 2 N cmd` (coreutils, new busybox); `option`: `timeout -t N cmd` (old busybox). */
  readonly timeout: 'seconds' | 'option' | 'none'
  readonly setsid: boolean
  /** The shell that reads our text leads its own process group, so that the group is ours to end. */
  readonly leads: boolean
  /** bubblewrap is among the system's programs, and what the sandbox is made of is allowed to this user. */
  readonly sandbox: boolean
}

/** A process group, or, where the far side has no way to make one, a single process. */
export interface FarGroup {
  readonly pid: number
  readonly group: boolean
}

/** Above this the script goes through stdin: servers need not accept SSH packets over 32,768 bytes, and one argument ends at 128 KB. */
export const LONGEST_COMMAND_LINE = 24_000

/** The dead-man on the far side fires after the app's own limit, so that as long as the app lives its word is the one that is recorded. */
const DEAD_MAN_MARGIN_S = 10

/** Variables a run nobody was asked about keeps: who and where it is, its language, and which daemon or proxy it talks to. */
const KEPT = [
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
  'LC_COLLATE',
  'LC_MESSAGES',
  'LC_MONETARY',
  'LC_NUMERIC',
  'LC_TIME',
  'TZ',
  'TMPDIR',
  'XDG_RUNTIME_DIR',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'KUBECONFIG',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
] as const

/**
 * Where programs are looked for when nobody was asked: a `ls` in ~/bin of the account is not the `ls` that was judged. The folders of the
 * local runner but for Homebrew's, which the ordinary user may write to, and /snap/bin, whose programs are starters that read the user's
 * environment and may start a service; on a host we cannot look first at what stands there.
 */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** For our own helpers (`ps`, `sudo`, `timeout`): the system's where it has them, else wherever the host keeps them (NixOS). */
const SYSTEM_FIRST = `PATH=${SYSTEM_PATH}:$PATH; export PATH`

/** Settings of git that name programs a mere `git status` would start. Only environment and `-c` are above those of the repository. */
const GIT_SETTINGS = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
] as const

const FORCED = [
  `PATH=${SYSTEM_PATH}`,
  'PAGER=cat',
  'GIT_PAGER=cat',
  'SYSTEMD_PAGER=cat',
  'GIT_OPTIONAL_LOCKS=0',
  // A read never starts what a repository names for its remotes, and asks nobody for a password.
  'GIT_TERMINAL_PROMPT=0',
  'GIT_ASKPASS=/bin/false',
  'GIT_SSH_COMMAND=/bin/false',
  'GIT_ALLOW_PROTOCOL=none',
  // Nor does it fetch what a project of containers includes from elsewhere.
  'COMPOSE_EXPERIMENTAL_GIT_REMOTE=false',
  'COMPOSE_EXPERIMENTAL_OCI_REMOTE=false',
  `GIT_CONFIG_COUNT=${GIT_SETTINGS.length}`,
  ...GIT_SETTINGS.flatMap(([name, value], i) => [`GIT_CONFIG_KEY_${i}=${name}`, `GIT_CONFIG_VALUE_${i}=${value}`]),
] as const

/** The same for gits before 2.31, which do not know GIT_CONFIG_COUNT; it holds quotes, so it travels as an argument. */
const GIT_SETTINGS_OF_OLD = `GIT_CONFIG_PARAMETERS=${GIT_SETTINGS.map(([name, value]) => `'${name}=${value}'`).join(' ')}`

/**
 * What one file of a run nobody was asked about may grow to. /bin/sh counts in 512 bytes (dash, busybox and bash in its POSIX mode, which
 * the name `sh` puts it in; before 4.1 it counted in 1024, which makes it 128 MB).
 */
const FILE_BLOCKS = (64 * 1024 * 1024) / 512
/** Its address space, in 1024 bytes for every shell. */
const MEMORY_KB = 4 * 1024 * 1024

/**
 * Programs that reserve far more addresses than they use, or map files as large as a repository: a limit would break them. Whatever the
 * script names them for (`kubectl get node`), it then runs without that limit.
 */
const WIDE =
  /(?<![\w-])(?:git|node|nodejs|np[mx]|pnpm|yarn|bun|deno|tsx?c?|electron|code|chrom(?:e|ium)|java|javac|j(?:ps|stat|map|stack|cmd|info|shell|ar)|keytool|mvn|gradle|sbt|scala|kotlin|groovy|clojure|spark|hadoop|hdfs|hbase|kafka|zk|zookeeper|cassandra|nodetool|elasticsearch|opensearch|logstash|solr|jenkins|tomcat|catalina|jboss|dotnet|pwsh|erl|elixir|iex|mix|rabbitmq|ghc|stack|cabal|pandoc|shellcheck|julia|qemu|mongod?|mongosh)(?![a-z])/i

/** Starts a program in the sandbox; the folder is the one the shell is in. */
const IN_SANDBOX = `bwrap ${FILES_SANDBOX.join(' ')} --chdir "$PWD" --`

/** Sets a limit if the shell and the host let it; the first try is a shell of its own, because some shells end at a refusal. */
function limit(option: string, amount: number): string {
  return `if (ulimit ${option} ${amount}) >/dev/null 2>&1; then ulimit ${option} ${amount}; fi`
}

/** A fresh word nobody on the far side can know beforehand. */
export function nonce(): string {
  return `nomos-${randomBytes(16).toString('hex')}`
}

/**
 * The nonce as two arguments. A login shell that traces (`set -x` in .bashrc) prints our line; the whole nonce must not stand in it, or
 * that would be taken for the marker.
 */
export function halves(word: string): [string, string] {
  return [word.slice(0, 20), word.slice(20)]
}

/** Text to the octal escapes of `printf %b`; only characters that no shell treats specially inside single quotes stay as they are. */
export function escapeForPrintf(text: string): string {
  let out = ''
  for (const byte of Buffer.from(text, 'utf8')) {
    // 0x21 is `!` (csh expands it even in quotes), 0x27 the quote, 0x5c the backslash.
    if (byte >= 0x20 && byte < 0x7f && byte !== 0x21 && byte !== 0x27 && byte !== 0x5c) out += String.fromCharCode(byte)
    else out += `\\0${byte.toString(8).padStart(3, '0')}`
  }
  return out
}

/** Builds the one line for the login shell. The words must hold nothing that needs more than single quotes. */
export function commandLine(words: readonly string[]): string {
  for (const word of words) {
    if (/['!\n\r\0]|\\\\/.test(word))
      throw new Error('a word for the far side holds a character that not every login shell keeps')
  }
  return `exec /bin/sh -c ${words.map((word) => `'${word}'`).join(' ')}`
}

/**
 * Asks what the far side has. Answers `<nonce> bash=1 timeout=seconds setsid=1 leads=1 sandbox=1` on stdout.
 * The group of the shell is read from /proc where there is one, else asked of ps.
 */
export function probeCommand(word: string): string {
  const script = [
    'b=0; command -v bash >/dev/null 2>&1 && b=1',
    's=0; command -v setsid >/dev/null 2>&1 && s=1',
    // What follows is started, not only looked for.
    SYSTEM_FIRST,
    't=none',
    'if timeout -k 2 5 true >/dev/null 2>&1; then t=seconds; elif timeout -t 5 true >/dev/null 2>&1; then t=option; fi',
    'g=; if [ -r /proc/$$/stat ]; then read -r a1 a2 a3 a4 g a6 </proc/$$/stat; else g=$(ps -o pgid= -p $$ 2>/dev/null); fi',
    'l=0; [ "$((g))" = "$$" ] && l=1',
    // As a run would use it: from the system's folders only.
    `w=0; if (cd / && PWD=/ PATH=${SYSTEM_PATH} && ${IN_SANDBOX} true) </dev/null >/dev/null 2>&1; then w=1; fi`,
    'echo "$1$2 bash=$b timeout=$t setsid=$s leads=$l sandbox=$w"',
  ].join('; ')
  return commandLine([script, 'sh', ...halves(word)])
}

/** Reads the answer to `probeCommand`; null when it is not there. */
export function parseProbe(word: string, output: string): FarSide | null {
  const found = new RegExp(
    `${word} bash=([01]) timeout=(seconds|option|none) setsid=([01]) leads=([01]) sandbox=([01])`,
  ).exec(output)
  if (found === null) return null
  return {
    bash: found[1] === '1',
    timeout: found[2] === 'seconds' ? 'seconds' : found[2] === 'option' ? 'option' : 'none',
    setsid: found[3] === '1',
    leads: found[4] === '1',
    sandbox: found[5] === '1',
  }
}

export interface FarCommand {
  readonly script: string
  /** For a run that nobody was asked about: these words are started instead of the script, without a shell of their own. */
  readonly argv: readonly string[] | null
  /** `argv` is started in the sandbox of that name. */
  readonly sandbox: string | null
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly automatic: boolean
  /** What the script reads from its standard input; null: nothing. Not together with words of its own. */
  readonly input?: Uint8Array | null
}

export interface BuiltCommand {
  /** For `exec`. */
  readonly line: string
  /** What goes to stdin before its end; null when stdin is closed at once. */
  readonly stdin: string | Uint8Array | null
}

/** A script that is too long for the line goes by stdin, so it cannot be given anything to read besides. */
export const fitsBesideInput = (script: string): boolean => escapeForPrintf(script).length <= LONGEST_COMMAND_LINE

/**
 * Builds the command of a run.
 *
 * The outer shell decodes, enters the folder, writes the marker to both streams (all that came before it is noise of the login), and
 * then *becomes* `env … timeout … bash --norc -p -c <script>`: the pid it told is the group's, and exit code and signal are the script's own.
 * `-p` keeps bash from taking functions, BASH_ENV and SHELLOPTS out of the environment; unlike for sh that is all it does for equal ids.
 *
 * With an input the nonce goes before it, and the outer shell takes exactly that off again: when a login script has read some of it, or it
 * did not arrive at all, nothing is started.
 *
 * Where there is an `argv` it becomes `env … timeout … <words>` instead: no shell reads them, each travels as an argument.
 *
 * A run that nobody was asked about gets an environment of its own, the system's programs only, and limits; `systemOnly` comes before the
 * first program of ours, so that `env`, `timeout` and `bash` are the system's too. The plan's variables come last: with any of them the
 * gate asks.
 */
export function buildCommand(far: FarSide, word: string, command: FarCommand): BuiltCommand {
  const argv = command.automatic ? command.argv : null
  const sandboxed = argv !== null && command.sandbox !== null
  // With words of its own the script is only shown.
  const script = argv === null ? escapeForPrintf(command.script) : ''
  const input = command.input ?? null
  const byStdin = input === null && script.length > LONGEST_COMMAND_LINE
  const agreed = Object.entries(command.env).map(([name, value]) => `${name}=${value}`)
  const pairs = (command.automatic ? [GIT_SETTINGS_OF_OLD, ...agreed] : agreed).map(escapeForPrintf)
  const cwd = command.cwd === null ? null : command.cwd.startsWith('-') ? `./${command.cwd}` : command.cwd

  const shell = far.bash ? 'bash --norc -p -c' : '/bin/sh -c'
  const seconds = Math.ceil(command.timeoutMs / 1000) + DEAD_MAN_MARGIN_S
  const deadMan =
    far.timeout === 'seconds' ? `timeout -k 2 ${seconds}` : far.timeout === 'option' ? `timeout -t ${seconds}` : ''
  // A host may have these outside of the system's folders only; then a run nobody was asked about does without.
  const found = (word: string, otherwise: string): string =>
    `$(command -v ${word.split(' ')[0]} >/dev/null 2>&1 && echo "${word}" || echo "${otherwise}")`
  const starter = command.automatic
    ? argv !== null
      ? `${deadMan === '' ? '' : found(deadMan, '')} ${sandboxed ? IN_SANDBOX : ''}`
      : `${deadMan === '' ? '' : found(deadMan, '')} ${far.bash ? found(shell, '/bin/sh -c') : shell}`
    : deadMan === ''
      ? shell
      : // The one that was probed.
        `"$(${SYSTEM_FIRST}; command -v timeout)"${deadMan.slice('timeout'.length)} ${shell}`
  // In the sandbox only /tmp can be written to. A shell would have set PWD.
  const kept = argv === null ? KEPT : [...KEPT.filter((name) => !sandboxed || name !== 'TMPDIR'), 'PWD']
  // The words take the place of the arguments, so the variables of the plan move into variables of the shell.
  const ownPairs = pairs.map((_, i) => `"$e${i}"`)
  const env = command.automatic
    ? `env -i ${[...kept.map((name) => `\${${name}+"${name}=$${name}"}`), ...FORCED].join(' ')} ${argv === null ? '"$@"' : ownPairs.join(' ')} `
    : pairs.length > 0
      ? 'env "$@" '
      : ''
  const systemOnly = `PATH=${SYSTEM_PATH}; export PATH`
  const limits = command.automatic
    ? [limit('-f', FILE_BLOCKS), ...(WIDE.test(command.script) ? [] : [limit('-v', MEMORY_KB)])]
    : []
  const groupOfOurOwn = far.leads || far.setsid
  const streams = byStdin ? '3<&0 </dev/null' : input === null ? '</dev/null' : ''

  const steps = [
    ...(command.automatic ? [systemOnly] : []),
    'm=$1$2; s=$(printf %b. "$3"); s=${s%.}; d=$(printf %b. "$4"); d=${d%.}; shift 4',
    'for v do v=$(printf %b. "$v"); set -- "$@" "${v%.}"; shift; done',
    'unset BASH_ENV ENV CDPATH',
    'case $d in "~") d=$HOME;; "~/"*) d=$HOME/${d#??};; esac',
    'if [ -n "$d" ]; then cd -- "$d" || { echo "$m:cwd"; exit 1; }; fi',
    // Byte for byte: what is read beyond the nonce would be missing from the input.
    ...(input === null
      ? []
      : [`i=$(dd bs=1 count=${word.length} 2>/dev/null); [ "$i" = "$m" ] || { echo "$m:input"; exit 1; }`]),
    // When nobody listens any more these writes fail, and then nothing may start.
    `echo "$m" >&2 || exit 1; echo "$m:$$:${groupOfOurOwn ? 'g' : 'p'}" || exit 1`,
    ...limits,
    ...(argv === null ? [] : pairs.map((_, i) => `e${i}=$1; shift`)),
    `exec ${env}${starter} ${argv === null ? '"$s"' : '"$@"'} ${streams}`,
  ].join('; ')

  const payload = byStdin ? escapeForPrintf(readerOf(word)) : script
  const args = [
    ...halves(word),
    payload,
    cwd === null ? '' : escapeForPrintf(cwd),
    ...pairs,
    ...(argv ?? []).map(escapeForPrintf),
  ]
  const line =
    far.leads || !far.setsid
      ? commandLine([steps, 'sh', ...args])
      : // A login shell that stays as our parent leads the group: make a session below it and hand its exit code on (\041 is `!`).
        commandLine([
          (command.automatic ? `${systemOnly}; ` : '') +
            'exec 3<&0; setsid /bin/sh -c "$0" "$@" <&3 3<&- & exec 3<&-; b=$(printf "\\041"); eval "wait \\$$b"',
          steps,
          'sh',
          ...args,
        ])
  return {
    line,
    stdin:
      input !== null ? Buffer.concat([Buffer.from(word), input]) : byStdin ? `${word}${command.script}${word}` : null,
  }
}

/** Asks for each marked path whether it can be read, or gone into. */
const READABLE_INSIDE =
  '"for p do case \\$p in f*) [ -r \\"\\${p#f}\\" ] || exit 1;; *) [ -x \\"\\${p#d}\\" ] || exit 1;; esac; done"'

/** More operands than this are not looked at, and the run is a plain one. */
const MOST_OPERANDS = 24

/**
 * Looks whether a run in `cwd` reads the same in the sandbox as outside of it: no link on the way to any operand, none in a place that
 * looks different in there, only plain files that can be read. Root, who could read more outside, tries from the inside as well.
 * Answers `<nonce> alike` or `<nonce> other`; null when the words are too many to ask.
 */
export function alikeCommand(word: string, cwd: string | null, operands: readonly string[]): string | null {
  const args = operands.map(escapeForPrintf)
  if (args.length > MOST_OPERANDS || args.join('').length > LONGEST_COMMAND_LINE / 4) return null
  const changed = SANDBOX_CHANGED.map((place) => `${place}/*`).join('|')
  const script = [
    `PATH=${SYSTEM_PATH}; export PATH`,
    'm=$1$2; d=$(printf %b. "$3"); d=${d%.}; shift 3',
    'for v do v=$(printf %b. "$v"); set -- "$@" "${v%.}"; shift; done',
    'other() { echo "$m other"; exit 0; }',
    'unset CDPATH; case $d in "~") d=$HOME;; "~/"*) d=$HOME/${d#??};; esac',
    'if [ -n "$d" ]; then cd -- "$d" || other; fi',
    // Straight: what the path says is where it leads, and it looks the same in the sandbox.
    `straight() { case $1/ in ${changed}|*/./*|*/../*|*//*) other;; esac; [ "$(readlink -f -- "$1")" = "$1" ] || other; }`,
    'w=$(pwd -P); [ "$w" = "$PWD" ] || other; if [ "$w" = / ]; then w=; else straight "$w"; fi',
    // Behind a mark of its own each: `f` what is there, `d` the folder in which what is missing would be.
    'n=$#; while [ $n -gt 0 ]; do n=$((n-1)); p=${1#./}; shift; case $p in /*) ;; *) p=$w/$p;; esac; while :; do case $p in */) p=${p%/};; *) break;; esac; done',
    'if [ -e "$p" ] || [ -h "$p" ]; then straight "$p"; if [ -f "$p" ] && [ -r "$p" ]; then set -- "$@" "f$p"; else other; fi',
    `else q=$p; until [ -z "$q" ] || [ -e "$q" ] || [ -h "$q" ]; do q=\${q%/*}; done; case $p/ in ${changed}|*/../*) other;; esac; if [ -n "$q" ]; then straight "$q"; if [ -d "$q" ]; then set -- "$@" "d$q"; fi; fi; fi; done`,
    `if [ "$(id -u)" = 0 ]; then ${IN_SANDBOX} /bin/sh -c ${READABLE_INSIDE} sh "$@" </dev/null >/dev/null 2>&1 || other; fi`,
    'echo "$m alike"',
  ].join('; ')
  return commandLine([script, 'sh', ...halves(word), cwd === null ? '' : escapeForPrintf(cwd), ...args])
}

/** More programs than this are not looked for. */
const MOST_PROGRAMS = 32
/** What a path is made of that can be compared with a pattern: no control characters, no `.`, `..` or empty folder. */
const plainPath = (path: string): boolean =>
  path.startsWith('/') && !/\p{Cc}|\uFFFD/u.test(path) && !/\/(?:\.{0,2})(?:\/|$)/.test(path)
const plainName = (name: string): boolean =>
  name.includes('/') ? plainPath(name) : !/^-|^$|^\.\.?$|\p{Cc}|\uFFFD/u.test(name)

/**
 * Asks where a run that nobody was asked about would find programs. Answers a line for each that is there,
 * `<nonce> <position> <path> <path with all links followed> <rights of the file> <of the folder> <of the other folder>`, paths in
 * hexadecimal and rights as `-rwxr-xr-x/<uid>/<gid>`; before them `<nonce> home <path>`, behind them `<nonce> end`.
 * A name that is relative, or that no pattern could match, is not asked for. Null when nothing is left, or too much.
 */
export function locateCommand(word: string, programs: readonly string[]): string | null {
  const args = programs.map((name) => (plainName(name) ? escapeForPrintf(name) : ''))
  if (args.every((arg) => arg === '')) return null
  if (args.length > MOST_PROGRAMS || args.join('').length > LONGEST_COMMAND_LINE / 4) return null
  const script = [
    `PATH=${SYSTEM_PATH}; export PATH; LC_ALL=C; export LC_ALL; unset CDPATH`,
    'm=$1$2; shift 2; i=-1',
    'hex() { printf %s "$1" | od -An -v -tx1 | tr -d " \\012"; }',
    'rights() { ls -ldn -- "$1" 2>/dev/null | { read -r a b u g e; echo "$a/$u/$g"; }; }',
    'echo "$m home $(hex "$HOME")"',
    // What the shell runs itself has no path, and some shells name a file here that may not be executed.
    'for v do i=$((i+1)); v=$(printf %b. "$v"); v=${v%.}; if [ -z "$v" ]; then continue; fi',
    'c=$(command -v "$v" 2>/dev/null); case $c in /*) ;; *) continue;; esac',
    'if [ -f "$c" ] && [ -x "$c" ]; then r=$(readlink -fn -- "$c" && echo .) || continue; r=${r%.}',
    'echo "$m $i $(hex "$c") $(hex "$r") $(rights "$r") $(rights "${c%/*}/") $(rights "${r%/*}/")"; fi; done',
    'echo "$m end"',
  ].join('; ')
  return commandLine([script, 'sh', ...halves(word), ...args])
}

/** What programs are on the far side for a run that nobody was asked about. Those that are not in it are not known. */
export interface Located {
  /** Home folder of the account; null when it is not an ordinary path. */
  readonly home: string | null
  readonly programs: readonly {
    readonly program: string
    readonly path: string
    readonly real: string
    /** Both lie in folders of the system, and nobody but root can write the file or its folder. */
    readonly trusted: boolean
  }[]
}

const HexPath = z
  .string()
  .max(8192)
  .regex(/^(?:[0-9a-f]{2})+$/)
  .transform((hex) => Buffer.from(hex, 'hex').toString('utf8'))
  .refine(plainPath)
const Rights = z.string().max(64)
const LocatedLine = z.tuple([
  z
    .string()
    .regex(/^\d{1,2}$/)
    .transform(Number),
  HexPath,
  HexPath,
  Rights,
  Rights,
  Rights,
])

/** Root's, and for nobody else to write: a group may only where it is root's, and there is no list of further rights. */
const ROOT_ALONE = /^[-d][r-][w-][xsS-][r-](?:-[xsS-][r-]-[xtT-]\.?\/0\/\d+|w[xsS-][r-]-[xtT-]\.?\/0\/0)$/

const SYSTEM_FOLDERS = SYSTEM_PATH.split(':')
const ofSystem = (path: string): boolean =>
  [...SYSTEM_FOLDERS, '/usr/lib', '/usr/libexec', '/usr/share'].some((folder) => path.startsWith(`${folder}/`))

/** Reads the answer to `locateCommand`; null when it is not whole. What is odd in it is left out. */
export function parseLocated(word: string, programs: readonly string[], output: string): Located | null {
  const lines = output
    .split('\n')
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => line.split(' ').slice(1))
  if (lines.at(-1)?.join(' ') !== 'end') return null
  const found = new Map<string, Located['programs'][number] | null>()
  let home: string | null = null
  for (const line of lines) {
    if (line[0] === 'home') home = HexPath.safeParse(line[1]).data ?? null
    const read = LocatedLine.safeParse(line)
    if (!read.success) continue
    const [position, path, real, ...rights] = read.data
    const program = programs[position]
    if (program === undefined) continue
    const expected = program.includes('/')
      ? path === program
      : SYSTEM_FOLDERS.some((folder) => path === `${folder}/${program}`)
    const trusted = ofSystem(path) && ofSystem(real) && rights.every((one) => ROOT_ALONE.test(one))
    // A second word about the same program makes both worthless.
    found.set(program, expected && !found.has(program) ? { program, path, real, trusted } : null)
  }
  return { home, programs: [...found.values()].filter((one) => one !== null) }
}

/**
 * What the far shell runs when the script comes by stdin (there as descriptor 3). The script stands between two copies of the nonce, so
 * that a part of it (a connection that broke, a login script that read some) is never taken for the whole.
 * `set --` clears the argument it was held in; the script starts on the same line, so that its line numbers stay right.
 */
function readerOf(word: string): string {
  // The word is written in two pieces here too, for the same reason.
  const whole = halves(word).join('""')
  return [
    'set -- "$(cat <&3; echo .)"; exec 3<&-; set -- "${1%.}"',
    `case $1 in ${whole}*${whole}) ;; *) echo "nomos: the script did not arrive whole, nothing of it was run" >&2; exit 126 ;; esac`,
    `set -- "\${1#${whole}}"; eval "set --; \${1%${whole}}"`,
  ].join('; ')
}

/**
 * TERM to the group, up to two seconds for it to go, then KILL. What is left then belongs to somebody else, mostly to root through a
 * `sudo` of the command: it is ended through `sudo -n`, which works where the command itself could use sudo without a password.
 * Answers `<nonce> gone` or `<nonce> left`.
 */
export function killCommand(word: string, target: FarGroup): string {
  const script = [
    SYSTEM_FIRST,
    't=$3; g=$4',
    'nap() { sleep $1 2>/dev/null || sleep 1; }',
    // A zombie that nobody collects still answers to signal 0 and runs nothing; and to see what may not be signalled takes ps as well.
    'command -v ps >/dev/null 2>&1 || g=; left() { if [ -z "$g" ]; then kill -0 "$t" 2>/dev/null; return; fi; ps -e -o pgid= -o stat= 2>/dev/null | { while read -r p s; do if [ "$p" = "$g" ]; then case $s in Z*) ;; *) exit 0 ;; esac; fi; done; exit 1; }; }',
    // kill(1) as a program wants `--` before a group, some shells' own kill must not have it.
    'asroot() { sudo -n kill -s $1 -- "$t" </dev/null >/dev/null 2>&1 || sudo -n kill -s $1 "$t" </dev/null >/dev/null 2>&1; }',
    'kill -TERM "$t" 2>/dev/null; n=0',
    'while kill -0 "$t" 2>/dev/null && left; do if [ $n -ge 20 ]; then kill -KILL "$t" 2>/dev/null; nap 0.2; break; fi; n=$((n+1)); nap 0.1; done',
    'if left && command -v sudo >/dev/null 2>&1; then asroot TERM; n=0; while left; do if [ $n -ge 10 ]; then asroot KILL; nap 0.2; break; fi; n=$((n+1)); nap 0.2; done; fi',
    'if left; then echo "$1$2 left"; else echo "$1$2 gone"; fi',
  ].join('; ')
  const group = target.group ? `${target.pid}` : ''
  return commandLine([script, 'sh', ...halves(word), target.group ? `-${target.pid}` : `${target.pid}`, group])
}

/** Asks the host what it is, with the nonce around the answer so that a chatty login is told apart. */
export function unameCommand(word: string): string {
  const script = [SYSTEM_FIRST, 'echo "$1$2:$(uname -sr 2>/dev/null || echo unknown system):$1$2"'].join('; ')
  return commandLine([script, 'sh', ...halves(word)])
}
