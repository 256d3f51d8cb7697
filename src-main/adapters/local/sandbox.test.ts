import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Plan } from '../../../src-preload/contract/model'
import { classify, sandboxOf } from '../../domain/risk'
import { literalArgv } from '../../domain/shell'
import { loadRiskRules } from '../policy-files'
import { createLocalRunner } from './index'
import { findStarters } from './sandbox'

const rules = loadRiskRules(resolve(import.meta.dirname, '../../../policies/risk'))
const runner = createLocalRunner({
  PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
  HOME: '/',
  LANG: 'C.UTF-8',
  TZ: 'Europe/Vienna',
})
const { sandbox: works } = await findStarters()
const isRoot = process.getuid?.() === 0

/** Our own: for programs of the profile whose examples name nothing that is here, and for what could tell the two apart. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  cat: ['cat a.txt b.txt', 'cat missing', 'cat a.txt missing', 'cat -A odd.bin', 'cat other-user', 'cat -', 'cat'],
  tac: ['tac a.txt'],
  head: ['head -n 2 a.txt b.txt', 'head -c 7 odd.bin', 'head missing'],
  tail: ['tail -n 2 a.txt', 'tail -n +2 a.txt', 'tail -c 5 a.txt b.txt'],
  wc: ['wc a.txt b.txt', 'wc -l missing a.txt', 'wc -L big.txt'],
  nl: ['nl -ba a.txt'],
  cut: ['cut -d: -f1 /etc/passwd', 'cut -c2-3 a.txt'],
  paste: ['paste -d, a.txt b.txt'],
  sort: ['sort big.txt', 'sort -S 1M big.txt', 'sort -k2 -u a.txt', 'sort -c big.txt'],
  uniq: ['uniq -c b.txt'],
  comm: ['comm sorted1 sorted2', 'comm a.txt b.txt'],
  join: ['join sorted1 sorted2'],
  fold: ['fold -w 3 a.txt'],
  fmt: ['fmt -w 9 a.txt'],
  expand: ['expand tabs.txt'],
  unexpand: ['unexpand -a a.txt'],
  rev: ['rev a.txt'],
  column: ['column -t a.txt', 'column big.txt'],
  od: ['od -c odd.bin'],
  hexdump: ['hexdump -C odd.bin'],
  hd: ['hd odd.bin'],
  xxd: ['xxd odd.bin'],
  strings: ['strings /usr/bin/env', 'strings -n 3 odd.bin'],
  shasum: ['shasum -a 256 a.txt'],
  base64: ['base64 odd.bin'],
  base32: ['base32 odd.bin'],
  cmp: ['cmp a.txt b.txt', 'cmp a.txt a.txt', 'cmp a.txt missing'],
  diff: ['diff a.txt b.txt', 'diff -u a.txt b.txt', 'diff -y a.txt a.txt', 'diff -q a.txt missing'],
  grep: [
    'grep -n o a.txt b.txt',
    'grep zzz a.txt',
    'grep -c . big.txt',
    'grep x missing',
    'grep -f words a.txt',
    'grep -P o a.txt',
  ],
  sed: [`sed -n '2,3p' a.txt`, `sed 's/o/0/g' a.txt b.txt`, `sed -n '$=' big.txt`],
  jq: ['jq . a.json', 'jq .b.c a.json', 'jq -r .x missing', `jq '.b | keys' a.json`, 'jq . a.txt'],
  zcat: ['zcat a.gz', 'zcat a.txt'],
  bzcat: ['bzcat a.bz2', 'bzcat a.txt'],
  xzcat: ['xzcat a.xz', 'xzcat a.txt'],
  zstdcat: ['zstdcat a.zst', 'zstdcat a.txt'],
  lz4cat: ['lz4cat a.lz4', 'lz4cat a.txt'],
  zstd: ['zstd -t a.zst', 'zstd -t a.txt'],
  gzip: ['gzip -l a.gz', 'gzip -t a.gz', 'gzip -tv a.txt'],
  xz: ['xz -l a.gz', 'xz -t a.txt'],
  bzip2: ['bzip2 -t a.gz'],
  file: ['file a.txt odd.bin a.gz a.json', 'file -b --mime-type a.gz', 'file /usr/bin/env', 'file missing'],
  iconv: ['iconv -f latin1 -t utf-8 odd.bin'],
  tsort: ['tsort pairs'],
}
const AWK = ["awk '{print $1}' a.txt", "awk 'NR==2' a.txt b.txt", "awk '/o/ {n++} END {print n}' missing a.txt"]
const SUMS = /^(md5sum|sha\d+sum|b2sum|sum|cksum)$/
const SEARCHES = /^(z|bz|xz)?[ef]?grep$/

let folder: string
beforeAll(() => {
  // Below /tmp nothing is seen from the sandbox.
  folder = mkdtempSync('/var/tmp/nomos-sandbox-')
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(folder, name), content)
  write('a.txt', 'one two\nthree four\n\nfoo bar\nTODO x\n')
  write('b.txt', 'one two\none two\nbar\nno end of line')
  write('a', 'a b\nc d\n')
  write('b', 'a b\nc e\n')
  write('words', 'four\nbar\n')
  write('words.txt', 'four\nbar\n')
  write('sorted1', 'a 1\nb 2\nc 3\n')
  write('sorted2', 'b x\nc y\nd z\n')
  write('pairs', 'a b\nb c\n')
  write('tabs.txt', 'a\tb\n\tc\n')
  write('a.csv', 'a,b\nlong word,c\n')
  write('a.json', '{"a": 1, "b": {"c": [true, null]}, "name": "x", "items": [{"id": 7}]}\n')
  write('package.json', '{"name": "x"}\n')
  write(
    'odd.bin',
    Uint8Array.from({ length: 300 }, (_, i) => (i * 7) % 256),
  )
  write(
    'a.bin',
    Uint8Array.from({ length: 300 }, (_, i) => i % 256),
  )
  write('big.txt', Array.from({ length: 200_000 }, (_, i) => `line ${(i * 7919) % 200_000}`).join('\n'))
  write('a.gz', gzipSync('one\ntwo\n'))
  for (const [name, program] of Object.entries({ bz2: 'bzip2', xz: 'xz', zst: 'zstd', lz4: 'lz4' })) {
    const packed = spawnSync(program, ['-c'], { input: 'one\ntwo\n' })
    if (packed.status === 0) write(`a.${name}`, packed.stdout)
  }
  for (const name of ['a.log', 'log.txt', 'a.iso', 'a b.txt', '-odd-name']) write(name, `text of ${name}\n`)
  write('private', 'of root alone\n')
  write('other-user', 'of somebody else\n')
  write('locked', 'of somebody else alone\n')
  write('halfway', 'of a group of root\n')
  if (isRoot) {
    chownSync(join(folder, 'private'), 0, 0)
    chownSync(join(folder, 'other-user'), 12345, 12345)
    chownSync(join(folder, 'locked'), 12345, 12345)
    chownSync(join(folder, 'halfway'), 12345, 0)
  }
  chmodSync(join(folder, 'private'), 0o600)
  chmodSync(join(folder, 'locked'), 0o600)
  chmodSync(join(folder, 'halfway'), 0o604)
  mkdirSync(join(folder, 'folder'))
  writeFileSync(join(folder, 'folder', 'c.txt'), 'c\n')
  symlinkSync('a.txt', join(folder, 'link'))
  symlinkSync('/tmp', join(folder, 'to-tmp'))
  symlinkSync('/proc/self/status', join(folder, 'to-proc'))
  symlinkSync('/run/nothing', join(folder, 'dangling'))
  symlinkSync('folder/../to-tmp/..', join(folder, 'through-tmp'))
  chmodSync(folder, 0o755)
})
afterAll(async () => {
  await runner.close()
  rmSync(folder, { recursive: true, force: true })
})

const draftOf = (command: string, cwd: string) => {
  const argv = literalArgv(command)
  return {
    target: 'local',
    script: command,
    argv,
    sandbox: argv === null ? null : sandboxOf(argv, rules),
    programs: argv === null ? [] : [argv[0] as string],
    pins: [],
    fileOperand: null,
    sourced: [],
    unpinnable: null,
    locate: 'no' as const,
    cwd,
    env: {},
    endpoint: null,
    user: null,
  }
}
const profileOf = async (command: string, cwd = folder) => (await runner.prepare(draftOf(command, cwd))).sandbox

function planOf(command: string, sandbox: string | null, more: Partial<Plan> = {}): Plan {
  return {
    v: 1,
    agent: 'main',
    session: null,
    target: 'local',
    kind: 'local',
    user: 'me',
    cwd: folder,
    folder: null,
    argv: literalArgv(command),
    script: command,
    verify: null,
    env: {},
    executable: null,
    programs: [],
    boundFile: null,
    endpoint: null,
    hostKeys: null,
    sandbox,
    limits: { timeoutMs: 60_000, outputBytes: 1e9 },
    policyVersion: 'test',
    digest: 'test',
    ...more,
  }
}

async function run(plan: Plan) {
  const parts = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
  const handle = runner.start(
    plan,
    { automatic: true },
    { started: () => {}, output: (stream, bytes) => void parts[stream].push(Buffer.from(bytes)) },
  )
  const end = await handle.end
  return {
    end,
    stdout: Buffer.concat(parts.stdout).toString('latin1'),
    stderr: Buffer.concat(parts.stderr).toString('latin1'),
  }
}

/** Programs of the profile that are on this computer, each with all commands to compare. */
const installed = new Set(['/usr/bin', '/bin', '/usr/sbin', '/sbin'].flatMap((path) => readdirSync(path)))
const programs = [...rules.programs.entries()]
  .filter(([name, program]) => program.sandbox === 'files' && installed.has(name))
  .map(([name]) => {
    const examples = rules.examples
      .filter(({ command, expected }) => expected === 'read_only' && literalArgv(command)?.[0] === name)
      .map(({ command }) => command)
    const own = SUMS.test(name)
      ? [`${name} a.txt odd.bin`, `${name} missing`]
      : SEARCHES.test(name)
        ? (OWN.grep ?? [])
            .map((command) => command.replace('grep', name))
            .filter((c) => name === 'grep' || !/-P/.test(c))
        : /awk$/.test(name)
          ? AWK.map((command) => command.replace('awk', name))
          : (OWN[name] ?? [])
    return { name, commands: [...examples, ...own] }
  })

