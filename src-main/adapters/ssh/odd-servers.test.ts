import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Plan } from '../../../src-preload/contract/model'
import { createSshRunner } from './index'
import { ssh2 } from './library'
import { silent, Watched } from './testbed'

type Behaviour = 'never answers' | 'hangs up' | 'ends without a status' | 'refuses' | 'says nothing and ends'

/** Servers that do what OpenSSH does not, made with the library's own server. What they are asked besides the run they really do. */
describe('a server that', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'nomos-odd-'))
    for (const name of ['host', 'client'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, name)])
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  async function against(behaviour: Behaviour): Promise<{ watched: Watched; close(): Promise<void> }> {
    const server = new (ssh2().Server)({ hostKeys: [readFileSync(join(dir, 'host'))] }, (client) => {
      client.on('error', () => undefined)
      client.on('authentication', (context) => context.accept())
      client.on('session', (accept) => {
        accept().on('exec', (acceptExec, rejectExec, { command }) => {
          if (!command.includes('sleep 271828')) {
            const channel = acceptExec()
            const child = spawn('/bin/sh', ['-c', command], { detached: true })
            child.stdout.pipe(channel.stdout, { end: false })
            child.on('close', (code) => {
              channel.exit(code ?? 0)
              channel.close()
            })
            return
          }
          switch (behaviour) {
            case 'never answers':
              return
            case 'hangs up':
              client.end()
              return
            case 'refuses':
              rejectExec()
              return
            case 'says nothing and ends': {
              const channel = acceptExec()
              channel.exit(3)
              channel.close()
              return
            }
            case 'ends without a status': {
              const channel = acceptExec()
              const [, first, second] = /'sh' '([^']+)' '([^']+)'/.exec(command) ?? []
              channel.stderr.write(`${first}${second}\n`)
              channel.write(`${first}${second}:4242:g\nsome output\n`)
              setTimeout(() => channel.close(), 50)
            }
          }
        })
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const [type, key] = readFileSync(join(dir, 'host.pub'), 'utf8').split(' ')
    const known = join(dir, `known-${port}`)
    execFileSync('sh', ['-c', `echo '[127.0.0.1]:${port} ${type} ${key}' > '${known}'`])
    const runner = createSshRunner({
      ownKnownHosts: known,
      knownHostsFiles: [],
      agentSocket: null,
      startTimeoutMs: 600,
      log: silent,
    })
    const endpoint = { address: '127.0.0.1', port, auth: 'key', keyPath: join(dir, 'client') } as const
    const prepared = await runner.prepare({
      target: 'host:odd',
      script: '',
      argv: null,
      sandbox: null,
      programs: [],
      pins: [],
      fileOperand: null,
      sourced: [],
      unpinnable: null,
      locate: 'no',
      cwd: null,
      env: {},
      endpoint,
      user: 'someone',
    })
    const plan: Plan = {
      v: 1,
      agent: 'main',
      session: null,
      target: 'host:odd',
      kind: 'ssh',
      user: 'someone',
      cwd: null,
      folder: null,
      argv: null,
      script: 'sleep 271828',
      verify: null,
      env: {},
      executable: null,
      programs: [],
      boundFile: null,
      endpoint,
      hostKeys: prepared.hostKeys,
      sandbox: null,
      limits: { timeoutMs: 60_000, outputBytes: 1000 },
      policyVersion: 'test',
      digest: 'test',
    }
    return {
      watched: new Watched(runner, plan),
      close: async () => {
        await runner.close()
        server.close()
      },
    }
  }

  it('never answers a request: lost, not for ever', async () => {
    const { watched, close } = await against('never answers')
    expect(await watched.end).toMatchObject({
      kind: 'lost',
      sentence: expect.stringContaining('just as the command was sent'),
    })
    await close()
  })

  it('hangs up on a request: lost, for it may have run', async () => {
    const { watched, close } = await against('hangs up')
    expect(await watched.end).toMatchObject({ kind: 'lost' })
    await close()
  })

  it('refuses a request: failed, nothing was run', async () => {
    const { watched, close } = await against('refuses')
    expect(await watched.end).toMatchObject({ kind: 'failed', code: 'protocol' })
    await close()
  })

  it('ends before the marker: failed, nothing was run', async () => {
    const { watched, close } = await against('says nothing and ends')
    expect(await watched.end).toMatchObject({
      kind: 'failed',
      code: 'protocol',
      sentence: expect.stringContaining('exit code 3'),
    })
    expect(watched.startedTimes).toBe(0)
    await close()
  })

  it('closes without a status: lost, with what was seen', async () => {
    const { watched, close } = await against('ends without a status')
    expect(await watched.end).toMatchObject({ kind: 'lost', sentence: expect.stringContaining('process group 4242') })
    expect(watched.pid).toBe(4242)
    expect(watched.stdout).toBe('some output\n')
    await close()
  })
})
