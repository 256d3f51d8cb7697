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
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NomosError } from '../../src-preload/contract/errors'
import type { ExecutionView, PreviewView } from '../../src-preload/contract/model'
import { createLocalRunner } from '../adapters/local'
import { loadPreviews, loadRiskRules } from '../adapters/policy-files'
import { resourcesFolder } from '../adapters/system'
import { CAUTIOUS } from '../domain/policy'
import { unifiedDifference } from '../domain/preview'
import type { Runner } from '../ports'
import { createPreview, PREVIEW_BYTES, PREVIEW_MS, type Preview } from './preview'
import { createTestbed, type Testbed } from './testbed'

const rules = loadPreviews(join(resourcesFolder(), 'policies'))
const risk = loadRiskRules(join(resourcesFolder(), 'policies', 'risk'))
const previews = { rules: () => rules, risk: () => risk, homeFolder: homedir() }
const on = (program: string): boolean => ['/usr/bin', '/bin'].some((folder) => existsSync(join(folder, program)))

let bed: Testbed
let preview: Preview
let folder: string

beforeEach(() => {
  bed = createTestbed()
  preview = createPreview({ gate: bed.gate, clock: bed.clock, ...previews })
  folder = mkdtempSync(join(tmpdir(), 'nomos-preview-'))
})
afterEach(async () => {
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Everything under a folder: names, rights, times, contents. A write that puts the times back still moves the change time. */
function seal(place: string): string {
  const hash = createHash('sha256')
  const walk = (path: string): void => {
    const at = lstatSync(path, { bigint: true })
    hash.update(`${path}\0${at.mode} ${at.uid} ${at.gid} ${at.size} ${at.mtimeNs} ${at.ctimeNs} ${at.ino}\0`)
    if (at.isSymbolicLink()) hash.update(readlinkSync(path))
    else if (at.isFile()) hash.update(readFileSync(path))
    else if (at.isDirectory()) for (const name of readdirSync(path).sort()) walk(join(path, name))
  }
  walk(place)
  return hash.digest('hex')
}

const recorded = (): readonly ExecutionView[] => bed.store.executions({ before: null, limit: 1000 })

async function ask(command: string, more: Parameters<Testbed['ask']>[1] = {}): Promise<ExecutionView> {
  const execution = await bed.ask(command, { cwd: folder, ...more })
  expect(execution.state, command).toBe('pending_approval')
  return execution
}

/** The preview of a command; the folder must be the same before and after, nobody may have been asked, and every read be a read. */
async function shown(command: string, place = folder): Promise<PreviewView> {
  const execution = await ask(command, { cwd: place })
  expect(preview.labelOf(execution)).not.toBeNull()
  const before = seal(place)
  const waiting = bed.store.openExecutions().length
  const view = await preview.show(execution)
  expect(seal(place)).toBe(before)
  expect(bed.store.openExecutions()).toHaveLength(waiting)
  expect(view.title).toBe(preview.labelOf(execution))
  expect(view.commands.length).toBeGreaterThan(0)
  for (const read of view.commands) {
    const { classification } = await bed.gate.weigh(
      { agent: 'operator', session: null, runbook: null },
      { target: 'local', command: read, cwd: place },
    )
    expect(classification.risk, read).toBe('read_only')
  }
  return view
}

async function refused(execution: ExecutionView): Promise<NomosError> {
  const before = bed.store.openExecutions().length
  const error = await preview.show(execution).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(NomosError)
  expect(bed.store.openExecutions()).toHaveLength(before)
  return error as NomosError
}

/** Runs the command for real and says what it made of a file, as a difference like the preview's. */
async function really(command: string, path: string, place = folder): Promise<string> {
  const file = join(place, path)
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null
  const execution = await ask(command, { cwd: place })
  bed.approve(execution, execution.approval?.phrase ?? null)
  await bed.until(execution.id, 'completed')
  return unifiedDifference(before ?? '', readFileSync(file, 'utf8'), before === null ? '/dev/null' : path, path)
}

describe('edits of a file', () => {
  it('sed -i shows the difference that it then makes', async () => {
    writeFileSync(join(folder, 'a.conf'), 'port 80\nhost x\n# end')
    const command = "sed -i.old -E 's/port ([0-9]+)/port \\18/' a.conf"
    const view = await shown(command)
    expect(view).toMatchObject({ kind: 'diff', title: 'What sed would change', truncated: false })
    expect(view.text).toBe(
      '--- a.conf\n+++ a.conf\n@@ -1,3 +1,3 @@\n-port 80\n+port 808\n host x\n # end\n\\ No newline at end of file\n',
    )
    expect(view.note).toContain('.old')
    expect(view.text).toBe(await really(command, 'a.conf'))
  })
  it('every script that is shown makes what was shown', async () => {
    for (const script of ['2q', '$d', 's/a/b/g;p', '/c/,$d', 'N;P;D', '$!N;s/\\n/-/', '1!G;h;$!d', '=', 'y/abc/xyz/']) {
      writeFileSync(join(folder, 'f'), 'a\nb a\nc\nd')
      const command = `sed -i '${script}' f`
      expect((await shown(command)).text, script).toBe(await really(command, 'f'))
    }
  })
  it('is the same where reads run in a sandbox', async () => {
    const home = mkdtempSync(join(homedir(), 'nomos-preview-'))
    try {
      writeFileSync(join(home, 'f'), 'one\ntwo\n')
      expect((await shown('sed -i s/one/1/ f', home)).text).toBe(await really('sed -i s/one/1/ f', 'f', home))
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
  it('several files, a link, and nothing to change', async () => {
    for (const name of ['a', 'b']) writeFileSync(join(folder, name), `${name} x\n`)
    symlinkSync('b', join(folder, 'link'))
    const view = await shown('sed -i s/a/z/ a link')
    expect(view.text).toBe('--- a\n+++ a\n@@ -1 +1 @@\n-a x\n+z x\n')
    expect(view.note).toContain('link would stay as it is.')
    expect(view.note).toContain('link is a link; a file of its own would take its place.')
  })
  it('a script that writes or starts something is not run', async () => {
    writeFileSync(join(folder, 'f'), 'a\n')
    const before = seal(folder)
    for (const script of ['w out', 's/a/touch x/e', '1e touch x']) {
      const execution = await ask(`sed -i '${script}' f`)
      expect(preview.labelOf(execution)).toBeNull()
      expect((await refused(execution)).code).toBe('conflict')
    }
    expect(seal(folder)).toBe(before)
  })
  it('what is missing, no file, no text or too large is said', async () => {
    mkdirSync(join(folder, 'd'))
    writeFileSync(join(folder, 'binary'), Buffer.from([0, 255, 10]))
    writeFileSync(join(folder, 'large'), 'a\n'.repeat(200_000))
    const why = async (command: string): Promise<string> => (await refused(await ask(command))).message
    expect(await why('sed -i s/a/b/ none')).toContain('none does not exist')
    expect(await why('sed -i s/a/b/ d')).toContain('not a plain file')
    expect(await why('sed -i s/a/b/ binary')).toContain('not text')
    expect(await why('sed -i s/a/b/ large')).toContain('larger than 256 KB')
    expect(await why('cp none large')).toContain('none does not exist')
  })
  it('secrets stay out of it, and that is said', async () => {
    const key = 'AKIAIOSFODNN7EXAMPLE'
    writeFileSync(join(folder, 'f'), `password=hunter2hunter2\naws ${key}\nport 1\n`)
    const view = await shown('sed -i s/1/2/ f')
    expect(view.text).toContain('+port 2')
    expect(JSON.stringify(view)).not.toMatch(/hunter2|AKIAIOSFODNN7EXAMPLE/)
    expect(view.note).toContain('Secrets are taken out of both sides')
  })
  it('a file of secrets is not read for a preview', async () => {
    const execution = await ask('sed -i s/a/b/ /etc/shadow')
    expect(preview.labelOf(execution)).toBeNull()
    const error = await refused(execution)
    expect(error.code).toBe('conflict')
    expect(error.message).toContain('does not only read')
  })
})

describe('files that are put in the place of others', () => {
  it('cp of one file: onto a file, into a folder, onto nothing', async () => {
    writeFileSync(join(folder, 'new'), 'a\nc\n')
    writeFileSync(join(folder, 'old'), 'a\nb\n')
    mkdirSync(join(folder, 'd'))
    expect((await shown('cp new old')).text).toBe(await really('cp new old', 'old'))
    const made = await shown('cp new d')
    expect(made.note).toContain('d/new would be made.')
    expect(made.text).toBe(await really('cp new d', 'd/new'))
    expect((await shown('cp new d/')).note).toContain('d/new would stay as it is.')
    expect((await refused(await ask('cp new nowhere/'))).message).toContain('does not exist')
  })
  it('redirections: written over, appended, made', async () => {
    writeFileSync(join(folder, 'in'), 'b\na\n')
    writeFileSync(join(folder, 'out'), 'old\n')
    for (const command of [
      'sort in > out',
      'wc -l in >> out',
      'echo "x  y" > out',
      'grep nothing in > out',
      'cat in 2>/dev/null >| out',
    ]) {
      const view = await shown(command)
      if (command.startsWith('grep')) continue
      expect(view.text, command).toBe(await really(command, 'out'))
    }
    expect((await shown('sort in > made')).note).toContain('made would be made.')
    expect(existsSync(join(folder, 'made'))).toBe(false)
  })
  it('a command that reads the file it empties has none, nor one that does more than read', async () => {
    writeFileSync(join(folder, 'f'), 'b\na\n')
    for (const command of ['sort f > f', 'sort ./f > f', 'sort f > .//f', 'cat < f > f']) {
      const execution = await ask(command)
      expect(preview.labelOf(execution), command).toBeNull()
      expect((await refused(execution)).code).toBe('conflict')
    }
    const before = seal(folder)
    expect((await refused(await ask('touch made > out'))).message).toContain('does not only read')
    expect(seal(folder)).toBe(before)
  })
  it('here-documents', async () => {
    writeFileSync(join(folder, 'f'), 'one\n')
    for (const command of [
      "cat > f <<'E'\none\n$two\nE",
      'cat <<E >> f\nthree\nE\n',
      "tee f <<'E'\nfour\nE",
      "tee -a 'f' <<E\nfive\nE",
      'cat > f <<E\nE',
    ])
      expect((await shown(command)).text, command).toBe(await really(command, 'f'))
  })
})

describe('counted files', () => {
  const odd = ["a'b", 'a b', '-rf', '*', 'x\ny', '0 f 99\n', '$(touch made)', 'ü', '‮x', '`id`', "$'x'", '#', '!', '(']
  it('rm counts each path, whatever the files are called', async () => {
    mkdirSync(join(folder, 'd/e'), { recursive: true })
    for (const name of odd) writeFileSync(join(folder, 'd', name), '12345')
    symlinkSync('/etc', join(folder, 'd/etc'))
    writeFileSync(join(folder, 'one'), 'x'.repeat(1536))
    const view = await shown('rm -rf d one')
    expect(view.kind).toBe('count')
    expect(view.text).toBe(
      `d: 2 folders, ${odd.length} files, 1 link; ${odd.length * 5} bytes\none: 1 file; 1.5 KB\nIn all: 2 folders, ${odd.length + 1} files, 1 link; 1.6 KB\n`,
    )
    expect((await shown('rm one')).text).toBe('In all: 1 file; 1.5 KB\n')
  })
  it('odd names as operands: counted, or refused by the gate, and never run', async () => {
    const word = (name: string): string => `'${name.replaceAll("'", "'\\''")}'`
    for (const name of odd) {
      writeFileSync(join(folder, name), '1234')
      const execution = await ask(`rm -- ${word(name)}`)
      const before = seal(folder)
      const result = await preview.show(execution).then(
        ({ text }) => text,
        (error: NomosError) => error.code,
      )
      expect(['In all: 1 file; 4 bytes\n', 'conflict'], name).toContain(result)
      if (/^[a-z' *ü!#(-]+$/.test(name)) expect(result, name).not.toBe('conflict')
      expect(seal(folder)).toBe(before)
      rmSync(join(folder, name))
    }
    expect(readdirSync(folder)).toEqual([])
  })
  it('what is missing is said beside what is there', async () => {
    writeFileSync(join(folder, 'a'), '1')
    const view = await shown('rm -f a none')
    expect(view.text).toBe('In all: 1 file; 1 byte\n')
    expect(view.note).toContain('Not all of it could be looked at')
    expect(view.note).toContain('none')
  })
  it('mv and cp -r say what stands in the way', async () => {
    mkdirSync(join(folder, 'src'))
    mkdirSync(join(folder, 'to/src'), { recursive: true })
    writeFileSync(join(folder, 'src/f'), '12')
    writeFileSync(join(folder, 'f'), '1')
    expect((await shown('mv f g')).note).toBe('g does not exist and would be made.')
    expect((await shown('mv src f to')).note).toBe('They go into to. Already there, and written over or merged: src.')
    expect((await shown('cp -r src new')).text).toBe('In all: 1 folder, 1 file; 2 bytes\n')
    writeFileSync(join(folder, 'g'), '123')
    expect((await shown('mv f g')).note).toBe('g exists (3 bytes) and would be written over.')
  })
  it('chmod -R and chown -R', async () => {
    mkdirSync(join(folder, 'd'))
    writeFileSync(join(folder, 'd/f'), '12')
    const view = await shown('chmod -R 700 d')
    expect(view.text).toBe('In all: 1 folder, 1 file; 2 bytes\n')
    expect(view.title).toBe('What chmod would reach')
    expect((await shown('chown -R 0:0 d')).text).toBe(view.text)
  })
  it('a great many files are summed up', async () => {
    const many = mkdtempSync(join(folder, 'many-'))
    // Long sizes fill the answer with fewer files; nothing is written for them.
    for (let i = 0; i < 32_000; i++) {
      writeFileSync(join(many, `${i}`), '')
      truncateSync(join(many, `${i}`), 100_000_000_000)
    }
    const view = await preview.show(await ask(`rm -rf ${many}`))
    expect(view.note).toContain('Too many to list')
    expect(view.text).toMatch(/^32001\ttotal$/m)
    expect(readdirSync(many)).toHaveLength(32_000)
  })
})

describe('programs that simulate', () => {
  it.runIf(on('apt-get'))('apt-get tells what it would do and does nothing', async () => {
    const before = readFileSync('/var/lib/dpkg/status')
    const view = await shown('apt-get install -y hello')
    expect(view.kind).toBe('text')
    expect(view.commands).toEqual(['apt-get --simulate install hello'])
    expect(view.text).toMatch(/Inst hello|hello is already the newest|Unable to locate package/)
    expect((await shown('sudo apt-get purge dpkg-dev')).commands).toEqual(['apt-get --simulate purge dpkg-dev'])
    expect(readFileSync('/var/lib/dpkg/status').equals(before)).toBe(true)
  })
  it.runIf(on('apt-get'))('a read that fails is told with the end of what it wrote', async () => {
    const error = await refused(await ask('apt-get install no-such-package-anywhere'))
    expect(error.code).toBe('unavailable')
    expect(error.message).toContain('is failed')
    expect(error.message).toContain('Unable to locate package no-such-package-anywhere')
  })
  it.skipIf(on('rsync'))('a program that is not there is a reason in words', async () => {
    expect((await refused(await ask('rsync -a a/ b/'))).message).toContain('rsync')
  })
  it.runIf(on('rsync'))('rsync', async () => {
    mkdirSync(join(folder, 'a'))
    writeFileSync(join(folder, 'a/f'), '1')
    expect((await shown('rsync -a a/ b/')).text).toContain('f\n')
  })
})

describe('units and containers', () => {
  /** The real runner, but for two programs that need a machine of their own: their answers are given here. */
  function answering(answers: Record<string, string>): Runner {
    const local = createLocalRunner()
    return {
      ...local,
      kind: 'local',
      start(plan, mode, events) {
        const text = answers[plan.argv?.join(' ') ?? '']
        if (text === undefined) return local.start(plan, mode, events)
        events.started({ pid: null })
        events.output('stdout', Buffer.from(text))
        const end = Promise.resolve({ kind: 'exited' as const, exitCode: 0, signal: null })
        return { end, stop: () => {} }
      },
    }
  }
  it.runIf(on('systemctl'))('show what depends on a unit, and the containers of a project', async () => {
    await bed.stop()
    bed = createTestbed({
      runner: answering({
        'systemctl list-dependencies --reverse --plain --no-pager nginx': 'nginx.service\n  multi-user.target\n',
        'docker compose -p shop ps --all': 'NAME STATE\nweb running\n',
      }),
    })
    preview = createPreview({ gate: bed.gate, clock: bed.clock, ...previews })
    const view = await shown('sudo systemctl restart nginx')
    expect(view).toMatchObject({ kind: 'text', title: 'What depends on it' })
    expect(view.text).toContain('multi-user.target')
    if (on('docker') || existsSync('/usr/local/bin/docker'))
      expect((await shown('docker compose -p shop down')).text).toContain('web running')
  })
})

describe('the gate', () => {
  it('a request of the operator for the same read that waits is left alone', async () => {
    mkdirSync(join(folder, 'd'))
    bed.policy.switches = { askAboutEverything: true, pauseAutomatic: false }
    const own = await ask("find ./d -printf '%d %y %s\\n'")
    const execution = await ask('rm -r d')
    bed.policy.switches = { askAboutEverything: false, pauseAutomatic: false }
    await expect(preview.show(execution)).rejects.toMatchObject({ code: 'conflict' })
    expect(bed.store.execution(own.id)?.state).toBe('pending_approval')
  })
  it('nobody is asked: with a switch on, or where reads are asked about, the reason is said', async () => {
    writeFileSync(join(folder, 'f'), 'a\n')
    const execution = await ask('sed -i s/a/b/ f')
    const count = recorded().length
    bed.policy.switches = { askAboutEverything: true, pauseAutomatic: false }
    const error = await refused(execution)
    expect(error.code).toBe('conflict')
    expect(error.message).toBe('A preview would itself have to ask: "Ask about everything" is on.')
    bed.policy.switches = { askAboutEverything: false, pauseAutomatic: true }
    expect((await refused(execution)).message).toContain('"Pause automatic runs" is on.')
    bed.policy.switches = { askAboutEverything: false, pauseAutomatic: false }
    bed.policy.host = { ...CAUTIOUS, security: 'deny' }
    expect((await refused(execution)).message).toContain('A preview would be denied')
    expect(recorded()).toHaveLength(count)
  })
  it('a switch put on after the weighing makes no card that stays', async () => {
    writeFileSync(join(folder, 'f'), 'a\n')
    const execution = await ask('sed -i s/a/b/ f')
    const turning = createPreview({
      gate: {
        ...bed.gate,
        request(principal, request) {
          bed.policy.switches = { askAboutEverything: true, pauseAutomatic: false }
          return bed.gate.request(principal, request)
        },
      },
      clock: bed.clock,
      ...previews,
    })
    await expect(turning.show(execution)).rejects.toMatchObject({ code: 'conflict' })
    expect(bed.store.openExecutions().map(({ id }) => id)).toEqual([execution.id])
  })
  it('what does not wait, holds a secret, has variables or an input has none', async () => {
    writeFileSync(join(folder, 'f'), 'a\n')
    const secret = await ask('sed -i s/a/AKIAIOSFODNN7EXAMPLE/ f')
    expect(secret.redacted).toBe(true)
    expect(preview.labelOf(secret)).toBeNull()
    expect((await refused(secret)).message).toContain('holds a secret')
    expect((await refused(await ask('sed -i s/a/b/ f', { env: { A: 'b' } }))).message).toContain('variables')
    const done = await ask('rm f')
    bed.deny(done)
    const denied = await bed.until(done.id, 'denied')
    expect(preview.labelOf(denied)).toBeNull()
    expect((await refused(denied)).message).toContain('It is denied')
  })
  it("two clicks are one preview; its reads are in the ledger as the operator's", async () => {
    writeFileSync(join(folder, 'f'), 'a\n')
    const execution = await ask('sed -i s/a/b/ f')
    const [one, two] = await Promise.all([preview.show(execution), preview.show(execution)])
    expect(one).toBe(two)
    const reads = recorded().filter(({ id }) => id !== execution.id)
    expect(reads).toHaveLength(one?.commands.length ?? 0)
    for (const read of reads)
      expect(read).toMatchObject({
        principal: { kind: 'operator', id: 'operator', session: null },
        session: null,
        purpose: `Preview of ${execution.id}`,
        state: 'completed',
        cwd: folder,
      })
  })
  it('takes no longer than it may: what still runs is stopped', async () => {
    writeFileSync(join(folder, 'f'), 'a\n')
    const execution = await ask('tail -f f > out')
    const hurried = createPreview({
      gate: bed.gate,
      ...previews,
      clock: { ...bed.clock, after: (ms, call) => bed.clock.after(ms === PREVIEW_MS ? 400 : ms, call) },
    })
    const error = await hurried.show(execution).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: expect.stringMatching(/unavailable|conflict/) })
    const slow = await ask('sleep 20 > out')
    const start = Date.now()
    const stopped = await hurried.show(slow).catch((thrown: unknown) => thrown)
    expect(stopped).toMatchObject({ code: 'unavailable', message: expect.stringContaining('longer than 30 seconds') })
    expect(Date.now() - start).toBeLessThan(10_000)
    expect(
      bed.store
        .openExecutions()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([execution.id, slow.id].sort())
  })
  it('shows no more than it may, and says so', async () => {
    writeFileSync(join(folder, 'in'), '0123456789\n'.repeat(24_000))
    const view = await shown('cat in > out')
    expect(Buffer.byteLength(view.text)).toBeLessThanOrEqual(PREVIEW_BYTES)
    expect(view.truncated).toBe(true)
  })
  it('random edits, removals and rights: nothing changes, and only reads are made', async () => {
    const name = fc.constantFrom('a', 'b c', "d'e", '-f', '.h', 'd', 'none', '$x', 'd/..', './a')
    const path = name.map((text) => `'${text.replaceAll("'", "'\\''")}'`)
    const command = fc.oneof(
      fc
        .tuple(fc.constantFrom('s/a/b/', 'p', '1d', 's/x/y/w out', '$!N;D', 'e touch made', 'r /etc/hostname'), path)
        .map(([script, file]) => `sed -i '${script}' ${file}`),
      fc
        .tuple(fc.constantFrom('', '-r', '-rf --'), fc.array(path, { minLength: 1, maxLength: 3 }))
        .map(([options, files]) => `rm ${options} ${files.join(' ')}`),
      fc.tuple(fc.constantFrom('700', 'u+x', 'a=r'), path).map(([mode, file]) => `chmod -R ${mode} ${file}`),
      fc.tuple(path, path).map(([from, to]) => `mv ${from} ${to}`),
      fc.tuple(path, path).map(([from, to]) => `cp ${from} ${to}`),
      fc.tuple(path, path).map(([from, to]) => `cat ${from} > ${to}`),
    )
    mkdirSync(join(folder, 'd'))
    for (const file of ['a', 'b c', "d'e", '-f', '.h', 'd/a', '$x']) writeFileSync(join(folder, file), 'a\nx\n')
    const before = seal(folder)
    let previews = 0
    await fc.assert(
      fc.asyncProperty(command, async (text) => {
        const execution = await bed.ask(text, { cwd: folder })
        if (execution.state !== 'pending_approval') return
        const count = recorded().length
        const view = await preview.show(execution).catch((error: NomosError) => {
          expect(['conflict', 'unavailable']).toContain(error.code)
          return null
        })
        if (view !== null) previews++
        const reads = recorded()
        for (const { purpose, risk, state } of reads.slice(0, reads.length - count)) {
          expect(purpose).toBe(`Preview of ${execution.id}`)
          expect(risk).toBe('read_only')
          expect(state).not.toBe('pending_approval')
        }
        expect(seal(folder)).toBe(before)
      }),
      { numRuns: 50 },
    )
    expect(previews).toBeGreaterThan(15)
  })
})

describe('projects of containers and objects of a cluster', () => {
  let bin: string

  /** The runner of this computer, for which stand-ins are programs of the system. They note what they were asked. */
  function withStandIns(programs: Readonly<Record<string, string>>): Runner {
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> ${join(bin, 'calls')}\n${script}\n`)
      chmodSync(join(bin, name), 0o755)
    }
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
  async function use(programs: Readonly<Record<string, string>>): Promise<void> {
    await bed.stop()
    bed = createTestbed({ runner: withStandIns(programs) })
    preview = createPreview({ gate: bed.gate, clock: bed.clock, ...previews })
  }
  const calls = (): string[] =>
    existsSync(join(bin, 'calls')) ? readFileSync(join(bin, 'calls'), 'utf8').trimEnd().split('\n') : []

  beforeEach(() => {
    bin = mkdtempSync(join(tmpdir(), 'nomos-bin-'))
  })
  afterEach(() => {
    rmSync(bin, { recursive: true, force: true })
  })

  const COMPOSE = `case "$*" in
  *'config --services') printf 'web\\ndb\\n' ;;
  *'config --volumes') echo data ;;
  *'ps --all') printf 'NAME STATE\\nshop-web-1 running\\n' ;;
  *) echo "PASSWORD=hunter2" ; exit 3 ;;
esac`

  it('docker compose up and down -v show names and containers, and nothing that .env holds', async () => {
    await use({ docker: COMPOSE })
    writeFileSync(join(folder, '.env'), 'PASSWORD=hunter2\n')
    const up = await shown('docker compose up -d')
    expect(up.text).toBe(
      'Services that the project names:\nweb\ndb\n\nIts containers as they are now:\nNAME STATE\nshop-web-1 running\n',
    )
    const down = await shown('docker compose -p shop down -v')
    expect(down.text).toContain('Volumes that the project names:\ndata\n')
    expect((await shown('docker compose restart')).commands).toEqual(['docker compose ps --all'])
    expect(JSON.stringify([up, down])).not.toContain('hunter2')
    expect(calls()).toEqual([
      'docker compose config --services',
      'docker compose ps --all',
      'docker compose -p shop config --volumes',
      'docker compose -p shop ps --all',
      'docker compose ps --all',
    ])
  })
  it('a project that includes what lies elsewhere, or a release without the option, is a reason in words', async () => {
    for (const message of [
      'OCI remote resource is disabled by "COMPOSE_EXPERIMENTAL_OCI_REMOTE"',
      'unknown flag: --services',
    ]) {
      await use({ docker: `echo '${message}' >&2; exit 1` })
      const error = await refused(await ask('docker compose up -d'))
      expect(error.code).toBe('unavailable')
      expect(error.message).toContain(message)
    }
  })
  it('kubectl apply asks for each object of the file, and never for a change', async () => {
    await use({
      kubectl: `case "$*" in
  *'-o name '*) echo deployment.apps/web ;;
  *) printf 'NAME READY\\ndeployment.apps/web 2/2\\n' ;;
esac`,
    })
    writeFileSync(
      join(folder, 'web.yaml'),
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData:\n  password: hunter2hunter2\n',
    )
    for (const command of ['kubectl -n shop apply -f web.yaml', 'kubectl delete -n shop -f ./web.yaml']) {
      rmSync(join(bin, 'calls'), { force: true })
      const view = await shown(command)
      expect(view.text).toBe('NAME READY\ndeployment.apps/web 2/2\n')
      expect(view.note).toContain('Not there: secret/db in shop.')
      expect(JSON.stringify(view)).not.toContain('hunter2')
      expect(calls()).toEqual([
        'kubectl get -n shop --ignore-not-found -o name deployment.apps/web secret/db',
        'kubectl get -n shop --ignore-not-found --show-kind deployment.apps/web secret/db',
      ])
    }
    expect((await shown('kubectl rollout restart deploy/web')).commands).toEqual(['kubectl get --show-kind deploy/web'])
  })
  it('what a file of secrets, an address or a folder names is not looked at', async () => {
    await use({ kubectl: 'echo asked' })
    writeFileSync(join(folder, 'secrets.yaml'), '{apiVersion: v1, kind: Pod, metadata: {name: a}}')
    for (const command of [
      'kubectl apply -f secrets.yaml',
      'kubectl apply -f https://evil.example/a.yaml',
      'kubectl apply -f .',
      'kubectl apply -k .',
      'kubectl diff -f a.yaml',
    ]) {
      const execution = await ask(command)
      expect(preview.labelOf(execution), command).toBeNull()
      expect((await refused(execution)).code).toBe('conflict')
    }
    writeFileSync(join(folder, 'odd.yaml'), '{apiVersion: v1, kind: Pod, metadata: {name: "--kubeconfig=x"}}')
    expect((await refused(await ask('kubectl apply -f odd.yaml'))).message).toContain('metadata.name')
    writeFileSync(join(folder, 'odd.yaml'), '{apiVersion: v1, kind: Secret, stringData: {password: hunter2hunter2}}')
    const { message } = await refused(await ask('kubectl apply -f odd.yaml'))
    expect(message).toContain('Secrets were taken out of it first')
    expect(message).not.toContain('hunter2')
    expect(calls()).toEqual([])
  })
  it('a cluster that cannot be reached is a reason in words', async () => {
    await use({ kubectl: 'echo "The connection to the server was refused" >&2; exit 1' })
    writeFileSync(join(folder, 'a.yaml'), '{apiVersion: v1, kind: Pod, metadata: {name: a}}')
    const error = await refused(await ask('kubectl apply -f a.yaml'))
    expect(error.code).toBe('unavailable')
    expect(error.message).toContain('The connection to the server was refused')
  })
})
