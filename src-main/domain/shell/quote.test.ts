import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { asCommand, quoteAll } from './quote'

const WORDS = [
  'plain',
  '--set=1',
  'A=b',
  '=ls',
  '~',
  '',
  "it's",
  '$HOME',
  'a b',
  '*',
  '/et*',
  '#x',
  'then',
  '{a,b}',
  'ü',
  '-',
  '\n',
]

describe('quoting', () => {
  it.each(['sh', 'bash'])('%s gives a program exactly the words', (shell) => {
    for (const line of [asCommand(WORDS), quoteAll(WORDS)])
      expect(execFileSync(shell, ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })).toBe(`${WORDS.join('\0')}\0`)
  })

  it('leaves bare what a person would', () => {
    expect(asCommand(['mv', '--', '/etc/a=b', '=c', "it's"])).toBe("mv -- /etc/a=b '=c' 'it'\\''s'")
    expect(quoteAll(['if', 'A=b'])).toBe("'if' 'A=b'")
  })
})
