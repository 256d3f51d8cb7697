import {
  type ExecutionState,
  type ExecutionView,
  FINAL_STATES,
  Risk,
  SURFACES,
  type Surface,
} from '../../../src-preload/contract/model'
import { ask, withApp } from '../app'
import { STATE_WORDS } from '../cards'
import { EXIT, usage } from '../exits'
import { writeAll } from '../io'
import { nearest } from '../near'
import { readCount, readOptions } from '../options'
import type { Command } from '../program'
import { answererShown } from '../settled'
import { type Paint, painter, visibleLine } from '../visible'
import { momentShown } from '../when'

const MOST = 200

function oneOf<T extends string>(option: string, word: string, known: readonly T[]): T {
  const found = known.find((one) => one === word)
  if (found !== undefined) return found
  const near = nearest(word, known)
  throw usage(
    `${option} takes ${known.join(', ')}, not ${JSON.stringify(word)}.${near === null ? '' : ` Did you mean ${near}?`}`,
  )
}

/** A state as it is stored or as it is said. */
const stateOf = (word: string): ExecutionState => oneOf('--state', word.trim().replace(' ', '_'), FINAL_STATES)

/** `nomos approvals history`: what somebody was asked about, and what became of it. */
export const historyCommand: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    target: { kind: 'text' },
    risk: { kind: 'list' },
    agent: { kind: 'text' },
    surface: { kind: 'text' },
    state: { kind: 'list' },
    text: { kind: 'text' },
    limit: { kind: 'text', short: 'n' },
  })
  if (rest.length > 0)
    throw usage(`nomos approvals history takes no ${JSON.stringify(rest[0])}. Look for words with --text.`)
  const limit = readCount('--limit', options.limit, 20, 1, MOST)
  const states = options.state.map(stateOf)
  const risks = options.risk.map((word) => oneOf('--risk', word, Risk.options))
  const surface: Surface | null =
    options.surface === null
      ? null
      : oneOf('--surface', options.surface === 'card' ? 'window' : options.surface, SURFACES)
  return await withApp(io, async (app) => {
    const page = await ask(app, 'executions.list', {
      states: states.length > 0 ? states : [...FINAL_STATES],
      before: null,
      limit,
      filter: {
        asked: true,
        ...(risks.length > 0 ? { risks } : {}),
        ...(options.target === null ? {} : { target: options.target }),
        ...(options.agent === null ? {} : { agent: options.agent }),
        ...(surface === null ? {} : { surface }),
        ...(options.text === null ? {} : { text: options.text }),
      },
    })
    if (options.json) await writeAll(io.stdout, `${JSON.stringify(page)}\n`)
    else if (page.executions.length === 0) io.stdout.write('Nothing like that was asked about and has ended.\n')
    else {
      const paint = painter(io.stdout, io.env)
      for (const view of page.executions) await writeAll(io.stdout, pastLine(view, paint))
      if (page.more) io.stderr.write('There are older ones: --limit COUNT shows more.\n')
    }
    return EXIT.done
  })
}

function pastLine(view: ExecutionView, paint: Paint): string {
  const { approval } = view
  const command = visibleLine(view.command)
  const short = command.length > 80 ? `${command.slice(0, 79)}…` : command
  const by = answererShown(view)
  const { words = null, note = null } = approval?.settlement ?? {}
  const said = [words === null ? null : `said ${JSON.stringify(words)}`, note === null ? null : `note: ${note}`]
  const more = said.filter((one) => one !== null).map((one) => `  (${visibleLine(one)})`)
  const end = paint('bold', STATE_WORDS[view.state])
  return `${approval?.id ?? view.id}  ${momentShown(approval?.settlement?.at ?? view.requestedAt)}  ${end}${by === null ? '' : `, answered by ${by}`}  ${view.risk}  ${visibleLine(view.principal.id)} at ${visibleLine(view.target)}: ${short}${more.join('')}\n`
}
