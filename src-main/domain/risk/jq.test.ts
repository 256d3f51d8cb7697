import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jqProblem, yqProblem } from './jq'

const READS: readonly string[] = [
  '.',
  '.a',
  '.a.b[0]',
  '.[] | select(.x==1)',
  '{a: .b, c}',
  '.items[] | {name: .metadata.name, env: .env}',
  '[.[] | .a] | add / length',
  'map(.x) | sort_by(.y) | reverse',
  '"\\(.a) - \\(.b)"',
  '. as $x | $x.y',
  'def f(x): x+1; f(.a)',
  'to_entries[] | "\\(.key)=\\(.value)"',
  '.a // "x"',
  '.a? // empty',
  'if .a then 1 elif .b then 2 else 3 end',
  'reduce .[] as $i (0; .+$i)',
  '.[-1:]',
  '.["a b"]',
  '."a-b"',
  '@sh',
  '@csv "\\(.a)"',
  'try .a catch .',
  '.a |= .+1',
  '..|.x?',
  'keys',
  'length',
  'type',
  'test("^a")',
  'group_by(.a)|map({k:.[0].a,n:length})',
  'label $out | .[] | if . then break $out else . end',
  '# c\n.a',
  'del(.a)',
  '.env',
  '.spec.containers[].env[].name',
  'input',
  '. as {a:$x, b:[$y]} | $x',
  '{"a":1}',
  '{(.a):1}',
  '.a.and',
  '{if:1}',
  '$x',
  '$__loc__',
  'limit(3;.[])',
  '1e3',
  '-1',
  '.a[1:2]',
]

const MORE: readonly string[] = [
  'env',
  'env.PATH',
  '$ENV',
  '$ENV.HOME',
  '$ ENV',
  '$#c\nENV',
  'import "a" as a; .',
  'include "x"; .',
  '"\\(env)"',
  '{a: env}',
  '{$ENV}',
  '{(env):1}',
  'foo',
  'a::b',
  '. | env',
  '[env]',
  'modulemeta',
  '.a, env',
  '"\\($ENV)"',
  'def env: 1; env',
  '{a:1}|env',
  'repeat(.)',
  '..env',
  '{a:(1),b:env}',
  '[{a:1},env]',
  '{a:[1,env]}',
  '"a\\("b\\(env)")"',
  '. as [$a, {b: env}] | .',
  'x',
  'get_search_list',
  '# x\\\nenv',
  '"a',
  '{',
  '}',
]

describe('jq', () => {
  it.each(READS.map((text) => [text]))('only reads: %s', (text) => expect(jqProblem(text)).toBeNull())
  it.each(MORE.map((text) => [text]))('does more: %s', (text) => expect(jqProblem(text)).toMatch(/^[A-Z].*\.$/))

  it('reading the environment or a module is found wherever it stands', () => {
    const wrap = fc.constantFrom<(text: string) => string>(
      (text) => `. | ${text}`,
      (text) => `[.a, ${text}]`,
      (text) => `{a: 1, b: (${text})}`,
      (text) => `{(${text} | tostring): 1}`,
      (text) => `if .a then ${text} else . end`,
      (text) => `"x \\(${text}) y"`,
      (text) => `map(${text})`,
      (text) => `reduce .[] as $x (0; ${text})`,
      (text) => `def f: ${text}; f`,
      (text) => `.a[${text}]?`,
      (text) => `try ${text} catch .`,
      (text) => `. as {a: $x} | ${text}`,
      (text) => `# c\n${text}`,
      (text) => `-(${text})`,
    )
    fc.assert(
      fc.property(
        fc.array(wrap, { maxLength: 6 }),
        fc.constantFrom('env', '$ENV', '$ENV.HOME', 'env.HOME', 'modulemeta', 'unknown(.)', '{$ENV}'),
        fc.constantFrom(...READS.filter((text) => !/#|;|\$/.test(text))),
        (wraps, harm, plain) => {
          const around = (text: string): string => wraps.reduce((inner, one) => one(inner), text)
          expect(jqProblem(around(`(${plain})`)), around(plain)).toBeNull()
          expect(jqProblem(around(harm)), around(harm)).not.toBeNull()
        },
      ),
      { numRuns: 500 },
    )
  })

  it('never throws, whatever it is given', () => {
    const soup = fc.array(
      fc.oneof(
        fc.constantFrom(...'{}()[]"\\\n;,$.|?:=+-*%#@/'),
        fc.constantFrom('env', 'def', 'a', '\\(', '..', '.a', ' '),
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(
        fc.oneof(
          soup.map((list) => list.join('')),
          fc.string({ unit: 'binary' }),
        ),
        (text) => {
          const problem = jqProblem(text)
          expect(problem === null || problem.endsWith('.')).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
    expect(jqProblem('"\\('.repeat(300))).not.toBeNull()
  })

  it('for yq nothing is let through that either program of the name would act on', () => {
    for (const text of ['.', '.a.b', '.a[] | select(.b == "c")', '.a | keys', '.a // "x"'])
      expect(yqProblem(text), text).toBeNull()
    for (const text of [
      'load("x")',
      'load_str("x")',
      'env(HOME)',
      'strenv(HOME)',
      'envsubst',
      'eval(.a)',
      'system("id")',
      '.a = 1 | split_doc',
      'filename',
    ])
      expect(yqProblem(text), text).not.toBeNull()
  })
})
