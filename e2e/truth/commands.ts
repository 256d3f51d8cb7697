import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { cachesOf, classify, type RuleSet } from '../../src-main/domain/risk'
import { HOME } from './root'

/** A command that would run by itself in one posture at least. */
export interface ReadOnlyCommand {
  readonly command: string
  /** Its schema says that it talks to the network. */
  readonly network: boolean
  /** It does not end by itself. */
  readonly unending: boolean
  /** Paths that its schema declares as caches of its own. */
  readonly caches: readonly string[]
}

/** The collections to measure on; none of them is part of the project. */
const CORPORA = process.env.NOMOS_BENCH_CORPORA ?? resolve(import.meta.dirname, '../../../shared/corpora')

/** Commands of a collection; empty when it is not there. */
export function corpus(name: string): readonly string[] {
  const file = resolve(CORPORA, `${name}.jsonl`)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { readonly cmd: string }).cmd)
}

/** Those that we call read-only, each once. */
export function readOnlyOf(commands: readonly string[], rules: RuleSet): readonly ReadOnlyCommand[] {
  return [...new Set(commands)].flatMap((command) => {
    const verdicts = (['default', 'every-segment'] as const)
      .map((posture) => classify(command, { rules, posture, cwd: '/srv/app', homeFolder: HOME }))
      .filter(({ risk }) => risk === 'read_only')
    if (verdicts.length === 0) return []
    return {
      command,
      network: verdicts.some(({ effects }) => effects.some(({ kind }) => kind === 'network')),
      unending: verdicts.some(({ flags }) => flags.unending),
      caches: [...new Set(verdicts.flatMap(({ reasons }) => cachesOf(reasons, rules)))],
    }
  })
}
