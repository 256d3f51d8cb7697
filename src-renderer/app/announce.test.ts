import { describe, expect, it } from 'vitest'
import { execution } from '../dev/fixtures'
import { announcement } from './LiveRegion'

const waiting = (id: string) =>
  execution({ id, command: 'touch \u202ex\nsecond line', state: 'pending_approval', target: 'host:media' })

describe('what is said of new requests', () => {
  it('is the one in words, with nothing hidden in them', () => {
    expect(announcement([waiting('a')], 7)).toBe('Waiting for your answer: change on host:media: touch \\u202Ex.')
  })

  it('is a number for several', () => {
    expect(announcement([waiting('a'), waiting('b')], 2)).toBe('2 requests wait for your answer.')
    expect(announcement([waiting('a'), waiting('b')], 7)).toBe('2 more requests wait for your answer, 7 in all.')
    expect(announcement([], 7)).toBe('')
  })
})
