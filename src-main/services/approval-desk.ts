import { NomosError } from '../../src-preload/contract/errors'
import type {
  AlwaysOffer,
  AnswerResult,
  ApprovalView,
  ExecutionView,
  Settlement,
  Shown,
} from '../../src-preload/contract/model'
import { ago, answerPlaceOf, phraseFits, SURFACE_RIGHTS } from '../domain/approval'
import { redact } from '../domain/redact'
import type { Caller, Clock, Feed, Log, Store } from '../ports'

export type Answer =
  | { readonly kind: 'approve'; readonly phrase: string | null }
  | { readonly kind: 'deny'; readonly note: string | null }
  /** "Request changes": denied, with a note that goes back to whoever asked. */
  | { readonly kind: 'changes'; readonly note: string }

/** What "allow always" stores, and whether it may. `services/policy-desk.ts` has it. */
export interface AlwaysDesk {
  offer(
    execution: ExecutionView,
    options: { readonly expiresAt: number | null; readonly scope: 'target' | 'session' },
  ): Promise<AlwaysOffer>
  store(execution: ExecutionView, entries: AlwaysOffer['entries']): Promise<void>
}

export interface ApprovalDesk {
  /**
   * The one place an approval is answered at. Settles once; a later answer gets `already_settled` with by whom, how and when, and
   * is recorded. `words` are what the operator typed, where the answer came by words. Throws `forbidden`, `not_found`, `already_settled`, `expired`, `drift`, `wrong_phrase` or `phrase_paused`.
   */
  answer(caller: Caller, approvalId: string, answer: Answer, digest: string, words?: string): ApprovalView
  /**
   * Several at once, each settled on its own. Approving leaves out what takes its card or a phrase, and says so. Never throws for one
   * of them.
   */
  answerMany(
    caller: Caller,
    items: readonly Shown[],
    answer: { readonly kind: 'approve' } | { readonly kind: 'deny'; readonly note: string | null },
    words?: string,
  ): readonly AnswerResult[]
  /**
   * "Allow always": settles as `answer` does, runs it, and stores what was offered. The words to store are worked out first, so that nothing is
   * settled when there is nothing to store (`bad_input` with the reason). When the file cannot be written it has run once, and
   * `unavailable` says that nothing was stored.
   */
  answerAlways(
    caller: Caller,
    approvalId: string,
    options: { readonly expiresAt: number | null; readonly scope: 'target' | 'session' },
    digest: string,
    words?: string,
  ): Promise<ApprovalView>
  /** Closes what has run out and plans the next look. Called at start and by itself from then on. */
  expire(): void
  close(): void
}

export interface DeskDeps {
  readonly store: Store
  readonly clock: Clock
  readonly feed: Feed
  readonly log: Log
  /** True on a headless host: there the phrase may be typed at the CLI's terminal. */
  readonly headless: boolean
  /** Starts what was approved; failures of it are the execution's own. */
  readonly start: (executionId: string) => Promise<void>
  /** Ends what was approved and was not started before its approval ran out. */
  readonly lapse?: () => void
  /** Tells everybody that an execution has another state. */
  readonly announce: (executionId: string) => void
  readonly always: AlwaysDesk
  /** Ms of running time, which nobody can set; default: that of the process. */
  readonly running?: () => number
}

const MAX_PHRASE_TRIES = 5
const PHRASE_WINDOW_MS = 60_000
/** Longest pause between two looks at what has run out: the clock may jump, and a timer does not see that. */
const EXPIRY_CHECK_MS = 30_000

const SURFACE_NAMES: Readonly<Record<Settlement['surface'], string>> = {
  window: 'on its card',
  chat: 'in the chat',
  cli: 'at the command line',
  headless: 'at the headless host',
  agent: 'by the agent',
  mcp: 'over MCP',
  notification: 'on a notification',
  tray: 'in the tray',
  system: 'by Nomos itself',
}

/** What the reason of a denial begins with that asks for another form of the same. */
export const ASKS_FOR_CHANGES = 'The operator asks for changes: '

const SETTLED_BY: Readonly<Record<string, string>> = {
  operator: 'the operator',
  fallback: 'the fallback',
  gate: 'Nomos',
  recovery: 'Nomos',
}

