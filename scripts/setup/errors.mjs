/**
 * A failure that the person at the keyboard can do something about. Printed as message and remedy, without a stack:
 * the stack of a set-up script says nothing to somebody who only wanted to start the app.
 */
export class SetupError extends Error {
  /**
   * @param {string} message what failed, with the value that failed
   * @param {{remedy?: string, output?: string, cause?: unknown}} [details] what to do, and the end of a child's output
   */
  constructor(message, { remedy, output, cause } = {}) {
    super(message, { cause })
    this.name = 'SetupError'
    this.remedy = remedy
    this.output = output
  }
}

/**
 * The text shown for any error: a `SetupError` with its remedy, everything else with its stack, since that is a bug.
 * @param {unknown} error
 * @returns {string}
 */
export function describeError(error) {
  if (!(error instanceof SetupError)) return error instanceof Error ? (error.stack ?? error.message) : String(error)
  const parts = [error.message]
  if (error.output?.trim()) {
    parts.push(
      error.output
        .trimEnd()
        .split('\n')
        .map((line) => `  | ${line}`)
        .join('\n'),
    )
  }
  if (error.remedy) parts.push(`What to do: ${error.remedy}`)
  return parts.join('\n')
}
