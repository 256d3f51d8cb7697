import { useEffect } from 'react'
import { create } from 'zustand'
import type { Failure, GrantView, PolicyDraft, PolicyInspection, Replay } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { useScope } from '../../bridge/scope'
import { useWorld } from '../../bridge/stores'
import { type Choices, changedFields, draftOf, type Layer } from './fields'

/** A change that is being made and not saved. It outlives a look at another part of the room. */
export interface Edit {
  readonly layer: Layer
  /** What stood there when it began, or when the operator last chose to go on. */
  readonly start: Choices
  readonly now: Choices
  readonly hostVersion: string
  readonly configVersion: string
}

export interface Saved {
  readonly what: string
  readonly diff: readonly string[]
}

interface Room {
  readonly inspection: PolicyInspection | null
  /** Of all agents, soonest end first. */
  readonly grants: readonly GrantView[] | null
  readonly failure: Failure | null
  readonly edit: Edit | null
  /** The last thing that was saved in this room. */
  readonly saved: Saved | null
}

export const useRoom = create<Room>(() => ({ inspection: null, grants: null, failure: null, edit: null, saved: null }))

/** The agent that stands for "all agents" when the core is asked: no part of a file is named so. */
export const ANY_AGENT = 'defaults'

/** What the unsaved change would be to simulator and replay; null when there is none. */
export function draftOfEdit(edit: Edit | null, agent: string | null): PolicyDraft | null {
  if (edit === null) return null
  const fields = changedFields(edit.start, edit.now)
  return Object.keys(fields).length === 0 ? null : draftOf(edit.layer, agent, fields)
}

let asked = 0

/** Reads what the room shows. Gives back what was read, or null when it failed or was overtaken. */
export async function readInspection(): Promise<PolicyInspection | null> {
  asked += 1
  const mine = asked
  const { agent, target, session } = useScope.getState()
  try {
    const [inspection, grants] = await Promise.all([
      request('policy.inspect', { agent: agent ?? ANY_AGENT, target, session }),
      request('grants.list', {}),
    ])
    if (mine !== asked) return null
    useRoom.setState({ inspection, grants, failure: null })
    return inspection
  } catch (error) {
    if (mine === asked) useRoom.setState({ failure: failureOf(error) })
    return null
  }
}

/** Reads again whenever the scope changes or the core says that the policy did. */
export function useInspection(): void {
  const agent = useScope((scope) => scope.agent)
  const target = useScope((scope) => scope.target)
  const session = useScope((scope) => scope.session)
  const heard = useWorld((world) => world.policyHeard)
  // biome-ignore lint/correctness/useExhaustiveDependencies: all of them are reasons to read again
  useEffect(() => {
    void readInspection()
  }, [agent, target, session, heard])
}

/** How many of the last executions a change is held against. */
export const REPLAYED = 200

export type ReplayState =
  | { readonly kind: 'reading' }
  | { readonly kind: 'read'; readonly replay: Replay }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** Asks what a change would have meant. */
export async function replay(agent: string | null, draft: PolicyDraft): Promise<ReplayState> {
  try {
    return {
      kind: 'read',
      replay: await request('policy.replay', { agent: agent ?? 'main', draft, limit: REPLAYED }),
    }
  } catch (error) {
    return { kind: 'failed', failure: failureOf(error) }
  }
}
