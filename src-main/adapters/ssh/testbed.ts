import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { Sshd } from '../../../e2e/support/sshd'
import type { Host, Plan } from '../../../src-preload/contract/model'
import type { Log, RunEnd, RunHandle, Runner } from '../../ports'
import { createSshRunner, type SshPlaces, type SshRunnerOptions } from './index'

/** A log that keeps nothing. */
export const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** A runner that knows the server's key, with short times. Its known_hosts file is `own`. */
export async function runnerFor(
  sshd: Sshd,
  options: Partial<SshRunnerOptions> & { readonly known?: string } = {},
): Promise<{ runner: SshPlaces; own: string }> {
  const folder = await fs.mkdtemp(join(sshd.dir, 'nomos-'))
  const own = join(folder, 'known_hosts')
  const known = options.known ?? `${sshd.knownHostsLine}\n`
  if (known !== '') await fs.writeFile(own, known, { mode: 0o600 })
  const { known: _known, ...rest } = options
  const runner = createSshRunner({
    ownKnownHosts: own,
    knownHostsFiles: [],
    agentSocket: null,
    keepaliveMs: 2000,
    connectTimeoutMs: 5000,
    log: silent,
    ...rest,
  })
  return { runner, own }
}

/** The server as an entry of the Hosts form. */
export function hostOf(sshd: Sshd, changes: Partial<Host> = {}): Host {
  return {
    slug: 'test',
    address: sshd.address,
    port: sshd.port,
    user: sshd.user,
    auth: 'key',
    keyPath: sshd.clientKeyPath,
    tags: [],
    ...changes,
  }
}

/** A plan for the server, bound to the host keys that the runner knows, as the gate makes it. */
export async function planFor(runner: Runner, sshd: Sshd, script: string, changes: Partial<Plan> = {}): Promise<Plan> {
  const host = hostOf(sshd)
  const endpoint = changes.endpoint ?? {
    address: host.address,
    port: host.port,
    auth: host.auth,
    keyPath: host.keyPath,
  }
  const prepared = await runner.prepare({
    target: 'host:test',
    script,
    argv: null,
    sandbox: null,
    programs: [],
    pins: [],
    fileOperand: null,
    sourced: [],
    unpinnable: null,
    locate: 'no',
    cwd: changes.cwd ?? null,
    env: changes.env ?? {},
    endpoint,
    user: host.user,
  })
  return {
    v: 1,
    agent: 'main',
    session: null,
    target: 'host:test',
    kind: 'ssh',
    user: host.user,
    cwd: null,
    folder: null,
    argv: null,
    script,
    verify: null,
    env: {},
    executable: null,
    programs: [],
    boundFile: null,
    endpoint,
    hostKeys: prepared.hostKeys,
    sandbox: null,
    limits: { timeoutMs: 60_000, outputBytes: 1_000_000 },
    policyVersion: 'test',
    digest: 'test',
    ...changes,
  }
}

/** One run with everything it told. */
export class Watched {
  pid: number | null = null
  startedTimes = 0
  bytes = 0
  readonly parts: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] }
  handle: RunHandle
  readonly end: Promise<RunEnd>
  readonly started: Promise<void>
  #onStarted: () => void = () => undefined

  constructor(runner: Runner, plan: Plan, options: { automatic?: boolean; keep?: boolean; input?: Uint8Array } = {}) {
    this.started = new Promise((resolve) => {
      this.#onStarted = resolve
    })
    this.handle = runner.start(
      plan,
      { automatic: options.automatic ?? false, input: options.input },
      {
        started: ({ pid }) => {
          this.startedTimes += 1
          this.pid = pid
          this.#onStarted()
        },
        output: (stream, bytes) => {
          if (this.startedTimes === 0) throw new Error('output before the start')
          this.bytes += bytes.length
          if (options.keep !== false) this.parts[stream].push(Buffer.from(bytes))
        },
      },
    )
    this.end = this.handle.end
  }

  get stdout(): string {
    return Buffer.concat(this.parts.stdout).toString('utf8')
  }

  get stderr(): string {
    return Buffer.concat(this.parts.stderr).toString('utf8')
  }
}

/** Runs a script to its end. */
export async function runScript(
  runner: Runner,
  sshd: Sshd,
  script: string,
  changes: Partial<Plan> = {},
  options: { automatic?: boolean; keep?: boolean; input?: Uint8Array } = {},
): Promise<{ end: RunEnd; watched: Watched; stdout: string; stderr: string }> {
  const watched = new Watched(runner, await planFor(runner, sshd, script, changes), options)
  const end = await watched.end
  return { end, watched, stdout: watched.stdout, stderr: watched.stderr }
}
