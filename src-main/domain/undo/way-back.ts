import { quoteIfNeeded } from '../shell'
import type { StateProgram } from './rules'
import type { PathState, Touch } from './states'

/** A path that was changed: how it was and how it is. */
export interface Changed {
  readonly touch: Touch
  readonly before: PathState
  readonly now: PathState
  /** Its content from before was kept. */
  readonly kept: boolean
}

/** The commands that lead back, in order. Those with a `part` read that item's content, all from one input, one behind the other. */
export interface WayBack {
  readonly commands: readonly string[]
  /** Positions in the list of what was changed, in the order in which their contents are read. */
  readonly parts: readonly number[]
  /** Positions of what is put back. */
  readonly put: readonly number[]
  /** Of these, the positions of what is moved back from where it went. */
  readonly moved: readonly number[]
  /** What stays as it is, with why, a sentence each. */
  readonly left: readonly string[]
}

/** 0640 */
export const octal = (mode: number): string => mode.toString(8).padStart(4, '0')

interface Owned {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

const RUNS_AS_ANOTHER = 0o6000

/** Everybody may read it: no need for a shut door while it is written. */
const OPEN_TO_ALL = 0o044

/**
 * How to come from the present state to the one before. What is as it was is left alone, so that a run that ended half-way is taken back as far
 * as it came.
 */
export function wayBack(changed: readonly Changed[]): WayBack {
  const moves: string[] = []
  const commands: string[] = []
  /** At the end: who may not give a file to its former owner has everything else back by then. */
  const owners: string[] = []
  const parts: number[] = []
  const put: number[] = []
  const left: string[] = []
  let shut = false
  /** Paths that a move back has cleared. */
  const cleared = new Set<string>()
  for (const [index, { touch, before, now }] of changed.entries()) {
    if (touch.goes === null || now.kind !== 'missing' || !movable(before.kind)) continue
    const there = changed.find((other) => other.touch.path === touch.goes)
    if (there === undefined || there.now.kind !== before.kind) continue
    moves.push(`${as(touch)}mv -- ${quoteIfNeeded(touch.goes)} ${quoteIfNeeded(touch.path)}`)
    cleared.add(touch.goes)
    put.push(index)
  }
  const moved = new Set(put)
  /** Takes away what stands there now; false when that would lose a folder. */
  const clear = (touch: Touch, now: PathState, path: string): boolean => {
    switch (now.kind) {
      case 'missing':
        return true
      case 'file':
      case 'link':
        commands.push(`${as(touch)}rm -- ${path}`)
        return true
      case 'folder':
      case 'other':
      case 'hidden':
        return false
    }
  }
  const rights = (touch: Touch, before: Owned, now: Owned | null, path: string): void => {
    const chmod = `${as(touch)}chmod ${octal(before.mode)} -- ${path}`
    if (now === null || before.mode !== now.mode) commands.push(chmod)
    if (now !== null && before.uid === now.uid && before.gid === now.gid) return
    owners.push(`${as(touch)}chown ${before.uid}:${before.gid} -- ${path}`)
    // A change of the owner takes the bits away that let it run as another.
    if ((before.mode & RUNS_AS_ANOTHER) !== 0) owners.push(chmod)
  }
  const write = (index: number, touch: Touch, size: number, path: string): void => {
    parts.push(index)
    // All but a single one stand behind each other in the input, so each takes as many bytes as it has.
    const reader = { size, path }
    commands.push(readerOf(touch, reader, false))
  }

  // From the last to the first: what was made in a folder goes before the folder.
  for (const [index, { touch, before, kept, ...rest }] of [...changed.entries()].reverse()) {
    if (moved.has(index)) continue
    const now: PathState = cleared.has(touch.path) ? { kind: 'missing' } : rest.now
    const path = quoteIfNeeded(touch.path)
    const stays = (why: string): void => {
      left.push(`${touch.path} ${why}`)
    }
    const length = commands.length + owners.length
    switch (before.kind) {
      case 'missing':
        if (now.kind === 'folder') commands.push(`${as(touch)}rmdir -- ${path}`)
        else if (!clear(touch, now, path)) stays('cannot be taken away: it is no file any more.')
        break
      case 'file': {
        const same = now.kind === 'file' && now.mac !== null && now.mac === before.mac
        const unread = now.kind === 'file' && touch.need !== 'content'
        if (now.kind === 'file' && (same || unread)) {
          rights(touch, before, now, path)
          if (touch.need === 'times' && before.mtime !== now.mtime)
            commands.push(`${as(touch)}touch -m -d '@${before.mtime}' -- ${path}`)
        } else if (!kept) {
          stays(
            touch.goes === null
              ? 'cannot be put back: its content was not kept.'
              : `cannot be moved back: it is not at ${touch.goes} any more.`,
          )
        } else if (now.kind === 'file' && now.id === before.id) {
          write(index, touch, before.size, path)
          // Writing takes these bits away as well.
          rights(touch, before, (before.mode & RUNS_AS_ANOTHER) === 0 ? now : { ...now, mode: 0 }, path)
          // Another file under this name may have a second name elsewhere, under which it is to stay as it is.
        } else if (clear(touch, now, path)) {
          if ((before.mode & OPEN_TO_ALL) !== OPEN_TO_ALL) shut = true
          write(index, touch, before.size, path)
          rights(touch, before, null, path)
        } else stays('cannot be put back: something else stands there now that is no file.')
        break
      }
      case 'folder':
        if (now.kind !== 'folder') stays('cannot be put back: the folder is not there any more.')
        else rights(touch, before, now, path)
        break
      case 'link':
        if (now.kind === 'link' && now.target === before.target) break
        if (clear(touch, now, path)) commands.push(`${as(touch)}ln -s -- ${quoteIfNeeded(before.target)} ${path}`)
        else stays('cannot be put back: something else stands there now that is no file.')
        break
      case 'other':
      case 'hidden':
        break
    }
    if (commands.length + owners.length > length) put.push(index)
  }
  const all = [...(shut ? ['umask 077'] : []), ...moves, ...commands, ...owners]
  const only = parts.length === 1 ? changed[parts[0] ?? 0] : undefined
  if (only !== undefined && only.before.kind === 'file') {
    const reader = { size: only.before.size, path: quoteIfNeeded(only.touch.path) }
    const at = all.indexOf(readerOf(only.touch, reader, false))
    if (at >= 0) all[at] = readerOf(only.touch, reader, true)
  }
  return { commands: all, parts, put: put.sort((a, b) => a - b), moved: [...moved], left }
}

const movable = (kind: PathState['kind']): boolean => kind === 'file' || kind === 'folder' || kind === 'link'

const as = ({ sudo }: Touch): string => (sudo ? 'sudo ' : '')

function readerOf(touch: Touch, { size, path }: { size: number; path: string }, whole: boolean): string {
  const read = whole ? 'cat' : `head -c ${size}`
  if (!touch.sudo) return `${read} > ${path}`
  const tee = `sudo tee -- ${path} > /dev/null`
  return whole ? tee : `${read} | ${tee}`
}

/** The verbs that lead from one state to another; null when nobody knows any, an empty list when there is nothing to do. */
export function verbsBack(
  program: StateProgram,
  aspect: string,
  before: string,
  now: string,
): readonly string[] | null {
  if (before === now) return []
  const verbs = program.aspects[aspect]?.back[before]?.[now]
  return verbs === undefined ? null : verbs === '' ? [] : verbs.split(' ')
}

/** The state of each aspect that an answer tells, under the name it counts as. */
export function statesIn(program: StateProgram, answer: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const [name, { pattern, same }] of Object.entries(program.aspects)) {
    const state = new RegExp(pattern, 'm').exec(answer)?.[1]
    if (state !== undefined) found[name] = same?.[state] ?? state
  }
  return found
}
