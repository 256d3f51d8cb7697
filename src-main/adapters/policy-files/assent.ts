import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AssentFault,
  AssentFile,
  type AssentGrammar,
  assentDataFaults,
  assentExamples,
  assentFaults,
  compileAssent,
} from '../../domain/approval'
import { lineOf, RuleFileError, readYaml } from './load'
import { plainWords } from './words'

export const ASSENT_FILE = 'assent.yaml'

/** Every fault of the form, an unknown field at its own place. */
function formFaults(data: unknown): readonly AssentFault[] {
  const parsed = AssentFile.safeParse(data)
  if (parsed.success) return []
  return parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...path, key], what: `"${key}" is no field here` }))
      : [{ path, what: plainWords(issue.message) }]
  })
}

/**
 * Reads `assent.yaml` of `policies/`. Throws a `RuleFileError` for a file that is not there, not of the form, or whose phrases cannot be
 * used: words in chat then answer nothing.
 */
export function loadAssent(dir: string): AssentGrammar {
  let text: string
  try {
    text = readFileSync(join(dir, ASSENT_FILE), 'utf8')
  } catch (error) {
    throw new RuleFileError(ASSENT_FILE, null, null, error instanceof Error ? error.message : String(error))
  }
  const data = readYaml(ASSENT_FILE, text)
  const form = formFaults(data)
  const fault = form[0] ?? assentDataFaults(AssentFile.parse(data))[0]
  if (fault !== undefined)
    throw new RuleFileError(ASSENT_FILE, lineOf(text, fault.path), fault.path.join('.') || null, fault.what)
  return compileAssent(AssentFile.parse(data))
}

/** Everything that is wrong in the file, examples included; null when `name` is another file. */
export function assentFileFaults(name: string, data: unknown): readonly AssentFault[] | null {
  if (name !== ASSENT_FILE) return null
  const faults = formFaults(data)
  return faults.length > 0 ? faults : assentFaults(AssentFile.parse(data))
}

/** How many examples the file holds; 0 for any other. */
export function assentFileExamples(name: string, data: unknown): number {
  const parsed = name === ASSENT_FILE ? AssentFile.safeParse(data) : null
  return parsed?.success === true ? assentExamples(parsed.data) : 0
}
