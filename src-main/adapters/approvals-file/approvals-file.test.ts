import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApprovalsFile, createConfigFile } from '.'
import { acquire, takeOver } from './file-lock'

let home: string
let bundle: string
beforeAll(async () => {
  bundle = mkdtempSync(join(tmpdir(), 'nomos-editor-'))
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: join(import.meta.dirname, 'editor.fixture.ts'),
      outDir: bundle,
      emptyOutDir: true,
      target: 'node20',
      rollupOptions: { output: { format: 'es', entryFileNames: 'editor.mjs' } },
    },
    ssr: { noExternal: true },
  })
})
afterAll(() => rmSync(bundle, { recursive: true, force: true }))
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'nomos-policy-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const place = (): string => join(home, 'exec-approvals.json')
const write = (text: string): void => writeFileSync(place(), text, { mode: 0o600 })
const problem = (): string => {
  const read = createApprovalsFile(home).read()
  return read.kind === 'broken' ? read.problem : read.kind
}
const editor = (name: string, count: number): ChildProcess =>
  spawn(process.execPath, [join(bundle, 'editor.mjs'), home, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((go) => child.once('exit', (code) => go(code)))
const saved = (child: ChildProcess, n: number): Promise<void> =>
  new Promise((go) => {
    let text = ''
    child.stdout?.on('data', (bytes: Buffer) => {
      text += bytes.toString()
      if (text.includes(`SAVED ${n}\n`)) go()
    })
  })
const ids = (): string[] => {
  const read = createApprovalsFile(home).read()
  if (read.kind !== 'file') throw new Error(read.kind === 'broken' ? read.problem : 'absent')
  return (read.file.agents?.main?.allowlist ?? []).map(({ id }) => id ?? '')
}

describe('reading', () => {
  it('takes JSON5, fills ids, moves the legacy agent and keeps what it does not know', () => {
    write(`{
      // written by hand
      version: 1, colour: 'blue',
      agents: { default: { ask: 'always', note: 'x', allowlist: [{ pattern: 'rg' }, { pattern: 'df', own: 1 }] } },
    }`)
    const read = createApprovalsFile(home).read()
    if (read.kind !== 'file') throw new Error(problem())
    expect(read.file.agents?.main?.ask).toBe('always')
    expect(read.file.agents?.default).toBeUndefined()
    expect(new Set(ids()).size).toBe(2)
    expect(ids()).toEqual(ids())
    expect(read.raw).toMatchObject({ colour: 'blue', agents: { main: { note: 'x', allowlist: [{}, { own: 1 }] } } })
  })

  it('counts an outside edit from the next look on, and no other version for comments or for traces of use', () => {
    const file = createApprovalsFile(home)
    write('{ version: 1, defaults: { ask: "always" } }')
    const first = file.read()
    write('{ "defaults": { "ask": "always" }, "version": 1 } // the same')
    expect(file.read().version).toBe(first.version)
    write('{ version: 1, defaults: { ask: "off" } }')
    const second = file.read()
    expect(second.version).not.toBe(first.version)
    expect(second.kind === 'file' && second.file.defaults?.ask).toBe('off')
    write('{ version: 1, agents: { main: { allowlist: [{ id: "a", pattern: "df" }] } } }')
    const unused = file.read().version
    write('{ version: 1, agents: { main: { allowlist: [{ id: "a", pattern: "df", lastUsedAt: 5 }] } } }')
    expect(file.read().version).toBe(unused)
    rmSync(place())
    expect(file.read().kind).toBe('absent')
  })

  it.each([
    ['{ "version": ', /invalid end of input/],
    ['[]', /holds no object/],
    ['{ version: 2 }', /"version" is 2; it may be 1/],
    [
      '{ version: 1, defaults: { security: "fulll" } }',
      /"defaults\.security" is "fulll"; it may be "deny", "allowlist", "full"/,
    ],
    [`{ version: 1, socket: { path: "/${'x'.repeat(120)}" } }`, /"socket\.path" has 121 bytes.*NOMOS_HOME/],
  ])('says what and where: %s', (text, words) => {
    write(text)
    expect(problem()).toMatch(words)
  })

  it('refuses a file that others can reach, and says the remedy', () => {
    write('{ version: 1, socket: { token: "geheim" } }')
    for (const [mode, words] of [
      [0o644, /others may read it; run "chmod 600"/],
      [0o620, /others may write it; run "chmod 600"/],
    ] as const) {
      chmodSync(place(), mode)
      expect(problem()).toMatch(words)
    }
    chmodSync(place(), 0o600)
    expect(problem()).toBe('file')
    const elsewhere = join(home, 'elsewhere.json')
    writeFileSync(elsewhere, '{ version: 1 }', { mode: 0o600 })
    rmSync(place())
    symlinkSync(elsewhere, place())
    expect(problem()).toMatch(/it is a link/)
  })

  it('keeps the last good copy beside it', () => {
    const file = createApprovalsFile(home)
    write('{ version: 1, defaults: { ask: "always" } }')
    file.read()
    write('{ version: ')
    expect(file.read().kind).toBe('broken')
    expect(file.kept()).toEqual({ version: 1, defaults: { ask: 'always' } })
    expect(statSync(`${place()}.last-good`).mode & 0o777).toBe(0o600)
  })
})

describe('writing', () => {
  it('is canonical, for the owner only, and nothing at all when a field is wrong', async () => {
    write('{ defaults: { ask: "always" }, version: 1, socket: { token: "geheim", path: "/run/x" } }')
    const file = createApprovalsFile(home)
    await file.edit((editing) => {
      const now = editing.read()
      if (now.kind !== 'file') throw new Error('not there')
      const { before, after } = editing.prepare({ ...now.raw, defaults: { ask: 'off' } })
      expect(before + after).not.toContain('geheim')
      const kept = editing.commit('stamp')
      expect(kept && readFileSync(kept, 'utf8')).toContain('ask: "always"')
      expect(kept && file.kept(kept)).toMatchObject({ defaults: { ask: 'always' } })
    })
    expect(readFileSync(place(), 'utf8')).toBe(
      `${JSON.stringify({ version: 1, socket: { path: '/run/x', token: 'geheim' }, defaults: { ask: 'off' } }, null, 2)}\n`,
    )
    expect(statSync(place()).mode & 0o777).toBe(0o600)
    const before = readFileSync(place(), 'utf8')
    await expect(
      file.edit((editing) => editing.prepare({ version: 1, defaults: { ask: 'sometimes' } })),
    ).rejects.toThrow(/"defaults\.ask" is "sometimes"; it may be "off", "on-miss", "always".*Nothing was saved/)
    expect(readFileSync(place(), 'utf8')).toBe(before)
    expect(existsSync(`${place()}.lock`)).toBe(false)
  })

  it('of two processes loses nothing', async () => {
    const editors = [editor('app', 100), editor('cli', 100)]
    expect(await Promise.all(editors.map(ended))).toEqual([0, 0])
    const found = ids()
    expect(found).toHaveLength(200)
    expect(new Set(found).size).toBe(200)
    expect(readdirSync(home).filter((name) => /\.(lock|draft|claim)|\.lock\./.test(name))).toEqual([])
  }, 60_000)

  it('that is killed leaves a whole file, and the next one goes on at once', async () => {
    let least = 0
    for (const at of [0, 3, 7, 12]) {
      const child = editor(`run${at}`, 10_000)
      await saved(child, at)
      child.kill('SIGKILL')
      await ended(child)
      const now = ids().length
      expect(now).toBeGreaterThan(least + at)
      least = now
      expect(await ended(editor(`after${at}`, 1))).toBe(0)
      expect(ids()).toContain(`after${at}-0`)
      least += 1
    }
    expect(readdirSync(home).filter((name) => /draft|claim|\.lock/.test(name))).toEqual([])
  }, 60_000)

  it('goes on without a loss while others are killed in the middle of it', async () => {
    const steady = ['a', 'b', 'c'].map((name) => editor(name, 40))
    const all = Promise.all(steady.map(ended))
    for (let n = 0; n < 12; n++) {
      const victim = editor(`victim${n}`, 10_000)
      await saved(victim, 1)
      victim.kill('SIGKILL')
      await ended(victim)
    }
    expect(await all).toEqual([0, 0, 0])
    expect(ids().filter((id) => /^[abc]-/.test(id))).toHaveLength(120)
    expect(new Set(ids()).size).toBe(ids().length)
    expect(await ended(editor('last', 1))).toBe(0)
    expect(readdirSync(home).filter((name) => /draft|claim|lock/.test(name))).toEqual([])
  }, 60_000)
})

describe('the lock', () => {
  const lock = (): string => join(home, 'x.lock')
  const holder = (more: object): string =>
    JSON.stringify({ pid: process.pid, started: null, host: 'elsewhere', nonce: 'dead', ...more })

  it('of a process that is gone is taken over by one of many, never by two', async () => {
    const gone = spawn(process.execPath, ['-e', ''])
    await ended(gone)
    for (let round = 0; round < 10; round++) {
      writeFileSync(lock(), holder({ pid: gone.pid, host: (await import('node:os')).hostname() }))
      let inside = 0
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          const release = await acquire(lock())
          inside += 1
          expect(inside).toBe(1)
          await new Promise((go) => setTimeout(go, 1))
          inside -= 1
          release()
        }),
      )
    }
    expect(readdirSync(home)).toEqual([])
  })

  it('is left to whoever was quicker, when two have seen the same dead holder', () => {
    const dead = { pid: 1, started: null, host: 'here', nonce: 'dead' }
    const [quick, slow] = ['quick', 'slow'].map((nonce) => {
      writeFileSync(join(home, nonce), holder({ nonce }))
      return join(home, nonce)
    })
    writeFileSync(lock(), holder({ nonce: 'dead' }))
    expect(takeOver(lock(), dead, quick ?? '')).toBe(true)
    expect(takeOver(lock(), dead, slow ?? '')).toBe(false)
    expect(readFileSync(lock(), 'utf8')).toContain('"nonce":"quick"')
    expect(readdirSync(home).sort()).toEqual(['quick', 'slow', 'x.lock'])
  })

  it('of a number that another process has got since does not count', async () => {
    writeFileSync(lock(), holder({ started: '1', host: (await import('node:os')).hostname() }))
    ;(await acquire(lock()))()
    expect(readdirSync(home)).toEqual([])
  })
})

describe('config.json', () => {
  it('may be read by others, but not written', () => {
    const config = join(home, 'config.json')
    writeFileSync(config, "{ tools: { exec: { ask: 'always', custom: 1 }, deny: ['run'] }, theme: 'x' }", {
      mode: 0o644,
    })
    expect(createConfigFile(home).read()).toMatchObject({ kind: 'file', raw: { theme: 'x' } })
    chmodSync(config, 0o666)
    expect(createConfigFile(home).read()).toMatchObject({ kind: 'broken' })
  })
})
