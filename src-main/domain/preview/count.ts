import { quoteIfNeeded } from '../shell'
import { asPath } from './words'

/** The words of a search that names each thing below the paths by depth, type and size. Names are left out: they can hold anything. */
export const countOf = (paths: readonly string[], deep: boolean): readonly string[] => [
  'find',
  ...paths.map(asPath),
  ...(deep ? [] : ['-maxdepth', '0']),
  '-printf',
  '%d %y %s\\n',
]

/** The same as sums alone, for what is too much to list. */
export const roomOf = (paths: readonly string[]): readonly (readonly string[])[] => [
  ['du', '-s', '-c', '--inodes', ...paths.map(asPath)],
  ['du', '-s', '-c', '-b', ...paths.map(asPath)],
]

/** A size for people: 1.2 KB. */
export function sizeWords(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  if (unit === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  return `${value.toFixed(1).replace(/\.0$/, '')} ${units[unit]}`
}

interface Sums {
  files: number
  folders: number
  links: number
  others: number
  bytes: number
}

const noSums = (): Sums => ({ files: 0, folders: 0, links: 0, others: 0, bytes: 0 })

function sumWords({ files, folders, links, others, bytes }: Sums): string {
  const many = (count: number, one: string): string[] =>
    count === 0 ? [] : [`${count} ${one}${count === 1 ? '' : 's'}`]
  const parts = [
    ...many(folders, 'folder'),
    ...many(files, 'file'),
    ...many(links, 'link'),
    ...many(others, 'special file'),
  ]
  return parts.length === 0 ? 'nothing' : `${parts.join(', ')}; ${sizeWords(bytes)}`
}

function add(sums: Sums, type: string, size: number): void {
  switch (type) {
    case 'f':
      sums.files++
      sums.bytes += size
      break
    case 'd':
      sums.folders++
      break
    case 'l':
      sums.links++
      break
    default:
      sums.others++
  }
}

/**
 * What the answer of `countOf` comes to, a line for each path that was found and one for all. `text` null when nothing was found.
 * A line of another form is a message about something that could not be looked at.
 */
export function counted(
  answer: string,
  paths: readonly string[],
  deep: boolean,
): { readonly text: string | null; readonly problem: string | null } {
  const groups: Sums[] = []
  const all = noSums()
  const messages: string[] = []
  for (const line of answer.split('\n')) {
    if (line === '') continue
    const parts = /^([0-9]+) ([a-zA-Z?]) ([0-9]+)$/.exec(line)
    if (parts === null) {
      messages.push(line)
      continue
    }
    // A path itself has depth 0, so each of them begins a group.
    if (parts[1] === '0') groups.push(noSums())
    for (const sums of [all, groups.at(-1)]) if (sums !== undefined) add(sums, parts[2] ?? '', Number(parts[3]))
  }
  const shown = messages.slice(0, 5).join('; ')
  const problem =
    messages.length === 0
      ? null
      : `Not all of it could be looked at, so there may be more: ${shown}${messages.length > 5 ? ` and ${messages.length - 5} more` : ''}.`
  if (groups.length === 0) return { text: null, problem }
  // Where one is missing nobody can tell which group is which path.
  const named = groups.length === paths.length && paths.length > 1
  const lines = named ? groups.map((sums, index) => `${quoteIfNeeded(paths[index] ?? '')}: ${sumWords(sums)}`) : []
  const folders = deep || all.folders === 0 ? '' : ' (folders are not gone into)'
  return { text: [...lines, `In all: ${sumWords(all)}${folders}`, ''].join('\n'), problem }
}
