import { join } from 'node:path'
import type { Envelope, RouteArgument, RouteName, RouteOutput } from '../../src-preload/contract'
import { type ControlClient, ControlUnavailable, createControlClient, type Welcome } from '../adapters/control-socket'
import { nomosHome } from '../adapters/system'
import { CliFailure, EXIT } from './exits'
import type { Io } from './io'

export interface App {
  readonly client: ControlClient
  readonly welcome: Welcome
}

/** Nomos's folder, with a sentence of the command when the environment names a bad one. */
export function homeOf(io: Io): string {
  try {
    return nomosHome(io.env)
  } catch (error) {
    throw new CliFailure(EXIT.usage, 'home', error instanceof Error ? error.message : String(error))
  }
}

/** The folder of the control socket, its token and its lock. */
export function runFolder(io: Io): string {
  return join(homeOf(io), 'run')
}

/** Connects to the running app, does `work`, and closes the connection whatever happens. */
export async function withApp<T>(io: Io, work: (app: App) => Promise<T>): Promise<T> {
  const client = createControlClient(runFolder(io))
  try {
    return await work({ client, welcome: await client.connect() })
  } catch (error) {
    if (error instanceof ControlUnavailable) throw new CliFailure(EXIT.noApp, error.kind, error.message)
    throw error
  } finally {
    client.close()
  }
}

/** The value of an answer, or the failure as the command's own. */
export function unwrap<T>(envelope: Envelope<T>): T {
  if (envelope.ok) return envelope.value
  const { code, message, detail } = envelope.error
  const exit = code === 'forbidden' ? EXIT.notOperator : EXIT.failed
  // A conflict shows both versions: those are texts of their own.
  const more = detail === null ? '' : detail.includes('\n') ? `\n${detail}` : ` (${detail})`
  throw new CliFailure(exit, code, `${message}${more}`)
}

/** Asks for a value. */
export async function ask<R extends RouteName>(
  { client }: App,
  route: R,
  input: RouteArgument<R>,
): Promise<RouteOutput<R>> {
  return unwrap(await client.request(route, input))
}
