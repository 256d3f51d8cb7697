import { compileRules, type RuleSet } from '../../domain/risk'

type Condemned = RuleSet['destructive'] extends ReadonlyMap<string, infer Rules> ? Rules : never

/** Answers for every name. */
class EveryName extends Map<string, Condemned> {
  private readonly rules: Condemned
  constructor(rules: Condemned) {
    super()
    this.rules = rules
  }
  override get(name: string): Condemned | undefined {
    // `mkfs.*` stands for a family and is asked for beside the name itself.
    return name.endsWith('.*') ? undefined : this.rules
  }
  override has(): boolean {
    return true
  }
}

/**
 * The rules that hold while those of the files cannot be used. Which commands cannot be undone is then unknown, so nothing counts as
 * a read and everything takes the typed phrase: it stays possible to mend the machine, and nothing is looser than before.
 */
export function rulesOfNothing(): RuleSet {
  const condemned: Condemned = [
    {
      id: 'rules_broken',
      sentence: 'The risk rules cannot be read, so nobody knows whether this can be undone.',
      command: [],
      options: [],
      unless: [],
      values: [],
      operands: null,
      text: null,
      via: null,
      fedBy: null,
      ignoreCase: false,
      effects: [],
    },
  ]
  return { ...compileRules([]), version: 'broken', destructive: new EveryName(condemned) }
}
