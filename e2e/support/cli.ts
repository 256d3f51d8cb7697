import { spawn, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const program = resolve(root, 'out/main/cli.js')

function environment(home: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(process.env))
    if (!name.startsWith('VITEST') && !name.startsWith('NOMOS_')) env[name] = value
  return { ...env, NOMOS_HOME: home }
}

/** Runs the `nomos` command as built, without a terminal. */
export function nomos(
  home: string,
  args: readonly string[],
  input = '',
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    input,
    env: environment(home),
    timeout: 60_000,
  })
  return { status, stdout, stderr }
}

/** Runs it at a real terminal (util-linux's `script` makes one) and answers what it asks: the code, then the phrase if there is one. */
export function atTerminal(
  home: string,
  args: readonly string[],
  phrase = '',
): Promise<{ status: number | null; output: string }> {
  const line = [process.execPath, program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  // `setsid` is what a terminal emulator does: the shell in it belongs to nobody else's session.
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    env: environment(home),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  let answered = 0
  child.stdout.on('data', (bytes: Buffer) => {
    // Without the colours and cursor moves of the prompt.
    output += bytes.toString('utf8').replace(/\x1b\[[0-9;]*[A-Za-z]/g, '')
    const prompts = output.split('> ').length - 1
    const code = /code within a minute: (\S+) > ?$/.exec(output)
    if (code !== null && prompts > answered) {
      answered = prompts
      child.stdin.write(`${code[1]}\n`)
    } else if (phrase !== '' && /> ?$/.test(output) && prompts > answered) {
      answered = prompts
      child.stdin.write(`${phrase}\n`)
    }
  })
  return new Promise((done) => {
    const timer = setTimeout(() => child.kill(), 30_000)
    child.on('exit', (status) => {
      clearTimeout(timer)
      done({ status, output })
    })
  })
}

/** An operator at a terminal who has been shown the code of a command and has not typed it yet. */
export interface OperatorAt {
  /** Resolves once the code stands there, or the command has ended without asking. */
  readonly asked: Promise<void>
  /** Types the code and waits for the end. */
  answer(): Promise<{ status: number | null; output: string }>
}

/** The same as `atTerminal`, in two steps: so that an answer can be held back until others are on their way. */
export function operatorAt(home: string, args: readonly string[]): OperatorAt {
  const line = [process.execPath, program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    env: environment(home),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  let code: string | null = null
  let known: () => void = () => {}
  const asked = new Promise<void>((go) => {
    known = go
  })
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString('utf8').replace(/\x1b\[[0-9;]*[A-Za-z]/g, '')
    const found = /code within a minute: (\S+) > ?$/.exec(output)
    if (found === null) return
    code = found[1] ?? null
    known()
  })
  const ended = new Promise<number | null>((done) => {
    const timer = setTimeout(() => child.kill(), 60_000)
    child.on('exit', (status) => {
      clearTimeout(timer)
      known()
      done(status)
    })
  })
  return {
    asked,
    async answer() {
      if (code !== null) child.stdin.write(`${code}\n`)
      return { status: await ended, output }
    },
  }
}
