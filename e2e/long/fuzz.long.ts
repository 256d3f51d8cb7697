import { resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadRiskRules } from '../../src-main/adapters/policy-files'
import { createStreamRedactor, redact } from '../../src-main/domain/redact'
import { classify } from '../../src-main/domain/risk'
import { RISKS } from '../../src-preload/contract/model'
import { corpus } from '../truth/commands'

const INPUTS = 1_000_000
const rules = loadRiskRules(resolve(import.meta.dirname, '../../policies/risk'))

/** Pieces that shells, wrappers and rules care about, joined at random: near misses of real commands. */
const piece = fc.constantFrom(
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell text
  ...'ls cat rm -rf / /etc/shadow sudo env timeout 5 sh -c bash "$( $( ) ` ` " \' \\ ; && || | & > >> < << 2>&1 {a,b} * ? ~ $HOME ${x@P} $(( )) [[ ]] \n \t # EOF find -exec {} + xargs -0 dd of=/dev/sda mkfs.ext4 git -c log --output=x docker exec pct ssh host -- = A=1 LANG=C \u00a0 \u202e \u200b é 😀 \u0000 \ud800 eval base64 -d curl -I http://x'.split(
    ' ',
  ),
)

/** Real commands: our own examples, and the collections beside the repository if they are there. */
const commands = [
  ...rules.examples.map(({ command }) => command),
  ...['everyday', 'reads', 'reads-ops', 'must-not-auto'].flatMap(corpus),
]
/** One change to a text, anywhere in it: `from` is a share of its length. */
const edit = fc.record({
  kind: fc.constantFrom('cut', 'insert', 'repeat', 'turn'),
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(12),
  put: fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 3 })),
})
type Edit = typeof edit extends fc.Arbitrary<infer One> ? One : never

function edited(before: string, { kind, from, length, put }: Edit): string {
  const at = Math.floor(from * before.length)
  const [head, part, tail] = [before.slice(0, at), before.slice(at, at + length), before.slice(at + length)]
  switch (kind) {
    case 'cut':
      return head + tail
    case 'insert':
      return head + put + part + tail
    case 'repeat':
      return head + part + part + tail
    case 'turn':
      return tail + part + head
  }
}
const mutated = fc
  .tuple(fc.constantFrom(...commands), fc.array(edit, { minLength: 1, maxLength: 4 }))
  .map(([command, edits]) => edits.reduce(edited, command))

const text = fc.oneof(
  { arbitrary: mutated, weight: 3 },
  fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(' ')),
  fc.array(piece, { maxLength: 14 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 200 }),
)

describe('fuzz', () => {
  it(`classify: ${INPUTS} inputs, no throw, no hang, always a class, never read-only when only half understood`, () => {
    let slowest = { ms: 0, input: '' }
    const counts: Record<string, number> = {}
    fc.assert(
      fc.property(text, (command) => {
        const begun = performance.now()
        const verdict = classify(command, { rules, posture: 'every-segment' })
        const ms = performance.now() - begun
        if (ms > slowest.ms) slowest = { ms, input: command }
        counts[verdict.risk] = (counts[verdict.risk] ?? 0) + 1
        // `expect` a million times would take longer than all else.
        if (!RISKS.includes(verdict.risk)) throw new Error(`no class: ${verdict.risk}`)
        if (verdict.coverage === 'partial' && verdict.risk === 'read_only') throw new Error('a read understood in part')
        for (const { start, end } of verdict.spans)
          if (start > end || end > command.length) throw new Error(`a span outside the text: ${start} ${end}`)
      }),
      { numRuns: INPUTS, seed: 20261129 },
    )
    console.log(
      JSON.stringify({
        inputs: INPUTS,
        counts,
        slowestMs: Math.round(slowest.ms * 10) / 10,
        slowestInput: slowest.input.slice(0, 100),
      }),
    )
    expect(slowest.ms).toBeLessThan(2000)
  })

  it('redact: idempotent, and the same whole or in pieces', () => {
    const secret = fc.constantFrom(
      'ghp_0123456789abcdefghijABCDEFGHIJ012345',
      '--password hunter22',
      'AKIAIOSFODNN7EXAMPLE',
      'postgres://u:pw@h/db',
      'Authorization: Bearer abc.def.ghi',
      '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(secret, fc.string({ maxLength: 30 }), fc.constantFrom('\n', ' ', '"', '=')), {
          maxLength: 12,
        }),
        fc.array(fc.nat(200), { maxLength: 6 }),
        (parts, cuts) => {
          const whole = parts.join('')
          const once = redact(whole).text
          expect(redact(once).text).toBe(once)
          const stream = createStreamRedactor()
          let at = 0
          let streamed = ''
          for (const cut of [...cuts].sort((a, b) => a - b)) {
            if (cut <= at || cut >= whole.length) continue
            streamed += stream.push(whole.slice(at, cut))
            at = cut
          }
          streamed += stream.push(whole.slice(at)) + stream.flush()
          expect(streamed).toBe(once)
        },
      ),
      { numRuns: 50_000, seed: 20261129 },
    )
  })
})
