import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Runner } from '../ports'
import { createTestbed, type Testbed } from './testbed'

/** Starts nothing: what is asked about here must not reach another machine. */
const still: Runner = {
  kind: 'local',
  prepare: async ({ programs, cwd }) => ({
    user: 'ann',
    cwd: cwd ?? '/srv/app',
    folder: null,
    executable: null,
    programs: [],
    boundFile: null,
    hostKeys: null,
    resolved: programs.map((program) => ({ program, path: `/usr/bin/${program}`, trusted: true })),
    findings: [],
    sandbox: null,
  }),
  start: () => ({ end: Promise.resolve({ kind: 'exited', exitCode: 0, signal: null }), stop: () => {} }),
  close: async () => {},
}

let bed: Testbed
beforeEach(() => {
  bed = createTestbed({ runner: still })
  const host = { slug: 'web1', address: '192.0.2.7', port: 22, user: 'ann', auth: 'agent' as const, keyPath: null }
  bed.store.saveHost({ ...host, tags: ['prod'] }, null, 0)
  bed.store.saveHost({ ...host, slug: 'lab', address: 'lab.example', tags: ['ask'] }, null, 0)
  bed.policy.requested = { ...bed.policy.requested, security: 'full', ask: 'off' }
  bed.policy.host = bed.policy.requested
})
afterEach(() => bed.stop())

describe('a command carried on to a known target', () => {
  it.each([
    'ssh web1 systemctl restart nginx',
    'ssh root@192.0.2.7 -p 2222 systemctl restart nginx',
    "sudo nice timeout 5 ssh WEB1 'touch /srv/a'",
    "sh -c 'ssh web1 touch a'",
    'ssh ssh://ann@web1:2222 touch a',
    'ssh -o HostName=192.0.2.7 elsewhere touch a',
    'ssh -oHostname=web1 elsewhere touch a',
    "ssh -o 'HostName web1' elsewhere touch a",
    'scp a web1:/srv/a',
    "sudo scp -3 other:/a 'ann@192.0.2.7:/srv/b'",
    'rsync -a a/ WEB1:/srv/',
    'rsync -a a/ rsync://web1/srv/',
    'rsync -a a/ web1::srv',
    'sftp -b batch ann@web1',
    'ssh-copy-id -i k.pub web1',
    'docker -H ssh://ann@web1 rm x',
    'DOCKER_HOST=ssh://web1 docker rm x',
    'git push ann@web1:/srv/repo main',
    "sh -c 'scp a web1:'",
  ])('takes its tags along: %s', async (command) => {
    const asked = await bed.ask(command)
    expect(asked.state).toBe('pending_approval')
    expect(asked.decision.trace.map(({ rule }) => rule)).toContain('prod')
  })

  it.each(['ssh web2 systemctl restart nginx', 'scp web1 other:/srv/a', 'touch web1:a', 'rsync -a web1/ /srv/web1:a'])(
    'is judged by itself where the target is not known: %s',
    async (command) => {
      const asked = await bed.ask(command)
      expect((await bed.until(asked.id, 'completed')).decision.outcome).toBe('auto')
    },
  )

  it('has its class raised by a tag that asks about everything', async () => {
    const asked = await bed.ask('ssh ann@lab.example uptime', { declaredRisk: null })
    expect(asked.risk).toBe('config_mutation')
    expect(asked.classification.reasons.map(({ rule }) => rule)).toContain('carrier')
  })
})
