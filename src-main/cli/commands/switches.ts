import type { PolicyView } from '../../../src-preload/contract/model'
import { atTerminal } from '../answering'
import { type App, ask, withApp } from '../app'
import { confirmed } from '../confirming'
import { EXIT, usage } from '../exits'
import type { Io } from '../io'
import { readOptions } from '../options'
import { type Command, pick } from '../program'
import type { Terminal } from '../terminal'
import { type Paint, painter, visibleLine } from '../visible'

type Switch = 'pauseAutomatic' | 'askAboutEverything'

const NAMES: Readonly<Record<Switch, string>> = {
  pauseAutomatic: 'pause-automatic',
  askAboutEverything: 'ask-about-everything',
}
const MEANING: Readonly<Record<Switch, string>> = {
  pauseAutomatic: 'Pause automatic runs: unattended work stops, and reads ask',
  askAboutEverything: 'Ask about everything: nothing runs without a question',
}

/** `nomos switches [show|pause-automatic|ask-about-everything|never-auto]` */
export const switchesCommand: Command = async (args, io) => {
  if (args.every((word) => word === '--json')) return await show(args, io)
  const { part, args: rest } = pick('switches', args, {
    show,
    'pause-automatic': flip('pauseAutomatic'),
    'ask-about-everything': flip('askAboutEverything'),
    'never-auto': neverAuto,
  })
  return await part(rest, io)
}

const switchesOf = ({ pauseAutomatic, askAboutEverything, neverAuto: targets }: PolicyView) => ({
  pauseAutomatic,
  askAboutEverything,
  neverAuto: targets,
})

function switchesShown(view: PolicyView, paint: Paint): string {
  const row = (name: string, on: boolean, state: string, meaning: string): string =>
    `${name.padEnd(22)}${on ? paint('bold', state.padEnd(5)) : paint('dim', state.padEnd(5))}${meaning}\n`
  const flips = (['pauseAutomatic', 'askAboutEverything'] as const).map((name) =>
    row(NAMES[name], view[name], view[name] ? 'on' : 'off', MEANING[name]),
  )
  const targets = view.neverAuto.map(visibleLine).join(', ')
  return `${flips.join('')}${row('never-auto', view.neverAuto.length > 0, view.neverAuto.length > 0 ? 'on' : 'off', targets === '' ? 'At no target' : `Nothing runs by itself at ${targets}`)}`
}

const show: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 0) throw usage(`nomos switches show takes no ${JSON.stringify(rest[0])}. See: nomos help switches`)
  return await withApp(io, async (app) => {
    report(io, await ask(app, 'policy.show', {}), options.json)
    return EXIT.done
  })
}

function report(io: Io, view: PolicyView, json: boolean): void {
  io.stdout.write(json ? `${JSON.stringify(switchesOf(view))}\n` : switchesShown(view, painter(io.stdout, io.env)))
}

function readOn(what: string, word: string | undefined, more: readonly string[]): boolean {
  if ((word !== 'on' && word !== 'off') || more.length > 0)
    throw usage(`nomos switches ${what} takes on or off, not ${JSON.stringify([word ?? '', ...more].join(' '))}.`)
  return word === 'on'
}

/** Says what changes before the code is asked for; a switch that stands so already takes none. */
async function change(
  io: Io,
  name: string,
  json: boolean,
  stands: (view: PolicyView) => boolean,
  on: boolean,
  sentence: string,
  save: (app: App, terminal: Terminal) => Promise<PolicyView>,
): Promise<number> {
  return await atTerminal(io, `switches ${name}`, async (app, terminal) => {
    const before = await ask(app, 'policy.show', {})
    if (stands(before) === on) {
      if (!json) io.stdout.write(`It is ${on ? 'on' : 'off'} already; nothing was changed.\n`)
      else report(io, before, true)
      return EXIT.done
    }
    terminal.write(`${sentence}\nIt answers nothing that waits: see nomos approvals pending\n`)
    report(io, await save(app, terminal), json)
    return EXIT.done
  })
}

const flip =
  (name: Switch): Command =>
  async (args, io) => {
    const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
    const [word, ...more] = rest
    const on = readOn(NAMES[name], word, more)
    return await change(
      io,
      NAMES[name],
      options.json,
      (view) => view[name],
      on,
      `${MEANING[name]}. It is switched ${on ? 'on' : 'off'}.`,
      (app, terminal) => confirmed(app, terminal, 'policy.setSwitch', { name, on }, `switch it ${on ? 'on' : 'off'}`),
    )
  }

const neverAuto: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const [target, word, ...more] = rest
  if (target === undefined || target === 'on' || target === 'off')
    throw usage('name the target first: nomos switches never-auto host:web on')
  const on = readOn(`never-auto ${target}`, word, more)
  return await change(
    io,
    'never-auto',
    options.json,
    (view) => view.neverAuto.includes(target),
    on,
    on
      ? `From now on nothing runs by itself at ${visibleLine(target)}: everything there is asked about.`
      : `At ${visibleLine(target)} what the policy lets through runs by itself again.`,
    (app, terminal) =>
      confirmed(app, terminal, 'policy.setNeverAuto', { target, on }, `switch it ${on ? 'on' : 'off'}`),
  )
}
