/** The risk classifier: pure, synchronous, rules as data. */
export { type ClassifyOptions, classify, phraseVerb } from './classify'
export {
  compileRules,
  type Example,
  RuleDataError,
  type RuleFile,
  type RuleFileData,
  RuleFileSchema,
  type RuleSet,
} from './rules'
export { type SandboxWish, sandboxChanges, sandboxOf } from './sandbox'
