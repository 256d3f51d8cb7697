import { execFile, spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { end, type TestBus, until } from './bus'

const run = promisify(execFile)

export interface Shown {
  readonly id: number
  readonly app: string
  readonly title: string
  readonly body: string
}

/** A real notification daemon. */
export interface Dunst {
  count(): Promise<number>
  /** All that was ever shown, newest first. Empties the screen first: only what is closed is in the history. */
  history(): Promise<readonly Shown[]>
  /** The urgency of everything that was shown, oldest first. */
  urgencies(): readonly string[]
  /** The labels of the buttons of everything that stands, as the daemon would list them. */
  buttons(): Promise<readonly string[]>
  /** A click on the notice on top. */
  click(): Promise<void>
  /** Presses a button, by its label. */
  press(label: string): Promise<void>
  /** Puts everything away, as an operator does. */
  dismiss(): Promise<void>
  stop(signal?: NodeJS.Signals): Promise<void>
}

const text = (value: unknown): string =>
  value !== null && typeof value === 'object' && 'data' in value ? String(value.data) : ''

export async function startDunst(bus: TestBus): Promise<Dunst> {
  const config = join(bus.folder, 'dunstrc')
  const asked = join(bus.folder, 'asked')
  const wanted = join(bus.folder, 'wanted')
  const menu = join(bus.folder, 'menu.sh')
  // Buttons are in a menu of dunst's, drawn by a program of one's choice: this one notes what it was asked and takes the wanted line.
  writeFileSync(
    menu,
    `#!/bin/sh\ncat > ${asked}.new\nmv ${asked}.new ${asked}\ngrep -m1 -F "$(cat ${wanted})" ${asked}\n`,
  )
  chmodSync(menu, 0o755)
  const noted = join(bus.folder, 'noted')
  const note = join(bus.folder, 'note.sh')
  writeFileSync(noted, '')
  writeFileSync(note, `#!/bin/sh\necho "$DUNST_URGENCY" >> ${noted}\n`)
  chmodSync(note, 0o755)
  writeFileSync(
    config,
    `[global]\n  dmenu = ${menu}\n  monitor = 0\n  history_length = 50\n  notification_limit = 20\n  markup = full\n[all]\n  summary = "*"\n  script = ${note}\n`,
  )
  const env = { ...process.env, ...bus.env }
  const child = spawn('dunst', ['-conf', config], { env, stdio: ['ignore', 'ignore', 'ignore'] })
  const ctl = async (...args: string[]): Promise<string> => (await run('dunstctl', args, { env })).stdout.trim()
  await until('dunst on the bus', async () => (await bus.ownerOf('org.freedesktop.Notifications')) !== null)

  async function menuOf(choice: string): Promise<readonly string[]> {
    writeFileSync(wanted, choice)
    writeFileSync(asked, '')
    let lines: string[] = []
    let asking = 0
    await until('the menu of dunst', async () => {
      // While the menu before is still closing, a new one is not opened.
      if (asking++ % 25 === 0) await ctl('context')
      lines = readFileSync(asked, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
      return lines.length > 0
    })
    return lines
  }

  return {
    count: async () => Number(await ctl('count', 'displayed')),
    async history() {
      await ctl('close-all')
      const parsed = JSON.parse(await ctl('history')) as { data: Record<string, unknown>[][] }
      return (parsed.data[0] ?? []).map((entry) => ({
        id: Number(text(entry.id)),
        app: text(entry.appname),
        title: text(entry.summary),
        body: text(entry.body),
      }))
    },
    urgencies: () =>
      readFileSync(noted, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    buttons: () => menuOf('nothing of this name'),
    async click() {
      await ctl('action')
    },
    async press(label) {
      await menuOf(label)
    },
    async dismiss() {
      await ctl('close-all')
    },
    stop: (signal = 'SIGTERM') => end(child, signal),
  }
}
