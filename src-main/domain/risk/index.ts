/** The risk classifier: pure, synchronous, rules as data. */
export { type ClassifyOptions, classify, phraseVerb } from './classify'
export {
  cachesOf,
  compileRules,
  type Example,
  RuleDataError,
  type RuleFile,
  type RuleFileData,
  RuleFileSchema,
  type RuleSet,
} from './rules'
export {
  FILES_SANDBOX,
  SANDBOX_CHANGED,
  type SandboxWish,
  sandboxChanges,
  sandboxOf,
  signalFromSandbox,
} from './sandbox'
