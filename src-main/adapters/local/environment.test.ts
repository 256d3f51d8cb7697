import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Plan } from '../../../src-preload/contract/model'
import { createLocalRunner } from './index'

/** What changes a command without being seen on the card, each in the way it would do it. */
const BAD: Readonly<Record<string, string>> = {
  BASH_ENV: '/x',
  ENV: '/x',
  'BASH_FUNC_ls%%': '() { echo hijacked; }',
  'BASH_FUNC_uname%%': '() { echo hijacked; }',
  SHELLOPTS: 'xtrace',
  BASHOPTS: 'expand_aliases',
  PS4: '$(echo hijacked >&2)',
  PROMPT_COMMAND: 'echo hijacked',
  CDPATH: '/x',
  LD_PRELOAD: '/x.so',
  LD_LIBRARY_PATH: '/x',
  LD_AUDIT: '/x.so',
  GCONV_PATH: '/x',
  GETCONF_DIR: '/x',
  LOCPATH: '/x',
  GLIBC_TUNABLES: 'x',
  OPENSSL_CONF: '/x',
  LESSOPEN: '|echo hijacked',
  LESSCLOSE: 'x',
  MANPAGER: 'echo hijacked',
  GIT_EXTERNAL_DIFF: 'echo hijacked',
  GIT_DIR: '/x',
  GIT_CONFIG_PARAMETERS: "'core.pager=echo hijacked'",
  GIT_SSH: 'x',
  GREP_OPTIONS: '--count',
  GREP_COLORS: 'x',
  LS_COLORS: 'x',
  LS_OPTIONS: '-R',
  TAR_OPTIONS: '--to-command=x',
  GZIP: '-d',
  XZ_OPT: '-d',
  RIPGREP_CONFIG_PATH: '/x',
  PERL5OPT: '-Mx',
  PYTHONSTARTUP: '/x',
  NODE_OPTIONS: '--require /x',
  APT_CONFIG: '/x',
  KUBECTL_EXTERNAL_DIFF: 'x',
  COMPOSE_FILE: 'oci://example.com/a',
  COMPOSE_EXPERIMENTAL_GIT_REMOTE: 'true',
  COMPOSE_EXPERIMENTAL_OCI_REMOTE: '1',
  SSLKEYLOGFILE: '/x',
  NOMOS_HOME: '/x',
  DEPLOY_TOKEN: 'plain-1234567',
  https_proxy: 'http://me:plain-1234567@proxy:3128',
}

let bin: string
beforeAll(() => {
  bin = join(mkdtempSync('/var/tmp/nomos-env-'), 'bin')
  mkdirSync(bin)
  for (const name of ['env', 'uname', 'prlimit', 'bwrap', 'bash', 'sh']) {
    writeFileSync(join(bin, name), '#!/bin/sh\necho hijacked\n')
    chmodSync(join(bin, name), 0o755)
  }
})
afterAll(() => rmSync(join(bin, '..'), { recursive: true, force: true }))

async function run(script: string, argv: readonly string[] | null, sandbox: string | null, cwd = '/usr') {
  const good = { HOME: '/usr', LANG: 'C.UTF-8', DOCKER_HOST: 'tcp://there', http_proxy: 'http://proxy:3128' }
  const runner = createLocalRunner({ ...good, PATH: `${bin}:/usr/bin:/bin`, ...BAD })
  const base = { target: 'local', env: {}, endpoint: null, cwd }
  const draft = {
    ...base,
    script,
    argv,
    programs: [],
    pins: [],
    fileOperand: null,
    sourced: [],
    unpinnable: null,
    locate: 'no' as const,
    user: null,
    sandbox: { profile: 'files' as const, operands: [] },
  }
  const prepared = await runner.prepare(draft)
  const text: Buffer[] = []
  const plan: Plan = {
    ...base,
    v: 1,
    agent: 'main',
    session: null,
    folder: null,
    kind: 'local',
    user: 'me',
    argv,
    script,
    verify: null,
    executable: null,
    programs: [],
    boundFile: null,
    hostKeys: null,
    sandbox,
    limits: { timeoutMs: 60_000, outputBytes: 1e9 },
    policyVersion: 'test',
    digest: 'test',
  }
  const sink = { started: () => {}, output: (_stream: string, bytes: Uint8Array) => void text.push(Buffer.from(bytes)) }
  const { end } = runner.start(plan, { automatic: true }, sink)
  return { end: await end, text: Buffer.concat(text).toString(), prepared: prepared.sandbox }
}

const ways = [
  ['by a shell', null, null],
  ['without a shell', ['env'], null],
  ['in the sandbox', ['env'], 'files'],
] as const

describe('what runs unasked', () => {
  it.each(ways)('%s gets an environment of its own', async (_name, argv, sandbox) => {
    const { end, text, prepared } = await run('env', argv, sandbox)
    if (sandbox !== null && prepared === null) return
    expect([end, text.includes('hijacked')]).toEqual([{ kind: 'exited', exitCode: 0, signal: null }, false])
    const found = new Map(
      text
        .trimEnd()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    for (const [name, value] of Object.entries(BAD)) expect([name, found.get(name) === value]).toEqual([name, false])
    expect(text).not.toContain('plain-1234567')
    expect(Object.fromEntries([...found].filter(([name]) => !/^(_|SHLVL|OLDPWD|GIT_CONFIG_.*)$/.test(name)))).toEqual({
      HOME: '/usr',
      LANG: 'C.UTF-8',
      DOCKER_HOST: 'tcp://there',
      http_proxy: 'http://proxy:3128',
      PATH: '/usr/bin:/bin',
      PWD: '/usr',
      TERM: 'dumb',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      SYSTEMD_PAGER: 'cat',
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_ASKPASS: '/bin/false',
      GIT_SSH_COMMAND: '/bin/false',
      GIT_ALLOW_PROTOCOL: 'none',
      COMPOSE_EXPERIMENTAL_GIT_REMOTE: 'false',
      COMPOSE_EXPERIMENTAL_OCI_REMOTE: 'false',
      EXEC_GATE_RUN: '1',
    })
  })

  it('has no terminal, no input and limits, with a shell or without', async () => {
    const script = 'tty; cat; ulimit -f; ulimit -v'
    for (const argv of [null, ['sh', '-c', script]])
      expect((await run(script, argv, null)).text).toMatch(/^not a tty\n(65536|131072)\n8388608\n$/)
  })

  it('is given its words as they are, under the name that was typed', async () => {
    const words = ['printf', '%s|', '$HOME', '*', '`id`', '', 'a b', '-n', 'é']
    expect((await run('exit 99', words, null)).text).toBe(`${words.slice(2).join('|')}|`)
    const { end, text } = await run('exit 99', ['cat', '/nothing/here'], null)
    expect([end, text]).toEqual([
      { kind: 'exited', exitCode: 1, signal: null },
      'cat: /nothing/here: No such file or directory\n',
    ])
    expect((await run('exit 99', ['sh', '-c', 'kill -SEGV $$'], null)).end).toMatchObject({ signal: 'SIGSEGV' })
  })
})
