import type { UndoItem, UndoOffer } from '../../src-preload/contract/model'

/** Largest content of one file that is kept, of one run, and of all runs together, in bytes. */
export const MOST_FILE_BYTES = 1024 * 1024
export const MOST_RUN_BYTES = 8 * 1024 * 1024
export const MOST_BYTES = 64 * 1024 * 1024
/** How long anything is kept, in ms. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000

export const UNKNOWN_SENTENCE = 'What it changes is not known, so nothing is kept.'

export const GONE_SENTENCE =
  'What was kept of it is not there any more: it goes after 30 days, or earlier when later runs need the room (64 MiB in all).'

export const AS_BEFORE_SENTENCE = 'It is as it was before already, so there is nothing to put back.'

/** "1,240 bytes" */
export const inBytes = (bytes: number): string =>
  bytes === 1 ? '1 byte' : `${bytes.toString().replace(/\B(?=(\d{3})+$)/g, ',')} bytes`

/** A few names in a row, or how many there are. */
export function named(subjects: readonly string[]): string {
  const unique = [...new Set(subjects)]
  if (unique.length > 3) return `${unique.length} things`
  return unique.length < 2 ? (unique[0] ?? '') : `${unique.slice(0, -1).join(', ')} and ${unique.at(-1)}`
}

const two = (value: number): string => String(value).padStart(2, '0')

/** "14:03", with the day in front when it is another one than `now`. Local time. */
export function clockTime(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)]
  const time = `${two(then.getHours())}:${two(then.getMinutes())}`
  return then.toDateString() === today.toDateString()
    ? time
    : `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${time}`
}

/** The offer for the card. `partly`: something in the command is not understood; `fresh`: nothing of it is there yet. */
export function offerOf(items: readonly UndoItem[], partly: boolean, fresh: boolean): UndoOffer {
  const can = items.filter(({ canPutBack }) => canPutBack)
  const cannot = items.filter(({ canPutBack }) => !canPutBack)
  const more = partly ? ' What else it changes is not known.' : ''
  const why = cannot.length === 1 ? ` ${cannot[0]?.sentence ?? ''}` : ''
  const all = named(items.map(({ subject }) => subject))
  if (can.length === 0)
    return { verdict: 'none', sentence: `Changes ${all}, which cannot be put back.${why}${more}`, items }
  if (cannot.length === 0 && fresh)
    return {
      verdict: partly ? 'part' : 'whole',
      sentence: `Nothing is there now at ${all}; what is made there can be taken away again.${more}`,
      items,
    }
  if (cannot.length === 0)
    return { verdict: partly ? 'part' : 'whole', sentence: `Changes ${all}, which can be put back.${more}`, items }
  const [yes, no] = [can, cannot].map((list) => named(list.map(({ subject }) => subject)))
  return {
    verdict: 'part',
    sentence: `Changes ${yes}, which can be put back, and ${no}, which cannot.${why}${more}`,
    items,
  }
}
