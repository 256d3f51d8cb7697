import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AllowlistEntry,
  compileAllowlist,
  compileSkills,
  decodeArgv,
  encodeArgv,
  entriesFor,
  entryFor,
  inspectAllowlist,
  type MatchContext,
  matchSegments,
  NO_SAFE_BINS,
  NO_SKILLS,
  type ResolvedSegment,
  type Skills,
  segmentsOf,
} from '.'

const here: MatchContext = {
  agent: 'main',
  target: 'local',
  targetKind: 'local',
  session: 's1',
  now: 1000,
  home: '/home/ann',
  cwd: '/srv/app',
}
const there: MatchContext = { ...here, target: 'host:web', targetKind: 'ssh', home: '/root' }

/** Links of the machine: where a path leads. */
const LINKS: Readonly<Record<string, string>> = {
  '/usr/bin/pager': '/usr/bin/less',
  '/home/ann/bin/tool': '/opt/tool/2.1/bin/tool',
  '/usr/bin/editor': '/usr/bin/vim.basic',
  '/usr/bin/runner': '/usr/bin/python3.12',
}
/** What PATH finds outside of /usr/bin. */
const FOUND: Readonly<Record<string, string | null>> = {
  tool: '/home/ann/bin/tool',
  missing: null,
  shadow: '/tmp/bin/shadow',
}

function resolveAll(command: string, resolves = true): readonly ResolvedSegment[] | null {
  return (
    segmentsOf(command)?.map((segment): ResolvedSegment => {
      const typed = segment.argv[0] as string
      const found = Object.hasOwn(FOUND, typed) ? (FOUND[typed] as string | null) : `/usr/bin/${typed}`
      const path = !resolves
        ? null
        : typed.startsWith('/')
          ? typed
          : typed.startsWith('./')
            ? `/srv/app/${typed.slice(2)}`
            : found
      const real = path === null ? null : (LINKS[path] ?? path)
      const trusted = path !== null && real !== null && /^\/usr\/bin\/[^/]+$/.test(path) && real.startsWith('/usr/bin/')
      return {
        ...segment,
        path,
        real,
        trusted,
        wrappersTrusted: segment.wrappers.every((one) => !one.startsWith('/tmp')),
      }
    }) ?? null
  )
}
const entry = (pattern: string, more: Partial<AllowlistEntry> = {}): AllowlistEntry => ({ id: 'e', pattern, ...more })
const matches = (
  entries: readonly AllowlistEntry[],
  command: string,
  context: MatchContext = here,
  skills: Skills = NO_SKILLS,
  resolves = true,
): boolean => matchSegments(compileAllowlist(entries), NO_SAFE_BINS, skills, resolveAll(command, resolves), context).all

