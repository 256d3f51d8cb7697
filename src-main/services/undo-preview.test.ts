import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canMakeAccounts, type Sshd, sshdPath, startSshd } from '../../e2e/support/sshd'
import { NomosError } from '../../src-preload/contract/errors'
import { type ExecutionView, PreviewView } from '../../src-preload/contract/model'
import { createLocalRunner } from '../adapters/local'
import { loadPreviews, loadRiskRules } from '../adapters/policy-files'
import { hostOf, runnerFor } from '../adapters/ssh/testbed'
import { resourcesFolder } from '../adapters/system'
import type { Inspector, Runner } from '../ports'
import { createPreview, PREVIEW_BYTES, PREVIEW_MS, type Preview } from './preview'
import { createTestbed, type Testbed } from './testbed'

const rules = loadPreviews(join(resourcesFolder(), 'policies'))
const risk = loadRiskRules(join(resourcesFolder(), 'policies', 'risk'))
const previewOf = (
  on: Testbed,
  clock: Testbed['clock'] | Pick<Testbed['clock'], 'now' | 'after'> = on.clock,
): Preview =>
  createPreview({ gate: on.gate, clock, undo: on.undo, rules: () => rules, risk: () => risk, homeFolder: homedir() })

let bed: Testbed
let preview: Preview
let folder: string

