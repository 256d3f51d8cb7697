import { create } from 'zustand'
import type { ExecutionView } from '../../src-preload/contract'
import { goTo } from './ui'

export const POLICY_TABS = ['holds', 'allowlist', 'grants', 'simulator', 'presets'] as const
export type PolicyTab = (typeof POLICY_TABS)[number]

export const POLICY_TAB_LABEL: Readonly<Record<PolicyTab, string>> = {
  holds: 'What holds',
  allowlist: 'Allowlist',
  grants: 'Grants',
  simulator: 'Try a command',
  presets: 'Presets',
}

/** What the policy room looks at. `agent` null: what holds for all agents. */
export interface Scope {
  readonly tab: PolicyTab
  readonly agent: string | null
  readonly target: string
  readonly session: string | null
}

export const useScope = create<Scope>(() => ({ tab: 'holds', agent: null, target: 'local', session: null }))

/** A command typed by the operator is asked by `operator` and judged by the policy of the agent `main`. */
export const policyAgentOf = (view: ExecutionView): string =>
  view.principal.kind === 'operator' ? 'main' : view.principal.id

/** Opens the policy room where kinds of commands are granted, for the agent and the target of a card. */
export function openGrants(view: ExecutionView): void {
  useScope.setState({ tab: 'grants', agent: policyAgentOf(view), target: view.target, session: null })
  goTo('policy')
}

/** Opens one part of the policy room. */
export function openPolicy(tab: PolicyTab): void {
  useScope.setState({ tab })
  goTo('policy')
}
