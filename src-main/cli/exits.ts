/**
 * Exit codes of the command.
 * - `done`: it was done, or what was asked about is as it should be
 * - `failed`: the command failed or was denied, an input line was malformed, the ledger or a check is not intact
 * - `usage`: the command line was not understood; nothing was done
 * - `noApp`: no app runs here, or it does not let this user in
 * - `notOperator`: the answer was not taken, because no operator's terminal was proven
 * - `interrupted`: ended with Ctrl-C
 */
export const EXIT = { done: 0, failed: 1, usage: 2, noApp: 3, notOperator: 4, interrupted: 130 } as const

/** Ends a sub-command with one sentence: what, why, what to do. */
export class CliFailure extends Error {
  readonly exit: number
  readonly code: string
  constructor(exit: number, code: string, message: string) {
    super(message)
    this.name = 'CliFailure'
    this.exit = exit
    this.code = code
  }
}

/** A command line that was not understood. */
export function usage(message: string): CliFailure {
  return new CliFailure(EXIT.usage, 'usage', message)
}
