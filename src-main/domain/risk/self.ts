import type { Invocation, SimpleCommand, Word } from '../shell'
import { suspectedName } from '../shell'
import { globCouldMatch, pathCandidates, resolve, type Where } from './paths'

/** Nomos's own files wherever they lie: default folders of each platform, sockets, tokens, the approvals file, the ledger. */
const OWN_FILES =
  /(?:\.local\/(?:share|state)\/nomos|\.config\/nomos|\.cache\/nomos|\/\.nomos|^\.nomos|Library\/(?:Application Support|Caches|Logs)\/Nomos|AppData[\\/](?:Roaming|Local)[\\/]Nomos)(?![\w-])|exec-approvals\.json|\bNOMOS_[A-Z]|\$\{?NOMOS_|(?:^|[\\/])nomos[\w.-]*\.(?:sock|token|db|sqlite3?|pid)\b|nomos[\w.-]*[\\/](?:ledger|tokens?|sockets?|approvals|policy)\b/i

/** Sub-commands of the `nomos` command that look only. Everything else answers, changes or switches something. */
const LOOKING = new Set(['classify', 'doctor', 'version', 'help', '--help', '--version', '-h', 'run'])
const LOOKING_PAIRS = new Set([
  'executions list',
  'executions show',
  'executions cancel',
  'approvals pending',
  'approvals list',
  'approvals show',
  'ledger verify',
  'ledger tail',
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
const OWN_PROCESS = /nomos|electron/i

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

function namesHome(text: string, where: Where): boolean {
  const { homes } = where
  const named = /nomos|exec-approvals/i.test(text)
  if (named && OWN_FILES.test(text)) return true
  if (homes.length === 0) return false
  // A bare name only leads there from a folder above.
  if (!named && !/[/~$]/.test(text) && !homes.some((home) => relation(where.cwd, home) === 'above')) return false
  for (const candidate of pathCandidates(text)) {
    if (candidate === '') continue
    const path = resolve(where, candidate)
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
  for (let i = 0; i < words.length; i++) {
    const shape = (words[i] as Word).shape
    const name = suspectedName(words[i] as Word)
    if (!/^nomos(?:\.(?:mjs|js|cjs|AppImage))?$/i.test(name) && !/out\/main\/cli\.js$/.test(shape)) continue
    if (i > 0 && !LAUNCHERS.has(suspectedName(words[0]))) continue
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

function kills(invocation: Invocation): boolean {
  const name = suspectedName(invocation.words[0])
  const rest = invocation.words.slice(1)
  if (name === 'systemctl' || name === 'service')
    return (
      rest.some((word) => OWN_PROCESS.test(word.shape)) &&
      rest.some((word) => /^(?:stop|kill|restart|try-restart|disable|mask|reload|freeze|thaw)$/.test(word.shape))
    )
  if (!KILLERS.has(name)) return false
  return rest.some((word) => {
    const text = word.shape
    if (OWN_PROCESS.test(text)) return true
    if (text.startsWith('-') || name === 'kill' || text.length < 2) return false
    // A pattern of pkill is a part of the name.
    const lower = text.toLowerCase()
    return 'nomos'.includes(lower) || 'electron'.includes(lower) || /[.*[(^$|]/.test(text)
  })
}

/** Law 9: where a command reaches Nomos itself. Answers the span of the first such piece. */
export function reachesSelf(
  invocations: readonly Invocation[],
  commands: readonly SimpleCommand[],
  where: Where,
): { start: number; end: number } | null {
  const first = commands[0]
  // Whatever runs in Nomos's own folder works on its files.
  if (first && where.homes.some((home) => relation(where.cwd, home) === 'inside')) return first
  for (const command of commands) {
    for (const word of command.words) if (namesHome(word.shape, where)) return word
    for (const { target, body } of command.redirections) {
      if (target && namesHome(target.shape, where)) return target
      if (body !== null && namesHome(body, where)) return command
    }
    for (const assignment of command.assignments)
      if (/^NOMOS_/.test(assignment.name) || (assignment.value && namesHome(assignment.value.shape, where)))
        return assignment
  }
  for (const invocation of invocations) {
    const { words } = invocation
    const first = words[0] as Word
    if (answers(words) || kills(invocation)) return { start: first.start, end: (words[words.length - 1] as Word).end }
    // A program text that speaks of Nomos and of deciding.
    for (const word of words)
      if (
        word.shape.length > 12 &&
        /\bnomos\b[\s\S]{0,80}\b(?:approve|approvals|deny|allow-|policy|yolo|switch|grant)/i.test(word.shape) &&
        LAUNCHERS_OR_CODE.test(suspectedName(first))
      )
        return word
  }
  return null
}

const LAUNCHERS_OR_CODE = /^(?:python[\d.]*|node|nodejs|ruby|perl|php|lua|deno|bun|osascript|expect|script|tclsh|eval)$/
