import { describe, expect, it } from 'vitest'
import { compileRules } from './rules'
import { sandboxChanges, sandboxOf, signalFromSandbox } from './sandbox'

const rules = compileRules([
  {
    name: 'test.yaml',
    data: {
      programs: ['cat', 'grep', 'sha256sum', 'diff', 'sed', 'sort']
        .map((names) => ({ names, summary: 'Reads.', sandbox: 'files', operands: 'read...' }))
        .concat([{ names: 'ls', summary: 'Lists.', operands: 'path...' } as never]),
    },
  },
])
const operands = (...argv: string[]) => sandboxOf(argv, rules)?.operands ?? null

describe('a wish for the sandbox', () => {
  it('names every word that may be a file', () => {
    expect(operands('cat', 'a', './b', '/etc/hosts', 'a')).toEqual(['a', './b', '/etc/hosts'])
    expect(operands('/usr/bin/cat', '-')).toEqual([])
    expect(operands('grep', '--file=words', '-fwhat', 'x')).toEqual(expect.arrayContaining(['words', 'what', 'x']))
    expect(operands('grep', '--', '-r', 'a')).toEqual(expect.arrayContaining(['-r', 'a']))
  })

  it.each([
    [['ls', 'a']],
    [['sudo', 'cat', 'a']],
    [['nobody-knows', 'a']],
    [['/opt/cat', 'a']],
    [['cat', '/tmp/a']],
    [['cat', '/tmp']],
    [['cat', '/srv/../tmp/a']],
    [['cat', '//run/a']],
    [['cat', '/dev/null']],
    [['grep', '--file=/proc/1/x', 'a']],
    [['grep', '-f/run/x', 'a']],
    [['grep', '-if/run/x', 'a']],
    [['grep', '-inr', 'x', 'a']],
    [['grep', '--recu', 'x']],
    [['sha256sum', '-wc', 'a']],
    [['sha256sum', '--check', 'a']],
    [['diff', '-uN', 'a', 'b']],
    [['sort', '--files0=a']],
    [['sed', '-n', '3Q 200', 'a']],
  ])('is none for %j', (argv) => {
    expect(sandboxOf(argv, rules)).toBeNull()
  })

  it('knows the places that look different in there', () => {
    expect(['/tmp', '/tmp/x', '/run/a/b', '/x/../dev/null', '/sys/a', '/var/run'].map(sandboxChanges)).not.toContain(
      false,
    )
    expect(['/', '/tmpx', '/var/tmp/x', '/home/dev', '/running'].map(sandboxChanges)).not.toContain(true)
  })

  it('tells a signal from an exit code', () => {
    expect([0, 1, 127, 128, 137, 143, 153, 200, null].map(signalFromSandbox)).toEqual([
      null,
      null,
      null,
      null,
      'SIGKILL',
      'SIGTERM',
      'SIGXFSZ',
      null,
      null,
    ])
  })
})
