import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadRiskRules } from '../../adapters/policy-files'
import { classify } from './index'

const rules = loadRiskRules(join(import.meta.dirname, '../../../policies/risk'))

describe('the examples of every rule and schema', () => {
  it('are there in numbers', () => {
    expect(rules.examples.length).toBeGreaterThan(1800)
    expect(new Set(rules.programs.values()).size).toBeGreaterThan(200)
  })

  it('every schema shows what is and what is not a read', () => {
    const shown = new Map<string, Set<string>>()
    for (const example of rules.examples) {
      const set = shown.get(example.rule) ?? new Set()
      set.add(example.expected)
      shown.set(example.rule, set)
    }
    for (const program of new Set(rules.programs.values()))
      expect([...(shown.get(program.names[0] as string) ?? [])].length, program.names[0]).toBeGreaterThan(0)
  })

  const byRule = new Map<string, typeof rules.examples>()
  for (const example of rules.examples) byRule.set(example.rule, [...(byRule.get(example.rule) ?? []), example])
  it.each([...byRule])('%s', (rule, examples) => {
    for (const { command, expected } of examples)
      for (const posture of ['default', 'every-segment'] as const) {
        const verdict = classify(command, { rules, posture, cwd: '/srv/app', homeFolder: '/home/ann' })
        const said = `${command} (${posture}): ${verdict.risk}, ${verdict.reasons[0]?.sentence}`
        if (expected === 'read_only') expect(verdict.risk, said).toBe('read_only')
        else if (expected === 'destructive') {
          expect(verdict.risk, said).toBe('destructive')
          expect(
            verdict.reasons.some((reason) => reason.rule === rule),
            `${said} by another rule than ${rule}`,
          ).toBe(true)
        } else if (expected === 'not_destructive')
          expect(
            verdict.reasons.some((reason) => reason.rule === rule),
            said,
          ).toBe(false)
        else if (expected === 'every_segment')
          expect(verdict.risk === 'read_only', said).toBe(posture === 'every-segment')
        else expect(verdict.risk, said).not.toBe('read_only')
      }
  })

  it('sentences are for people: a capital letter, a full stop, no names of rules', () => {
    const yaml = ['destructive.yaml', 'secrets.yaml'].map((name) =>
      readFileSync(join(import.meta.dirname, '../../../policies/risk', name), 'utf8'),
    )
    for (const text of yaml)
      for (const [, sentence] of text.matchAll(/^ {4}sentence: (.*)$/gm)) expect(sentence).toMatch(/^[A-Z][^_]*\.$/)
  })
})
