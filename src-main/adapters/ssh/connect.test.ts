import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { promises as fs, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canMakeAccounts, type Sshd, sshdPath, startSshd } from '../../../e2e/support/sshd'
import { hostKeyAlgorithms } from './connection'
import { fingerprintOf, lookUp, parseKnownHosts } from './known-hosts'
import { hostOf, planFor, runnerFor, runScript } from './testbed'

/** A TCP server that behaves as told. */
async function listen(behave: (socket: Socket) => void): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    behave(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return {
    port: address.port,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe.skipIf(sshdPath() === null)('connecting', () => {
  let sshd: Sshd
  let dir: string
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'nomos-connect-'))
    sshd = await startSshd({ hostKeys: ['ed25519', 'ecdsa', 'rsa'] })
  })
  afterAll(async () => {
    await sshd.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  /** The server's public host key line of a type, for known_hosts. */
  async function knownLine(type: 'ed25519' | 'ecdsa' | 'rsa'): Promise<string> {
    const [name, key] = (await fs.readFile(join(sshd.dir, `host_${type}.pub`), 'utf8')).split(' ')
    return `[127.0.0.1]:${sshd.port} ${name} ${key}`
  }

  /** A key of a type that the server does not have. */
  function strangerKey(type: 'ed25519' | 'ecdsa'): string {
    const path = join(dir, `stranger-${type}-${Math.random().toString(36).slice(2)}`)
    execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', path])
    return path
  }
  async function strangerLine(type: 'ed25519' | 'ecdsa'): Promise<string> {
    const [name, key] = (await fs.readFile(`${strangerKey(type)}.pub`, 'utf8')).split(' ')
    return `[127.0.0.1]:${sshd.port} ${name} ${key}`
  }

  it('works with a key, and says what the host is', async () => {
    const { runner } = await runnerFor(sshd)
    const test = await runner.test(hostOf(sshd), null)
    expect(test).toMatchObject({
      ok: true,
      failure: null,
      presented: { algorithm: 'ssh-ed25519', fingerprint: sshd.hostFingerprint },
      known: [{ algorithm: 'ssh-ed25519', fingerprint: sshd.hostFingerprint }],
      banner: execFileSync('uname', ['-sr'], { encoding: 'utf8' }).trim(),
    })
    expect(test.sentence).toContain(`as ${sshd.user}`)
    expect(test.durationMs).toBeGreaterThan(0)
    await runner.close()
  })

  describe('the host key', () => {
    it('unknown: refused before any credential, then trusted by its fingerprint', async () => {
      const { runner, own } = await runnerFor(sshd, { known: '' })
      const host = hostOf(sshd)
      await expect(runner.trust(host, sshd.hostFingerprint)).rejects.toMatchObject({ code: 'conflict' })
      const before = sshd.log().length
      const refused = await runner.test(host, null)
      expect(refused).toMatchObject({
        ok: false,
        failure: 'host_key_unknown',
        known: [],
        presented: { fingerprint: sshd.hostFingerprint },
      })
      expect(refused.sentence).toContain(sshd.hostFingerprint)
      const run = await runScript(runner, sshd, `touch ${join(dir, 'unknown-ran')}`)
      expect(run.end).toMatchObject({ kind: 'failed', code: 'host_key_unknown' })
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(sshd.log().slice(before)).not.toMatch(/authenticating user|Accepted|Postponed|Failed/)

      await expect(runner.trust(host, 'SHA256:somethingelse')).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(sshd.hostFingerprint),
      })
      await runner.trust(host, sshd.hostFingerprint)
      expect(await fs.readFile(own, 'utf8')).toBe(`${sshd.knownHostsLine}\n`)
      expect(execFileSync('ssh-keygen', ['-F', `[127.0.0.1]:${sshd.port}`, '-f', own], { encoding: 'utf8' })).toContain(
        'found: line 1',
      )
      await runner.trust(host, sshd.hostFingerprint)
      expect(await fs.readFile(own, 'utf8')).toBe(`${sshd.knownHostsLine}\n`)
      expect(await runner.test(host, null)).toMatchObject({ ok: true })
      expect((await runScript(runner, sshd, 'echo yes')).stdout).toBe('yes\n')
      await runner.close()
    })

    it('changed: old and new fingerprint, and no trust over it', async () => {
      const line = await strangerLine('ed25519')
      const old = fingerprintOf(Buffer.from(line.split(' ')[2] ?? '', 'base64'))
      const { runner, own } = await runnerFor(sshd, { known: `${line}\n` })
      const test = await runner.test(hostOf(sshd), null)
      expect(test).toMatchObject({ ok: false, failure: 'host_key_changed' })
      expect(test.sentence).toContain(`ssh-ed25519 ${old}`)
      expect(test.sentence).toContain(`ssh-ed25519 ${sshd.hostFingerprint}`)
      expect(test.sentence).toContain(`${own}:1`)
      await expect(runner.trust(hostOf(sshd), sshd.hostFingerprint)).rejects.toMatchObject({ code: 'conflict' })
      expect((await runScript(runner, sshd, 'true')).end).toMatchObject({ kind: 'failed', code: 'host_key_changed' })
      await runner.close()
    })

    it('revoked: even where it is known too', async () => {
      const { runner } = await runnerFor(sshd, { known: `${sshd.knownHostsLine}\n@revoked ${sshd.knownHostsLine}\n` })
      expect(await runner.test(hostOf(sshd), null)).toMatchObject({ ok: false, failure: 'host_key_revoked', known: [] })
      await expect(runner.trust(hostOf(sshd), sshd.hostFingerprint)).rejects.toMatchObject({ code: 'conflict' })
      await runner.close()
    })

    it('of a certificate authority only: unknown, and says so', async () => {
      const { runner } = await runnerFor(sshd, { known: `@cert-authority ${sshd.knownHostsLine}\n` })
      const test = await runner.test(hostOf(sshd), null)
      expect(test).toMatchObject({ ok: false, failure: 'host_key_unknown' })
      expect(test.sentence).toContain('does not support host certificates')
      await runner.close()
    })

    it.each(['ecdsa', 'rsa'] as const)('known by %s alone: the host is asked for that one', async (type) => {
      const line = await knownLine(type)
      const { runner } = await runnerFor(sshd, { known: `${line}\n` })
      const test = await runner.test(hostOf(sshd), null)
      expect(test).toMatchObject({ ok: true, presented: { algorithm: line.split(' ')[1] } })
      expect((await runScript(runner, sshd, 'echo over it')).stdout).toBe('over it\n')
      await runner.close()
    })

    it('known by an algorithm the host does not have: unknown, not changed', async () => {
      const one = await startSshd({ hostKeys: ['ecdsa'] })
      const { runner } = await runnerFor(one, {
        known: sshd.knownHostsLine.replace(String(sshd.port), String(one.port)),
      })
      const test = await runner.test(hostOf(one), null)
      expect(test).toMatchObject({
        ok: false,
        failure: 'host_key_unknown',
        presented: { algorithm: 'ecdsa-sha2-nistp256' },
      })
      expect(test.sentence).toContain(sshd.hostFingerprint)
      await runner.trust(hostOf(one), test.presented?.fingerprint ?? '')
      expect(await runner.test(hostOf(one), null)).toMatchObject({ ok: true })
      await runner.close()
      await one.stop()
    })

    it('cannot be judged when a file is not readable', async () => {
      const { runner } = await runnerFor(sshd, { knownHostsFiles: [dir] })
      const test = await runner.test(hostOf(sshd), null)
      expect(test).toMatchObject({ ok: false, failure: 'known_hosts_unreadable', presented: null })
      expect(test.sentence).toContain(dir)
      expect((await runScript(runner, sshd, 'true')).end).toMatchObject({
        kind: 'failed',
        code: 'known_hosts_unreadable',
      })
      await expect(runner.trust(hostOf(sshd), sshd.hostFingerprint)).rejects.toMatchObject({ code: 'conflict' })
      await runner.close()
    })

    it('prefers known algorithms that are not revoked', async () => {
      const ec = await knownLine('ecdsa')
      const of = (text: string) => hostKeyAlgorithms(lookUp(parseKnownHosts(text, 'f').entries, '127.0.0.1', sshd.port))
      expect(of('')[0]).toBe('ssh-ed25519')
      expect(of(await knownLine('rsa')).slice(0, 3)).toEqual(['rsa-sha2-512', 'rsa-sha2-256', 'ssh-ed25519'])
      expect(of(ec)[0]).toBe('ecdsa-sha2-nistp256')
      expect(of(`${ec}\n@revoked ${ec}`)[0]).toBe('ssh-ed25519')
    })
  })

  describe('the way there', () => {
    it('unreachable: nothing listens, or no such name', async () => {
      const gone = await listen(() => undefined)
      gone.close()
      const { runner } = await runnerFor(sshd)
      const refused = await runner.test(hostOf(sshd, { port: gone.port }), null)
      expect(refused).toMatchObject({ ok: false, failure: 'unreachable' })
      expect(refused.sentence).toContain(
        `127.0.0.1:${gone.port} cannot be reached: nothing listens on that port (ECONNREFUSED)`,
      )
      const nameless = await runner.test(hostOf(sshd, { address: 'no-such-host.invalid' }), null)
      expect(nameless).toMatchObject({ ok: false, failure: 'unreachable' })
      const plan = await planFor(runner, sshd, 'true', {
        endpoint: { address: '127.0.0.1', port: gone.port, auth: 'key', keyPath: sshd.clientKeyPath },
      })
      expect(
        await runner.start(plan, { automatic: false }, { started: () => undefined, output: () => undefined }).end,
      ).toMatchObject({
        kind: 'failed',
        code: 'unreachable',
      })
      await runner.close()
    })

    it('timeout: something listens and says nothing, or freezes in the login', async () => {
      const mute = await listen(() => undefined)
      const { runner } = await runnerFor(sshd, { connectTimeoutMs: 400 })
      const began = performance.now()
      expect(await runner.test(hostOf(sshd, { port: mute.port }), null)).toMatchObject({
        ok: false,
        failure: 'timeout',
      })
      expect(performance.now() - began).toBeLessThan(2000)
      mute.close()
      const frozen = await startSshd()
      frozen.freeze()
      expect(await runner.test(hostOf(frozen), null)).toMatchObject({ ok: false, failure: 'timeout' })
      frozen.thaw()
      await frozen.stop()
      await runner.close()
    })

    it('protocol: what answers is no SSH server', async () => {
      const web = await listen((socket) =>
        socket.write('HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n<html>\r\n'.repeat(50)),
      )
      const { runner } = await runnerFor(sshd, { connectTimeoutMs: 1000 })
      const test = await runner.test(hostOf(sshd, { port: web.port }), null)
      expect(['protocol', 'timeout']).toContain(test.failure)
      web.close()
      const odd = await listen((socket) => socket.write('SSH-1.0-ancient\r\n'))
      expect(await runner.test(hostOf(sshd, { port: odd.port }), null)).toMatchObject({ failure: 'protocol' })
      odd.close()
      await runner.close()
    })

    it('connection_lost: it hangs up before the handshake', async () => {
      const rude = await listen((socket) => socket.end())
      const { runner } = await runnerFor(sshd)
      expect(await runner.test(hostOf(sshd, { port: rude.port }), null)).toMatchObject({
        ok: false,
        failure: 'connection_lost',
      })
      rude.close()
      await runner.close()
    })

    it('protocol: no algorithm in common', async () => {
      const old = await startSshd({ config: ['KexAlgorithms diffie-hellman-group1-sha1'] })
      const { runner } = await runnerFor(old)
      const test = await runner.test(hostOf(old), null)
      expect(test).toMatchObject({ ok: false, failure: 'protocol' })
      expect(test.sentence).toContain('no SSH algorithm in common')
      await runner.close()
      await old.stop()
    })
  })

  describe('the private key', () => {
    it('auth_refused: the host does not know it', async () => {
      const { runner } = await runnerFor(sshd)
      const keyPath = strangerKey('ed25519')
      const test = await runner.test(hostOf(sshd, { keyPath }), null)
      expect(test).toMatchObject({
        ok: false,
        failure: 'auth_refused',
        presented: { fingerprint: sshd.hostFingerprint },
      })
      expect(test.sentence).toContain(keyPath)
      expect(test.sentence).toContain(sshd.user)
      await runner.close()
    })

    it('auth_refused: the host wants a second factor', async () => {
      const strict = await startSshd({ config: ['AuthenticationMethods publickey,publickey'] })
      const { runner } = await runnerFor(strict)
      const test = await runner.test(hostOf(strict), null)
      expect(test).toMatchObject({ ok: false, failure: 'auth_refused' })
      expect(test.sentence).toContain('wants something more')
      await runner.close()
      await strict.stop()
    })

    it('missing, a folder, rubbish, a public key: each its own words', async () => {
      const { runner } = await runnerFor(sshd)
      const rubbish = join(dir, 'rubbish')
      writeFileSync(rubbish, 'not a key\n')
      const cases = [
        ['/no/such/key', 'key_missing', '/no/such/key does not exist'],
        [dir, 'key_unreadable', 'it is not a file'],
        [rubbish, 'key_unreadable', 'it is not a private key'],
        [`${sshd.clientKeyPath}.pub`, 'key_unreadable', 'it holds a public key'],
      ] as const
      const before = sshd.log().length
      for (const [keyPath, failure, words] of cases) {
        const test = await runner.test(hostOf(sshd, { keyPath }), null)
        expect(test).toMatchObject({ ok: false, failure, presented: null })
        expect(test.sentence).toContain(words)
        const endpoint = { address: sshd.address, port: sshd.port, auth: 'key', keyPath } as const
        expect((await runScript(runner, sshd, 'true', { endpoint })).end).toMatchObject({
          kind: 'failed',
          code: failure,
        })
      }
      expect(sshd.log().slice(before)).toBe('')
      await runner.close()
    })

    it.skipIf(process.getuid?.() === 0)('unreadable for this user', async () => {
      const { runner } = await runnerFor(sshd)
      const keyPath = join(dir, 'not-mine')
      writeFileSync(keyPath, '', { mode: 0o000 })
      expect(await runner.test(hostOf(sshd, { keyPath }), null)).toMatchObject({ failure: 'key_unreadable' })
      await runner.close()
    })

    it('with a passphrase: needed, wrong, right, and remembered for runs', async () => {
      const { runner } = await runnerFor(sshd)
      const { path: keyPath, passphrase } = sshd.clientKeyWithPassphrase
      const host = hostOf(sshd, { keyPath })
      const endpoint = { address: sshd.address, port: sshd.port, auth: 'key', keyPath } as const
      expect(await runner.test(host, null)).toMatchObject({ ok: false, failure: 'key_passphrase_needed' })
      expect((await runScript(runner, sshd, 'true', { endpoint })).end).toMatchObject({
        kind: 'failed',
        code: 'key_passphrase_needed',
      })
      expect(await runner.test(host, 'wrong')).toMatchObject({ ok: false, failure: 'key_passphrase_wrong' })
      expect(await runner.test(host, null)).toMatchObject({ ok: false, failure: 'key_passphrase_needed' })
      const right = await runner.test(host, passphrase)
      expect(right).toMatchObject({ ok: true })
      expect(JSON.stringify(right)).not.toContain(passphrase)
      expect((await runScript(runner, sshd, 'echo in', { endpoint })).stdout).toBe('in\n')
      await runner.close()
    })

    it('opens ed25519, ECDSA and RSA, in the OpenSSH and the older PEM format', async () => {
      const authorized = join(sshd.dir, 'authorized_keys')
      const kinds = [
        ['ed25519', []],
        ['ecdsa', ['-b', '521']],
        ['rsa', ['-b', '3072']],
        ['rsa', ['-b', '2048', '-m', 'PEM']],
        ['ecdsa', ['-b', '256', '-m', 'PEM']],
      ] as const
      const { runner } = await runnerFor(sshd)
      for (const [type, more] of kinds) {
        for (const passphrase of ['', 'pass phrase']) {
          const keyPath = join(dir, `kind-${type}-${more.join('')}-${passphrase.length}`)
          execFileSync('ssh-keygen', ['-q', '-t', type, ...more, '-a', '4', '-N', passphrase, '-f', keyPath])
          await fs.appendFile(authorized, await fs.readFile(`${keyPath}.pub`))
          if (passphrase !== '') {
            expect(await runner.test(hostOf(sshd, { keyPath }), null)).toMatchObject({
              failure: 'key_passphrase_needed',
            })
            expect(await runner.test(hostOf(sshd, { keyPath }), 'other')).toMatchObject({
              failure: 'key_passphrase_wrong',
            })
          }
          expect(await runner.test(hostOf(sshd, { keyPath }), passphrase === '' ? null : passphrase)).toMatchObject({
            ok: true,
          })
        }
      }
      await runner.close()
    })
  })

  describe('the agent', () => {
    it('agent_missing: none set, none there, one that hangs', async () => {
      const host = hostOf(sshd, { auth: 'agent', keyPath: null })
      const unset = await runnerFor(sshd)
      expect((await unset.runner.test(host, null)).sentence).toContain('SSH_AUTH_SOCK was empty')
      const gone = await runnerFor(sshd, { agentSocket: join(dir, 'no-agent') })
      expect(await gone.runner.test(host, null)).toMatchObject({ ok: false, failure: 'agent_missing' })
      const socket = join(dir, 'hanging')
      const hanging = createServer(() => undefined)
      await new Promise<void>((resolve) => hanging.listen(socket, resolve))
      const stuck = await runnerFor(sshd, { agentSocket: socket, connectTimeoutMs: 300 })
      expect(await stuck.runner.test(host, null)).toMatchObject({ ok: false, failure: 'agent_missing' })
      hanging.close()
      for (const { runner } of [unset, gone, stuck]) await runner.close()
    })

    it('a real one: empty, with a stranger, with the right key among others', async () => {
      const socket = join(dir, 'agent')
      const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' })
      const add = (path: string): void => {
        execFileSync('ssh-add', ['-q', path], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' })
      }
      try {
        // The socket is there a moment before anybody listens. 1: it answers and holds no keys.
        const list = () => spawnSync('ssh-add', ['-l'], { env: { ...process.env, SSH_AUTH_SOCK: socket } }).status
        await expect.poll(list).toBe(1)
        const { runner } = await runnerFor(sshd, { agentSocket: socket })
        const host = hostOf(sshd, { auth: 'agent', keyPath: null })
        const endpoint = { address: sshd.address, port: sshd.port, auth: 'agent', keyPath: null } as const
        const empty = await runner.test(host, null)
        expect(empty).toMatchObject({ ok: false, failure: 'agent_missing' })
        expect(empty.sentence).toContain('holds no keys')
        add(strangerKey('ed25519'))
        expect(await runner.test(host, null)).toMatchObject({ ok: false, failure: 'auth_refused' })
        expect((await runScript(runner, sshd, 'true', { endpoint })).end).toMatchObject({
          kind: 'failed',
          code: 'auth_refused',
        })
        add(strangerKey('ecdsa'))
        add(sshd.clientKeyPath)
        expect(await runner.test(host, null)).toMatchObject({ ok: true })
        expect((await runScript(runner, sshd, 'echo by agent', { endpoint })).stdout).toBe('by agent\n')
        for (let i = 0; i < 6; i += 1) add(strangerKey('ed25519'))
        const many = await startSshd({ config: ['MaxAuthTries 3'] })
        const other = await runnerFor(many, { agentSocket: socket })
        const tooMany = await other.runner.test(hostOf(many, { auth: 'agent', keyPath: null }), null)
        expect(tooMany).toMatchObject({ ok: false, failure: 'auth_refused' })
        await other.runner.close()
        await many.stop()
        await runner.close()
      } finally {
        agent.kill()
      }
    })
  })

  it.skipIf(!canMakeAccounts())('protocol: an account that may log in and run nothing', async () => {
    const closed = await startSshd({ account: { shell: '/usr/sbin/nologin' } })
    const { runner } = await runnerFor(closed)
    const test = await runner.test(hostOf(closed), null)
    expect(test).toMatchObject({ ok: false, failure: 'protocol' })
    expect(test.detail).toContain('not available')
    const { end } = await runScript(runner, closed, 'true')
    expect(end).toMatchObject({ kind: 'failed', code: 'protocol' })
    expect(end.kind === 'failed' && end.detail).toContain('not available')
    await runner.close()
    await closed.stop()
  })
})