describe.skipIf(!works)('the sandbox', () => {
  it.each(programs)('gives the same answer for $name', async ({ name, commands }) => {
    let compared = 0
    for (const command of commands) {
      const { risk, reasons } = classify(command, { rules, posture: 'default', cwd: folder })
      expect([command, risk, reasons.find((reason) => reason.risk !== 'read_only')?.sentence]).toEqual([
        command,
        'read_only',
        undefined,
      ])
      const sandbox = await profileOf(command)
      if (sandbox === null) continue
      const [plain, inside] = await Promise.all([run(planOf(command, null)), run(planOf(command, sandbox))])
      expect([command, inside]).toEqual([command, plain])
      compared++
    }
    expect(compared, `${name} has no command that was compared`).toBeGreaterThan(0)
  })

  it('is one: nothing can be written, mounted, connected to or seen of other processes', async () => {
    const marker = join(folder, 'written')
    const secret = join('/tmp', `nomos-secret-${process.pid}`)
    writeFileSync(secret, 'x')
    // The words of a plan are run as they are; that a shell is among them is this test's doing.
    const script = [
      '[ -z "$(ls /run)" ] || echo sees /run',
      `touch ${marker}; mount -o remount,rw / 2>/dev/null; umount /tmp 2>/dev/null; touch ${marker}`,
      `[ -e ${secret} ] && echo sees /tmp; [ -e /proc/${process.pid} ] && echo sees processes`,
      'grep -c : /proc/net/dev; grep CapEff /proc/self/status; tty',
    ].join('; ')
    const { stdout } = await run(planOf('sh', 'files', { argv: ['sh', '-c', script] }))
    rmSync(secret)
    expect(stdout.split('\n').map((line) => line.replace(/\s+/g, ' '))).toEqual([
      '1',
      'CapEff: 0000000000000000',
      'not a tty',
      '',
    ])
    expect(readdirSync(folder)).not.toContain('written')
  })

  it('is for plain files that are seen alike, and for nothing else', async () => {
    const sandboxed = [
      'cat a.txt',
      'cat ./folder/../a.txt',
      'cat link',
      'cat missing',
      'cat /etc/hostname',
      'cat private',
      'grep a/b a.txt',
    ]
    for (const command of sandboxed) expect([command, await profileOf(command)]).toEqual([command, 'files'])
    const plain = [
      'cat /tmp/x',
      'cat ../../../tmp/x',
      'cat to-tmp/x',
      'cat to-proc',
      'cat dangling',
      'cat through-tmp/etc/hostname',
      'cat folder',
      'cat /dev/null',
      'cat /run/x',
      'cat /var/run/x',
      'cat /proc/cpuinfo',
      'cat /sys/kernel/x',
      'head -n1 /dev/stdin',
      'grep -f /tmp/x a.txt',
      'grep --file=/tmp/x a.txt',
      'grep -if/tmp/x a.txt',
      'grep -r x folder',
      'grep -nR x folder',
      'grep --recurs x folder',
      'grep -d recurse x folder',
      'diff folder folder',
      'diff -r a b',
      'sha256sum -c a.txt',
      'sha256sum --ch a.txt',
      'sort --files0-from=a.txt',
      'wc --files0-f a.txt',
      'tail -f a.txt',
      'tail --pid=1 a.txt',
      `sed -n '5q200' a.txt`,
      `jq 'halt_error(143)' a.json`,
      `awk '{exit 143}' a.txt`,
      `gawk '{print PROCINFO["pid"]}' a.txt`,
      'sudo cat a.txt',
      'cat a.txt b.txt | wc',
      'LC_ALL=C cat a.txt',
      'cat a.txt 2>/dev/null',
      'ls -l a.txt',
      'ps',
      ...(isRoot ? ['cat locked', 'cat halfway'] : []),
    ]
    for (const command of plain) expect([command, await profileOf(command)]).toEqual([command, null])
    expect(await profileOf('cat x', '/tmp')).toBeNull()
    expect(await profileOf('cat hosts', '/etc')).toBe('files')
  })

  it.skipIf(!isRoot)('is not for what root reads by being root, and the answer is there all the same', async () => {
    for (const command of ['cat locked', 'cat halfway'])
      expect((await run(planOf(command, null))).end).toMatchObject({ exitCode: 0 })
    // This is what would be wrong with it.
    expect((await run(planOf('cat locked', 'files'))).stderr).toContain('Permission denied')
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    writeFileSync(join(closed, 'f'), 'x')
    chownSync(closed, 12345, 12345)
    chmodSync(closed, 0o700)
    for (const command of ['cat closed/f', 'cat closed/missing']) expect(await profileOf(command)).toBeNull()
    expect(await profileOf('cat f', closed)).toBeNull()
  })

  it('hands on exit codes and signals, and is stopped like any other', async () => {
    const sh = (script: string) => run(planOf('sh', 'files', { argv: ['sh', '-c', script] }))
    expect((await sh('exit 7')).end).toEqual({ kind: 'exited', exitCode: 7, signal: null })
    expect((await sh('kill -KILL $$')).end).toEqual({ kind: 'exited', exitCode: null, signal: 'SIGKILL' })
    expect((await sh('kill -TERM $$')).end).toEqual({ kind: 'exited', exitCode: null, signal: 'SIGTERM' })
    expect((await sh('ulimit -f; ulimit -v')).stdout).toBe('131072\n8388608\n')
    const pids: number[] = []
    const handle = runner.start(
      planOf('sh', 'files', {
        argv: ['sh', '-c', `trap "" TERM; sleep 987${process.pid} & sleep 987${process.pid}; wait`],
      }),
      { automatic: true },
      { started: (info) => pids.push(info.pid ?? 0), output: () => {} },
    )
    const sleeping = (): string => spawnSync('pgrep', ['-f', `^sleep 987${process.pid}`], { encoding: 'utf8' }).stdout
    await expect.poll(sleeping).not.toBe('')
    expect(pids).toHaveLength(1)
    handle.stop()
    expect(await handle.end).toEqual({ kind: 'exited', exitCode: null, signal: 'SIGTERM' })
    await expect.poll(sleeping).toBe('')
  })
})

describe('without a sandbox at hand', () => {
  it('a plan that names one is not run at all', async () => {
    const fresh = createLocalRunner({ PATH: '/usr/bin:/bin' })
    const output: string[] = []
    const handle = fresh.start(
      planOf('cat a.txt', 'files'),
      { automatic: true },
      { started: () => output.push('started'), output: () => output.push('output') },
    )
    expect(await handle.end).toMatchObject({ kind: 'failed', code: 'sandbox_missing' })
    expect(output).toEqual([])
  })
})
