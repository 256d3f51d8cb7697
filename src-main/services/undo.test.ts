import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionView } from '../../src-preload/contract/model'
import { createTestbed, type Testbed } from './testbed'

let bed: Testbed
let folder: string

beforeEach(() => {
  bed = createTestbed({ undo: true })
  folder = mkdtempSync(join(tmpdir(), 'nomos-undo-'))
})

afterEach(async () => {
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string): string => join(folder, name)
const put = (name: string, content: string | Uint8Array, mode = 0o644): string => {
  writeFileSync(at(name), content)
  chmodSync(at(name), mode)
  return at(name)
}

const gone = (name: string): string => {
  rmSync(at(name))
  return at(name)
}

/** Asks, answers and waits for the end, also for the look behind it. */
async function done(asked: ExecutionView, on = bed): Promise<ExecutionView> {
  if (asked.state === 'pending_approval') await on.approve(asked, asked.approval?.phrase ?? null)
  const ended = await on.until(asked.id, 'completed', 'failed', 'denied')
  const deadline = Date.now() + 15_000
  while (on.store.undoKept(asked.id).some(({ after }) => after === null) && Date.now() < deadline)
    await new Promise((go) => setTimeout(go, 5))
  return ended
}

const run = async (command: string): Promise<ExecutionView> => done(await bed.ask(command, { cwd: folder }))

async function askUndo(execution: ExecutionView, on = bed): Promise<ExecutionView> {
  const { command, purpose, input } = await on.undo.request(execution)
  return on.ask(command, { purpose, input, undoOf: execution.id })
}

const takeBack = async (execution: ExecutionView): Promise<ExecutionView> => {
  const undone = await done(await askUndo(execution))
  expect(undone.stateReason).toBeNull()
  expect(undone.state).toBe('completed')
  return undone
}

const view = (id: string): ExecutionView => {
  const found = bed.store.execution(id)
  if (found === null) throw new Error('no such execution')
  return found
}

describe('the offer', () => {
  it('names what is changed, and is on the card', async () => {
    put('motd', 'x'.repeat(1240))
    const asked = await bed.ask('echo new > motd', { cwd: folder })
    expect(asked.undo).toEqual({
      verdict: 'whole',
      sentence: `Changes ${at('motd')}, which can be put back.`,
      items: [{ kind: 'file', subject: at('motd'), canPutBack: true, sentence: '1,240 bytes are kept.', bytes: 1240 }],
    })
    expect(readFileSync(at('motd'), 'utf8')).toHaveLength(1240)
  })

  it.each([
    ['mytool --all', 'unknown'],
    ['rm *', 'unknown'],
    ['echo x > "$HOME/a"', 'unknown'],
    ['for f in a b; do rm $f; done', 'unknown'],
    ['cp $(ls) b', 'unknown'],
    ['cp a b && mytool', 'part'],
    ['rm -rf sub', 'none'],
    ['chmod -R 700 sub', 'none'],
    ['rm link', 'whole'],
    ['echo x > link', 'none'],
    ['sed -i s/a/b/ a', 'whole'],
    ['rm a && rm -rf sub', 'part'],
    ["echo 'x' | tee a b > /dev/null", 'whole'],
    ['cp -r sub other', 'none'],
    ['cp a sub', 'whole'],
    ['cat a > big', 'none'],
    ['mv big small', 'whole'],
    ['chmod 600 big', 'whole'],
    ['echo > fifo', 'none'],
    ['mv sub moved && echo x > moved/f', 'part'],
    ['ln -sfn sub link && echo x > link/f', 'part'],
    ['mkdir -p sub', null],
    ['ln -s a n && echo x > n', 'none'],
    ['ln a n; chmod 600 n', 'none'],
    ['cp -a link n && echo x > n', 'none'],
    ['mv link n && echo x > n', 'part'],
    ['cp a n && echo x > n', 'whole'],
    ['mkdir sub/n && cp a sub/n && echo x > sub/n/m', 'whole'],
  ])('of %s is %s', async (command, verdict) => {
    put('a', 'a')
    put('b', 'b')
    put('big', Buffer.alloc(1024 * 1024 + 1))
    mkdirSync(at('sub'))
    symlinkSync('a', at('link'))
    execFileSync('mkfifo', [at('fifo')])
    const asked = await bed.ask(command, { cwd: folder })
    expect(asked.undo?.verdict ?? null, asked.undo?.sentence).toBe(verdict)
    // Nothing was read that holds up the answer, and nothing was changed.
    expect(readFileSync(at('a'), 'utf8')).toBe('a')
  })

  it('says why something cannot be put back', async () => {
    put('big', Buffer.alloc(1024 * 1024 + 1))
    expect((await bed.ask('echo x > big', { cwd: folder })).undo?.sentence).toBe(
      `Changes ${at('big')}, which cannot be put back. It has 1,048,577 bytes; more than 1 MiB of a file is not kept.`,
    )
    mkdirSync(at('sub'))
    expect((await bed.ask('rm -rf sub', { cwd: folder })).undo?.sentence).toBe(
      `Changes ${at('sub')}, which cannot be put back. It is a folder; folders with everything in them are not kept.`,
    )
    expect((await bed.ask('frobnicate', { cwd: folder })).undo?.sentence).toBe(
      'What it changes is not known, so nothing is kept.',
    )
  })

  it('is not made for what only reads', async () => {
    expect((await bed.ask('ls', { cwd: folder })).undo).toBeNull()
  })

  it('keeps no more than 8 MiB of a run', async () => {
    const names = Array.from({ length: 9 }, (_, i) => `f${i}`)
    for (const name of names) put(name, Buffer.alloc(1024 * 1024, name))
    const asked = await bed.ask(`rm ${names.join(' ')}`, { cwd: folder })
    expect(asked.undo?.verdict).toBe('part')
    expect(asked.undo?.items.filter(({ canPutBack }) => canPutBack)).toHaveLength(8)
    expect(asked.undo?.items.at(-1)?.sentence).toContain('8 MiB')
  })
})

const odd = Buffer.from([0, 1, 255, 254, 10, 0, 13, 10, 195, 40, 0])
const NAMES = [
  'plain',
  'with space',
  "it's",
  'a"b',
  '-n',
  'line\nend',
  'back\\slash',
  '$HOME',
  'ümlaut',
  '*',
  '~',
  '#x',
  '!x',
]

describe('what comes back', () => {
  it.each(NAMES)('byte for byte, under the name %j', async (name) => {
    const path = put(name, odd, 0o640)
    const quoted = `'${path.replaceAll("'", "'\\''")}'`
    const changed = await run(`echo new > ${quoted} && chmod 777 ${quoted}`)
    expect(changed.state).toBe('completed')
    expect(readFileSync(path, 'utf8')).toBe('new\n')
    const undone = await takeBack(changed)
    expect(readFileSync(path).equals(odd)).toBe(true)
    expect(statSync(path).mode & 0o7777).toBe(0o640)
    expect(undone.undoOf).toBe(changed.id)
    expect(undone.purpose).toMatch(/^Puts back .* as it was before \d\d:\d\d \(11 bytes\)\.$/s)
    expect(bed.undo.stateOf(view(changed.id))).toMatchObject({
      state: 'asked',
      executionId: undone.id,
      sentence: 'It was put back.',
    })
  })

  it.each([
    ['nothing at all', Buffer.alloc(0)],
    ['no newline at the end', Buffer.from('last')],
    ['newlines at the end', Buffer.from('last\n\n\n')],
    ['1 MiB of every byte', Buffer.from(Array.from({ length: 1024 * 1024 }, (_, i) => (i * 31 + (i >> 8)) & 255))],
  ])('%s', async (_what, content) => {
    put('f', content)
    const changed = await run("printf 'other' > f")
    await takeBack(changed)
    expect(readFileSync(at('f')).equals(content)).toBe(true)
  })

  it('owner and rights, with the bits that a change of the owner takes away', async () => {
    const path = put('f', 'x', 0o644)
    chownSync(path, 12345, 23456)
    chmodSync(path, 0o4755)
    const changed = await run('chown 0:0 f && chmod 600 f')
    expect(statSync(path).uid).toBe(0)
    await takeBack(changed)
    const { uid, gid, mode } = statSync(path)
    expect([uid, gid, (mode & 0o7777).toString(8)]).toEqual([12345, 23456, '4755'])
  })

  it('several files from one input, of which one is removed and one is shut', async () => {
    put('a', odd)
    put('b', 'bb', 0o600)
    chownSync(at('b'), 1234, 1234)
    put('c', Buffer.from('no end'), 0o604)
    const changed = await run("sed -i 's/bb/xx/' b && echo new > a && rm c")
    expect(changed.state).toBe('completed')
    const asked = await askUndo(changed)
    expect(asked.command).toContain('umask 077 && ')
    expect(asked.command).toContain('head -c 11 > ')
    await done(asked)
    expect(readFileSync(at('a')).equals(odd)).toBe(true)
    expect(readFileSync(at('b'), 'utf8')).toBe('bb')
    expect([statSync(at('b')).uid, statSync(at('b')).mode & 0o7777]).toEqual([1234, 0o600])
    expect(readFileSync(at('c'), 'utf8')).toBe('no end')
    expect(statSync(at('c')).mode & 0o7777).toBe(0o604)
  })

  it('a file that was not there goes again, through its phrase where it takes one', async () => {
    const changed = await run('mkdir -p d/e && echo x > d/e/f && touch d/g')
    expect(changed.state).toBe('completed')
    const asked = await askUndo(changed)
    expect(asked.command).toBe(
      `rm -- ${at('d/g')} && rm -- ${at('d/e/f')} && rmdir -- ${at('d/e')} && rmdir -- ${at('d')}`,
    )
    await done(asked)
    expect(existsSync(at('d'))).toBe(false)
  })

  it('what was moved, also into a folder and over another one', async () => {
    put('a', 'content of a', 0o600)
    put('b', 'content of b')
    const over = await run('mv a b')
    await takeBack(over)
    expect([readFileSync(at('a'), 'utf8'), readFileSync(at('b'), 'utf8')]).toEqual(['content of a', 'content of b'])
    expect(statSync(at('a')).mode & 0o7777).toBe(0o600)

    mkdirSync(at('d'))
    mkdirSync(at('whole'))
    writeFileSync(at('whole/inside'), 'x')
    const into = await run('mv a whole d')
    expect(existsSync(at('d/whole/inside'))).toBe(true)
    await takeBack(into)
    expect([existsSync(at('a')), existsSync(at('whole/inside')), existsSync(at('d/a'))]).toEqual([true, true, false])
  })

  it('leaves alone what a move that did not happen would have changed', async () => {
    put('a', 'a')
    put('b', 'b')
    const changed = await run('mv -n a b')
    expect(bed.undo.stateOf(view(changed.id))).toBeNull()
    await expect(bed.undo.request(view(changed.id))).rejects.toMatchObject({ code: 'conflict' })
  })

  it('a link, and a file that a link has taken the place of, without writing through it', async () => {
    put('victim', 'untouched')
    put('f', 'file', 0o600)
    symlinkSync('victim', at('old'))
    const changed = await run('ln -sf victim f && ln -sfn f old')
    expect(readlinkSync(at('f'))).toBe('victim')
    await takeBack(changed)
    expect(lstatSync(at('f')).isFile()).toBe(true)
    expect(readFileSync(at('f'), 'utf8')).toBe('file')
    expect(statSync(at('f')).mode & 0o7777).toBe(0o600)
    expect(readlinkSync(at('old'))).toBe('victim')
    expect(readFileSync(at('victim'), 'utf8')).toBe('untouched')
  })

  it.each([
    ['cp -p src f', 'whole'],
    ['install -m 755 src f', 'whole'],
    ['tee f < src', 'whole'],
    ['truncate -s 3 f', 'whole'],
    ['cat src >> f', 'whole'],
    ['rm f', 'whole'],
    ["cat > f <<'EOF'\nnew text with $(x) and `y`\nEOF", 'whole'],
    ['cp src sub && mv sub/src f', 'whole'],
    ["cd ./sub && sed -i.bak 's/x/y/' ../f", 'whole'],
    ['touch -d 2001-01-01 f', 'whole'],
    ['mkdir new && cp src new && cp src f', 'whole'],
  ])('after %s all is as it was', async (command, verdict) => {
    put('src', 'source\n')
    put('f', Buffer.from('xx\0x'), 0o604)
    mkdirSync(at('sub'))
    const picture = (): string =>
      execFileSync('sh', ['-c', 'find . -exec stat -c "%n %F %a %u %g %s" {} + | sort; md5sum src f 2>&1; true'], {
        cwd: folder,
      }).toString()
    const before = picture()
    const time = statSync(at('f'), { bigint: true }).mtimeNs
    const changed = await run(command)
    expect(changed.undo?.verdict).toBe(verdict)
    expect(changed.state).toBe('completed')
    if (command.startsWith('touch')) expect(statSync(at('f'), { bigint: true }).mtimeNs).not.toBe(time)
    else expect(picture()).not.toBe(before)
    await takeBack(changed)
    expect(picture().replaceAll(/^\. .*$/gm, '')).toBe(before.replaceAll(/^\. .*$/gm, ''))
    if (command.startsWith('touch')) expect(statSync(at('f'), { bigint: true }).mtimeNs).toBe(time)
  })

  it('undo can itself be taken back', async () => {
    put('f', 'one')
    const changed = await run('printf two > f')
    const undone = await takeBack(changed)
    expect(readFileSync(at('f'), 'utf8')).toBe('one')
    expect(undone.undo?.verdict).toBe('whole')
    await takeBack(view(undone.id))
    expect(readFileSync(at('f'), 'utf8')).toBe('two')
  })

  it('what a run that failed half-way has changed', async () => {
    put('a', 'a')
    put('b', 'b')
    const changed = await run('echo x > a && false && echo x > b')
    expect(changed.state).toBe('failed')
    const asked = await askUndo(view(changed.id))
    expect(asked.command).toBe(`cat > ${at('a')}`)
    await done(asked)
    expect(readFileSync(at('a'), 'utf8')).toBe('a')
  })
})

describe('between the request and the run', () => {
  it('what is kept is what was there right before the run', async () => {
    put('f', 'when it was asked for')
    const asked = await bed.ask('echo new > f', { cwd: folder })
    put('f', 'a moment before it ran')
    const changed = await done(asked)
    expect(changed.state).toBe('completed')
    await takeBack(view(changed.id))
    expect(readFileSync(at('f'), 'utf8')).toBe('a moment before it ran')
  })

  it.each([
    ['has grown too large', () => writeFileSync(at('f'), Buffer.alloc(1024 * 1024 + 1)), 'more than 1 MiB'],
    ['is a link now', () => symlinkSync('/etc/hostname', gone('f')), 'It is a link'],
    ['is a folder now', () => mkdirSync(gone('f')), 'It is a folder'],
  ])('a file that %s is not changed', async (_what, swap, why) => {
    put('f', 'x')
    const asked = await bed.ask('echo new > f', { cwd: folder })
    swap()
    const denied = await done(asked)
    expect(denied.state).toBe('denied')
    expect(denied.failure).toBe('drift')
    expect(denied.stateReason).toContain('cannot be kept now')
    expect(denied.stateReason).toContain(why)
    expect(bed.undo.stateOf(denied)).toBeNull()
    expect(bed.store.undoKept(denied.id)).toEqual([])
  })

  it('a target that has become a folder is another file, so nothing runs', async () => {
    put('src', 'x')
    const asked = await bed.ask('cp src f', { cwd: folder })
    mkdirSync(at('f'))
    expect((await done(asked)).state).toBe('denied')
    expect(existsSync(at('f/src'))).toBe(false)
  })
})

describe('afterwards', () => {
  it('says when somebody else has changed it since', async () => {
    put('f', 'one')
    const changed = await run('echo two > f')
    expect((await bed.undo.request(view(changed.id))).purpose).not.toContain('somebody else')
    put('f', 'three')
    expect((await bed.undo.request(view(changed.id))).purpose).toContain(
      `Changed again since then: ${at('f')}; putting it back would lose that.`,
    )
  })

  it('there is nothing to do when it is as before already', async () => {
    put('f', 'one')
    const changed = await run('printf two > f')
    put('f', 'one')
    await expect(bed.undo.request(view(changed.id))).rejects.toThrow('as it was before already')
  })

  it('one request at a time; a failed or denied one leaves it ready', async () => {
    put('f', 'one')
    const changed = await run('echo two > f')
    const ready = () => bed.undo.stateOf(view(changed.id))
    expect(ready()).toEqual({ state: 'ready', executionId: null, sentence: `Puts back ${at('f')}.` })
    const asked = await askUndo(changed)
    expect(ready()).toMatchObject({ state: 'asked', executionId: asked.id })
    await expect(bed.undo.request(view(changed.id))).rejects.toThrow('Undo was asked for.')
    await bed.deny(asked)
    expect(ready()?.state).toBe('ready')
    await takeBack(view(changed.id))
    expect(ready()?.state).toBe('asked')
  })

  it('says when the undo has run and it is not as before', async () => {
    put('f', 'one')
    const changed = await run('echo two > f')
    const { command, input } = await bed.undo.request(changed)
    const wrong = { bytes: Buffer.from('else'), what: input?.what ?? '' }
    await done(await bed.ask(command, { input: wrong, undoOf: changed.id }))
    expect(bed.undo.stateOf(view(changed.id))?.sentence).toBe(`Undo ran, but ${at('f')} is not as before.`)
  })

  it('a restart between the run and the undo, and between its request and its start', async () => {
    put('f', odd)
    put('g', 'g')
    const changed = await run('echo two > f && rm g')
    bed = bed.restart()
    const asked = await askUndo(view(changed.id))
    bed = bed.restart()
    const undone = await done(asked)
    expect(undone.state).toBe('completed')
    expect(readFileSync(at('f')).equals(odd)).toBe(true)
    expect(readFileSync(at('g'), 'utf8')).toBe('g')
  })

  it('a run whose end was not seen can be taken back', async () => {
    put('f', 'one')
    const asked = await bed.ask('echo two > f; sleep 30', { cwd: folder })
    expect(asked.undo?.verdict).toBe('whole')
    await bed.approve(asked)
    await bed.until(asked.id, 'running')
    while (readFileSync(at('f'), 'utf8') !== 'two\n') await new Promise((go) => setTimeout(go, 5))
    const first = bed
    bed = bed.restart()
    // Its process outlived the crash.
    await first.gate.close().catch(() => {})
    expect(view(asked.id).state).toBe('unknown')
    const undo = await askUndo(view(asked.id))
    expect(undo.purpose).toContain('was not seen')
    await done(undo)
    expect(readFileSync(at('f'), 'utf8')).toBe('one')
  })

  it('is gone after 30 days', async () => {
    put('f', 'one')
    const changed = await run('echo two > f')
    bed.clock.move(30 * 24 * 3600 * 1000 + 1000)
    expect(bed.undo.stateOf(view(changed.id))).toMatchObject({ state: 'gone' })
    await expect(bed.undo.request(view(changed.id))).rejects.toMatchObject({ code: 'conflict' })
    put('g', 'g')
    await run('echo h > g')
    expect(bed.store.undoKept(changed.id)).toEqual([])
    expect(bed.undo.stateOf(view(changed.id))).toMatchObject({ state: 'gone' })
  })

  it('the ledger says what was kept, never its content', async () => {
    put('f', 'the content of the file')
    const changed = await run('echo two > f')
    const entry = bed.store.ledgerPage(null, 50).find(({ kind }) => kind === 'undo.kept')
    expect(entry).toMatchObject({
      executionId: changed.id,
      data: { items: [{ kind: 'file', subject: at('f'), was: 'file', bytes: 23, sealed: false }] },
    })
    expect(JSON.stringify(entry)).not.toContain('the content')
    expect(bed.store.verifyLedger().intact).toBe(true)
  })
})

describe('secrets', () => {
  const SECRET = 'hunter2-correct-horse-battery'
  const inDatabase = (home: string): boolean =>
    ['nomos.db', 'nomos.db-wal'].some(
      (name) => existsSync(join(home, name)) && readFileSync(join(home, name)).includes(SECRET),
    )
  const places = (): [string, string][] => [
    ['f.conf', `host = db\npassword = ${SECRET}\n`],
    ['id_rsa', `${SECRET} without any sign\n`],
  ]

  it.each(places())('in %s are kept encrypted', async (name, content) => {
    put(name, content, 0o600)
    const changed = await run(`echo two > ${name}`)
    expect(changed.undo?.items[0]?.sentence).toContain('encrypted')
    expect(bed.store.undoKept(changed.id)).toMatchObject([{ sealed: true, content: true }])
    expect(inDatabase(bed.home)).toBe(false)
    await takeBack(changed)
    expect(readFileSync(at(name), 'utf8')).toBe(content)
    expect(inDatabase(bed.home)).toBe(false)
  })

  it.each(places())('in %s are not kept at all without a keyring', async (name, content) => {
    await bed.stop()
    bed = createTestbed({ undo: true, keyring: false })
    put(name, content, 0o600)
    const changed = await run(`echo two > ${name}`)
    expect(changed.state).toBe('completed')
    expect(changed.undo).toMatchObject({
      verdict: 'none',
      items: [
        { sentence: 'It holds a secret and there is no keyring to encrypt with, so it is not kept.', bytes: null },
      ],
    })
    expect(bed.store.undoKept(changed.id)).toEqual([])
    expect(inDatabase(bed.home)).toBe(false)
  })

  it('are not readable when the keyring is gone', async () => {
    put('id_rsa', SECRET)
    const changed = await run('echo two > id_rsa')
    const { home } = bed
    const other = createTestbed({ undo: true, keyring: false, home })
    expect(other.undo.stateOf(view(changed.id))).toMatchObject({ state: 'gone' })
    other.desk.close()
    other.store.close()
  })
})

describe('between the request of an undo and its run', () => {
  const swaps: readonly (readonly [string, () => void, string])[] = [
    [
      'the folder leads elsewhere',
      () => {
        mkdirSync(at('e'))
        put('e/f', 'precious')
        renameSync(at('d'), at('d0'))
        symlinkSync(at('e'), at('d'))
      },
      'precious',
    ],
    [
      'another file took the name',
      () => {
        put('x', 'precious')
        renameSync(at('x'), at('d/f'))
      },
      'precious',
    ],
    ['somebody else has written into it', () => put('d/f', 'precious'), 'precious'],
    [
      'the file is a link',
      () => {
        put('x', 'precious')
        rmSync(at('d/f'))
        symlinkSync(at('x'), at('d/f'))
      },
      'precious',
    ],
  ]
  it.each(swaps)('%s: nothing is written', async (_, swap, holds) => {
    mkdirSync(at('d'))
    put('d/f', 'old')
    const asked = await askUndo(await run('echo new > d/f'))
    swap()
    expect(await done(asked)).toMatchObject({ state: 'denied', failure: 'drift' })
    expect(readFileSync(at('d/f'), 'utf8')).toBe(holds)
  })

  it('runs where nothing has changed, with what others did before told on the card', async () => {
    put('f', 'old')
    const ran = await run('echo new > f')
    put('f', 'by another')
    const asked = await askUndo(ran)
    expect(asked.purpose).toContain('Changed again since then')
    expect(await done(asked)).toMatchObject({ state: 'completed' })
    expect(readFileSync(at('f'), 'utf8')).toBe('old')
  })
})

it('what is given something to read is never allowed for always: an entry would let through any other input', async () => {
  const files = createTestbed({ files: true })
  try {
    const asked = await files.ask(`tee ${at('f')}`, { input: { bytes: Buffer.from('old'), what: 'what f held' } })
    expect(await files.real.desk.alwaysOffer(asked)).toMatchObject({
      entries: [],
      refusal: expect.stringContaining('given something to read'),
    })
    const plain = await files.ask(`tee ${at('g')}`)
    expect((await files.real.desk.alwaysOffer(plain)).refusal).toBeNull()
  } finally {
    await files.stop()
  }
})
