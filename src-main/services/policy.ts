import type { PolicyView } from '../../src-preload/contract/model'
import {
  type ApprovalsFile,
  CAUTIOUS,
  CLOSED,
  hostLayer,
  mergeLayers,
  type NamedLayer,
  type Switches,
} from '../domain/policy'
import type { Clock, Feed, Store } from '../ports'
import type { Health } from './health'
import { COMPOUND_SETTING } from './settings'

/** What the policy service needs of the host's file; `adapters/approvals-file` has it. */
export interface ApprovalsSource {
  read():
    | { readonly kind: 'absent'; readonly path: string; readonly version: string }
    | { readonly kind: 'file'; readonly path: string; readonly version: string; readonly file: ApprovalsFile }
    | { readonly kind: 'broken'; readonly path: string; readonly version: string; readonly problem: string }
  setAside(stamp: string): string
}

export interface Policy {
  /** The layers for an agent as they stand at this moment, with the version that goes into a plan. */
  layers(agent: string): { readonly layers: readonly NamedLayer[]; readonly version: string }
  switches(): Switches
  setSwitch(name: keyof Switches, on: boolean, actor: string): void
  show(agent: string): PolicyView
  /** Looks at the file and raises or clears its health problem. */
  check(): void
}

export function createPolicy(deps: {
  readonly source: ApprovalsSource
  readonly store: Store
  readonly feed: Feed
  readonly health: Health
  readonly clock: Clock
}): Policy {
  const { source, store, feed, health, clock } = deps

  const policy: Policy = {
    layers(agent) {
      const read = source.read()
      policy.check()
      const posture = store.setting(COMPOUND_SETTING)
      const host = read.kind === 'broken' ? CLOSED : hostLayer(read.kind === 'file' ? read.file : null, agent)
      return {
        layers: [
          { name: 'requested-policy', layer: CAUTIOUS },
          { name: 'host-policy', layer: host },
        ],
        // A plan agreed to under another posture is another plan.
        version: `cautious+${read.version}${posture === 'every-segment' ? '+every-segment' : ''}`,
      }
    },
    switches: () => ({
      askAboutEverything: store.setting('switch.askAboutEverything') === 'on',
      pauseAutomatic: store.setting('switch.pauseAutomatic') === 'on',
    }),
    setSwitch(name, on, actor) {
      if (policy.switches()[name] === on) return
      store.saveSetting(`switch.${name}`, on ? 'on' : null)
      store.appendLedger(
        { kind: 'policy.changed', actor, executionId: null, approvalId: null, data: { switch: name, on } },
        clock.now(),
      )
      feed.publish({ type: 'policy' })
    },
    show(agent) {
      const read = source.read()
      const { layers, version } = policy.layers(agent)
      const merged = layers.map(({ layer }) => layer).reduce(mergeLayers)
      return {
        source: read.kind,
        path: read.path,
        problem: read.kind === 'broken' ? read.problem : null,
        ...merged,
        ...policy.switches(),
        elevated: [],
        open: merged.security === 'full' && merged.ask === 'off' && !merged.riskGate,
        version,
      }
    },
    check() {
      const read = source.read()
      if (read.kind !== 'broken') {
        health.clear('approvals_file_broken')
        return
      }
      health.set(
        {
          code: 'approvals_file_broken',
          sentence: `The approvals file cannot be used: ${read.problem}. Nothing runs until it is mended or set aside.`,
          path: read.path,
          blocksRuns: true,
          actions: [
            { id: 'recheck', label: 'Check again' },
            { id: 'set-aside', label: 'Set it aside and use the cautious policy' },
          ],
        },
        (action) => {
          if (action === 'set-aside' && source.read().kind === 'broken') {
            const stamp = new Date(clock.now()).toISOString().replace(/[:.]/g, '-')
            const to = source.setAside(stamp)
            store.appendLedger(
              {
                kind: 'policy.changed',
                actor: 'operator',
                executionId: null,
                approvalId: null,
                data: { setAside: read.path, to },
              },
              clock.now(),
            )
          }
          policy.check()
          feed.publish({ type: 'policy' })
        },
      )
    },
  }
  return policy
}