describe('patterns of programs', () => {
  it.each([
    // A bare name is what was typed and found through PATH.
    ['rg', 'rg x', true],
    ['rg', './rg x', false],
    ['rg', '/usr/bin/rg x', false],
    ['rg', 'rgx', false],
    ['rg', 'missing', false],
    ['missing', 'missing', false],
    ['tool', 'tool', true],
    // A path is where it leads, links followed or not.
    ['/usr/bin/rg', 'rg x', true],
    ['/usr/bin/rg', '/usr/bin/rg x', true],
    ['/usr/bin/rg', './rg x', false],
    ['/usr/bin/pager', 'pager', true],
    ['/usr/bin/less', 'pager', true],
    ['/home/ann/bin/tool', 'tool', true],
    ['/opt/tool/2.1/bin/tool', 'tool', true],
    ['~/bin/tool', 'tool', true],
    ['~/bin/*', 'tool', true],
    ['~/*', 'tool', false],
    ['~/**', 'tool', true],
    ['/home/ann/bin/*', 'tool', true],
    ['/opt/**/tool', 'tool', true],
    ['/opt/*/tool', 'tool', false],
    ['/opt/**', 'tool', true],
    ['/opt/tool/2.?/bin/tool', 'tool', true],
    ['/opt/tool/[0-9].[0-9]/bin/tool', 'tool', true],
    ['/opt/tool/[!2].1/bin/tool', 'tool', false],
    ['/usr/bin/*', 'rg', true],
    ['/usr/*', 'rg', false],
    ['/usr/**', 'rg', true],
    ['/**', 'rg', true],
    ['/usr/bin/r*', 'rg', true],
    ['/srv/app/*', './x', true],
    ['/srv/app/*', './.x', true],
    ['/srv/app/!x', './y', false],
    ['/srv/app/\\!x', './y', false],
    ['/srv/app/{x,y}', './y', false],
    ['/srv/app/+(y)', './y', false],
    ['/srv/app/#y', './y', false],
    ['/srv/app/\\*', './y', false],
    // What never compiles.
    ['!x', 'y', false],
    ['!/usr/bin/x', 'y', false],
    ['*', 'rg', false],
    ['r?', 'rg', false],
    ['~', 'rg', false],
    ['./rg', './rg', false],
    ['bin/rg', 'bin/rg', false],
    ['/usr/bin/../bin/rg', 'rg', false],
    ['/usr/./bin/rg', 'rg', false],
    ['/usr/bin/rg\n', 'rg', false],
    ['/usr/bin/rg\0', 'rg', false],
    ['/usr/bin/', 'rg', false],
    ['rg x', 'rg x', false],
    ['/usr/bin/[', 'rg', false],
    ['/a*a*a*a*a*b', 'rg', false],
  ])('%j and %j: %s', (pattern, command, expected) => {
    expect(matches([entry(pattern)], command)).toBe(expected)
    const bad = inspectAllowlist([entry(pattern)], null).filter(({ level }) => level === 'error')
    if (expected) expect(bad).toEqual([])
  })

  it('many wildcards cost nothing', () => {
    const long = `/srv/app/${'a'.repeat(200)}`
    for (const pattern of ['/srv/app/*a*a*a*ab', '/**/a/**/b/**/c', '/srv/app/**/**/**/x'])
      expect(matches([entry(pattern)], `${long} x`)).toBe(false)
  })
})

describe('patterns of arguments', () => {
  it.each([
    [undefined, 'rg x', true],
    ['^x$', 'rg x', true],
    ['^x$', 'rg x y', false],
    ['x', 'rg ax b', true],
    ['^status( --short)?$', 'rg status --short', true],
    ['^ab?c', 'rg ac', true],
    ['^ab*c', 'rg ac', true],
    ['^ab{0}c', 'rg ac', true],
    ['^ab|c$', 'rg xc', true],
    ['^(?i)AB', 'rg ab', true],
    ['^a\\.b', 'rg a.b', true],
    ['^status( --short)?$', 'rg status --short --exec=x', false],
    ['^$', 'rg', true],
    ['^$', 'rg x', false],
    ['^a b$', "rg 'a b'", true],
    ['^a$', "rg 'a\n'", false],
    ['^a$', "rg 'a\nb'", false],
    ['^(a+)+$', `rg ${'a'.repeat(5000)}!`, false],
    ['(?=x)', 'rg x', false],
    ['(x)\\1', 'rg xx', false],
    ['[', 'rg [', false],
    ['argv:["a b"]', "rg 'a b'", true],
    ['argv:["a b"]', 'rg a b', false],
    ['argv:["a","b"]', 'rg a b', true],
    ['argv:["a","b"]', 'rg a b c', false],
    ['argv:[]', 'rg', true],
    ['argv:[]', "rg ''", false],
    ['argv:["a"', 'rg a', false],
    ['argv:[1]', 'rg 1', false],
    ['argv:', 'rg', false],
  ])('%j and %j: %s', (argPattern, command, expected) => {
    for (const pattern of ['rg', '/usr/bin/rg', '/usr/bin/*'])
      expect(matches([entry(pattern, argPattern === undefined ? {} : { argPattern })], command)).toBe(expected)
  })

  it('a path-only entry still matches when the pattern beside it does not, and that is said', () => {
    const both = [entry('/usr/bin/rg', { id: 'narrow', argPattern: '^x$' }), entry('/usr/bin/rg', { id: 'wide' })]
    expect(matches(both, 'rg y')).toBe(true)
    expect(inspectAllowlist(both, null)).toEqual([
      expect.objectContaining({ entryId: 'narrow', rule: 'path-only-beside', level: 'warning' }),
    ])
    expect(inspectAllowlist([both[0] as AllowlistEntry, entry('/usr/bin/*')], null).map(({ rule }) => rule)).toEqual([
      'path-only-beside',
    ])
    expect(inspectAllowlist([both[0] as AllowlistEntry, entry('/usr/bin/rg', { sudo: true })], null)).toEqual([])
    expect(
      inspectAllowlist([both[0] as AllowlistEntry, entry('/usr/bin/rg', { scope: { target: 'host:web' } })], null),
    ).toEqual([])
  })

  it.each([
    ['^x$', false],
    ['^(?:a|b)$', false],
    ['\\Ax\\z', false],
    ['(?i)^x$', false],
    ['^[|]$', false],
    ['^a\\|b$', false],
    ['argv:["x"]', false],
    ['x', true],
    ['^x', true],
    ['x$', true],
    ['^x\\$', true],
    ['^a|b$', true],
    ['(?i)^a$', false],
    ['(?im)^a$', true],
    ['^(?m)a$', true],
    ['^(?i-m)a$', false],
    ['', true],
  ])('%j has no anchors: %s', (argPattern, expected) => {
    const notes = inspectAllowlist([entry('rg', { argPattern })], null)
    expect(notes.map(({ rule }) => rule)).toEqual(expected ? ['unanchored'] : [])
  })

  it('the encoded form comes back', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (args) => {
        expect(decodeArgv(encodeArgv(args))).toEqual(args)
      }),
    )
  })
})

