import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import type { z } from 'zod'
import {
  compileGrantKinds,
  type ExampleFault,
  fieldFaults,
  type GrantKinds,
  GrantKindsFile,
  grantFaults,
  PRESETS,
  Preset,
  type PresetName,
  SafeBinsFile,
  safeBinFaults,
} from '../../domain/policy'
import type { RuleSet } from '../../domain/risk'
import { RuleFileError } from './load'

export const SAFE_BINS_FILE = 'safe-bins.yaml'
export const GRANTS_FILE = 'grants.yaml'
const presetFile = (name: string): string => `presets/${name}.json`

/** The shipped data of the exec policy. */
export interface ExecPolicies {
  readonly safeBins: SafeBinsFile
  readonly grantKinds: GrantKinds
  readonly presets: Readonly<Record<PresetName, Preset>>
}

function read<T>(dir: string, name: string, schema: z.ZodType<T>): T {
  let data: unknown
  try {
    const text = readFileSync(join(dir, name), 'utf8')
    data = name.endsWith('.json') ? JSON.parse(text) : load(text)
  } catch (error) {
    throw new RuleFileError(name, null, null, error instanceof Error ? error.message : String(error))
  }
  const parsed = schema.safeParse(data)
  if (parsed.success) return parsed.data
  const fault = fieldFaults(parsed.error, data)[0]
  throw new RuleFileError(name, null, fault?.path ?? null, fault?.sentence ?? 'is not valid')
}

function compiledKinds(file: GrantKindsFile): GrantKinds {
  try {
    return compileGrantKinds(file)
  } catch (error) {
    throw new RuleFileError(GRANTS_FILE, null, null, error instanceof Error ? error.message : String(error))
  }
}

/** Reads `safe-bins.yaml`, `grants.yaml` and `presets/*.json` of `policies/`. Throws a `RuleFileError` for the first that cannot be used. */
export function loadExecPolicies(dir: string): ExecPolicies {
  const preset = (name: PresetName): Preset => {
    const found = read(dir, presetFile(name), Preset)
    if (found.name !== name)
      throw new RuleFileError(presetFile(name), null, 'name', `is "${found.name}" in the file of "${name}"`)
    return found
  }
  return {
    safeBins: read(dir, SAFE_BINS_FILE, SafeBinsFile),
    grantKinds: compiledKinds(read(dir, GRANTS_FILE, GrantKindsFile)),
    presets: {
      cautious: preset('cautious'),
      allowlist: preset('allowlist'),
      'deny-all': preset('deny-all'),
      yolo: preset('yolo'),
    },
  }
}

function schemaFaults(schema: z.ZodType, data: unknown): readonly ExampleFault[] {
  const parsed = schema.safeParse(data)
  if (parsed.success) return []
  const faults = fieldFaults(parsed.error, data)
  return parsed.error.issues.map((issue, index) => ({
    path: issue.path.map((part) => (typeof part === 'number' ? part : String(part))),
    what: faults[index]?.sentence ?? issue.message,
  }))
}

/**
 * Everything that is wrong in one of these files, by its name under `policies/`; null for a file that is none of them. Without `rules`
 * the examples of grants are left out.
 */
export function execFaults(name: string, data: unknown, rules: RuleSet | null): readonly ExampleFault[] | null {
  if (name === SAFE_BINS_FILE) {
    const faults = schemaFaults(SafeBinsFile, data)
    return faults.length > 0 ? faults : safeBinFaults(SafeBinsFile.parse(data))
  }
  if (name === GRANTS_FILE) {
    const faults = schemaFaults(GrantKindsFile, data)
    if (faults.length > 0) return faults
    const file = GrantKindsFile.parse(data)
    try {
      compileGrantKinds(file)
    } catch (error) {
      return [{ path: ['kinds'], what: error instanceof Error ? error.message : String(error) }]
    }
    return rules === null ? [] : grantFaults(file, rules)
  }
  const [, preset] = /^presets\/([^/]+)\.json$/.exec(name) ?? []
  if (preset === undefined) return null
  const faults = schemaFaults(Preset, data)
  if (faults.length > 0) return faults
  return Preset.parse(data).name === preset && PRESETS.some((known) => known === preset)
    ? []
    : [{ path: ['name'], what: `does not fit the name of the file; presets are ${PRESETS.join(', ')}` }]
}

/** How many examples one of these files holds. */
export function execExamples(data: unknown): number {
  const bins = SafeBinsFile.safeParse(data)
  if (bins.success) return bins.data.bins.reduce((sum, { safe, unsafe }) => sum + safe.length + unsafe.length, 0)
  const kinds = GrantKindsFile.safeParse(data)
  return kinds.success ? kinds.data.kinds.reduce((sum, { covers, never }) => sum + covers.length + never.length, 0) : 0
}
