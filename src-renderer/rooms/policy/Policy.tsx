import { RoomBody, RoomHead } from '../../app/RoomHead'
import { POLICY_TAB_LABEL, POLICY_TABS, type PolicyTab, useScope } from '../../bridge/scope'
import { useWorld } from '../../bridge/stores'
import { FailureText } from '../../parts/FailureText'
import { Pick } from '../../parts/Pick'
import { Tabs } from '../../parts/Tabs'
import { useNow } from '../../parts/useNow'
import { visibleText } from '../../parts/visible'
import { AllowlistPart } from './Allowlist'
import { Grants } from './Grants'
import { Holds } from './Holds'
import { Presets } from './Presets'
import { useInspection, useRoom } from './room'
import { Simulator } from './Simulator'
import { agentOptions } from './scope-options'

const ALL = ''

/** Whose policy is looked at, and where. While something is being changed it stays what it is. */
function ScopeBar() {
  const scope = useScope()
  const targets = useWorld((world) => world.targets)
  const sessions = useWorld((world) => world.sessions)
  const inspection = useRoom((room) => room.inspection)
  const editing = useRoom((room) => room.edit !== null)
  return (
    <div className="space-y-1">
      <div className="grid gap-3 mid:grid-cols-3">
        <Pick
          disabled={editing}
          label="For"
          onChange={(event) => useScope.setState({ agent: event.target.value === ALL ? null : event.target.value })}
          options={[{ value: ALL, label: 'all agents (the defaults)' }, ...agentOptions(inspection, scope.agent)]}
          testId="scope-agent"
          value={scope.agent ?? ALL}
        />
        <Pick
          disabled={editing}
          label="On"
          onChange={(event) => useScope.setState({ target: event.target.value })}
          options={[
            ...targets.map((one) => ({
              value: one.slug,
              label: one.policySource === 'node' ? `${one.slug} (its own policy)` : one.slug,
            })),
            ...(targets.some((one) => one.slug === scope.target) ? [] : [{ value: scope.target, label: scope.target }]),
          ]}
          testId="scope-target"
          value={scope.target}
        />
        <Pick
          disabled={editing}
          label="In"
          onChange={(event) => useScope.setState({ session: event.target.value === ALL ? null : event.target.value })}
          options={[
            { value: ALL, label: 'any session' },
            ...sessions.map((one) => ({
              value: one.id,
              label: one.title === '' ? 'a new session' : visibleText(one.title),
            })),
          ]}
          testId="scope-session"
          value={scope.session ?? ALL}
        />
      </div>
      {editing ? <p className="text-meta text-ink-3">Save or cancel the change to look at another one.</p> : null}
    </div>
  )
}

function Part({ tab }: { readonly tab: PolicyTab }) {
  switch (tab) {
    case 'holds':
      return <Holds />
    case 'allowlist':
      return <AllowlistPart />
    case 'grants':
      return <Grants />
    case 'simulator':
      return <Simulator />
    case 'presets':
      return <Presets />
  }
}

/** What holds, for whom and where; how to change it; and what would happen to a command. */
export default function Policy() {
  const tab = useScope((scope) => scope.tab)
  const inspection = useRoom((room) => room.inspection)
  const given = useRoom((room) => room.grants)
  const failure = useRoom((room) => room.failure)
  const agent = useScope((scope) => scope.agent)
  const now = useNow(15_000)
  useInspection()
  const grants = (given ?? []).filter((grant) => grant.expiresAt > now).length
  const counts: Partial<Record<PolicyTab, number>> = {
    allowlist: agent === null ? 0 : (inspection?.allowlist.length ?? 0),
    grants,
  }
  return (
    <>
      <RoomHead title="Policy" />
      <RoomBody>
        <ScopeBar />
        {failure === null ? null : <FailureText failure={failure} testId="policy-failure" />}
        <Tabs
          label="Parts of the policy"
          onChange={(next) => useScope.setState({ tab: next })}
          tabs={POLICY_TABS.map((value) => ({ value, label: POLICY_TAB_LABEL[value], count: counts[value] ?? 0 }))}
          testId="policy-tab"
          value={tab}
        >
          <Part tab={tab} />
        </Tabs>
      </RoomBody>
    </>
  )
}
