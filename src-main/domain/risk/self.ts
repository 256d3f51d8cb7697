import type { Invocation, SimpleCommand, Word } from '../shell'
import { suspectedName } from '../shell'
import { globCouldMatch, normalisePath, pathCandidates } from './paths'

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

/** The home folder as people write it, when the own folder lies in somebody's home. */
export function selfPatterns(home: string | null | undefined): readonly string[] {
  if (!home) return []
  const path = normalisePath(home.trim())
  if (path === '' || path === '/' || path === '.') return []
  const out = [path]
  const match = /^(?:\/root|\/(?:home|Users)\/[^/]+)\/(.+)$/.exec(path)
  if (match) for (const prefix of ['~/', '$HOME/', `\${HOME}/`]) out.push(prefix + (match[1] as string))
  return out
}

function inside(path: string, home: string): boolean {
  return path === home || path.startsWith(`${home}/`)
}

/** True when a path with wildcards could reach into the folder. */
function couldReach(pattern: string, home: string): boolean {
  const parts = pattern.split('/')
  const wanted = home.split('/')
  if (parts.length < wanted.length) return false
  return wanted.every((name, i) => globCouldMatch(parts[i] ?? '', name))
}

function namesHome(text: string, homes: readonly string[]): boolean {
  const named = /nomos|exec-approvals/i.test(text)
  if (!named && (homes.length === 0 || !/[/~$]/.test(text))) return false
  if (named && OWN_FILES.test(text)) return true
  if (homes.length === 0) return false
  for (const candidate of pathCandidates(text)) {
    const path = normalisePath(candidate)
    for (const home of homes) {
      if (inside(path, home)) return true
      if (/[*?[{]/.test(path) && couldReach(path, home)) return true
    }
  }
  // Inside a longer text (a program, a list) the folder may stand anywhere.
  return homes.some((home) => {
    const at = text.indexOf(home)
    return at >= 0 && !/[\w.-]/.test(text[at + home.length] ?? '')
  })
}

/** True when a word contains the folder or lies above it: deleting or reading it as a whole takes ours along. */
export function holdsHome(text: string, homes: readonly string[]): boolean {
  const path = normalisePath(text)
  return homes.some((home) => home === path || home.startsWith(path.endsWith('/') ? path : `${path}/`))
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
  homes: readonly string[],
): { start: number; end: number } | null {
  for (const command of commands) {
    for (const word of command.words) if (namesHome(word.shape, homes)) return word
    for (const { target, body } of command.redirections) {
      if (target && namesHome(target.shape, homes)) return target
      if (body !== null && namesHome(body, homes)) return command
    }
    for (const assignment of command.assignments)
      if (/^NOMOS_/.test(assignment.name) || (assignment.value && namesHome(assignment.value.shape, homes)))
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
