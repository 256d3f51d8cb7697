import { type HealthProblem, NomosError } from '../../src-preload/contract'
import type { Feed } from '../ports'

/** What is wrong right now. While one of them blocks runs, the gate starts nothing. */
export interface Health {
  list(): readonly HealthProblem[]
  set(problem: HealthProblem, act?: (action: string) => void | Promise<void>): void
  clear(code: HealthProblem['code']): void
  /** Carries out one of the offered actions. */
  act(code: string, action: string): Promise<void>
  /** Throws `runs_blocked` with the sentence of the first problem that blocks runs. */
  requireRuns(): void
}

export function createHealth(feed: Feed): Health {
  const problems = new Map<
    string,
    { problem: HealthProblem; act: ((action: string) => void | Promise<void>) | undefined }
  >()
  return {
    list: () => [...problems.values()].map(({ problem }) => problem),
    set(problem, act) {
      const before = problems.get(problem.code)
      problems.set(problem.code, { problem, act })
      if (before?.problem.sentence !== problem.sentence) feed.publish({ type: 'health' })
    },
    clear(code) {
      if (problems.delete(code)) feed.publish({ type: 'health' })
    },
    async act(code, action) {
      const found = problems.get(code)
      if (found === undefined)
        throw new NomosError('not_found', `There is no problem "${code}" any more.`, { field: 'code' })
      const known = found.problem.actions.map(({ id }) => id)
      if (!known.includes(action) || found.act === undefined) {
        throw new NomosError(
          'bad_input',
          `"${action}" is not offered for "${code}". Choose one of: ${known.join(', ') || 'none'}.`,
          {
            field: 'action',
          },
        )
      }
      await found.act(action)
    },
    requireRuns() {
      for (const { problem } of problems.values()) {
        if (problem.blocksRuns) throw new NomosError('runs_blocked', problem.sentence, { detail: problem.path ?? '' })
      }
    },
  }
}
