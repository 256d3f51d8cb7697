const heartbeatMs = 8_000

/**
 * Runs a long step and says so: a line when it starts, one at least every ten seconds while it runs, one at its end.
 * @template T
 * @param {(line: string) => void} log
 * @param {string} label
 * @param {(report: (state: () => string | undefined) => void) => Promise<T>} work may hand in a function that says how far it is
 * @param {{expectedSeconds?: number, outcome?: (result: T) => string}} [options] `outcome` words the last line
 * @returns {Promise<T>}
 */
export async function step(log, label, work, { expectedSeconds, outcome = () => 'done' } = {}) {
  const began = Date.now()
  let state
  log(expectedSeconds ? `${label} … (about ${expectedSeconds} s)` : `${label} …`)
  const beat = setInterval(() => log(`${label} … ${howFar(seconds(began), expectedSeconds, state?.())}`), heartbeatMs)
  try {
    const result = await work((next) => {
      state = next
    })
    log(`${label}: ${outcome(result)} in ${seconds(began, 1)} s`)
    return result
  } catch (error) {
    log(`${label}: failed after ${seconds(began, 1)} s`)
    throw error
  } finally {
    clearInterval(beat)
  }
}

/** The middle of a heartbeat line: elapsed time, what is expected, and how far the step says that it is. */
export function howFar(elapsed, expected, state) {
  const time = expected && elapsed <= expected ? `${elapsed} s of about ${expected} s` : `${elapsed} s`
  return state ? `${time}, ${state}` : time
}

/** "61 % of 196 MB", or the size alone while the whole is unknown. */
export function downloadState(bytes, total) {
  if (bytes <= 0) return undefined
  const megabytes = (value) => Math.round(value / 1e6)
  if (!total) return `${megabytes(bytes)} MB so far`
  return `${Math.min(99, Math.floor((bytes / total) * 100))} % of ${megabytes(total)} MB`
}

function seconds(began, digits = 0) {
  return Number(((Date.now() - began) / 1000).toFixed(digits))
}
