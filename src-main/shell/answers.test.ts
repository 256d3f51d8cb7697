import { describe, expect, it } from 'vitest'
import type { Envelope } from '../../src-preload/contract/errors'
import type { Caller, ScreenLock } from '../ports'
import { createAnswers } from './answers'

const target = { approvalId: 'apr_1', executionId: 'exe_1', digest: 'd' }

function world(options: { readonly code?: string; readonly state?: string; readonly locked?: boolean | null }) {
  const calls: { readonly caller: Caller; readonly route: string; readonly input: unknown }[] = []
  const revealed: string[] = []
  const lock: ScreenLock = {
    begin: () => Promise.resolve(),
    last: () => null,
    ask: () => Promise.resolve(options.locked ?? null),
    onChange: () => {},
  }
  const answer = createAnswers({
    dispatch: (caller, route, input) => {
      calls.push({ caller, route, input })
      const refused = { ok: false, error: { code: options.code, message: '', field: null, detail: null } }
      const value = route === 'executions.get' ? { approval: { state: options.state } } : {}
      const envelope = route === 'approvals.answer' && options.code !== undefined ? refused : { ok: true, value }
      return Promise.resolve(envelope as Envelope<unknown>)
    },
    lock: () => Promise.resolve(lock),
    reveal: (id) => revealed.push(id),
  })
  return { answer, calls, revealed }
}

describe('an answer from outside a window', () => {
  it('names what it saw, who asks, and the lock where it is known', async () => {
    const known = world({ locked: true })
    await known.answer('notification', target, 'approve')
    expect(known.calls).toEqual([
      {
        caller: { surface: 'notification', operator: true, locked: true },
        route: 'approvals.answer',
        input: { id: 'apr_1', answer: { kind: 'approve', phrase: null }, digest: 'd' },
      },
    ])
    const unknown = world({})
    await unknown.answer('tray', target, 'deny')
    expect(unknown.calls[0]).toMatchObject({
      caller: { surface: 'tray', operator: true },
      input: { answer: { kind: 'deny', note: null } },
    })
    expect(unknown.calls[0]?.caller).not.toHaveProperty('locked')
    expect(unknown.revealed).toEqual([])
  })

  it.each(['forbidden', 'expired', 'drift', 'internal'])('brings the card up when it is refused: %s', async (code) => {
    const { answer, revealed } = world({ code })
    await answer('notification', target, 'approve')
    expect(revealed).toEqual(['exe_1'])
  })

  it('late by a moment: silent when it came out as meant, the card when it did not', async () => {
    const same = world({ code: 'already_settled', state: 'approved' })
    await same.answer('notification', target, 'approve')
    expect(same.revealed).toEqual([])
    const other = world({ code: 'already_settled', state: 'approved' })
    await other.answer('notification', target, 'deny')
    expect(other.revealed).toEqual(['exe_1'])
  })
})
