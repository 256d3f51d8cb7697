import { NomosError } from '../../src-preload/contract/errors'
import type { AnswerResult, ApprovalView, ExecutionView, Session, Shown } from '../../src-preload/contract/model'
import { type Assent, type AssentGrammar, answerPlaceOf, readAssent } from '../domain/approval'
import type { Caller, Clock, Store } from '../ports'
import type { AgentLoop } from './agent-loop'
import { type ApprovalDesk, settledSentence } from './approval-desk'
import type { ApproveCommand } from './run-command'

/** What a message came to that was looked at as an answer. */
export type ChatOutcome =
  /** It settled something, or was told why it did not; it does not go to the agent as a question. */
  | { readonly kind: 'answer'; readonly sentence: string }
  /** It reaches the agent once everything that waits is settled. */
  | { readonly kind: 'queued'; readonly sentence: string }
  /** An ordinary message, with something to say about what waits elsewhere, or nothing. */
  | { readonly kind: 'message'; readonly sentence: string | null }

/** The operator's words in a conversation as answers. The grammar decides, never a model; the desk settles. */
export interface ChatAnswers {
  /**
   * Reads a message against what the assistant turn just before asked for. `shown` are the waiting cards that the window showed when it
   * was sent: nothing else is reached. Settles what the words settle; the caller appends the message.
   */
  read(session: string, text: string, shown: readonly Shown[]): ChatOutcome
  /**
   * Carries out `/approve`. Throws what the desk throws, `not_found` for an id of nothing, `conflict` for a prefix of several.
   */
  approve(command: ApproveCommand, words: string): Promise<string>
}

/** How long "allow-always" holds when nothing else is typed, in ms. */
export const ALWAYS_FOR_MS = 24 * 60 * 60 * 1000
const MOST_NAMED = 5
const LONGEST_NAME = 80

