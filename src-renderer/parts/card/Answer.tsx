import { type FormEvent, useId, useRef, useState } from 'react'
import { PhraseField } from '../PhraseField'
import { cardOnlyWord } from '../words'
import { ActionButton } from './ActionButton'
import { AlwaysPanel } from './AlwaysPanel'
import { nameOf } from './name'
import type { ActionCardProps } from './props'
import { RequestChanges } from './RequestChanges'

/** What stands open below the buttons. One at a time, so that the card stays short. */
type Opened = 'nothing' | 'always' | 'changes'

/** Deny, approve once, with the typed phrase where it takes one, "Always…" and "Request changes…". */
export function Answer({
  view,
  busy,
  armed,
  always,
  actions,
}: Pick<ActionCardProps, 'view' | 'busy' | 'armed' | 'always' | 'actions'>) {
  const [phrase, setPhrase] = useState('')
  const [opened, setOpened] = useState<Opened>('nothing')
  const alwaysOpener = useRef<HTMLButtonElement>(null)
  const changesOpener = useRef<HTMLButtonElement>(null)
  const note = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  const approval = view.approval
  if (approval === null) return null
  const name = nameOf(view)
  const confirm = approval.outcome === 'confirm'
  const only = cardOnlyWord(view)
  const close = (): void => {
    setOpened('nothing')
    const opener = opened === 'always' ? alwaysOpener : changesOpener
    opener.current?.focus({ preventScroll: true })
  }
  const sendPhrase = (event: FormEvent): void => {
    event.preventDefault()
    if (phrase !== '') actions.approve(phrase)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes what was opened, wherever in the answer the focus is
    <div
      className="flex flex-col gap-2"
      data-answer="true"
      data-keep={opened !== 'nothing' || phrase !== '' ? 'true' : undefined}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || opened === 'nothing') return
        event.preventDefault()
        close()
      }}
    >
      <div className="flex flex-wrap items-end gap-2">
        <ActionButton name={name} data-testid="deny" disabled={busy !== null} onClick={() => actions.deny()}>
          {busy === 'deny' ? 'Denying…' : 'Deny'}
        </ActionButton>
        {confirm ? (
          <form className="flex min-w-0 flex-wrap items-end gap-2" onSubmit={sendPhrase}>
            <PhraseField
              onChange={setPhrase}
              phrase={approval.phrase ?? ''}
              purpose="To run it"
              testId="phrase"
              value={phrase}
            />
            <ActionButton
              name={name}
              className="btn btn-danger"
              data-testid="phrase-confirm"
              disabled={busy !== null || phrase === ''}
              type="submit"
            >
              {busy === 'approve' ? 'Approving…' : 'Approve once'}
            </ActionButton>
          </form>
        ) : (
          <ActionButton
            name={name}
            data-testid="approve"
            disabled={busy !== null}
            onClick={() => actions.approve(null)}
          >
            {busy === 'approve' ? 'Approving…' : 'Approve once'}
          </ActionButton>
        )}
        {/* What cannot be undone is never allowed beforehand. */}
        {confirm || view.risk === 'destructive' ? null : (
          <button
            aria-controls={`${id}-always`}
            aria-expanded={opened === 'always'}
            className="btn btn-plain"
            data-testid="always"
            disabled={busy !== null}
            onClick={() => {
              if (opened !== 'always') actions.askAlways()
              setOpened(opened === 'always' ? 'nothing' : 'always')
            }}
            ref={alwaysOpener}
            type="button"
          >
            Always…
          </button>
        )}
        <button
          aria-controls={`${id}-changes`}
          aria-expanded={opened === 'changes'}
          className="btn btn-plain"
          data-testid="request-changes"
          disabled={busy !== null}
          onClick={() => {
            setOpened(opened === 'changes' ? 'nothing' : 'changes')
            // The form is there in the next picture, and a note is all that can be wanted of it.
            if (opened !== 'changes') requestAnimationFrame(() => note.current?.focus())
          }}
          ref={changesOpener}
          type="button"
        >
          Request changes…
        </button>
        {armed ? <span className="self-center text-ink">Press A again to approve</span> : null}
      </div>
      {only === null ? null : (
        <p className="text-meta text-ink-3" data-testid="card-only">
          {only}
        </p>
      )}
      <div hidden={opened !== 'always'} id={`${id}-always`}>
        {opened === 'always' ? (
          <AlwaysPanel
            busy={busy !== null}
            onApprove={actions.approveAlways}
            onClose={close}
            onGrant={actions.grant}
            state={always ?? { kind: 'reading' }}
            view={view}
          />
        ) : null}
      </div>
      <RequestChanges
        busy={busy}
        hidden={opened !== 'changes'}
        id={`${id}-changes`}
        noteRef={note}
        onClose={close}
        onSend={actions.requestChanges}
        view={view}
      />
    </div>
  )
}
