import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CAUTIOUS, ConfigFile, EXEC_HOSTS, execSettings, hostRefusal, mergeLayers, requestedLayer } from '.'

const config = ConfigFile.parse({
  theme: 'dark',
  tools: { exec: { security: 'full', ask: 'on-miss', riskGate: false, commandHighlighting: true, safeBins: ['cut'] } },
  agents: {
    main: { tools: { exec: { ask: 'off', safeBinProfiles: { rev: {} } } } },
    'mcp:x': { tools: { deny: ['run'] } },
  },
})

describe('the requested policy', () => {
  it('is the session, then the agent, then the global part, then cautious, and says which', () => {
    expect(requestedLayer(null, 'main', null)).toEqual({
      layer: CAUTIOUS,
      from: expect.objectContaining({ security: 'built-in', strictInlineEval: 'built-in' }),
      toolDenied: false,
      toolDeniedFrom: null,
    })
    const { layer, from } = requestedLayer(config, 'main', { security: 'allowlist' })
    expect(layer).toEqual({ ...CAUTIOUS, security: 'allowlist', ask: 'off', riskGate: false })
    expect(from).toEqual({
      security: 'session',
      ask: 'agent',
      askFallback: 'built-in',
      autoAllowReadOnly: 'built-in',
      riskGate: 'global',
      strictInlineEval: 'built-in',
    })
    expect(config.theme).toBe('dark')
  })
  it('a denied tool is a hard block for its agent', () => {
    expect(requestedLayer(config, 'mcp:x', { elevated: true }).toolDenied).toBe(true)
    expect(requestedLayer(config, 'main', null).toolDenied).toBe(false)
    const all = ConfigFile.parse({ tools: { deny: ['run'] }, agents: { main: { tools: { deny: [] } } } })
    expect(requestedLayer(all, 'main', null)).toMatchObject({ toolDenied: true, toolDeniedFrom: 'global' })
  })
  it('elevated raises to full and off, touches nothing else, and the host still caps it', () => {
    const { layer, from } = requestedLayer(null, 'main', { elevated: true, ask: 'always' })
    expect(layer).toEqual({ ...CAUTIOUS, security: 'full', ask: 'off' })
    expect(from).toMatchObject({ security: 'elevated', ask: 'elevated', riskGate: 'built-in' })
    expect(mergeLayers(layer, CAUTIOUS)).toEqual(CAUTIOUS)
  })
  it('an agent of a strange name has no part of its own', () => {
    for (const name of ['constructor', '__proto__', 'toString'])
      expect(requestedLayer(config, name, null).layer.security).toBe('full')
  })
  it('settings beside the layer, the agent winning', () => {
    expect(execSettings(config, 'main', null)).toEqual({
      host: 'auto',
      commandHighlighting: true,
      safeBins: ['cut'],
      safeBinTrustedDirs: null,
      safeBinProfiles: { rev: {} },
    })
    expect(execSettings(null, 'main', { host: 'node' }).host).toBe('node')
  })
  it('colour decides nothing', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), (a, b) => {
        const with_ = (commandHighlighting: boolean) =>
          requestedLayer(ConfigFile.parse({ tools: { exec: { security: 'full', commandHighlighting } } }), 'main', null)
        expect(with_(a)).toEqual(with_(b))
      }),
    )
  })
  it('a call may ask for a node from auto, and for nothing else that is not set', () => {
    const allowed = EXEC_HOSTS.flatMap((setting) =>
      [null, ...EXEC_HOSTS]
        .filter((asked) => hostRefusal(setting, asked) === null)
        .map((asked) => `${setting}:${asked}`),
    )
    expect(allowed).toEqual([
      'auto:null',
      'auto:auto',
      'auto:node',
      'local:null',
      'local:local',
      'node:null',
      'node:node',
    ])
    expect(hostRefusal('auto', 'local')).toContain('/exec host=local')
  })
  it.each([
    [{ tools: { exec: { host: 'gateway' } } }, 'tools.exec.host'],
    [{ tools: { exec: { ask: 'never' } } }, 'tools.exec.ask'],
    [{ tools: { exec: { safeBins: ['/bin/cut'] } } }, 'tools.exec.safeBins.0'],
    [{ tools: { exec: { safeBinTrustedDirs: ['bin'] } } }, 'tools.exec.safeBinTrustedDirs.0'],
    [{ tools: { exec: { safeBinTrustedDirs: ['/opt/../tmp'] } } }, 'tools.exec.safeBinTrustedDirs.0'],
    [{ tools: { exec: { safeBinProfiles: { x: { flags: '-a' } } } } }, 'tools.exec.safeBinProfiles.x'],
    [{ agents: { main: { tools: { exec: { riskGate: 'off' } } } } }, 'agents.main.tools.exec.riskGate'],
  ])('refuses %j', (input, path) => {
    expect(ConfigFile.safeParse(input).error?.issues[0]?.path.join('.')).toBe(path)
  })
})
