import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { fieldFaults } from '../../domain/policy'
import { compileUndo, undoFaults as faultsIn, type UndoFault, UndoFile, type UndoRules } from '../../domain/undo'
import { RuleFileError } from './load'

export const UNDO_FILE = 'undo.yaml'

/** Reads `undo.yaml` of `policies/`. Throws a `RuleFileError` when it cannot be used. */
export function loadUndoRules(dir: string): UndoRules {
  let data: unknown
  try {
    data = load(readFileSync(join(dir, UNDO_FILE), 'utf8'))
  } catch (error) {
    throw new RuleFileError(UNDO_FILE, null, null, error instanceof Error ? error.message : String(error))
  }
  const parsed = UndoFile.safeParse(data)
  if (parsed.success) return compileUndo(parsed.data)
  const fault = fieldFaults(parsed.error, data)[0]
  throw new RuleFileError(UNDO_FILE, null, fault?.path ?? null, fault?.sentence ?? 'is not valid')
}

/** Everything that is wrong in the file; null when `name` is another one. */
export function undoFaults(name: string, data: unknown): readonly UndoFault[] | null {
  if (name !== UNDO_FILE) return null
  const parsed = UndoFile.safeParse(data)
  if (parsed.success) return faultsIn(parsed.data)
  const faults = fieldFaults(parsed.error, data)
  return parsed.error.issues.map((issue, index) => ({
    path: issue.path.map((part) => (typeof part === 'number' ? part : String(part))),
    what: faults[index]?.sentence ?? issue.message,
  }))
}

/** How many examples the file holds. */
export function undoExamples(name: string, data: unknown): number {
  const file = name === UNDO_FILE ? UndoFile.safeParse(data) : null
  return file?.success === true
    ? [...file.data.files, ...file.data.states].reduce(
        (sum, { covers, never }) => sum + covers.length + never.length,
        0,
      )
    : 0
}
