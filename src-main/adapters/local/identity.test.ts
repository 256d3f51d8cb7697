import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveProgram } from './identity'

describe('what would be started for a name', () => {
  let own: string
  beforeAll(() => {
    own = mkdtempSync(join(tmpdir(), 'nomos-path-'))
    for (const name of ['uname', 'only-here', 'not-runnable']) {
      writeFileSync(join(own, name), '#!/bin/sh\n')
      chmodSync(join(own, name), name === 'not-runnable' ? 0o644 : 0o755)
    }
    mkdirSync(join(own, 'ls'))
  })
  afterAll(() => rmSync(own, { recursive: true, force: true }))

  it('is the first on the path, wherever that is', async () => {
    const at = async (name: string, path: string) => {
      const { path: found, trusted } = await resolveProgram(name, '/', path)
      return [found, trusted]
    }
    const system = '/usr/bin:/bin'
    expect(await at('uname', `${own}:${system}`)).toEqual([join(own, 'uname'), false])
    expect(await at('uname', `${system}:${own}`)).toEqual(['/usr/bin/uname', true])
    expect(await at('uname', `/usr/sbin:${own}:/nowhere:${system}`)).toEqual([join(own, 'uname'), false])
    expect(await at('only-here', `${system}:${own}`)).toEqual([join(own, 'only-here'), false])
    expect(await at('not-runnable', `${own}:${system}`)).toEqual([null, false])
    expect(await at('ls', `${own}:${system}`)).toEqual(['/usr/bin/ls', true])
    // A relative folder on the path is no place to look in.
    expect(await at('uname', `.:${system}`)).toEqual(['/usr/bin/uname', true])
  })

  it('is a file where no shell is there to know it', async () => {
    expect(await resolveProgram('echo', '/', '/usr/bin')).toEqual({
      program: 'echo',
      path: null,
      real: null,
      trusted: true,
    })
    expect(await resolveProgram('echo', '/', '/usr/bin', true)).toEqual({
      program: 'echo',
      path: '/usr/bin/echo',
      real: '/usr/bin/echo',
      trusted: true,
    })
    expect(await resolveProgram('echo', '/', `${own}`, true)).toEqual({
      program: 'echo',
      path: null,
      real: null,
      trusted: false,
    })
    expect(await resolveProgram('./uname', own, '/usr/bin', true)).toEqual({
      program: './uname',
      path: join(own, 'uname'),
      real: join(own, 'uname'),
      trusted: false,
    })
    expect(await resolveProgram('/usr/bin/../../bin/uname', '/', '/usr/bin', true)).toMatchObject({ trusted: true })
  })
})
