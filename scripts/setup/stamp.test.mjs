import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileSize, hashFile, integrityOf, readStamp, removeStamp, stampMatches, writeStamp } from './stamp.mjs'
import { testFolder } from './test-folder.mjs'

const folder = testFolder

describe('stamps', () => {
  it('reads back what was written, in folders that did not exist', () => {
    const file = path.join(folder(), 'deep', 'er', 'stamp.json')
    writeStamp(file, { lock: 'abc', sizes: { a: 1 } })
    expect(readStamp(file)).toEqual({ lock: 'abc', sizes: { a: 1 } })
    expect(readdirSync(path.dirname(file))).toEqual(['stamp.json'])
  })

  it.each(['', '{"lock": "ab', 'null', '[1]', '"text"'])('takes %j for no stamp at all', (content) => {
    const file = path.join(folder(), 'stamp.json')
    writeFileSync(file, content)
    expect(readStamp(file)).toBeUndefined()
  })

  it('is absent once removed, and removing twice is no error', () => {
    const file = path.join(folder(), 'stamp.json')
    writeStamp(file, {})
    removeStamp(file)
    removeStamp(file)
    expect(readStamp(file)).toBeUndefined()
  })

  it('matches when every expected field is equal, whatever else it notes', () => {
    expect(stampMatches({ lock: 'a', note: 1 }, { lock: 'a' })).toBe(true)
    expect(stampMatches({ sizes: { a: 1 } }, { sizes: { a: 1 } })).toBe(true)
    expect(stampMatches({ lock: 'a' }, { lock: 'b' })).toBe(false)
    expect(stampMatches({}, { lock: 'a' })).toBe(false)
    expect(stampMatches(undefined, {})).toBe(false)
  })

  it('tells a missing file from an empty one', () => {
    const file = path.join(folder(), 'empty')
    writeFileSync(file, '')
    expect(fileSize(file)).toBe(0)
    expect(fileSize(`${file}-none`)).toBe(-1)
    expect(hashFile(`${file}-none`)).toBeUndefined()
  })

  it('computes the integrity that package locks write', async () => {
    const file = path.join(folder(), 'text')
    writeFileSync(file, 'nomos')
    const { createHash } = await import('node:crypto')
    expect(await integrityOf(file)).toBe(`sha512-${createHash('sha512').update('nomos').digest('base64')}`)
  })
})