describe('the limits of an entry', () => {
  it.each<[Partial<AllowlistEntry>, Partial<MatchContext>, boolean]>([
    [{}, {}, true],
    [{}, { target: 'host:web', targetKind: 'ssh' }, false],
    [{ scope: {} }, { target: 'host:web', targetKind: 'ssh' }, false],
    [{ scope: { target: 'host:web' } }, { target: 'host:web', targetKind: 'ssh' }, true],
    [{ scope: { target: 'host:web' } }, { target: 'host:db', targetKind: 'ssh' }, false],
    [{ scope: { target: 'host:web' } }, {}, false],
    [{ scope: { target: 'local' } }, {}, true],
    [{ scope: { target: 'lxc:caddy' } }, { target: 'lxc:caddy', targetKind: 'lxc' }, true],
    [{ scope: { agent: 'main' } }, {}, true],
    [{ scope: { agent: 'mcp:x' } }, {}, false],
    [{ scope: { session: 's1' } }, {}, true],
    [{ scope: { session: 's2' } }, {}, false],
    [{ scope: { session: 's1' } }, { session: null }, false],
    [{ scope: { tagret: 'host:web' } }, {}, false],
    [{ expiresAt: 1001 }, {}, true],
    [{ expiresAt: 1000 }, {}, false],
    [{ expiresAt: 0 }, {}, false],
    [{ sudo: true }, {}, false],
    [{ sudo: false }, {}, true],
  ])('%j in %j: %s', (more, context, expected) => {
    for (const pattern of ['rg', '/usr/bin/rg', '/usr/**'])
      expect(matches([entry(pattern, more)], 'rg x', { ...here, ...context })).toBe(expected)
  })

  it('behind sudo only an entry for sudo counts, and only for a trusted program', () => {
    expect(matches([entry('rg')], 'sudo rg x')).toBe(false)
    expect(matches([entry('rg', { sudo: true })], 'sudo rg x')).toBe(true)
    expect(matches([entry('rg', { sudo: true })], 'rg x')).toBe(false)
    expect(matches([entry('sudo')], 'sudo rg x')).toBe(false)
    expect(matches([entry('tool', { sudo: true })], 'sudo tool')).toBe(false)
    expect(matches([entry('/**', { sudo: true })], 'sudo shadow')).toBe(false)
  })

  it('a wrapper has to be the real one', () => {
    const [segment] = resolveAll('nice rg x') ?? []
    const list = compileAllowlist([entry('rg')])
    const all = (one: Partial<ResolvedSegment>): boolean =>
      matchSegments(list, NO_SAFE_BINS, NO_SKILLS, [{ ...(segment as ResolvedSegment), ...one }], here).all
    expect(all({})).toBe(true)
    expect(all({ wrappersTrusted: false })).toBe(false)
    const { wrappersTrusted: _, ...unknown } = segment as ResolvedSegment
    expect(matchSegments(list, NO_SAFE_BINS, NO_SKILLS, [unknown], here).all).toBe(false)
  })

  it('where a machine cannot say where a name leads, only a bare name granted for that machine counts', () => {
    const at = (one: AllowlistEntry, context: MatchContext, command = 'rg x'): boolean =>
      matches([one], command, context, NO_SKILLS, false)
    expect(at(entry('rg', { scope: { target: 'host:web' } }), there)).toBe(true)
    expect(at(entry('rg', { scope: { target: 'host:db' } }), there)).toBe(false)
    expect(at(entry('rg'), there)).toBe(false)
    expect(at(entry('rg'), here)).toBe(false)
    expect(at(entry('rg', { scope: { target: 'local' } }), here)).toBe(false)
    expect(at(entry('/usr/bin/rg', { scope: { target: 'host:web' } }), there)).toBe(false)
    expect(at(entry('/**', { scope: { target: 'host:web' } }), there)).toBe(false)
    expect(at(entry('rg', { scope: { target: 'host:web' } }), there, './rg x')).toBe(false)
  })

  it('paths with detours never match', () => {
    const [segment] = resolveAll('rg x') ?? []
    for (const path of ['/usr/bin/../bin/rg', '/usr/bin/rg\n', '/usr/bin/rg\0', 'usr/bin/rg', '/usr/./bin/rg', ''])
      expect(
        matchSegments(
          compileAllowlist([entry('/**')]),
          NO_SAFE_BINS,
          NO_SKILLS,
          [{ ...(segment as ResolvedSegment), path, real: path }],
          here,
        ).all,
      ).toBe(false)
  })
})

