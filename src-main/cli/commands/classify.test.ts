import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ClassifyOptions, classify, type RuleSet } from '../../domain/risk'
import { EXIT } from '../exits'
import { fakeIo } from '../fake-io.fixture'
import { run } from '../program'

// The engine and its rules have tests of their own; here it matters what is asked of it and that each answer reaches its line.
vi.mock('../../domain/risk', async (original) => {
  const real = await original<typeof import('../../domain/risk')>()
  return { ...real, classify: vi.fn(real.classify) }
})
vi.mock('../../adapters/policy-files', () => ({ loadRiskRules: vi.fn((): RuleSet => ({}) as RuleSet) }))
vi.mock('../../adapters/system', async (original) => ({
  ...(await original<typeof import('../../adapters/system')>()),
  resourcesFolder: () => '/nowhere',
}))

const seen = vi.mocked(classify)

/** A verdict that tells which command it is of. */
seen.mockImplementation((command: string, options: ClassifyOptions) => ({
  risk: 'config_mutation',
  reasons: [
    {
      rule: `${options.posture}/${options.declaredRisk}`,
      risk: 'config_mutation',
      span: { start: 0, end: command.length },
      sentence: 'It changes something.',
    },
  ],
  effects: [],
  coverage: 'partial',
  spans: [{ start: 0, end: command.length, risk: 'config_mutation' }],
  flags: {
    self: false,
    inlineEval: false,
    compound: false,
    unending: false,
    interactive: false,
    tooLarge: false,
    tooDeep: false,
    invisible: false,
  },
}))

afterEach(() => seen.mockClear())

async function jsonl(stdin: readonly (string | Buffer)[], args: readonly string[] = []) {
  const io = fakeIo({ home: '/h', stdin })
  const exit = await run(['classify', '--jsonl', ...args], io)
  const text = io.out()
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  return { exit, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>), io }
}

describe('classify --jsonl', () => {
  it('answers every line, the empty command included, in order', async () => {
    const { exit, lines } = await jsonl([
      '{"command":"df -h"}\n{"command":""}\n{"command":"rm x","declaredRisk":"read_only"}',
    ])
    expect(exit).toBe(EXIT.done)
    expect(lines.map((line) => line.command)).toEqual(['df -h', '', 'rm x'])
    expect(Object.keys(lines[0] ?? {})).toEqual(['command', 'risk', 'reasons', 'effects', 'coverage', 'spans', 'flags'])
    expect(seen.mock.calls.map(([, options]) => options.declaredRisk)).toEqual([null, null, 'read_only'])
    expect(seen.mock.calls[0]?.[1].nomosHome).toBe('/h')
  })

  it('answers a malformed line with its number and a class, and goes on', async () => {
    const { exit, lines } = await jsonl([
      '{"command":"a"}\n{oops\n\n[]\n{"command":1}\n',
      Buffer.from([0x22, 0xff, 0x22, 0x0a]),
      '{"command":"b","other":1}\n',
    ])
    expect(exit).toBe(EXIT.failed)
    expect(lines).toHaveLength(7)
    expect(lines.map((line) => line.line ?? line.command)).toEqual(['a', 2, 3, 4, 5, 6, 'b'])
    for (const line of lines) expect(line.risk).toBe('config_mutation')
    for (const line of lines.slice(1, 6)) expect(typeof line.error).toBe('string')
  })

  it('counts a declared risk of another type as unknown', async () => {
    await jsonl([
      '{"command":"a","declaredRisk":5}\n{"command":"a","declaredRisk":null}\n{"command":"a","declaredRisk":""}\n',
    ])
    expect(seen.mock.calls.map(([, options]) => options.declaredRisk)).toEqual(['5', null, ''])
  })

  it('answers nothing for no input', async () => {
    expect(await jsonl([])).toMatchObject({ exit: EXIT.done, lines: [] })
    expect(await jsonl([''])).toMatchObject({ exit: EXIT.done, lines: [] })
  })

  it('answers a line before the next one comes', async () => {
    let answered = ''
    const io = fakeIo({ home: '/h' })
    const turns = (async function* () {
      yield Buffer.from('{"command":"one"}\n')
      answered = io.out()
      yield Buffer.from('{"command":"two"}\n')
    })()
    expect(await run(['classify', '--jsonl'], { ...io, stdin: turns })).toBe(EXIT.done)
    expect(answered).toContain('"command":"one"')
  })

  it('does not keep a line without an end in memory', async () => {
    const { exit, lines } = await jsonl([
      ...Array.from({ length: 20 }, () => Buffer.alloc(1024 * 1024, 'x')),
      '\n{"command":"b"}\n',
    ])
    expect(exit).toBe(EXIT.failed)
    expect(lines).toMatchObject([{ line: 1 }, { command: 'b' }])
  })

  it('gives exactly one line for each, however the bytes are cut', async () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary' }).map((command) => JSON.stringify({ command })),
      fc.string().map((text) => text.replaceAll('\n', '')),
      fc.constantFrom('', '{}', 'null', '{"command":null}', '{"command":"a"}\r'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.boolean(), fc.array(fc.nat(400)), async (wanted, closed, cuts) => {
        const bytes = Buffer.from(wanted.join('\n') + (closed && wanted.length > 0 ? '\n' : ''))
        const at = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b)
        const chunks = [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end))
        const { lines, exit } = await jsonl(chunks)
        // Without a break at its end, an empty last line is no line.
        const expected = !closed && wanted.at(-1) === '' ? wanted.slice(0, -1) : wanted
        expect(lines).toHaveLength(expected.length)
        expect(exit === EXIT.failed).toBe(lines.some((answer) => 'error' in answer))
        for (const [index, text] of expected.entries()) {
          const answer = lines[index]
          if (answer !== undefined && 'error' in answer) expect(answer.line).toBe(index + 1)
          else expect(answer?.command).toBe((JSON.parse(text) as { command: string }).command)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('answers 20,000 lines that come in pieces', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `{"command":"echo ${index}"}\n`).join('')
    const bytes = Buffer.from(many)
    const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
      bytes.subarray(index * 65_536, (index + 1) * 65_536),
    )
    const { lines } = await jsonl(chunks)
    expect(lines).toHaveLength(20_000)
    expect(lines[19_999]?.command).toBe('echo 19999')
  })
})

