export { type ExecPolicies, loadExecPolicies, NO_EXEC_POLICIES } from './exec'
export { type LintFault, type LintReport, lintPolicies } from './lint'
export { loadRiskRules, RuleFileError } from './load'
export { rulesOfNothing } from './unreadable'