beforeEach(() => {
  bed = createTestbed({ undo: true })
  preview = previewOf(bed)
  folder = mkdtempSync(join(tmpdir(), 'nomos-undo-preview-'))
})
afterEach(async () => {
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string): string => join(folder, name)
function put(name: string, content: string | Uint8Array, mode = 0o644): string {
  writeFileSync(at(name), content)
  chmodSync(at(name), mode)
  return at(name)
}

async function done(asked: ExecutionView): Promise<ExecutionView> {
  if (asked.state === 'pending_approval') await bed.approve(asked, asked.approval?.phrase ?? null)
  const ended = await bed.until(asked.id, 'completed', 'failed', 'denied')
  const deadline = Date.now() + 15_000
  while (bed.store.undoKept(asked.id).some(({ after }) => after === null) && Date.now() < deadline)
    await new Promise((go) => setTimeout(go, 5))
  return ended
}

async function run(command: string): Promise<ExecutionView> {
  const ended = await done(await bed.ask(command, { cwd: folder }))
  expect([ended.state, ended.stateReason]).toEqual(['completed', null])
  return ended
}

async function askUndo(execution: ExecutionView): Promise<ExecutionView> {
  const { command, purpose, input } = await bed.undo.request(execution)
  const asked = await bed.ask(command, { purpose, input, undoOf: execution.id })
  expect(asked.state, command).toBe('pending_approval')
  return asked
}

/** Everything under the folder; a write that puts the times back still moves the change time. */
function seal(place = folder): string {
  const hash = createHash('sha256')
  const walk = (path: string): void => {
    const seen = lstatSync(path, { bigint: true })
    hash.update(`${path}\0${seen.mode} ${seen.uid} ${seen.gid} ${seen.mtimeNs} ${seen.ctimeNs} ${seen.ino}\0`)
    if (seen.isSymbolicLink()) hash.update(readlinkSync(path))
    else if (seen.isFile()) hash.update(readFileSync(path))
    else if (seen.isDirectory()) for (const name of readdirSync(path).sort()) walk(join(path, name))
  }
  walk(place)
  return hash.digest('hex')
}

/** The preview of a waiting undo. It changes nothing, asks nobody, and leaves the request as it was. */
async function shown(asked: ExecutionView): Promise<PreviewView> {
  expect(preview.labelOf(asked)).toBe('What it puts back')
  const [before, open] = [seal(), bed.store.openExecutions().map(({ id }) => id)]
  const view = await preview.show(asked)
  expect(PreviewView.parse(view)).toEqual(view)
  expect(seal()).toBe(before)
  expect(bed.store.openExecutions().map(({ id }) => id)).toEqual(open)
  expect(view.title).toBe('What it puts back')
  return view
}

const previewAfter = async (command: string): Promise<PreviewView> => shown(await askUndo(await run(command)))

async function refused(asked: ExecutionView, by = preview): Promise<NomosError> {
  const open = bed.store.openExecutions().length
  const error = await by.show(asked).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(NomosError)
  expect(bed.store.openExecutions()).toHaveLength(open)
  return error as NomosError
}

const LOOKED = 'Files were looked at directly, as Undo does before it runs.'

describe('files', () => {
  it('are shown as the difference that the undo then makes', async () => {
    const conf = put('conf.ini', 'port=80\nname=shop\n', 0o640)
    const asked = await askUndo(await run('sed -i s/80/8080/ conf.ini'))
    const view = await shown(asked)
    expect(view).toMatchObject({ kind: 'diff', commands: [], truncated: false, note: LOOKED })
    expect(view.text).toBe(`--- ${conf}\n+++ ${conf}\n@@ -1,2 +1,2 @@\n-port=8080\n+port=80\n name=shop\n`)
    expect((await done(asked)).state).toBe('completed')
    expect(readFileSync(conf, 'utf8')).toBe('port=80\nname=shop\n')
  })

  it('that are gone come back as a whole, with their rights', async () => {
    const f = put('f', 'one\ntwo', 0o600)
    const empty = put('empty', '')
    const view = await previewAfter('rm f empty')
    expect(view.text).toContain(`${f}: not there now, a file of 7 bytes with the rights 0600 after\n`)
    expect(view.text).toContain(`${empty}: not there now, a file of 0 bytes with the rights 0644 after\n`)
    expect(view.text).toContain(
      `\n\n--- /dev/null\n+++ ${f}\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n`,
    )
  })

  it('that were not there before are named, and folders and links', async () => {
    symlinkSync('old', at('link'))
    const made = await previewAfter('mkdir sub && echo some > new && ln -sfn other link')
    expect(made.kind).toBe('text')
    expect(made.text.split('\n')).toEqual([
      `${at('sub')}: was not there before, taken away again if it is empty (a folder now)`,
      `${at('new')}: was not there before, taken away again (5 bytes now)`,
      `${at('link')}: a link to other now, the link to old after`,
      '',
    ])
    expect(made.text).not.toContain('some')
  })

  it('that went elsewhere, and what they were put over', async () => {
    put('a', 'A\n')
    put('b', 'B\n')
    const view = await previewAfter('mv a b')
    expect(view.text).toBe(
      `${at('a')}: not there now, moved back from ${at('b')}\n\n--- ${at('b')}\n+++ ${at('b')}\n@@ -1 +1 @@\n-A\n+B\n`,
    )
  })

  it('whose rights, owner or time alone were changed are not opened', async () => {
    put('script', 'echo hi\n', 0o600)
    expect(await previewAfter('chmod 755 script')).toMatchObject({
      kind: 'text',
      text: `${at('script')}: rights 0755 now, 0600 after\n`,
    })
    expect((await previewAfter('touch -d @86400 script')).text).toMatch(
      /script: last changed at 1970-01-02T00:00:00.000Z now, 20\d\d-.*Z after\n$/,
    )
  })

  it('under a name with a line end stay on their line', async () => {
    put('x\n+ evil', 'a\n')
    const view = await previewAfter(`echo b > 'x\n+ evil'`)
    const name = JSON.stringify(at('x\n+ evil'))
    expect(view.text.split('\n')).toEqual([`--- ${name}`, `+++ ${name}`, '@@ -1 +1 @@', '-b', '+a', ''])
  })

  it('that are no text, or too large, are named with their sizes', async () => {
    put('bin', Buffer.from([97, 0, 98]))
    put('latin', Buffer.from('caf\xe9\n', 'latin1'))
    put('big', 'line\n'.repeat(60_000))
    const view = await previewAfter('echo x > bin; echo x > latin; echo x > big')
    expect(view.kind).toBe('text')
    expect(view.text.split('\n')).toEqual([
      `${at('bin')}: 2 bytes now, 3 bytes after (not text, not shown)`,
      `${at('latin')}: 2 bytes now, 5 bytes after (not text, not shown)`,
      `${at('big')}: 2 bytes now, 300,000 bytes after (too large to show)`,
      '',
    ])
  })

  it('are shown up to a bound, which is said', async () => {
    const names = Array.from({ length: 4 }, (_, index) => `f${index}`)
    for (const name of names) put(name, `${name}\n`.repeat(40_000))
    const view = await previewAfter(`rm ${names.join(' ')}`)
    expect(view.truncated).toBe(true)
    expect(Buffer.byteLength(view.text)).toBeLessThanOrEqual(PREVIEW_BYTES)
    expect(view.text).toContain(`${at('f3')}: not there now`)
  })
})

describe('secrets', () => {
  const KEY = 'AKIAIOSFODNN7EXAMPLE'
  const PASSWORD = 'password=hunter2hunter2'

  it('that were sealed are named with their sizes and not even opened', async () => {
    put('app.env', `${PASSWORD}\n`)
    put('plain', 'old\n')
    const asked = await askUndo(await run('echo none > app.env && echo new > plain'))
    expect(bed.store.undoKept(asked.undoOf ?? '').map(({ sealed }) => sealed)).toEqual([true, false])
    const view = await shown(asked)
    expect(view.text).toContain(`${at('app.env')}: 5 bytes now, 24 bytes after (kept encrypted, not shown)\n`)
    expect(view.text).toContain('-new\n+old\n')
    expect(view.note).toContain('What may hold a secret is not shown.')
    expect(JSON.stringify(view)).not.toContain('hunter2')
  })

  it('that stand there now are not shown either', async () => {
    put('f', 'old\n')
    const source = put('source', `${KEY}\n`)
    const view = await previewAfter(`cp ${source} f`)
    expect(view.text).toBe(`${at('f')}: 21 bytes now, 4 bytes after (taken for a secret, not shown)\n`)
    expect(JSON.stringify(view)).not.toContain(KEY)
  })

  it('are what lies in a place for them, whatever it holds', async () => {
    const place = mkdtempSync(join(homedir(), '.nomos-undo-preview-'))
    try {
      mkdirSync(join(place, '.ssh'))
      const file = join(place, '.ssh', 'id_ed25519')
      writeFileSync(file, 'nothing that looks like one\n')
      const view = await previewAfter(`echo other words > ${file}`)
      expect(view.text).toBe(`${file}: 12 bytes now, 28 bytes after (kept encrypted, not shown)\n`)
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  })

  it('are what came from a place for them, whatever it is called now', async () => {
    mkdirSync(at('.ssh'))
    put('.ssh/id_ed25519', 'nothing that anybody knows\n', 0o600)
    put('notes', 'old\n')
    const view = await previewAfter('mv .ssh/id_ed25519 notes')
    expect(view.text).toContain(`27 bytes now, 4 bytes after (taken for a secret, not shown)\n`)
    expect(view.note).toContain('What may hold a secret is not shown.')
    expect(JSON.stringify(view)).not.toContain('anybody')
  })

  it('in the request itself: there is no preview of it', async () => {
    put('f', 'old\n')
    const asked = await askUndo(await run('echo new > f'))
    const secret = { ...asked, redacted: true }
    expect(preview.labelOf(secret)).toBeNull()
    expect((await refused(secret)).message).toContain('holds a secret')
  })
})

describe('what was changed by others', () => {
  it('before the undo was asked for is said as the card says it', async () => {
    put('f', 'old\n')
    const ran = await run('echo new > f')
    put('f', 'theirs\n')
    const asked = await askUndo(ran)
    const view = await shown(asked)
    const sentence = `Changed again since then: ${at('f')}; putting it back would lose that.`
    expect(asked.purpose).toContain(sentence)
    expect(view.note).toBe(`${sentence} ${LOOKED}`)
    expect(view.text).toContain('-theirs\n+old\n')
  })

  it('after it: the preview says that it will not run, and it does not', async () => {
    put('f', 'old\n')
    const asked = await askUndo(await run('echo new > f'))
    expect((await shown(asked)).note).toBe(LOOKED)
    put('f', 'theirs\n')
    const view = await shown(asked)
    expect(view.note).toContain('has changed since this undo was asked for, so it will not run')
    expect(view.note).toContain('Changed again since then')
    expect(view.text).toContain('-theirs\n+old\n')
    const ended = await done(asked)
    expect(ended.state).not.toBe('completed')
    expect(readFileSync(at('f'), 'utf8')).toBe('theirs\n')
  })

  it('so that it is as before already, or nothing can be put back', async () => {
    put('f', 'old\n')
    const asked = await askUndo(await run('echo new > f'))
    writeFileSync(at('f'), 'old\n')
    expect(await refused(asked)).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('as it was before'),
    })
    rmSync(at('f'))
    mkdirSync(at('f'))
    expect((await refused(asked)).message).toContain('something else stands there now')
  })

  it('of several things, what stays is said', async () => {
    put('f', 'old\n')
    put('g', 'old\n')
    const ran = await run('rm f g')
    mkdirSync(at('g'))
    const view = await shown(await askUndo(ran))
    expect(view.text).toContain('+old\n')
    expect(view.note).toContain(`Left as it is: ${at('g')} cannot be put back`)
  })
})

