import { describe, expect, it } from 'vitest'
import {
  ApprovalsFile,
  fieldFaults,
  HOST_SILENT,
  hostAllowlist,
  hostAllowsSkills,
  hostLayer,
  hostPolicy,
  normalizeApprovals,
} from '.'

const numbered = () => {
  let n = 0
  return () => `new-${++n}`
}

describe('the file', () => {
  it('fills what is omitted: the agent, then the defaults, then the built-in policy, and says which', () => {
    const file = ApprovalsFile.parse({
      version: 1,
      kept: 1,
      defaults: { ask: 'always' },
      agents: { main: { security: 'full', allowlist: [] } },
    })
    expect(hostLayer(file, 'main')).toEqual({ ...HOST_SILENT, security: 'full', ask: 'always' })
    expect(hostLayer(file, 'other')).toEqual({ ...HOST_SILENT, ask: 'always' })
    expect(hostLayer(null, 'main')).toEqual(HOST_SILENT)
    expect(hostLayer(file, '__proto__')).toEqual({ ...HOST_SILENT, ask: 'always' })
    expect(file.kept).toBe(1)
    expect(hostPolicy(file, 'main').from).toEqual({
      security: 'agent',
      ask: 'defaults',
      askFallback: 'built-in',
      autoAllowReadOnly: 'built-in',
      riskGate: 'built-in',
      strictInlineEval: 'built-in',
    })
  })
  it('refuses values that are not of the list, naming path, value and what may stand there', () => {
    const input = { version: 1, defaults: { security: 'fulll' }, agents: { main: { allowlist: [{ pattern: 3 }] } } }
    const wrong = ApprovalsFile.safeParse(input)
    expect(wrong.error?.issues[0]?.path).toEqual(['defaults', 'security'])
    const faults = fieldFaults(wrong.error as never, input)
    expect(faults[0]).toEqual({
      path: 'defaults.security',
      value: '"fulll"',
      allowed: ['"deny"', '"allowlist"', '"full"'],
      sentence: '"defaults.security" is "fulll"; it may be "deny", "allowlist", "full".',
    })
    expect(faults[1]?.path).toBe('agents.main.allowlist[0].pattern')
    expect(faults[1]?.value).toBe('3')
  })
  it('never repeats a token', () => {
    const input = { version: 1, socket: { token: 12345 } }
    const wrong = ApprovalsFile.safeParse(input)
    expect(JSON.stringify(fieldFaults(wrong.error as never, input))).not.toContain('12345')
  })
  it('becomes canonical: ids filled and unique, the legacy agent moved, what is unknown kept', () => {
    const file = ApprovalsFile.parse({
      version: 1,
      extra: true,
      agents: {
        default: { security: 'full', ask: 'off', note: 'old', allowlist: [{ pattern: 'rg', id: 'a', mine: 1 }] },
        main: { ask: 'always', allowlist: [{ pattern: 'ls' }, { pattern: 'df', id: 'a' }] },
        'mcp:x': { allowlist: [{ pattern: 'wc', id: 'a' }] },
      },
    })
    const tidy = normalizeApprovals(file, numbered())
    expect(tidy).toEqual({
      version: 1,
      extra: true,
      agents: {
        main: {
          security: 'full',
          ask: 'always',
          note: 'old',
          allowlist: [
            { pattern: 'ls', id: expect.any(String) },
            { pattern: 'df', id: expect.any(String) },
            { pattern: 'rg', id: expect.any(String), mine: 1 },
          ],
        },
        'mcp:x': { allowlist: [{ pattern: 'wc', id: expect.any(String) }] },
      },
    })
    const ids = Object.values(tidy.agents ?? {}).flatMap(({ allowlist }) => allowlist?.map(({ id }) => id) ?? [])
    expect(new Set(ids).size).toBe(4)
    expect(normalizeApprovals(tidy, numbered())).toBe(tidy)
    // Read before it was normalised it means the same.
    expect(hostLayer(file, 'main')).toEqual(hostLayer(tidy, 'main'))
    expect(hostAllowlist(file, 'main').map(({ pattern }) => pattern)).toEqual(['ls', 'df', 'rg'])
  })
  it('keeps allowlists and skills of an agent to itself', () => {
    const file = ApprovalsFile.parse({
      version: 1,
      defaults: { autoAllowSkills: true },
      agents: { main: { autoAllowSkills: false, allowlist: [{ pattern: 'ls' }] } },
    })
    expect(hostAllowlist(file, 'mcp:x')).toEqual([])
    expect(hostAllowsSkills(file, 'main')).toEqual({ on: false, from: 'agent' })
    expect(hostAllowsSkills(file, 'mcp:x')).toEqual({ on: true, from: 'defaults' })
    expect(hostAllowsSkills(null, 'main')).toEqual({ on: false, from: 'built-in' })
  })
})
