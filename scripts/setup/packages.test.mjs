import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeError } from './errors.mjs'
import { installedByHand, installPackages, packagesReady } from './packages.mjs'
import { testFolder } from './test-folder.mjs'

const packages = {
  '': { name: 'app' },
  'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' },
  'node_modules/other-platform': { version: '1.0.0', integrity: 'sha512-other', optional: true },
}

function checkout({ installed = packages } = {}) {
  const folder = testFolder()
  const write = (name, value) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), JSON.stringify(value))
  }
  write('package.json', { dependencies: { one: '1.0.0' } })
  write('package-lock.json', { packages })
  write('node_modules/one/package.json', { name: 'one' })
  const { '': _root, 'node_modules/other-platform': _other, ...present } = installed
  write('node_modules/.package-lock.json', { packages: present })
  return { folder, write }
}

describe('packages', () => {
  it('takes a complete installation done by hand for its own', async () => {
    const { folder } = checkout()
    expect(packagesReady(folder)).toBe(false)
    const lines = []
    await installPackages((line) => lines.push(line), folder)
    expect(packagesReady(folder)).toBe(true)
    expect(lines).toEqual([])
  })

  it('does not take one of other packages, or one with a folder missing', () => {
    const other = checkout({ installed: { ...packages, 'node_modules/one': { integrity: 'sha512-changed' } } })
    expect(installedByHand(other.folder)).toBe(false)
    const gone = checkout()
    rmSync(path.join(gone.folder, 'node_modules', 'one'), { recursive: true })
    expect(installedByHand(gone.folder)).toBe(false)
  })

  it('does not take one that npm never finished', () => {
    const { folder } = checkout()
    rmSync(path.join(folder, 'node_modules', '.package-lock.json'))
    expect(installedByHand(folder)).toBe(false)
  })

  it('is not ready any more when the lock file changes or a package vanishes', async () => {
    const { folder, write } = checkout()
    await installPackages(() => {}, folder)
    rmSync(path.join(folder, 'node_modules', 'one', 'package.json'))
    expect(packagesReady(folder)).toBe(false)
    write('node_modules/one/package.json', { name: 'one' })
    expect(packagesReady(folder)).toBe(true)
    write('package-lock.json', { packages, changed: true })
    expect(packagesReady(folder)).toBe(false)
  })

  it('says so when there is no lock file', () => {
    const { folder } = checkout()
    rmSync(path.join(folder, 'package-lock.json'))
    let error
    try {
      packagesReady(folder)
    } catch (reason) {
      error = reason
    }
    expect(describeError(error)).toContain('no readable package-lock.json')
  })
})
