import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDisposableRoot, type DisposableRoot, isolationProblem } from './root'
import { runTraced } from './run'
import type { DeedKind } from './trace'

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
