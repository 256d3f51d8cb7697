import { describe, expect, it } from 'vitest'
import type { FileIdentity, Plan } from '../../../src-preload/contract/model'
import { phraseFits, phraseFor, planDigest, planDrift, sealPlan } from '.'

const TOUCH: FileIdentity = {
  path: 'touch',
  found: '/usr/bin/touch',
  realpath: '/usr/bin/touch',
  dev: '1',
  ino: '2',
  mode: 0o100755,
  uid: 0,
  gid: 0,
  size: 3,
  mtimeMs: 4,
  ctimeNs: '5',
  sha256: null,
}

const open: Omit<Plan, 'digest'> = {
  v: 1,
  agent: 'main',
  session: 's1',
  target: 'local',
  kind: 'local',
  user: 'op',
  cwd: '/srv',
  folder: { dev: '1', ino: '9' },
  argv: null,
  script: 'touch x',
  verify: null,
  env: { LANG: 'C' },
  executable: TOUCH,
  programs: [],
  boundFile: null,
  endpoint: null,
  hostKeys: null,
  sandbox: null,
  limits: { timeoutMs: 1000, outputBytes: 1000 },
  policyVersion: 'p1',
}

describe('a plan', () => {
  it('has a digest that any change of any field changes', () => {
    const plan = sealPlan(open)
    expect(planDigest(plan)).toBe(plan.digest)
    const changes: Partial<Plan>[] = [
      { target: 'host:a' },
      { user: null },
      { cwd: '/' },
      { script: 'touch x ' },
      { verify: 'true' },
      { env: {} },
      { agent: 'mcp:x' },
      { session: 's2' },
      { session: null },
      { kind: 'ssh' },
      { folder: { dev: '1', ino: '8' } },
      { folder: null },
      { argv: ['touch', 'x'] },
      { sandbox: 'files' },
      { endpoint: { address: 'a', port: 22, auth: 'agent', keyPath: null } },
      { hostKeys: [{ algorithm: 'ssh-ed25519', fingerprint: 'x' }] },
      ...Object.keys(TOUCH).map((field) => ({ executable: { ...TOUCH, [field]: field === 'sha256' ? 'a' : 6 } })),
      { executable: null },
      { programs: [TOUCH] },
      { boundFile: TOUCH },
      { policyVersion: 'p2' },
      { limits: { timeoutMs: 1001, outputBytes: 1000 } },
    ]
    for (const change of changes) {
      const other = sealPlan({ ...open, ...change })
      expect(other.digest).not.toBe(plan.digest)
      expect(planDrift(plan, other)).toHaveLength(1)
    }
    expect(planDrift(plan, sealPlan({ ...open }))).toEqual([])
    const input = { sha256: 'a', bytes: 1, what: 'x' }
    expect(planDrift(sealPlan({ ...open, input }), sealPlan({ ...open, input: { ...input, sha256: 'b' } }))).toEqual([
      'what it is given to read',
    ])
    expect(planDrift(plan, sealPlan({ ...open, executable: null }))).toEqual(['the program file "touch"'])
    const programs = [TOUCH, { ...TOUCH, path: 'other' }]
    expect(planDrift(sealPlan({ ...open, programs }), sealPlan({ ...open, programs: [TOUCH] }))).toEqual([
      'the program file "other"',
    ])
  })
})

describe('the phrase', () => {
  it('has to be typed as it stands', () => {
    const phrase = phraseFor('destroy', 'lxc:caddy')
    expect(phraseFits(' destroy   lxc:caddy\n', phrase)).toBe(true)
    for (const wrong of [null, '', 'destroy', 'Destroy lxc:caddy', 'destroy lxc:caddy2', 'yes', 'destroylxc:caddy']) {
      expect(phraseFits(wrong, phrase)).toBe(false)
    }
  })
})
