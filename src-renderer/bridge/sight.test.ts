import { describe, expect, it } from 'vitest'
import { Sight } from './sight'

const a = { id: 'a', digest: '1' }
const b = { id: 'b', digest: '1' }

describe('what was seen', () => {
  it('reaches words only for cards of the conversation that stand there and were in sight', () => {
    const sight = new Sight()
    const [card, below, now] = [{}, {}, {}]
    sight.put(card, [a], 'conversation')
    sight.put(below, [b], 'conversation')
    sight.put(now, [a, b], 'elsewhere')
    expect(sight.inConversation()).toEqual([])
    sight.sighted(card, true)
    sight.sighted(now, true)
    expect(sight.inConversation()).toEqual([a])
    sight.sighted(card, false)
    expect(sight.inConversation()).toEqual([a])
    sight.drop(card)
    expect(sight.inConversation()).toEqual([])
  })

  it('has to be seen again in another version', () => {
    const sight = new Sight()
    const card = {}
    sight.put(card, [a], 'conversation')
    sight.sighted(card, true)
    sight.put(card, [{ ...a, digest: '2' }], 'conversation')
    expect(sight.inConversation()).toEqual([])
    sight.sighted(card, true)
    expect(sight.inConversation()).toEqual([{ id: 'a', digest: '2' }])
  })

  it('counts nothing while the window is hidden, and counts it as it comes back', () => {
    const sight = new Sight()
    const card = {}
    sight.visible(false)
    sight.put(card, [a], 'conversation')
    sight.sighted(card, true)
    expect(sight.inConversation()).toEqual([])
    expect(sight.untold()).toEqual([])
    sight.visible(true)
    expect(sight.inConversation()).toEqual([a])
    expect(sight.untold()).toEqual([a])
  })

  it('is told once for each version, and again after a failure or another boot', () => {
    const sight = new Sight()
    const [card, now] = [{}, {}]
    sight.put(card, [a], 'conversation')
    sight.put(now, [a, b], 'elsewhere')
    sight.sighted(card, true)
    sight.sighted(now, true)
    expect(sight.untold()).toEqual([a, b])
    expect(sight.untold()).toEqual([])
    sight.forget([b])
    expect(sight.untold()).toEqual([b])
    sight.forget()
    expect(sight.untold()).toEqual([a, b])
    sight.put(card, [{ ...a, digest: '2' }], 'conversation')
    sight.sighted(card, true)
    expect(sight.untold()).toEqual([{ id: 'a', digest: '2' }])
  })
})