/** “systemctl restart caddy” on host:web. A command can neither end the quotation nor turn the letters around it. */
export function nameOf({ command, target }: Pick<ExecutionView, 'command' | 'target'>): string {
  const line = command
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[“”„‟]/g, '"')
    .replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD')
  const characters = [...line]
  const short = characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME - 1).join('')}…` : line
  return `“${short}” on ${target}`
}

/** `total`: how many there are, where the list is cut. */
function listOf(executions: readonly ExecutionView[], total = executions.length): string {
  const named = executions.slice(0, MOST_NAMED).map(nameOf)
  const more = total - named.length
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

const wordOf = ({ state }: ExecutionView): string =>
  state === 'pending_approval' ? 'waits' : state.replaceAll('_', ' ')

const WHY_UNCLEAR = {
  negation: 'it also says no',
  question: 'it asks something',
  condition: 'it has a condition',
  partial: 'it agrees to a part only',
  command: 'it holds the text of a command',
} as const

export function createChatAnswers(deps: {
  readonly store: Store
  readonly clock: Clock
  readonly desk: ApprovalDesk
  readonly loop: Pick<AgentLoop, 'proposals' | 'turnState'>
  /** null while its file cannot be used: then no words are an answer. */
  readonly grammar: () => AssentGrammar | null
}): ChatAnswers {
  const { store, clock, desk, loop } = deps
  const caller: Caller = { surface: 'chat', operator: true }

  const waitingOf = (executions: readonly ExecutionView[]): ExecutionView[] =>
    executions.filter(({ state }) => state === 'pending_approval')

  const shownOf = (executions: readonly ExecutionView[], shown: readonly Shown[]): ExecutionView[] =>
    executions.filter(({ approval }) =>
      shown.some(({ id, digest }) => id === approval?.id && digest === approval.digest),
    )

  const itemOf = ({ approval }: ExecutionView): Shown => ({ id: approval?.id ?? '', digest: approval?.digest ?? '' })

  /** What was settled in another place between the sending of the message and now. */
  function raced(proposed: readonly ExecutionView[], shown: readonly Shown[]): readonly string[] {
    return shownOf(proposed, shown)
      .filter(({ approval }) => approval !== null && approval.state !== 'pending')
      .map((execution) => `${nameOf(execution)}: ${settledSentence(execution.approval as ApprovalView, clock.now())}`)
  }

  function grant(words: string, reached: readonly ExecutionView[], late: readonly string[], unseen: number): string {
    const results = desk.answerMany(
      caller,
      reached.filter((execution) => answerPlaceOf(execution) === 'anywhere').map(itemOf),
      { kind: 'approve' },
      words,
    )
    const done = reached.filter(({ approval }) => results.some(({ id, ok }) => ok && id === approval?.id))
    const phrase = reached.filter((execution) => answerPlaceOf(execution) === 'phrase')
    const card = reached.filter((execution) => answerPlaceOf(execution) === 'card')
    return [
      done.length === 0 ? 'Nothing was approved by these words.' : `Approved by your words: ${listOf(done)}.`,
      ...(phrase.length === 0 ? [] : [`Destructive, so it takes the phrase typed on its card: ${listOf(phrase)}.`]),
      ...(card.length === 0 ? [] : [`Answered on its card only: ${listOf(card)}.`]),
      ...notDone(reached, results),
      ...late,
      ...notSeen(unseen),
    ].join(' ')
  }

  /** What came of the answers that settled nothing, a sentence each. */
  function notDone(reached: readonly ExecutionView[], results: readonly AnswerResult[]): readonly string[] {
    return results.flatMap(({ id, ok, sentence }) => {
      const execution = reached.find(({ approval }) => approval?.id === id)
      return ok ? [] : [`${execution === undefined ? id : nameOf(execution)}: ${sentence}`]
    })
  }

  const notSeen = (unseen: number): readonly string[] =>
    unseen === 0
      ? []
      : [
          `${unseen} more ${unseen === 1 ? 'was' : 'were'} not in sight when you sent it and still ${unseen === 1 ? 'waits' : 'wait'}.`,
        ]

  function deny(words: string, reached: readonly ExecutionView[], late: readonly string[], unseen: number): string {
    const results = desk.answerMany(caller, reached.map(itemOf), { kind: 'deny', note: null }, words)
    const done = reached.filter(({ approval }) => results.some(({ id, ok }) => ok && id === approval?.id))
    return [
      done.length === 0 ? 'Nothing was denied.' : `Denied: ${listOf(done)}.`,
      ...notDone(reached, results),
      ...late,
      ...notSeen(unseen),
    ].join(' ')
  }

  /** What waits anywhere, for a "yes" that reaches nothing. */
  function elsewhere(): string | null {
    const waiting = store.executions({ states: ['pending_approval'], before: null, limit: MOST_NAMED })
    if (waiting.length === 0) return null
    const all = listOf(waiting, store.pendingIds().length)
    return `These words approved nothing: words reach only what the agent has just asked for in this conversation. Waiting for an answer on its card: ${all}.`
  }

  /** A message that answers nothing. While runs go on it is kept for their end, whatever it says. */
  function ordinary(turn: Session['turn'], proposed: readonly ExecutionView[], sentence: string | null): ChatOutcome {
    if (turn !== 'waiting') return { kind: 'message', sentence }
    // After a crash this stays so until somebody presses Start, or the approval runs out.
    const idle = proposed.filter(({ state }) => state === 'approved')
    const start = idle.length === 0 ? '' : ` Approved and not started yet, with Start on its card: ${listOf(idle)}.`
    const then = `The agent reads it once what runs has ended.${start}`
    return { kind: 'queued', sentence: sentence === null ? then : `${sentence} ${then}` }
  }

  return {
    read(session, text, shown) {
      const grammar = deps.grammar()
      const reading: Assent = grammar === null ? { kind: 'none' } : readAssent(grammar, text)
      // Two calls of one answer may have become one request.
      const proposed = [...new Set(loop.proposals(session))].flatMap((id) => store.execution(id) ?? [])
      const waiting = waitingOf(proposed)
      const reached = shownOf(waiting, shown)
      const late = raced(proposed, shown)
      const turn = loop.turnState(session)
      const still = waiting.length === 0 ? '' : ` Still waiting: ${listOf(waiting)}.`
      switch (reading.kind) {
        case 'grant':
          if (reached.length > 0) {
            return { kind: 'answer', sentence: grant(text, reached, late, waiting.length - reached.length) }
          }
          if (waiting.length > 0) {
            return {
              kind: 'answer',
              sentence: `Nothing was approved: ${waiting.length === 1 ? 'the request was' : 'the requests were'} not in sight when you sent it.${still} Look at ${waiting.length === 1 ? 'its card' : 'the cards'} and say it again.`,
            }
          }
          if (late.length > 0)
            return { kind: 'answer', sentence: `Nothing was approved by these words. ${late.join(' ')}` }
          return ordinary(turn, proposed, elsewhere())
        case 'deny':
          if (reached.length > 0)
            return { kind: 'answer', sentence: deny(text, reached, late, waiting.length - reached.length) }
          if (waiting.length > 0) {
            return { kind: 'answer', sentence: `Nothing was denied: it was not in sight when you sent it.${still}` }
          }
          if (late.length > 0)
            return { kind: 'answer', sentence: `Nothing was denied by these words. ${late.join(' ')}` }
          return ordinary(turn, proposed, null)
        case 'later':
          if (waiting.length === 0) return ordinary(turn, proposed, null)
          return {
            kind: 'answer',
            sentence: `Left as it is.${still} Say “go ahead” or “no” when you have decided; nothing runs until then.`,
          }
        case 'unclear':
          if (waiting.length > 0) {
            return {
              kind: 'queued',
              sentence: `Nothing was approved: ${WHY_UNCLEAR[reading.why]}.${still} Say “go ahead” or “no”, or use the cards; the agent reads your message once that is answered.`,
            }
          }
          return ordinary(turn, proposed, null)
        case 'none':
          if (waiting.length > 0) {
            return {
              kind: 'queued',
              sentence: `The agent reads your message once everything it asked for is answered.${still} Say “go ahead” or “no”, or use the cards.`,
            }
          }
          return ordinary(turn, proposed, null)
      }
    },

    async approve({ id, decision, forMs }, words) {
      const { execution, approval } = found(id)
      switch (decision) {
        case 'allow-once':
          desk.answer(caller, approval.id, { kind: 'approve', phrase: null }, approval.digest, words)
          return `Approved once: ${nameOf(execution)} (${approval.id}).`
        case 'allow-always': {
          const expiresAt = clock.now() + (forMs ?? ALWAYS_FOR_MS)
          await desk.answerAlways(caller, approval.id, { expiresAt, scope: 'target' }, approval.digest, words)
          return `Approved, and the very same words run unasked on ${execution.target} until ${new Date(expiresAt).toLocaleString()}: ${nameOf(execution)} (${approval.id}).`
        }
        case 'deny':
          desk.answer(caller, approval.id, { kind: 'deny', note: null }, approval.digest, words)
          return `Denied: ${nameOf(execution)} (${approval.id}).`
      }
    },
  }

  /**
   * The one request that an id or the beginning of one names. A beginning that fits a settled one as well is refused too: that may be
   * the one that was meant.
   */
  function found(id: string): { readonly execution: ExecutionView; readonly approval: ApprovalView } {
    const fits = store.executionsNamed(id, MOST_NAMED + 1)
    if (fits.length > 1) {
      const named = fits
        .slice(0, MOST_NAMED)
        .map((execution) => `${execution.approval?.id ?? execution.id} (${nameOf(execution)}, ${wordOf(execution)})`)
      throw new NomosError(
        'conflict',
        `"${id}" may be several: ${named.join(', ')}${fits.length > MOST_NAMED ? ' and more' : ''}. Type more of the id.`,
        { field: 'id' },
      )
    }
    const settled = fits[0] ?? null
    if (settled?.state === 'pending_approval' && settled.approval !== null)
      return { execution: settled, approval: settled.approval }
    if (settled === null) {
      throw new NomosError('not_found', `There is no request "${id}". /approve takes an id that stands on a card.`, {
        field: 'id',
      })
    }
    if (settled.approval === null) {
      throw new NomosError(
        'conflict',
        `${settled.id} waits for no answer: nobody was asked about it, it is ${settled.state}.`,
        {
          field: 'id',
        },
      )
    }
    throw new NomosError(
      settled.approval.state === 'expired' ? 'expired' : 'already_settled',
      `${nameOf(settled)}: ${settledSentence(settled.approval, clock.now())}`,
      { field: 'id' },
    )
  }
}
