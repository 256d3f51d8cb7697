import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadRiskRules } from '../../adapters/policy-files'
import { SHELLS } from '../shell'
import { unsuitable } from '.'

describe('programs that are never trusted by their name', () => {
  it('are all that the rules know to run a program text', () => {
    const rules = loadRiskRules(join(import.meta.dirname, '../../../policies/risk'))
    const names = [...rules.inlineEval.keys(), ...rules.inlineOperand, ...SHELLS]
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => unsuitable(name) === null)).toEqual([])
  })
  it.each([
    ['/usr/bin/python3.12', 'interpreter'],
    ['/opt/node-22/bin/node', 'interpreter'],
    ['lua5.4', 'interpreter'],
    ['perl5.36.0', 'interpreter'],
    ['ruby-3.2', 'interpreter'],
    ['ksh93', 'shell'],
    ['Bash.EXE', 'shell'],
    ['C:\\tools\\powershell.exe', 'interpreter'],
    ['pip3', 'package runner'],
    ['pnpm', 'package runner'],
    ['git', 'git'],
    ['sudo', 'wrapper'],
    ['xargs', 'wrapper'],
    ['/lib64/ld-linux-x86-64.so.2', 'wrapper'],
    ['/usr/bin/ld.so', 'wrapper'],
    ['/lib/ld-musl-x86_64.so.1', 'wrapper'],
    ['start-stop-daemon', 'wrapper'],
    ['terraform', 'package runner'],
  ])('%s is a %s', (program, kind) => {
    expect(unsuitable(program)).toBe(kind)
  })
  it.each(['rg', 'ls', 'systemctl', 'docker', 'bashtop', 'sha256sum', 'md5sum', 'base64', '7z', 'gitk-view', ''])(
    '%s is none of these',
    (program) => {
      expect(unsuitable(program)).toBeNull()
    },
  )
})
