import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { compileUndo, decidingPaths, type PathState, touchesOf, UndoFile, understand, undoFaults, wayBack } from '.'
import type { Touch } from './states'

const file = UndoFile.parse(load(readFileSync(join(import.meta.dirname, '../../../policies/undo.yaml'), 'utf8')))
const rules = compileUndo(file)
const onlyReads = (argv: readonly string[]): boolean =>
  /^(?:echo|cat|printf|head|true|ls)$/.test(argv.filter((word) => word !== 'sudo')[0] ?? '')
const seen = (command: string, cwd: string | null = '/w') => understand(command, { rules, cwd, onlyReads })
const paths = (command: string): string[] | null => {
  const found = seen(command)
  if (found === null) return null
  const touches = touchesOf(found.changes, () => ({ kind: 'missing' }))
  return [...touches.map(({ path }) => path), ...(found.partly ? ['…'] : [])]
}

describe('what a command changes', () => {
  it.each([
    // Words that are only known when it runs.
    'rm $x',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    'rm ${x:-a}',
    'rm `echo a`',
    'rm a{1,2}',
    'rm ~/a',
    'rm [ab]',
    'rm $((1))',
    "rm $'a\\x62'",
    'echo > "$x"',
    'echo x > *',
    // Another program of that name, or another shell.
    './rm a',
    '/tmp/rm a',
    '~/bin/rm a',
    'env -C /etc rm a',
    'env rm a',
    'nice rm a',
    'timeout 5 rm a',
    'PATH=/tmp rm a',
    'LD_PRELOAD=x.so rm a',
    'xargs rm < list',
    'sh -c "rm a"',
    'doas rm a',
    'sudo -u ann rm a',
    'sudo -D /etc rm a',
    'nice sudo rm a',
    // Structure.
    'rm() { :; }; rm a',
    'alias cp=rm; cp a b',
    'if true; then rm a; fi',
    '(cd /etc; rm a)',
    '{ rm a; }',
    'rm a &',
    'coproc rm a',
    'while read f; do rm a; done',
    'eval rm a',
    'source x && rm a',
    'set -o noclobber; echo x > a',
    'exec > a',
    'cd /etc; rm a',
    'cd /etc || rm a',
    'cd etc && rm a',
    'cd && rm a',
    'cd - && rm a',
    'cd /a /b && rm a',
    'rm a && cd /etc && rm b',
    'pushd /etc && rm a',
    // Redirections that are more than a file.
    'cat <> a',
    'cat {fd}> a',
    'cat > /dev/tcp/host/80',
    'diff <(rm a) b',
    // Options nobody has written down, also in short.
    'rm --forc a',
    'cp --no-clob a b',
    'cp -Z a b',
    'mv --target-directory=d a',
    'mv -td a',
    'ln -fst d a',
    'sed -i --expression-file=x a',
    'sed -n -i',
    'sed -i p',
    "sed -i 's/a/b/e' a",
    'sed -i --posix s/a/b/ a',
    'tee --output-error=exit a',
    // What nobody sees.
    'rm a\u200b',
    'rm \u202ea',
    'rm a\0',
    `rm ${'a'.repeat(17_000)}`,
    '',
    '   ',
    '#',
  ])('of %j is not known', (command) => {
    const found = paths(command)
    expect(found === null || (found.length === 1 && found[0] === '…'), JSON.stringify(found)).toBe(true)
  })

  it.each([
    ["rm 'a b' \"c'd\" e\\ f", ['/w/a b', "/w/c'd", '/w/e f']],
    ['rm ././a ./b ../c /d', ['/w/a', '/w/b', '/w/../c', '/d']],
    ['rm -- -rf', ['/w/-rf']],
    ['rm a -f b', ['/w/a', '/w/b']],
    ['/bin/rm a', ['/w/a']],
    ['sudo -n /usr/bin/rm a', ['/w/a']],
    ['LANG=C rm a', ['/w/a']],
    ['echo x > a 2>&1', ['/w/a']],
    ['echo x &>> a', ['/w/a']],
    ['echo x 2> a > b', ['/w/a', '/w/b']],
    ['> a', ['/w/a']],
    ['echo x >| a; rm b || rm c', ['/w/a', '/w/b', '/w/c']],
    ['sudo echo x > a', ['/w/a']],
    ['mytool > a', ['/w/a', '…']],
    ['rm $x b && rm c', ['/w/c', '…']],
    ['echo x > "$y" && rm c', ['/w/c', '…']],
    ["cat <<'E' > a\n$(rm b)\nE\nrm c", ['/w/a', '/w/c']],
    ['cat <<A > a && cat <<B > b\nx\nA\ny\nB', ['/w/a', '/w/b']],
    ['cd /etc && cd ./x && rm a', null],
    ['cd /etc/ && rm a', ['/etc/a']],
    ['cd ../x && rm a', ['/w/../x/a']],
    ['cp -- a b', ['/w/b']],
    ['cp a b/', ['/w/b/a']],
    ['cp a/ b/', ['/w/b/a']],
    ['cp .. b/', ['…']],
    ['command sudo rm a', ['/w/a']],
    ['! rm a', ['/w/a']],
    ['time rm a', ['/w/a']],
    ['cp a b c', ['/w/c/a', '/w/c/b']],
    ['cp -T a b', ['/w/b']],
    ['mkdir -p a/b', ['/w', '/w/a', '/w/a/b']],
    ['mkdir a && cp x a && mv a b && cp y b', ['/w/a', '/w/a/x', '/w/b', '/w/b/y']],
    ['chmod u=rw,g= a', ['/w/a']],
    ["sed -i -e p -e 's/x/y/' -- -a", ['/w/-a']],
    ["sed -Ei.old 's/x/y/' a", ['/w/a', '/w/a.old']],
    ['echo $(rm b) > a', null],
    ['cat <<E > a\n$(rm b)\nE', null],
    ['cat <<E > a\n`rm b`\nE', null],
    ['cat <<E > a\nplain\nE\nrm b && cd /x', null],
    ['cat <<-E > a\n\tx\n\tE', null],
    ["cat <<'E' > a\nx\nE\ncat <<'F' > b\nE\nF\nrm c", ['/w/a', '/w/b', '/w/c']],
    ["cat <<'E' > a\nx\nEE\nE \nE\nrm c", ['/w/a', '/w/c']],
    ["cat <<'E' > a\nx", null],
    ["bash <<'E'\nrm b\nE", ['…']],
  ])('of %j is %j', (command, wanted) => {
    expect(paths(command)).toEqual(wanted)
  })

  it('of a command in a folder nobody knows stays relative', () => {
    expect(seen('rm a', null)?.changes).toMatchObject([{ path: 'a' }])
    expect(seen('cd /etc && rm a', null)?.changes).toMatchObject([{ path: '/etc/a' }])
    expect(seen('cd ./x && rm a', null)).toBeNull()
  })

  it('goes into a folder where the target is one', () => {
    const folder: PathState = { kind: 'folder', mode: 0o755, uid: 0, gid: 0, id: '1:1' }
    const link: PathState = { kind: 'link', target: 'x', toFolder: true }
    const missing: PathState = { kind: 'missing' }
    const into = (command: string, state: PathState): string[] =>
      touchesOf(seen(command)?.changes ?? [], (path) => (path === '/w/b' ? state : missing)).map(({ path }) => path)
    expect(decidingPaths(seen('cp a b')?.changes ?? [])).toEqual(['/w/b', '/w/a'])
    expect(into('cp a b', folder)).toEqual(['/w/b/a'])
    expect(into('cp a b', link)).toEqual(['/w/b/a'])
    expect(into('ln -sfn a b', link)).toEqual(['/w/b'])
    expect(into('mv a b', folder)).toEqual(['/w/a', '/w/b/a'])
    expect(into('mv -T a b', folder)).toEqual(['/w/a', '/w/b'])
  })

  it('never throws and never takes long', () => {
    const parts = [
      'rm',
      'a',
      "'",
      '"',
      '$(',
      ')',
      '<<E',
      '\n',
      'E',
      '>',
      '|',
      '&&',
      ';',
      '{',
      '}',
      '\\',
      '#',
      'cd /x',
      ' ',
    ]
    let seed = 7
    const random = (n: number): number => {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff
      return seed % n
    }
    for (let i = 0; i < 3000; i++) {
      const text = Array.from({ length: random(14) }, () => parts[random(parts.length)]).join(
        random(2) === 0 ? ' ' : '',
      )
      expect(() => seen(text)).not.toThrow()
    }
    const began = performance.now()
    for (const text of ['rm a; '.repeat(2500), `${'cat <<E > a\nx\nE\n'.repeat(900)}`, `rm ${'a '.repeat(8000)}`])
      seen(text)
    expect(performance.now() - began).toBeLessThan(3000)
  })
})

