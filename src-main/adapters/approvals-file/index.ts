import { mkdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import JSON5 from 'json5'
import { sha256 } from '../../domain/ledger'
import { ApprovalsFile } from '../../domain/policy'

export const APPROVALS_FILE = 'exec-approvals.json'

/** What stands in the host's file: nothing, a policy, or something that cannot be understood. `version` names the content. */
export type ApprovalsRead =
  | { readonly kind: 'absent'; readonly path: string; readonly version: string }
  | { readonly kind: 'file'; readonly path: string; readonly version: string; readonly file: ApprovalsFile }
  | { readonly kind: 'broken'; readonly path: string; readonly version: string; readonly problem: string }

/** Largest file that is read; a policy of that size is a mistake, and reading it would hold up every decision. */
const MAX_BYTES = 8 * 1024 * 1024

function problemOf(issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined): string {
  const where = issue === undefined || issue.path.length === 0 ? 'the file' : `"${issue.path.map(String).join('.')}"`
  return `${where}: ${issue?.message ?? 'not valid'}`
}

function read(path: string): ApprovalsRead {
  let text: string
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) return { kind: 'absent', path, version: 'absent' }
    if (found.size > MAX_BYTES)
      return {
        kind: 'broken',
        path,
        version: 'broken',
        problem: `it is ${found.size} bytes, at most ${MAX_BYTES} are read`,
      }
    if (process.platform !== 'win32' && (found.mode & 0o022) !== 0) {
      return { kind: 'broken', path, version: 'broken', problem: 'others may write it; run "chmod 600" on it' }
    }
    text = readFileSync(path, 'utf8')
  } catch (error) {
    return {
      kind: 'broken',
      path,
      version: 'broken',
      problem: `it cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
  const version = sha256(text).slice(0, 16)
  try {
    const parsed = ApprovalsFile.safeParse(JSON5.parse(text))
    if (parsed.success) return { kind: 'file', path, version, file: parsed.data }
    return { kind: 'broken', path, version, problem: problemOf(parsed.error.issues[0]) }
  } catch (error) {
    return { kind: 'broken', path, version, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Reads the file whenever it is asked, so that an outside edit counts from the next decision on. Parsed once for each content. */
export function createApprovalsFile(home: string): { read(): ApprovalsRead; setAside(stamp: string): string } {
  const path = join(home, APPROVALS_FILE)
  let kept: { readonly key: string; readonly value: ApprovalsRead } | null = null
  return {
    read() {
      const found = statSync(path, { throwIfNoEntry: false, bigint: true })
      const key =
        found === undefined ? 'absent' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs} ${found.mode}`
      if (kept?.key !== key) kept = { key, value: read(path) }
      return kept.value
    },
    /** Moves the file into `<home>/quarantine/` and answers where it is now. */
    setAside(stamp) {
      const folder = join(home, 'quarantine')
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const to = join(folder, `${stamp}-${basename(path)}`)
      renameSync(path, to)
      kept = null
      return to
    },
  }
}
