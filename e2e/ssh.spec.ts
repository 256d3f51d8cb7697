import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright'
import { afterAll, afterEach, beforeEach, describe, it } from 'vitest'
import type { ExecutionView, HostInput, RouteOutput } from '../src-preload/contract'
import { cardOf, expect, expectState, forgetHomes, launch, type NomosApp, run, send } from './support/app'
import { startModelServer } from './support/model-server'
import { type Sshd, type SshdOptions, sshdPath, startSshd } from './support/sshd'

let nomosApp: NomosApp
let scratch: string
const cleanups: (() => unknown)[] = []

/** A home folder of its own, so that no known host, key or agent of whoever runs the tests has a say. */
const start = (options: { home?: string; agent?: string } = {}): Promise<NomosApp> =>
  launch({
    ...(options.home === undefined ? {} : { home: options.home }),
    env: { HOME: join(scratch, 'user'), SSH_AUTH_SOCK: options.agent ?? '' },
  })

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'nomos-ssh-'))
  mkdirSync(join(scratch, 'user', '.ssh'), { recursive: true, mode: 0o700 })
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  rmSync(scratch, { recursive: true, force: true })
})
afterAll(forgetHomes)

async function server(options: SshdOptions = {}): Promise<Sshd> {
  const made = await startSshd(options)
  cleanups.push(() => made.stop())
  return made
}

/** What `ssh` would have written after its question was answered with yes. */
function know(sshd: Sshd): void {
  appendFileSync(join(scratch, 'user', '.ssh', 'known_hosts'), `${sshd.knownHostsLine}\n`)
}

async function closedPort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done))
  const { port } = listener.address() as AddressInfo
  await new Promise((closed) => listener.close(closed))
  return port
}

const hostAt = (sshd: Sshd, more: Partial<HostInput> = {}): HostInput => ({
  slug: 'box',
  address: sshd.address,
  port: sshd.port,
  user: sshd.user,
  auth: 'key',
  keyPath: sshd.clientKeyPath,
  tags: [],
  ...more,
})

/** Saves a host as the form does, without going there. */
async function save(page: Page, host: HostInput): Promise<void> {
  const answer = await page.evaluate(
    (input) => window.nomos.request('hosts.save', { host: input, replaces: null }),
    host,
  )
  expect(answer).toMatchObject({ ok: true })
}

const viewOf = async (page: Page, card: Locator): Promise<ExecutionView> => {
  const id = ((await card.getAttribute('data-testid')) ?? '').replace('card-', '')
  const answer = await page.evaluate((one) => window.nomos.request('executions.get', { id: one }), id)
  if (!answer.ok) throw new Error(answer.error.message)
  return answer.value as RouteOutput<'executions.get'>
}

async function openForm(page: Page, host?: HostInput): Promise<void> {
  await page.getByTestId('room-fleet').click()
  await page.getByTestId('host-add').click()
  if (host === undefined) return
  await page.getByTestId('host-slug').fill(host.slug)
  await page.getByTestId('host-address').fill(host.address)
  await page.getByTestId('host-port').fill(String(host.port))
  await page.getByTestId('host-user').fill(host.user)
  await page.getByTestId(`host-auth-${host.auth}`).check()
  if (host.auth === 'key') await page.getByTestId('host-key').fill(host.keyPath ?? '')
}

/** What stands under a field that is marked as wrong. */
async function faultAt(page: Page, field: string): Promise<string> {
  const input = page.getByTestId(field)
  await expect(input).toHaveAttribute('aria-invalid', 'true')
  return (await page.locator(`[id="${await input.getAttribute('aria-describedby')}"]`).textContent()) ?? ''
}

const sessions = (sshd: Sshd): number => sshd.log().split('Starting session').length - 1
const processes = (pattern: string): string[] =>
  spawnSync('pgrep', ['-f', pattern], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '')

/** Shell text that waits for a file, but not beyond the end of the test. */
const until = (file: string): string => `until [ -e ${file} ] || [ ! -d ${scratch} ]; do sleep 0.1; done`

/** Every file below a folder that holds this text. */
function filesWith(folder: string, secret: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory()) return filesWith(path, secret)
    return stat?.isFile() && readFileSync(path).includes(secret) ? [path] : []
  })
}

