import { NomosError } from '../../src-preload/contract/errors'
import {
  type ExecutionView,
  FINAL_STATES,
  type Plan,
  type UndoOffer,
  type UndoState,
} from '../../src-preload/contract/model'
import { canonicalJson, hmac, sha256 } from '../domain/ledger'
import { redact } from '../domain/redact'
import { type Changed, quoteIfNeeded, sameState, type UndoRules, verbsBack, wayBack } from '../domain/undo'
import type { Clock, Feed, Log, NewKept, Store } from '../ports'
import type { ResolvedTarget } from './gate'
import type { Looked } from './gate-judge'
import { After, type BackNow, Kept, type Now, type Place, type Row } from './undo-kept'
import { createUndoLook, type LookedItem, type ReadWatch, type UndoLookDeps } from './undo-look'
import { backPreview, readsOfBack, type UndoPreview } from './undo-preview'
import {
  AS_BEFORE_SENTENCE,
  clockTime,
  GONE_SENTENCE,
  inBytes,
  KEPT_MS,
  MOST_BYTES,
  named,
  offerOf,
  UNKNOWN_SENTENCE,
} from './undo-words'

/** What was read right before a run and is written down with its claim. Opaque to everybody but `Undo`. */
export interface Taken {
  readonly items: readonly unknown[]
}

/** Keeps what a command is known to change, so that it can be put back. It looks and remembers; every change goes through the gate. */
export interface Undo {
  /** What could be put back after this command, as the place is now. Changes nothing, never throws. */
  offer(asked: { readonly command: string; readonly cwd: string | null }, looked: Looked): Promise<UndoOffer | null>
  /**
   * Reads what is to be kept, right before the run. Null where nothing was offered.
   * @throws Error with a sentence when something that was offered cannot be kept any more: then the run is refused.
   */
  take(execution: ExecutionView, plan: Plan): Promise<Taken | null>
  /** Writes it down, in the moment between claim and start. */
  keep(executionId: string, taken: Taken): void
  /** Looks at the place once the run has ended, so that later changes by others can be told. Never throws. */
  after(execution: ExecutionView): Promise<void>
  /** Whether a run can be taken back now; null where nothing was kept, or nothing of it was changed. */
  stateOf(execution: ExecutionView): UndoState | null
  /**
   * The request that would take a run back, by what the place looks like now.
   * @throws NomosError `conflict` when there is nothing to put back, `unavailable` when the place cannot be looked at, with why.
   */
  request(execution: ExecutionView): Promise<UndoRequest>
  /**
   * What a waiting request would put back, of which `script` is the command.
   * @throws NomosError `conflict` when what was kept is gone.
   */
  preview(execution: ExecutionView, script: string): UndoPreview
  /** The bytes of an input of a plan by their hash; null when they are gone. */
  input(sha256: string): Uint8Array | null
}

/** A run that takes another one back. `input` are the bytes the command reads. */
export interface UndoRequest {
  readonly command: string
  readonly purpose: string
  readonly input: { readonly bytes: Uint8Array; readonly what: string } | null
}

export interface UndoDeps extends UndoLookDeps {
  readonly store: Pick<
    Store,
    'keepUndo' | 'undoKept' | 'undoContent' | 'saveUndoAfter' | 'undosOf' | 'saveUndoInput' | 'undoInput' | 'execution'
  >
  readonly clock: Clock
  readonly feed: Pick<Feed, 'publish'>
  readonly log: Log
  readonly resolve: (slug: string) => ResolvedTarget
  readonly undoRules: () => UndoRules
}

/** A run of `take`: rows ready to be written and what the ledger says of them. */
interface Ready extends Taken {
  readonly rows: readonly NewKept[]
  readonly entry: Readonly<Record<string, unknown>>
}

/** How long a look before the question may take, in ms. */
const OFFER_MS = 4_000

/** Refused at the last moment, or the core ended in the moment between the claim and that. */
const NEVER_KEPT: ReadonlySet<string> = new Set(['drift', 'undo_not_kept', 'core_ended'])

const isReady = (taken: Taken): taken is Ready => 'rows' in taken && 'entry' in taken