describe('what is said about entries', () => {
  it('names every fault with its field', () => {
    const notes = inspectAllowlist(
      [
        entry('!x', { id: 'a' }),
        entry('rg', { id: 'b', argPattern: '(' }),
        entry('rg', { id: 'c', scope: { tagret: 'x' } }),
        entry('python3', { id: 'd' }),
        entry('/usr/bin/bash', { id: 'd', argPattern: '^/opt/x\\.sh$' }),
        entry('ls', { id: 'e', expiresAt: 5 }),
        { ...entry('rg', { id: 'f' }), argpattern: '^x$' },
        { ...entry('rg', { id: 'g' }), target: 'host:web' },
        { ...entry('rg', { id: 'h' }), note: 'mine' },
      ],
      10,
    )
    expect(notes.map(({ entryId, rule, field }) => `${entryId} ${rule} ${field}`)).toEqual([
      'b bad-arg-pattern argPattern',
      'c bad-scope scope',
      'd runs-anything pattern',
      'd duplicate-id id',
      'e expired expiresAt',
      'f bad-scope scope',
      'g bad-scope scope',
    ])
  })
})

describe('skills', () => {
  const skills = compileSkills([
    { skill: 'weather', bins: ['wttr', 'bash', 'python3', '/opt/x', 'runner', 'git'] },
    { skill: 'other', bins: ['wttr'] },
  ])
  it('trusts what they name, found through PATH, never shells or interpreters, nor links to them', () => {
    expect(matches([], 'wttr berlin', here, skills)).toBe(true)
    expect(matches([], 'wttr berlin')).toBe(false)
    for (const command of [
      './wttr x',
      '/usr/bin/wttr x',
      'sudo wttr x',
      'bash x',
      'python3 x',
      'runner x',
      'git x',
      'missing',
    ])
      expect(matches([], command, here, skills), command).toBe(false)
    expect(skills.problems.map(({ name }) => name)).toEqual(['bash', 'python3', '/opt/x', 'git'])
    const found = matchSegments(compileAllowlist([]), NO_SAFE_BINS, skills, resolveAll('wttr x'), here)
    expect(found.perSegment[0]).toMatchObject({ by: 'skill', rule: 'skill:weather' })
  })
})

