import { constants } from 'node:os'
import type { Numbered } from '../../../src-preload/contract'
import { type ExecutionView, FINAL_STATES } from '../../../src-preload/contract/model'
import { type App, ask, withApp } from '../app'
import { outputText, STATE_WORDS } from '../cards'
import { CliFailure, EXIT, usage } from '../exits'
import { type Io, writeAll } from '../io'
import { readOptions } from '../options'
import type { Command } from '../program'
import { visibleLine } from '../visible'

/** Events only say that something changed; this is how often it is looked at without one. */
const LOOK_MS = 2_000
const PULL = 262_144

/** `nomos run` */
export const runCommand: Command = async (args, io) => {
  const spec = { json: { kind: 'flag' }, why: { kind: 'text' } } as const
  const first = readOptions(args, spec, 'words-only')
  const [target, ...afterTarget] = first.rest
  if (target === undefined) throw usage('name a target and a command: nomos run local uname -a')
  const second = readOptions(afterTarget, spec, 'words-only')
  const json = first.options.json || second.options.json
  const purpose = second.options.why ?? first.options.why
  const command = second.rest.join(' ')
  if (command.trim() === '') throw usage(`there is no command to run on ${target}.`)
  return await withApp(io, (app) => follow(app, io, { target, command, purpose, json }))
}

interface Wish {
  readonly target: string
  readonly command: string
  readonly purpose: string | null
  readonly json: boolean
}

async function follow(app: App, io: Io, wish: Wish): Promise<number> {
  const show = outputText(io.stdout)
  const early: Numbered[] = []
  let id: string | null = null
  let printed = 0
  let last: ExecutionView | null = null
  let told: string | null = null
  let approvedAt: number | null = null
  let interrupts = 0
  let finish: (code: number) => void = () => {}
  let fail: (error: unknown) => void = () => {}
  const ended = new Promise<number>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  // Everything that prints or asks stands in one line: output keeps its order however answers come back.
  let line: Promise<void> = Promise.resolve()
  const next = (work: () => Promise<void>): void => {
    line = line.then(work).catch(fail)
  }

  const emit = async (text: string): Promise<void> => {
    if (text !== '' && !wish.json) await writeAll(io.stdout, show(text))
  }
  const pull = async (of: string): Promise<boolean> => {
    for (;;) {
      const answer = await app.client.request('executions.output', { id: of, offset: printed, limit: PULL })
      if (!answer.ok) return false
      const { text, offset, end } = answer.value
      if (offset > printed) {
        if (!wish.json)
          io.stderr.write(`nomos: ${offset - printed} characters of output came too fast and are not kept.\n`)
        printed = offset
      }
      await emit(text)
      printed += text.length
      if (text === '' || printed >= end) return true
    }
  }
  const look = async (of: string): Promise<void> => {
    const view = await ask(app, 'executions.get', { id: of })
    last = view
    if (view.state === 'pending_approval' || view.state === 'approved') tell(view)
    if (!FINAL_STATES.includes(view.state)) return
    const kept = await pull(of)
    if (!kept && printed === 0) await emit(view.output)
    finish(closing(view, io, wish.json, interrupts > 0))
  }
  const tell = (view: ExecutionView): void => {
    if (told === view.state || wish.json) return
    // Between the answer and the start it is approved for a moment; only one that stays so needs the operator.
    if (view.state === 'approved') {
      approvedAt ??= Date.now()
      if (Date.now() - approvedAt < LOOK_MS) return
    }
    told = view.state
    if (view.state === 'approved')
      io.stderr.write(
        `nomos: ${view.id} is approved and not started. Start it with: nomos executions start ${view.id}\n`,
      )
    else if (view.approval !== null) {
      const where = app.welcome.host === 'window' ? 'on its card in the window, or in' : 'in'
      io.stderr.write(
        `nomos: ${view.id} waits for an answer (${view.risk}). Give it ${where} another terminal: nomos approvals approve ${view.approval.id}\n`,
      )
    }
  }
  const take = ({ event }: Numbered): void => {
    const of = id
    if (of === null) return
    if (event.type === 'output' && event.id === of) {
      next(async () => {
        if (event.offset > printed) await pull(of)
        else if (event.offset + event.text.length > printed) {
          await emit(event.text.slice(printed - event.offset))
          printed = event.offset + event.text.length
        }
      })
    } else if (
      (event.type === 'execution' && event.id === of) ||
      (event.type === 'approval' && event.executionId === of)
    )
      next(() => look(of))
  }

  await app.client.subscribe({ onEvent: (event) => (id === null ? early.push(event) : take(event)) })
  const requested = await ask(app, 'executions.request', {
    target: wish.target,
    command: wish.command,
    purpose: wish.purpose,
    session: null,
  })
  const own = requested.id
  id = own
  for (const event of early) take(event)
  next(() => look(own))
  const looking = setInterval(() => next(() => look(own)), LOOK_MS)
  const offInterrupt = io.onInterrupt(() => {
    interrupts += 1
    if (interrupts > 1) {
      io.stderr.write(`nomos: ${own} was left as it is. See: nomos executions show ${own}\n`)
      finish(EXIT.interrupted)
      return
    }
    io.stderr.write(`nomos: stopping ${own} (Ctrl-C again leaves it).\n`)
    // Not in the line: a stop must not wait for output.
    void app.client.request('executions.cancel', { id: own }).then((answer) => {
      if (!answer.ok) io.stderr.write(`nomos: ${visibleLine(answer.error.message)}\n`)
    }, fail)
  })
  void app.client.ended.then((reason) =>
    fail(
      new CliFailure(
        EXIT.noApp,
        'lost',
        `${reason} What became of ${own} is not known here${last === null ? '' : ` (last seen: ${STATE_WORDS[last.state]})`}; see: nomos executions show ${own}`,
      ),
    ),
  )
  try {
    return await ended
  } finally {
    clearInterval(looking)
    offInterrupt()
  }
}

/** Says how it ended and answers the exit code. */
function closing(view: ExecutionView, io: Io, json: boolean, interrupted: boolean): number {
  if (json) io.stdout.write(`${JSON.stringify(view)}\n`)
  else {
    const plain = view.state === 'completed' || (view.state === 'failed' && view.exitCode !== null)
    if (!plain) {
      const reason = view.stateReason === null ? '' : `: ${visibleLine(view.stateReason)}`
      io.stderr.write(`nomos: ${view.id} is ${STATE_WORDS[view.state]}${reason}\n`)
    }
    if (view.truncated) io.stderr.write(`nomos: the output was cut (${view.outputBytes} bytes in all).\n`)
  }
  if (interrupted && view.state === 'cancelled') return EXIT.interrupted
  if (view.state !== 'completed' && view.state !== 'failed') return EXIT.failed
  if (view.exitCode !== null) return view.exitCode
  const signals: Readonly<Record<string, number>> = constants.signals
  const signal = view.signal === null ? undefined : signals[view.signal]
  return signal === undefined ? (view.state === 'completed' ? EXIT.done : EXIT.failed) : 128 + signal
}
