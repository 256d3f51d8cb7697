import { ExecutionState, type ExecutionView, type PreviewView } from '../../../src-preload/contract/model'
import { atTerminal, codePrompt } from '../answering'
import { type App, ask, unwrap, withApp } from '../app'
import { card, listLine, STATE_WORDS } from '../cards'
import { CliFailure, EXIT, usage } from '../exits'
import { type Io, writeAll } from '../io'
import { nearest } from '../near'
import { readCount, readOptions } from '../options'
import { byPrefix } from '../prefixes'
import { type Command, pick } from '../program'
import { pastExecutions } from '../settled'
import { painter, visibleLine, visibleText } from '../visible'

const PAGE = 200

/** `nomos executions list|show|cancel|start|preview|undo` */
export const executionsCommand: Command = async (args, io) => {
  const { part, args: rest } = pick('executions', args, { list, show, cancel, start, preview, undo })
  return await part(rest, io)
}

const list: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    count: { kind: 'text', short: 'n' },
    state: { kind: 'list' },
  })
  if (rest.length > 0) throw usage(`nomos executions list takes no ${JSON.stringify(rest[0])}.`)
  const limit = readCount('-n', options.count, 20, 1, PAGE)
  const states = options.state.map((word) => {
    // As it is stored, or as it is said.
    const state = ExecutionState.safeParse(word.trim().replace(' ', '_'))
    if (state.success) return state.data
    const near = nearest(word, ExecutionState.options)
    throw usage(
      `there is no state ${JSON.stringify(word)}. ${near === null ? `States: ${ExecutionState.options.join(', ')}.` : `Did you mean ${near}?`}`,
    )
  })
  return await withApp(io, async (app) => {
    const page = await ask(app, 'executions.list', { ...(states.length > 0 ? { states } : {}), before: null, limit })
    if (options.json) io.stdout.write(`${JSON.stringify(page)}\n`)
    else if (page.executions.length === 0) io.stdout.write('Nothing has been asked for.\n')
    else {
      const paint = painter(io.stdout, io.env)
      for (const view of page.executions) io.stdout.write(`${listLine(view, paint)}\n`)
      if (page.more) io.stderr.write('There are older ones: -n COUNT shows more.\n')
    }
    return EXIT.done
  })
}

const show: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const id = oneId('show', rest)
  return await withApp(io, async (app) => {
    const view = await findExecution(app, id)
    if (options.json) io.stdout.write(`${JSON.stringify(view)}\n`)
    else writeExecution(io, view)
    return EXIT.done
  })
}

const cancel: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const id = oneId('cancel', rest)
  return await withApp(io, async (app) => {
    const found = await findExecution(app, id)
    const view = unwrap(await app.client.request('executions.cancel', { id: found.id }))
    if (options.json) io.stdout.write(`${JSON.stringify(view)}\n`)
    else
      io.stdout.write(`${view.id} ${view.state === 'running' ? 'is being stopped' : `is ${STATE_WORDS[view.state]}`}\n`)
    return EXIT.done
  })
}

/** For what was approved and not started because Nomos ended in between. */
const start: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const id = oneId('start', rest)
  return await atTerminal(io, 'executions start', async (app, terminal) => {
    const found = await findExecution(app, id)
    terminal.write(card(found, painter({ isTTY: true }, io.env)))
    const prompt = codePrompt(terminal, 'start')
    const view = unwrap(await app.client.answerWithChallenge('executions.start', { id: found.id }, prompt))
    io.stdout.write(options.json ? `${JSON.stringify(view)}\n` : `${view.id} is ${STATE_WORDS[view.state]}\n`)
    return EXIT.done
  })
}

/** Shows what a waiting command would do, by commands that only read. */
const preview: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const id = oneId('preview', rest)
  return await withApp(io, async (app) => {
    const found = await findExecution(app, id)
    const shown = await ask(app, 'executions.preview', { id: found.id })
    if (options.json) await writeAll(io.stdout, `${JSON.stringify(shown)}\n`)
    else await writeAll(io.stdout, previewShown(io, shown))
    return EXIT.done
  })
}

