import { resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadRiskRules } from '../../adapters/policy-files'
import { classify, LONGEST_READ } from './classify'

const rules = loadRiskRules(resolve(import.meta.dirname, '../../../policies/risk'))
const WHERE = { cwd: '/srv/app', homeFolder: '/home/ann', posture: 'every-segment' as const }

const destructive = rules.examples.filter(({ expected }) => expected === 'destructive').map(({ command }) => command)
const reads = rules.examples.filter(({ expected }) => expected === 'read_only').map(({ command }) => command)

/** About 3 KB of harmless text. */
function padding(pieces: readonly string[], between: string): string {
  let out = pieces[0] ?? 'true'
  for (let i = 1; out.length < LONGEST_READ + 1024; i++) out += between + (pieces[i % pieces.length] ?? 'true')
  return out
}

const harmless = fc.array(fc.constantFrom('true', 'ls -la /srv', 'uptime', 'echo done', 'df -h', 'git status'), {
  minLength: 1,
  maxLength: 6,
})
const between = fc.constantFrom('; ', ' && ', '\n', ' || ')

describe('long texts', () => {
  it('what cannot be undone stays that, however much harmless text stands around it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...destructive),
        harmless,
        between,
        fc.constantFrom('before', 'behind', 'blanks', 'comment', 'words'),
        (command, pieces, sign, place) => {
          const text = padding(pieces, sign)
          const long =
            place === 'before'
              ? `${text}\n${command}`
              : place === 'behind'
                ? `${command}\n${text}`
                : place === 'blanks'
                  ? `${' '.repeat(LONGEST_READ)}${command}${' '.repeat(1024)}`
                  : place === 'comment'
                    ? `# ${'x'.repeat(LONGEST_READ)}\n${command}`
                    : `echo ${'word '.repeat(600)}\n${command}`
          expect(classify(long, { rules, ...WHERE }).risk, `${place}: ${command}`).toBe('destructive')
        },
      ),
      { numRuns: 600, seed: 20261129 },
    )
  })

  it('nothing long is a read', () => {
    fc.assert(
      fc.property(fc.constantFrom(...reads), harmless, between, (command, pieces, sign) => {
        const text = padding(pieces, sign)
        for (const long of [`${command}${sign}${text}`, `${text}${sign}${command}`, command + ' '.repeat(LONGEST_READ)])
          expect(classify(long, { rules, ...WHERE }).risk, command).not.toBe('read_only')
      }),
      { numRuns: 100, seed: 20261129 },
    )
  })
})
