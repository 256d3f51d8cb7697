import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadExecPolicies } from '../../adapters/policy-files'
import {
  compileSafeBins,
  matchSafeBin,
  type ResolvedSegment,
  type SafeBinProfile,
  type SafeBins,
  type SafeBinsFile,
  segmentsOf,
} from '.'

const SHIPPED = { safeBins: null, safeBinTrustedDirs: null, safeBinProfiles: {} }
let file: SafeBinsFile
beforeAll(() => {
  file = loadExecPolicies(join(import.meta.dirname, '../../../policies')).safeBins
})

function segment(command: string, more: Partial<ResolvedSegment> = {}): ResolvedSegment {
  const [first] = segmentsOf(command) ?? []
  if (first === undefined) throw new Error(`no argv in ${command}`)
  const path = `/usr/bin/${first.argv[0]}`
  return { ...first, path, real: path, trusted: true, ...more }
}
const safe = (bins: SafeBins, one: ResolvedSegment): boolean => {
  const answer = matchSafeBin(bins, one)
  return answer !== null && 'name' in answer
}

describe('safe bins', () => {
  it('come from trusted folders only, by their bare name, never with sudo', () => {
    const bins = compileSafeBins(file, SHIPPED)
    expect(safe(bins, segment('wc -l'))).toBe(true)
    expect(safe(bins, segment('wc -l', { path: '/bin/wc' }))).toBe(true)
    expect(safe(bins, segment('wc -l', { path: '/tmp/wc' }))).toBe(false)
    expect(safe(bins, segment('wc -l', { real: '/tmp/wc' }))).toBe(false)
    expect(safe(bins, segment('wc -l', { path: '/usr/bin/x/wc' }))).toBe(false)
    expect(safe(bins, segment('wc -l', { trusted: false }))).toBe(false)
    expect(safe(bins, segment('wc -l', { path: null, real: null }))).toBe(false)
    expect(safe(bins, segment('/usr/bin/wc -l'))).toBe(false)
    expect(safe(bins, segment('./wc -l'))).toBe(false)
    expect(safe(bins, segment('sudo wc -l'))).toBe(false)
    const own = compileSafeBins(file, { ...SHIPPED, safeBinTrustedDirs: ['/opt/coreutils/'] })
    expect(safe(own, segment('wc -l'))).toBe(false)
    expect(safe(own, segment('wc -l', { path: '/opt/coreutils/wc', real: '/opt/coreutils/wc' }))).toBe(true)
  })
  it('custom ones need a profile; interpreters never are one, and that is said', () => {
    const rev: SafeBinProfile = { flag: '-x', text: '--sep', operands: { min: 0, max: 0 } }
    const bins = compileSafeBins(file, {
      safeBins: ['wc', 'mine', 'nope', 'python3', 'bash', 'env', 'awk', 'git'],
      safeBinTrustedDirs: null,
      safeBinProfiles: { mine: rev, python3: rev },
    })
    expect(safe(bins, segment('mine -x --sep=,'))).toBe(true)
    expect(safe(bins, segment('mine -y'))).toBe(false)
    expect(safe(bins, segment('mine --se=,'))).toBe(false)
    expect(safe(bins, segment('mine notes'))).toBe(false)
    expect(safe(bins, segment('head -1'))).toBe(false)
    expect(safe(bins, segment('python3 -x'))).toBe(false)
    expect(bins.problems.map(({ name }) => name)).toEqual(['nope', 'python3', 'bash', 'env', 'awk', 'git'])
    expect(bins.problems[0]?.why).toContain('safeBinProfiles')
    expect(bins.problems[1]?.why).toContain('interpreter')
  })
  it('an own profile wins over the shipped one, and names like __proto__ have none', () => {
    const bins = compileSafeBins(file, { ...SHIPPED, safeBins: ['wc', 'constructor'], safeBinProfiles: { wc: {} } })
    expect(safe(bins, segment('wc'))).toBe(true)
    expect(safe(bins, segment('wc -l'))).toBe(false)
    expect(bins.problems.map(({ name }) => name)).toEqual(['constructor'])
  })
  it('never let a word through that names a file, for those that read none', () => {
    const bins = compileSafeBins(file, SHIPPED)
    const option = fc.constantFrom(
      '-n',
      '-c',
      '-d',
      '-f',
      '-l',
      '-s',
      '--',
      '--lines=3',
      '-5',
      '--zero-terminated',
      '-nc',
      '-u',
    )
    fc.assert(
      fc.property(
        fc.constantFrom('cut', 'uniq', 'head', 'tail', 'wc'),
        fc.array(option, { maxLength: 3 }),
        (name, before) => {
          // Behind anything the last word is the value of an option or a file; a path is never a number, so only texts may take it.
          const command = [name, ...before, '/etc/passwd'].join(' ')
          if (safe(bins, segment(command))) {
            expect(name).toBe('cut')
            expect(['-c', '-d', '-f', '-nc']).toContain(before.at(-1))
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})
