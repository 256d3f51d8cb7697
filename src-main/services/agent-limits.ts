import type { ExecutionState, ExecutionView, Message } from '../../src-preload/contract/model'

/** Answers of the model in one turn at most. */
export const MAX_ROUNDS = 25
/** Denials after which a turn is ended: of the same command, or rounds in a row in which nothing was let through. */
export const MAX_DENIALS = 3
const REFUSED: ReadonlySet<ExecutionState> = new Set(['denied', 'expired', 'undeliverable'])

/** Answers in this turn that asked for runs, counted from where the operator last let it go on past the limit. */
export function roundsOf(rows: readonly Message[]): number {
  const from = rows.findLastIndex((row) => row.role === 'notice' && row.error?.code === 'turn_limit')
  return rows.slice(from + 1).filter((row) => row.role === 'assistant' && row.toolCalls.length > 0).length
}

/**
 * Why a turn is ended in which the agent goes on asking for what was denied; null while it may go on. Counted anew once the operator
 * has let it go on.
 */
export function denials(rows: readonly Message[], execution: (id: string) => ExecutionView | null): string | null {
  const from = rows.findLastIndex((row) => row.role === 'notice' && row.error?.code === 'denied_repeatedly')
  const asked = new Map<string, number>()
  let inARow = 0
  let last: ExecutionView | null = null
  let round: ExecutionState[] = []
  const close = (): void => {
    if (round.length === 0) return
    const refused = round.filter((state) => REFUSED.has(state)).length
    inARow = refused === round.length ? inARow + 1 : 0
    round = []
  }
  for (const row of rows.slice(from + 1)) {
    if (row.role === 'assistant') close()
    if (row.role !== 'tool' || row.executionId === null) continue
    const view = execution(row.executionId)
    if (view === null) continue
    round.push(view.state)
    if (!REFUSED.has(view.state)) continue
    last = view
    const key = `${view.target}\0${view.command.replace(/\s+/g, ' ').trim()}`
    asked.set(key, (asked.get(key) ?? 0) + 1)
  }
  close()
  const most = Math.max(0, ...asked.values())
  if ((most < MAX_DENIALS && inARow < MAX_DENIALS) || last === null) return null
  return `The agent was stopped: it asked ${MAX_DENIALS} times for what was not let through, at last ${JSON.stringify(last.command.slice(0, 80))} on ${last.target}. Tell it what to do instead; Try again lets it go on.`
}
