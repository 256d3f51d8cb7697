import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { CAUTIOUS, PRESETS } from '../../domain/policy'
import { execExamples, execFaults, GRANTS_FILE, loadExecPolicies, SAFE_BINS_FILE } from './exec'
import { loadRiskRules } from './load'

const folder = join(import.meta.dirname, '../../../policies')
const rules = loadRiskRules(join(folder, 'risk'))
const data = (name: string): unknown => {
  const text = readFileSync(join(folder, name), 'utf8')
  return name.endsWith('.json') ? JSON.parse(text) : load(text)
}

describe('the shipped exec policies', () => {
  it('load, and every example of safe bins and grants holds', () => {
    const { safeBins, presets } = loadExecPolicies(folder)
    expect(safeBins.bins.filter((bin) => bin.default).map(({ name }) => name)).toEqual(
      'cut uniq head tail tr wc'.split(' '),
    )
    expect(execFaults(SAFE_BINS_FILE, data(SAFE_BINS_FILE), rules)).toEqual([])
    expect(execFaults(GRANTS_FILE, data(GRANTS_FILE), rules)).toEqual([])
    expect(execExamples(data(SAFE_BINS_FILE)) + execExamples(data(GRANTS_FILE))).toBeGreaterThan(110)
    for (const name of PRESETS)
      expect(execFaults(`presets/${name}.json`, data(`presets/${name}.json`), rules)).toEqual([])
    expect(presets.cautious.config).toEqual(CAUTIOUS)
  })
  it('only the dangerous preset opens anything, and it says what', () => {
    const { presets } = loadExecPolicies(folder)
    for (const preset of Object.values(presets)) expect(preset.opens.length > 0).toBe(preset.dangerous)
    expect(presets.yolo.dangerous).toBe(true)
  })
  it('a fault names its field, what stands there and what may', () => {
    const preset = data('presets/yolo.json') as { config: { security: string } }
    preset.config.security = 'fulll'
    expect(execFaults('presets/yolo.json', preset, rules)).toEqual([
      {
        path: ['config', 'security'],
        what: '"config.security" is "fulll"; it may be "deny", "allowlist", "full".',
      },
    ])
    const bins = data(SAFE_BINS_FILE) as { bins: { name: string; flag?: string; safe: string[] }[] }
    const cut = bins.bins.find(({ name }) => name === 'cut')
    cut?.safe.push('cut -f1 /etc/passwd')
    expect(execFaults(SAFE_BINS_FILE, bins, rules)?.map(({ path }) => path)).toEqual([['bins', 0, 'safe', 4]])
    expect(execFaults('presets/other.json', data('presets/yolo.json'), rules)?.[0]?.path).toEqual(['name'])
    expect(execFaults('soul.md', '', rules)).toBeNull()
  })
})
