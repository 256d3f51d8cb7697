import type { Target, UndoItem } from '../../src-preload/contract/model'
import { hmac, sha256 } from '../domain/ledger'
import { redact } from '../domain/redact'
import { classify, type RuleSet } from '../domain/risk'
import {
  type Change,
  decidingPaths,
  namesSecret,
  type PathState,
  quoteAll,
  quoteIfNeeded,
  type StateProgram,
  statesIn,
  type Touch,
  touchesOf,
  type UndoRules,
  understand,
} from '../domain/undo'
import type { Inspector, InspectWish, PathSeen, Secrets } from '../ports'
import type { Kept, Place } from './undo-kept'
import type { StateAnswer, UndoReads } from './undo-reads'
import { inBytes, MOST_FILE_BYTES, MOST_RUN_BYTES } from './undo-words'

export interface UndoLookDeps {
  readonly inspectors: readonly Inspector[]
  readonly reads: UndoReads
  readonly secrets: Secrets
  readonly macKey: Uint8Array
  readonly rules: () => RuleSet
  readonly undoRules: () => UndoRules
  readonly home: string
  readonly homeFolder: string
}

/** Of so many contents it is remembered whether they hold a secret. */
const MOST_SEARCHED = 256

/** One thing that is changed, as it is at this moment. `keep` is null where it cannot be put back. */
export interface LookedItem {
  readonly item: UndoItem
  readonly keep: { readonly kept: Kept; readonly content: Uint8Array | null; readonly secret: boolean } | null
}

export interface LookedAll {
  readonly items: readonly LookedItem[]
  readonly partly: boolean
}

type Path = Extract<Kept, { is: 'path' }>
type StateKept = Pick<Extract<Kept, { is: 'state' }>, 'is' | 'program' | 'word' | 'carried'>
type RenameKept = Pick<Extract<Kept, { is: 'rename' }>, 'is' | 'program' | 'word'>

/** Follows the commands that a look needs. */
export interface ReadWatch {
  /** Called ahead of each; throws when it is not wanted any more. */
  ahead(): void
  /** It ran and has answered. */
  ran(command: string): void
}

/** Looks at what a command changes, before it does. It changes nothing. */
export interface UndoLook {
  /** Null when nothing is changed; `unknown` when nobody knows what. Throws when the place cannot be looked at. */
  at(place: Place, target: Target['slug'], command: string, cwd: string | null): Promise<LookedAll | 'unknown' | null>
  /** How paths are now, in order, with what files hold where that is needed and not too much. */
  paths(
    place: Place,
    paths: readonly Path['touch'][],
  ): Promise<readonly { readonly state: PathState; readonly content: Uint8Array | null }[]>
  /** The command that tells the states of a name, or what a name belongs to; null where the rules know none. */
  readOf(kept: StateKept | RenameKept, name: string): string | null
  /** The states that the program tells of a name; null where it tells none. */
  states(
    kept: StateKept,
    name: string,
    target: string,
    watch?: ReadWatch,
  ): Promise<Readonly<Record<string, string>> | null>
  /** What a name belongs to; null when it is nobody's. */
  owner(kept: RenameKept, name: string, target: string, watch?: ReadWatch): Promise<string | null>
  mac(content: Uint8Array): string
  /** Whether a path is one of a secret, whatever it holds. */
  namesSecret(place: Place, path: string): boolean
  /** Whether a path or what it holds is taken for a secret. */
  holdsSecret(place: Place, path: string, content: Uint8Array): boolean
}

