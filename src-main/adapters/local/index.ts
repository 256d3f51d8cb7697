import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { homedir, tmpdir, userInfo } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { NomosError } from '../../../src-preload/contract/errors'
import type { ProgramPin } from '../../../src-preload/contract/model'
import { signalFromSandbox } from '../../domain/risk'
import type { Inspector, PlanDraft, Prepared, RunEnd, RunHandle, Runner } from '../../ports'
import { baseEnvironments } from './environment'
import { hold } from './hold'
import { type Resolved, resolveProgram } from './identity'
import { inspectFiles } from './inspect'
import { type Lookup, pinPrograms, pinScript, placeOf } from './lookup'
import { repositoryFinding } from './repository'
import { findStarters, type Starters, seenAlike, withoutShell } from './sandbox'

export { baseEnvironments, RUN_MARKER, SYSTEM_FOLDERS } from './environment'

/** From the polite signal to the one that cannot be ignored. */
const KILL_AFTER_MS = 2000
/** A child that left the group may hold the pipes open after the command has ended; nobody waits longer for it. */
const PIPE_GRACE_MS = 500

/**
 * A line before what runs unasked: no file over 64 MB (temporary files of a `sort`), no more than 8 GB of address space. A shell that
 * does not know one of them goes on without it.
 */
const AUTOMATIC_LIMITS = 'ulimit -f 65536 2>/dev/null; ulimit -v 8388608 2>/dev/null\n'

/** Files in here are never written to a disk, but for swapping. Linux. */
const MEMORY_FOLDER = '/dev/shm'

const SHELLS = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'] as const

/**
 * The shell and its options. `--norc`: Node's pipes are socket pairs, and a bash that sees a socket believes that a remote shell
 * daemon started it and reads `~/.bashrc`, where a function can take the place of `ls`.
 */
function shellCommand(script: string): { readonly file: string; readonly args: readonly string[] } {
  const bash = SHELLS.find((path) => existsSync(path))
  return bash === undefined
    ? { file: '/bin/sh', args: ['-c', script] }
    : { file: bash, args: ['--norc', '--noprofile', '-c', script] }
}

async function workingFolder(
  cwd: string | null,
): Promise<{ readonly path: string; readonly folder: Prepared['folder'] }> {
  const folder = cwd ?? homedir()
  if (!isAbsolute(folder)) {
    throw new NomosError(
      'bad_input',
      `The working folder "${folder}" is not an absolute path. Give one that begins with "/".`,
      {
        field: 'cwd',
      },
    )
  }
  try {
    const real = await realpath(folder)
    const found = await stat(real, { bigint: true })
    if (found.isDirectory()) return { path: real, folder: { dev: String(found.dev), ino: String(found.ino) } }
  } catch {
    // Said below: for the caller a missing folder and one that cannot be looked at come to the same.
  }
  throw new NomosError('bad_input', `The working folder "${folder}" is not there. Make it, or name another.`, {
    field: 'cwd',
  })
}

/** Where a program leads to; nowhere when the command calls two of one name from different folders. */
async function resolvedOf(program: string, pins: readonly ProgramPin[], at: Lookup): Promise<Resolved> {
  const own = pins.filter(({ typed, fromPackage }) => typed === program && fromPackage === null)
  const [pin, ...others] = own
  if (pin === undefined) return resolveProgram(program, at.cwd, at.search, at.asFile)
  if (others.length > 0) return { program, path: null, real: null, trusted: false }
  const name = pin.name.includes('/') ? placeOf(at, pin.folder, pin.name) : pin.name
  return { ...(await resolveProgram(name, '/', at.search, at.asFile)), program }
}

/** What the folder itself makes of the programs that are to run in it. */
async function findingsAt(cwd: string, programs: readonly string[]): Promise<Prepared['findings']> {
  if (!programs.some((program) => basename(program) === 'git')) return []
  const sentence = await repositoryFinding(cwd)
  return sentence === null ? [] : [{ rule: 'gate.repository-settings', sentence }]
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group is gone already.
  }
}

