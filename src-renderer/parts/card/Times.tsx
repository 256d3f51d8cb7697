import type { ExecutionView } from '../../../src-preload/contract'
import { clock, duration, timeLeft } from '../time'

/** The time that counts in its state: what is left to answer, how long it runs, when it ended. */
export function Times({ view, now }: { readonly view: ExecutionView; readonly now: number }) {
  const parts: string[] = []
  if (view.state === 'pending_approval' && view.approval !== null) {
    parts.push(timeLeft(view.approval.expiresAt, now) ?? 'expiring')
  } else if (view.state === 'running') {
    parts.push(duration(now - (view.startedAt ?? view.requestedAt), true))
  } else {
    if (view.exitCode !== null && view.exitCode !== 0) parts.push(`exit ${view.exitCode}`)
    else if (view.exitCode === 0 && view.state !== 'completed') parts.push('exit 0')
    if (view.signal !== null) parts.push(`signal ${view.signal}`)
    if (view.startedAt !== null && view.finishedAt !== null) parts.push(duration(view.finishedAt - view.startedAt))
    parts.push(clock(view.finishedAt ?? view.approval?.settlement?.at ?? view.requestedAt, now))
  }
  return <span className="tabular whitespace-nowrap text-ink-2">{parts.join(' · ')}</span>
}