export function createUndo(deps: UndoDeps): Undo {
  const { store, clock, feed, log, secrets } = deps
  const look = createUndoLook(deps)
  /** What was put together for requests of this start of the core, the latest last: a request follows at once. */
  const inputs = new Map<string, Uint8Array>()

  const conflict = (sentence: string): NomosError => new NomosError('conflict', sentence, { field: 'id' })

  // ---- before

  async function offer(
    asked: { readonly command: string; readonly cwd: string | null },
    { resolved, prepared }: Looked,
  ): Promise<UndoOffer | null> {
    try {
      const place: Place = {
        kind: resolved.target.kind,
        endpoint: resolved.endpoint,
        user: prepared.user,
        hostKeys: prepared.hostKeys,
      }
      // Another machine is logged in to for this, and nobody has agreed to anything yet.
      const refusal = place.kind === 'local' ? null : await deps.reads.refusal(resolved.target.slug)
      if (refusal !== null) throw new Error(refusal)
      const found = await inTime(look.at(place, resolved.target.slug, asked.command, asked.cwd), resolved.target.slug)
      if (found === null) return null
      if (found === 'unknown') return { verdict: 'unknown', sentence: UNKNOWN_SENTENCE, items: [] }
      const items = found.items.map(({ item }) => item)
      // All that it would change is there already, as it would make it.
      return items.length === 0 && !found.partly
        ? null
        : offerOf(
            items,
            found.partly,
            found.items.every(({ keep }) => keep !== null && isMade(keep.kept)),
          )
    } catch (error) {
      log.warn('what a command changes could not be looked at', { error: String(error) })
      const why = redact(error instanceof Error ? error.message : String(error)).text
      return {
        verdict: 'unknown',
        sentence: `What it changes could not be looked at, so nothing is kept: ${why}`,
        items: [],
      }
    }
  }

  /** A host that is slow or gone must not keep the question from the operator. */
  async function inTime<T>(job: Promise<T>, slug: string): Promise<T> {
    let forget = (): void => {}
    const late = new Promise<never>((_, reject) => {
      forget = clock.after(OFFER_MS, () =>
        reject(new Error(`${slug} did not tell within ${OFFER_MS / 1000} s what stands there.`)),
      )
    })
    try {
      return await Promise.race([job, late])
    } finally {
      forget()
    }
  }

  async function take(execution: ExecutionView, plan: Plan): Promise<Taken | null> {
    if (execution.undoOf) await requireSameWay(execution, plan)
    const offered = execution.undo ?? null
    const promised = (offered?.items ?? []).filter(({ canPutBack }) => canPutBack)
    if (promised.length === 0 || plan.script === null) return null
    const place: Place = { kind: plan.kind, endpoint: plan.endpoint, user: plan.user, hostKeys: plan.hostKeys }
    const found = await look.at(place, plan.target, plan.script, plan.cwd)
    const items = found === null || found === 'unknown' ? [] : found.items
    for (const { kind, subject } of promised) {
      const one = items.find(({ item }) => item.kind === kind && item.subject === subject)
      if (one?.keep != null) continue
      const why = one?.item.sentence ?? 'what it would change is another thing now.'
      throw new Error(`${subject} could be put back when this was asked for, and cannot be kept now: ${why} Ask again`)
    }
    const kept = items.flatMap(({ item, keep }) => (keep === null ? [] : [{ item, keep }]))
    const ready: Ready = {
      items: kept.map(({ item }) => item),
      rows: kept.map(rowOf),
      entry: { items: kept.map(ledgerOf) },
    }
    return ready
  }

  type Keepable = { readonly item: LookedItem['item']; readonly keep: NonNullable<LookedItem['keep']> }

  function rowOf({ item, keep: { kept, content, secret } }: Keepable): NewKept {
    const sealed = secret && content !== null
    return {
      kind: item.kind,
      subject: item.subject,
      before: JSON.stringify(kept),
      content: sealed ? secrets.encrypt(Buffer.from(content).toString('base64')) : content,
      sealed,
    }
  }

  /** For a chain that never forgets: what was kept, never its content, and no hash that could be tried out. */
  function ledgerOf({ item, keep: { kept, content, secret } }: Keepable): Readonly<Record<string, unknown>> {
    const common = { kind: item.kind, subject: item.subject, sealed: secret && content !== null }
    switch (kept.is) {
      case 'path':
        return {
          ...common,
          was: kept.state.kind,
          bytes: content?.length ?? null,
          mac: kept.state.kind === 'file' ? kept.state.mac : null,
        }
      case 'state':
        return { ...common, was: kept.state }
      case 'rename':
        return { ...common, was: 'named' }
    }
  }

  function keep(executionId: string, taken: Taken): void {
    if (!isReady(taken)) throw new Error('what was taken is of another kind')
    const at = clock.now()
    const limits = { mostBytes: MOST_BYTES, olderThan: at - KEPT_MS }
    store.keepUndo(executionId, taken.rows, taken.entry, limits, at)
  }

  // ---- after

  function rowsOf(executionId: string): readonly Row[] {
    return store.undoKept(executionId).flatMap((row) => {
      const kept = Kept.safeParse(JSON.parse(row.before))
      if (!kept.success) return []
      const after = row.after === null ? null : After.safeParse(JSON.parse(row.after))
      return [{ row, kept: kept.data, after: after?.data ?? null }]
    })
  }

  /** How all of it is at this moment. */
  async function nowOf(rows: readonly Row[], target: string, watch?: ReadWatch): Promise<readonly Now[]> {
    const renamed = new Map(rows.flatMap(({ kept }) => (kept.is === 'rename' ? [[kept.from, kept.to] as const] : [])))
    const paths = rows.flatMap(({ kept }) => (kept.is === 'path' ? [kept] : []))
    const [first] = paths
    const seen =
      first === undefined
        ? []
        : await look.paths(
            first.place,
            paths.map(({ touch }) => touch),
          )
    const out: Now[] = []
    let next = 0
    for (const row of rows) {
      const { kept } = row
      switch (kept.is) {
        case 'path': {
          const one = seen[next++]
          out.push({
            row,
            after: one === undefined ? null : { is: 'path', state: one.state },
            content: one?.content ?? null,
          })
          break
        }
        case 'state': {
          const name = renamed.get(kept.name) ?? kept.name
          const state =
            (await look.states(kept, kept.name, target, watch)) ??
            (name === kept.name ? null : await look.states(kept, name, target, watch))
          const after: After = { is: 'state', state: state === null ? null : aspectsOf(kept.aspects, state) }
          out.push({ row, after, content: null })
          break
        }
        case 'rename': {
          const from = await look.owner(kept, kept.from, target, watch)
          const to = await look.owner(kept, kept.to, target, watch)
          out.push({ row, after: { is: 'rename', from, to }, content: null })
        }
      }
    }
    return out
  }

  const aspectsOf = (aspects: readonly string[], state: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(aspects.flatMap((aspect) => (state[aspect] === undefined ? [] : [[aspect, state[aspect]]])))

  async function after(execution: ExecutionView): Promise<void> {
    try {
      if (execution.startedAt === null) return
      const rows = rowsOf(execution.id)
      if (rows.length > 0) {
        const now = await nowOf(rows, execution.target)
        store.saveUndoAfter(
          execution.id,
          new Map(
            now.flatMap(({ row, after }) => (after === null ? [] : [[row.row.n, JSON.stringify(after)] as const])),
          ),
        )
        announce(execution)
      }
      const before = execution.undoOf ? store.execution(execution.undoOf) : null
      if (before !== null) announce(before)
    } catch (error) {
      // Later changes by others cannot be told then, which the request says.
      log.warn('what a run has changed could not be looked at', { id: execution.id, error: String(error) })
    }
  }

  const announce = ({ id, session, state }: ExecutionView): void => {
    feed.publish({ type: 'execution', id, session, state })
  }

  /** True when a thing is as it was before the run. */
  function asBefore(kept: Kept, now: After | null): boolean {
    switch (kept.is) {
      case 'path':
        return now?.is === 'path' && sameState(kept.state, now.state, kept.touch.need)
      case 'state':
        return now?.is === 'state' && now.state !== null && canonicalJson(kept.state) === canonicalJson(now.state)
      case 'rename':
        return now?.is === 'rename' && now.from === kept.id
    }
  }

  function stateOf(execution: ExecutionView): UndoState | null {
    const promised = (execution.undo?.items ?? []).some(({ canPutBack }) => canPutBack)
    if (!promised || execution.startedAt === null) return null
    if (!FINAL_STATES.includes(execution.state)) return null
    const gone = (sentence: string): UndoState => ({ state: 'gone', executionId: null, sentence })
    const rows = rowsOf(execution.id)
    const asked = askedOf(execution, rows)
    if (asked !== null) return asked
    if (rows.length === 0) return NEVER_KEPT.has(execution.failure ?? '') ? null : gone(GONE_SENTENCE)
    if (rows.every(({ kept, after }) => after !== null && asBefore(kept, after))) return null
    if (rows.some(({ row }) => row.at < clock.now() - KEPT_MS)) return gone(GONE_SENTENCE)
    if (rows.some(({ row }) => row.sealed) && !secrets.available)
      return gone('What was kept of it is encrypted, and the keyring cannot be opened now.')
    return { state: 'ready', executionId: null, sentence: doneBy(rows) }
  }

  /** A thing that was not there before: to put it back is to take it away. */
  const isMade = (kept: Kept): boolean => kept.is === 'path' && kept.state.kind === 'missing'

  /** What an undo does with these, as a sentence or two. */
  function doneBy(rows: readonly Row[], how = '', when: string | null = null): string {
    const made = rows.filter(({ kept }) => isMade(kept))
    const kept = rows.filter((row) => !made.includes(row))
    const since = when === null ? '' : `, which ${made.length === 1 ? 'was' : 'were'} not there before ${when}`
    return [
      ...(kept.length === 0 ? [] : [`Puts back ${subjectsOf(kept)}${how}.`]),
      ...(made.length === 0 ? [] : [`Takes away ${subjectsOf(made)} again${since}.`]),
    ].join(' ')
  }

  const subjectsOf = (rows: readonly Row[]): string => named(rows.map(({ row }) => row.subject))

  /** The request that takes it back, if there is one that is not settled otherwise. */
  function askedOf(execution: ExecutionView, rows: readonly Row[]): UndoState | null {
    for (const undo of store.undosOf(execution.id)) {
      const asked = (sentence: string): UndoState => ({ state: 'asked', executionId: undo.id, sentence })
      if (!FINAL_STATES.includes(undo.state)) return asked('Undo was asked for.')
      if (undo.state !== 'completed') continue
      // The run that took it back looked at the same things when it had ended.
      const made = rowsOf(undo.id)
      const wrong = rows.filter(({ kept, row }) => {
        const same = made.find((one) => one.row.kind === row.kind && one.row.subject === row.subject)
        return same?.after != null && !asBefore(kept, same.after)
      })
      return asked(
        wrong.length === 0
          ? 'It was put back.'
          : `Undo ran, but ${subjectsOf(wrong)} ${wrong.length === 1 ? 'is' : 'are'} not as before.`,
      )
    }
    return null
  }

  // ---- the way back

  async function request(execution: ExecutionView): Promise<UndoRequest> {
    const state = stateOf(execution)
    if (state === null) throw conflict('Nothing was kept of it that could be put back.')
    if (state.state !== 'ready') throw conflict(state.sentence)
    const { commands, put, left, fileParts, changed } = await backFrom(execution)
    if (commands.length === 0) throw conflict(left.length > 0 ? left.join(' ') : AS_BEFORE_SENTENCE)
    const parts = fileParts.map((row) => contentOf(execution.id, row))
    const bytes = Buffer.concat(parts)
    const when = clockTime(execution.startedAt ?? execution.requestedAt, clock.now())
    const sentences = [
      doneBy(put, ` as it was before ${when}${parts.length === 0 ? '' : ` (${inBytes(bytes.length)})`}`, when),
      ...changed,
      ...left.map((sentence) => `Left as it is: ${sentence}`),
    ]
    return {
      command: commands.join(' && '),
      purpose: redact(sentences.join(' ')).text,
      input:
        parts.length === 0
          ? null
          : remembered(execution.id, fileParts, bytes, `what ${subjectsOf(fileParts)} held before ${when}`),
    }
  }

  /** The way back as it is at this moment. */
  async function backFrom(execution: ExecutionView, watch?: ReadWatch): Promise<BackNow> {
    const rows = rowsOf(execution.id)
    samePlace(execution, rows)
    let now: readonly Now[]
    try {
      now = await nowOf(rows, execution.target, watch)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new NomosError(
        'unavailable',
        `What stands there now could not be looked at, so nothing is put back: ${why}`,
      )
    }
    const files = filesBack(now)
    const states = statesBack(now)
    const put = [...files.put, ...states.put]
    return {
      now,
      commands: [...files.commands, ...states.commands],
      put,
      moved: files.moved,
      left: [...files.left, ...states.left],
      fileParts: files.parts,
      changed: changedSince(now, put),
    }
  }

  /**
   * Throws unless the way back is still the one that was agreed to: another file under the same name, a folder that leads elsewhere by
   * now or a change of somebody else would be written over unseen.
   */
  async function requireSameWay(execution: ExecutionView, plan: Plan): Promise<void> {
    const before = takenBackBy(execution)
    if (before === null) throw new Error(GONE_SENTENCE)
    if (!isSameWay(execution, plan.script, await backFrom(before)))
      throw new Error('what stands there has changed since the undo was asked for. Ask for it again')
  }

  /** The run that an undo takes back; null when nothing of it is kept any more. */
  function takenBackBy({ undoOf }: ExecutionView): ExecutionView | null {
    const before = undoOf ? store.execution(undoOf) : null
    return before === null || rowsOf(before.id).length === 0 ? null : before
  }

  function isSameWay({ purpose }: ExecutionView, script: string | null, { commands, changed }: BackNow): boolean {
    const told = changed.every((sentence) => purpose?.includes(redact(sentence).text))
    return commands.join(' && ') === script && told
  }

  function preview(execution: ExecutionView, script: string): UndoPreview {
    const before = takenBackBy(execution)
    if (before === null) throw conflict(GONE_SENTENCE)
    return {
      reads: readsOfBack(rowsOf(before.id), look),
      async make({ stillWanted, most }) {
        const commands: string[] = []
        const back = await backFrom(before, {
          ahead: stillWanted,
          ran: (command) => commands.push(redact(command).text),
        })
        if (back.commands.length === 0) throw conflict(back.left.join(' ') || AS_BEFORE_SENTENCE)
        const same = isSameWay(execution, script, back)
        const shown = await backPreview(back, same, {
          look,
          undoRules: deps.undoRules,
          contentOf: (row) => contentOf(before.id, row),
          stillWanted,
          most,
        })
        return { ...shown, commands }
      },
    }
  }

  /** Throws when the name of the target stands for another machine or user than then. */
  function samePlace(execution: ExecutionView, rows: readonly Row[]): void {
    const { endpoint, user, target } = deps.resolve(execution.target)
    for (const { kept } of rows) {
      const { place } = kept
      const then = place.endpoint === null ? null : [place.endpoint.address, place.endpoint.port, place.user]
      const today = endpoint === null ? null : [endpoint.address, endpoint.port, user]
      if (place.kind === target.kind && canonicalJson(then) === canonicalJson(today)) continue
      throw conflict(
        `${execution.target} is another machine or another user than when it ran, so nothing is put back there.`,
      )
    }
  }

  interface Back {
    readonly commands: readonly string[]
    readonly parts: readonly Row[]
    readonly put: readonly Row[]
    readonly moved: readonly Row[]
    readonly left: readonly string[]
  }

  function filesBack(now: readonly Now[]): Back {
    const list = now.flatMap(({ row, after }): { row: Row; changed: Changed }[] =>
      row.kept.is === 'path' && after?.is === 'path'
        ? [
            {
              row,
              changed: { touch: row.kept.touch, before: row.kept.state, now: after.state, kept: row.row.content },
            },
          ]
        : [],
    )
    const { commands, parts, put, moved, left } = wayBack(list.map(({ changed }) => changed))
    const rowsAt = (places: readonly number[]): Row[] => places.flatMap((place) => list[place]?.row ?? [])
    return { commands, parts: rowsAt(parts), put: rowsAt(put), moved: rowsAt(moved), left }
  }

  function statesBack(now: readonly Now[]): Back {
    const commands: string[] = []
    const put: Row[] = []
    const left: string[] = []
    // Names come back first: the states are those of the old names.
    const inOrder = [...now].sort((a, b) => Number(b.row.kept.is === 'rename') - Number(a.row.kept.is === 'rename'))
    for (const { row, after } of inOrder) {
      const { kept } = row
      const words = (verb: string, ...names: readonly string[]): string =>
        (kept.is === 'path'
          ? []
          : [...(kept.sudo ? ['sudo'] : []), kept.word, ...(kept.is === 'state' ? kept.carried : []), verb, ...names]
        )
          .map(quoteIfNeeded)
          .join(' ')
      if (kept.is === 'rename' && after?.is === 'rename') {
        const { verb } = deps.undoRules().states.get(kept.program)?.rename ?? { verb: null }
        if (after.from === kept.id) continue
        if (verb === null || after.to !== kept.id || after.from !== null) {
          left.push(`${row.row.subject} has another name by now, or its own belongs to another one.`)
          continue
        }
        commands.push(words(verb, kept.to, kept.from))
        put.push(row)
      } else if (kept.is === 'state' && after?.is === 'state') {
        const program = deps.undoRules().states.get(kept.program)
        if (program === undefined || after.state === null) {
          left.push(`the state of ${row.row.subject} is not known now.`)
          continue
        }
        const length = commands.length
        // In the order of the rules: what is masked cannot be started.
        for (const aspect of Object.keys(program.aspects)) {
          const [was, is] = [kept.state[aspect], after.state[aspect]]
          if (was === undefined) continue
          const verbs = is === undefined ? null : verbsBack(program, aspect, was, is)
          if (verbs === null)
            left.push(`${row.row.subject} was ${was} and is ${is ?? 'unknown'} now; no command leads back.`)
          else commands.push(...verbs.map((verb) => words(verb, kept.name)))
        }
        if (commands.length > length) put.push(row)
      }
    }
    return { commands, parts: [], put, moved: [], left }
  }

  /** What others have changed since, a sentence each. */
  function changedSince(now: readonly Now[], put: readonly Row[]): readonly string[] {
    const others = now.filter(({ row, after }) => {
      if (!put.includes(row) || row.after === null || after === null) return false
      if (row.after.is === 'path' && after.is === 'path')
        return row.kept.is === 'path' && !sameState(row.after.state, after.state, row.kept.touch.need)
      return canonicalJson(row.after) !== canonicalJson(after)
    })
    const unseen = now.filter(({ row }) => put.includes(row) && row.after === null)
    const of = (list: readonly Now[]): string => subjectsOf(list.map(({ row }) => row))
    return [
      ...(others.length === 0 ? [] : [`Changed again since then: ${of(others)}; putting it back would lose that.`]),
      ...(unseen.length === 0
        ? []
        : [`How the run left ${of(unseen)} was not seen, so what others changed since would be lost as well.`]),
    ]
  }

  /** What was kept of a file, whole and unchanged. */
  function contentOf(executionId: string, { row, kept }: Row): Uint8Array {
    const stored = store.undoContent(executionId, row.n)
    if (stored === null) throw conflict(GONE_SENTENCE)
    let bytes: Uint8Array
    try {
      bytes = stored.sealed ? Buffer.from(secrets.decrypt(stored.bytes), 'base64') : stored.bytes
    } catch (error) {
      throw conflict(
        `What was kept of ${row.subject} cannot be decrypted: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
    if (kept.is !== 'path' || kept.state.kind !== 'file' || kept.state.mac !== look.mac(bytes))
      throw conflict(`What was kept of ${row.subject} is damaged, so it is not put back.`)
    return bytes
  }

  const macOf = (hash: string): string => hmac(deps.macKey, hash)

  function remembered(
    executionId: string,
    parts: readonly Row[],
    bytes: Uint8Array,
    what: string,
  ): UndoRequest['input'] {
    const hash = sha256(bytes)
    inputs.set(hash, bytes)
    // The gate has it from here on; this is for the moment between.
    const oldest = inputs.size > 2 ? inputs.keys().next().value : undefined
    if (oldest !== undefined) inputs.delete(oldest)
    store.saveUndoInput(
      macOf(hash),
      executionId,
      parts.map(({ row }) => row.n),
      clock.now(),
    )
    return { bytes, what: redact(what).text }
  }

  function input(hash: string): Uint8Array | null {
    const known = inputs.get(hash)
    if (known !== undefined) return known
    const stored = store.undoInput(macOf(hash))
    if (stored === null) return null
    try {
      const rows = rowsOf(stored.executionId)
      const bytes = Buffer.concat(
        stored.parts.map((n) => {
          const row = rows.find((one) => one.row.n === n)
          if (row === undefined) throw conflict(GONE_SENTENCE)
          return contentOf(stored.executionId, row)
        }),
      )
      return sha256(bytes) === hash ? bytes : null
    } catch (error) {
      log.warn('what a run was to read is not kept any more', { error: String(error) })
      return null
    }
  }

  return { offer, take, keep, after, stateOf, request, preview, input }
}