/** The process groups of this runner: those that run, and those that ended within the last hours (for the descent check of the CLI). */
export interface LocalRunner extends Runner, Inspector {
  readonly kind: 'local'
  groups(): readonly { readonly pid: number }[]
}

/** Runs commands on this computer, each in a process group of its own, with no terminal and nothing on its input but what its plan names. */
export function createLocalRunner(baseEnvironment: NodeJS.ProcessEnv = process.env): LocalRunner {
  const environments = baseEnvironments(baseEnvironment)
  const live = new Set<RunHandle>()
  const groups = new Set<number>()
  let looking: Promise<Starters> | null = null
  let starters: Starters = { prlimit: false, sandbox: false }
  /** What there is to start with; looked for at the first request. */
  const lookForStarters = (): Promise<Starters> => {
    looking ??= findStarters().then((found) => {
      starters = found
      return found
    })
    return looking
  }

  return {
    kind: 'local',

    async prepare(draft: PlanDraft): Promise<Prepared> {
      if (draft.unpinnable !== null) throw new NomosError('bad_input', draft.unpinnable, { field: 'command' })
      const agreed = { ...environments.agreed, ...draft.env }
      // Each look is a trip to the thread pool: those that do not need each other's answer go together.
      const [{ path: cwd, folder }, { sandbox }] = await Promise.all([workingFolder(draft.cwd), lookForStarters()])
      const at: Lookup = {
        cwd,
        home: agreed.HOME ?? homedir(),
        search: agreed.PATH ?? '/usr/bin:/bin',
        asFile: draft.argv !== null,
      }
      const [pinned, boundFile, sourced, resolved, alike, findings] = await Promise.all([
        pinPrograms(draft.pins, at),
        draft.fileOperand === null ? null : pinScript(draft.fileOperand, at),
        Promise.all(draft.sourced.map((operand) => pinScript(operand, at))),
        Promise.all(draft.programs.map((program) => resolvedOf(program, draft.pins, at))),
        sandbox && draft.sandbox !== null ? seenAlike(draft.sandbox, cwd) : false,
        findingsAt(cwd, draft.programs),
      ])
      const [executable, ...programs] = pinned
      return {
        user: userInfo().username,
        cwd,
        folder,
        executable: executable ?? null,
        programs: [...programs, ...sourced],
        boundFile,
        hostKeys: null,
        resolved,
        sandbox: alike && draft.sandbox !== null ? draft.sandbox.profile : null,
        findings,
      }
    },

    inspect: (place, wishes) => inspectFiles(place, wishes),

    start(plan, mode, sink): RunHandle {
      if (process.platform === 'win32') {
        const end: RunEnd = {
          kind: 'failed',
          code: 'unsupported',
          sentence: 'Commands cannot be run on a Windows computer yet. Add it as an SSH host and use that.',
          detail: null,
        }
        return { end: Promise.resolve(end), stop: () => {} }
      }
      const argv = mode.automatic ? plan.argv : null
      const sandbox = argv === null ? null : plan.sandbox
      if (sandbox !== null && !(starters.sandbox && sandbox === 'files')) {
        const sentence = `The sandbox "${sandbox}" this was to run in is not there. Nothing was run. Ask again.`
        return {
          end: Promise.resolve({ kind: 'failed', code: 'sandbox_missing', sentence, detail: null }),
          stop: () => {},
        }
      }
      const folder = plan.cwd ?? homedir()
      const { file, args } =
        argv !== null
          ? withoutShell(argv, starters, sandbox === null ? null : folder)
          : shellCommand(mode.automatic ? AUTOMATIC_LIMITS + (plan.script ?? '') : (plan.script ?? ''))
      const env = { ...(mode.automatic ? environments.automatic : environments.agreed), ...plan.env }
      // A shell would have set it.
      if (argv !== null) env.PWD = folder
      // In the sandbox only /tmp can be written to, and it is gone with it.
      if (sandbox !== null) delete env.TMPDIR
      const input = mode.input === undefined ? null : inputFile(mode.input)
      if (typeof input === 'string') {
        const sentence = `What the command is to read could not be laid out for it: ${input}. Nothing was run.`
        return {
          end: Promise.resolve({ kind: 'failed', code: 'input_failed', sentence, detail: null }),
          stop: () => {},
        }
      }
      const held = hold(plan)
      const before = held.changed()
      if (before !== null) {
        held.release()
        if (input !== null) closeSync(input)
        return { end: Promise.resolve(drifted(before, 'Nothing ran.')), stop: () => {} }
      }
      let child: ChildProcess
      try {
        child = spawn(file, args, {
          cwd: held.cwd,
          env,
          stdio: [input ?? 'ignore', 'pipe', 'pipe'],
          detached: true,
        })
      } catch (error) {
        held.release()
        return { end: Promise.resolve(spawnFailure(error)), stop: () => {} }
      } finally {
        if (input !== null) closeSync(input)
      }
      if (child.pid !== undefined) {
        groups.add(child.pid)
        sink.started({ pid: child.pid })
      }
      const after = held.changed()
      held.release()
      if (after !== null) killGroup(child, 'SIGKILL')
      child.stdout?.on('data', (bytes: Uint8Array) => sink.output('stdout', bytes))
      child.stderr?.on('data', (bytes: Uint8Array) => sink.output('stderr', bytes))

      let killTimer: NodeJS.Timeout | null = null
      const end = new Promise<RunEnd>((settle) => {
        child.once('error', (error) => settle(spawnFailure(error)))
        child.once('exit', (exitCode, signal) => {
          const inside = sandbox === null ? null : signalFromSandbox(exitCode)
          const done = (): void =>
            after !== null
              ? settle(drifted(after, 'It was ended at once, and may have begun.'))
              : settle({ kind: 'exited', exitCode: inside === null ? exitCode : null, signal: inside ?? signal })
          const grace = setTimeout(() => {
            child.stdout?.destroy()
            child.stderr?.destroy()
            done()
          }, PIPE_GRACE_MS)
          child.once('close', () => {
            clearTimeout(grace)
            done()
          })
        })
      }).finally(() => {
        live.delete(handle)
        if (killTimer !== null) clearTimeout(killTimer)
      })
      const handle: RunHandle = {
        end,
        stop() {
          if (killTimer !== null) return
          killGroup(child, 'SIGTERM')
          // After the shell itself has gone, others of its group may still be there: the second signal goes out in any case.
          killTimer = setTimeout(() => killGroup(child, 'SIGKILL'), KILL_AFTER_MS)
          void end.then(() => killGroup(child, 'SIGKILL'))
        },
      }
      live.add(handle)
      return handle
    },

    async close() {
      for (const handle of live) handle.stop()
      await Promise.all([...live].map((handle) => handle.end))
    },

    groups: () => [...groups].map((pid) => ({ pid })),
  }
}

/**
 * A file without a name that holds what a command is to read, open at its beginning; a sentence when it cannot be made. A socket pair, which
 * Node's pipes are, would make bash believe that a remote shell started it, and a pipe would have to be fed while the command may have ended.
 * In memory where the system has such a folder: it may be a secret.
 */
function inputFile(bytes: Uint8Array): number | string {
  try {
    const folder = mkdtempSync(join(existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir(), 'nomos-input-'))
    try {
      const path = join(folder, 'input')
      writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' })
      return openSync(path, constants.O_RDONLY)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A pinned file or the folder was swapped between the last look and the start. */
function drifted(what: string, outcome: string): RunEnd {
  const sentence = `Changed while it was being started: ${what}. ${outcome} Ask again.`
  return { kind: 'failed', code: 'drift', sentence, detail: null }
}

function spawnFailure(error: unknown): RunEnd {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
  const text = error instanceof Error ? error.message : String(error)
  const why =
    code === 'E2BIG'
      ? 'The command is too long for the system (128 KB). Put it into a script file and run that.'
      : `The shell could not be started: ${text}.`
  return { kind: 'failed', code: `spawn_${code.toLowerCase()}`, sentence: why, detail: text }
}
