import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unifiedDifference } from './difference'

/** Does what the unified lines say. */
function patched(before: string, difference: string): string {
  if (difference === '') return before
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const out: string[] = []
  let at = 0
  const lines = difference.split('\n').slice(2)
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? ''
    const head = /^@@ -(\d+)(?:,(\d+))? /.exec(line)
    if (head !== null) {
      const start = Number(head[1]) - (head[2] === '0' ? 0 : 1)
      out.push(...old.slice(at, start))
      at = start
      continue
    }
    if (line === '' || line.startsWith('\\')) continue
    const end = lines[i + 1]?.startsWith('\\') ? '' : '\n'
    const text = line.slice(1) + end
    if (line[0] !== '+') expect(old[at++]).toBe(text)
    if (line[0] !== '-') out.push(text)
  }
  return [...out, ...old.slice(at)].join('')
}

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '', '--- x', '+d', '@@ -1 +1 @@'), { maxLength: 30 })
  .chain((lines) => fc.constantFrom('', '\n').map((end) => (lines.length === 0 ? '' : lines.join('\n') + end)))

describe('unifiedDifference', () => {
  it('is empty for the same text, and tells a missing line end', () => {
    expect(unifiedDifference('a\n', 'a\n', 'x', 'y')).toBe('')
    expect(unifiedDifference('a\n', 'a', 'x', 'y')).toBe(
      '--- x\n+++ y\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n',
    )
    expect(unifiedDifference('', 'a\nb\n', 'x', 'y')).toBe('--- x\n+++ y\n@@ -0,0 +1,2 @@\n+a\n+b\n')
    expect(unifiedDifference('a\n', '', 'x', 'y')).toBe('--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n')
  })
  it('keeps three lines around a change, and joins what is close', () => {
    const before = Array.from({ length: 30 }, (_, i) => `${i}\n`)
    const after = before.map((line, i) => (i === 4 || i === 10 || i === 25 ? `new ${line}` : line))
    const difference = unifiedDifference(before.join(''), after.join(''), 'x', 'y')
    expect(difference.match(/^@@.*$/gm)).toEqual(['@@ -2,13 +2,13 @@', '@@ -23,7 +23,7 @@'])
  })
  it('leads from one text to the other, whatever they are', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(patched(before, unifiedDifference(before, after, 'x', 'y'))).toBe(after)
      }),
      { numRuns: 600 },
    )
  })
  it('says no more than diff does', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nomos-difference-'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        writeFileSync(join(folder, 'a'), before)
        writeFileSync(join(folder, 'b'), after)
        let theirs = ''
        try {
          execFileSync('diff', ['-u', '-d', 'a', 'b'], { cwd: folder })
        } catch (error) {
          theirs = String((error as { stdout: Buffer }).stdout)
        }
        const count = (all: string): number => all.split('\n').filter((line) => /^[-+]/.test(line)).length
        expect(count(unifiedDifference(before, after, 'a', 'b'))).toBe(count(theirs))
        expect(readFileSync(join(folder, 'a'), 'utf8')).toBe(before)
      }),
      { numRuns: 60 },
    )
    rmSync(folder, { recursive: true })
  })
  it('bounds its work: what has nothing in common is one block', () => {
    const long = (word: string): string => Array.from({ length: 20_000 }, (_, i) => `${word}${i}\n`).join('')
    const start = performance.now()
    const difference = unifiedDifference(`same\n${long('a')}`, `same\n${long('b')}`, 'x', 'y')
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(difference.match(/^@@/gm)).toHaveLength(1)
    expect(difference.split('\n').filter((line) => line.startsWith('+b'))).toHaveLength(20_000)
  })
})
