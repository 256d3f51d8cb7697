import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const repository = join(import.meta.dirname, '..', '..')

/**
 * Bundles the real command (and the host) for what needs a real process, and answers the folder; the caller removes it.
 * It lies inside node_modules, so that what stays external and the shipped policies are found.
 */
export async function bundleCommands(...names: readonly ('cli' | 'headless')[]): Promise<string> {
  const sources = { cli: 'main.ts', headless: 'headless.ts' } as const
  const folder = mkdtempSync(join(repository, 'node_modules', '.nomos-cli-test-'))
  await build({
    configFile: false,
    logLevel: 'silent',
    root: repository,
    build: {
      ssr: true,
      outDir: folder,
      rollupOptions: {
        input: Object.fromEntries(names.map((name) => [name, join(import.meta.dirname, sources[name])])),
        external: ['better-sqlite3-napi9'],
        output: { entryFileNames: '[name].js', format: 'es' },
      },
    },
  })
  return folder
}

/** The real command in a real terminal; `say` types once `when` was shown. */
export class Operator {
  shown = ''
  readonly exit: Promise<number>
  private wake: () => void = () => {}
  private from = 0
  private readonly child: ChildProcess
  private static readonly all = new Set<ChildProcess>()
  static endAll(): void {
    for (const child of Operator.all) child.kill('SIGKILL')
    Operator.all.clear()
  }
  constructor(bundle: string, home: string, words: string) {
    const child = spawn('script', ['-qec', `'${process.execPath}' '${join(bundle, 'cli.js')}' ${words}`, '/dev/null'], {
      env: { ...process.env, NOMOS_HOME: home, NO_COLOR: '1', TERM: 'dumb' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    Operator.all.add(child)
    this.child = child
    child.stdout.on('data', (chunk: Buffer) => {
      this.shown += chunk.toString('utf8')
      this.wake()
    })
    this.exit = new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1)))
  }
  /** Waits for text that was not waited for before, and gives the match. */
  async sees(pattern: RegExp): Promise<RegExpExecArray> {
    const until = Date.now() + 30_000
    for (;;) {
      const found = pattern.exec(this.shown.slice(this.from))
      if (found !== null) {
        this.from += found.index + found[0].length
        return found
      }
      if (Date.now() > until) throw new Error(`${pattern} was not shown: ${JSON.stringify(this.shown)}`)
      await new Promise<void>((resolve) => {
        this.wake = resolve
        setTimeout(resolve, 1_000)
      })
    }
  }
  types(text: string): void {
    this.child.stdin?.write(text)
  }
  async typesCode(): Promise<void> {
    const [, code] = await this.sees(/code within a minute: ([A-Z0-9]{6}) > /)
    this.types(`${code}\r`)
  }
}
