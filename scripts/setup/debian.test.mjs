import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { installHint, missingLibraries, missingPrograms, packageForProgram, packagesForLibraries } from './debian.mjs'
import { testFolder } from './test-folder.mjs'

const ldd = `\tlinux-vdso.so.1 (0x00007ffd4a5f2000)
\tlibffmpeg.so => /opt/electron/libffmpeg.so (0x00007f0e)
\tlibgtk-3.so.0 => not found
\tlibnss3.so => not found
\tlibnssutil3.so => not found
\tlibgtk-3.so.0 => not found
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0e)
`

describe('missing libraries', () => {
  it('finds them in the output of ldd, each once', () => {
    expect(missingLibraries(ldd)).toEqual(['libgtk-3.so.0', 'libnss3.so', 'libnssutil3.so'])
    expect(missingLibraries('')).toEqual([])
  })

  it('names each Debian package once and keeps what it does not know', () => {
    expect(packagesForLibraries(['libnss3.so', 'libgtk-3.so.0', 'libnssutil3.so', 'libodd.so.1'])).toEqual({
      packages: ['libgtk-3-0', 'libnss3'],
      unknown: ['libodd.so.1'],
    })
  })

  it('does not take names of the prototype for libraries', () => {
    expect(packagesForLibraries(['constructor'])).toEqual({ packages: [], unknown: ['constructor'] })
    expect(packageForProgram('toString')).toBe('toString')
  })
})

describe('missing programs', () => {
  it('asks for the executable bit', () => {
    const folder = testFolder()
    writeFileSync(path.join(folder, 'nomos-there'), '', { mode: 0o755 })
    writeFileSync(path.join(folder, 'nomos-plain'), '', { mode: 0o644 })
    const wanted = ['nomos-there', 'nomos-plain', 'nomos-none']
    expect(missingPrograms(wanted, folder)).toEqual(['nomos-plain', 'nomos-none'])
  })

  it('turns programs into one line to type', () => {
    const packages = ['Xvfb', 'xvfb-run', 'sshd', 'script'].map(packageForProgram)
    expect(installHint(packages)).toBe('install the Debian packages: sudo apt-get install xvfb openssh-server bsdutils')
  })
})
