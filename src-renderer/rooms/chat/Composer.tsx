import { type FormEvent, type KeyboardEvent, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { ExecutionView, Failure } from '../../../src-preload/contract'
import { useConversations, useExecutions, useWorld } from '../../bridge/stores'
import { sendText, stopTurn } from '../../bridge/talk'
import { goTo, setDraft, useUi } from '../../bridge/ui'
import { FailureText } from '../../parts/FailureText'
import { Visible } from '../../parts/Visible'
import { completionsFor } from './completion'

const EXAMPLE = '/run local uname -a'
const ANSWER = 'Answer with “go ahead” or “no”, or write to the agent…'

const NOTHING: readonly ExecutionView[] = []

/** The last thing sent in each session of this window, for the Up key. */
const lastSent = new Map<string, string>()

/** The field for messages and `/run`. It takes keys from the first frame; only sending waits for the core. */
export function Composer({ asks }: { readonly asks: boolean }) {
  const session = useUi((ui) => ui.session)
  const draft = useUi((ui) => ui.drafts[session ?? 'new'] ?? '')
  const targets = useWorld((world) => world.targets)
  const turn = useWorld((world) => world.sessions.find((one) => one.id === session)?.turn ?? 'idle')
  const modelless = useWorld(
    (world) => world.settings !== null && (world.settings.model.baseUrl === '' || world.settings.model.model === ''),
  )
  const [sending, setSending] = useState(false)
  const [failed, setFailed] = useState<{ failure: Failure; text: string; session: string | null } | null>(null)
  const [queued, setQueued] = useState<{ readonly text: string; readonly session: string | null } | null>(null)
  const [at, setAt] = useState(0)
  const [closedFor, setClosedFor] = useState<string | null>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const id = useId()

  const waiting = useExecutions((state) => (draft.startsWith('/approve') ? state.waiting : NOTHING))
  const completions = useMemo(() => completionsFor(draft, targets, waiting), [draft, targets, waiting])
  const open = completions.length > 0 && closedFor !== draft
  const current = Math.min(at, completions.length - 1)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the field has to be measured again whenever its text changes
  useLayoutEffect(() => {
    const area = field.current
    if (area === null) return
    area.style.height = 'auto'
    area.style.height = `${Math.min(area.scrollHeight + 2, 260)}px`
  }, [draft])

  // What was queued is told as long as something waits.
  useEffect(() => {
    if (turn !== 'waiting') setQueued(null)
  }, [turn])

  // A failure belongs to the session it happened in.
  useEffect(() => {
    setFailed((old) => (old !== null && old.session === session ? old : null))
    setQueued((old) => (old !== null && old.session === session ? old : null))
  }, [session])

  const write = (text: string): void => {
    setDraft(session, text)
    setAt(0)
  }

  const send = async (): Promise<void> => {
    const text = draft
    if (text.trim() === '') setFailed(null)
    if (text.trim() === '' || sending) return
    setSending(true)
    setFailed(null)
    setQueued(null)
    // The field is free at once: what is typed next is not lost, and a refused text comes back below.
    setDraft(session, '')
    const sent = await sendText(session, text)
    setSending(false)
    lastSent.set(sent.session ?? 'new', text)
    if (sent.queued !== null) setQueued({ text: sent.queued, session: sent.session })
    if (sent.failure === null) return
    const now = useUi.getState().drafts[sent.session ?? 'new'] ?? ''
    if (now === '') setDraft(sent.session, text)
    setFailed({ failure: sent.failure, text: now === '' ? '' : text, session: sent.session })
  }

  const recall = (): string | null => {
    const mine = lastSent.get(session ?? 'new')
    if (mine !== undefined) return mine
    if (session === null) return null
    const messages = useConversations.getState().bySession[session]?.messages ?? []
    return messages.findLast((message) => message.role === 'user' || message.role === 'run')?.text ?? null
  }

  const onKey = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    const { key } = event
    if (open) {
      const chosen = completions[current]
      if (key === 'ArrowDown' || key === 'ArrowUp') {
        event.preventDefault()
        setAt((current + (key === 'ArrowDown' ? 1 : -1) + completions.length) % completions.length)
        return
      }
      if ((key === 'Tab' || (key === 'Enter' && !event.shiftKey)) && chosen !== undefined) {
        event.preventDefault()
        write(chosen.text)
        return
      }
      if (key === 'Escape') {
        event.preventDefault()
        setClosedFor(draft)
        return
      }
    }
    if (key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault()
      void send()
    } else if (key === 'ArrowUp' && draft === '') {
      const text = recall()
      if (text !== null) {
        event.preventDefault()
        write(text)
      }
    }
  }

  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void send()
  }

  return (
    <form className="shrink-0 border-line border-t bg-panel px-4 pt-3 pb-2" onSubmit={submit}>
      <div className="relative mx-auto max-w-[920px]">
        {open ? (
          <div
            aria-label="Completions"
            className="absolute bottom-full left-0 z-10 mb-1 min-w-52 rounded border border-line bg-panel p-1 shadow-overlay"
            data-testid="completions"
            id={`${id}-list`}
            role="listbox"
          >
            {completions.map((completion, index) => (
              <div
                aria-selected={index === current}
                className={`rounded px-2 py-0.5 font-mono text-code ${index === current ? 'bg-raised' : ''}`}
                id={`${id}-${index}`}
                key={completion.label}
                onMouseDown={(event) => {
                  event.preventDefault()
                  write(completion.text)
                }}
                role="option"
                tabIndex={-1}
              >
                {completion.label}
              </div>
            ))}
          </div>
        ) : null}
        <div className="flex items-end gap-2">
          <textarea
            aria-activedescendant={open ? `${id}-${current}` : undefined}
            aria-autocomplete="list"
            aria-controls={open ? `${id}-list` : undefined}
            aria-label="Message or command"
            className={`input min-h-9 resize-none py-1.5 ${draft.startsWith('/') ? 'font-mono text-code leading-[22px]' : 'text-read'}`}
            data-testid="composer"
            maxLength={262_144}
            onChange={(event) => write(event.target.value)}
            onKeyDown={onKey}
            placeholder={modelless ? EXAMPLE : asks ? ANSWER : `Message, or ${EXAMPLE}`}
            ref={field}
            rows={1}
            spellCheck={false}
            value={draft}
          />
          {turn !== 'idle' && session !== null ? (
            <button
              className="btn min-h-9"
              data-testid="chat-stop"
              onClick={() =>
                void stopTurn(session).then((failure) =>
                  setFailed(failure === null ? null : { failure, text: '', session }),
                )
              }
              type="button"
            >
              Stop answering
            </button>
          ) : null}
          <button className="btn min-h-9" data-testid="send" disabled={draft.trim() === '' || sending} type="submit">
            {sending ? 'Sending…' : 'Send'}
          </button>
        </div>
        {failed === null ? null : (
          <div className="mt-2 space-y-1">
            <FailureText failure={failed.failure} testId="composer-error" />
            {failed.text === '' ? null : (
              <button
                className="link"
                onClick={() => {
                  write(draft === '' ? failed.text : `${failed.text}\n${draft}`)
                  setFailed(null)
                }}
                type="button"
              >
                Put the text back
              </button>
            )}
          </div>
        )}
        <div role="status">
          {queued === null ? null : (
            <p className="mt-1.5 break-words text-ink-2" data-testid="composer-queued">
              <Visible text={queued.text} />
            </p>
          )}
        </div>
        <p className="mt-1.5 flex flex-wrap gap-x-3 text-meta text-ink-3">
          {modelless ? (
            <span>
              No model is set, so only <code className="font-mono">/run</code> works here.{' '}
              <button className="link" onClick={() => goTo('settings')} type="button">
                Set a model
              </button>
            </span>
          ) : (
            <span>
              <code className="font-mono">{EXAMPLE}</code> runs a command without the agent
            </span>
          )}
          <span className="ml-auto max-mid:hidden">Enter sends, Shift+Enter starts a new line</span>
        </p>
      </div>
    </form>
  )
}
