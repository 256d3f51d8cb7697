/** Previews: from a literal command to the reads that show what it would do. */
export { compilePreviews, NO_PREVIEWS, PreviewFile, type PreviewRules } from './data'
export { unifiedDifference } from './difference'
export { type PreviewFault, previewFaults } from './examples'
export { type Answer, MOST_COMPARED, type Recipe, recipeOf, type Shown, type Step } from './recipe'
