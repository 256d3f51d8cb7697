import type { Invocation, SimpleCommand, Word } from '../shell'
import { carries, suspectedName } from '../shell'
import { globCouldMatch, normalisePath, pathCandidates, resolve, type Where } from './paths'

/** Nomos's own files wherever they lie: default folders of each platform, sockets, tokens, the approvals file, the ledger. */
const OWN_FILES =
  /(?:\.local\/(?:share|state)\/nomos|\.config\/nomos|\.cache\/nomos|\/\.nomos|^\.nomos|Library\/(?:Application Support|Caches|Logs)\/Nomos|AppData[\\/](?:Roaming|Local)[\\/]Nomos)(?![\w-])|exec-approvals\.json|\bNOMOS_[A-Z]|\$\{?NOMOS_|(?:^|[\\/])nomos[\w.-]*\.(?:sock|token|db|sqlite3?|pid)\b|nomos[\w.-]*[\\/](?:ledger|tokens?|sockets?|approvals|policy)\b|nomos[\w.-]*[\\/][\w.-]+\.(?:sock|token|db|sqlite3?|pid|jsonl)\b|(?:^|[\\/=:@])(?:run|tmp)[\\/](?:[\w.-]+[\\/])*nomos(?![\w-])|(?:^|[\\/=:@])control\.(?:sock|token)$|\bEXEC_GATE_[A-Z]/i

/** Sub-commands of the `nomos` command that look only. Everything else answers, changes or switches something. */
const LOOKING = new Set(['classify', 'doctor', 'version', 'help', '--help', '--version', '-h', 'run'])
const LOOKING_PAIRS = new Set([
  'executions list',
  'executions show',
  'executions cancel',
  'approvals pending',
  'approvals list',
  'approvals show',
  'approvals history',
  'switches show',
  'ledger verify',
  'ledger tail',
  'exec-policy show',
  'grants list',
  'grants kinds',
  'policy lint',
  'policy show',
  'policy explain',
])

const LAUNCHERS = new Set([
  'npm',
  'npx',
  'pnpm',
  'yarn',
  'bun',
  'bunx',
  'node',
  'nodejs',
  'electron',
  'tsx',
  'deno',
  'make',
])
const KILLERS = new Set(['kill', 'pkill', 'killall', 'killall5', 'skill', 'xkill', 'fuser', 'taskkill', 'Stop-Process'])
const OWN_PROCESS = /nomos|electron|out\/main|main\/(?:index|headless|cli|core)\b/i
/** What Nomos's process is called by the system. */
const OWN_NAMES = ['nomos', 'electron', 'node']
const FINDERS = /^(?:pgrep|pidof|ps|grep|egrep|awk|lsof|fuser)$/
/** Tools that press keys and click for somebody: they could press Approve. */
const INPUT_TOOLS =
  /^(?:xdotool|ydotool|ydotoold|kdotool|dotool|dotoold|wmctrl|xte|wtype|wlrctl|xvkbd|xmacroplay|evemu-(?:event|play)|cliclick|AutoHotkey\w*|autokey-run)$/i
/** Tools of the notice daemon that press a button of a notice. */
const NOTICE_TOOLS = /^(?:dunstctl|makoctl|swaync-client|fnottctl|xfce4-notifyd-config)$/
const NOTICE_LOOKS = /^(?:count|history|is-paused|list|mode|-c|--count|-h|--help|-v|--version)$/
/** Tools that speak on the message bus: they could press an entry of the tray or say that a button was pressed. */
const BUS_TOOLS = /^(?:dbus-send|gdbus|busctl|qdbus\w*|dbus-monitor|dbus-test-tool|dbusc|dasbus)$/
const BUS_PLACES =
  /dbusmenu|StatusNotifier|MenuBar|freedesktop[./]Notifications|ActionInvoked|NotificationClosed|ActivationToken|nomos/i
const INPUT_CODE =
  /\b(?:pyautogui|pynput|dbusmenu|StatusNotifierItem|ActionInvoked|xdotool|ydotool|robotjs|nut-js|uinput)\b|System Events|\/dev\/uinput|\/dev\/input\/event/
/** The program of the `nomos` command in a checkout. */
const OWN_CLI = /(?:^|\/)out\/main\/(?:cli|index|headless|core)(?:\.[cm]?js)?$/
const OWN_NAME = /^nomos(?:\.(?:mjs|js|cjs|AppImage))?$/i
/** Sub-commands that answer, change policy or flip something, when the looking pairs are left out. */
const GROUPS = new Set(
  'approvals policy exec-policy switch switches grants grant yolo settings hosts sessions'.split(' '),
)
const ANSWERS = new Set(['approve', 'deny'])
/** Programs for which a name is only a name. */
const NAMING =
  /^(?:cd|pushd|grep|egrep|fgrep|rg|ls|echo|printf|cat|head|tail|git|find|fd|less|wc|stat|du|man|which|type|tree)$/

type Relation = 'inside' | 'above' | null

/** How a resolved path stands to a folder; with wildcards, how it could. */
function relation(path: string, home: string): Relation {
  if (!/[*?[{]/.test(path)) {
    if (path === home || path.startsWith(`${home}/`)) return 'inside'
    return home.startsWith(path.endsWith('/') ? path : `${path}/`) ? 'above' : null
  }
  const parts = path.split('/')
  const wanted = home.split('/')
  const brace = parts.findIndex((part) => part.includes('{'))
  const length = Math.min(wanted.length, brace < 0 ? parts.length : brace)
  for (let i = 0; i < length; i++) if (!globCouldMatch(parts[i] as string, wanted[i] as string)) return null
  if (brace >= 0 || parts.length >= wanted.length) return 'inside'
  // A wildcard in first place leaves out what begins with a dot.
  for (let i = 0; i < length; i++) if (wanted[i]?.startsWith('.') && /^[*?[]/.test(parts[i] as string)) return null
  return 'above'
}

/**
 * Braces of a word that the shell takes as it is (`awk '{print}'`, `--format '{{.Names}}'`) are no list of names, unless a path
 * stands before or behind them, which some programs expand by themselves, or they are the empty ones of `find -exec`.
 */
const BRACED_PATH = /^[^{]*\/|\{\}|\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}\S*\//

function namesHome(text: string, where: Where, literal = false): boolean {
  const { homes } = where
  const named = /nomos|exec[-_]|control\./i.test(text)
  if (named && OWN_FILES.test(text)) return true
  if (homes.length === 0) return false
  // Inside of the folder the last part of its name is part of the text, or a wildcard or a variable stands for it.
  if (!named && !/[*?[{$]/.test(text) && !homes.some((home) => text.includes(home.slice(home.lastIndexOf('/') + 1))))
    return false
  // A bare name only leads there from a folder above.
  if (!named && !/[/~$]/.test(text) && !homes.some((home) => relation(where.cwd, home) === 'above')) return false
  const plain = literal && !BRACED_PATH.test(text)
  for (const candidate of pathCandidates(text)) {
    if (candidate === '') continue
    const path = resolve(where, plain ? candidate.replace(/(?<!\$)\{/g, ' ') : candidate)
    if (homes.some((home) => relation(path, home) === 'inside')) return true
  }
  // Inside a longer text (a program, a list) the folder may stand anywhere.
  return homes.some((home) =>
    spellings(home).some((spelling) => {
      const at = text.indexOf(spelling)
      return at >= 0 && !/[\w.-]/.test(text[at + spelling.length] ?? '')
    }),
  )
}

/** The resolved form of a folder as people write it. */
function spellings(home: string): readonly string[] {
  if (!home.startsWith('/home/~/')) return [home]
  const rest = home.slice(8)
  return [`~/${rest}`, `$HOME/${rest}`, `\${HOME}/${rest}`]
}

/** True when a word contains the folder or lies above it: deleting or reading it as a whole takes ours along. */
export function holdsHome(text: string, where: Where): boolean {
  const path = resolve(where, text)
  return where.homes.some((home) => relation(path, home) !== null)
}

function answers(words: readonly Word[]): boolean {
  // Behind anything but a launcher only the first word can be the program.
  const last = LAUNCHERS.has(suspectedName(words[0])) ? words.length : 1
  for (let i = 0; i < last; i++) {
    const shape = (words[i] as Word).shape
    if (!OWN_NAME.test(suspectedName(words[i] as Word)) && !OWN_CLI.test(normalisePath(shape))) continue
    const rest = words
      .slice(i + 1)
      .filter((word) => word.shape !== '--' && word.shape !== '--json' && word.shape !== '-s')
    const first = rest[0]?.shape
    if (first === undefined) return false
    const second = rest.slice(1).find((word) => !word.shape.startsWith('-'))?.shape ?? ''
    return !LOOKING.has(first) && !LOOKING_PAIRS.has(`${first} ${second}`)
  }
  return false
}

/** Somewhere the text names the program, under another name perhaps, and somewhere what it should answer. */
function answersApart(commands: readonly SimpleCommand[], where: Where): boolean {
  let program = false
  let folder = /\/out\/main$/.test(where.cwd)
  for (const { words } of commands) {
    const naming = NAMING.test(suspectedName(words[0]))
    for (const { shape } of words) {
      if (/nomos/i.test(shape) && !naming && OWN_NAME.test(shape.slice(shape.search(/[^/=\s]*$/)))) program = true
      if (!/main|cli/.test(shape)) continue
      const path = normalisePath(shape)
      if (/(?:^|\/)out\/main$/.test(path)) folder = true
      if (OWN_CLI.test(path) || (folder && /(?:^|\/)(?:cli|index)(?:\.[cm]?js)?$/.test(path))) program = true
    }
  }
  if (!program) return false
  for (const { words } of commands)
    for (let i = 0; i < words.length; i++) {
      const { shape } = words[i] as Word
      if (ANSWERS.has(shape)) return true
      if (!GROUPS.has(shape)) continue
      const next = words.slice(i + 1).find((word) => !word.shape.startsWith('-'))?.shape ?? ''
      if (!LOOKING_PAIRS.has(`${shape} ${next}`)) return true
    }
  return false
}

/** Whether it presses a button of a notice or an entry of a tray, ours included: nobody can tell whose from the words. */
function presses(words: readonly Word[]): boolean {
  const name = suspectedName(words[0] as Word)
  const rest = words.slice(1)
  if (NOTICE_TOOLS.test(name)) return rest.length === 0 || !NOTICE_LOOKS.test(rest[0]?.shape ?? '')
  return BUS_TOOLS.test(name) && rest.some(({ shape }) => BUS_PLACES.test(shape))
}

function kills(invocation: Invocation, found: () => boolean): boolean {
  const name = suspectedName(invocation.words[0])
  const rest = invocation.words.slice(1)
  if (name === 'systemctl' || name === 'service')
    return (
      rest.some((word) => OWN_PROCESS.test(word.shape)) &&
      rest.some((word) => /^(?:stop|kill|restart|try-restart|disable|mask|reload|freeze|thaw)$/.test(word.shape))
    )
  if (!KILLERS.has(name)) return false
  if (name === 'killall5' || name === 'xkill') return true
  const pattern = name !== 'kill' && name !== 'fuser'
  if (
    rest.some(({ shape: text }, i) => {
      if (OWN_PROCESS.test(text) || /\$\{?PPID\b/.test(text) || (text === '-1' && i > 0)) return true
      if (!pattern && /\b(?:pgrep|pidof|ps)\b/.test(text) && /\bnode/.test(text)) return true
      if (pattern && /^(?:-[uUgG]|--(?:user|euid|uid|group|session)\b)/.test(text)) return true
      // Zero is the group of processes Nomos may stand in; as an option it only asks.
      if (name === 'kill' && /^0+$/.test(text) && !/^(?:-s|-n|--signal)$/.test(rest[i - 1]?.shape ?? '')) return true
      if (text.startsWith('-') || !pattern || text.length < 2) return false
      // A pattern of pkill is a part of the name.
      const lower = text.toLowerCase()
      return OWN_NAMES.some((own) => own.includes(lower)) || /[.*[(^$|]/.test(text)
    })
  )
    return true
  // `pgrep node | xargs kill`: who is killed stands in another command.
  return !rest.some((word) => /^[0-9]+$/.test(word.shape)) && found()
}

/** True when a command looks for Nomos's process. */
function looksForSelf(commands: readonly SimpleCommand[]): boolean {
  return commands.some(
    ({ words }) =>
      FINDERS.test(suspectedName(words[0])) &&
      words.some(({ shape }) => OWN_PROCESS.test(shape) || /^\[?n\]?ode$/.test(shape)),
  )
}

const LOOKS_AT_NAMES =
  /^(?:cd|pushd|popd|chdir|ls|dir|vdir|stat|du|df|file|tree|echo|printf|test|\[|realpath|readlink|basename|dirname|pwd|namei|mkdir|touch)$/
const PUTS_LAST = /^(?:cp|mv|ln|install|scp|rsync)$/

/**
 * The word by which a program that does more than look takes a folder that holds Nomos's files. What merely lands in such a folder
 * does not touch them, unless whole trees do.
 */
export function sweepsSelf(invocation: Invocation, where: Where): Word | null {
  if (where.homes.length === 0 || invocation.remote) return null
  const { words } = invocation
  const name = suspectedName(words[0])
  if (LOOKS_AT_NAMES.test(name) || carries(name)) return null
  let last = -1
  if (PUTS_LAST.test(name)) {
    const trees = words.some(({ shape }) => /^-[A-Za-z]*[rRa]|^--(?:r|ar)/.test(shape))
    const operands = words.filter(({ shape }, i) => i > 0 && !shape.startsWith('-'))
    if ((name === 'mv' || !trees) && operands.length > 1) last = words.indexOf(operands[operands.length - 1] as Word)
  }
  const harmless = new Set<string>()
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as Word
    if (i === last || harmless.has(word.shape) || !/[/~.*?$]/.test(word.shape)) continue
    harmless.add(word.shape)
    for (const candidate of [word.shape, ...pathCandidates(word.shape), word.shape.split(':')[0] as string]) {
      if (candidate === '' || !/^(?:[/~]|\.\.?(?:\/|$)|\$\{?(?:HOME|PWD)\b|[*?])/.test(candidate)) continue
      if (holdsHome(candidate, where)) return word
    }
  }
  return null
}

/** Law 9: where a command reaches Nomos itself. Answers the span of the first such piece. */
export function reachesSelf(
  invocations: readonly Invocation[],
  commands: readonly SimpleCommand[],
  where: Where,
): { start: number; end: number } | null {
  const any = commands[0]
  // Whatever runs in Nomos's own folder works on its files.
  if (any && where.homes.some((home) => relation(where.cwd, home) === 'inside')) return any
  // What was found harmless once is harmless again: long texts repeat their words.
  const harmless = new Set<string>()
  for (const command of commands) {
    for (const word of command.words) {
      const literal = word.value !== null
      const key = literal ? word.shape : `\0${word.shape}`
      if (harmless.has(key)) continue
      if (namesHome(word.shape, where, literal)) return word
      harmless.add(key)
    }
    for (const { target, body } of command.redirections) {
      if (target && namesHome(target.shape, where)) return target
      if (body !== null && namesHome(body, where)) return command
    }
    for (const assignment of command.assignments)
      if (
        /^(?:NOMOS_|EXEC_GATE)/.test(assignment.name) ||
        (assignment.value && namesHome(assignment.value.shape, where))
      )
        return assignment
  }
  let looked: boolean | null = null
  const found = (): boolean => {
    looked ??= looksForSelf(commands)
    return looked
  }
  for (const invocation of invocations) {
    const { words } = invocation
    const first = words[0] as Word
    if (answers(words) || kills(invocation, found) || INPUT_TOOLS.test(suspectedName(first)) || presses(words))
      return { start: first.start, end: (words[words.length - 1] as Word).end }
    // A program text that speaks of Nomos and of deciding.
    for (const word of words)
      if (
        word.shape.length > 12 &&
        LAUNCHERS_OR_CODE.test(suspectedName(first)) &&
        /\bnomos\b[\s\S]{0,80}\b(?:approve|approvals|deny|allow-|policy|yolo|switch|grant)/i.test(word.shape)
      )
        return word
    if (LAUNCHERS_OR_CODE.test(suspectedName(first)) || suspectedName(first) === 'tee')
      for (const word of words) if (INPUT_CODE.test(word.shape)) return word
  }
  for (const command of commands)
    for (const { target } of command.redirections) if (target && INPUT_CODE.test(target.shape)) return target
  const whole = commands[0]
  if (whole && answersApart(commands, where))
    return { start: whole.start, end: commands[commands.length - 1]?.end ?? whole.end }
  return null
}

const LAUNCHERS_OR_CODE = /^(?:python[\d.]*|node|nodejs|ruby|perl|php|lua|deno|bun|osascript|expect|script|tclsh|eval)$/
