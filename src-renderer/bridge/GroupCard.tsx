import { useRef, useState } from 'react'
import type { ExecutionView, Failure } from '../../src-preload/contract'
import { StateBadge } from '../parts/badges'
import { FailureText } from '../parts/FailureText'
import { Fold } from '../parts/Fold'
import { focusIfLost } from '../parts/focus'
import { clock } from '../parts/time'
import { useNow } from '../parts/useNow'
import { Visible } from '../parts/Visible'
import { visibleText } from '../parts/visible'
import { cardState, principalWord } from '../parts/words'
import { answerMany } from './desk'
import { alone } from './groups'
import { LiveCard } from './LiveCard'
import { useExecutions, useWorld } from './stores'

function Asker({
  view,
  now,
  lead,
}: {
  readonly view: ExecutionView
  readonly now: number
  readonly lead: ExecutionView | undefined
}) {
  // The card says one purpose already; here it stands where somebody gave another.
  const purpose = view.purpose === lead?.purpose ? null : view.purpose
  const title = useWorld((world) => world.sessions.find((one) => one.id === view.session)?.title ?? '')
  return (
    <li className="flex flex-wrap items-center gap-x-2">
      <StateBadge state={cardState(view)} />
      <span className="min-w-0 break-words">
        {principalWord(view.principal)}
        {view.session === null ? '' : ' in '}
        {view.session === null ? null : title === '' ? 'a session without a name' : <Visible text={`“${title}”`} />}
        <span className="tabular text-ink-3"> at {clock(view.requestedAt, now)}</span>
        {purpose === null ? null : (
          <span className="text-ink">
            {': '}
            <Visible text={purpose} />
          </span>
        )}
      </span>
    </li>
  )
}

/** What answers all of a group, and the way to answer each alone. */
function GroupAnswer({ ids }: { readonly ids: readonly string[] }) {
  const byId = useExecutions((state) => state.byId)
  const [busy, setBusy] = useState<'approve' | 'deny' | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [refused, setRefused] = useState<readonly string[]>([])
  const box = useRef<HTMLDivElement>(null)
  const now = useNow(60_000)
  const members = ids.flatMap((id) => byId[id] ?? [])
  const waiting = members.filter((view) => view.state === 'pending_approval')
  const reason = waiting.map(alone).find((why) => why !== null) ?? null
  const first = waiting[0]
  const name =
    first === undefined ? '' : visibleText(`${first.command.split('\n')[0]?.slice(0, 60)} on ${first.target}`)
  const answer = (kind: 'approve' | 'deny'): void => {
    // The buttons go away with what they answer; the keyboard stays on the card.
    const card = box.current?.closest<HTMLElement>('[data-card]')
    setBusy(kind)
    setFailure(null)
    setRefused([])
    void answerMany(waiting, kind).then((answered) => {
      setBusy(null)
      focusIfLost(() => card)
      if ('failure' in answered) setFailure(answered.failure)
      else setRefused(answered.results.filter(({ ok }) => !ok).map(({ sentence }) => sentence))
    })
  }
  return (
    <div className="space-y-2" ref={box}>
      <ul aria-label="Who asks" className="space-y-0.5 text-ink-2">
        {members.map((view) => (
          <Asker key={view.id} lead={first ?? members[0]} now={now} view={view} />
        ))}
      </ul>
      {waiting.length === 0 ? null : (
        <div className="flex flex-wrap items-center gap-2" data-answer="true">
          <button
            aria-label={`Deny all ${waiting.length}: ${name}`}
            className="btn"
            data-testid="deny-all"
            disabled={busy !== null}
            onClick={(event) => (event.detail > 1 ? undefined : answer('deny'))}
            type="button"
          >
            {busy === 'deny' ? 'Denying…' : `Deny all ${waiting.length}`}
          </button>
          {reason === null ? (
            <button
              aria-label={`Approve all ${waiting.length}: ${name}`}
              className="btn"
              data-testid="approve-group"
              disabled={busy !== null}
              onClick={(event) => (event.detail > 1 ? undefined : answer('approve'))}
              type="button"
            >
              {busy === 'approve' ? 'Approving…' : `Approve all ${waiting.length}`}
            </button>
          ) : (
            <span className="text-ink-2">{reason} Open each below to approve it.</span>
          )}
        </div>
      )}
      {failure === null ? null : <FailureText failure={failure} testId="group-problem" />}
      {refused.length === 0 ? null : (
        <ul className="space-y-0.5 text-destructive" role="alert">
          {refused.map((sentence, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same refusal may hold for several
            <li className="break-words" key={index}>
              <Visible text={sentence} />
            </li>
          ))}
        </ul>
      )}
      <Fold label={waiting.length === 0 ? 'Each of them' : 'Answer each alone'}>
        <ul className="mt-1 space-y-3">
          {ids.map((id) => (
            <li key={id}>
              <LiveCard id={id} outputOpen={false} />
            </li>
          ))}
        </ul>
      </Fold>
    </div>
  )
}

/** Several identical requests on one card: the command once, who asks each time, one answer for all or one for each. */
export function GroupCard({ ids }: { readonly ids: readonly string[] }) {
  const waiting = useExecutions((state) => ids.filter((id) => state.byId[id]?.state === 'pending_approval').length)
  // The card shows one that still waits, so that what it says of the time left and of what depends on it is true.
  const lead = useExecutions((state) => ids.find((id) => state.byId[id]?.state === 'pending_approval') ?? ids[0])
  if (lead === undefined) return null
  return (
    <LiveCard
      group={{
        head: (
          <span className="rounded border border-edge px-1.5 text-ink" data-testid="group-count">
            {waiting === 0 || waiting === ids.length
              ? `${ids.length} identical requests`
              : `${waiting} of ${ids.length} identical requests wait`}
          </span>
        ),
        answer: <GroupAnswer ids={ids} />,
      }}
      id={lead}
      ids={ids}
      outputOpen={false}
    />
  )
}
