import { describe, expect, it } from 'vitest'
import { createTreeSitterParser } from '../../adapters/tree-sitter'
import { doubtOf } from './second'

describe('doubtOf', () => {
  it.each([
    ['ls -l', ['ls']],
    ["'l's -l", ["'l's"]],
    ['\\ls', ['\\ls']],
    ['l\\\ns', ['l\\\ns']],
    ["$'\\x6cs'", ["$'\\x6cs'"]],
    ['\\time a', ['\\time']],
    ['a; b; a', ['a', 'a', 'b']],
    ['A=1', []],
  ] as const)('%j is what the other one sees', (text, names) => {
    expect(doubtOf(text, names)).toBeNull()
  })

  it.each([
    ['ls', ['ls', 'rm'], 'rm'],
    ['ls; rm a', ['ls'], 'rm'],
    ['ls', ['rm'], 'ls'],
    ['ls; ls', ['ls'], 'ls'],
    ['ls', ['ls', 'ls'], 'ls'],
    ['ls', [], 'ls'],
    ['', ['ls'], 'ls'],
  ] as const)('%j is not', (text, names, name) => {
    expect(doubtOf(text, names)).toContain(`"${name}"`)
  })

  it('a text the other one could not read is in doubt', () => {
    expect(doubtOf('ls', null)).toMatch(/could not read/)
  })
})

describe('the two real parsers', async () => {
  const parser = createTreeSitterParser({ info: () => {}, warn: () => {}, error: () => {} })
  await parser.ready()
  const doubt = (text: string): string | null => doubtOf(text, parser.commandNames(text))

  it.each([
    'ls -la /srv',
    'ps aux | grep -v "a b" | sort -rn | head -5',
    'df -h && free -m || true; uptime',
    "awk '{print $1}' a.txt",
    'LANG=C sort a',
    'sudo -n systemctl status caddy --no-pager 2>&1',
    '! grep -q a b',
    'time -p du -sh /srv',
    '\\time -p du -sh /srv',
    '[ -f a ] && cat a',
    "find . -name '*.ts' -not -path './node_modules/*' 2>/dev/null",
    'ip -br a # addresses',
    'docker ps --format "{{.Names}}"',
    'cat a \\\n  b',
    'date +%s',
  ])('agree on %s', (text) => {
    expect(doubt(text)).toBeNull()
  })

  it.each(['ls 3<&-id', 'ls $[`id`]x(', 'ls "a', 'ls <(id'])('do not on %s', (text) => {
    expect(doubt(text)).not.toBeNull()
  })
})
