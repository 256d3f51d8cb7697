import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Plan } from '../../../src-preload/contract/model'
import { createLocalRunner } from '.'
import { inspectFiles } from './inspect'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'nomos-inspect-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const at = (name: string): string => join(dir, name)
const look = async (name: string, content = 100) => (await inspectFiles({ cwd: dir }, [{ path: name, content }]))[0]

describe('a look at a path', () => {
  it('tells state and content of a file', async () => {
    writeFileSync(at('f'), Buffer.from([0, 255, 10]))
    chmodSync(at('f'), 0o640)
    utimesSync(at('f'), 1_000_000_000.5, 1_000_000_000.5)
    expect(await look('./f')).toMatchObject({
      kind: 'file',
      at: at('f'),
      mode: 0o640,
      size: 3,
      mtime: '1000000000.500000000',
      content: Buffer.from([0, 255, 10]),
      without: null,
    })
    expect(await look('f', 0)).toMatchObject({ content: null, without: 'not-wanted' })
    expect(await look('f', 3)).toMatchObject({ without: null })
    expect(await look('f', 2)).toMatchObject({ content: null, without: 'too-large', size: 3 })
  })

  it('does not follow a link, and opens nothing that is no file', async () => {
    symlinkSync('/etc/passwd', at('link'))
    symlinkSync('.', at('to-folder'))
    symlinkSync('nowhere', at('dangling'))
    spawnSync('mkfifo', [at('fifo')])
    expect(await look('link')).toEqual({ kind: 'link', at: at('link'), target: '/etc/passwd', toFolder: false })
    expect(await look('to-folder')).toMatchObject({ target: '.', toFolder: true })
    expect(await look('dangling')).toMatchObject({ target: 'nowhere', toFolder: false })
    expect(await look('fifo')).toEqual({ kind: 'other', at: at('fifo') })
    expect((await look('/dev/zero'))?.kind).toBe('other')
    expect((await look('f/below'))?.kind).toBe('missing')
    expect((await look('none'))?.kind).toBe('missing')
  })

  it('holds a file that says nothing of its size to the limit', async () => {
    expect(await look('/proc/self/maps', 10)).toMatchObject({ kind: 'file', content: null, without: 'too-large' })
  })

  it('lets the system walk `..` behind a link', async () => {
    mkdirSync(at('a/b'), { recursive: true })
    writeFileSync(at('a/inside'), 'x')
    symlinkSync('a/b', at('short'))
    expect((await look('short/../inside'))?.kind).toBe('file')
    expect((await look('inside'))?.kind).toBe('missing')
  })

  it.runIf(process.getuid?.() === 0)('tells what another user may not read', () => {
    writeFileSync(at('shut'), 'x', { mode: 0o600 })
    mkdirSync(at('shut-folder'), { mode: 0o700 })
    writeFileSync(at('shut-folder/f'), 'x')
    chmodSync(dir, 0o755)
    chownSync(at('shut'), 0, 0)
    // Rights are of the process, so they are given up in another one.
    const script = `
      const { lstat, open } = require('node:fs/promises'); process.setgid(65534); process.setuid(65534)
      open(${JSON.stringify(at('shut'))}).catch((e) => lstat(${JSON.stringify(at('shut'))}).then((s) => console.log(e.code, s.isFile())))
        .then(() => lstat(${JSON.stringify(at('shut-folder/f'))})).catch((e) => console.log(e.code))`
    const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
    // What the look makes of these two codes: `denied`, with the state, and `hidden`.
    expect(stdout).toBe('EACCES true\nEACCES\n')
  })
})

describe('a run with an input', () => {
  const runner = createLocalRunner()
  const plan = (script: string): Plan => ({
    v: 1,
    agent: 'main',
    session: null,
    target: 'local',
    kind: 'local',
    user: null,
    cwd: dir,
    folder: null,
    argv: null,
    script,
    verify: null,
    env: {},
    executable: null,
    programs: [],
    boundFile: null,
    endpoint: null,
    hostKeys: null,
    sandbox: null,
    limits: { timeoutMs: 10_000, outputBytes: 1_000_000 },
    policyVersion: 'p',
    digest: 'd',
  })
  const run = async (script: string, input?: Uint8Array, env?: NodeJS.ProcessEnv) => {
    const own = env === undefined ? runner : createLocalRunner(env)
    const out: Buffer[] = []
    const sink = { started: () => {}, output: (_: unknown, bytes: Uint8Array) => void out.push(Buffer.from(bytes)) }
    const end = await own.start(plan(script), { automatic: false, input }, sink).end
    return { end, stdout: Buffer.concat(out) }
  }

  it('reads all of it and then its end', async () => {
    const input = Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, (_, i) => (i * 31 + (i >> 8)) & 255))
    expect((await run('cat', input)).stdout.equals(input)).toBe(true)
    const { stdout } = await run('head -c 5; echo; head -c 3; echo; cat | wc -c', input.subarray(0, 100))
    expect(stdout.subarray(10).toString()).toBe('92\n')
    expect((await run('cat; echo end')).stdout.toString()).toBe('end\n')
    expect((await run('wc -c', new Uint8Array())).stdout.toString().trim()).toBe('0')
  })

  it('does not make the shell read its login files, and what it does not read is nobody’s matter', async () => {
    writeFileSync(at('.bashrc'), 'echo from the rc file; cat() { echo replaced; }\n')
    const env = { ...process.env, HOME: dir, SHLVL: '' }
    expect((await run('cat', Buffer.from('x'), env)).stdout.toString()).toBe('x')
    expect((await run('true', Buffer.alloc(1024 * 1024))).end).toEqual({ kind: 'exited', exitCode: 0, signal: null })
  })

  it('leaves nothing of it behind', async () => {
    await run('cat > /dev/null', Buffer.from('x'))
    const left = ['/dev/shm', tmpdir()].flatMap((folder) =>
      readdirSync(folder).filter((name) => name.startsWith('nomos-input-')),
    )
    expect(left).toEqual([])
  })
})