describe('the way back', () => {
  const touch = (path: string, more: Partial<Touch> = {}): Touch => ({
    path,
    need: 'content',
    follows: false,
    recursive: false,
    sudo: false,
    goes: null,
    tree: false,
    tangled: false,
    ...more,
  })
  const regular = (more: Partial<Extract<PathState, { kind: 'file' }>> = {}): PathState => ({
    kind: 'file',
    mode: 0o644,
    uid: 1,
    gid: 1,
    id: '1:1',
    size: 5,
    mtime: '1.0',
    mac: 'm1',
    ...more,
  })
  const missing: PathState = { kind: 'missing' }
  const folder: PathState = { kind: 'folder', mode: 0o755, uid: 1, gid: 1, id: '1:9' }
  const back = (before: PathState, now: PathState, kept = true, more: Partial<Touch> = {}) =>
    wayBack([{ touch: touch('/a b', more), before, now, kept }])

  it('is nothing when all is as it was', () => {
    for (const state of [regular(), missing, folder, { kind: 'link', target: 'x', toFolder: false } as const])
      expect(back(state, state)).toEqual({ commands: [], parts: [], put: [], moved: [], left: [] })
  })

  it('writes what differs and no more', () => {
    expect(back(regular(), regular({ mac: 'm2' })).commands).toEqual(["cat > '/a b'"])
    expect(back(regular(), regular({ mac: null })).commands).toEqual(["cat > '/a b'"])
    expect(back(regular(), regular({ mode: 0o600 })).commands).toEqual(["chmod 0644 -- '/a b'"])
    expect(back(regular(), regular({ uid: 2 })).commands).toEqual(["chown 1:1 -- '/a b'"])
    expect(back(regular({ mode: 0o4755 }), regular({ mode: 0o4755, mac: 'm2' })).commands).toEqual([
      "cat > '/a b'",
      "chmod 4755 -- '/a b'",
    ])
    expect(back(regular(), missing).commands).toEqual(["cat > '/a b'", "chmod 0644 -- '/a b'", "chown 1:1 -- '/a b'"])
    expect(back(regular({ mode: 0o600 }), missing).commands[0]).toBe('umask 077')
  })

  it('never writes through a link and never takes a folder away with what is in it', () => {
    const link: PathState = { kind: 'link', target: '/etc/passwd', toFolder: false }
    expect(back(regular(), link).commands.slice(0, 2)).toEqual(["rm -- '/a b'", "cat > '/a b'"])
    expect(back(regular(), folder)).toMatchObject({ commands: [], left: [expect.stringContaining('no file')] })
    expect(back(regular(), { kind: 'hidden' })).toMatchObject({ commands: [], left: [expect.any(String)] })
    expect(back(missing, folder).commands).toEqual(["rmdir -- '/a b'"])
    expect(back(missing, { kind: 'other' })).toMatchObject({ commands: [], left: [expect.any(String)] })
  })

  it('says what was not kept', () => {
    expect(back(regular({ mac: null }), regular({ mac: 'm2' }), false).left).toEqual([
      '/a b cannot be put back: its content was not kept.',
    ])
  })

  it('does not move back what is not where it went', () => {
    const to = touch('/b')
    const away = touch('/a', { need: 'place', goes: '/b' })
    const of = (nowA: PathState, nowB: PathState) =>
      wayBack([
        { touch: away, before: regular({ mac: null }), now: nowA, kept: false },
        { touch: to, before: missing, now: nowB, kept: false },
      ])
    expect(of(missing, regular()).commands).toEqual(['mv -- /b /a'])
    expect(of(missing, missing)).toMatchObject({ commands: [], left: [expect.stringContaining('not at /b any more')] })
    expect(of(missing, folder).commands).toEqual(['rmdir -- /b'])
    expect(of(regular(), missing).commands).toEqual([])
  })

  it('reads exactly as many bytes for each of several files, the last made first', () => {
    const { commands, parts } = wayBack([
      { touch: touch('/a'), before: regular({ size: 3 }), now: regular({ mac: 'x' }), kept: true },
      { touch: touch('/b', { sudo: true }), before: regular({ size: 0 }), now: regular({ mac: 'x' }), kept: true },
    ])
    expect(commands).toEqual(['head -c 0 | sudo tee -- /b > /dev/null', 'head -c 3 > /a'])
    expect(parts).toEqual([1, 0])
  })
})

describe('the lint of the rules', () => {
  const changed = (change: (data: UndoFile) => void): readonly string[] => {
    const data = structuredClone(file)
    change(data)
    return undoFaults(data).map(({ what }) => what)
  }
  it('finds an example that does not hold, a name given twice and an aspect that is not there', () => {
    expect(changed((data) => data.files[0]?.never.push('cp a b')).join()).toContain('"cp a b" should change not known')
    expect(changed((data) => data.files[0]?.covers.push({ command: 'cp a b', changes: [] })).join()).toContain(
      'copy /w/a to /w/b',
    )
    expect(changed((data) => data.files[0]?.names.push('mv')).join()).toContain('mv is named twice')
    expect(
      changed((data) => {
        const [program] = data.states
        if (program) program.verbs.start = ['nothing']
      }).join(),
    ).toContain('names the aspect nothing')
  })
})
