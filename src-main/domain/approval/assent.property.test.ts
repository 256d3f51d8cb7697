import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { AssentFile, compileAssent, readAssent } from '.'

const file = AssentFile.parse(load(readFileSync(join(import.meta.dirname, '../../../policies/assent.yaml'), 'utf8')))
const grammar = compileAssent(file)
const kindOf = (text: string): string => readAssent(grammar, text).kind

const SETTINGS = { seed: 20_260_721, numRuns: 3000 }
const phrase = fc.constantFrom(...file.grant)
const filler = fc.constantFrom(...file.fillers)
/** Between words: blanks of any kind. Between phrases: punctuation as well. */
const blank = fc.constantFrom(' ', '  ', '\t', '\u00A0')
const between = fc.constantFrom(' ', ', ', '. ', '! ', '… ', ' - ', ' — ', '\n', '  ', ',', ' and ', ' and then ', ': ')
const end = fc.constantFrom('', '.', '!', '!!!', '…', '...', ',', ' .', '\n', ' ', '\r\n')

/** A word in any case, with a typographic apostrophe perhaps, and any blanks between. */
const written = (words: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(fc.boolean(), { minLength: words.length, maxLength: words.length }), blank, fc.boolean())
    .map(([upper, space, curly]) =>
      [...words]
        .map((letter, i) =>
          letter === ' ' ? space : letter === "'" && curly ? '’' : upper[i] ? letter.toUpperCase() : letter,
        )
        .join(''),
    )

/** Two phrases that mean something else together: those of the data, and "please do" before "you can", which asks. */
const MEAN_OTHERWISE = [...file.not_assent, 'do you']

/** One to three phrases with fillers around them: plain assent. */
const assent = fc
  .tuple(
    fc.array(filler, { maxLength: 1 }),
    fc.array(fc.tuple(phrase.chain(written), between, fc.array(filler.chain(written), { maxLength: 1 })), {
      minLength: 1,
      maxLength: 3,
    }),
    end,
  )
  .map(([before, parts, last]) => {
    const text = parts.map(
      ([words, joint, after], i) => [words, ...after].join(' ') + (i < parts.length - 1 ? joint : ''),
    )
    return [...before, `${text.join('')}${last}`].join(' ')
  })
  .filter((text) => text.length <= file.longest && !MEAN_OTHERWISE.some((one) => plainWordsOf(text).includes(one)))

const plainWordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/[^a-z' ]+/g, ' ')
    .replace(/\s+/g, ' ')

/** A text with something put between two of its words, before or behind. */
const withInside = (text: fc.Arbitrary<string>, thing: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, thing, fc.nat(), between).map(([words, inserted, place, joint]) => {
    const parts = words.split(/\s+/)
    const at = place % (parts.length + 1)
    return [...parts.slice(0, at), `${at === 0 ? '' : joint.trim()} ${inserted}`.trim(), ...parts.slice(at)].join(' ')
  })

const never = (texts: fc.Arbitrary<string>, numRuns = SETTINGS.numRuns): void =>
  fc.assert(
    fc.property(texts, (text) => kindOf(text) !== 'grant'),
    { ...SETTINGS, numRuns },
  )

describe('assent', () => {
  it('is granted by any phrases in any case, spacing and punctuation, with fillers around them', () => {
    fc.assert(
      fc.property(assent, (text) => kindOf(text) === 'grant'),
      { ...SETTINGS, numRuns: 5000 },
    )
  })

  it('is never granted with a negation anywhere', () => {
    const contracted = fc.constantFrom("isn't", "can't", "won't", "mustn't", "ain't", 'didn’t', 'DON’T', "y'shouldn't")
    const negation = fc.oneof(
      fc.constantFrom(...file.negation, ...file.deny, ...file.negators).chain(written),
      contracted,
    )
    never(withInside(assent, negation), 5000)
  })

  it('is never granted with a question mark or a question word anywhere', () => {
    const question = fc.constantFrom(...file.questions).chain(written)
    never(withInside(assent, question))
    never(
      fc.tuple(assent, fc.nat(), fc.constantFrom('?', '？', '⁇', '﹖', '‽?')).map(([text, at, mark]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + mark + text.slice(place)
      }),
    )
  })

  it('is never granted with a condition or for a part', () => {
    never(withInside(assent, fc.constantFrom(...file.conditions).chain(written)))
    never(withInside(assent, fc.constantFrom(...file.partial).chain(written)))
    never(withInside(assent, fc.constantFrom(...file.wait).chain(written)))
  })

  it('is never granted with anything like a command in the message', () => {
    const sign = fc.constantFrom(...'"`$/|<>;=\\&*~#@%^{}[]()+_')
    const words = fc.constantFrom(
      '--force',
      '-f',
      '-rf',
      '/etc/motd',
      './x',
      'a=b',
      'deploy.sh',
      'host:web',
      '$(id)',
      '`id`',
      '"yes"',
      "'yes'",
      '&& reboot',
      '; reboot',
      '| sh',
      '> x',
      '1.2.3.4',
      'a@b',
      '~',
      'C:\\x',
      '#1',
    )
    never(withInside(assent, words))
    never(
      fc.tuple(assent, fc.nat(), sign).map(([text, at, one]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + one + text.slice(place)
      }),
    )
  })

  it('is never granted with a word outside of the grammar, though the rest is assent', () => {
    const known = new Set(
      [...file.grant, ...file.fillers, ...file.connectives]
        .flatMap((words) => words.split(/[ '-]/))
        .concat('s', 't', 'm'),
    )
    const stranger = fc.oneof(
      fc.stringMatching(/^[a-z]{1,12}$/),
      fc.stringMatching(/^[a-z]{0,4}[0-9]{1,4}$/),
      fc.constantFrom('reboot', 'always', 'too', 'again', 'everything', 'twice', 'web', 'yesterday', 'goahead', 'yess'),
    )
    never(
      withInside(
        assent,
        stranger.filter((word) => !known.has(word)),
      ),
      5000,
    )
  })

  it('is never granted with a letter, sign or invisible character that only looks like ours', () => {
    const alike: Readonly<Record<string, string>> = {
      a: 'а',
      e: 'е',
      o: 'о',
      p: 'р',
      c: 'с',
      y: 'у',
      x: 'х',
      i: 'і',
      s: 'ѕ',
      d: 'ԁ',
      g: 'ɡ',
    }
    never(
      fc
        .tuple(assent, fc.nat())
        .filter(([text]) => /[aeopcyxisdg]/.test(text))
        .map(([text, at]) => {
          const places = [...text.matchAll(/[aeopcyxisdg]/g)].map(({ index }) => index)
          const place = places[at % places.length] as number
          return text.slice(0, place) + alike[text.charAt(place)] + text.slice(place + 1)
        }),
    )
    const hidden = fc.oneof(
      fc.constantFrom(
        ...'\u200B\u200C\u200D\u2060\u00AD\u202A\u202B\u202D\u202E\u2066\u2067\u2069\u061C\u180E\u0301\u0000\u001B\u007F\u2028\uFEFF\u2003\u0085\u3164',
      ),
      fc.integer({ min: 0xe0020, max: 0xe007f }).map((code) => String.fromCodePoint(code)),
    )
    never(
      fc.tuple(assent, fc.nat(), hidden).map(([text, at, one]) => {
        const trimmed = text.trim()
        const place = at % (trimmed.length + 1)
        return trimmed.slice(0, place) + one + trimmed.slice(place)
      }),
    )
    const wide = (text: string): string =>
      text.replace(/[a-z]/gi, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0))
    never(assent.map(wide), 500)
  })

  it('answers any text at all, and grants none of what is not made of its words', () => {
    const words = new Set([...file.grant, ...file.fillers, ...file.connectives].flatMap((one) => one.split(' ')))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 220 }), fc.string({ maxLength: 220 })), (text) => {
        const { kind } = readAssent(grammar, text)
        if (kind === 'grant') {
          const said = plainWordsOf(text).trim().split(' ')
          expect(said.every((word) => words.has(word) || word === '')).toBe(true)
        }
      }),
      SETTINGS,
    )
  })

  it('is read at once, whatever the length', () => {
    const kb256 = 262_144
    for (const one of ['yes ', ' ', '👍', "don't ", '-', "'", '\u200B', '?', 'a', '\n', 'no and ', '\uD83D']) {
      const text = one.repeat(Math.floor(kb256 / one.length))
      const began = performance.now()
      const padded = [text, `yes${text}`, `${text}yes`, text.slice(0, file.longest)]
      for (const long of padded) readAssent(grammar, long)
      expect(performance.now() - began, JSON.stringify(one)).toBeLessThan(100)
    }
    expect(kindOf('yes '.repeat(kb256 / 4))).toBe('none')
  })
})
