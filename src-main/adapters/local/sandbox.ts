import { spawn } from 'node:child_process'
import { constants, type Stats } from 'node:fs'
import { access, lstat, readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FILES_SANDBOX, sandboxChanges } from '../../domain/risk'
import type { SandboxDraft } from '../../ports'

const BWRAP = '/usr/bin/bwrap'
const PRLIMIT = '/usr/bin/prlimit'

/** No file over 64 MB (temporary files of a `sort`), no more than 8 GB of address space. */
const LIMITS = ['--fsize=67108864', '--as=8589934592'] as const
/** The same for a system without prlimit, best effort. The text is fixed; the words follow as arguments and are not read by the shell. */
const LIMITS_BY_SHELL =
  'for l in "-f 131072" "-v 8388608"; do if (ulimit $l) >/dev/null 2>&1; then ulimit $l; fi; done; exec "$0" "$@"'

/** What this computer has for runs without a shell; found out once, by using it. */
export interface Starters {
  readonly prlimit: boolean
  readonly sandbox: boolean
}

const works = (file: string, args: readonly string[]): Promise<boolean> =>
  new Promise((settle) => {
    const child = spawn(file, args, { cwd: '/', env: {}, stdio: 'ignore', timeout: 10_000 })
    child.once('error', () => settle(false))
    child.once('exit', (code) => settle(code === 0))
  })

/** Tries both for real: a limit may not be raised, and many systems forbid user namespaces. */
export async function findStarters(): Promise<Starters> {
  if (process.platform !== 'linux') return { prlimit: false, sandbox: false }
  const [prlimit, sandbox] = await Promise.all([
    works(PRLIMIT, [...LIMITS, '--', '/bin/true']),
    works(BWRAP, [...FILES_SANDBOX, '--chdir', '/', '--', '/bin/true']),
  ])
  return { prlimit, sandbox }
}

/** How `argv` is started without a shell of its own: behind the limits, and in the sandbox when it has one. */
export function withoutShell(
  argv: readonly string[],
  starters: Starters,
  sandboxIn: string | null,
): { readonly file: string; readonly args: readonly string[] } {
  const words = sandboxIn === null ? argv : [BWRAP, ...FILES_SANDBOX, '--chdir', sandboxIn, '--', ...argv]
  return starters.prlimit
    ? { file: PRLIMIT, args: [...LIMITS, '--', ...words] }
    : { file: '/bin/sh', args: ['-c', LIMITS_BY_SHELL, ...words] }
}

const MOST_LINKS = 40

/** What root may do with a file without the rights of root: in a user namespace only those of its owner, group and everybody are left. */
function allowed(stat: Stats, bit: 4 | 1): boolean {
  const { uid, mode } = stat
  if (uid === process.geteuid?.()) return (mode & (bit << 6)) !== 0
  // Of the group or not: both must do, which also leaves access lists out of it.
  return (mode & bit) !== 0 && (mode & (bit << 3)) !== 0
}

interface Step {
  readonly path: string
  readonly stat: Stats
}

/**
 * Walks a path step by step, as the kernel does, from a folder that was walked to before. Null when some step is in a place that looks
 * different from the sandbox, or when root may take it only by being root; `missing` when it ends at nothing.
 */
async function walk(path: string, from: Step): Promise<Step | 'missing' | null> {
  const root = process.geteuid?.() === 0
  const open = path.split('/').filter((part) => part !== '' && part !== '.')
  let at = from
  for (let links = 0; open.length > 0; ) {
    const part = open.shift() as string
    if (!at.stat.isDirectory()) return 'missing'
    if (root && !allowed(at.stat, 1)) return null
    const next = part === '..' ? dirname(at.path) : join(at.path, part)
    if (sandboxChanges(next)) return null
    let stat: Stats
    try {
      stat = await lstat(next)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : null
    }
    if (!stat.isSymbolicLink()) {
      at = { path: next, stat }
      continue
    }
    if (++links > MOST_LINKS) return null
    const to = await readlink(next)
    open.unshift(...to.split('/').filter((piece) => piece !== '' && piece !== '.'))
    if (to.startsWith('/')) at = await top()
  }
  return at
}

const top = async (): Promise<Step> => ({ path: '/', stat: await lstat('/') })

/** Whether a run in `cwd` reads the same in the sandbox as outside of it, as far as files and rights go. */
export async function seenAlike(draft: SandboxDraft, cwd: string): Promise<boolean> {
  const root = process.geteuid?.() === 0
  try {
    const start = await top()
    const folder = await walk(cwd, start)
    if (folder === null || folder === 'missing' || (root && !allowed(folder.stat, 1))) return false
    const one = async (operand: string): Promise<boolean> => {
      const found = await walk(operand, operand.startsWith('/') ? start : folder)
      if (found === 'missing') return true
      if (!found?.stat.isFile() || (root && !allowed(found.stat, 4))) return false
      await access(found.path, constants.R_OK)
      return true
    }
    return (await Promise.all(draft.operands.map(one))).every((alike) => alike)
  } catch {
    // What cannot be looked at is run as it always was.
    return false
  }
}
