import { beforeEach, describe, expect, it } from 'vitest'
import { conversation, execution, message } from '../dev/fixtures'
import { joinPage, mergeMessages, putExecutions, useExecutions } from './stores'
import { historyFrom, restoredFrom, savedFrom, useUi, WHOLE_HISTORY } from './ui'

describe('putExecutions', () => {
  beforeEach(() => useExecutions.setState({ byId: {}, waiting: [], running: [], approved: [], settled: 0 }))

  it('sorts what is open by what it waits for, oldest first', () => {
    const older = execution({ id: 'b', command: 'b', state: 'pending_approval', patch: { requestedAt: 1 } })
    const newer = execution({ id: 'a', command: 'a', state: 'pending_approval', patch: { requestedAt: 2 } })
    putExecutions([newer, older, execution({ id: 'r', command: 'r', state: 'running' })])
    const state = useExecutions.getState()
    expect(state.waiting.map((view) => view.id)).toEqual(['b', 'a'])
    expect(state.running.map((view) => view.id)).toEqual(['r'])
  })

  it('never turns a settled card back, however late an older answer comes', () => {
    const pending = execution({ id: 'a', command: 'a', state: 'pending_approval' })
    putExecutions([pending])
    putExecutions([{ ...pending, state: 'denied' }])
    putExecutions([pending])
    expect(useExecutions.getState().byId.a?.state).toBe('denied')
    expect(useExecutions.getState().settled).toBe(1)
  })

  it('changes nothing when the same view comes again', () => {
    const view = execution({ id: 'a', command: 'a', state: 'running' })
    putExecutions([view])
    const before = useExecutions.getState()
    putExecutions([structuredClone(view)])
    expect(useExecutions.getState()).toBe(before)
  })
})

describe('messages', () => {
  it('are merged by id and put into their places', () => {
    const [one, two, three] = [message({}), message({}), message({})]
    expect(mergeMessages([one, three], [two, { ...one, text: 'new' }]).map((m) => m.seq)).toEqual([
      one.seq,
      two.seq,
      three.seq,
    ])
  })

  it('keep text that streamed in while a page was being read, and drop what a hole would hide', () => {
    const old = message({ text: 'old' })
    const streaming = message({ role: 'assistant', streaming: true, text: 'abcdef' })
    expect(joinPage([old, streaming], [{ ...streaming, text: 'abc' }]).at(-1)?.text).toBe('abcdef')
    const far = message({ text: 'far' })
    expect(joinPage([old], [far])).toEqual([far])
    expect(joinPage([], conversation([])).length).toBeGreaterThan(0)
  })
})

describe('what is remembered of the window', () => {
  it('survives the way to main and back', () => {
    const ui = {
      ...useUi.getState(),
      room: 'fleet' as const,
      session: 's',
      nowFolded: true,
      drafts: { s: 'text', new: 'more' },
      history: { ...WHOLE_HISTORY, risk: 'destructive', text: 'zpool', asked: false },
    }
    const saved = savedFrom(ui, new Set(['draft:gone']))
    expect(saved['draft:gone']).toBeNull()
    expect(restoredFrom(saved)).toEqual({
      room: 'fleet',
      session: 's',
      listFolded: false,
      nowFolded: true,
      drafts: { s: 'text', new: 'more' },
      history: { ...WHOLE_HISTORY, risk: 'destructive', text: 'zpool', asked: false },
    })
  })

  it('takes no narrowing of the history that is none', () => {
    for (const saved of [undefined, null, 7, '', '{', '[]', '"x"', '{"risk": 7, "asked": "no"}'])
      expect(historyFrom(saved)).toEqual(WHOLE_HISTORY)
  })

  it('leaves out what main would refuse, and ignores what it does not know', () => {
    const drafts = { ['x'.repeat(70)]: 'text', long: 'y'.repeat(65_537) }
    const saved = savedFrom({ ...useUi.getState(), drafts }, new Set())
    expect(Object.keys(saved).filter((name) => name.startsWith('draft:'))).toEqual([])
    expect(restoredFrom({ room: 'kitchen', session: 7, drafts: 'x' })).toMatchObject({ session: null, drafts: {} })
    expect(restoredFrom({ room: 'kitchen' })).not.toHaveProperty('room')
  })
})
