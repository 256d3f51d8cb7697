import type { Envelope, Failure, RouteArgument, RouteName, RouteOutput } from '../../src-preload/contract'

/** A request that main refused or could not answer. The failure's message is written for people and can be shown as it is. */
export class RequestFailed extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'RequestFailed'
    this.failure = failure
  }
}

/** Asks main for something. Throws only {@link RequestFailed}. */
export async function request<R extends RouteName>(route: R, input: RouteArgument<R>): Promise<RouteOutput<R>> {
  let envelope: Envelope<unknown>
  try {
    envelope = await window.nomos.request(route, input)
  } catch (error) {
    throw new RequestFailed({
      code: 'unavailable',
      message:
        'The core of Nomos did not answer. Nothing was changed as far as this window knows; try again, or restart Nomos.',
      field: null,
      detail: error instanceof Error ? error.message : String(error),
    })
  }
  if (!envelope.ok) throw new RequestFailed(envelope.error)
  // Main answered through the same contract that names the type; the window has no schema at run time to check it again.
  return envelope.value as RouteOutput<R>
}

/** The failure inside anything that was thrown, so that every catch has a sentence to show. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RequestFailed) return error.failure
  return {
    code: 'internal',
    message:
      'Something in this window went wrong. What runs is not touched by it; reload the window to see the present state.',
    field: null,
    detail: error instanceof Error ? error.message : String(error),
  }
}