describe('there is none', () => {
  it('once it is settled, started or ended', async () => {
    put('f', 'old\n')
    const asked = await askUndo(await run('echo new > f'))
    const denied = await askUndo(await run('echo newer > f'))
    await bed.deny(denied)
    const settled = await bed.until(denied.id, 'denied')
    expect(preview.labelOf(settled)).toBeNull()
    expect((await refused(settled)).message).toContain('It is denied')
    for (const state of ['running', 'approved', 'completed', 'expired'] as const) {
      expect(preview.labelOf({ ...asked, state })).toBeNull()
      expect(await refused({ ...asked, state })).toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(`It is ${state}`),
      })
    }
  })

  it('where reads would have to ask, with why', async () => {
    put('f', 'old\n')
    const asked = await askUndo(await run('echo new > f'))
    const before = bed.store.executions({ before: null, limit: 100 }).length
    bed.policy.switches = { askAboutEverything: true, pauseAutomatic: false }
    expect((await refused(asked)).message).toBe('A preview would itself have to ask: "Ask about everything" is on.')
    bed.policy.switches = { askAboutEverything: false, pauseAutomatic: true }
    expect((await refused(asked)).message).toContain('"Pause automatic runs" is on.')
    expect(bed.store.executions({ before: null, limit: 100 })).toHaveLength(before)
  })

  it('when what was kept is gone', async () => {
    put('f', 'old\n')
    const asked = await askUndo(await run('echo new > f'))
    expect((await refused({ ...asked, undoOf: 'exe_gone' })).message).toContain('not there any more')
  })

  it('where nothing is kept', async () => {
    put('f', 'old\n')
    const asked = await askUndo(await run('echo new > f'))
    const without = createPreview({
      gate: bed.gate,
      clock: bed.clock,
      rules: () => rules,
      risk: () => risk,
      homeFolder: homedir(),
    })
    expect(without.labelOf(asked)).toBeNull()
    expect((await refused(asked, without)).code).toBe('conflict')
  })

  it('when the place does not answer in time', async () => {
    let hang = false
    const local = createLocalRunner()
    const slow: Inspector = {
      kind: 'local',
      inspect: (...given) => (hang ? new Promise(() => {}) : local.inspect(...given)),
    }
    await bed.stop()
    bed = createTestbed({ undo: true, inspector: slow })
    put('f', 'old\n')
    const asked = await askUndo(await run('echo new > f'))
    hang = true
    const hurried = previewOf(bed, {
      now: () => bed.clock.now(),
      after: (ms, callback) => bed.clock.after(ms === PREVIEW_MS ? 300 : ms, callback),
    })
    expect(await refused(asked, hurried)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('longer than 30 seconds'),
    })
    hang = false
    expect((await hurried.show(asked)).text).toContain('+old')
  })
})

