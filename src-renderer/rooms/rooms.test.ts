import { describe, expect, it } from 'vitest'
import type { LedgerEntry } from '../../src-preload/contract'
import { WHOLE_HISTORY } from '../bridge/ui'
import { execution, ledger, message, targets } from '../dev/fixtures'
import { sentenceOf } from './activity/sentences'
import { queryOf } from './approvals/filters'
import { completionsFor } from './chat/completion'
import { linesOf, noticeKind } from './chat/turns'
import { EMPTY_FORM, fieldOf, formOf, inputOf } from './fleet/form'

describe('completion', () => {
  it('offers /run and its targets, and nothing after them', () => {
    expect(completionsFor('/', targets).map((one) => one.text)).toEqual(['/run ', '/exec ', '/elevated ', '/approve '])
    expect(completionsFor('/e', targets).map((one) => one.label)).toEqual(['/exec', '/elevated'])
    expect(completionsFor('/exec', targets)).toEqual([])
    expect(completionsFor('/run ', targets).map((one) => one.label)).toEqual(['local', 'host:strong', 'host:media'])
    expect(completionsFor('/run me', targets).map((one) => one.text)).toEqual(['/run host:media '])
    expect(completionsFor('/run local ls', targets)).toEqual([])
    expect(completionsFor('', targets)).toEqual([])
    expect(completionsFor('run', targets)).toEqual([])
  })
})

describe('lines of Nomos itself', () => {
  it('are faults only where something went wrong', () => {
    const error = (code: string) => ({ code, retry: false })
    expect(noticeKind({ error: null, executionId: null })).toBe('note')
    expect(noticeKind({ error: error('note'), executionId: null })).toBe('note')
    expect(noticeKind({ error: null, executionId: 'exe_1' })).toBe('event')
    expect(noticeKind({ error: error('model_failed'), executionId: null })).toBe('fault')
    expect(noticeKind({ error: error('denied_repeatedly'), executionId: 'exe_1' })).toBe('fault')
  })
})

describe('completion of /approve', () => {
  const waiting = ['apr_b', 'apr_a'].map((id) => {
    const view = execution({ id: `exe_${id}`, command: 'ls \u202e', state: 'pending_approval' })
    return { ...view, approval: view.approval === null ? null : { ...view.approval, id } }
  })

  it('offers what waits, newest first, then the answers', () => {
    const found = completionsFor('/approve ', targets, waiting)
    expect(found.map((one) => one.text)).toEqual(['/approve apr_a ', '/approve apr_b '])
    expect(found[0]?.label).toContain('\\u202E')
    expect(completionsFor('/approve apr_b', targets, waiting)).toHaveLength(1)
    expect(completionsFor('/approve apr_b ', targets, waiting).map((one) => one.text)).toEqual([
      '/approve apr_b allow-once',
      '/approve apr_b allow-always',
      '/approve apr_b deny',
    ])
    expect(completionsFor('/approve apr_b deny', targets, waiting)).toEqual([])
  })
})

describe('lines of a conversation', () => {
  const call = (callId: string, name = 'run') => ({ callId, name, arguments: '{}' })

  it('puts cards in the places of their results and other calls under their message', () => {
    const asks = message({ role: 'assistant', text: 'look', toolCalls: [call('a'), call('b', 'list_targets')] })
    const card = message({ role: 'tool', callId: 'a', executionId: 'e1' })
    const other = message({ role: 'tool', callId: 'b', text: 'local' })
    const lines = linesOf([asks, card, other])
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatchObject({ kind: 'message', calls: [{ call: { callId: 'b' }, result: { text: 'local' } }] })
    expect(lines[1]).toMatchObject({ kind: 'card', executionId: 'e1' })
  })

  it('leaves out a message that only made cards, and shows a result without its call', () => {
    const silent = message({ role: 'assistant', text: '', toolCalls: [call('a')] })
    const card = message({ role: 'tool', callId: 'a', executionId: 'e1' })
    const lost = message({ role: 'tool', callId: 'zzz', text: 'x' })
    expect(linesOf([silent, card, lost]).map((line) => line.kind)).toEqual(['card', 'message'])
    expect(linesOf([message({ role: 'run', executionId: 'e2' })])).toMatchObject([{ kind: 'card', executionId: 'e2' }])
  })

  it('does not mix up equal call ids of different turns', () => {
    const first = message({ role: 'assistant', turn: 'one', text: 'a', toolCalls: [call('x', 'read_note')] })
    const second = message({ role: 'tool', turn: 'two', callId: 'x', text: 'of another turn' })
    expect(linesOf([first, second])[0]).toMatchObject({ calls: [{ result: null }] })
  })
})

