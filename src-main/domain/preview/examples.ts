import { classify, type RuleSet } from '../risk'
import { compilePreviews, type PreviewFile } from './data'
import { recipeOf } from './recipe'

export interface PreviewFault {
  readonly path: readonly (string | number)[]
  readonly what: string
}

/** Examples that do not hold. Without rules nobody can say whether the reads are reads, and that is left out. */
export function previewFaults(file: PreviewFile, rules: RuleSet | null): readonly PreviewFault[] {
  const faults: PreviewFault[] = []
  const previews = compilePreviews(file)
  const seen = new Set<string>()
  for (const [index, { id, examples, never }] of file.previews.entries()) {
    if (seen.has(id)) faults.push({ path: ['previews', index, 'id'], what: `${id} is used already` })
    seen.add(id)
    for (const [at, { of, reads }] of examples.entries()) {
      const path = ['previews', index, 'examples', at]
      const recipe = recipeOf(of, previews)
      if (recipe === null) {
        faults.push({ path, what: `${JSON.stringify(of)} should have a preview and has none` })
        continue
      }
      const made = recipe.first.kind === 'read' ? recipe.first.commands : []
      if (JSON.stringify(made) !== JSON.stringify(reads))
        faults.push({ path, what: `${JSON.stringify(of)} begins with other reads: ${made.join(' and ')}` })
      for (const command of rules === null ? [] : recipe.reads) {
        const place = { posture: 'default', cwd: '/srv/app', homeFolder: '/home/ann' } as const
        const { risk, reasons } = classify(command, { rules: rules as RuleSet, ...place })
        if (risk !== 'read_only')
          faults.push({ path, what: `${JSON.stringify(command)} is not a read: ${reasons[0]?.sentence ?? risk}` })
      }
    }
    for (const [at, command] of never.entries())
      if (recipeOf(command, previews) !== null)
        faults.push({
          path: ['previews', index, 'never', at],
          what: `${JSON.stringify(command)} should have no preview and has one`,
        })
  }
  return faults
}
