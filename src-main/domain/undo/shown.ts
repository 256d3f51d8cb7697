import type { StateProgram } from './rules'
import type { PathState } from './states'
import { type Changed, octal, verbsBack } from './way-back'

/** What becomes of one path that is put back, beside what it holds. */
export interface PathBack {
  /** Its content is written anew from what was kept. */
  readonly writes: boolean
  /** Words that go on behind the name: "rights 0644 now, 0600 after". Empty where the content says it all. */
  readonly words: readonly string[]
}

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/u
const HIDDEN_ALL = new RegExp(HIDDEN.source, 'gu')

/** A name on a line of its own: one with a line end or the like in it could pass for other lines. */
export const shownName = (name: string): string =>
  HIDDEN.test(name)
    ? // What JSON leaves as it is: it escapes the characters of ASCII and lone surrogates.
      JSON.stringify(name).replace(HIDDEN_ALL, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    : name

const size = (bytes: number): string => (bytes === 1 ? '1 byte' : `${bytes.toLocaleString('en-US')} bytes`)

function standing(now: PathState): string {
  switch (now.kind) {
    case 'missing':
      return 'not there now'
    case 'file':
      return `${size(now.size)} now`
    case 'folder':
      return 'a folder now'
    case 'link':
      return `a link to ${shownName(now.target)} now`
    case 'other':
    case 'hidden':
      return 'something else now'
  }
}

const timeOf = (mtime: string): string => {
  const at = new Date(Number(mtime) * 1000)
  return Number.isNaN(at.getTime()) ? mtime : at.toISOString()
}

type Owned = Extract<PathState, { kind: 'file' | 'folder' }>

const owned = (before: Owned, now: Owned): string[] => [
  ...(before.mode === now.mode ? [] : [`rights ${octal(now.mode)} now, ${octal(before.mode)} after`]),
  ...(before.uid === now.uid && before.gid === now.gid
    ? []
    : [`owner ${now.uid}:${now.gid} now, ${before.uid}:${before.gid} after`]),
]

/** What `wayBack` does with one path that it puts back. `moved`: it brings it back from where it went. */
export function pathBack({ touch, before, now }: Omit<Changed, 'kept'>, moved: boolean): PathBack {
  const only = (...words: readonly string[]): PathBack => ({ writes: false, words })
  if (moved) return only(`${standing(now)}, moved back from ${shownName(touch.goes ?? '')}`)
  switch (before.kind) {
    case 'missing':
      return only(
        `was not there before, taken away again${now.kind === 'folder' ? ' if it is empty' : ''} (${standing(now)})`,
      )
    case 'folder':
      return only(...(now.kind === 'folder' ? owned(before, now) : []))
    case 'link':
      return only(`${standing(now)}, the link to ${shownName(before.target)} after`)
    case 'file': {
      const same = now.kind === 'file' && now.mac !== null && now.mac === before.mac
      if (now.kind === 'file' && (same || touch.need !== 'content')) {
        const times = touch.need === 'times' && before.mtime !== now.mtime
        return only(
          ...owned(before, now),
          ...(times ? [`last changed at ${timeOf(now.mtime)} now, ${timeOf(before.mtime)} after`] : []),
        )
      }
      return {
        writes: true,
        words:
          now.kind === 'file'
            ? owned(before, now)
            : [`${standing(now)}, a file of ${size(before.size)} with the rights ${octal(before.mode)} after`],
      }
    }
    case 'other':
    case 'hidden':
      return only()
  }
}

/** "active now, inactive after", for each aspect that a command leads back. */
export function stateBack(
  program: StateProgram,
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.keys(program.aspects).flatMap((aspect) => {
    const [was, is] = [before[aspect], now[aspect]]
    if (was === undefined || is === undefined || was === is) return []
    return verbsBack(program, aspect, was, is) === null ? [] : [`${is} now, ${was} after`]
  })
}
