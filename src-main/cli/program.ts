import { CliFailure, EXIT, usage } from './exits'
import type { Io } from './io'
import { nearest } from './near'
import { visibleText } from './visible'

/** A sub-command: its arguments in, an exit code out. */
export type Command = (args: readonly string[], io: Io) => Promise<number>

/** Loaded only when called for: `nomos classify` should not wait for the database. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  classify: async () => (await import('./commands/classify')).classifyCommand,
  policy: async () => (await import('./commands/policy')).policyCommand,
  run: async () => (await import('./commands/run')).runCommand,
  executions: async () => (await import('./commands/executions')).executionsCommand,
  approvals: async () => (await import('./commands/approvals')).approvalsCommand,
  'exec-policy': async () => (await import('./commands/exec-policy')).execPolicyCommand,
  switches: async () => (await import('./commands/switches')).switchesCommand,
  grants: async () => (await import('./commands/grants')).grantsCommand,
  ledger: async () => (await import('./commands/ledger')).ledgerCommand,
  doctor: async () => (await import('./commands/doctor')).doctorCommand,
  version: async () => (await import('./commands/version')).versionCommand,
  help: async () => (await import('./commands/help')).helpCommand,
}

/** Runs the command line and answers its exit code. Never rejects: every fault is one line on standard error. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let words = [...argv]
  const json: string[] = []
  while (words[0] === '--json') {
    json.splice(0, 1, '--json')
    words = words.slice(1)
  }
  try {
    const [name, ...rest] = words
    if (name === undefined || name === '--help' || name === '-h') return await call('help', json, io)
    if (name === '--version' || name === '-V') return await call('version', json, io)
    if (COMMANDS[name] === undefined || !Object.hasOwn(COMMANDS, name)) {
      const near = nearest(name, Object.keys(COMMANDS))
      const hint = near === null ? 'See: nomos help' : `Did you mean "nomos ${near}"?`
      throw usage(`there is no command ${JSON.stringify(name)}. ${hint}`)
    }
    // The words of `classify` and `run` are a command's own: there only the first one is ours.
    const ours = name === 'classify' || name === 'run' ? rest.slice(0, 1) : beforeDashes(rest)
    if (ours.includes('--help') || ours.includes('-h')) return await call('help', [...json, name], io)
    return await call(name, [...json, ...rest], io)
  } catch (error) {
    const failure =
      error instanceof CliFailure
        ? error
        : new CliFailure(EXIT.failed, 'internal', error instanceof Error ? error.message : String(error))
    // It may quote what somebody else wrote.
    io.stderr.write(`nomos: ${visibleText(failure.message)}\n`)
    if (wantsJson(argv))
      io.stdout.write(`${JSON.stringify({ error: { code: failure.code, message: failure.message } })}\n`)
    return failure.exit
  }
}

async function call(name: string, args: readonly string[], io: Io): Promise<number> {
  const load = COMMANDS[name]
  if (load === undefined) throw usage(`there is no command ${JSON.stringify(name)}.`)
  return await (await load())(args, io)
}

/** A line that was not understood may still ask for JSON. Words of a command that is classified or run are not ours to read. */
function wantsJson(argv: readonly string[]): boolean {
  const own = argv.findIndex((word) => word === 'classify' || word === 'run')
  const end = own === -1 ? argv.length : own + 2
  return beforeDashes(argv.slice(0, end)).includes('--json')
}

/** What stands behind `--` are words, whatever they look like. */
function beforeDashes(words: readonly string[]): readonly string[] {
  const at = words.indexOf('--')
  return at === -1 ? words : words.slice(0, at)
}

/** The part of a family of sub-commands (`executions list`) and its arguments; suggests a name when there is none like it. */
export function pick<T>(
  family: string,
  args: readonly string[],
  parts: Readonly<Record<string, T>>,
): { readonly part: T; readonly args: readonly string[] } {
  const names = Object.keys(parts)
  const at = args.findIndex((word) => word !== '--json')
  const name = at === -1 ? undefined : args[at]
  if (name === undefined) throw usage(`nomos ${family} needs one of: ${names.join(', ')}.`)
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined
  if (part === undefined) {
    const near = nearest(name, names)
    const hint = near === null ? `It has: ${names.join(', ')}.` : `Did you mean "nomos ${family} ${near}"?`
    throw usage(`nomos ${family} has no ${JSON.stringify(name)}. ${hint}`)
  }
  return { part, args: [...args.slice(0, at), ...args.slice(at + 1)] }
}
