import { describe, expect, it } from 'vitest'
import type { ApprovalView, ExecutionView } from '../../src-preload/contract/model'
import { MOST_ENTRIES, MOST_TARGETS, type TrayEntry, type TrayState, trayFace, trayMenu, trayTip } from './tray-menu'

/** Only what the menu reads. */
function waiting(id: number, fields: Partial<ExecutionView> = {}): ExecutionView {
  const approval: Partial<ApprovalView> = { id: `apr_${id}`, state: 'pending', digest: `digest ${id}` }
  return {
    id: `exe_${id}`,
    command: `touch ${id}`,
    target: 'local',
    risk: 'config_mutation',
    requestedAt: id,
    answerAt: 'anywhere',
    approval,
    ...fields,
  } as ExecutionView
}

const state = (fields: Partial<TrayState> = {}): TrayState => ({
  pending: [],
  running: 0,
  paused: false,
  asking: false,
  targets: ['local'],
  neverAuto: [],
  locked: null,
  ...fields,
})

const labels = (entries: readonly TrayEntry[]): readonly string[] =>
  entries.flatMap((entry) => (entry.kind === 'separator' ? [] : [entry.label]))

function inside(entries: readonly TrayEntry[], label: string): readonly TrayEntry[] {
  const found = entries.find((entry) => entry.kind === 'menu' && entry.label.startsWith(label))
  return found?.kind === 'menu' ? found.entries : []
}

describe('the menu of the tray', () => {
  it('is short when nothing waits', () => {
    expect(labels(trayMenu(state()))).toEqual([
      'Open Nomos',
      'Nothing waits',
      'Nothing runs',
      'Pause automatic runs',
      'Ask about everything',
      'Never automatic on',
      'Quit Nomos',
    ])
  })

  it('has what waits, newest first, ten at most, and leads to the others', () => {
    const many = Array.from({ length: 13 }, (_, at) => waiting(at))
    const menu = trayMenu(state({ pending: many, running: 2 }))
    const seen = labels(menu)
    expect(seen.slice(1, 4)).toEqual(['13 wait', 'touch 12', 'touch 11'])
    expect(seen.filter((label) => label.startsWith('touch '))).toHaveLength(MOST_ENTRIES)
    expect(seen).toContain('and 3 more…')
    expect(seen).toContain('2 run')
    // What was settled a moment ago is not offered.
    const settled = waiting(1, { approval: { ...waiting(1).approval, state: 'denied' } as ApprovalView })
    expect(labels(trayMenu(state({ pending: [settled] })))).toContain('Nothing waits')
  })

  it('answers with the digest that stood there', () => {
    const entries = inside(trayMenu(state({ pending: [waiting(7)] })), 'touch 7')
    expect(entries.flatMap((entry) => (entry.kind === 'action' ? [entry.action] : []))).toEqual([
      // The first entry is where a keyboard lands.
      { do: 'review', executionId: 'exe_7' },
      { do: 'deny', target: { approvalId: 'apr_7', executionId: 'exe_7', digest: 'digest 7' } },
      { do: 'approve', target: { approvalId: 'apr_7', executionId: 'exe_7', digest: 'digest 7' } },
    ])
  })

  it.each([
    ['its card', { answerAt: 'card' as const }, null],
    ['a phrase', { answerAt: 'phrase' as const, risk: 'destructive' as const }, null],
    ['nobody said where', { answerAt: undefined } as unknown as Partial<ExecutionView>, null],
    ['a locked screen', {}, true],
  ])('never approves what takes %s', (_name, fields, locked) => {
    const entries = inside(trayMenu(state({ pending: [waiting(1, fields)], locked })), 'touch 1')
    expect(labels(entries)).not.toContain('Approve once')
    expect(labels(entries)).toEqual(expect.arrayContaining(['Deny', 'Review…']))
  })

  it('shows a command on one line, shortened, with nothing hidden in it', () => {
    const [label = ''] = labels(
      trayMenu(state({ pending: [waiting(1, { command: `echo \u202ea\n\n${'x'.repeat(200)}` })] })),
    ).slice(2)
    expect(label).toMatch(/^echo \\u\{202e\}a x+…$/)
    expect([...label]).toHaveLength(60)
  })

  it('the icon shows before all what waits', () => {
    expect(trayFace(state({ pending: [waiting(1)], running: 1, paused: true }))).toEqual({ waiting: 1 })
    expect(trayFace(state({ running: 1, paused: true }))).toBe('paused')
    expect(trayFace(state({ running: 1 }))).toBe('running')
    expect(trayFace(state())).toBe('idle')
    expect(trayTip(state({ pending: [waiting(1), waiting(2)], running: 1, paused: true }))).toBe(
      'Nomos: 2 wait, 1 runs, automatic runs paused',
    )
  })

  it('has the switches with their ticks, each of which flips its own and answers nothing', () => {
    const switches = (fields: Partial<TrayState>) =>
      trayMenu(state(fields)).flatMap((entry) => (entry.kind === 'check' ? [[entry.checked, entry.action]] : []))
    expect(switches({ asking: true })).toEqual([
      [false, { do: 'switch', name: 'pauseAutomatic', on: true }],
      [true, { do: 'switch', name: 'askAboutEverything', on: false }],
    ])
    expect(switches({ paused: true })).toEqual([
      [true, { do: 'switch', name: 'pauseAutomatic', on: false }],
      [false, { do: 'switch', name: 'askAboutEverything', on: true }],
    ])
    expect(trayTip(state({ asking: true }))).toBe('Nomos: everything is asked about')
  })

  it('switches single targets, those that are on first, and leads to the others', () => {
    const on = state({ targets: ['local', 'host:web', 'host:db'], neverAuto: ['host:db', 'host:gone'] })
    expect(inside(trayMenu(on), 'Never automatic on')).toEqual([
      { kind: 'check', label: 'host:db', checked: true, action: { do: 'never-auto', target: 'host:db', on: false } },
      // Also one that is gone: it would be forbidden again under the same name.
      {
        kind: 'check',
        label: 'host:gone',
        checked: true,
        action: { do: 'never-auto', target: 'host:gone', on: false },
      },
      { kind: 'check', label: 'local', checked: false, action: { do: 'never-auto', target: 'local', on: true } },
      { kind: 'check', label: 'host:web', checked: false, action: { do: 'never-auto', target: 'host:web', on: true } },
    ])
    expect(trayTip(on)).toBe('Nomos: never automatic on 2 targets')
    // Names are as long as a name may be: cut, two of them could look the same.
    const long = ['a', 'b'].map((end) => `host:${'x'.repeat(62)}${end}`)
    expect(inside(trayMenu(state({ targets: long })), 'Never automatic on')).toMatchObject(
      long.map((label) => ({ label })),
    )
    const many = Array.from({ length: MOST_TARGETS + 3 }, (_, at) => `host:h${at}`)
    const entries = inside(trayMenu(state({ targets: many, neverAuto: ['host:h22'] })), 'Never automatic on')
    expect(entries).toHaveLength(MOST_TARGETS + 1)
    expect(entries[0]).toMatchObject({ label: 'host:h22', checked: true })
    expect(entries.at(-1)).toMatchObject({ label: 'and 3 more, in the fleet room…' })
  })
})
