import { describe, expect, it } from 'vitest'
import type { AllowlistEntryView, PolicyInspection, PolicyLayerView } from '../../../src-preload/contract'
import { targets } from '../../dev/fixtures'
import { endOfDay, expiryAt } from '../../parts/expiry'
import { anchorWarning, entryText, isRedacted } from './Allowlist'
import { changedFields, choicesOf, differing, draftOf, fieldsOf, fromWord } from './fields'
import { minutesOf, placesOf } from './Grants'
import { replaySentence } from './replay-words'
import { draftOfEdit } from './room'

type Said = Partial<Record<keyof PolicyLayerView, readonly [string | boolean, string]>>

function layer(said: Said): PolicyLayerView {
  const field = (name: keyof PolicyLayerView, value: string | boolean) => {
    const [own, from] = said[name] ?? [value, 'built-in']
    return { value: own, from }
  }
  return {
    security: field('security', 'allowlist'),
    ask: field('ask', 'on-miss'),
    askFallback: field('askFallback', 'deny'),
    autoAllowReadOnly: field('autoAllowReadOnly', true),
    riskGate: field('riskGate', true),
    strictInlineEval: field('strictInlineEval', true),
  } as PolicyLayerView
}

function inspection(host: Said, requested: Said = {}): PolicyInspection {
  return {
    host: { layer: layer(host) },
    requested: { layer: layer(requested) },
    autoAllowSkills: false,
  } as unknown as PolicyInspection
}

describe('what the form of a layer says', () => {
  it('shows what is written in the scope, and "inherit" for what stands elsewhere', () => {
    const seen = inspection({ ask: ['always', 'agents.mcp:editor'], security: ['deny', 'defaults'] })
    expect(choicesOf(seen, 'host', 'mcp:editor')).toMatchObject({
      ask: 'always',
      security: 'inherit',
      riskGate: 'inherit',
    })
    expect(choicesOf(seen, 'host', 'main')).toMatchObject({ ask: 'inherit', security: 'inherit' })
    expect(choicesOf(seen, 'host', null)).toMatchObject({ ask: 'inherit', security: 'deny' })
  })

  it('never offers a session’s own word as what stands in the file', () => {
    const seen = inspection({}, { ask: ['off', 'session'], security: ['full', 'elevated'] })
    expect(choicesOf(seen, 'requested', null)).toMatchObject({ ask: 'keep', security: 'keep' })
  })

  it('leaves alone what differs between the layers, until it is chosen', () => {
    const seen = inspection(
      { ask: ['always', 'defaults'] },
      { ask: ['off', 'tools.exec'], riskGate: [false, 'tools.exec'] },
    )
    const start = choicesOf(seen, 'both', null)
    expect(start).toMatchObject({ ask: 'keep', riskGate: 'keep', security: 'inherit' })
    expect(changedFields(start, start)).toEqual({})
    expect(changedFields(start, { ...start, ask: 'on-miss' })).toEqual({ ask: 'on-miss' })
  })

  it('sends only what was changed: values, booleans as such, and null for what is taken out', () => {
    const start = choicesOf(inspection({ ask: ['always', 'defaults'], riskGate: [true, 'defaults'] }), 'host', null)
    const now = { ...start, ask: 'inherit', riskGate: 'off', autoAllowSkills: 'on' }
    expect(changedFields(start, now)).toEqual({ ask: null, riskGate: false, autoAllowSkills: true })
    expect(differing(start, now)).toEqual(['ask', 'riskGate', 'autoAllowSkills'])
    const edit = { layer: 'host' as const, start, now, hostVersion: 'a', configVersion: 'b' }
    expect(draftOfEdit(edit, null)).toEqual({ defaults: { ask: null, riskGate: false, autoAllowSkills: true } })
    expect(draftOfEdit({ ...edit, now: start }, null)).toBeNull()
  })

  it('offers a field only where it can be written', () => {
    expect(fieldsOf('host')).not.toContain('strictInlineEval')
    expect(fieldsOf('requested')).not.toContain('autoAllowSkills')
    expect(fieldsOf('both')).toEqual(['security', 'ask', 'askFallback', 'autoAllowReadOnly', 'riskGate'])
    expect(draftOf('both', 'main', { ask: 'off' })).toEqual({ agent: { ask: 'off' }, requested: { ask: 'off' } })
  })

  it('says where a value stands', () => {
    expect(fromWord('agents.mcp:editor')).toBe('for mcp:editor')
    expect(fromWord('agents.main.tools.exec')).toBe('for main')
    expect(fromWord('tools.exec')).toBe('for all agents')
  })
})