export function createUndoLook(deps: UndoLookDeps): UndoLook {
  const mac = (content: Uint8Array): string => hmac(deps.macKey, sha256(content))

  function stateOf(seen: PathSeen): PathState {
    switch (seen.kind) {
      case 'file': {
        const { kind, mode, uid, gid, id, size, mtime, content } = seen
        return { kind, mode, uid, gid, id, size, mtime, mac: content === null ? null : mac(content) }
      }
      case 'folder': {
        const { kind, mode, uid, gid, id } = seen
        return { kind, mode, uid, gid, id }
      }
      case 'link':
        return { kind: 'link', target: seen.target, toFolder: seen.toFolder }
      case 'missing':
      case 'other':
      case 'hidden':
        return { kind: seen.kind }
    }
  }

  function inspect(place: Place, cwd: string | null, wishes: readonly InspectWish[]): Promise<readonly PathSeen[]> {
    const inspector = deps.inspectors.find(({ kind }) => kind === place.kind)
    if (inspector === undefined) throw new Error(`Files at targets of kind "${place.kind}" cannot be looked at.`)
    return wishes.length === 0 ? Promise.resolve([]) : inspector.inspect({ ...place, cwd }, wishes)
  }

  const mostOf = ({ need }: Pick<Touch, 'need'>): number => (need === 'content' ? MOST_FILE_BYTES : 0)

  /** Whether contents hold a secret, by their hash: the look right before a run mostly meets what the first one met. */
  const searched = new Map<string, boolean>()

  const isSecretPath = (place: Place, path: string): boolean => {
    const homeFolder = place.kind === 'local' ? deps.homeFolder : null
    return namesSecret(path, { rules: deps.rules(), homeFolder, nomosHome: deps.home })
  }

  function holdsSecret(place: Place, path: string, content: Uint8Array): boolean {
    if (isSecretPath(place, path)) return true
    const hash = mac(content)
    let found = searched.get(hash)
    if (found === undefined) {
      const text = Buffer.from(content).toString('utf8')
      // Text of two bytes a character is still read by people.
      found =
        redact(text).found.length > 0 || (text.includes('\0') && redact(text.replaceAll('\0', '')).found.length > 0)
      if (searched.size >= MOST_SEARCHED) searched.clear()
      searched.set(hash, found)
    }
    return found
  }

  function pathItem(place: Place, touch: Touch, seen: PathSeen, used: { bytes: number }): LookedItem {
    const path = seen.at
    const { text: subject, found } = redact(path)
    const no = (sentence: string): LookedItem => ({
      item: { kind: 'file', subject, canPutBack: false, sentence, bytes: null },
      keep: null,
    })
    const yes = (sentence: string, content: Uint8Array | null = null, secret = false): LookedItem => ({
      item: { kind: 'file', subject, canPutBack: true, sentence, bytes: content?.length ?? null },
      keep: { kept: { v: 1, is: 'path', place, touch: { ...touch, path }, state: stateOf(seen) }, content, secret },
    })
    if (found.length > 0) return no('Its name holds a secret, so it is not written down.')
    if (!path.startsWith('/')) return no('Nobody knows in which folder it is.')
    if (touch.tangled) return no('It lies in what the same command moves or replaces.')
    const as = place.user ?? 'this user'
    switch (seen.kind) {
      case 'missing':
        if (touch.tree) return no('A folder is made there; folders with everything in them are not taken away again.')
        return yes('It is not there now; what is made there is taken away again.')
      case 'hidden':
        return no(`It may not be looked at as ${as}.`)
      case 'other':
        return no('It is a device, a pipe or a socket, which is not kept.')
      case 'link':
        return touch.follows
          ? no('It is a link: what it leads to is changed, and that is not kept.')
          : yes('The link is kept.')
      case 'folder':
        switch (touch.need) {
          case 'place':
            return yes('It is moved back.')
          case 'attributes':
            return touch.recursive
              ? no('It is a folder; folders with everything in them are not kept.')
              : yes('Its rights and its owner are kept.')
          case 'times':
            return no('The times of a folder are not kept.')
          case 'content':
            return no('It is a folder; folders with everything in them are not kept.')
        }
        break
      case 'file':
        switch (touch.need) {
          case 'place':
            return yes('It is moved back.')
          case 'attributes':
            return yes('Its rights and its owner are kept.')
          case 'times':
            return yes('The time of its last change is kept.')
          case 'content': {
            const { content, size, without } = seen
            if (content === null)
              return no(
                without === 'denied'
                  ? `It cannot be read as ${as}, so it is not kept.`
                  : `It has ${inBytes(size)}; more than 1 MiB of a file is not kept.`,
              )
            if (used.bytes + content.length > MOST_RUN_BYTES)
              return no('More than 8 MiB of one run are not kept, and the files before it have taken that.')
            const secret = holdsSecret(place, path, content)
            if (secret && !deps.secrets.available)
              return no('It holds a secret and there is no keyring to encrypt with, so it is not kept.')
            used.bytes += content.length
            return yes(
              `${inBytes(content.length)} ${content.length === 1 ? 'is' : 'are'} kept${secret ? ', encrypted' : ''}.`,
              content,
              secret,
            )
          }
        }
    }
  }

  async function fileItems(place: Place, cwd: string | null, changes: readonly Change[]): Promise<LookedItem[]> {
    const deciding = decidingPaths(changes)
    const states = new Map<string, PathState>()
    const first = await inspect(
      place,
      cwd,
      deciding.map((path) => ({ path, content: 0 })),
    )
    for (const [i, seen] of first.entries()) states.set(deciding[i] ?? '', stateOf(seen))
    const touches = touchesOf(changes, (path) => states.get(path) ?? { kind: 'hidden' })
    const seen = await inspect(
      place,
      cwd,
      touches.map((touch) => ({ path: touch.path, content: mostOf(touch) })),
    )
    const real = new Map(touches.map(({ path }, i) => [path, seen[i]?.at ?? path]))
    const used = { bytes: 0 }
    const items: LookedItem[] = []
    for (const [i, touch] of touches.entries()) {
      const one = seen[i]
      if (one === undefined) continue
      const goes = touch.goes === null ? null : (real.get(touch.goes) ?? touch.goes)
      items.push(pathItem(place, { ...touch, goes }, one, used))
      // Looking for secrets in a large file takes its time, and others wait.
      await new Promise<void>((go) => setImmediate(go))
    }
    return items
  }

  const programOf = (name: string): StateProgram | undefined => deps.undoRules().states.get(name)

  const commandOf = (word: string, carried: readonly string[], read: readonly string[], name: string): string =>
    [word, ...carried, ...read.map((one) => (one === 'NAME' ? name : one))].map(quoteIfNeeded).join(' ')

  async function stateItem(
    place: Place,
    target: string,
    changed: Extract<Change, { kind: 'state' }>,
  ): Promise<LookedItem> {
    const { program, word, carried, name, aspects, again, sudo } = changed
    const kind = program.kind
    const subject = redact(name).text
    const no = (sentence: string): LookedItem => ({
      item: { kind, subject, canPutBack: false, sentence, bytes: null },
      keep: null,
    })
    const answer = await deps.reads.state(target, commandOf(word, carried, program.read, name))
    if (!answer.ok) return no(`Its state is not known: ${answer.why}`)
    if (answer.exitCode !== 0) return no('Its state is not known: it is not there, or may not be looked at.')
    const all = statesIn(program, answer.text)
    const state: Record<string, string> = {}
    for (const aspect of aspects) {
      const found = all[aspect]
      if (found === undefined) return no('Its state is not told.')
      const back = program.aspects[aspect]?.back[found]
      if (back === undefined) return no(`It is ${found} now, and no command leads back to that.`)
      // What runs is only begun anew, and what it held is lost.
      if (again && Object.values(back).includes('start'))
        return no(`It is ${found} now and is begun anew, which cannot be taken back.`)
      state[aspect] = found
    }
    const names = [...program.names]
    const kept: Kept = { v: 1, is: 'state', place, program: names[0] ?? '', word, carried, name, aspects, sudo, state }
    return {
      item: {
        kind,
        subject,
        canPutBack: true,
        sentence: `It is ${Object.values(state).join(' and ')} now, which is put back.`,
        bytes: null,
      },
      keep: { kept, content: null, secret: false },
    }
  }

  async function renameItem(
    place: Place,
    target: string,
    changed: Extract<Change, { kind: 'rename' }>,
  ): Promise<LookedItem> {
    const { program, word, from, to, sudo } = changed
    const subject = redact(from).text
    const item = { kind: program.kind, subject, bytes: null }
    const named = { is: 'rename' as const, program: program.names[0] ?? '', word }
    const [id, taken] = [await look.owner(named, from, target), await look.owner(named, to, target)]
    if (id === null)
      return { item: { ...item, canPutBack: false, sentence: 'It is not there, or may not be looked at.' }, keep: null }
    if (taken !== null)
      return { item: { ...item, canPutBack: false, sentence: `There is a ${redact(to).text} already.` }, keep: null }
    return {
      item: { ...item, canPutBack: true, sentence: 'It gets its name back.' },
      keep: { kept: { v: 1, place, ...named, sudo, from, to, id }, content: null, secret: false },
    }
  }

  async function watched(target: string, command: string, watch: ReadWatch | undefined): Promise<StateAnswer> {
    watch?.ahead()
    const answer = await deps.reads.state(target, command)
    if (answer.ok) watch?.ran(command)
    return answer
  }

  const look: UndoLook = {
    mac,
    namesSecret: isSecretPath,
    holdsSecret,

    async at(place, target, command, cwd) {
      const rules = deps.rules()
      const folders = { homeFolder: place.kind === 'local' ? deps.homeFolder : null, nomosHome: deps.home, cwd }
      const understood = understand(command, {
        rules: deps.undoRules(),
        cwd,
        onlyReads: (argv) => classify(quoteAll(argv), { rules, posture: 'default', ...folders }).risk === 'read_only',
      })
      if (understood === null || (understood.changes.length === 0 && understood.partly)) return 'unknown'
      const { changes, partly } = understood
      if (changes.length === 0) return null
      const items = await fileItems(place, cwd, changes)
      const told = new Set<string>()
      for (const change of changes) {
        if (change.kind !== 'state' && change.kind !== 'rename') continue
        const key = JSON.stringify(change.kind === 'state' ? [change.name, change.aspects] : [change.from, change.to])
        if (told.has(key)) continue
        told.add(key)
        items.push(
          change.kind === 'state' ? await stateItem(place, target, change) : await renameItem(place, target, change),
        )
      }
      return { items, partly }
    },

    async paths(place, touches) {
      const seen = await inspect(
        place,
        null,
        touches.map((touch) => ({ path: touch.path, content: mostOf(touch) })),
      )
      return touches.map((_, i) => {
        const one = seen[i]
        if (one === undefined) return { state: { kind: 'hidden' }, content: null }
        return { state: stateOf(one), content: one.kind === 'file' ? one.content : null }
      })
    },

    readOf(kept, name) {
      const program = programOf(kept.program)
      const read = kept.is === 'state' ? program?.read : program?.rename?.read
      return read === undefined ? null : commandOf(kept.word, kept.is === 'state' ? kept.carried : [], read, name)
    },

    async states(kept, name, target, watch) {
      const known = programOf(kept.program)
      const command = look.readOf(kept, name)
      if (known === undefined || command === null) return null
      const answer = await watched(target, command, watch)
      return answer.ok && answer.exitCode === 0 ? statesIn(known, answer.text) : null
    },

    async owner(kept, name, target, watch) {
      const command = look.readOf(kept, name)
      if (command === null) return null
      const answer = await watched(target, command, watch)
      const id = answer.ok && answer.exitCode === 0 ? answer.text.trim() : ''
      return id === '' ? null : id
    },
  }
  return look
}
