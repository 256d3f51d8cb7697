import type { RouteName } from '../../../src-preload/contract'

/**
 * What the control socket lets through.
 * - `open`: reads, asks for a run, or stops one; none of it needs proof that an operator is there
 * - `operator`: answers an approval, changes policy, trusts a key, saves something or starts what was approved; needs a live challenge
 * - `never`: belongs to the window alone. Chat is here because a bare "yes" in it may grant what the turn before asked for
 *
 * A record over all routes, so that a new route does not compile until somebody has decided.
 */
export const ROUTE_RIGHTS = {
  'app.snapshot': 'open',
  'ui.save': 'never',
  'health.act': 'operator',
  'sessions.create': 'never',
  'sessions.rename': 'never',
  'sessions.remove': 'never',
  'sessions.messages': 'open',
  'chat.send': 'never',
  'chat.stop': 'never',
  'chat.retry': 'never',
  'executions.get': 'open',
  'executions.list': 'open',
  'executions.request': 'open',
  'executions.cancel': 'open',
  'executions.start': 'operator',
  'executions.again': 'open',
  'executions.output': 'open',
  // They only ask: what they lead to is judged like every other request.
  'executions.preview': 'open',
  'executions.undo': 'open',
  'approvals.pending': 'open',
  'approvals.answer': 'operator',
  // At a terminal each one is looked at.
  'approvals.answerMany': 'never',
  'approvals.shown': 'never',
  'approvals.alwaysOffer': 'open',
  'ledger.page': 'open',
  'ledger.verify': 'open',
  'hosts.list': 'open',
  'hosts.save': 'operator',
  'hosts.remove': 'operator',
  // It opens a connection with the operator's key to an address of the caller's choice.
  'hosts.test': 'operator',
  'hosts.trust': 'operator',
  'settings.get': 'open',
  'settings.saveModel': 'operator',
  'settings.savePreferences': 'operator',
  'policy.show': 'open',
  'policy.setSwitch': 'operator',
  'policy.setNeverAuto': 'operator',
  'settings.saveDesktop': 'operator',
  'policy.inspect': 'open',
  'policy.save': 'operator',
  'policy.allowlistAdd': 'operator',
  'policy.allowlistRemove': 'operator',
  'policy.fileGet': 'open',
  'policy.fileSet': 'operator',
  'policy.preset': 'operator',
  'policy.undo': 'operator',
  'policy.clearSession': 'operator',
  'policy.simulate': 'open',
  'policy.replay': 'open',
  'grants.kinds': 'open',
  'grants.list': 'open',
  'grants.add': 'operator',
  'grants.revoke': 'operator',
  'policy.setCompound': 'operator',
  'doctor.run': 'open',
} as const satisfies Record<RouteName, 'open' | 'operator' | 'never'>

/** The routes a control socket serves unless told otherwise: all but those of the window alone. */
export const CONTROL_ROUTES: readonly RouteName[] = (Object.keys(ROUTE_RIGHTS) as RouteName[]).filter(
  (route) => ROUTE_RIGHTS[route] !== 'never',
)

/** True for a route that takes a live challenge before it is dispatched. */
export function needsOperator(route: RouteName): boolean {
  return ROUTE_RIGHTS[route] !== 'open'
}
