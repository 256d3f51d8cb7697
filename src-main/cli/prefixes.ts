import { CliFailure, EXIT, usage } from './exits'

/**
 * The one item that has an id which begins with `given`. An exact id wins over longer ones; several items are refused with their ids.
 * What stands before the underscore of an id need not be typed.
 */
export function byPrefix<T>(
  given: string,
  items: readonly T[],
  idsOf: (item: T) => readonly string[],
  what: string,
): T {
  if (given.trim() === '') throw usage(`the id of the ${what} is empty.`)
  const fits = (id: string) => id.startsWith(given) || id.slice(id.indexOf('_') + 1).startsWith(given)
  const exact = items.find((item) => idsOf(item).includes(given))
  if (exact !== undefined) return exact
  const found = items.filter((item) => idsOf(item).some(fits))
  const [only, ...others] = found
  if (only === undefined)
    throw new CliFailure(EXIT.failed, 'not_found', `no ${what} has an id that begins with ${JSON.stringify(given)}.`)
  if (others.length > 0) {
    const ids = found.map((item) => idsOf(item).find(fits) ?? '').slice(0, 8)
    const more = found.length > ids.length ? ` and ${found.length - ids.length} more` : ''
    throw usage(`${JSON.stringify(given)} fits ${found.length} of them: ${ids.join(', ')}${more}. Type more of the id.`)
  }
  return only
}
