import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8')
const tokens = new Map<string, { light: string; dark: string }>()
for (const [, name, light, dark] of css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)) {
  tokens.set(name ?? '', { light: light ?? '', dark: dark ?? '' })
}

type Theme = 'light' | 'dark'

function colour(name: string, theme: Theme): readonly number[] {
  const hex = tokens.get(name)?.[theme]
  if (hex === undefined) throw new Error(`no token ${name}`)
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
}

function luminance(rgb: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: readonly number[], b: readonly number[]): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

const mix = (over: readonly number[], under: readonly number[], share: number): readonly number[] =>
  over.map((part, index) => part * share + (under[index] ?? 0) * (1 - share))

const SURFACES = ['page', 'panel', 'raised'] as const
const TEXTS = [
  'text',
  'text-2',
  'text-3',
  'accent',
  'risk-read-only',
  'risk-reversible',
  'risk-change',
  'risk-destructive',
  'unknown',
] as const

describe.each(['light', 'dark'] as const)('tokens, %s', (theme) => {
  it('are all there and can be read', () => {
    expect(tokens.size).toBe([...css.matchAll(/--[\w-]+:/g)].length)
  })

  it.each(TEXTS)('%s reads on every surface', (text) => {
    for (const surface of SURFACES) {
      expect(contrast(colour(text, theme), colour(surface, theme)), `${text} on ${surface}`).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('commands and output read at 7:1 on every surface and under a mark', () => {
    for (const surface of SURFACES) {
      expect(contrast(colour('text', theme), colour(surface, theme))).toBeGreaterThanOrEqual(7)
      const chip = mix(colour('unknown', theme), colour(surface, theme), 0.18)
      expect(contrast(colour('text', theme), chip)).toBeGreaterThanOrEqual(7)
    }
  })

  it('coloured parts of a command read at 7:1 as well', () => {
    for (const part of ['program', 'option', 'string', 'variable', 'sign', 'comment'])
      for (const surface of SURFACES)
        expect(contrast(colour(`code-${part}`, theme), colour(surface, theme)), part).toBeGreaterThanOrEqual(7)
  })

  it('the number of what waits reads on its badge', () => {
    expect(contrast(colour('page', theme), colour('risk-change', theme))).toBeGreaterThanOrEqual(4.5)
  })

  it('the red strip reads', () => {
    expect(contrast(colour('page', theme), colour('risk-destructive', theme))).toBeGreaterThanOrEqual(4.5)
  })

  it('secondary text keeps at least 65 % of the way to primary', () => {
    for (const text of ['text-2', 'text-3']) {
      const most = Math.log(contrast(colour('text', theme), colour('page', theme)))
      expect(Math.log(contrast(colour(text, theme), colour('page', theme))) / most).toBeGreaterThanOrEqual(0.6)
    }
  })

  it('edges of controls and the focus ring stand out at 3:1', () => {
    for (const surface of SURFACES) {
      for (const line of ['edge', 'accent']) {
        expect(contrast(colour(line, theme), colour(surface, theme)), `${line} on ${surface}`).toBeGreaterThanOrEqual(3)
      }
    }
  })
})
