// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import { describe, expect, it } from 'vitest'
import { runInBash, whyNoBash } from '../../../e2e/support/differential/bash'
import { asks, compare } from '../../../e2e/support/differential/compare'
import { Generator } from '../../../e2e/support/differential/generate'

const SCRIPTS = 900
const SEED = 20261129
const why = whyNoBash()

/** The kinds of scripts that once ran something nobody had seen. */
const FORMER_MISSES = [
  '2\\\n>f1 c1',
  'c1 2\\\n>f1',
  '{c}1,a}',
  'A=(@(a|b)) c1 \\\n c2 c3',
  'echo `c1 2\\\\\n>f1 2`',
  '>f1 a[ $(c1) ]=b c2',
  'A+=(a) >f1 a[ $(c1) ]=b',
  "c1 $'\\x{41}'",
  "c1 $'\\xe9'",
  "c1 $'a\\x00b'",
  'echo ${A[{a,$(c1)}]}',
  'V=$(coproc N c1) c2 || c3',
  '3<&-c1',
  'A=($(c1))x',
  '[[ a[$(c1)] -eq 1 ]]',
  "c1 'a'\\",
  ">& '$(c1)' c2",
  'c1 >& "\\$(c2)"',
]

describe.skipIf(why !== null)(`what real bash runs${why === null ? '' : ` (left out: ${why})`}`, () => {
  it('the comparison notices what is not seen', () => {
    expect(compare('ls', [['rm', '-rf']]).misses).toHaveLength(1)
    expect(compare("ls 'a'", [['ls', 'b']]).misses).toMatchObject([{ kind: 'arguments' }])
    expect(compare('ls a', [['ls', 'a']]).misses).toEqual([])
  })

  it('bash tells what it tried, in every place a command can stand', () => {
    expect(runInBash(["c1 'a b' | c2; echo $(c3) <(c4) && /tmp/x/p1 z", 'if c2; then c1; fi'])).toEqual([
      expect.arrayContaining([['c1', 'a b'], ['c2'], ['c3'], ['c4'], ['/tmp/x/p1', 'z']]),
      [['c2']],
    ])
  })

  it.each(FORMER_MISSES)('%j', (script) => {
    const [tried] = runInBash([script])
    expect(compare(script, tried ?? []).misses).toEqual([])
  })

  it(`${SCRIPTS} generated scripts run nothing that we did not see or ask about`, { timeout: 240_000 }, () => {
    const scripts = new Generator(SEED).scripts(SCRIPTS, asks)
    const tried = runInBash(scripts)
    expect(tried.filter((some) => some.length > 0).length).toBeGreaterThan(SCRIPTS / 3)
    const compared = scripts.map((script, i) => compare(script, tried[i] ?? []))
    expect(compared.flatMap(({ misses }) => misses)).toEqual([])
    // Asking about everything would be no understanding.
    const told = compared.filter(({ asked }, i) => !asked && (tried[i]?.length ?? 0) > 0)
    expect(told.length).toBeGreaterThan(SCRIPTS / 3)
  })
})
