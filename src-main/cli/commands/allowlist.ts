import type { AllowlistEntryView, AllowlistInput } from '../../../src-preload/contract/model'
import { type AllowlistEntry, encodeArgv, inspectAllowlist } from '../../domain/policy'
import { atTerminal } from '../answering'
import { ask } from '../app'
import { confirmed } from '../confirming'
import { entryLines, entryShown, reachShown } from '../entries'
import { CliFailure, EXIT, usage } from '../exits'
import { writeAll } from '../io'
import { readOptions } from '../options'
import { appOrFiles, localAllowlist, localText } from '../policy-texts'
import { byPrefix } from '../prefixes'
import { type Command, pick } from '../program'
import { painter, visibleLine } from '../visible'
import { readMoment } from '../when'

/** `nomos approvals allowlist list|add|remove` */
export const allowlistCommand: Command = async (args, io) => {
  const { part, args: rest } = pick('approvals allowlist', args, { list, add, remove })
  return await part(rest, io)
}

const list: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    agent: { kind: 'text' },
    target: { kind: 'text' },
  })
  if (rest.length > 0) throw usage(`nomos approvals allowlist list takes no ${JSON.stringify(rest[0])}.`)
  const agent = options.agent ?? 'main'
  const now = Date.now()
  const { entries, problem } = await appOrFiles<{
    readonly entries: readonly AllowlistEntryView[]
    readonly problem: string | null
  }>(
    io,
    async (app) => {
      const found = await ask(app, 'policy.inspect', { agent, target: options.target ?? 'local', session: null })
      return { entries: found.allowlist, problem: found.host.file.problem }
    },
    (home) => ({ entries: localAllowlist(home, agent, now), problem: localText(home, 'host').problem }),
  )
  const shown = entries.filter(({ scope }) => options.target === null || (scope.target ?? 'local') === options.target)
  if (options.json) await writeAll(io.stdout, `${JSON.stringify(shown)}\n`)
  else if (shown.length === 0 && problem === null)
    io.stdout.write(`Nothing is on the allowlist of ${visibleLine(agent)}.\n`)
  else {
    const paint = painter(io.stdout, io.env)
    await writeAll(io.stdout, shown.map((view) => entryLines(view, paint, now)).join(''))
  }
  if (problem === null) return EXIT.done
  io.stderr.write(
    `nomos: the approvals file cannot be used: ${visibleLine(problem)}. Until it is mended nothing runs.\n`,
  )
  return EXIT.failed
}

const add: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    agent: { kind: 'text' },
    target: { kind: 'text' },
    session: { kind: 'text' },
    'arg-pattern': { kind: 'text' },
    exact: { kind: 'flag' },
    expires: { kind: 'text' },
    sudo: { kind: 'flag' },
  })
  const [pattern, ...words] = rest
  if (pattern === undefined || pattern === '')
    throw usage(
      'nomos approvals allowlist add needs a program: a name such as rg, or a path or glob such as /usr/bin/rg.',
    )
  if (!options.exact && words.length > 0)
    throw usage(
      `${JSON.stringify(words[0])} is one word too many. Arguments are named by --arg-pattern, or as they are: --exact ${pattern} -- ${words.join(' ')}`,
    )
  const argPattern = options['arg-pattern']
  if (options.exact && argPattern !== null)
    throw usage('--exact and --arg-pattern are two ways to say the same; use one.')
  const now = Date.now()
  const expiresAt = options.expires === null ? null : readMoment('--expires', options.expires, now)
  const scope = {
    ...(options.target === null || options.target === 'local' ? {} : { target: options.target }),
    ...(options.session === null ? {} : { session: options.session }),
  }
  const entry: AllowlistInput = {
    pattern,
    ...(options.exact ? { argPattern: encodeArgv(words) } : argPattern === null ? {} : { argPattern }),
    ...(Object.keys(scope).length === 0 ? {} : { scope }),
    ...(expiresAt === null ? {} : { expiresAt }),
    ...(options.sudo ? { sudo: true } : {}),
  }
  const agent = options.agent ?? 'main'
  refuseDead(entry, now)
  return await atTerminal(io, 'approvals allowlist add', async (app, terminal) => {
    const before = await ask(app, 'policy.inspect', { agent, target: options.target ?? 'local', session: null })
    const paint = painter({ isTTY: true }, io.env)
    terminal.write(
      `Allowlist of ${visibleLine(agent)}: runs unasked from now on\n  ${entryShown(entry)}\n  ${reachShown(entry, now)}\n`,
    )
    for (const note of notesBeside(before.allowlist, entry, now))
      terminal.write(`  ${paint('yellow', 'Note:')} ${visibleLine(note)}\n`)
    const added = await confirmed(
      app,
      terminal,
      'policy.allowlistAdd',
      { agent, entry, baseVersion: before.host.file.version },
      'add it',
    )
    if (options.json) io.stdout.write(`${JSON.stringify(added)}\n`)
    else io.stdout.write(entryLines(added, painter(io.stdout, io.env), now))
    return EXIT.done
  })
}

