import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRunCommand } from './run-command'

const run = (target: string, command: string, purpose: string | null = null) => ({
  kind: 'run',
  target,
  purpose,
  command,
})

describe('/run', () => {
  it.each([
    ['/run local uname -a', run('local', 'uname -a')],
    ['  /run   host:web   df -h', run('host:web', 'df -h')],
    ['/run local echo  two  spaces \t\n', run('local', 'echo  two  spaces \t\n')],
    ['/run local\nset -e\n  make', run('local', 'set -e\n  make')],
    ['/run local git log -- src --why "not mine"', run('local', 'git log -- src --why "not mine"')],
    ['/run local -- ls', run('local', '-- ls')],
    ['/run local --whynot x', run('local', '--whynot x')],
    ['/run local --why "look around" ls -l', run('local', 'ls -l', 'look around')],
    [`/run local --why 'it "is" \\ raw' ls`, run('local', 'ls', 'it "is" \\ raw')],
    ['/run local --why "say \\"hi\\" \\\\ \\n" ls', run('local', 'ls', 'say "hi" \\ \\n')],
    ['/run local --why cleanup  rm x', run('local', 'rm x', 'cleanup')],
    ['/run local --why "" ls', run('local', 'ls')],
    ["/run local printf '\\0'", run('local', "printf '\\0'")],
    ['/run local\u00a0x ls', run('local\u00a0x', 'ls')],
  ])('reads %j', (text, expected) => {
    expect(parseRunCommand(text)).toEqual(expected)
  })

  it.each(['/running local ls', '/RUN local ls', '/approval x', ' /rum', '/execute\nls'])(
    'takes %j for a slip, never for a message',
    (text) => {
      expect(parseRunCommand(text)).toMatchObject({
        kind: 'invalid',
        field: 'command',
        message: expect.stringContaining('There is no command'),
      })
    },
  )

  it.each([
    ['/approve apr_01ab allow-once', { id: 'apr_01ab', decision: 'allow-once', forMs: null }],
    ['  /approve 01ab\tdeny\n', { id: '01ab', decision: 'deny', forMs: null }],
    ['/approve apr_01ab allow-always', { id: 'apr_01ab', decision: 'allow-always', forMs: null }],
    ['/approve apr_01ab allow-always --for 8h', { id: 'apr_01ab', decision: 'allow-always', forMs: 8 * 3_600_000 }],
  ])('reads %j as an answer', (text, expected) => {
    expect(parseRunCommand(text)).toEqual({ kind: 'approve', ...expected })
  })

  it.each([
    ['/approve', /Which request/],
    ['/approve apr_01ab', /answer is missing/],
    ['/approve apr_01ab yes', /"yes" is no answer/],
    ['/approve apr_01ab allow-once now', /Not understood: "now"/],
    ['/approve apr_01ab deny --for 8h', /leave it out/],
    ['/approve apr_01ab allow-always --for ever', /not "ever"/],
    ['/approve apr_01ab allow-always --for 400d', /at most 365d/],
    ['/approve ap; allow-once', /no id/],
    ['/approve a allow-once', /no id/],
    ['/approve apr_ allow-once', /no id/],
    ['/approve apr_01a allow-once', /no id/],
    ['/approve ____ allow-once', /no id/],
  ])('says what is wrong with %j', (text, why) => {
    const read = parseRunCommand(text)
    expect(read.kind).toBe('invalid')
    expect('message' in read ? read.message : '').toMatch(why)
  })

  it.each(['hello', 'please /run local ls', '', '/etc/hosts is wrong on web1', '/ what is this', '/run\u00a0local ls'])(
    'takes %j for a message',
    (text) => {
      expect(parseRunCommand(text)).toEqual({ kind: 'message' })
    },
  )

  it.each([
    ['/run', 'target'],
    ['/run  \n', 'target'],
    ['/run --why "x" local ls', 'target'],
    ['/run local', 'command'],
    ['/run local  \t', 'command'],
    ['/run local --why "x"', 'command'],
    ['/run local --why "x" \n', 'command'],
    ['/run local --why', 'why'],
    ['/run local --why "open ls', 'why'],
    ["/run local --why 'open ls", 'why'],
    ['/run local --why "x"ls', 'why'],
    ['/run local --why="x" ls', 'why'],
    ['/run local ls\0-l', 'command'],
    ['/run lo\0cal ls', 'target'],
    ['/run local --why "a\0b" ls', 'why'],
  ])('refuses %j and names the field', (text, field) => {
    const read = parseRunCommand(text)
    expect(read).toMatchObject({ kind: 'invalid', field })
    if (read.kind === 'invalid') expect(read.message).toMatch(/Write|written|Remove|Close|Shorten|followed by/)
  })

  it.each([
    ['/exec security=full ask=off', { security: 'full', ask: 'off' }],
    [' /exec\task=always ', { ask: 'always' }],
    ['/exec host=node', { host: 'node' }],
    ['/elevated full', { elevated: true }],
    ['/elevated off', { elevated: false }],
  ])('sets for the session what %j says', (text, change) => {
    expect(parseRunCommand(text)).toMatchObject({ kind: 'session', change })
  })

  it.each([
    ['/exec', /Write \/exec security=/],
    ['/exec ls', /"ls" is not one of security=…, ask=…, host=…/],
    ['/exec ask=sometimes', /ask is "sometimes"; it may be off, on-miss, always/],
    ['/exec ask=off ask=always', /ask is there twice/],
    ['/exec riskGate=false', /is not one of/],
    ['/exec __proto__=x', /is not one of/],
    ['/elevated', /Write \/elevated full, or \/elevated off/],
    ['/elevated full please', /Write \/elevated full/],
  ])('does not half understand %j', (text, words) => {
    const read = parseRunCommand(text)
    expect(read.kind === 'invalid' && read.message).toMatch(words)
  })

  it.each(['please /elevated full', 'he said: /exec ask=off', 'text\n/elevated full'])('takes %j for words', (text) => {
    expect(parseRunCommand(text)).toEqual({ kind: 'message' })
  })

  it('refuses a reason nobody would read', () => {
    expect(parseRunCommand(`/run local --why "${'x'.repeat(2001)}" ls`)).toMatchObject({
      kind: 'invalid',
      field: 'why',
    })
  })

  it('keeps every command byte for byte', () => {
    const command = fc
      .string({ unit: 'binary', minLength: 1 })
      .filter(
        (text) => text.trim() !== '' && !text.includes('\0') && !/^[ \t\r\n]/.test(text) && !text.startsWith('--why'),
      )
    fc.assert(
      fc.property(command, (text) => {
        expect(parseRunCommand(`/run local ${text}`)).toEqual(run('local', text))
        expect(parseRunCommand(`/run local --why "a b" ${text}`)).toEqual(run('local', text, 'a b'))
      }),
    )
  })
})
