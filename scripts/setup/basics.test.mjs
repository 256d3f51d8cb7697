import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { runChild, whyFailed } from './child.mjs'
import { describeError, SetupError } from './errors.mjs'
import { requireDisplay } from './launch.mjs'
import { cacheRoot, makeTemp, sweepTemp } from './paths.mjs'
import { downloadState, howFar } from './progress.mjs'
import { requireNode } from './requirements.mjs'
import { testFolder } from './test-folder.mjs'

describe('the Node version', () => {
  it.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('accepts %s', (version) => {
    expect(() => requireNode(version)).not.toThrow()
  })
  it.each(['20.18.1', '18.20.4', '9.0.0'])('refuses %s with the version needed', (version) => {
    expect(() => requireNode(version)).toThrow(`Node ${version} is too old: Nomos needs Node 20.19 or newer.`)
  })
})

describe('the cache folder', () => {
  it('follows the conventions of the platform', () => {
    expect(cacheRoot({}, 'linux', '/home/u')).toBe('/home/u/.cache/nomos')
    expect(cacheRoot({ XDG_CACHE_HOME: '/c' }, 'linux', '/home/u')).toBe('/c/nomos')
    expect(cacheRoot({ XDG_CACHE_HOME: 'relative' }, 'linux', '/home/u')).toBe('/home/u/.cache/nomos')
    expect(cacheRoot({}, 'darwin', '/Users/u')).toBe('/Users/u/Library/Caches/nomos')
    expect(cacheRoot({ LOCALAPPDATA: 'C:\\L' }, 'win32', 'C:\\u')).toBe('C:\\L\\nomos\\cache')
  })

  it('sweeps what dead processes left and nothing of a living one', () => {
    const cache = testFolder()
    const own = makeTemp('mine', cache)
    const left = makeTemp('left', cache)
    renameSync(left, left.replace(`-${process.pid}-`, '-4194305-'))
    mkdirSync(path.join(cache, 'tmp', 'nameless'))
    sweepTemp(cache)
    expect(readdirSync(path.join(cache, 'tmp'))).toEqual([path.basename(own)])
  })
})

describe('progress', () => {
  it('says how far it is', () => {
    expect(howFar(40, 100)).toBe('40 s of about 100 s')
    expect(howFar(120, 100)).toBe('120 s')
    expect(howFar(8, undefined, '61 % of 196 MB')).toBe('8 s, 61 % of 196 MB')
    expect(downloadState(119_721_534, 196_264_810)).toBe('60 % of 196 MB')
    expect(downloadState(300, 200)).toBe('99 % of 0 MB')
    expect(downloadState(5_000_000)).toBe('5 MB so far')
    expect(downloadState(0, 10)).toBeUndefined()
  })
})

describe('errors', () => {
  it('show message, output and remedy', () => {
    const error = new SetupError('It broke.', { output: 'one\ntwo\n', remedy: 'mend it.' })
    expect(describeError(error)).toBe('It broke.\n  | one\n  | two\nWhat to do: mend it.')
  })
  it('show the stack of a bug', () => {
    expect(describeError(new TypeError('bug'))).toContain('basics.test.mjs')
  })
})

describe('a child', () => {
  it('is ended with its group when its time is over', async () => {
    const code = "require('child_process').spawn('sleep', ['60'], { stdio: 'inherit' }); setInterval(() => {}, 1000)"
    const began = Date.now()
    const result = await runChild(process.execPath, ['-e', code], { timeoutMs: 500 })
    expect(whyFailed(result)).toBe('it took longer than 1 s')
    expect(Date.now() - began).toBeLessThan(8_000)
  })
  it('tells why it could not be started', async () => {
    expect(whyFailed(await runChild('/does/not/exist', [], { timeoutMs: 500 }))).toContain('ENOENT')
  })
  it('gives the end of its output and its code', async () => {
    const code = 'for (let i = 0; i < 500; i++) console.log(i); process.exitCode = 3'
    const result = await runChild(process.execPath, ['-e', code], { timeoutMs: 10_000 })
    expect(result.output.split('\n').pop()).toBe('499')
    expect(result.output.split('\n').length).toBeLessThan(130)
    expect(whyFailed(result)).toBe('exit code 3')
  })
})

describe.runIf(process.platform === 'linux')('the display', () => {
  it('is asked for with a way to get one and the headless host', async () => {
    const error = await requireDisplay({}).catch((reason) => reason)
    expect(describeError(error)).toMatch(
      /neither DISPLAY nor WAYLAND_DISPLAY[\s\S]*xvfb-run -a npm start[\s\S]*--headless/,
    )
  })
  it('must be there, not only named', async () => {
    await expect(requireDisplay({ DISPLAY: ':4711' })).rejects.toThrow('The display :4711 cannot be reached')
    await expect(requireDisplay({ WAYLAND_DISPLAY: 'none', XDG_RUNTIME_DIR: '/nowhere' })).rejects.toThrow(
      '/nowhere/none',
    )
  })
  it('on another machine is taken at its word', async () => {
    await expect(requireDisplay({ DISPLAY: 'elsewhere:0' })).resolves.toBeUndefined()
  })
})