/** An entry that can never match is refused before anybody is asked for a code. */
function refuseDead(entry: AllowlistInput, now: number): void {
  const [fault] = inspectAllowlist([entry as AllowlistEntry], now).filter(({ level }) => level === 'error')
  if (fault === undefined) return
  const field = fault.field === 'argPattern' ? '--arg-pattern' : fault.field
  throw new CliFailure(EXIT.failed, 'bad_input', `${field}: ${fault.sentence} Nothing was saved.`)
}

/** What the new entry is called in what is said about it. */
const NEW_ID = 'the new one'

/** What its writer should know of a new entry among those that are there. */
function notesBeside(views: readonly AllowlistEntryView[], entry: AllowlistInput, now: number): readonly string[] {
  const others = views.map(
    (view): AllowlistEntry => ({
      id: view.id,
      pattern: view.pattern,
      ...(view.argPattern === null ? {} : { argPattern: view.argPattern }),
      ...(view.expiresAt === null ? {} : { expiresAt: view.expiresAt }),
      ...(view.sudo ? { sudo: true } : {}),
      scope: {
        ...(view.scope.target === null ? {} : { target: view.scope.target }),
        ...(view.scope.session === null ? {} : { session: view.scope.session }),
      },
    }),
  )
  const all = [...others, { ...entry, id: NEW_ID } as AllowlistEntry]
  const known = new Set(inspectAllowlist(others, now).map(({ sentence }) => sentence))
  return inspectAllowlist(all, now)
    .filter(({ sentence }) => !known.has(sentence))
    .map(({ index, sentence }) => {
      const about = all[index]
      return about === undefined || index === others.length
        ? sentence
        : `${entryShown(about)} [${about.id}]: ${sentence}`
    })
}

const remove: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' }, agent: { kind: 'text' } })
  const [id, ...more] = rest
  if (id === undefined || more.length > 0)
    throw usage('nomos approvals allowlist remove needs one id. See: nomos approvals allowlist list')
  const agent = options.agent ?? 'main'
  return await atTerminal(io, 'approvals allowlist remove', async (app, terminal) => {
    const before = await ask(app, 'policy.inspect', { agent, target: 'local', session: null })
    const view = byPrefix(id, before.allowlist, (item) => [item.id], `allowlist entry of ${agent}`)
    terminal.write(
      `Allowlist of ${visibleLine(agent)}, taken out:\n${entryLines(view, painter({ isTTY: true }, io.env), Date.now())}`,
    )
    await confirmed(
      app,
      terminal,
      'policy.allowlistRemove',
      { agent, id: view.id, baseVersion: before.host.file.version },
      'take it out',
    )
    io.stdout.write(options.json ? `${JSON.stringify({ removed: view })}\n` : `${visibleLine(view.id)} is taken out.\n`)
    return EXIT.done
  })
}
