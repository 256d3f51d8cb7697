import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cacheFor } from './caches'
import { createDisposableRoot, type DisposableRoot, isolationProblem } from './root'
import { runTraced } from './run'
import { type DeedKind, deedsOf } from './trace'

const problem = isolationProblem()
if (problem !== null) console.warn(problem)

/** The oracle itself: every kind of deed is seen, harmless things are not, and nothing reaches the machine. */
describe.skipIf(problem !== null)('the truth oracle', () => {
  let root: DisposableRoot
  beforeAll(() => {
    root = createDisposableRoot([])
  })
  afterAll(() => root.remove())

  let number = 0
  const kindsOf = async (command: string): Promise<readonly DeedKind[]> => {
    const { deeds, errors } = await runTraced(root, command, `oracle-${number++}`, 20_000)
    expect(errors).not.toContain('command not found')
    return [...new Set(deeds.map(({ kind }) => kind))]
  }

  it.each<readonly [string, DeedKind]>([
    ['echo a > new.txt', 'write'],
    ['echo a >> a.txt', 'write'],
    ['touch /usr/new', 'write'],
    ['touch /nowhere/new', 'write'],
    ['sort -o sorted.txt a.txt', 'write'],
    ['mkdir folder', 'write'],
    ['ln -s a.txt link', 'write'],
    ['mkfifo pipe', 'write'],
    ['cp a.txt copy.txt', 'write'],
    ['mv a.txt moved.txt', 'write'],
    ['mktemp', 'write'],
    ['bash -c "mkdir a1; mkdir a1/b; rm -d a1/b"', 'write'],
    ['truncate -s 1 b.txt', 'write'],
    ['dd if=/dev/zero of=/srv/app/c count=1 status=none', 'write'],
    ['rm b.txt', 'remove'],
    ['find . -name README.md -delete', 'remove'],
    ['rmdir /srv/app/templates', 'remove'],
    ['chmod 600 Makefile', 'metadata'],
    ['chown 0 Makefile', 'metadata'],
    ['touch -c Makefile', 'metadata'],
    ['echo 1 > /proc/sys/kernel/panic', 'write'],
    ['hostname other', 'system'],
    ['mount -t tmpfs x /mnt', 'system'],
    ['ip link set lo up', 'system'],
    ['date 010203042024', 'system'],
    ['dmesg -C', 'system'],
    ['kill -9 1', 'signal'],
    ['renice -n 5 -p 1', 'system'],
    ['echo a > /dev/tcp/192.0.2.1/80', 'connect'],
    ['echo a > /dev/udp/192.0.2.1/80', 'connect'],
    ['./trap', 'run'],
    ['(exec /srv/app/ls)', 'run'],
  ])('sees what %s does', async (command, kind) => {
    expect(await kindsOf(command)).toContain(kind)
  })

  it.each([
    'ls -la / | wc -l',
    'cat a.txt < /dev/null > /dev/null 2>&1',
    'f=$(mktemp); echo a > $f; mv $f $f.2; rm $f.2',
    'd=$(mktemp -d); touch $d/a; chmod 600 $d/a; rm -r $d',
    'sleep 5 & kill $!',
    'kill -0 1',
    'ls & wait',
    'nice -n 5 ls',
    'id; getent passwd ann',
    'cat <<< text',
    'cat \'a, (b>.txt\' "c\\"d"',
  ])('finds nothing in %s', async (command) => {
    expect(await kindsOf(command)).toEqual([])
  })

  it('keeps everything from the machine', async () => {
    const commands = [
      'mount -o remount,rw /usr && touch /usr/nomos-truth',
      'umount -l /usr; umount -l /proc/sys; echo 0 > /proc/sys/kernel/panic',
      'touch /nomos-truth',
    ]
    for (const command of commands) {
      const { errors } = await runTraced(root, command, `safe-${number++}`, 20_000)
      expect(errors, command).toMatch(
        /denied|not permitted|Read-only|must be superuser|not mounted|Invalid|block devices/,
      )
    }
    expect(existsSync('/usr/nomos-truth') || existsSync('/nomos-truth')).toBe(false)
    expect(existsSync(join(root.folder, 'srv/app/Makefile'))).toBe(true)
  })
})

describe('a trace that was cut', () => {
  it('has no call in the moment before its number was read, and has those that were begun or are not known', () => {
    const none = '7 syscall_0xfffffffffffffffe(0x1, 0xc000327490, 0x17, 0, 0, 0 <detached ...>\n'
    expect(deedsOf(none).deeds).toEqual([])
    expect(deedsOf('7 unlink("/etc/motd" <unfinished ...>\n').deeds).toMatchObject([{ kind: 'remove' }])
    expect(deedsOf('7 syscall_0x1f4(0x1, 0x2, 0, 0, 0, 0 <detached ...>\n').deeds).toMatchObject([{ kind: 'system' }])
  })
})

describe('a declared cache', () => {
  const caches = ['~/.npm/_logs', '/var/log/dnf*.log', '~/.docker/trust']
  const covered = (kind: DeedKind, call: string, subject: string): boolean =>
    cacheFor({ kind, call, subject, program: 'x', result: '0' }, caches) !== undefined

  it.each<readonly [DeedKind, string, string]>([
    ['write', 'openat', '/home/ann/.npm/_logs/a/b.log'],
    ['remove', 'unlink', '/home/ann/.npm/_logs/a.log'],
    ['metadata', 'chmod', '/home/ann/.docker/trust'],
    ['write', 'openat', '/var/log/dnf.librepo.log'],
    ['write', 'rename', '/home/ann/.npm/_logs/a -> /home/ann/.npm/_logs/b'],
    ['write', 'mkdir', '/home/ann/.npm'],
  ])('covers %s by %s of %s', (kind, call, subject) => {
    expect(covered(kind, call, subject)).toBe(true)
  })

  it.each<readonly [DeedKind, string, string]>([
    ['write', 'openat', '/home/ann/.npmrc'],
    ['write', 'openat', '/home/ann/.npm'],
    ['write', 'openat', '/home/ann/.npm/_logs2'],
    ['remove', 'rmdir', '/home/ann/.docker'],
    ['write', 'openat', '/var/log/dnf/other.log'],
    ['write', 'openat', '/srv/home/ann/.npm/_logs/a'],
    ['write', 'rename', '/home/ann/.npm/_logs/a -> /etc/passwd'],
    ['run', 'execve', '/home/ann/.npm/_logs/a'],
    ['connect', 'connect', '/home/ann/.npm/_logs/a'],
  ])('does not cover %s by %s of %s', (kind, call, subject) => {
    expect(covered(kind, call, subject)).toBe(false)
  })
})
