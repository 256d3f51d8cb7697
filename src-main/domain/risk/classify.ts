import type { Classification, Posture } from '../../../src-preload/contract/model'
import type { RuleSet } from './rules'

export interface ClassifyOptions {
  readonly rules: RuleSet
  readonly declaredRisk?: string | null
  readonly posture: Posture
  readonly targetKind?: 'local' | 'ssh' | 'lxc'
  /** The folder Nomos keeps its own data in; a command that names it carries the flag `self`. */
  readonly nomosHome?: string | null
}

export function classify(command: string, options: ClassifyOptions): Classification {
  const declared = options.declaredRisk === 'destructive' ? 'destructive' : 'config_mutation'
  return {
    risk: declared,
    reasons: [
      {
        rule: 'unknown_program',
        risk: declared,
        span: { start: 0, end: command.length },
        sentence: 'This command is not known to be harmless.',
      },
    ],
    effects: [],
    coverage: 'partial',
    spans: [{ start: 0, end: command.length, risk: declared }],
    flags: {
      self: false,
      inlineEval: false,
      compound: false,
      unending: false,
      interactive: false,
      tooLarge: false,
      tooDeep: false,
      invisible: false,
    },
  }
}

/** The verb of the typed phrase that confirms a destructive command: lower case, `[a-z0-9-]+`, `run` when there is none. */
export function phraseVerb(command: string, _classification: Classification): string {
  const first = command.trim().split(/\s+/, 1)[0] ?? ''
  const name = first.slice(first.lastIndexOf('/') + 1).toLowerCase()
  return /^[a-z0-9-]+$/.test(name) ? name : 'run'
}
