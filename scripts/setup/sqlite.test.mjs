import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { compileEnvironment, headerVersion, installedBinding, neededBuilds, withModuleVersion } from './sqlite.mjs'

const header = `#define NODE_MAJOR_VERSION 23
#define NODE_MINOR_VERSION 3
#define NODE_PATCH_VERSION 0
#if defined(NODE_EMBEDDER_MODULE_VERSION)
#define NODE_MODULE_VERSION NODE_EMBEDDER_MODULE_VERSION
#else
#define NODE_MODULE_VERSION 131
#endif
`

describe('which builds are needed', () => {
  const old = { napi: '9', modules: '115', node: '20.20.2' }
  it('none for a runtime with Node-API 10', () => {
    expect(
      neededBuilds({ node: true, electron: false, versions: { napi: '10', modules: '137', node: '24.1.0' } }),
    ).toEqual([])
  })

  it('one for an older Node and one for the development runtime', () => {
    const builds = neededBuilds({ node: true, electron: true, versions: old })
    expect(builds.map((build) => `${build.runtime}-v${build.modules}`)).toEqual(['node-v115', 'electron-v130'])
    expect(neededBuilds({ node: false, electron: false, versions: old })).toEqual([])
  })

  it('lie where the sqlite adapter looks', () => {
    const [build] = neededBuilds({ node: true, electron: false, versions: old })
    expect(installedBinding(build, '/x')).toBe(path.join('/x', 'better-sqlite3', 'node-v115', 'better_sqlite3.node'))
  })
})

describe('the headers', () => {
  it('get the module version of the runtime, and only there', () => {
    const changed = withModuleVersion(header, '130')
    expect(changed).toContain('#define NODE_MODULE_VERSION 130\n')
    expect(changed).toContain('#define NODE_MODULE_VERSION NODE_EMBEDDER_MODULE_VERSION')
    expect(changed.replace('130', '131')).toBe(header)
  })

  it('are refused when they have no such line', () => {
    expect(() => withModuleVersion('#define NOTHING 1', '130')).toThrow('NODE_MODULE_VERSION')
  })

  it('tell their version', () => {
    expect(headerVersion(header)).toBe('23.3.0')
  })
})

describe('the environment of the compiler', () => {
  const env = { PATH: '/bin', npm_config_nodedir: '/usr', npm_config_target: '1', NPM_CONFIG_RUNTIME: 'electron' }
  it('takes out what the npm configuration would force on it', () => {
    const result = compileEnvironment({ runtime: 'node' }, '/t', undefined, env)
    expect(result).toEqual({ PATH: '/bin', TMPDIR: '/t', TMP: '/t', TEMP: '/t' })
  })

  it('names our headers and the flags of V8 inside Electron', () => {
    const result = compileEnvironment({ runtime: 'electron' }, '/t', '/h', { ...env, CXXFLAGS: '-O1' })
    expect(result.npm_config_nodedir).toBe('/h')
    expect(result.CXXFLAGS).toMatch(/^-O1 -DV8_COMPRESS_POINTERS .*-DV8_ENABLE_SANDBOX/)
  })
})
