import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, describe, expect, it } from 'vitest'
import { lintPolicies } from './lint'
import { loadRiskRules } from './load'
import { loadPreviews, PREVIEW_FILE, previewExamples, previewFileFaults } from './preview'

const shipped = join(import.meta.dirname, '../../../policies')
const rules = loadRiskRules(join(shipped, 'risk'))
const folder = mkdtempSync(join(tmpdir(), 'nomos-previews-'))
cpSync(shipped, folder, { recursive: true })
afterAll(() => rmSync(folder, { recursive: true }))
const text = readFileSync(join(shipped, PREVIEW_FILE), 'utf8')

/** The faults of the file with one passage changed. */
function changed(from: string, to: string): string {
  expect(text).toContain(from)
  const faults = previewFileFaults(PREVIEW_FILE, load(text.replace(from, to)), rules) ?? []
  return faults.map(({ path, what }) => `${path.join('.')} ${what}`).join('\n')
}

describe('the shipped previews', () => {
  it('load, and every example holds: its reads are what it begins with, and reads', () => {
    expect(previewFileFaults(PREVIEW_FILE, load(text), rules)).toEqual([])
    expect(previewExamples(PREVIEW_FILE, load(text))).toBeGreaterThan(120)
    expect([...loadPreviews(shipped).programs.keys()].sort()).toEqual(
      'apt apt-get chgrp chmod chown cp docker kubectl mv rm rsync sed systemctl tee'.split(' '),
    )
  })
  it('a read that the gate would not let run by itself is a fault, which the lint tells with its line', () => {
    writeFileSync(join(folder, PREVIEW_FILE), text.replace('    add: --simulate\n', '    add: -d\n'))
    const { faults } = lintPolicies(folder)
    expect(faults.map(({ file }) => file)).toEqual(faults.map(() => PREVIEW_FILE))
    expect(faults.find(({ what }) => what.includes('is not a read'))).toMatchObject({
      line: expect.any(Number),
      field: 'previews.0.examples.0',
    })
  })
  it('an example that is none, a command that should have no preview, a field that is none', () => {
    expect(changed('never: ["apt-get update",', 'never: ["apt-get install a",')).toContain('should have no preview')
    expect(changed('{of: "rm -rf build",', '{of: "rm -rf *",')).toContain('should have a preview and has none')
    expect(changed('reads: ["apt-get --simulate install nginx"]', 'reads: ["apt-get --simulate install a"]')).toContain(
      'begins with other reads',
    )
    expect(changed('    skip: 1\n', '    skipp: 1\n')).toContain('"skipp" is no field here')
    expect(changed('- id: rsync', '- id: packages')).toContain('packages is used already')
    expect(changed('    operands: "[^:-][^:]*"', '    operands: "[^:-"')).toContain('regular expression')
  })
  it('a file that cannot be used is told by name and field', () => {
    writeFileSync(join(folder, PREVIEW_FILE), text.replace('form: tee', 'form: write'))
    expect(() => loadPreviews(folder)).toThrow(/preview\.yaml/)
    expect(previewFileFaults('soul.md', '', rules)).toBeNull()
  })
})
