import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { compilePreviews, type PreviewFault, PreviewFile, type PreviewRules, previewFaults } from '../../domain/preview'
import type { RuleSet } from '../../domain/risk'
import { RuleFileError } from './load'
import { plainWords } from './words'

export const PREVIEW_FILE = 'preview.yaml'

/** Reads `preview.yaml` of `policies/`. Throws a `RuleFileError` that names the first fault. */
export function loadPreviews(dir: string): PreviewRules {
  let data: unknown
  try {
    data = load(readFileSync(join(dir, PREVIEW_FILE), 'utf8'))
  } catch (error) {
    throw new RuleFileError(PREVIEW_FILE, null, null, error instanceof Error ? error.message : String(error))
  }
  const [fault] = schemaFaults(data)
  if (fault !== undefined) throw new RuleFileError(PREVIEW_FILE, null, fault.path.join('.'), fault.what)
  try {
    return compilePreviews(PreviewFile.parse(data))
  } catch (error) {
    throw new RuleFileError(PREVIEW_FILE, null, null, error instanceof Error ? error.message : String(error))
  }
}

function schemaFaults(data: unknown): readonly PreviewFault[] {
  const parsed = PreviewFile.safeParse(data)
  if (parsed.success) return []
  return parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...path, key], what: `"${key}" is no field here` }))
      : [{ path, what: plainWords(issue.message) }]
  })
}

/**
 * Everything that is wrong in the file of previews, by its name under `policies/`; null for any other file. Without `rules` the reads of
 * the examples are not judged.
 */
export function previewFileFaults(name: string, data: unknown, rules: RuleSet | null): readonly PreviewFault[] | null {
  if (name !== PREVIEW_FILE) return null
  const faults = schemaFaults(data)
  if (faults.length > 0) return faults
  try {
    return previewFaults(PreviewFile.parse(data), rules)
  } catch (error) {
    return [{ path: ['previews'], what: error instanceof Error ? error.message : String(error) }]
  }
}

/** How many examples the file holds; none in any other. */
export function previewExamples(name: string, data: unknown): number {
  if (name !== PREVIEW_FILE) return 0
  const parsed = PreviewFile.safeParse(data)
  return parsed.success
    ? parsed.data.previews.reduce((sum, { examples, never }) => sum + examples.length + never.length, 0)
    : 0
}
