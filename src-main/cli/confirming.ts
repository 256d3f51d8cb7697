import type { RouteArgument, RouteName, RouteOutput } from '../../src-preload/contract'
import { codePrompt } from './answering'
import { type App, unwrap } from './app'
import { CliFailure, EXIT } from './exits'
import type { Terminal } from './terminal'
import { visibleLine } from './visible'

/** Asks for the code of a challenge and does what was shown before. `verb` completes "To …, type this code". */
export async function confirmed<R extends RouteName>(
  app: App,
  terminal: Terminal,
  route: R,
  input: RouteArgument<R>,
  verb: string,
): Promise<RouteOutput<R>> {
  return unwrap(await app.client.answerWithChallenge(route, input, codePrompt(terminal, verb)))
}

/** What opens the gate takes a typed word besides the code, after all that it opens was said. */
export async function sureToOpen(terminal: Terminal, opens: readonly string[]): Promise<void> {
  terminal.write('This opens:\n')
  for (const sentence of opens) terminal.write(`  - ${visibleLine(sentence)}\n`)
  const typed = await terminal.ask('Type yolo if that is what you want, anything else leaves all as it is: ')
  if (typed.kind === 'line' && typed.text.trim() === 'yolo') return
  throw new CliFailure(EXIT.failed, 'left', 'nothing was changed.')
}
