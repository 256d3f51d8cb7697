import { MOST_COMPARED, unifiedDifference } from '../domain/preview'
import { redact } from '../domain/redact'
import { pathBack, quoteAll, shownName, stateBack, type UndoRules } from '../domain/undo'
import type { BackNow, Kept, Now, Row } from './undo-kept'
import type { UndoLook } from './undo-look'
import { inBytes } from './undo-words'

/** A preview of an undo, before it is made. */
export interface UndoPreview {
  /** Commands that would tell what is looked at for it. The policy decides by them, before anything is looked at. */
  readonly reads: readonly string[]
  /**
   * Looks at the place and puts it together.
   * @throws NomosError `conflict` when there is nothing to put back, `unavailable` when the place cannot be looked at.
   */
  make(bounds: UndoPreviewBounds): Promise<UndoShown & { readonly commands: readonly string[] }>
}

export interface UndoPreviewBounds {
  /** Called ahead of each step; throws when it is too late for it. */
  readonly stillWanted: () => void
  /** Characters after which nothing more is compared: it would be cut off. */
  readonly most: number
}

/** What an undo would put back, redacted. */
export interface UndoShown {
  readonly kind: 'text' | 'diff'
  readonly text: string
  readonly note: string
}

const STALE_SENTENCE =
  'What stands there has changed since this undo was asked for, so it will not run: shown is what a new one would put back. Ask for it again.'
const LOOKED_SENTENCE = 'Files were looked at directly, as Undo does before it runs.'
const HIDDEN_SENTENCE = 'What may hold a secret is not shown.'

/**
 * Files are looked at through the inspector and not by `cat` through the gate, as the other previews read them. Undo decides by the bytes, and
 * so has to be shown by them: an output is redacted and knows no bytes that are no text. It would also lie in the database for good.
 * What the policy says of `cat` holds for this look as well.
 */
export function readsOfBack(rows: readonly Row[], look: Pick<UndoLook, 'namesSecret' | 'readOf'>): readonly string[] {
  const files = rows.flatMap(({ kept }) =>
    kept.is === 'path' && kept.touch.need === 'content' && !look.namesSecret(kept.place, kept.touch.path)
      ? [kept.touch.path]
      : [],
  )
  const names = new Map(rows.flatMap(({ kept }) => (kept.is === 'rename' ? [[kept.from, kept.to] as const] : [])))
  const asked = rows.flatMap(({ kept }): readonly (string | null)[] => {
    if (kept.is === 'path') return []
    if (kept.is === 'rename') return [look.readOf(kept, kept.from), look.readOf(kept, kept.to)]
    const name = names.get(kept.name)
    return [look.readOf(kept, kept.name), name === undefined ? null : look.readOf(kept, name)]
  })
  // Where no content is shown it still has to be a place at which reads run by themselves.
  const cat = files.length === 0 ? 'true' : `cat -- ${quoteAll(files)}`
  return [...new Set([cat, ...asked.filter((command) => command !== null)])]
}

export interface BackPreviewDeps extends UndoPreviewBounds {
  readonly look: Pick<UndoLook, 'holdsSecret' | 'namesSecret'>
  readonly undoRules: () => UndoRules
  /** What was kept of a file, whole and unchanged. */
  readonly contentOf: (row: Row) => Uint8Array
}

type PathKept = Extract<Kept, { is: 'path' }>

