import { programName, type Word } from '../shell'
import { normalisePath, pathCandidates } from './paths'
import type { RuleSet, SandboxProfile } from './rules'

/** What a run would need of its place to be put into a sandbox. */
export interface SandboxWish {
  readonly profile: SandboxProfile
  /** Every word that may name a file, as typed: each must be a plain file that is seen alike in there, or not be there at all. */
  readonly operands: readonly string[]
}

/**
 * The profile `files` as words for bubblewrap: the whole system read-only, in namespaces of its own, without network, the sockets in
 * /run and /tmp, devices and capabilities. The user namespace is what makes it a sandbox for root as well, who could mount the rest
 * writable again. The environment stays the one bubblewrap is started with, which is made for the run. `--chdir` and `--` follow.
 */
export const FILES_SANDBOX: readonly string[] = (
  '--unshare-user --unshare-net --unshare-pid --unshare-ipc --unshare-uts --cap-drop ALL --ro-bind / / --dev /dev ' +
  '--proc /proc --ro-bind /proc/sys /proc/sys --tmpfs /tmp --tmpfs /run --die-with-parent --new-session'
).split(' ')

/** Places that the profile `files` hides or shows differently. */
export const SANDBOX_CHANGED: readonly string[] = ['/tmp', '/run', '/var/run', '/var/lock', '/proc', '/dev', '/sys']

/** True for a place that looks different from inside the sandbox. `path` is absolute; links are not followed. */
export function sandboxChanges(path: string): boolean {
  const clean = normalisePath(path)
  return SANDBOX_CHANGED.some((place) => clean === place || clean.startsWith(`${place}/`))
}

interface Exception {
  /** Short options, alone or in a cluster. */
  readonly short?: RegExp
  /** Long options, of which any beginning counts. */
  readonly long?: readonly string[]
  /** Words of any kind. */
  readonly words?: RegExp
}

const CHECKS: Exception = { short: /^-[A-Za-z]*c/, long: ['--check'] }
// A file that is glued to a cluster (`-ifwords`) is not found among the words.
const SEARCHES: Exception = {
  short: /^-[A-Za-z0-9]*[rRd]|^-[A-Za-z0-9]+f./,
  long: ['--recursive', '--dereference-recursive', '--directories'],
}

/**
 * What makes a program of the profile look at more than the words it is given (folders, lists of names, other processes), write, or
 * choose an exit code over 128, which from a sandbox could not be told from a signal.
 */
const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  ...Object.fromEntries(
    'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum cksum shasum'
      .split(' ')
      .map((name) => [name, CHECKS]),
  ),
  ...Object.fromEntries(
    'grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep'.split(' ').map((name) => [name, SEARCHES]),
  ),
  diff: {
    short: /^-[A-Za-z0-9]*[rN]|^-[A-Za-z0-9]+[XS]./,
    long: ['--recursive', '--new-file', '--unidirectional-new-file'],
  },
  wc: { long: ['--files0-from'] },
  sort: { long: ['--files0-from'] },
  file: { short: /^-[A-Za-z0]*[fp]/, long: ['--files-from', '--preserve-date'] },
  tail: { short: /^-[A-Za-z0-9]*[fF]/, long: ['--follow', '--retry', '--pid'] },
  sed: { words: /[qQ]\s*[0-9]/ },
  ...Object.fromEntries('awk gawk mawk nawk original-awk'.split(' ').map((name) => [name, { words: /exit|PROCINFO/ }])),
  jq: { words: /halt/ },
  gojq: { words: /halt/ },
}

/**
 * What it takes to run a literal command that only reads in the sandbox its schema names; null when its answer might not be the same
 * in there, as far as the words tell. The place has to be looked at as well: links, folders, rights.
 */
export function sandboxOf(argv: readonly string[], rules: RuleSet): SandboxWish | null {
  const [head, ...rest] = argv
  if (head === undefined) return null
  const name = programName({ value: head, shape: head } as Word)
  const profile = rules.programs.get(name)?.sandbox ?? null
  if (profile === null) return null
  const exception = EXCEPTIONS[name]
  const operands: string[] = []
  let dashes = false
  for (const word of rest) {
    if (exception?.words?.test(word)) return null
    if (word === '--') dashes = true
    else if (!dashes && word.startsWith('-') && exception !== undefined) {
      const option = /^--[^=]+/.exec(word)?.[0]
      if (option === undefined ? exception.short?.test(word) : exception.long?.some((long) => long.startsWith(option)))
        return null
    }
    // The value of an option may be a file too, glued or not. That a text is taken for one does no harm.
    for (const candidate of pathCandidates(word)) {
      if (candidate === '' || candidate === '-') continue
      if (candidate.startsWith('/') && sandboxChanges(candidate)) return null
      if (!operands.includes(candidate)) operands.push(candidate)
    }
  }
  return { profile, operands }
}

/** Linux, where alone there is bubblewrap. */
const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
}

/**
 * The signal that ended what ran in the sandbox, or null. bubblewrap hands it on as an exit code of 128 and its number, which no program
 * of the profile has by itself (see `sandboxOf`).
 */
export function signalFromSandbox(exitCode: number | null): string | null {
  return exitCode === null ? null : (SIGNALS[exitCode - 128] ?? null)
}