describe('filters of the history', () => {
  it('ask for what was chosen, and for everything asked when nothing was', () => {
    expect(queryOf(WHOLE_HISTORY).filter).toEqual({ asked: true })
    expect(queryOf(WHOLE_HISTORY).states).toHaveLength(8)
    expect(
      queryOf({
        state: 'timed_out',
        risk: 'destructive',
        target: 'host:strong',
        agent: 'mcp:editor',
        surface: 'chat',
        text: '  zpool ',
        asked: false,
      }),
    ).toEqual({
      states: ['timed_out'],
      filter: { risks: ['destructive'], target: 'host:strong', agent: 'mcp:editor', surface: 'chat', text: 'zpool' },
    })
  })

  it('ignore a remembered choice that is none', () => {
    const { states, filter } = queryOf({ ...WHOLE_HISTORY, state: 'gone', risk: 'none' })
    expect(states).toHaveLength(8)
    expect(filter).toEqual({ asked: true })
  })
})

describe('host form', () => {
  it('goes to main and back, and sends a port that is none as 0 to be refused by name', () => {
    const host = {
      slug: 'a',
      address: 'b',
      port: 2222,
      user: 'c',
      auth: 'key' as const,
      keyPath: '/k',
      tags: ['x', 'y'],
    }
    expect(inputOf(formOf(host))).toEqual(host)
    expect(inputOf({ ...EMPTY_FORM, port: '22a' }).port).toBe(0)
    expect(inputOf({ ...EMPTY_FORM, keyPath: '/k' }).keyPath).toBeNull()
  })

  it('finds the field a failure is about', () => {
    const failure = (field: string | null) => ({ code: 'bad_input' as const, message: 'm', field, detail: null })
    expect(fieldOf(failure('host.slug'))).toBe('slug')
    expect(fieldOf(failure('host.tags.0'))).toBe('tags')
    expect(fieldOf(failure('keyPath'))).toBe('keyPath')
    expect(fieldOf(failure('fingerprint'))).toBeNull()
    expect(fieldOf(failure(null))).toBeNull()
    expect(fieldOf(null)).toBeNull()
  })
})

describe('ledger sentences', () => {
  const entry = (kind: LedgerEntry['kind'], data: Record<string, unknown>, actor = 'operator'): LedgerEntry => ({
    v: 1,
    seq: 1,
    at: 0,
    kind,
    actor,
    executionId: null,
    approvalId: null,
    data,
    prevHash: '',
    hash: '',
  })

  it('are sentences for every kind, whatever the data', () => {
    for (const { kind } of ledger) {
      for (const data of [{}, { target: 5, command: null, host: 'x' }]) {
        expect(sentenceOf(entry(kind, data)).sentence).toMatch(/^[A-Z].*\w\.$/)
      }
    }
  })

  it('say who, what and where', () => {
    const { command, target } = execution({ id: 'a', command: 'uname -a', state: 'completed' })
    const subject = { command, target }
    expect(sentenceOf(entry('approval.settled', { to: 'denied', surface: 'cli', note: 'no.' }), subject)).toEqual({
      sentence: 'You denied it on local at the command line (no).',
      command: 'uname -a',
    })
    const settled = (data: LedgerEntry['data'], actor?: string): string =>
      sentenceOf(entry('approval.settled', data, actor), subject).sentence
    expect(settled({ to: 'approved', surface: 'notification' })).toBe('You approved it on local on a notification.')
    expect(settled({ to: 'approved', surface: 'window' })).toBe('You approved it on local.')
    // Three ways to end without a no, and none of them is called one.
    expect(settled({ to: 'expired', surface: 'system' }, 'time')).toBe('Nobody answered in time on local: it expired.')
    expect(settled({ to: 'cancelled', surface: 'system', execution: 'undeliverable', note: 'No.' }, 'fallback')).toBe(
      'Nobody could be asked on local: it was undeliverable.',
    )
    expect(settled({ to: 'approved', surface: 'system' }, 'fallback')).toBe('The fallback approved it on local.')
    expect(sentenceOf(entry('execution.finished', { state: 'failed', exitCode: 2 }, 'gate'), subject).sentence).toBe(
      'The command ended on local: failed, exit 2.',
    )
    expect(sentenceOf(entry('policy.changed', { switch: 'pauseAutomatic', on: true })).sentence).toBe(
      'You switched “Pause automatic runs” on.',
    )
    expect(sentenceOf(entry('policy.changed', { what: 'preset yolo' })).sentence).toBe(
      'You changed the policy: preset yolo.',
    )
    expect(
      sentenceOf(entry('policy.changed', { grant: { target: 'host:x', kinds: ['reads', 'restarts'] } })).sentence,
    ).toBe('You granted reads, restarts on host:x for a time.')
    expect(sentenceOf(entry('policy.changed', { session: 's', elevated: true })).sentence).toBe('You raised a session.')
  })

  it('let nothing hide in them', () => {
    expect(sentenceOf(entry('execution.requested', { target: 'local', command: 'a\u202eb' })).command).toBe('a\\u202Eb')
  })
})
