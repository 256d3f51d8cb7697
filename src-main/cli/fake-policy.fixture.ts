import type { AllowlistEntryView, GrantView, PolicyInspection } from '../../src-preload/contract/model'
import { entryViews } from './entries'
import type { FakeApp } from './fake-app.fixture'
import { localInspection, localText, shippedPresets } from './policy-texts'

export const KINDS = [
  { id: 'reads', title: 'Reads', sentence: 'run what only reads' },
  { id: 'restarts', title: 'Restarts', sentence: 'restart and reload services and containers' },
]

export function grantOf(id: string, minutes: number): GrantView {
  const now = Date.now()
  return {
    id,
    agent: 'main',
    target: 'host:web',
    kinds: ['reads', 'restarts'],
    createdAt: now,
    expiresAt: now + minutes * 60_000,
    note: '',
  }
}

/** Lets a fake app answer the routes of the policy from the files in `home`. It saves nothing: tests look at what it was asked. */
export function withPolicy(
  app: FakeApp,
  home: string,
  change: Partial<PolicyInspection> = {},
): { grants: GrantView[] } {
  const state = { grants: [grantOf('grt_1', 28)] }
  const saved = { saved: true, version: 'v2', diff: ['- a', '+ b'], backup: `${home}/backups/1` }
  app.answers.set('policy.fileGet', ({ file }) => localText(home, file === 'config' ? 'config' : 'host'))
  app.answers.set(
    'policy.inspect',
    ({ agent, target, session }): PolicyInspection => ({
      ...localInspection(home, String(agent), String(target), Date.now()),
      session: session === null ? null : String(session),
      elevated: false,
      safeBins: [],
      skills: [],
      grants: state.grants,
      agents: ['main'],
      presets: shippedPresets().map(({ name, title, consequences, opens, dangerous }) => ({
        name,
        title,
        consequences: [consequences],
        opens,
        dangerous,
        active: name === 'cautious',
      })),
      undo: [{ at: 1_700_000_000_000, what: 'preset yolo' }],
      version: 'v1',
      ...change,
    }),
  )
  for (const route of ['policy.fileSet', 'policy.save', 'policy.preset', 'policy.undo'])
    app.answers.set(route, () => saved)
  app.answers.set('policy.allowlistAdd', ({ entry }): AllowlistEntryView => {
    const [view] = entryViews([{ ...(entry as { pattern: string }), id: 'al_new' }], Date.now())
    if (view === undefined) throw new Error('no entry')
    return view
  })
  app.answers.set('policy.allowlistRemove', () => ({ done: true }))
  app.answers.set('grants.kinds', () => KINDS)
  app.answers.set('grants.list', () => state.grants)
  app.answers.set('grants.add', ({ minutes }) => grantOf('grt_2', Number(minutes)))
  app.answers.set('grants.revoke', () => ({ done: true }))
  return state
}
