import type { Io, Out } from './io'
import type { Terminal, Typed } from './terminal'

export interface FakeIo extends Io {
  out(): string
  err(): string
  interrupt(): void
}

/** A process around a sub-command that only the test sees. */
export function fakeIo(options: {
  home: string
  stdin?: readonly (string | Buffer)[]
  tty?: boolean
  columns?: number
  env?: NodeJS.ProcessEnv
  terminal?: Terminal | null
}): FakeIo {
  let out = ''
  let err = ''
  const interrupts = new Set<() => void>()
  const sink = (add: (text: string) => void): Out => ({
    write: (text) => {
      add(text)
      return true
    },
    once: () => {},
    isTTY: options.tty ?? false,
    ...(options.columns === undefined ? {} : { columns: options.columns }),
  })
  return {
    env: { NOMOS_HOME: options.home, NO_COLOR: '1', ...options.env },
    stdin: (async function* () {
      for (const chunk of options.stdin ?? []) yield chunk
    })(),
    stdout: sink((text) => {
      out += text
    }),
    stderr: sink((text) => {
      err += text
    }),
    openTerminal: async () => options.terminal ?? null,
    onInterrupt: (callback) => {
      interrupts.add(callback)
      return () => interrupts.delete(callback)
    },
    out: () => out,
    err: () => err,
    interrupt: () => {
      for (const callback of interrupts) callback()
    },
  }
}

/** A terminal whose operator answers each question by `answer`. */
export function fakeTerminal(answer: (question: string) => Typed | Promise<Typed>): Terminal & { shown(): string } {
  let shown = ''
  return {
    columns: 80,
    write: (text) => {
      shown += text
    },
    ask: async (question) => {
      shown += question
      return answer(question)
    },
    close: () => {},
    shown: () => shown,
  }
}
