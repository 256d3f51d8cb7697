import type { Terminal } from './terminal'

export interface Out {
  write(text: string): boolean
  once(event: 'drain', listener: () => void): unknown
  readonly isTTY?: boolean
  /** Width of the terminal, when it is one. */
  readonly columns?: number
}

/** What a sub-command may use of the process around it; tests bring their own. */
export interface Io {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: AsyncIterable<Buffer | string>
  readonly stdout: Out
  readonly stderr: Out
  /** The operator's terminal (`/dev/tty`), or null when there is none. Never standard input: that may be a pipe. */
  readonly openTerminal: () => Promise<Terminal | null>
  /** Calls back for each Ctrl-C until the returned function is called. */
  readonly onInterrupt: (callback: () => void) => () => void
}

/** The real process. */
export function processIo(): Io {
  return {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    openTerminal: async () => (await import('./terminal')).openTerminal(),
    onInterrupt: (callback) => {
      process.on('SIGINT', callback)
      return () => process.off('SIGINT', callback)
    },
  }
}

/** Writes and waits when the reader is slower than we are. */
export async function writeAll(out: Out, text: string): Promise<void> {
  if (!out.write(text)) await new Promise<void>((resolve) => out.once('drain', resolve))
}
