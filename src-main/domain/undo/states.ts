import { z } from 'zod'
import { type Change, lastName, NEEDS, type Need } from './changes'

const owned = { mode: z.number().int(), uid: z.number().int(), gid: z.number().int(), id: z.string() }

/** What stood at a path, without its content: of that only the HMAC, null where it was not read. Stored as JSON. */
export const PathState = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('missing') }),
  z.object({ kind: z.literal('file'), ...owned, size: z.number(), mtime: z.string(), mac: z.string().nullable() }),
  z.object({ kind: z.literal('folder'), ...owned }),
  z.object({ kind: z.literal('link'), target: z.string(), toFolder: z.boolean() }),
  z.object({ kind: z.literal('other') }),
  z.object({ kind: z.literal('hidden') }),
])
export type PathState = z.infer<typeof PathState>

/** A path that is changed, and what of it. */
export interface Touch {
  readonly path: string
  readonly need: Need
  readonly follows: boolean
  readonly recursive: boolean
  readonly sudo: boolean
  /** Where it is moved to: it comes back from there, whole. */
  readonly goes: string | null
  /** A folder is made there with everything in it. */
  readonly tree: boolean
  /** It lies in what the same command moves or replaces, so nobody knows which file is meant by then. */
  readonly tangled: boolean
}

function pathsThatDecide(change: Change): readonly string[] {
  switch (change.kind) {
    case 'copy':
    case 'move':
      return [change.target.replace(/(?<=.)\/+$/, ''), ...change.sources]
    case 'folder':
      return change.parents ? foldersAbove(change.path) : []
    case 'file':
    case 'state':
    case 'rename':
      return []
  }
}

/** The paths that say which files a change is about: targets that may be folders, sources that may be. */
export const decidingPaths = (changes: readonly Change[]): readonly string[] => [
  ...new Set(changes.flatMap(pathsThatDecide)),
]

/** `/a/b/c` and what is above it, the highest first. */
function foldersAbove(path: string): readonly string[] {
  const parts = path.replace(/\/+$/, '').split('/')
  return parts.map((_, i) => parts.slice(0, i + 1).join('/')).filter((one) => one !== '' && one !== '.' && one !== '..')
}

const under = (folder: string, name: string): string => `${folder.replace(/\/+$/, '')}/${name}`

/** Every path that is changed, each once, with the most that has to be kept of it. `stateOf` answers for `decidingPaths`. */
export function touchesOf(changes: readonly Change[], stateOf: (path: string) => PathState): readonly Touch[] {
  const found = new Map<string, Touch>()
  /** What the earlier commands of the same text have made of a path. */
  const made = new Map<string, PathState['kind']>()
  const isFolder = (path: string): boolean => {
    const state = stateOf(path)
    return (made.get(path) ?? state.kind) === 'folder' || (!made.has(path) && state.kind === 'link' && state.toFolder)
  }
  /** Where an earlier command may have put a link: what follows it there changes another file. */
  const mayBeLinks = new Set<string>()
  const add = (one: Omit<Touch, 'tree' | 'tangled'> & { readonly tree?: boolean }): void => {
    const touch: Touch = { tree: false, tangled: one.follows && mayBeLinks.has(one.path), ...one }
    const before = found.get(touch.path)
    if (before === undefined) {
      found.set(touch.path, touch)
      return
    }
    const most = NEEDS[Math.max(NEEDS.indexOf(before.need), NEEDS.indexOf(touch.need))] ?? 'content'
    found.set(touch.path, {
      path: touch.path,
      need: most,
      follows: before.follows || touch.follows,
      recursive: before.recursive || touch.recursive,
      sudo: before.sudo || touch.sudo,
      // Changed twice it would not be the same that comes back.
      goes: before.goes === touch.goes ? before.goes : null,
      tree: before.tree || touch.tree,
      tangled: before.tangled || touch.tangled,
    })
  }
  for (const change of changes) {
    switch (change.kind) {
      case 'file': {
        const { path, need, follows, recursive, sudo } = change
        add({ path, need, follows, recursive, sudo, goes: null })
        break
      }
      case 'folder':
        for (const path of change.parents ? foldersAbove(change.path) : [change.path.replace(/(?<=.)\/+$/, '')]) {
          // Those that are there already stay as they are.
          if (!change.parents || stateOf(path).kind === 'missing')
            add({ path, need: 'attributes', follows: false, recursive: false, sudo: change.sudo, goes: null })
          made.set(path, 'folder')
        }
        break
      case 'copy':
      case 'move': {
        const { sources, inside, follows, recursive, sudo } = change
        const target = change.target.replace(/(?<=.)\/+$/, '')
        const goesIn = inside ?? isFolder(target)
        for (const source of sources) {
          const path = goesIn ? under(target, lastName(source) ?? '') : target
          const folder = isFolder(source)
          if (change.kind === 'move') {
            add({ path: source, need: 'place', follows: false, recursive: false, sudo, goes: path })
            add({ path, need: 'content', follows: false, recursive: false, sudo, goes: null })
            made.set(source, 'missing')
          } else {
            const tree = folder && recursive
            add({ path, need: 'content', follows, recursive: tree, sudo, goes: null, tree })
          }
          const plain = !change.links && (made.get(source) ?? stateOf(source).kind) === 'file'
          if (!plain || mayBeLinks.has(source)) mayBeLinks.add(path)
          else mayBeLinks.delete(path)
          made.set(path, folder ? 'folder' : 'file')
        }
        break
      }
      case 'state':
      case 'rename':
        break
    }
  }
  const all = [...found.values()]
  const replaced = all.filter(({ need }) => need === 'content' || need === 'place')
  return all.map((touch) => ({
    ...touch,
    tangled: touch.tangled || replaced.some(({ path }) => path !== touch.path && touch.path.startsWith(`${path}/`)),
  }))
}

/** Whether two states are the same as far as they can be told apart. Files whose content was not read: by size and time. */
export function sameState(a: PathState, b: PathState, need: Need = 'content'): boolean {
  if (a.kind !== b.kind) return false
  switch (a.kind) {
    case 'file': {
      if (b.kind !== 'file' || !sameOwner(a, b)) return false
      if (need === 'times' && a.mtime !== b.mtime) return false
      return a.mac !== null && b.mac !== null ? a.mac === b.mac : a.size === b.size && a.mtime === b.mtime
    }
    case 'folder':
      return b.kind === 'folder' && sameOwner(a, b)
    case 'link':
      return b.kind === 'link' && a.target === b.target
    case 'missing':
      return true
    case 'other':
    case 'hidden':
      return true
  }
}

const sameOwner = (
  a: { readonly mode: number; readonly uid: number; readonly gid: number },
  b: { readonly mode: number; readonly uid: number; readonly gid: number },
): boolean => a.mode === b.mode && a.uid === b.uid && a.gid === b.gid