/** Which way a settled approval went, by whom, where and when: "It was denied already, by the operator on a notification 12 s ago." */
export function settledSentence(approval: ApprovalView, now: number): string {
  const { settlement, state } = approval
  if (settlement === null) return `It is ${state} already.`
  const when = ago(settlement.at, now)
  const by = SETTLED_BY[settlement.by] ?? settlement.by
  switch (state) {
    case 'expired':
      return `It expired ${when}: nobody answered in time. Ask again.`
    case 'cancelled': {
      const how = settlement.by === 'fallback' ? 'closed as undeliverable' : `withdrawn by ${by}`
      const why = settlement.note === null ? '' : `: ${settlement.note.replace(/\.$/, '')}`
      return `It was ${how} ${when}${why}.`
    }
    case 'revoked':
      return `It was approved and taken back by ${by} ${when}.`
    case 'pending':
    case 'approved':
    case 'denied':
      return settlement.surface === 'system'
        ? `It was ${state} by ${by} ${when}.`
        : `It was ${state} already, by ${by} ${SURFACE_NAMES[settlement.surface]} ${when}.`
  }
}

export function createApprovalDesk(deps: DeskDeps): ApprovalDesk {
  const { store, clock, feed } = deps
  const wrongPhrases = new Map<string, number[]>()
  /** Until when no phrase is taken for an approval. */
  const pausedUntil = new Map<string, number>()
  /** When an approval was first looked at, in running time, with what it had left then: the wall clock may be set back. */
  const seen = new Map<string, { readonly at: number; readonly left: number }>()
  const running = deps.running ?? (() => performance.now())

  /** Ms that an approval has left; by the wall clock or by running time, whichever ends sooner. */
  function left(approval: ApprovalView): number {
    const lifetime = approval.expiresAt - approval.createdAt
    const byWall = Math.min(approval.expiresAt - clock.now(), lifetime)
    const first = seen.get(approval.id)
    if (first !== undefined) return Math.min(byWall, first.left - (running() - first.at))
    seen.set(approval.id, { at: running(), left: byWall })
    return byWall
  }
  let forget: (() => void) | null = null

  function refused(caller: Caller, approval: ApprovalView, code: string): void {
    store.appendLedger(
      {
        kind: 'approval.refused',
        actor: caller.operator ? 'operator' : caller.surface,
        executionId: approval.executionId,
        approvalId: approval.id,
        data: { surface: caller.surface, code, state: approval.state },
      },
      clock.now(),
    )
  }

  function expireOne(approval: ApprovalView): boolean {
    const settlement: Settlement = { by: 'time', surface: 'system', words: null, note: null, at: clock.now() }
    const done = store.settleApproval(approval.id, 'expired', settlement, {
      state: 'expired',
      reason: 'Nobody answered in time. Nothing ran.',
    })
    if (done) {
      feed.publish({ type: 'approval', id: approval.id, executionId: approval.executionId })
      deps.announce(approval.executionId)
    }
    return done
  }

  function requirePhrase(caller: Caller, approval: ApprovalView, typed: string | null): void {
    if (approval.outcome !== 'confirm' || approval.phrase === null) return
    const { phrase } = SURFACE_RIGHTS[caller.surface]
    if (phrase === 'never' || (phrase === 'headless' && !deps.headless)) {
      refused(caller, approval, 'forbidden')
      throw new NomosError(
        'forbidden',
        'This cannot be undone: it takes the typed phrase on its card in the window, on a headless host at the terminal.',
        { field: 'answer' },
      )
    }
    const now = clock.now()
    const tries = (wrongPhrases.get(approval.id) ?? []).filter((at) => now - at < PHRASE_WINDOW_MS)
    if (tries.length >= MAX_PHRASE_TRIES) {
      // A whole minute from the first try too many on, after which counting begins anew.
      pausedUntil.set(approval.id, now + PHRASE_WINDOW_MS)
      wrongPhrases.delete(approval.id)
      refused(caller, approval, 'phrase_paused')
    }
    const rest = (pausedUntil.get(approval.id) ?? 0) - now
    // Longer than it can be is a clock that was set back.
    if (rest > 0 && rest <= PHRASE_WINDOW_MS) {
      const wait = Math.ceil(rest / 1000)
      throw new NomosError('phrase_paused', `Too many wrong phrases. Try again in ${wait} s.`, { field: 'phrase' })
    }
    if (phraseFits(typed, approval.phrase)) {
      wrongPhrases.delete(approval.id)
      return
    }
    wrongPhrases.set(approval.id, [...tries, now])
    refused(caller, approval, 'wrong_phrase')
    throw new NomosError('wrong_phrase', `That is not the phrase. Type exactly: ${approval.phrase}`, {
      field: 'phrase',
    })
  }

  const desk: ApprovalDesk = {
    answer(caller, approvalId, answer, digest, words) {
      const approval = store.approval(approvalId)
      if (approval === null) throw new NomosError('not_found', `There is no approval "${approvalId}".`, { field: 'id' })
      if (!caller.operator) {
        refused(caller, approval, 'forbidden')
        throw new NomosError('forbidden', 'Only the operator answers approvals, at the window or at a terminal.', {
          field: 'id',
        })
      }
      if (approval.state !== 'pending') {
        refused(caller, approval, 'already_settled')
        throw new NomosError(
          approval.state === 'expired' ? 'expired' : 'already_settled',
          settledSentence(approval, clock.now()),
          { field: 'id' },
        )
      }
      if (left(approval) <= 0) {
        expireOne(approval)
        refused(caller, approval, 'expired')
        throw new NomosError('expired', 'It ran out before this answer came. Ask again.', { field: 'id' })
      }
      requireRight(caller, approval, answer)
      if (digest !== approval.digest) {
        refused(caller, approval, 'drift')
        throw new NomosError('drift', 'What was shown is not what waits. Read the card again and answer then.', {
          field: 'digest',
        })
      }
      const base = { by: 'operator', surface: caller.surface, at: clock.now() }
      const said = words === undefined ? null : redact(words).text
      if (answer.kind === 'approve') {
        requirePhrase(caller, approval, answer.phrase)
        settle(caller, approval, 'approved', {
          ...base,
          words: approval.outcome === 'confirm' ? approval.phrase : said,
          note: null,
        })
        // The claim decides whether it runs; a refusal at the start is the execution's own state.
        void deps
          .start(approval.executionId)
          .catch((error) => deps.log.warn('an approved run was not started', { error: String(error) }))
      } else {
        const note = answer.note === null || answer.note.trim() === '' ? null : redact(answer.note.trim()).text
        settle(caller, approval, 'denied', { ...base, words: said, note }, answer.kind === 'changes')
      }
      return store.approval(approvalId) ?? approval
    },

    async answerAlways(caller, approvalId, options, digest, words) {
      const approval = store.approval(approvalId)
      const execution = approval === null ? null : store.execution(approval.executionId)
      const mayAlways = caller.operator && SURFACE_RIGHTS[caller.surface].always
      // Whoever may not, or comes late, gets the same words as for a plain answer.
      if (approval === null || execution === null || !caller.operator || approval.state !== 'pending')
        return desk.answer(caller, approvalId, { kind: 'approve', phrase: null }, digest)
      if (!mayAlways || approval.outcome === 'confirm') {
        refused(caller, approval, 'forbidden')
        throw new NomosError(
          'forbidden',
          approval.outcome === 'confirm'
            ? 'What takes a typed phrase is never allowed for always.'
            : '"Allow always" is answered on the card, with /approve, or at a terminal.',
          { field: 'answer' },
        )
      }
      if (options.expiresAt !== null && options.expiresAt <= clock.now())
        throw new NomosError(
          'bad_input',
          '"answer.expiresAt" lies in the past. Name a later time, or null for no end.',
          {
            field: 'answer.expiresAt',
          },
        )
      const { entries, refusal } = await deps.always.offer(execution, options)
      if (refusal !== null || entries.length === 0)
        throw new NomosError(
          'bad_input',
          `Nothing was answered: it cannot be allowed for always. ${refusal ?? ''}`.trim(),
          {
            field: 'answer',
          },
        )
      const settled = desk.answer(caller, approvalId, { kind: 'approve', phrase: null }, digest, words)
      try {
        await deps.always.store(execution, entries)
      } catch (error) {
        deps.log.warn('an entry to allow for always was not stored', { error: String(error) })
        const why = error instanceof Error ? error.message : String(error)
        throw new NomosError(
          'unavailable',
          `It was approved and runs this once, but nothing was stored for later: ${why}`,
          {
            field: 'answer',
          },
        )
      }
      return settled
    },

    answerMany(caller, items, answer, words) {
      return items.map(({ id, digest }): AnswerResult => {
        try {
          if (answer.kind === 'approve') {
            const approval = store.approval(id)
            const execution = approval === null ? null : store.execution(approval.executionId)
            // With several at once nobody has looked at each: what asks for a look keeps waiting.
            if (execution !== null && approval?.state === 'pending' && answerPlaceOf(execution) !== 'anywhere') {
              const phrase = answerPlaceOf(execution) === 'phrase'
              return {
                id,
                ok: false,
                code: 'forbidden',
                sentence: phrase ? 'It takes its typed phrase, on its card.' : 'It is answered on its own card.',
              }
            }
          }
          const settled = desk.answer(
            caller,
            id,
            answer.kind === 'approve' ? { kind: 'approve', phrase: null } : answer,
            digest,
            words,
          )
          return { id, ok: true, code: null, sentence: `It is ${settled.state}.` }
        } catch (error) {
          if (!(error instanceof NomosError)) throw error
          return { id, ok: false, code: error.code, sentence: error.message }
        }
      })
    },

    expire() {
      forget?.()
      let next = EXPIRY_CHECK_MS
      try {
        deps.lapse?.()
        const waiting = store.pendingApprovals()
        for (const approval of waiting) {
          const rest = left(approval)
          if (rest <= 0) expireOne(approval)
          else next = Math.min(next, rest)
        }
        const ids = new Set(waiting.map(({ id }) => id))
        for (const kept of [seen, wrongPhrases, pausedUntil])
          for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id)
      } catch (error) {
        // Looked at again soon: one write that failed must not let everything else wait for ever.
        deps.log.error('what has run out could not be closed', { error: String(error) })
      }
      forget = clock.after(Math.max(1, next), () => desk.expire())
    },

    close() {
      forget?.()
    },
  }

  /** What a surface may not answer is refused there, whatever it showed. */
  function requireRight(caller: Caller, approval: ApprovalView, answer: Answer): void {
    const rights = SURFACE_RIGHTS[caller.surface]
    const no = (sentence: string): never => {
      refused(caller, approval, 'forbidden')
      throw new NomosError('forbidden', sentence, { field: 'answer' })
    }
    switch (answer.kind) {
      case 'deny':
        if (!rights.deny) no('This surface answers nothing.')
        return
      case 'changes':
        if (!rights.changes) no('Changes are asked for on the card or at a terminal.')
        return
      case 'approve': {
        const execution = store.execution(approval.executionId)
        const place = execution === null ? 'card' : answerPlaceOf(execution)
        // The phrase has its own words, which say what to type and where.
        if (place === 'phrase') return
        if (!rights.once.includes(place))
          no('This is answered on its card, where what depends on it is shown. Open the card, or deny it here.')
        if (caller.locked === true && !rights.onceLocked)
          no('The screen is locked, so nothing is approved here. Unlock it first.')
        return
      }
    }
  }

  function settle(
    caller: Caller,
    approval: ApprovalView,
    to: 'approved' | 'denied',
    settlement: Settlement,
    changes = false,
  ): void {
    const execution =
      to === 'approved'
        ? { state: 'approved' as const, reason: null }
        : {
            state: 'denied' as const,
            reason:
              settlement.note === null
                ? 'Denied by the operator.'
                : changes
                  ? `${ASKS_FOR_CHANGES}${settlement.note}`
                  : `Denied by the operator: ${settlement.note}`,
          }
    if (!store.settleApproval(approval.id, to, settlement, execution)) {
      const now = store.approval(approval.id) ?? approval
      refused(caller, now, 'already_settled')
      throw new NomosError('already_settled', settledSentence(now, clock.now()), { field: 'id' })
    }
    feed.publish({ type: 'approval', id: approval.id, executionId: approval.executionId })
    deps.announce(approval.executionId)
  }

  return desk
}
