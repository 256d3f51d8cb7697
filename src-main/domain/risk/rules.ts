/** Compiled rule data. */
export interface RuleSet {
  /** Identifies the exact data the set was made from; it goes into the policy version of a plan. */
  readonly version: string
}

/** One rule file as parsed from YAML, with the name it is known by in messages. */
export interface RuleFile {
  readonly name: string
  readonly data: unknown
}

export function compileRules(files: readonly RuleFile[]): RuleSet {
  return { version: String(files.length) }
}
