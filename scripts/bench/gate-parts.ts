/** What the bench `gate` measures, in one bundle: the same sources and the same parsers as the app has. */
export { forEachChild, parse as unbashParse } from 'unbash'
export { Language, Parser } from 'web-tree-sitter'
export { loadRiskRules } from '../../src-main/adapters/policy-files'
export { createTreeSitterParser } from '../../src-main/adapters/tree-sitter'
export { classify } from '../../src-main/domain/risk'
export { doubtOf } from '../../src-main/domain/shell'