describe('laws of matching', () => {
  const everything = [
    entry('/**'),
    entry('/**', { sudo: true }),
    ...['rg', 'ls', 'df', 'tool'].flatMap((name) => [entry(name), entry(name, { sudo: true })]),
  ]
  const program = fc.constantFrom('rg x', 'ls -l /srv', 'df -h', 'tool a b', 'sudo ls', 'timeout 5 rg x')
  const separator = fc.constantFrom(' && ', ' || ', '; ', ' | ', '\n', ' |& ')
  const hidden = fc.constantFrom(
    '$(id)',
    '`id`',
    '"$(id)"',
    '<(id)',
    '>(id)',
    '$X',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not a template
    '"${X}"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not a template
    '${X@P}',
    '$((1))',
    '> out',
    '>>out',
    '2>err',
    '&>out',
    '<in',
    '<>f',
    '<<<x',
    '>|out',
    '{f}>/dev/null',
    '&',
    '*',
    '?',
    '~',
    '{a,b}',
    '[a-z]',
  )
  const chain = fc
    .tuple(program, fc.array(fc.tuple(separator, program), { maxLength: 4 }))
    .map(([first, rest]) => first + rest.map(([s, p]) => s + p).join(''))

  it('plain chains of what is allowed match', () => {
    fc.assert(
      fc.property(chain, (command) => {
        expect(matches(everything, command), command).toBe(true)
      }),
    )
  })
  it('no match ever arises from substitution, redirection or a word that is not literal', () => {
    fc.assert(
      fc.property(chain, hidden, separator, program, fc.boolean(), (before, bad, s, after, last) => {
        const command = last ? `${before} ${bad}` : `${before} ${bad}${bad === '&' ? ' ' : s}${after}`
        expect(matches(everything, command), command).toBe(false)
      }),
      { numRuns: 400 },
    )
  })
  it('adding to a chain never turns a miss into a match', () => {
    const other = fc.constantFrom('nope', './rg x', 'rg $(id)', 'bash -c ls', 'missing', 'sudo -E ls', 'cd /tmp')
    const some = [entry('rg'), entry('ls', { sudo: true }), entry('ls'), entry('df'), entry('tool')]
    fc.assert(
      fc.property(other, separator, chain, fc.boolean(), (miss, s, more, front) => {
        expect(matches(some, miss)).toBe(false)
        expect(matches(some, front ? more + s + miss : miss + s + more)).toBe(false)
      }),
    )
  })
  it('more entries never take a match away, their order does not matter', () => {
    const any = fc.constantFrom(
      entry('rg'),
      entry('/usr/bin/*', { argPattern: '^x$' }),
      entry('!x'),
      entry('rg', { argPattern: '(' }),
      entry('ls', { expiresAt: 1 }),
      entry('/usr/**'),
    )
    fc.assert(
      fc.property(fc.array(any), fc.array(any), program, (a, b, command) => {
        if (matches(a, command)) expect(matches([...a, ...b], command)).toBe(true)
        expect(matches([...b, ...a], command)).toBe(matches([...a, ...b], command))
      }),
    )
  })
  it('what does not compile never matches', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('rg x', 'ls', './y', 'tool'), (text, command) => {
        const one = entry('/**', { argPattern: text })
        if (inspectAllowlist([one], null).some(({ level }) => level === 'error'))
          expect(matches([one], command)).toBe(false)
      }),
    )
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.constantFrom('rg x', 'ls', './y', 'tool'), (text, command) => {
        const one = entry(text)
        if (inspectAllowlist([one], null).some(({ level }) => level === 'error'))
          expect(matches([one], command)).toBe(false)
      }),
    )
  })
})

