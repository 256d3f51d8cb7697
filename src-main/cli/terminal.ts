import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { ReadStream, WriteStream } from 'node:tty'

export type Typed =
  | { readonly kind: 'line'; readonly text: string }
  /** Ctrl-C, Ctrl-D, or the terminal went away. */
  | { readonly kind: 'ended' }
  /** The question lost its sense (`signal`). */
  | { readonly kind: 'withdrawn' }

/** The operator's terminal: what is shown there is seen, what is typed there was typed. */
export interface Terminal {
  readonly columns: number
  write(text: string): void
  ask(question: string, signal?: AbortSignal): Promise<Typed>
  close(): void
}

/** Opens the controlling terminal of this process; null when it has none. On Windows (untested) its console. */
export function openTerminal(platform: NodeJS.Platform = process.platform): Terminal | null {
  const [inPath, outPath] = platform === 'win32' ? ['\\\\.\\CONIN$', '\\\\.\\CONOUT$'] : ['/dev/tty', '/dev/tty']
  let input: number | null = null
  let output: number | null = null
  try {
    input = openSync(inPath, platform === 'win32' ? 'r+' : 'r')
    output = openSync(outPath, platform === 'win32' ? 'r+' : 'w')
    return over(new ReadStream(input), new WriteStream(output))
  } catch {
    if (input !== null) closeQuietly(input)
    if (output !== null) closeQuietly(output)
    return null
  }
}

function over(input: ReadStream, output: WriteStream): Terminal {
  // Held only while a question is open, so that a waiting `watch` does not swallow what is typed for the shell.
  input.pause()
  input.on('error', () => input.destroy())
  output.on('error', () => output.destroy())
  return {
    get columns() {
      return output.columns > 0 ? output.columns : 80
    },
    write: (text) => {
      output.write(text)
    },
    ask: (question, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) {
          resolve({ kind: 'withdrawn' })
          return
        }
        const lines = createInterface({ input, output, terminal: true, historySize: 0 })
        let settled = false
        const settle = (typed: Typed) => {
          if (settled) return
          settled = true
          signal?.removeEventListener('abort', withdraw)
          lines.close()
          if (typed.kind !== 'line') output.write('\n')
          resolve(typed)
        }
        const withdraw = () => settle({ kind: 'withdrawn' })
        signal?.addEventListener('abort', withdraw)
        lines.on('SIGINT', () => settle({ kind: 'ended' }))
        lines.on('close', () => settle({ kind: 'ended' }))
        lines.question(question, (text) => settle({ kind: 'line', text }))
      }),
    close: () => {
      input.destroy()
      output.end()
    },
  }
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd)
  } catch {
    // It is closed already.
  }
}
