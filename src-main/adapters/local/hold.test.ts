import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Plan } from '../../../src-preload/contract/model'
import { hold } from './hold'
import { fileIdentity } from './identity'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'nomos-hold-')))
  mkdirSync(join(root, 'work'))
  writeFileSync(join(root, 'work', 'x.sh'), 'echo one\n')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

async function planOf(found: string): Promise<Plan> {
  const cwd = join(root, 'work')
  const { dev, ino } = statSync(cwd, { bigint: true })
  return {
    v: 1,
    agent: 'main',
    session: null,
    target: 'local',
    kind: 'local',
    user: 'me',
    cwd,
    folder: { dev: String(dev), ino: String(ino) },
    argv: null,
    script: 'bash x.sh',
    verify: null,
    env: {},
    executable: null,
    programs: [],
    boundFile: await fileIdentity('x.sh', found, true),
    endpoint: null,
    hostKeys: null,
    sandbox: null,
    limits: { timeoutMs: 1000, outputBytes: 1000 },
    policyVersion: 'test',
    digest: 'test',
  }
}

describe('what is held', () => {
  it('is the folder itself: a run starts in it, wherever it has gone and whatever took its place', async () => {
    const held = hold(await planOf(join(root, 'work', 'x.sh')))
    expect(held.changed()).toBeNull()
    renameSync(join(root, 'work'), join(root, 'moved'))
    mkdirSync(join(root, 'work'))
    writeFileSync(join(root, 'work', 'evil'), '')
    const { stdout } = spawnSync('ls', { cwd: held.cwd, encoding: 'utf8' })
    held.release()
    if (process.platform === 'linux') expect(stdout).toBe('x.sh\n')
  })

  it('is the file: any other under its name, or another content, is told', async () => {
    const path = join(root, 'work', 'x.sh')
    const link = join(root, 'link.sh')
    symlinkSync(path, link)
    for (const change of [
      () => writeFileSync(path, 'echo two\n'),
      () => rmSync(path),
      () => {
        rmSync(path)
        writeFileSync(path, 'echo one\n')
      },
      () => {
        writeFileSync(join(root, 'other.sh'), 'echo one\n')
        rmSync(link)
        symlinkSync(join(root, 'other.sh'), link)
      },
    ]) {
      writeFileSync(path, 'echo one\n')
      rmSync(link, { force: true })
      symlinkSync(path, link)
      const held = hold(await planOf(link))
      expect(held.changed()).toBeNull()
      change()
      expect(held.changed()).toBe('the script file')
      held.release()
    }
  })

  it('gives its descriptors back', async () => {
    const open = () => spawnSync('ls', [`/proc/${process.pid}/fd`], { encoding: 'utf8' }).stdout.split('\n').length
    const plan = await planOf(join(root, 'work', 'x.sh'))
    const before = open()
    for (let i = 0; i < 50; i++) hold(plan).release()
    if (process.platform === 'linux') expect(open()).toBeLessThan(before + 10)
  })
})
