/** The risk classifier: pure, synchronous, rules as data. */
export { type ClassifyOptions, classify, phraseVerb } from './classify'
export { compileRules, type RuleFile, type RuleSet } from './rules'
