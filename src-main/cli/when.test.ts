import { describe, expect, it } from 'vitest'
import { CliFailure, EXIT } from './exits'
import { momentShown, readMinutes, readMoment, timeLeft } from './when'

/** A local noon, so that times of day mean the same everywhere. */
const NOON = new Date(2030, 0, 15, 12, 0, 0).getTime()
const MINUTE = 60_000
const local = (...parts: [number, number, number, number?, number?, number?]) => new Date(...parts).getTime()

describe('a moment', () => {
  it.each<[string, number | null]>([
    ['30m', NOON + 30 * MINUTE],
    ['1h30m', NOON + 90 * MINUTE],
    ['90s', NOON + 90_000],
    ['2d', NOON + 2 * 86_400_000],
    ['1w', NOON + 7 * 86_400_000],
    ['18:00', local(2030, 0, 15, 18)],
    ['9:05', local(2030, 0, 16, 9, 5)],
    ['12:00', local(2030, 0, 16, 12)],
    ['2030-01-31', local(2030, 0, 31, 23, 59, 59)],
    ['2030-01-31T18:00', local(2030, 0, 31, 18)],
    ['2030-01-31T18:00:00Z', Date.UTC(2030, 0, 31, 18)],
    ['never', null],
  ])('%s', (text, at) => expect(readMoment('--expires', text, NOON)).toBe(at))

  it.each([
    '',
    '1',
    'h',
    '-1h',
    '1.5h',
    '1 h',
    '25:00',
    '12:60',
    '2030-02-30',
    '2030-13-01',
    '2030-01-31T24:00',
    'tomorrow',
    '0m',
    '2030-01-14',
    '2030-01-15T11:59',
    '1970-01-01',
  ])('%j is refused, with the forms it may have', (text) => {
    try {
      readMoment('--expires', text, NOON)
    } catch (error) {
      expect(error).toBeInstanceOf(CliFailure)
      expect(error).toMatchObject({ exit: EXIT.usage })
      expect((error as Error).message).toContain(`--expires`)
      expect((error as Error).message).toContain(JSON.stringify(text))
      expect((error as Error).message).toContain('30m')
      return
    }
    throw new Error('it was taken')
  })

  it('counts whole minutes, never more than was typed and not beyond the most', () => {
    expect(readMinutes('--for', '90s', NOON, 1440)).toBe(1)
    expect(() => readMinutes('--for', '30s', NOON, 1440)).toThrow('at least 1m')
    expect(readMinutes('--for', '24h', NOON, 1440)).toBe(1440)
    for (const text of ['24h1s', 'never', '2d'])
      expect(() => readMinutes('--for', text, NOON, 1440)).toThrow('at most 24 hours')
  })

  it('says how much is left', () => {
    expect(timeLeft(NOON + 1, NOON)).toBe('1 min left')
    expect(timeLeft(NOON + 119 * MINUTE, NOON)).toBe('119 min left')
    expect(timeLeft(NOON + 180 * MINUTE, NOON)).toBe('3 h left')
    expect(timeLeft(NOON + 3 * 86_400_000, NOON)).toBe('3 days left')
    expect(timeLeft(NOON, NOON)).toBe('run out')
    expect(momentShown(local(2030, 0, 5, 7, 3))).toBe('2030-01-05 07:03')
    expect(momentShown(1e300)).toBe('1e+300')
  })
})
