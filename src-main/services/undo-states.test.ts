import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionView } from '../../src-preload/contract/model'
import { createLocalRunner } from '../adapters/local'
import type { Inspector, PathSeen, Runner } from '../ports'
import { createTestbed, type Testbed } from './testbed'

let bed: Testbed
let folder: string

/** The runner of this computer, for which the stand-ins of the test are programs of the system. */
function withStandIns(bin: string): Runner {
  const local = createLocalRunner({ ...process.env, PATH: `${bin}:${process.env.PATH}` })
  return {
    kind: 'local',
    async prepare(draft) {
      const prepared = await local.prepare(draft)
      return { ...prepared, resolved: prepared.resolved.map((one) => ({ ...one, trusted: true })) }
    },
    start: (plan, mode, sink) => local.start(plan, { ...mode, automatic: false }, sink),
    close: () => local.close(),
  }
}

/** Keeps the states of units and containers in files of a folder. */
const STAND_INS: Readonly<Record<string, string>> = {
  systemctl: `case $1 in --user) d="$d/user"; shift;; esac
v=$1; shift
echo "$v $*" >> "$d/calls"
name() { for w do case $w in -*) ;; *) n=\${w%.service};; esac; done; }
case $v in
  show) while [ "$1" != -- ]; do shift; done; n=\${2%.service}
    echo LoadState=loaded; echo "ActiveState=$(cat "$d/$n.active" 2>/dev/null || echo inactive)"
    echo "UnitFileState=$(cat "$d/$n.file" 2>/dev/null || echo disabled)" ;;
  start|restart) name "$@"; [ "$(cat "$d/$n.file" 2>/dev/null)" = masked ] && exit 1; echo active > "$d/$n.active" ;;
  stop) name "$@"; echo inactive > "$d/$n.active" ;;
  enable) name "$@"; [ "$(cat "$d/$n.file" 2>/dev/null)" = masked ] && exit 1; echo enabled > "$d/$n.file"; case " $* " in *" --now "*) echo active > "$d/$n.active";; esac ;;
  disable|unmask) name "$@"; echo disabled > "$d/$n.file" ;;
  mask) name "$@"; echo masked > "$d/$n.file"; case " $* " in *" --now "*) echo inactive > "$d/$n.active";; esac ;;
esac`,
  docker: `case $1 in
  container) n=$5; [ -e "$d/c.$n" ] || { echo "no such container" >&2; exit 1; }
    case $4 in *Id*) cat "$d/id.$n";; *) cat "$d/c.$n";; esac ;;
  stop) echo exited > "$d/c.$2" ;; start|unpause) echo running > "$d/c.$2" ;; pause) echo paused > "$d/c.$2" ;;
  rename) mv "$d/c.$2" "$d/c.$3"; mv "$d/id.$2" "$d/id.$3" ;;
esac`,
  pct: `case $1 in
  status) echo "status: $(cat "$d/p.$2")" ;; stop|shutdown) echo stopped > "$d/p.$2" ;; start) echo running > "$d/p.$2" ;;
esac`,
  // Nobody is root here but the name, which is what has to stand in the way back.
  sudo: `echo "$*" >> "$d/sudo.log"; exec "$@"`,
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nomos-undo-'))
  for (const [name, script] of Object.entries(STAND_INS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nd=${folder}\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  bed = createTestbed({ undo: true, runner: withStandIns(folder) })
})

afterEach(async () => {
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

const set = (name: string, state: string): void => writeFileSync(join(folder, name), `${state}\n`)
const get = (name: string): string => readFileSync(join(folder, name), 'utf8').trim()

async function done(asked: ExecutionView): Promise<ExecutionView> {
  if (asked.state === 'pending_approval') await bed.approve(asked, asked.approval?.phrase ?? null)
  const ended = await bed.until(asked.id, 'completed', 'failed', 'denied')
  const deadline = Date.now() + 15_000
  while (bed.store.undoKept(asked.id).some(({ after }) => after === null) && Date.now() < deadline)
    await new Promise((go) => setTimeout(go, 5))
  return ended
}

const run = async (command: string): Promise<ExecutionView> => done(await bed.ask(command, { cwd: folder }))

async function undo(execution: ExecutionView): Promise<string> {
  const { command, purpose, input } = await bed.undo.request(execution)
  const undone = await done(await bed.ask(command, { purpose, input, undoOf: execution.id }))
  expect(undone.stateReason).toBeNull()
  return command
}

describe('units', () => {
  it('come back to the state they had', async () => {
    set('nginx.active', 'active')
    const stopped = await run('systemctl stop nginx')
    expect(stopped.undo).toMatchObject({
      verdict: 'whole',
      sentence: 'Changes nginx, which can be put back.',
      items: [{ kind: 'unit', subject: 'nginx', sentence: 'It is active now, which is put back.', bytes: null }],
    })
    expect(get('nginx.active')).toBe('inactive')
    expect(await undo(stopped)).toBe('systemctl start nginx')
    expect(get('nginx.active')).toBe('active')
    expect(bed.undo.stateOf(bed.store.execution(stopped.id) ?? stopped)?.sentence).toBe('It was put back.')
  })

  it.each([
    [
      'systemctl mask --now nginx.service',
      'enabled',
      'active',
      'systemctl unmask nginx.service && systemctl enable nginx.service && systemctl start nginx.service',
    ],
    ['systemctl enable --now nginx', 'disabled', 'inactive', 'systemctl disable nginx && systemctl stop nginx'],
    ['systemctl disable nginx', 'enabled', 'active', 'systemctl enable nginx'],
    ['systemctl unmask nginx', 'masked', 'inactive', 'systemctl mask nginx'],
    ['systemctl restart nginx', 'enabled', 'inactive', 'systemctl stop nginx'],
    ['systemctl start nginx', 'enabled', 'failed', 'systemctl stop nginx'],
    ['sudo systemctl stop nginx', 'enabled', 'active', 'sudo systemctl start nginx'],
  ])('%s with %s and %s', async (command, file, active, back) => {
    set('nginx.file', file)
    set('nginx.active', active)
    const changed = await run(command)
    expect(changed.state).toBe('completed')
    expect(await undo(changed)).toBe(back)
    expect(get('nginx.file')).toBe(file)
    expect(get('nginx.active')).toBe(active === 'failed' ? 'inactive' : active)
  })

  it('of the user are asked of the manager of the user', async () => {
    const asked = await bed.ask('systemctl --user stop app', { cwd: folder })
    const reads = bed.store
      .executions({ before: null, limit: 20 })
      .filter(({ principal }) => principal.kind === 'health')
    expect(reads.map(({ command, risk, state }) => [command, risk, state])).toEqual([
      ['systemctl --user show -p LoadState -p ActiveState -p UnitFileState -- app', 'read_only', 'completed'],
    ])
    expect(asked.undo?.verdict).toBe('whole')
  })

  it('that are begun anew, or whose state leads nowhere, cannot be put back', async () => {
    set('nginx.active', 'active')
    expect((await bed.ask('systemctl restart nginx', { cwd: folder })).undo?.sentence).toBe(
      'Changes nginx, which cannot be put back. It is active now and is begun anew, which cannot be taken back.',
    )
    set('nginx.active', 'activating')
    expect((await bed.ask('systemctl stop nginx', { cwd: folder })).undo?.sentence).toContain('no command leads back')
    set('nginx.file', 'generated')
    expect((await bed.ask('systemctl enable nginx', { cwd: folder })).undo?.verdict).toBe('none')
  })

  it('are never asked about: where a read would wait, their state is not known', async () => {
    bed.policy.switches = { askAboutEverything: true, pauseAutomatic: false }
    const asked = await bed.ask('systemctl stop nginx', { cwd: folder })
    expect(asked.undo?.items[0]?.sentence).toBe(
      'Its state is not known: the policy does not let it be read without a question.',
    )
    expect(bed.store.pendingApprovals()).toHaveLength(1)
  })

  it('nothing runs when the state cannot be told any more', async () => {
    set('nginx.active', 'active')
    const asked = await bed.ask('systemctl stop nginx', { cwd: folder })
    set('nginx.active', 'deactivating')
    const denied = await done(asked)
    expect([denied.state, denied.failure]).toEqual(['denied', 'drift'])
    expect(get('nginx.active')).toBe('deactivating')
  })

  it('with a file beside them: the file first, so that it is started with what was there', async () => {
    set('nginx.active', 'active')
    set('conf', 'old')
    const changed = await run('echo new > conf && systemctl stop nginx')
    expect(changed.undo?.verdict).toBe('whole')
    expect(await undo(changed)).toBe(`cat > ${folder}/conf && systemctl start nginx`)
    expect([get('conf'), get('nginx.active')]).toEqual(['old', 'active'])
  })
})

describe('containers', () => {
  it.each([
    ['docker stop web', 'running', 'docker start web'],
    ['docker start web', 'exited', 'docker stop web'],
    ['docker pause web', 'running', 'docker unpause web'],
    ['docker stop web', 'paused', 'docker start web && docker pause web'],
  ])('%s, %s before', async (command, before, back) => {
    set('c.web', before)
    const changed = await run(command)
    expect(await undo(changed)).toBe(back)
    expect(get('c.web')).toBe(before)
  })

  it('get their name back, and their state under it', async () => {
    set('c.web', 'running')
    set('id.web', 'f'.repeat(64))
    const changed = await run('docker stop web && docker rename web old')
    expect(changed.undo?.verdict).toBe('whole')
    expect(get('c.old')).toBe('exited')
    expect(await undo(changed)).toBe('docker rename old web && docker start web')
    expect(get('c.web')).toBe('running')
  })

  it('are left alone when the name is somebody else’s by now', async () => {
    set('c.web', 'running')
    set('id.web', 'a'.repeat(64))
    const changed = await run('docker rename web old')
    set('c.web', 'running')
    set('id.web', 'b'.repeat(64))
    await expect(bed.undo.request(changed)).rejects.toThrow('another name by now')
  })

  it('of Proxmox', async () => {
    set('p.101', 'running')
    const changed = await run('pct stop 101')
    expect(await undo(changed)).toBe('pct start 101')
    const again = await run('pct shutdown 101')
    expect(await undo(again)).toBe('pct start 101')
  })

  it('that are not there cannot be put back', async () => {
    expect((await bed.ask('docker stop gone', { cwd: folder })).undo?.verdict).toBe('none')
  })
})

describe('through sudo', () => {
  it('goes the way back as well', async () => {
    writeFileSync(join(folder, 'a'), 'a without end')
    chmodSync(join(folder, 'a'), 0o640)
    set('b', 'b')
    const changed = await run('echo x | sudo tee a > /dev/null && sudo chmod 600 a && sudo rm b')
    expect(changed.undo?.verdict).toBe('whole')
    const command = await undo(changed)
    expect(command).toContain(`head -c 13 | sudo tee -- ${folder}/a > /dev/null`)
    expect(command).toContain(`sudo chmod 0640 -- ${folder}/a`)
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('a without end')
    expect(get('b')).toBe('b')
  })

  it('says when the file cannot be read', async () => {
    await bed.stop()
    const denied: PathSeen = {
      kind: 'file',
      at: '/etc/shut',
      mode: 0o600,
      uid: 0,
      gid: 0,
      id: '1:1',
      size: 5,
      mtime: '1.0',
      content: null,
      without: 'denied',
    }
    const inspector: Inspector = { kind: 'local', inspect: async (_place, wishes) => wishes.map(() => denied) }
    bed = createTestbed({ undo: true, runner: withStandIns(folder), inspector })
    const asked = await bed.ask('echo x | sudo tee /etc/shut', { cwd: folder })
    expect(asked.undo?.verdict).toBe('none')
    expect(asked.undo?.items[0]?.sentence).toMatch(/^It cannot be read as \w+, so it is not kept\.$/)
  })
})
