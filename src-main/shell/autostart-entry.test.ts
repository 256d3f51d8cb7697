import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { autostartEntry, execWord, xdgAutostart } from './autostart-entry'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nomos-autostart-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('starting with the login', () => {
  it('writes one entry, says so, and takes it back', () => {
    const autostart = xdgAutostart(join(folder, 'deep', 'autostart'), ['/opt/Nomos/nomos', '--hidden'])
    const file = join(folder, 'deep', 'autostart', 'nomos.desktop')
    expect(autostart.status()).toMatchObject({ available: true, on: false })
    autostart.apply(true)
    expect(readFileSync(file, 'utf8')).toContain('\nExec="/opt/Nomos/nomos" "--hidden"\n')
    expect(autostart.status()).toMatchObject({ on: true })
    autostart.apply(false)
    autostart.apply(false)
    expect(existsSync(file)).toBe(false)
  })

  it('an entry that the desktop has switched off is off', () => {
    const autostart = xdgAutostart(folder, ['/opt/nomos'])
    writeFileSync(join(folder, 'nomos.desktop'), '[Desktop Entry]\nHidden=true\n')
    expect(autostart.status().on).toBe(false)
  })

  it('says what is in the way', () => {
    const checkout = xdgAutostart(folder, null)
    expect(checkout.status()).toMatchObject({ available: false, on: false })
    expect(() => checkout.apply(true)).toThrow('runs from a checkout')
    expect(() => checkout.apply(false)).not.toThrow()
    const file = join(folder, 'file')
    writeFileSync(file, '')
    chmodSync(file, 0o600)
    expect(() => xdgAutostart(join(file, 'autostart'), ['/opt/nomos']).apply(true)).toThrow(
      /cannot be written: .*Make its folder/,
    )
  })

  it('quotes what a path may hold', () => {
    expect(execWord('/opt/No mos')).toBe('"/opt/No mos"')
    expect(execWord('a"b`c$d\\e%f')).toBe('"a\\\\"b\\\\`c\\\\$d\\\\\\\\e%%f"')
    expect(() => autostartEntry(['/opt/a\nExec=evil'])).toThrow('line break')
  })
})