describe('replay in words', () => {
  const none = { considered: 0, wouldNotAsk: 0, wouldAskMore: 0, destructiveAmongThem: 0, skipped: 0, examples: [] }
  it('names what would not have asked, and how much of it cannot be undone', () => {
    expect(replaySentence({ ...none, considered: 50, wouldNotAsk: 12 })).toBe(
      'With this change, of the last 50 executions 12 would not have asked, none of them destructive.',
    )
    expect(replaySentence({ ...none, considered: 50, wouldNotAsk: 12, destructiveAmongThem: 3 })).toContain(
      '12 would not have asked, 3 of them destructive.',
    )
    expect(replaySentence({ ...none, considered: 50, wouldNotAsk: 1, destructiveAmongThem: 1 })).toContain(
      'it was destructive',
    )
    expect(replaySentence({ ...none, considered: 3, wouldAskMore: 1, skipped: 2 })).toContain('2 more cannot be judged')
  })
  it('says so when there is nothing to compare with', () => {
    expect(replaySentence(none)).toContain('Nothing has run yet')
    expect(replaySentence({ ...none, considered: 9 })).toContain('treated as it was')
  })
})

describe('allowlist', () => {
  it('warns of what an argument pattern without anchors lets through', () => {
    expect(anchorWarning('')).toBeNull()
    expect(anchorWarning('^restart caddy$')).toBeNull()
    expect(anchorWarning('restart')).toContain('no ^ at its beginning and no $ at its end')
    expect(anchorWarning('^restart\\$')).toContain('no $ at its end')
    expect(anchorWarning('^restart\\\\$')).toBeNull()
  })
  it('finds an entry by any of its words and never writes what is redacted', () => {
    const entry = { id: 'a', pattern: '/usr/bin/RG', argPattern: null, commandText: null, scope: { target: 'host:x' } }
    const view = {
      ...entry,
      source: null,
      lastUsedCommand: null,
      lastResolvedPath: null,
    } as unknown as AllowlistEntryView
    expect(entryText(view)).toContain('/usr/bin/rg host:x')
    expect(isRedacted(view)).toBe(false)
    expect(isRedacted({ ...view, argPattern: '^--token=‹redacted: secret›$' })).toBe(true)
  })
})

describe('times', () => {
  it('ends today at the last moment of the day, and never for "no end"', () => {
    const noon = new Date(2030, 0, 5, 12).getTime()
    expect(expiryAt('hour', noon)).toBe(noon + 3_600_000)
    expect(new Date(expiryAt('today', noon) ?? 0).toDateString()).toBe(new Date(noon).toDateString())
    expect(endOfDay(noon)).toBeGreaterThan(noon)
    expect(expiryAt('never', noon)).toBeNull()
  })
  it('grants until tonight for at least a minute and at most a day', () => {
    expect(minutesOf('30', 0)).toBe(30)
    expect(minutesOf('tonight', new Date(2030, 0, 5, 22).getTime())).toBe(119)
    expect(minutesOf('tonight', new Date(2030, 0, 5, 23, 59, 59, 990).getTime())).toBe(1)
  })
  it('grants on targets and on everything with a tag', () => {
    expect(placesOf(targets, 'local').map(({ value }) => value)).toEqual([
      'local',
      'host:strong',
      'host:media',
      'group:prod',
      'group:zfs',
    ])
    expect(placesOf(targets, 'lxc:gone').at(-1)?.value).toBe('lxc:gone')
  })
})
