import { readFileSync, statSync } from 'node:fs'
import { MAX_LINE } from '../../adapters/control-socket/frames'
import { inspectAllowlist } from '../../domain/policy'
import { atTerminal } from '../answering'
import { ask } from '../app'
import { confirmed } from '../confirming'
import { differenceShown } from '../difference'
import { CliFailure, EXIT, usage } from '../exits'
import { type Io, writeAll } from '../io'
import { readOptions } from '../options'
import { appOrFiles, checkedApprovals, localText, type PolicyText, parsedText, replacement } from '../policy-texts'
import type { Command } from '../program'
import { painter, visibleLine } from '../visible'

/** No policy is larger; the app takes no more either. */
const MOST_BYTES = 8 * 1024 * 1024
/** What a file that is not there could begin with. */
const EMPTY = '{\n  "version": 1\n}\n'

/** `nomos approvals get`: the host's file in its canonical form, without the token of its socket. */
export const getApprovals: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 0) throw usage(`nomos approvals get takes no ${JSON.stringify(rest[0])}.`)
  const [from, text] = await appOrFiles<readonly ['app' | 'local', PolicyText]>(
    io,
    async (app) => ['app', await ask(app, 'policy.fileGet', { file: 'host' })],
    (home) => ['local', localText(home, 'host')],
  )
  if (options.json) await writeAll(io.stdout, `${JSON.stringify({ from, ...text })}\n`)
  else await writeAll(io.stdout, text.source === 'absent' ? EMPTY : `${text.text.replace(/\n$/, '')}\n`)
  if (text.source === 'absent')
    io.stderr.write(`nomos: there is no ${visibleLine(text.path)} yet, the built-in policy holds.\n`)
  if (text.source !== 'broken') return EXIT.done
  io.stderr.write(
    `nomos: ${visibleLine(text.path)} cannot be used: ${visibleLine(text.problem ?? '')}. Until it is mended nothing runs.\n`,
  )
  return EXIT.failed
}

async function given(
  io: Io,
  file: string | null,
  stdin: boolean,
): Promise<{ readonly what: string; readonly text: string }> {
  if (stdin === (file !== null)) throw usage('name where the new file comes from: --file FILE, or --stdin.')
  const tooLarge = (what: string) =>
    new CliFailure(EXIT.failed, 'bad_input', `${what} is larger than ${MOST_BYTES / 1024 / 1024} MB; no policy is.`)
  if (file === null) {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of io.stdin) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += bytes.length
      if (size > MOST_BYTES) throw tooLarge('standard input')
      chunks.push(bytes)
    }
    return { what: 'standard input', text: Buffer.concat(chunks).toString('utf8') }
  }
  try {
    if (statSync(file).size > MOST_BYTES) throw tooLarge(file)
    return { what: file, text: readFileSync(file, 'utf8') }
  } catch (error) {
    if (error instanceof CliFailure) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new CliFailure(EXIT.failed, 'not_found', `--file ${JSON.stringify(file)} cannot be read: ${why}.`)
  }
}

/** `nomos approvals set`: another file in the place of the host's. Socket and token stay, a backup is kept. */
export const setApprovals: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    file: { kind: 'text' },
    stdin: { kind: 'flag' },
    base: { kind: 'text' },
    'dry-run': { kind: 'flag' },
  })
  if (rest.length > 0) throw usage(`nomos approvals set takes no ${JSON.stringify(rest[0])}. Name it: --file FILE`)
  const { what, text } = await given(io, options.file, options.stdin)
  const next = parsedText(io, what, text)
  const file = checkedApprovals(next, what)
  const notes = Object.entries(file.agents ?? {}).flatMap(([agent, { allowlist }]) =>
    inspectAllowlist(allowlist ?? [], Date.now()).map(
      ({ index, entryId, level, sentence }) =>
        `${level === 'error' ? 'never matches' : 'note'}: agents.${agent}.allowlist[${index}]${entryId === null ? '' : ` (${entryId})`}: ${sentence}`,
    ),
  )
  const tellNotes = (write: (text: string) => void) => {
    for (const note of notes) write(`${visibleLine(note)}\n`)
  }
  // What goes through the socket is one line of JSON, with a little around the text.
  if (!options['dry-run'] && Buffer.byteLength(JSON.stringify(text)) > MAX_LINE - 4_096)
    throw new CliFailure(
      EXIT.failed,
      'bad_input',
      `${what} is too large for the socket of the app (${MAX_LINE / 1024 / 1024} MB). Put it in the place of exec-approvals.json yourself: it counts from the next decision on.`,
    )
  if (options['dry-run']) {
    const now = await appOrFiles(
      io,
      async (app) => await ask(app, 'policy.fileGet', { file: 'host' }),
      (home) => localText(home, 'host'),
    )
    const diff = replacement(io, now, next)
    if (options.json)
      await writeAll(
        io.stdout,
        `${JSON.stringify({ saved: false, version: now.version, diff, backup: null, notes })}\n`,
      )
    else {
      await writeAll(
        io.stdout,
        diff.length > 0 ? differenceShown(diff, painter(io.stdout, io.env)) : 'Nothing would change.\n',
      )
      tellNotes((line) => io.stderr.write(line))
    }
    return EXIT.done
  }
  return await atTerminal(io, 'approvals set', async (app, terminal) => {
    const now = await ask(app, 'policy.fileGet', { file: 'host' })
    if (options.base !== null && options.base !== now.version)
      throw new CliFailure(
        EXIT.failed,
        'conflict',
        `${now.path} is no longer the version ${options.base} that this edit started from, but ${now.version}. Nothing was saved. See what stands there: nomos approvals get`,
      )
    const diff = replacement(io, now, next)
    if (diff.length === 0) {
      if (options.json)
        io.stdout.write(`${JSON.stringify({ saved: false, version: now.version, diff, backup: null, notes })}\n`)
      else io.stdout.write('It is the same already; nothing was saved.\n')
      return EXIT.done
    }
    const paint = painter({ isTTY: true }, io.env)
    terminal.write(`${visibleLine(now.path)}\n${differenceShown(diff, paint)}`)
    tellNotes((line) => terminal.write(line))
    const saved = await confirmed(
      app,
      terminal,
      'policy.fileSet',
      { file: 'host', text, baseVersion: now.version, dryRun: false },
      'save this',
    )
    if (options.json) await writeAll(io.stdout, `${JSON.stringify({ ...saved, notes })}\n`)
    else {
      const kept = saved.backup === null ? '' : ` What was there is kept: ${visibleLine(saved.backup)}`
      io.stdout.write(
        saved.saved ? `Saved ${visibleLine(now.path)}.${kept}\n` : 'It is the same already; nothing was saved.\n',
      )
    }
    return EXIT.done
  })
}
