export { loadRiskRules, RuleFileError } from './load'