describe('units and containers', () => {
  /** Programs of the test that the runner takes for those of the system. */
  function withStandIns(bin: string): Runner {
    const local = createLocalRunner({ ...process.env, PATH: `${bin}:${process.env.PATH}` })
    return {
      kind: 'local',
      async prepare(draft) {
        const prepared = await local.prepare(draft)
        return { ...prepared, resolved: prepared.resolved.map((one) => ({ ...one, trusted: true })) }
      },
      start: (plan, mode, sink) => local.start(plan, { ...mode, automatic: false }, sink),
      close: () => local.close(),
    }
  }

  beforeEach(async () => {
    const programs = {
      systemctl: `v=$1; for n do :; done
case $v in
  show) echo LoadState=loaded; echo "ActiveState=$(cat "$d/$n.active")"; echo "UnitFileState=$(cat "$d/$n.file")" ;;
  start) echo active > "$d/$n.active" ;; stop) echo inactive > "$d/$n.active" ;;
  disable) echo disabled > "$d/$n.file"; case "$*" in *--now*) echo inactive > "$d/$n.active";; esac ;;
esac`,
      docker: `case $1 in
  container) [ -e "$d/c.$5" ] || exit 1; case $4 in *Id*) cat "$d/id.$5";; *) cat "$d/c.$5";; esac ;;
  stop) echo exited > "$d/c.$2" ;; rename) mv "$d/c.$2" "$d/c.$3"; mv "$d/id.$2" "$d/id.$3" ;;
esac`,
    }
    for (const [name, script] of Object.entries(programs)) put(name, `#!/bin/sh\nd=${folder}\n${script}\n`, 0o755)
    await bed.stop()
    bed = createTestbed({ undo: true, runner: withStandIns(folder) })
    preview = previewOf(bed)
  })

  it('are told as they are and as they will be, by reads through the gate', async () => {
    put('nginx.active', 'active\n')
    put('nginx.file', 'enabled\n')
    const view = await previewAfter('systemctl disable --now nginx')
    expect(view.kind).toBe('text')
    expect(view.text).toBe('nginx: disabled now, enabled after; inactive now, active after\n')
    expect(view.commands).toEqual(['systemctl show -p LoadState -p ActiveState -p UnitFileState -- nginx'])
    expect(view.note).toBeNull()
    const last = bed.store.executions({ before: null, limit: 1 })[0]
    expect([last?.command, last?.risk, last?.state]).toEqual([view.commands[0], 'read_only', 'completed'])
  })

  it('and files of the same run stand together', async () => {
    put('nginx.active', 'active\n')
    put('nginx.file', 'enabled\n')
    put('conf', 'a\n')
    const view = await previewAfter('echo b > conf && systemctl stop nginx')
    expect(view.kind).toBe('diff')
    expect(view.text).toBe(
      `nginx: inactive now, active after\n\n--- ${at('conf')}\n+++ ${at('conf')}\n@@ -1 +1 @@\n-b\n+a\n`,
    )
    expect(view.note).toBe(LOOKED)
  })

  it('get their name and state back', async () => {
    put('c.web', 'running\n')
    put('id.web', 'f00d\n')
    const view = await previewAfter('docker stop web && docker rename web old')
    expect(view.text.split('\n').sort()).toEqual([
      '',
      'web: named old now, web after',
      'web: stopped now, running after',
    ])
  })

  it('are not asked for where reads would have to ask', async () => {
    put('nginx.active', 'active\n')
    put('nginx.file', 'enabled\n')
    const asked = await askUndo(await run('systemctl stop nginx'))
    const before = bed.store.executions({ before: null, limit: 100 }).length
    bed.policy.switches = { askAboutEverything: true, pauseAutomatic: false }
    expect((await refused(asked)).message).toContain('would itself have to ask')
    expect(bed.store.executions({ before: null, limit: 100 })).toHaveLength(before)
  })
})

