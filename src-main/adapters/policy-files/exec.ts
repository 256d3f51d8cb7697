import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import type { z } from 'zod'
import {
  compileGrantKinds,
  fieldFaults,
  type GrantKinds,
  GrantKindsFile,
  PRESETS,
  Preset,
  SafeBinsFile,
} from '../../domain/policy'
import { RuleFileError } from './load'

/** The shipped data of the exec policy. */
export interface ExecPolicies {
  readonly safeBins: SafeBinsFile
  readonly grantKinds: GrantKinds
  /** In the order they are shown. */
  readonly presets: readonly Preset[]
}

function parsed<T>(name: string, schema: z.ZodType<T>, data: unknown): T {
  const result = schema.safeParse(data)
  if (result.success) return result.data
  const fault = fieldFaults(result.error, data)[0]
  throw new RuleFileError(name, null, fault?.path ?? null, fault?.sentence ?? 'is not valid')
}

function read<T>(dir: string, name: string, schema: z.ZodType<T>): T {
  let data: unknown
  try {
    const text = readFileSync(join(dir, name), 'utf8')
    data = name.endsWith('.json') ? JSON.parse(text) : load(text)
  } catch (error) {
    throw new RuleFileError(name, null, null, error instanceof Error ? error.message : String(error))
  }
  return parsed(name, schema, data)
}

/** Reads `safe-bins.yaml`, `grants.yaml` and `presets/*.json` of `policies/`. Throws a `RuleFileError` for the first that cannot be used. */
export function loadExecPolicies(dir: string): ExecPolicies {
  const found = readdirSync(join(dir, 'presets')).filter((name) => name.endsWith('.json'))
  const presets = found.map((name) => read(dir, join('presets', name), Preset))
  const missing = PRESETS.find((name) => !presets.some((preset) => preset.name === name))
  if (missing !== undefined) throw new RuleFileError('presets', null, null, `has no preset "${missing}"`)
  let grantKinds: GrantKinds
  try {
    grantKinds = compileGrantKinds(read(dir, 'grants.yaml', GrantKindsFile))
  } catch (error) {
    if (error instanceof RuleFileError) throw error
    throw new RuleFileError('grants.yaml', null, null, error instanceof Error ? error.message : String(error))
  }
  return {
    safeBins: read(dir, 'safe-bins.yaml', SafeBinsFile),
    grantKinds,
    presets: [...presets].sort((a, b) => PRESETS.indexOf(a.name) - PRESETS.indexOf(b.name)),
  }
}

/** What holds while that data cannot be used: nothing is safe, nothing is granted, nothing is preset. */
export const NO_EXEC_POLICIES: ExecPolicies = {
  safeBins: { trusted_dirs: [], bins: [] },
  grantKinds: { kinds: new Map() },
  presets: [],
}
