import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { describeError } from './errors.mjs'
import { cacheInListing, fetchPackage, folderSize, lastLines, npmEnvironment } from './npm.mjs'
import { testFolder } from './test-folder.mjs'

const content = 'the package'
const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`
const silent = () => {}

function setting(bytes = content) {
  const cache = testFolder()
  const fetchInto = vi.fn(async (_spec, temp) => {
    const file = path.join(temp, 'received.tgz')
    writeFileSync(file, bytes)
    return file
  })
  const wanted = { name: '@some/thing', version: '1.2.3', integrity, log: silent, cache, fetchInto }
  return { cache, fetchInto, wanted, kept: path.join(cache, 'downloads', 'some-thing-1.2.3.tgz') }
}

describe('fetching a package', () => {
  it('keeps the checked tarball in the cache and leaves no temporary folder', async () => {
    const { cache, fetchInto, wanted, kept } = setting()
    expect(await fetchPackage(wanted)).toBe(kept)
    expect(readFileSync(kept, 'utf8')).toBe(content)
    expect(fetchInto).toHaveBeenCalledWith('@some/thing@1.2.3', expect.any(String))
    expect(readdirSync(path.join(cache, 'tmp'))).toEqual([])
  })

  it('refuses other content with both values, and keeps nothing of it', async () => {
    const { cache, wanted, kept } = setting('something else')
    const error = await fetchPackage(wanted).catch((reason) => reason)
    const text = describeError(error)
    expect(text).toContain('@some/thing@1.2.3 was refused')
    expect(text).toContain(`expected ${integrity}`)
    expect(text).toMatch(/received sha512-/)
    expect(text).toContain('What to do:')
    expect(existsSync(kept)).toBe(false)
    expect(readdirSync(path.join(cache, 'tmp'))).toEqual([])
  })

  it('uses a tarball that an earlier run has checked and kept', async () => {
    const { cache, fetchInto, wanted, kept } = setting()
    mkdirSync(path.join(cache, 'downloads'))
    writeFileSync(kept, content)
    expect(await fetchPackage(wanted)).toBe(kept)
    expect(fetchInto).not.toHaveBeenCalled()
  })

  it('fetches anew when the kept tarball was damaged', async () => {
    const { cache, fetchInto, wanted, kept } = setting()
    mkdirSync(path.join(cache, 'downloads'))
    writeFileSync(kept, 'the pack')
    await fetchPackage(wanted)
    expect(fetchInto).toHaveBeenCalledOnce()
    expect(readFileSync(kept, 'utf8')).toBe(content)
  })
})

describe('the environment of npm', () => {
  it('moves the default cache into ours and respects a chosen one', async () => {
    const base = { XDG_CACHE_HOME: '/x', LOCALAPPDATA: 'C:\\x' }
    const moved = await npmEnvironment({ ...base, npm_config_cache: path.join(os.homedir(), '.npm') })
    if (process.platform === 'linux') expect(moved.npm_config_cache).toBe('/x/nomos/npm')
    const chosen = await npmEnvironment({ ...base, npm_config_cache: '/srv/npm-cache' })
    expect(chosen.npm_config_cache).toBe('/srv/npm-cache')
  })
})

describe('the cache that a configuration file names', () => {
  it('is read from the listing of npm', () => {
    const listing = '; "user" config\n\n; cache = "/srv/npm" ; overridden by env\n\n; "env" config\n\ncache = "/ours"\n'
    expect(cacheInListing(listing)).toBe('/srv/npm')
    expect(cacheInListing('; "env" config from environment\n\ncache = "/ours"\n')).toBeUndefined()
  })
})

describe('small things', () => {
  it('shows the end of an output', () => {
    expect(lastLines('a\nb\nc', 2)).toBe('b\nc')
  })

  it('sums a folder and takes a missing one for empty', () => {
    const folder = testFolder()
    mkdirSync(path.join(folder, 'inner'))
    writeFileSync(path.join(folder, 'a'), '123')
    writeFileSync(path.join(folder, 'inner', 'b'), '4567')
    expect(folderSize(folder)).toBe(7)
    expect(folderSize(path.join(folder, 'none'))).toBe(0)
  })
})