function previewShown(io: Io, { title, commands, text, truncated, note }: PreviewView): string {
  const paint = painter(io.stdout, io.env)
  const from = commands.map((command) => `  | ${visibleLine(command)}\n`).join('')
  const lines = text === '' || text.endsWith('\n') ? text : `${text}\n`
  const body = io.stdout.isTTY === true ? visibleText(lines.replace(/\r\n?/g, '\n')) : lines
  const cut = truncated ? 'There is more of it; this is the beginning.\n' : ''
  return `${paint('bold', visibleLine(title))}; nothing was changed. By:\n${from}${body}${cut}${note === null ? '' : `${visibleLine(note)}\n`}`
}

/** Asks for taking back what a run changed: a new request, judged like any other. */
const undo: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const id = oneId('undo', rest)
  return await withApp(io, async (app) => {
    const found = await findExecution(app, id)
    const view = await ask(app, 'executions.undo', { id: found.id })
    if (options.json) io.stdout.write(`${JSON.stringify(view)}\n`)
    else io.stdout.write(`${undoSentence(view, found.id)}\n`)
    return view.state === 'denied' || view.state === 'failed' || view.state === 'undeliverable'
      ? EXIT.failed
      : EXIT.done
  })
}

function undoSentence(view: ExecutionView, taken: string): string {
  const asked = `${view.id} asks to take back what ${taken} changed`
  if (view.approval?.state === 'pending')
    return `${asked}. It waits for an answer: nomos approvals approve ${view.approval.id}`
  const why = view.stateReason === null ? '' : ` ${visibleLine(view.stateReason)}`
  return `${asked}. It is ${STATE_WORDS[view.state]}.${why}`
}

function oneId(name: string, rest: readonly string[]): string {
  const [id, ...others] = rest
  if (id === undefined) throw usage(`nomos executions ${name} needs an id. See: nomos executions list`)
  if (others.length > 0) throw usage(`nomos executions ${name} takes one id.`)
  return id
}

/** The execution with this id, or the one whose id (or whose approval's) begins so. */
async function findExecution(app: App, given: string): Promise<ExecutionView> {
  if (given.length > 0 && given.length <= 64) {
    const exact = await app.client.request('executions.get', { id: given })
    if (exact.ok) return exact.value
    if (exact.error.code !== 'not_found') throw new CliFailure(EXIT.failed, exact.error.code, exact.error.message)
  }
  const idsOf = (view: ExecutionView): readonly string[] =>
    given.startsWith('apr_') ? [view.approval?.id ?? ''] : [view.id]
  return byPrefix(given, await pastExecutions(app, false), idsOf, 'execution')
}

function writeExecution(io: Io, view: ExecutionView): void {
  const paint = painter(io.stdout, io.env)
  const lines = [`${view.id}  ${paint('bold', STATE_WORDS[view.state])}`]
  if (view.stateReason !== null) lines.push(`  ${visibleLine(view.stateReason)}`)
  if (view.exitCode !== null) lines.push(`  exit ${view.exitCode}`)
  if (view.signal !== null) lines.push(`  ended by ${view.signal}`)
  if (view.startedAt !== null && view.finishedAt !== null) lines.push(`  took ${view.finishedAt - view.startedAt} ms`)
  io.stdout.write(`${lines.join('\n')}\n${card(view, paint)}`)
  if (view.output !== '') {
    const text = io.stdout.isTTY === true ? visibleText(view.output.replace(/\r\n?/g, '\n')) : view.output
    io.stdout.write(
      `Output (${view.outputBytes} bytes${view.truncated ? ', cut' : ''}):\n${text}${text.endsWith('\n') ? '' : '\n'}`,
    )
  }
}
