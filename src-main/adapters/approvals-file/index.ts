import { sha256 } from '../../domain/ledger'
import { ApprovalsFile, ConfigFile, normalizeApprovals } from '../../domain/policy'
import { createGuardedFile, type GuardedFile } from './guarded-file'

export type { Editing, GuardedFile, Prepared } from './guarded-file'

/** The host's own policy: what may run at the machine that executes. */
export const APPROVALS_FILE = 'exec-approvals.json'
/** What this side asks for. */
export const CONFIG_FILE = 'config.json'

/** A Unix socket's path has to fit into this many bytes, with its end. */
const MAX_SOCKET_PATH = 104

function checkSocket({ socket }: ApprovalsFile): string | null {
  const bytes = Buffer.byteLength(socket?.path ?? '')
  if (bytes < MAX_SOCKET_PATH) return null
  return `"socket.path" has ${bytes} bytes, at most ${MAX_SOCKET_PATH - 1} are possible; set NOMOS_HOME to a shorter path and take it out`
}

/** An id for an entry that has none: the same content gives the same ones, so that reading twice is reading the same. */
function idsFor(content: unknown): () => string {
  const seed = sha256(JSON.stringify(content)).slice(0, 10)
  let count = 0
  return () => `e${seed}-${++count}`
}

/** `<home>/exec-approvals.json`. It may hold the token of a socket, so nobody else may even read it. */
export function createApprovalsFile(home: string): GuardedFile<ApprovalsFile> {
  return createGuardedFile<ApprovalsFile>(home, {
    name: APPROVALS_FILE,
    schema: ApprovalsFile,
    normalise: (raw) => normalizeApprovals(ApprovalsFile.parse(raw), idsFor(raw)),
    forbidden: 0o077,
    check: checkSocket,
  })
}

/** `<home>/config.json`: JSON5 in, unknown fields kept. */
export function createConfigFile(home: string): GuardedFile<ConfigFile> {
  return createGuardedFile<ConfigFile>(home, {
    name: CONFIG_FILE,
    schema: ConfigFile,
    normalise: (raw) => raw,
    forbidden: 0o022,
    check: () => null,
  })
}
