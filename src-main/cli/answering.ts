import type { CodePrompt } from '../adapters/control-socket'
import { type App, withApp } from './app'
import { CliFailure, EXIT } from './exits'
import type { Io } from './io'
import type { Terminal } from './terminal'

/** Answers are taken at a terminal only: a pipe, a job or a run of Nomos has nobody who looks. */
export async function atTerminal<T>(
  io: Io,
  name: string,
  work: (app: App, terminal: Terminal) => Promise<T>,
): Promise<T> {
  const terminal = await io.openTerminal()
  if (terminal === null)
    throw new CliFailure(
      EXIT.notOperator,
      'no_terminal',
      `"nomos ${name}" answers only at an operator's terminal, and this process has none. Run it in a terminal, or use the window.`,
    )
  try {
    return await withApp(io, (app) => work(app, terminal))
  } finally {
    terminal.close()
  }
}

/** Shows the code of a challenge and reads it back; null when nothing was typed. */
export function codePrompt(terminal: Terminal, verb: string, signal?: AbortSignal): CodePrompt {
  return async ({ code }) => {
    const typed = await terminal.ask(`To ${verb}, type this code within a minute: ${code} > `, signal)
    return typed.kind === 'line' && typed.text.trim() !== '' ? typed.text : null
  }
}