/** Asks something of the main process. Now and then its debugger loses an answer to the garbage collector, so ask what may be repeated. */
async function inMain<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask()
    } catch (error) {
      if (attempt >= 5 || !String(error).includes('garbage collected')) throw error
    }
  }
}

/** Ends the app. With a command still running (the test has failed then) it would ask first, and nobody would answer. */
async function end(): Promise<void> {
  const running = await nomosApp.page.evaluate(() =>
    window.nomos.request('executions.list', { states: ['running'], before: null, limit: 1 }),
  )
  const none = running.ok && (running.value as RouteOutput<'executions.list'>).executions.length === 0
  await (none ? nomosApp.close() : nomosApp.kill())
}

describe.runIf(sshdPath() !== null)('on a host over SSH', () => {
  afterEach(end)

  it('the form adds a host: faults at their fields, the key compared and trusted, tested, saved, used', async () => {
    const sshd = await server()
    nomosApp = await start()
    const { page, home } = nomosApp
    const host = hostAt(sshd)
    await openForm(page, host)
    const again = async (field: string, wrong: string, right: string): Promise<string> => {
      await page.getByTestId(field).fill(wrong)
      await page.getByTestId('host-save').click()
      const fault = await faultAt(page, field)
      // Only there, and gone once something else is typed.
      await expect(page.getByTestId('host-error')).toHaveCount(0)
      await expect(page.locator('form [aria-invalid="true"]')).toHaveCount(1)
      await page.getByTestId(field).fill(right)
      await expect(page.locator('form [aria-invalid="true"]')).toHaveCount(0)
      return fault
    }
    expect(await again('host-slug', 'My Box', host.slug)).toBe(
      'Use lower-case letters, digits and dashes, beginning with a letter or digit.',
    )
    expect(await again('host-address', '', host.address)).toBe('The address is missing.')
    expect(await again('host-port', '70000', String(host.port))).toBe('Use a port between 1 and 65535.')
    expect(await again('host-port', 'ssh', String(host.port))).toBe('Use a port between 1 and 65535.')
    expect(await again('host-user', 'no body', host.user)).toBe('Use a login name.')
    expect(await again('host-key', '', host.keyPath ?? '')).toBe('Name the private key file.')

    await page.getByTestId('host-test').click()
    const result = page.getByTestId('host-test-result')
    await expect(result).toHaveAttribute('data-ok', 'false')
    await expect(result).toContainText('no known_hosts file holds')
    const [, fingerprint = 'none'] = execFileSync('ssh-keygen', ['-lf', `${sshd.hostKeyPath}.pub`], {
      encoding: 'utf8',
    }).split(' ')
    expect(fingerprint).toMatch(/^SHA256:/)
    await expect(result.getByText(fingerprint, { exact: true })).toBeVisible()
    expect(sessions(sshd)).toBe(0)
    expect(sshd.log()).not.toContain('Accepted')

    await expect(page.getByTestId('host-trust')).toBeDisabled()
    await page.getByTestId('host-compared').check()
    await page.getByTestId('host-trust').click()
    // It is tested again by itself.
    await expect(result).toHaveAttribute('data-ok', 'true')
    await expect(result).toContainText(`Connected to 127.0.0.1:${sshd.port} as ${sshd.user}: Linux`)
    expect(readFileSync(join(home, 'known_hosts'), 'utf8').trim()).toBe(sshd.knownHostsLine)
    await page.getByTestId('host-save').click()
    await expect(page.getByText('host:box is saved.')).toBeVisible()
    await expect(page.getByTestId('host-box')).toContainText(`${sshd.user}@127.0.0.1, port ${sshd.port}`)

    // The same name twice is refused at the name.
    await openForm(page, host)
    await page.getByTestId('host-save').click()
    expect(await faultAt(page, 'host-slug')).toContain('already')

    await page.getByTestId('room-chat').click()
    await page.getByTestId('composer').fill('/run ')
    await expect(page.getByTestId('completions')).toContainText('host:box')
    const card = await run(page, 'host:box', 'uname -a')
    await expectState(card, 'completed')
    await expect(card.getByTestId('output')).toContainText('Linux')
    await page.getByTestId('room-activity').click()
    const trusted = page.getByTestId('ledger-row').filter({ hasText: 'trusted a key of host:box' })
    await expect(trusted).toHaveCount(1)
    await trusted.getByRole('button').first().click()
    await expect(trusted).toContainText(fingerprint)
  })

  it('a read runs at once, a change after its approval, a denied one never, a removal after the phrase', async () => {
    const sshd = await server()
    know(sshd)
    nomosApp = await start()
    const { page } = nomosApp
    await save(page, hostAt(sshd))

    const read = await run(page, 'host:box', 'uname -a')
    await expectState(read, 'completed')
    await expect(read).toHaveAttribute('data-risk', 'read_only')
    await expect(read.getByTestId('output')).toContainText('Linux')
    await expect(read).toContainText('host:box')

    const folder = join(scratch, 'made there')
    const change = await run(page, 'host:box', `mkdir '${folder}'; printf '%s' "$SSH_CONNECTION"`)
    await expectState(change, 'pending_approval')
    expect(existsSync(folder)).toBe(false)
    await change.getByTestId('approve').click()
    await expectState(change, 'completed')
    expect(existsSync(folder)).toBe(true)
    // It came in through the server, not by a short way.
    await expect(change.getByTestId('output')).toContainText(` 127.0.0.1 ${sshd.port}`)

    const denied = await run(page, 'host:box', `touch ${scratch}/never`)
    // What stands there was looked at, since reads run there by themselves; what was asked for was not begun.
    await expect(denied.getByTestId('undo-offer')).toContainText('can be taken away again')
    const before = sessions(sshd)
    await denied.getByTestId('deny').click()
    await expectState(denied, 'denied')
    expect(sessions(sshd)).toBe(before)
    expect(existsSync(`${scratch}/never`)).toBe(false)

    const removal = await run(page, 'host:box', `rm -rf '${folder}'`)
    await expect(removal).toHaveAttribute('data-risk', 'destructive')
    await expect(removal.getByTestId('approve')).toHaveCount(0)
    await removal.getByTestId('phrase').fill('rm local')
    await removal.getByTestId('phrase-confirm').click()
    await expect(removal.getByTestId('card-problem')).toContainText('rm host:box')
    expect(existsSync(folder)).toBe(true)
    await removal.getByTestId('phrase').fill('rm host:box')
    await removal.getByTestId('phrase-confirm').click()
    await expectState(removal, 'completed')
    expect(existsSync(folder)).toBe(false)

    const failing = await run(page, 'host:box', `ls ${scratch}/nowhere`)
    await expectState(failing, 'failed')
    await expect(failing).toContainText('exit 2')
    await expect(failing.getByTestId('output')).toContainText('No such file')
    expect(existsSync(`${scratch}/never`)).toBe(false)
  })

  it('output is seen as it comes, and Stop ends the whole group over there', async () => {
    const sshd = await server()
    know(sshd)
    nomosApp = await start()
    const { page } = nomosApp
    await save(page, hostAt(sshd))
    const gate = join(scratch, 'gate')
    const wait = (number: number): string => `${until(`${gate}${number}`)}; echo part${number}`
    const slow = await run(page, 'host:box', `echo part0; ${[1, 2, 3].map(wait).join('; ')}`)
    await slow.getByTestId('approve').click()
    const output = slow.getByTestId('output')
    for (const number of [0, 1, 2]) {
      // Sooner than the card would read it again by itself.
      await expect(output).toContainText(`part${number}`, { timeout: 3000 })
      await expect(output).not.toContainText(`part${number + 1}`)
      await expectState(slow, 'running')
      writeFileSync(`${gate}${number + 1}`, '')
    }
    await expectState(slow, 'completed')
    await expect(output).toContainText('part3')

    const marker = `41${process.pid}`
    // A group that does not care for a polite request.
    const group = `(sleep ${marker}; :) & sleep ${marker} & sleep ${marker}; :`
    const card = await run(page, 'host:box', `trap '' TERM; echo begun; ${group}`)
    cleanups.push(() => {
      for (const pid of processes(`^sleep ${marker}`)) process.kill(Number(pid), 'SIGKILL')
    })
    await card.getByTestId('approve').click()
    await expect(card.getByTestId('output')).toContainText('begun')
    await expect.poll(() => processes(`^sleep ${marker}`).length).toBe(3)
    await card.getByTestId('stop').click()
    await expectState(card, 'cancelled')
    expect(processes(`sleep ${marker}`)).toEqual([])
    // The connection was not the price of it.
    await expectState(await run(page, 'host:box', 'uname -m'), 'completed')
  })

  it('logs in with a key of the SSH agent, and says what is wrong with an agent', async () => {
    const sshd = await server()
    know(sshd)
    const socket = join(scratch, 'agent.sock')
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' })
    const gone = new Promise((go) => agent.once('exit', go))
    cleanups.push(() => agent.kill())
    await expect.poll(() => existsSync(socket)).toBe(true)
    const add = (...args: string[]): void => {
      execFileSync('ssh-add', args, { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' })
    }
    nomosApp = await start({ agent: socket })
    const { page } = nomosApp
    const host = hostAt(sshd, { auth: 'agent', keyPath: null })
    await save(page, host)
    const empty = await run(page, 'host:box', 'uname -s')
    await expectState(empty, 'failed')
    await expect(empty.getByTestId('state-reason')).toContainText(/agent at .* holds no keys.*ssh-add/)
    expect(sessions(sshd)).toBe(0)

    add(sshd.clientKeyPath)
    const card = await run(page, 'host:box', 'uname -s')
    await expectState(card, 'completed')
    await expect(card.getByTestId('output')).toContainText('Linux')
    expect(sshd.log()).toMatch(/Accepted publickey/)

    agent.kill()
    await gone
    await openForm(page, { ...host, slug: 'other' })
    await page.getByTestId('host-test').click()
    await expect(page.getByTestId('host-test-result')).toContainText('does not answer')
    // Back in the chat for the end of the test: a window opens where it was left.
    await page.getByTestId('room-chat').click()
  })

  it('each fault has its own sentence, nothing is run, and the execution failed for that reason', async () => {
    const sshd = await server()
    know(sshd)
    const stranger = await server()
    const otherKey = join(scratch, 'other_key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', otherKey])
    const port = await closedPort()
    nomosApp = await start()
    const { page } = nomosApp
    const faults = [
      {
        host: hostAt(sshd, { slug: 'closed', port }),
        failure: 'unreachable',
        says: [`127.0.0.1:${port} cannot be reached`, 'nothing listens on that port', 'Check address and port'],
      },
      {
        host: hostAt(sshd, { slug: 'refused', keyPath: otherKey }),
        failure: 'auth_refused',
        says: [`refused the key ${otherKey}`, `for the user ${sshd.user}`, 'authorized_keys'],
      },
      {
        host: hostAt(sshd, { slug: 'nofile', keyPath: join(scratch, 'no_key') }),
        failure: 'key_missing',
        says: [`${join(scratch, 'no_key')} does not exist`, 'Correct its path'],
      },
      {
        host: hostAt(sshd, { slug: 'locked', keyPath: sshd.clientKeyWithPassphrase.path }),
        failure: 'key_passphrase_needed',
        says: ['protected by a passphrase', 'Test connection'],
      },
      {
        host: hostAt(sshd, { slug: 'public', keyPath: `${sshd.clientKeyPath}.pub` }),
        failure: 'key_unreadable',
        says: ['cannot be used', 'OpenSSH format'],
      },
      {
        host: hostAt(sshd, { slug: 'noagent', auth: 'agent', keyPath: null }),
        failure: 'agent_missing',
        says: ['No SSH agent is set', 'SSH_AUTH_SOCK'],
      },
      {
        host: hostAt(stranger, { slug: 'stranger' }),
        failure: 'host_key_unknown',
        says: [stranger.hostFingerprint, 'which no known_hosts file holds', 'trust it in the fleet room'],
      },
    ]
    const sentences = new Set<string>()
    for (const { host, failure, says } of faults) {
      await save(page, host)
      const card = await run(page, `host:${host.slug}`, 'uname -a')
      await expectState(card, 'failed')
      for (const said of says) await expect(card.getByTestId('state-reason')).toContainText(said)
      const view = await viewOf(page, card)
      expect(view).toMatchObject({ state: 'failed', failure, exitCode: null, output: '' })
      sentences.add(view.stateReason ?? '')
    }
    expect(sentences.size).toBe(faults.length)
    // Nobody is asked for a change on a host whose key is not known.
    const unknown = await run(page, 'host:closed', `touch ${scratch}/never`)
    await expectState(unknown, 'failed')
    await expect(unknown.getByTestId('state-reason')).toContainText('No key of host:closed is known')
    await expect(unknown.getByTestId('approve')).toHaveCount(0)
    // The same after an approval: what was agreed to is not run somewhere else or later.
    const change = await run(page, 'host:nofile', `touch ${scratch}/never`)
    await change.getByTestId('approve').click()
    await expectState(change, 'failed')
    await expect(change.getByTestId('state-reason')).toContainText('does not exist')
    expect(existsSync(`${scratch}/never`)).toBe(false)
    expect([sessions(sshd), sessions(stranger)]).toEqual([0, 0])
  })

  it('a changed host key stops everything, with the old and the new fingerprint', async () => {
    const sshd = await server()
    know(sshd)
    nomosApp = await start()
    const { page } = nomosApp
    const host = hostAt(sshd)
    await save(page, host)
    const agreed = await run(page, 'host:box', `touch ${scratch}/never`)
    await expectState(agreed, 'pending_approval')
    const old = sshd.hostFingerprint
    await sshd.rotateHostKey()
    // The connection over which its files were looked at is that of the old key.
    sshd.dropConnections()
    const looks = sessions(sshd)
    expect(sshd.hostFingerprint).not.toBe(old)

    await agreed.getByTestId('approve').click()
    // What was to be kept of it cannot be looked at there any more: it is refused before it is begun.
    await expectState(agreed, 'denied')
    const read = await run(page, 'host:box', 'uname -a')
    await expectState(read, 'failed')
    for (const card of [agreed, read]) {
      const reason = card.getByTestId('state-reason')
      await expect(reason).toContainText('is not the known one')
      await expect(reason).toContainText(old)
      await expect(reason).toContainText(sshd.hostFingerprint)
      expect((await viewOf(page, card)).failure).toBe(card === read ? 'host_key_changed' : 'drift')
    }
    await openForm(page, { ...host, slug: 'again' })
    await page.getByTestId('host-test').click()
    const result = page.getByTestId('host-test-result')
    await expect(result).toHaveAttribute('data-ok', 'false')
    await expect(result.locator('div').filter({ hasText: /^known until now/ })).toContainText(old)
    await expect(result.locator('div').filter({ hasText: /^shown now/ })).toContainText(sshd.hostFingerprint)
    // No button makes this go away.
    await expect(page.getByTestId('host-trust')).toHaveCount(0)
    await page.getByTestId('room-chat').click()
    expect(existsSync(`${scratch}/never`)).toBe(false)
    expect(sessions(sshd)).toBe(looks)
  })

  it('a key with a passphrase: asked for in the test, kept in memory, used by runs, gone after a restart', async () => {
    const sshd = await server()
    know(sshd)
    nomosApp = await start()
    const { page, home } = nomosApp
    const { path, passphrase } = sshd.clientKeyWithPassphrase
    await openForm(page, hostAt(sshd, { keyPath: path }))
    const result = page.getByTestId('host-test-result')
    await page.getByTestId('host-test').click()
    await expect(result).toContainText('protected by a passphrase')
    await page.getByTestId('host-passphrase').fill('not this one')
    await page.getByTestId('host-test').click()
    await expect(result).toContainText('The passphrase does not open the private key')
    expect(await faultAt(page, 'host-passphrase')).toContain('does not open the key')
    await page.getByTestId('host-passphrase').fill(passphrase)
    await page.getByTestId('host-test').click()
    await expect(result).toHaveAttribute('data-ok', 'true')
    await page.getByTestId('host-save').click()
    await expect(page.getByTestId('host-box')).toBeVisible()

    await page.getByTestId('room-chat').click()
    await expectState(await run(page, 'host:box', 'uname -a'), 'completed')
    await nomosApp.close()
    expect(filesWith(home, sshd.user)).not.toEqual([])
    expect(filesWith(home, passphrase)).toEqual([])

    nomosApp = await start({ home })
    const card = await run(nomosApp.page, 'host:box', 'uname -s')
    await expectState(card, 'failed')
    await expect(card.getByTestId('state-reason')).toContainText('kept in memory only')
  })

  it('a connection that is cut leaves unknown, in words of its own, and nothing runs a second time', async () => {
    const sshd = await server()
    know(sshd)
    nomosApp = await start()
    const { home } = nomosApp
    await save(nomosApp.page, hostAt(sshd))
    const marker = `51${process.pid}`
    const command = `echo x >> ${scratch}/ran; echo begun; sleep ${marker}`
    const card = await run(nomosApp.page, 'host:box', command)
    await card.getByTestId('approve').click()
    await expect(card.getByTestId('output')).toContainText('begun')
    cleanups.push(() => {
      for (const pid of processes(`^sleep ${marker}`)) process.kill(Number(pid), 'SIGKILL')
    })
    sshd.dropConnections()
    await expectState(card, 'unknown')
    const reason = card.getByTestId('state-reason')
    await expect(reason).toContainText(`The connection to 127.0.0.1:${sshd.port} ended while the command ran`)
    await expect(reason).toContainText('may still be running')
    // Said once.
    await expect(reason).not.toContainText(/still be running.*still be running/)
    await expect(card).toContainText('begun')
    // The host is there and takes the next command; this one is not touched by that.
    await expectState(await run(nomosApp.page, 'host:box', 'uname -m'), 'completed')
    await expectState(card, 'unknown')
    await nomosApp.close()

    nomosApp = await start({ home })
    await expectState(cardOf(nomosApp.page, `echo x >> ${scratch}/ran`), 'unknown')
    await expectState(await run(nomosApp.page, 'host:box', 'uname -p'), 'completed')
    expect(readFileSync(`${scratch}/ran`, 'utf8')).toBe('x\n')
    expect(sshd.log().split('Starting session: command').length - 1).toBe(sessions(sshd))
  })

  it('a host that was removed or edited after the request is not the one that was agreed to', async () => {
    const sshd = await server()
    know(sshd)
    nomosApp = await start()
    const { page } = nomosApp
    await save(page, hostAt(sshd))
    await save(page, hostAt(sshd, { slug: 'spare' }))
    const edited = await run(page, 'host:box', `touch ${scratch}/edited`)
    const removed = await run(page, 'host:spare', `touch ${scratch}/removed`)
    await expectState(edited, 'pending_approval')
    await expectState(removed, 'pending_approval')
    const looks = sessions(sshd)

    await page.getByTestId('room-fleet').click()
    await page.getByRole('button', { name: 'Edit host:box' }).click()
    await page.getByTestId('host-address').fill('localhost')
    await page.getByTestId('host-save').click()
    await expect(page.getByTestId('host-box')).toContainText('@localhost')
    await page.getByRole('button', { name: 'Remove host:spare' }).click()
    await page.getByRole('button', { name: 'Remove the host' }).click()
    await expect(page.getByTestId('host-spare')).toHaveCount(0)
    await page.getByTestId('room-chat').click()

    await edited.getByTestId('approve').click()
    await expectState(edited, 'denied')
    await expect(edited.getByTestId('state-reason')).toContainText("the host's address or login")
    await expect(edited.getByTestId('state-reason')).toContainText('Nothing ran')
    expect((await viewOf(page, edited)).failure).toBe('drift')
    await removed.getByTestId('approve').click()
    await expectState(removed, 'denied')
    await expect(removed.getByTestId('state-reason')).toContainText('There is no target "host:spare"')

    await send(page, '/run host:spare uname -a')
    await expect(page.getByTestId('composer-error')).toContainText('There is no target "host:spare"')
    await expect(page.getByTestId('composer-error')).toContainText('Known: local, host:box')
    expect([existsSync(`${scratch}/edited`), existsSync(`${scratch}/removed`)]).toEqual([false, false])
    expect(sessions(sshd)).toBe(looks)
  })

  it('the agent knows the hosts, runs there, and hears why it could not', async () => {
    const sshd = await server()
    know(sshd)
    const model = await startModelServer()
    cleanups.push(() => model.stop())
    const port = await closedPort()
    nomosApp = await start()
    const { page } = nomosApp
    await save(page, hostAt(sshd, { tags: ['media'] }))
    await save(page, hostAt(sshd, { slug: 'off', port }))
    const set = await page.evaluate(
      (baseUrl) => window.nomos.request('settings.saveModel', { baseUrl, model: 'scripted', apiKey: null }),
      model.url,
    )
    expect(set).toMatchObject({ ok: true })
    const on = (target: string, command: string) => ({ arguments: { target, command, purpose: 'to see' } })
    model.push(
      {
        kind: 'calls',
        calls: [
          on('host:box', `ls ${sshd.dir}`),
          on('host:off', 'uname -a'),
          on('host:gone', 'uname -a'),
          on('host:box', `touch ${scratch}/made`),
        ],
      },
      { kind: 'text', text: 'That is how it is.' },
    )
    await send(page, 'how are my hosts?')
    await expectState(cardOf(page, `ls ${sshd.dir}`), 'completed')
    await expectState(cardOf(page, 'uname -a'), 'failed')
    const change = cardOf(page, `touch ${scratch}/made`)
    await expectState(change, 'pending_approval')
    await expect(change).toContainText('host:box')
    expect(existsSync(`${scratch}/made`)).toBe(false)
    await change.getByTestId('approve').click()
    await expect(page.locator('main [data-role="assistant"]').last()).toContainText('That is how it is.')
    expect(existsSync(`${scratch}/made`)).toBe(true)
    const [system] = model.requests[0]?.body.messages ?? []
    expect(system?.content).toMatch(/- host:box \(media\)\n- host:off\n/)
    const results = model.requests[1]?.body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(results).toEqual([
      expect.stringMatching(/state: completed[\s\S]*sshd_config/),
      expect.stringMatching(/state: failed\n[\s\S]*cannot be reached/),
      expect.stringContaining('Known: local, host:box, host:off'),
      expect.stringContaining('state: completed'),
    ])
  })

  it('closing the last window while a command runs asks first, and holds nothing up meanwhile', async () => {
    const sshd = await server()
    know(sshd)
    nomosApp = await start()
    const { app, page, home } = nomosApp
    await save(page, hostAt(sshd))
    // The question is a window of the system; its buttons are pressed in its place.
    await inMain(() =>
      app.evaluate(({ dialog }) => {
        const state = { asked: [] as string[], answer: (_response: number): void => undefined }
        Object.assign(globalThis, { question: state })
        dialog.showMessageBox = (...args: unknown[]) => {
          state.asked.push((args.at(-1) as { message: string }).message)
          return new Promise((go) => {
            state.answer = (response) => go({ response, checkboxChecked: false })
          })
        }
      }),
    )
    type Question = { question: { asked: string[]; answer(response: number): void } }
    const asked = () => inMain(() => app.evaluate(() => (globalThis as unknown as Question).question.asked))
    const close = () => inMain(() => app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close()))

    const card = await run(page, 'host:box', `${until(`${scratch}/go`)}; echo went on`)
    await card.getByTestId('approve').click()
    await expectState(card, 'running')
    await close()
    await close()
    expect(await asked()).toEqual(['One command is running.'])
    writeFileSync(`${scratch}/go`, '')
    await expectState(card, 'completed')
    await expect(card.getByTestId('output')).toContainText('went on')
    await inMain(() => app.evaluate(() => (globalThis as unknown as Question).question.answer(0)))

    const marker = `61${process.pid}`
    const other = await run(page, 'host:box', `echo begun; sleep ${marker}`)
    await other.getByTestId('approve').click()
    await expect(other.getByTestId('output')).toContainText('begun')
    await close()
    await expect.poll(async () => (await asked()).length).toBe(2)
    const gone = new Promise((exited) => app.process().once('exit', exited))
    await inMain(() =>
      app.evaluate(() => {
        setTimeout(() => (globalThis as unknown as Question).question.answer(1), 200)
      }),
    )
    await gone
    expect(processes(`sleep ${marker}`)).toEqual([])
    nomosApp = await start({ home })
    await expectState(cardOf(nomosApp.page, `sleep ${marker}`), 'cancelled')
  })
})
