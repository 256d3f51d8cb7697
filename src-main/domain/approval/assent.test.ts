import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { type Assent, AssentFile, assentFaults, compileAssent, readAssent } from '.'

const file = AssentFile.parse(load(readFileSync(join(import.meta.dirname, '../../../policies/assent.yaml'), 'utf8')))
const grammar = compileAssent(file)
const kindOf = (text: string): Assent['kind'] => readAssent(grammar, text).kind

describe('the shipped grammar of assent', () => {
  it('holds to every example', () => {
    expect(assentFaults(file).map(({ path, what }) => `${path.join('.')}: ${what}`)).toEqual([])
  })

  it.each([
    'go ahead',
    'yes',
    'yep',
    'yeah',
    'yup',
    'do it',
    'proceed',
    'approve',
    'approved',
    'confirm',
    'confirmed',
    'ship it',
    'sounds good',
    'lgtm',
    'run it',
    'execute',
    'please do',
    'ok go ahead',
    'ok go ahead and run it',
  ])('grants "%s" in any case and with any end', (phrase) => {
    const title = phrase.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
    for (const text of [phrase, phrase.toUpperCase(), title])
      for (const end of ['', '.', '!', '!!', ',', '…', '...', ' .', '\n', ' please', ', thanks.'])
        expect(kindOf(`${text}${end}`), `${text}${end}`).toBe(
          phrase === 'confirm' && end === ' please' ? 'none' : 'grant',
        )
  })

  it('grants two or three of them together', () => {
    const some = ['yes', 'go ahead', 'do it', 'sounds good', 'ship it', 'approved', 'please do', 'run it']
    // A semicolon is one of a shell.
    for (const one of some)
      for (const two of some)
        for (const join of [' ', ', ', '. ', '! ', ' and ', ' - ', '\n', '; '])
          expect(kindOf(`${one}${join}${two}`), `${one}${join}${two}`).toBe(join === '; ' ? 'unclear' : 'grant')
  })

  it('tells why a message that sounds like assent is none', () => {
    expect(readAssent(grammar, 'yes but not the upgrade')).toEqual({ kind: 'unclear', why: 'negation' })
    expect(readAssent(grammar, 'yes but keep nginx')).toEqual({ kind: 'unclear', why: 'partial' })
    expect(readAssent(grammar, 'yes if it is quick?')).toEqual({ kind: 'unclear', why: 'question' })
    expect(readAssent(grammar, 'yes if it is quick')).toEqual({ kind: 'unclear', why: 'condition' })
    expect(readAssent(grammar, 'yes: `df`?')).toEqual({ kind: 'unclear', why: 'command' })
    expect(readAssent(grammar, 'what is up?')).toEqual({ kind: 'none' })
  })

  it('has no ear for a long message, whatever it says', () => {
    expect(kindOf(`${'yes '.repeat(50)}`)).toBe('grant')
    expect(kindOf('yes '.repeat(51))).toBe('none')
    expect(kindOf(`yes${' '.repeat(500)}`)).toBe('grant')
  })
})

describe('the data of a grammar', () => {
  const changed = (change: Partial<AssentFile>): string[] =>
    assentFaults({ ...file, ...change }).map(({ path, what }) => `${path.join('.')}: ${what}`)

  it('may hold no granting phrase with a word that guards', () => {
    expect(changed({ grant: ['yes', 'why not', 'no problem', 'only yes', 'run it once', 'stop it'] })).toEqual([
      'grant.1: "why not" holds a phrase of "negation", so it can never grant',
      'grant.2: "no problem" holds a phrase of "negation", so it can never grant',
      'grant.3: "only yes" holds a phrase of "partial", so it can never grant',
      'grant.4: "run it once" holds a phrase of "conditions", so it can never grant',
      'grant.5: "stop it" holds a phrase of "negation", so it can never grant',
    ])
    expect(changed({ fillers: [...file.fillers, 'not'] })).toHaveLength(1)
    expect(changed({ connectives: ['and', 'but'] })).toHaveLength(1)
  })

  it('may hold nothing twice, and no negator that does not negate', () => {
    expect(changed({ signs: ['👍', '👍'] })).toEqual(['signs.1: "👍" is there twice'])
    expect(changed({ negators: ['do'] })).toEqual(['negators.0: "do" is not in "negation"'])
  })

  it('names an example that does not hold, with its place', () => {
    const examples = {
      ...file.examples,
      deny: ['no', 'yes'],
      unclear: { ...file.examples.unclear, question: ['yes!'] },
    }
    expect(changed({ examples })).toEqual([
      'examples.deny.1: "yes" should be deny and is grant',
      'examples.unclear.question.0: "yes!" should be unclear (question) and is grant',
    ])
  })

  it('is small words only', () => {
    for (const grant of ['Yes', 'yes ', 'a  b', '', 'yes!', 'уes', "'yes", 'a-'])
      expect(AssentFile.safeParse({ ...file, grant: [grant] }).success, grant).toBe(false)
    for (const sign of ['?', 'a', 'a:', '\u200B', ' ', '1'])
      expect(AssentFile.safeParse({ ...file, signs: [sign] }).success, sign).toBe(false)
  })
})