describe.skipIf(sshdPath() === null)('at a host', () => {
  let sshd: Sshd
  beforeAll(async () => {
    sshd = await startSshd(canMakeAccounts() ? { account: { shell: '/bin/bash' } } : {})
  })
  afterAll(() => sshd.stop())

  it('files are compared there, and nobody logs in where reads would have to ask', async () => {
    await bed.stop()
    const { runner } = await runnerFor(sshd)
    bed = createTestbed({ undo: true, runner, inspector: runner })
    preview = previewOf(bed)
    bed.store.saveHost(hostOf(sshd), null, 0)
    const file = join(sshd.home, 'f')
    writeFileSync(file, 'old\n')
    spawnSync('chown', [`${sshd.user}:`, file])
    const ran = await done(await bed.ask('echo new > f', { target: 'host:test' }))
    const { command, purpose, input } = await bed.undo.request(ran)
    const asked = await bed.ask(command, { target: 'host:test', purpose, input, undoOf: ran.id })
    const view = await shown(asked)
    expect(view).toMatchObject({ kind: 'diff', text: `--- ${file}\n+++ ${file}\n@@ -1 +1 @@\n-new\n+old\n` })
    bed.policy.switches = { askAboutEverything: true, pauseAutomatic: false }
    // The end of a session is written some time after it.
    const sessions = (): number => sshd.log().match(/Starting session|Accepted/g)?.length ?? 0
    const before = sessions()
    expect(before).toBeGreaterThan(0)
    expect((await refused(asked)).message).toContain('would itself have to ask')
    expect(sessions()).toBe(before)
    expect(readFileSync(file, 'utf8')).toBe('new\n')
    await runner.close()
  })
})

it('is there again after the next start of the core', async () => {
  put('f', 'old\n')
  const asked = await askUndo(await run('echo new > f'))
  bed = bed.restart()
  preview = previewOf(bed)
  const again = bed.store.execution(asked.id)
  if (again === null) throw new Error('the request is gone')
  expect(existsSync(at('f'))).toBe(true)
  expect((await shown(again)).text).toContain('-new\n+old\n')
})