/** What a way back would do, one line for each thing and the differences behind them. `same`: it is the one that was asked for. */
export async function backPreview(back: BackNow, same: boolean, deps: BackPreviewDeps): Promise<UndoShown> {
  const lines: string[] = []
  const parts: string[] = []
  let shown = 0
  let hidden = false
  /** Where the run has put what lay in a place for secrets. Nothing but where it came from tells that it is one. */
  const fromSecret = new Set(
    back.now.flatMap(({ row: { kept } }) =>
      kept.is === 'path' && kept.touch.goes !== null && deps.look.namesSecret(kept.place, kept.touch.path)
        ? [kept.touch.goes]
        : [],
    ),
  )
  const say = (subject: string, words: readonly string[]): void => {
    lines.push(redact(`${shownName(subject)}: ${words.join('; ')}`).text)
  }
  for (const one of back.now) {
    const { row, after } = one
    const { kept } = row
    if (!back.put.includes(row) || after === null) continue
    if (kept.is === 'path' && after.is === 'path') {
      const { touch, state: before } = kept
      const { writes, words } = pathBack({ touch, before, now: after.state }, back.moved.includes(row))
      const content = writes ? contentBack(kept, one, fromSecret.has(touch.path), deps) : null
      const told = content !== null && 'why' in content ? [...words, content.why] : words
      if (told.length > 0 || content === null) say(touch.path, told.length > 0 ? told : ['put back as it was'])
      if (content === null) continue
      if ('why' in content) hidden ||= content.secret
      else if (shown <= deps.most) {
        const name = shownName(touch.path)
        const from = after.state.kind === 'file' ? name : '/dev/null'
        const part = redact(unifiedDifference(content.now, content.back, from, name)).text
        parts.push(part)
        shown += part.length
      }
      // Comparing takes its time, and others wait.
      await new Promise<void>((go) => setImmediate(go))
      deps.stillWanted()
    } else if (kept.is === 'state' && after.is === 'state' && after.state !== null) {
      const program = deps.undoRules().states.get(kept.program)
      say(kept.name, program === undefined ? [] : stateBack(program, kept.state, after.state))
    } else if (kept.is === 'rename') {
      say(kept.from, [`named ${shownName(kept.to)} now, ${shownName(kept.from)} after`])
    }
  }
  const files = back.now.some(({ row }) => row.kept.is === 'path')
  const notes = [
    ...(same ? [] : [STALE_SENTENCE]),
    ...back.changed,
    ...back.left.map((sentence) => `Left as it is: ${sentence}`),
    ...(hidden ? [HIDDEN_SENTENCE] : []),
    ...(files ? [LOOKED_SENTENCE] : []),
  ]
  const named = lines.map((line) => `${line}\n`).join('')
  const between = named === '' || parts.length === 0 ? '' : '\n'
  return {
    kind: parts.length > 0 ? 'diff' : 'text',
    text: `${named}${between}${parts.join('')}`,
    note: redact(notes.join(' ')).text,
  }
}

type Content =
  | { readonly now: string; readonly back: string }
  /** Why it is not shown, with its sizes. */
  | { readonly why: string; readonly secret: boolean }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

/** Both sides of a file whose content is put back, unless one of them is not to be shown or cannot be. */
function contentBack(
  { place, touch, state }: PathKept,
  { row, after, content }: Now,
  fromSecret: boolean,
  deps: BackPreviewDeps,
): Content {
  const there = after?.is === 'path' && after.state.kind === 'file' ? after.state.size : null
  const no = (why: string, secret = false): Content => {
    // Where no file stands now the sizes are told by what becomes of the path.
    const sizes = there === null || state.kind !== 'file' ? null : `${inBytes(there)} now, ${inBytes(state.size)} after`
    return { why: sizes === null ? why : `${sizes} (${why})`, secret }
  }
  // What was sealed is not even opened for this.
  if (row.row.sealed) return no('kept encrypted, not shown', true)
  if (fromSecret) return no('taken for a secret, not shown', true)
  if (there !== null && content === null) return no('what stands there now is too large to show, or cannot be read')
  const now = content ?? new Uint8Array()
  const kept = deps.contentOf(row)
  if (deps.look.holdsSecret(place, touch.path, now) || deps.look.holdsSecret(place, touch.path, kept))
    return no('taken for a secret, not shown', true)
  if (now.length > MOST_COMPARED || kept.length > MOST_COMPARED) return no('too large to show')
  const [was, will] = [textOf(now), textOf(kept)]
  if (was === null || will === null) return no('not text, not shown')
  // Where nothing stood, an empty file makes no difference to show; its line says it.
  return { now: was, back: will }
}
