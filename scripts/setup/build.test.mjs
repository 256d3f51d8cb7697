import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { buildApp, buildFresh, sourceFiles } from './build.mjs'
import { describeError } from './errors.mjs'
import { testFolder } from './test-folder.mjs'

/** Stands in for the bundler: what is tested is when it is asked, not what it makes. */
const bundler = `
  const fs = require('node:fs')
  if (fs.readFileSync('src-main/index.ts', 'utf8').includes('broken')) { console.error('src-main/index.ts is broken'); process.exit(1) }
  const skip = fs.readFileSync('src-main/index.ts', 'utf8').includes('no preload')
  for (const file of ['main/index.js', 'main/cli.js', 'main/headless.js', 'preload/index.cjs', 'renderer/index.html']) {
    if (skip && file.startsWith('preload')) continue
    fs.mkdirSync('out/' + file.split('/')[0], { recursive: true })
    fs.writeFileSync('out/' + file, file)
  }`

let checkout
const write = (name, content) => {
  mkdirSync(path.dirname(path.join(checkout, name)), { recursive: true })
  writeFileSync(path.join(checkout, name), content)
}
const silent = () => {}

beforeEach(() => {
  checkout = testFolder()
  write('package.json', '{}')
  write('node_modules/electron-vite/bin/electron-vite.js', bundler)
  write('node_modules/electron-vite/package.json', '{"type":"commonjs"}')
  write('src-main/index.ts', 'export {}')
  write('src-main/index.test.ts', 'export {}')
  write('policies/risk/one.yaml', 'a: 1')
})

describe('the build', () => {
  it('is fresh after it ran and stays so', async () => {
    expect(buildFresh(checkout)).toBe(false)
    await buildApp(silent, checkout)
    expect(buildFresh(checkout)).toBe(true)
    expect(buildFresh(checkout)).toBe(true)
  })

  it.each([
    ['a source changes', () => write('src-main/index.ts', 'export const a = 1')],
    ['a source comes', () => write('src-renderer/new.tsx', '')],
    ['a source goes', () => rmSync(path.join(checkout, 'policies/risk/one.yaml'))],
    ['an output goes', () => rmSync(path.join(checkout, 'out/main/cli.js'))],
    ['an output is cut short', () => write('out/main/cli.js', '')],
    ['the stamp is lost', () => rmSync(path.join(checkout, 'node_modules/.nomos/build.json'))],
  ])('is stale when %s', async (_what, change) => {
    await buildApp(silent, checkout)
    change()
    expect(buildFresh(checkout)).toBe(false)
  })

  it('does not care for tests, nor for a file that was only touched', async () => {
    await buildApp(silent, checkout)
    write('src-main/index.test.ts', 'export const changed = 1')
    expect(buildFresh(checkout)).toBe(true)
    utimesSync(path.join(checkout, 'src-main/index.ts'), new Date(1), new Date(1))
    expect(buildFresh(checkout)).toBe(true)
  })

  it('lists sources without tests', () => {
    const names = sourceFiles(checkout).map((file) => file.name)
    expect(names).toEqual(['package.json', 'policies/risk/one.yaml', 'src-main/index.ts'])
  })

  it('shows what the bundler said, and is not fresh after a failure', async () => {
    await buildApp(silent, checkout)
    write('src-main/index.ts', 'broken')
    const error = await buildApp(silent, checkout).catch((reason) => reason)
    expect(describeError(error)).toContain('src-main/index.ts is broken')
    write('src-main/index.ts', 'export {}')
    expect(buildFresh(checkout)).toBe(false)
  })

  it('names a part that a build without error did not write', async () => {
    write('src-main/index.ts', 'no preload')
    const error = await buildApp(silent, checkout).catch((reason) => reason)
    expect(error.message).toContain('out/preload/index.cjs')
    expect(() => readFileSync(path.join(checkout, 'node_modules/.nomos/build.json'))).toThrow()
  })
})
