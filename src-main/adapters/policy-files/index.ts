export { type ExecPolicies, loadExecPolicies } from './exec'
export { type LintFault, type LintReport, lintPolicies } from './lint'
export { loadRiskRules, RuleFileError } from './load'
export { rulesOfNothing } from './unreadable'