describe('classify COMMAND', () => {
  const once = async (args: readonly string[], tty = false) => {
    const io = fakeIo({ home: '/h', tty })
    return { exit: await run(['classify', ...args], io), out: io.out(), err: io.err() }
  }

  it('takes one argument byte for byte and joins several', async () => {
    await once(['  a  "b"\n'])
    await once(['rm', '-rf', '--json', 'x'])
    await once(['--', '--json'])
    await once([''])
    expect(seen.mock.calls.map(([command]) => command)).toEqual(['  a  "b"\n', 'rm -rf --json x', '--json', ''])
  })

  it('reads its options before the command', async () => {
    const { out } = await once(['--json', '--posture', 'every-segment', '--risk', 'destructive', 'ls'])
    expect(JSON.parse(out)).toMatchObject({ command: 'ls', reasons: [{ rule: 'every-segment/destructive' }] })
  })

  it('shows the verdict with the spans marked, nothing hidden, and what was not applied', async () => {
    const { exit, out } = await once(['rm \u202ex'])
    expect(exit).toBe(EXIT.done)
    expect(out).toContain('■ change · would be asked about')
    expect(out).toContain('  rm \\u{202e}x\n  ^^^^^^^^^^^^ 1\n')
    expect(out).toContain('It changes something.')
    expect(out.replaceAll('\n', ' ')).toContain(
      'the second parser, where the executable resolves, the tags of the target',
    )
    expect(out).not.toContain('\u001b')
  })

  it('explains the whole of it, and says the same as data', async () => {
    expect((await once(['--explain', 'sudo rm x'])).out).toMatch(/starts +sudo › rm x\n[\s\S]*only part of it/)
    expect(JSON.parse((await once(['--json', '--explain', 'sudo rm x'])).out)).toMatchObject({
      risk: 'config_mutation',
      outcome: 'ask',
      phrase: null,
      starts: [{ words: [{ text: 'sudo', known: true }], starts: [{ words: [{ text: 'rm' }, { text: 'x' }] }] }],
    })
  })

  it.each([[[]], [['--posture', 'loose', 'ls']], [['--jsonl', 'ls']], [['--nope', 'ls']]])(
    'refuses %j',
    async (args) => {
      expect((await once(args)).exit).toBe(EXIT.usage)
      expect(seen).not.toHaveBeenCalled()
    },
  )
})
