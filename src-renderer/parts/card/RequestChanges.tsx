import { type FormEvent, type Ref, useState } from 'react'
import type { ExecutionView } from '../../../src-preload/contract'
import { ActionButton } from './ActionButton'
import { nameOf } from './name'
import type { ActionCardProps } from './props'

/** Denies with what should be different. What was typed stays while the form is closed. */
export function RequestChanges({
  view,
  busy,
  id,
  hidden,
  noteRef,
  onSend,
  onClose,
}: {
  readonly view: ExecutionView
  readonly busy: ActionCardProps['busy']
  readonly id: string
  readonly hidden: boolean
  readonly noteRef: Ref<HTMLTextAreaElement>
  readonly onSend: (note: string) => void
  readonly onClose: () => void
}) {
  const [words, setWords] = useState('')
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if (words.trim() !== '') onSend(words.trim())
  }
  return (
    <form className="space-y-2 rounded border border-edge px-3 py-2.5" hidden={hidden} id={id} onSubmit={send}>
      <label className="block text-ink-2" htmlFor={`${id}-words`}>
        What should be different?{' '}
        {view.principal.kind === 'operator'
          ? 'It is denied, and the note is kept with it.'
          : 'It is denied, and the asker reads this.'}
      </label>
      <textarea
        className="input"
        data-testid="changes-note"
        ref={noteRef}
        id={`${id}-words`}
        maxLength={2000}
        onChange={(event) => setWords(event.target.value)}
        rows={2}
        value={words}
      />
      <div className="flex flex-wrap gap-2">
        <button className="btn btn-plain" onClick={onClose} type="button">
          Close
        </button>
        <ActionButton
          data-testid="send-changes"
          disabled={busy !== null || words.trim() === ''}
          name={nameOf(view)}
          type="submit"
        >
          {busy === 'changes' ? 'Sending…' : 'Deny and send the note'}
        </ActionButton>
      </div>
    </form>
  )
}