describe('always', () => {
  const options = { expiresAt: 5000, session: false }
  const stored = (command: string, context = here, more = options) => entriesFor(resolveAll(command), context, more)

  it('stores the program, exactly these words, this target and agent', () => {
    expect(stored("rg -n 'a b'")).toEqual({
      entries: [
        {
          pattern: '/usr/bin/rg',
          argPattern: 'argv:["-n","a b"]',
          scope: { target: 'local', agent: 'main' },
          expiresAt: 5000,
          source: 'approval',
          commandText: "rg -n 'a b'",
        },
      ],
    })
    expect(stored('sudo systemctl restart nginx', there, { expiresAt: 5000, session: true })).toEqual({
      entries: [expect.objectContaining({ sudo: true, scope: { target: 'host:web', agent: 'main', session: 's1' } })],
    })
  })
  it('stores patterns that only look like program texts', () => {
    expect(stored("rg -e 'a b'")).toHaveProperty('entries')
    expect(stored('systemctl status nginx')).toHaveProperty('entries')
  })
  it('stores the inner program of a wrapper, and each part of a chain once', () => {
    const found = stored('timeout 5 rg x | wc -l; rg x')
    expect('entries' in found && found.entries.map(({ pattern }) => pattern)).toEqual(['/usr/bin/rg', '/usr/bin/wc'])
  })
  it.each([
    'bash x.sh',
    'sh -c ls',
    'python3 x.py',
    '/usr/bin/python3.12 -c x',
    'node x.js',
    'perl -e x',
    'awk 1',
    'npm test',
    'npx x',
    'pnpm exec x',
    'uvx x',
    'cargo run',
    'make',
    'git status',
    'git -C /x log',
    'xargs rm',
    'find . -exec rm {} +',
    'ssh web1 ls',
    'docker exec web ls',
    'kubectl exec pod -- ls',
    'fd -x rm',
    'runner x',
    'busybox rm x',
    'sudo bash',
    'sudo -E ls',
    'watch ls',
    'tmux new ls',
    'rg $(id)',
    'rg x > out',
    'cd /tmp',
    'env',
    'env A=1 ls',
    'missing x',
    'rg x; bash y',
    'vim -c x',
    'curl -H "Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789" https://x',
  ])('never stores %s', (command) => {
    expect(stored(command)).toHaveProperty('refusal')
  })
  it.each([
    ['docker compose up -d', false],
    ['docker --log-level debug compose up', false],
    ['docker compose run web ls -f /x', false],
    ['docker compose -f web.yaml up', false],
    ['docker compose -f /srv/web.yaml up -d', true],
    ['docker restart web', true],
  ])('%s is stored: %s', (command, expected) => {
    const [segment] = segmentsOf(command) ?? []
    const path = '/usr/bin/docker'
    const docker = { ...segment, path, real: path, trusted: true } as ResolvedSegment
    expect(Object.keys(entryFor(docker, here, options))).toEqual([expected ? 'entry' : 'refusal'])
  })
  it('asks for what it needs', () => {
    expect(stored('rg x', { ...here, session: null }, { expiresAt: null as never, session: true })).toHaveProperty(
      'refusal',
    )
    expect(stored('rg x', here, { expiresAt: 1000, session: false })).toHaveProperty('refusal')
    const [segment] = resolveAll('rg x', false) ?? []
    expect(entryFor(segment as ResolvedSegment, here, options)).toHaveProperty('refusal')
    expect(entryFor(segment as ResolvedSegment, there, options)).toMatchObject({
      entry: { pattern: 'rg', scope: { target: 'host:web' } },
    })
  })

  it('what is stored matches the same again, until it runs out, and nothing else', () => {
    const word = fc.string({ unit: fc.constantFrom(...'ab -*?[]{}()|^$.\\\'"=,~!+'.split('')), maxLength: 6 })
    const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
    const call = (name: string, args: readonly string[]): string => [name, ...args.map(quote)].join(' ')
    const name = fc.constantFrom('rg', 'tool', './a+b', "'./[x]'", './!x', 'sudo rg')
    fc.assert(
      fc.property(name, fc.array(word, { maxLength: 4 }), fc.array(word, { maxLength: 4 }), (typed, args, others) => {
        for (const context of [here, there]) {
          const answer = stored(call(typed, args), context)
          if (!('entries' in answer)) continue
          const { entries } = answer
          expect(inspectAllowlist(entries, context.now)).toEqual([])
          expect(matches(entries, call(typed, args), context)).toBe(true)
          expect(matches(entries, call(typed, args), { ...context, now: 5000 })).toBe(false)
          expect(matches(entries, call(typed, args), { ...context, agent: 'mcp:x' })).toBe(false)
          expect(matches(entries, call(typed, args), context === here ? there : here)).toBe(false)
          if (JSON.stringify(args) !== JSON.stringify(others))
            expect(matches(entries, call(typed, others), context)).toBe(false)
        }
      }),
      { numRuns: 300 },
    )
  })
})
