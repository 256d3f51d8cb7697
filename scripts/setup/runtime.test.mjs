import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  assembleDevelopmentRuntime,
  developmentFolder,
  developmentRecipe,
  officialFailure,
  officialRuntime,
  officialUnreachable,
  readyRuntime,
  usableRuntime,
} from './runtime.mjs'
import { writeStamp } from './stamp.mjs'
import { testFolder } from './test-folder.mjs'

const temp = testFolder
const failed = (output) => ({ code: 1, signal: null, output })

function checkoutWithOfficial({ version = '45.5.0', unpacked = 'v45.5.0', finished = true } = {}) {
  const checkout = temp()
  const folder = path.join(checkout, 'node_modules', 'electron')
  mkdirSync(path.join(folder, 'dist'), { recursive: true })
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ version }))
  writeFileSync(path.join(folder, 'dist', 'version'), unpacked)
  writeFileSync(path.join(folder, 'dist', 'electron'), '')
  if (finished) writeFileSync(path.join(folder, 'path.txt'), 'electron')
  return checkout
}

describe('the official runtime', () => {
  it('is found when it is whole, and wins without a question', () => {
    const checkout = checkoutWithOfficial()
    expect(officialRuntime(checkout)?.version).toBe('45.5.0')
    expect(readyRuntime({ env: {}, checkout, cache: temp() })?.kind).toBe('official')
  })

  it('is not taken when its download was interrupted or is of another version', () => {
    expect(officialRuntime(checkoutWithOfficial({ finished: false }))).toBeUndefined()
    expect(officialRuntime(checkoutWithOfficial({ unpacked: 'v44.0.0' }))).toBeUndefined()
    const checkout = checkoutWithOfficial()
    rmSync(path.join(checkout, 'node_modules', 'electron', 'dist', 'electron'))
    expect(officialRuntime(checkout)).toBeUndefined()
  })

  it('refuses another value of NOMOS_RUNTIME', () => {
    expect(() => readyRuntime({ env: { NOMOS_RUNTIME: 'offical' }, checkout: temp(), cache: temp() })).toThrow(
      'NOMOS_RUNTIME is "offical"',
    )
  })
})

describe('why the official download failed', () => {
  it.each([
    ['TypeError: fetch failed\n  cause: Error: getaddrinfo ENOTFOUND github.com', 'could not be reached (ENOTFOUND)'],
    ['TypeError: fetch failed\n    at node:internal', 'could not be reached'],
    ['HTTPError: Response code 403 (Forbidden)', 'answered 403'],
  ])('takes %j for an unreachable host', (output, reason) => {
    expect(officialFailure(failed(output), '45.5.0')).toContain(reason)
  })

  it('takes a stalled download for an unreachable host', () => {
    expect(officialFailure({ ...failed(''), stopped: 'nothing arrived for 45 s' }, '45.5.0')).toContain('45 s')
  })

  it.each([
    'Error: Generated checksum for "electron.zip" did not match expected checksum.',
    'Error: ENOSPC: no space left',
  ])('never goes on with another runtime after %j', (output) => {
    expect(() => officialFailure(failed(output), '45.5.0')).toThrow('could not be installed')
  })
})

describe('the note that the host could not be reached', () => {
  const day = 24 * 60 * 60_000
  it.each([
    ['holds for a day', { version: '45.5.0', at: 1_000 }, 1_000 + day - 1, true],
    ['ends after a day', { version: '45.5.0', at: 1_000 }, 1_000 + day, false],
    ['does not hold for another version', { version: '45.4.0', at: 1_000 }, 2_000, false],
    ['does not hold when it is from the future', { version: '45.5.0', at: 5_000 }, 2_000, false],
    ['does not hold without a time', { version: '45.5.0' }, 2_000, false],
  ])('%s', (_what, note, now, holds) => {
    const cache = temp()
    writeStamp(path.join(cache, 'official-unreachable.json'), note)
    expect(officialUnreachable('45.5.0', { cache, now }) !== undefined).toBe(holds)
  })
})

describe('the development runtime', () => {
  function assembled(note) {
    const cache = testFolder()
    const folder = developmentFolder(cache)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'electron'), 'binary')
    writeFileSync(path.join(folder, 'NOMOS_DEVELOPMENT_RUNTIME'), '')
    writeStamp(path.join(folder, 'nomos-runtime.json'), { ...developmentRecipe(), sizes: { electron: 6 } })
    if (note) writeStamp(path.join(cache, 'official-unreachable.json'), note)
    const checkout = checkoutWithOfficial({ finished: false })
    return { env: {}, checkout, cache, folder }
  }
  const fresh = () => ({ version: '45.5.0', at: Date.now(), reason: 'its host could not be reached' })

  it('is ready while the note holds, and tells the reason', () => {
    expect(readyRuntime(assembled(fresh()))).toMatchObject({ kind: 'development', reason: fresh().reason })
  })

  it('stays usable when the note has expired, though set-up would try the official one again', () => {
    const place = assembled({ ...fresh(), at: 0 })
    expect(readyRuntime(place)).toBeUndefined()
    expect(usableRuntime(place)).toMatchObject({ kind: 'development', reason: fresh().reason })
    expect(usableRuntime({ ...place, env: { NOMOS_RUNTIME: 'official' } })).toBeUndefined()
  })

  it.each([
    ['a file is cut short', (folder) => writeFileSync(path.join(folder, 'electron'), 'bin')],
    ['its mark is gone', (folder) => rmSync(path.join(folder, 'NOMOS_DEVELOPMENT_RUNTIME'))],
    ['it was made by another recipe', (folder) => writeStamp(path.join(folder, 'nomos-runtime.json'), { recipe: 0 })],
  ])('is made anew when %s', (_what, change) => {
    const place = assembled(fresh())
    change(place.folder)
    expect(readyRuntime(place)).toBeUndefined()
    expect(usableRuntime(place)).toBeUndefined()
  })

  it.runIf(process.platform === 'linux' && process.arch === 'x64')(
    'gets only its default app anew when nothing else has changed',
    async () => {
      const place = assembled(fresh())
      mkdirSync(path.join(place.folder, 'resources'))
      writeStamp(path.join(place.folder, 'nomos-runtime.json'), {
        ...developmentRecipe(),
        defaultApp: 'an older one',
        sizes: { electron: 6 },
      })
      expect(readyRuntime(place)).toBeUndefined()
      await assembleDevelopmentRuntime(() => {}, place.cache)
      expect(readyRuntime(place)?.kind).toBe('development')
      expect(readFileSync(path.join(place.folder, 'resources', 'default_app.asar'), 'utf8')).toContain('threw an error')
    },
  )
})
