import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadExecPolicies, loadRiskRules } from '../../adapters/policy-files'
import { classify, type RuleSet } from '../risk'
import { type Grant, type GrantKinds, type GrantQuestion, grantCovers, type ResolvedSegment, segmentsOf } from '.'

const folder = join(import.meta.dirname, '../../../policies')
let kinds: GrantKinds
let rules: RuleSet
beforeAll(() => {
  kinds = loadExecPolicies(folder).grantKinds
  rules = loadRiskRules(join(folder, 'risk'))
})

const grant: Grant = {
  id: 'g1',
  agent: 'main',
  target: 'host:web',
  kinds: ['reads', 'restarts'],
  createdAt: 1000,
  expiresAt: 2000,
  note: '',
}
function question(
  command: string,
  more: Partial<GrantQuestion> = {},
  resolved: Partial<ResolvedSegment> = {},
): GrantQuestion {
  return {
    classification: classify(command, { rules, posture: 'default', cwd: '/srv', nomosHome: '/home/ann/.nomos' }),
    segments:
      segmentsOf(command)?.map((segment) => ({
        ...segment,
        path: null,
        real: null,
        trusted: false,
        wrappersTrusted: true,
        ...resolved,
      })) ?? null,
    agent: 'main',
    target: 'host:web',
    tags: ['web'],
    runbook: null,
    ...more,
  }
}
const covers = (command: string, own: Partial<Grant> = {}, more: Partial<GrantQuestion> = {}, now = 1500): boolean =>
  grantCovers(kinds, { ...grant, ...own }, question(command, more), now)

describe('a grant for a time', () => {
  it('covers its kinds, together as well, and nothing else', () => {
    expect(covers('df -h | sort')).toBe(true)
    expect(covers('sudo systemctl restart nginx')).toBe(true)
    expect(covers('systemctl restart nginx && systemctl reload php-fpm')).toBe(true)
    expect(covers('systemctl stop nginx')).toBe(false)
    expect(covers('systemctl stop nginx', { kinds: ['starts-and-stops'] })).toBe(true)
    expect(covers('df -h', { kinds: ['restarts'] })).toBe(false)
    expect(covers('df -h', { kinds: ['everything', '__proto__'] })).toBe(false)
  })
  it('runs out, and has not begun before it was made', () => {
    for (const [now, expected] of [
      [999, false],
      [1000, true],
      [1999, true],
      [2000, false],
    ] as const)
      expect(covers('df -h', {}, {}, now)).toBe(expected)
  })
  it('is for its agent and target, or for a group of targets', () => {
    expect(covers('df -h', {}, { agent: 'mcp:x' })).toBe(false)
    expect(covers('df -h', {}, { target: 'host:db' })).toBe(false)
    expect(covers('df -h', { target: 'group:web' }, { target: 'host:db' })).toBe(true)
    expect(covers('df -h', { target: 'group:db' })).toBe(false)
    expect(covers('df -h', { target: 'group:host:web' })).toBe(false)
  })
  it('covers a runbook by its name, never what cannot be undone in it', () => {
    const own = { kinds: ['runbook:deploy'] }
    expect(covers('cp a b', own, { runbook: 'deploy' })).toBe(true)
    expect(covers('cp a b', own, { runbook: 'other' })).toBe(false)
    expect(covers('cp a b', own)).toBe(false)
    expect(covers('rm -rf /srv/x', own, { runbook: 'deploy' })).toBe(false)
  })
  it('counts only the program of the system, where that can be told', () => {
    const at = (resolved: Partial<ResolvedSegment>): boolean =>
      grantCovers(kinds, grant, question('systemctl restart nginx', {}, resolved), 1500)
    expect(at({ path: '/usr/bin/systemctl', real: '/usr/bin/systemctl', trusted: true })).toBe(true)
    expect(at({ path: '/tmp/systemctl', real: '/tmp/systemctl', trusted: false })).toBe(false)
  })
  it('a read that was declared to be more is not covered as a read', () => {
    const classification = classify('df -h', { rules, posture: 'default', declaredRisk: 'config_mutation' })
    expect(grantCovers(kinds, grant, { ...question('df -h'), classification }, 1500)).toBe(false)
  })
  it('never covers what cannot be undone, nor what reaches Nomos, whatever it is granted for', () => {
    const all = { kinds: ['reads', 'restarts', 'starts-and-stops', 'package-lists', 'image-pulls', 'runbook:x'] }
    const command = fc.constantFrom(
      'df -h',
      'systemctl restart nginx',
      'rm -rf /srv/x',
      'cat /home/ann/.nomos/db',
      'apt-get update',
    )
    fc.assert(
      fc.property(command, fc.boolean(), fc.boolean(), (text, destructive, self) => {
        const asked = question(text, { runbook: 'x' })
        const { classification } = asked
        const judged = {
          ...classification,
          risk: destructive ? ('destructive' as const) : classification.risk,
          flags: { ...classification.flags, self: self || classification.flags.self },
        }
        const covered = grantCovers(kinds, { ...grant, ...all }, { ...asked, classification: judged }, 1500)
        if (judged.risk === 'destructive' || judged.flags.self) expect(covered).toBe(false)
      }),
    )
    expect(covers('cat /home/ann/.nomos/db', all)).toBe(false)
  })
})
