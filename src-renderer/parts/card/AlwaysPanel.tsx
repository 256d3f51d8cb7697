import { useState } from 'react'
import type { AllowlistInput, AlwaysOffer, ExecutionView, Failure } from '../../../src-preload/contract'
import { Choice } from '../Choice'
import { EXPIRIES, EXPIRY_WORD, type Expiry, expiryAt } from '../expiry'
import { FailureText } from '../FailureText'
import { clock } from '../time'
import { Visible } from '../Visible'
import { visibleText } from '../visible'

/** What "Always…" needs to know, as far as it is known. */
export type AlwaysState =
  | { readonly kind: 'reading' }
  | { readonly kind: 'offer'; readonly offer: AlwaysOffer }
  | { readonly kind: 'failed'; readonly failure: Failure }

export interface AlwaysChoice {
  /** ms since the epoch; null for no end. */
  readonly expiresAt: number | null
  readonly scope: 'target' | 'session'
}

function Entry({ entry }: { readonly entry: AllowlistInput }) {
  return (
    <li className="rounded border border-line bg-page px-3 py-1.5" data-testid="always-entry">
      {entry.commandText === undefined ? null : (
        <code className="exact block font-mono text-code text-ink">
          <Visible text={entry.commandText} />
        </code>
      )}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 text-meta">
        <dt className="text-ink-3">program</dt>
        <dd>
          <code className="logical break-all font-mono text-ink-2">
            <Visible text={entry.pattern} />
          </code>
          {entry.sudo === true ? ' behind sudo' : ''}
        </dd>
        <dt className="text-ink-3">arguments</dt>
        <dd>
          {entry.argPattern === undefined ? (
            'any'
          ) : (
            <code className="logical break-all font-mono text-ink-2">
              <Visible text={entry.argPattern} />
            </code>
          )}
        </dd>
      </dl>
    </li>
  )
}

/**
 * What "Always…" opens on a card, in its place and not over it: the exact entry, where it holds and how long. It takes no focus by
 * itself; Esc closes it.
 */
export function AlwaysPanel({
  view,
  state,
  busy,
  onApprove,
  onGrant,
  onClose,
}: {
  readonly view: ExecutionView
  readonly state: AlwaysState
  readonly busy: boolean
  readonly onApprove: (choice: AlwaysChoice) => void
  readonly onGrant: () => void
  readonly onClose: () => void
}) {
  const [scope, setScope] = useState<AlwaysChoice['scope']>('target')
  const [expiry, setExpiry] = useState<Expiry>('hour')
  const entries = state.kind === 'offer' ? state.offer.entries : []
  const refusal = state.kind === 'offer' ? state.offer.refusal : null
  // What is typed here is judged by the policy of the agent `main`, as what the chat asks for.
  const agent = visibleText(view.principal.kind === 'operator' ? 'main' : view.principal.id)
  const target = visibleText(view.target)
  const today = expiryAt('today', Date.now()) ?? 0
  return (
    <div className="space-y-3 rounded border border-edge px-3 py-2.5" data-testid="always-panel">
      {state.kind === 'reading' ? <p className="text-ink-2">Looking at what could be stored…</p> : null}
      {state.kind === 'failed' ? <FailureText failure={state.failure} /> : null}
      {refusal === null ? null : (
        <p className="break-words text-ink-2" data-testid="always-refusal">
          <span className="font-medium text-ink">This cannot be allowed always.</span> <Visible text={refusal} />
        </p>
      )}
      {entries.length === 0 || refusal !== null ? null : (
        <>
          <div>
            <p className="mb-1 text-ink-2">
              {entries.length === 1 ? 'Stored is exactly this:' : `Stored are exactly these ${entries.length}:`}
            </p>
            <ul className="space-y-1">
              {entries.map((entry, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an entry that is only offered has no identity yet
                <Entry entry={entry} key={index} />
              ))}
            </ul>
          </div>
          <Choice
            legend="Where it holds"
            onChange={setScope}
            options={[
              { value: 'target', label: `on ${target}, whenever ${agent} asks for it` },
              {
                value: 'session',
                label: 'there, in this session only',
                disabled: view.session === null,
                ...(view.session === null ? { hint: 'It was not asked in a session.' } : {}),
              },
            ]}
            stacked
            testId="always-scope"
            value={scope}
          />
          <Choice
            legend="How long"
            onChange={setExpiry}
            options={EXPIRIES.map((value) => ({
              value,
              label: value === 'today' ? `today, until ${clock(today, Date.now())}` : EXPIRY_WORD[value],
            }))}
            testId="always-expiry"
            value={expiry}
          />
        </>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <button className="btn btn-plain" data-testid="always-cancel" onClick={onClose} type="button">
          Close
        </button>
        {entries.length === 0 || refusal !== null ? null : (
          <button
            className="btn"
            data-testid="always-confirm"
            disabled={busy}
            onClick={(event) => {
              // The second click of a double click was meant for the button that was here before.
              if (event.detail <= 1) onApprove({ scope, expiresAt: expiryAt(expiry, Date.now()) })
            }}
            type="button"
          >
            {busy ? 'Approving…' : `Run it and allow it ${EXPIRY_WORD[expiry]}`}
          </button>
        )}
        <button className="link ml-auto" data-testid="always-grant" onClick={onGrant} type="button">
          Grant a kind of command for a time…
        </button>
      </div>
    </div>
  )
}
