import { memo, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { Failure, Message } from '../../../src-preload/contract'
import { reveal } from '../../bridge/desk'
import { LiveCard } from '../../bridge/LiveCard'
import type { Conversation } from '../../bridge/stores'
import { loadMessages } from '../../bridge/sync'
import { retryTurn } from '../../bridge/talk'
import { useUi } from '../../bridge/ui'
import { FailureText } from '../../parts/FailureText'
import { Fold } from '../../parts/Fold'
import { Icon } from '../../parts/icons'
import { Markdown } from '../../parts/Markdown'
import { clock, counted } from '../../parts/time'
import { Visible } from '../../parts/Visible'
import { visibleText } from '../../parts/visible'
import { type CallLine, linesOf, noticeKind } from './turns'

function Calls({ calls }: { readonly calls: readonly CallLine[] }) {
  return (
    <Fold label={counted(calls.length, 'tool', 'tools')}>
      <ul className="mt-1 space-y-2">
        {calls.map(({ call, result }) => (
          <li className="min-w-0" key={call.callId}>
            <code className="block break-all font-mono text-code text-ink">
              <Visible text={`${call.name} ${call.arguments}`} />
            </code>
            <p className="whitespace-pre-wrap break-words text-ink-2">
              {result === null || result.text === null ? 'no result yet' : <Visible text={result.text} />}
            </p>
          </li>
        ))}
      </ul>
    </Fold>
  )
}

function Notice({ message, error }: { readonly message: Message; readonly error: boolean }) {
  const [failure, setFailure] = useState<Failure | null>(null)
  const [busy, setBusy] = useState(false)
  const retry = (): void => {
    setBusy(true)
    void retryTurn(message.session).then((answer) => {
      setFailure(answer)
      setBusy(false)
    })
  }
  return (
    <div
      className={`flex flex-wrap items-start gap-2 ${error ? 'text-destructive' : 'text-ink-2'}`}
      data-testid={error ? 'notice-error' : 'notice'}
    >
      {error ? <Icon className="mt-[3px]" name="warning" size={14} /> : null}
      <div className="min-w-0 flex-1 basis-60 break-words">
        <Visible text={message.text ?? ''} />
        {failure === null ? null : <FailureText failure={failure} />}
      </div>
      {message.error?.retry === true ? (
        <button className="btn btn-small" data-testid="retry" disabled={busy} onClick={retry} type="button">
          {busy ? 'Trying…' : 'Try again'}
        </button>
      ) : null}
    </div>
  )
}

/** What Nomos tells of a run, in one faint line: it started long ago, ended, was denied. */
function SystemEvent({ text, executionId }: { readonly text: string; readonly executionId: string }) {
  return (
    <p className="break-words text-meta text-ink-3 leading-[22px]" data-testid="system-event">
      <Visible text={text} />{' '}
      <button
        aria-label={`Show its card: ${visibleText(text).slice(0, 80)}`}
        className="link"
        onClick={() => reveal(executionId)}
        type="button"
      >
        Show its card
      </button>
    </p>
  )
}

const SPEAKER = { user: 'you', assistant: 'nomos', tool: 'tool', run: 'you' } as const

const MessageLine = memo(function MessageLine({
  message,
  calls,
}: {
  readonly message: Message
  readonly calls: readonly CallLine[]
}) {
  const text = message.text ?? ''
  return (
    <div className="grid grid-cols-[52px_minmax(0,1fr)] gap-x-3 text-read max-mid:grid-cols-1" data-role={message.role}>
      <span className="text-meta text-ink-3 leading-[22px]" title={clock(message.at, Date.now())}>
        {/* The mark of what Nomos itself says. It stands beside the texts, where nothing that others write can put it. */}
        {message.role === 'notice' ? (
          <>
            <Icon className="inline-block" name="policy" size={14} />
            <span className="visually-hidden">Nomos itself says</span>
          </>
        ) : (
          SPEAKER[message.role]
        )}
      </span>
      <div className={message.role === 'notice' ? 'min-w-0 text-ui leading-[22px]' : 'min-w-0'}>
        {message.role !== 'notice' ? null : noticeKind(message) === 'event' && message.executionId !== null ? (
          <SystemEvent executionId={message.executionId} text={text} />
        ) : (
          <Notice error={noticeKind(message) === 'fault'} message={message} />
        )}
        {message.role === 'user' || message.role === 'run' ? (
          <p className="whitespace-pre-wrap break-words">
            <Visible text={text} />
          </p>
        ) : null}
        {message.role === 'assistant' ? <Markdown text={text} /> : null}
        {message.role === 'tool' ? (
          <p className="whitespace-pre-wrap break-words text-ink-2">
            <Visible text={message.text ?? 'no result yet'} />
          </p>
        ) : null}
        {message.streaming && text === '' ? <p className="text-ink-3">…</p> : null}
        {calls.length > 0 ? (
          <div className="mt-1 text-ui">
            <Calls calls={calls} />
          </div>
        ) : null}
      </div>
    </div>
  )
})

/** Nothing may slip from under the pointer while it is over a button of a card, and no other button may take its place. */
const aboutToPress = (root: Element): boolean => root.querySelector('[data-card] .btn:hover') !== null

/** The conversation. It stays at its end while the reader is there, and stays where it is when the reader is not. */
export function Messages({
  session,
  conversation,
  status,
}: {
  readonly session: string
  readonly conversation: Conversation
  readonly status: string | null
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const lastTop = useRef(0)
  const [away, setAway] = useState(false)
  const lines = useMemo(() => linesOf(conversation.messages), [conversation.messages])

  const stick = useCallback((): void => {
    const box = scroller.current
    if (box === null || !atEnd.current) return
    if (!aboutToPress(box)) box.scrollTop = box.scrollHeight
    else if (box.scrollHeight - box.scrollTop - box.clientHeight >= 40) setAway(true)
  }, [])

  // Somebody asks to see one card of it: opening at the end would take that out of sight again.
  const wanted = useUi((ui) => ui.reveal)
  useLayoutEffect(() => {
    if (wanted !== null) atEnd.current = false
  }, [wanted])

  useLayoutEffect(() => {
    const box = scroller.current
    const inner = content.current
    if (box === null || inner === null) return
    stick()
    const observer = new ResizeObserver(stick)
    observer.observe(inner)
    observer.observe(box)
    return () => observer.disconnect()
  }, [stick])

  // What one has just sent oneself is always shown.
  const last = conversation.messages.at(-1)
  const sent = last !== undefined && (last.role === 'user' || last.role === 'run') ? last.id : null
  useLayoutEffect(() => {
    if (sent === null) return
    atEnd.current = true
    stick()
  }, [sent, stick])

  const older = (): void => {
    const box = scroller.current
    const before = box === null ? 0 : box.scrollHeight - box.scrollTop
    void loadMessages(session, true).then(() =>
      requestAnimationFrame(() => {
        if (box !== null) box.scrollTop = box.scrollHeight - before
      }),
    )
  }

  return (
    <div className="relative min-h-0 grow">
      <section
        aria-label="Conversation"
        className="h-full overflow-y-auto"
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget
          // Only a reader moves up. Our own scrolling is told a frame late, when the content may have grown again: that is no
          // reason to stop following it.
          const up = scrollTop < lastTop.current - 1
          lastTop.current = scrollTop
          const near = scrollHeight - scrollTop - clientHeight < 40
          if (near || up) atEnd.current = near
          if (!near && atEnd.current) stick()
          setAway(!near && !atEnd.current)
        }}
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <div className="mx-auto max-w-[920px] space-y-3 px-4 py-4" ref={content}>
          {conversation.more ? (
            <button className="btn btn-small" disabled={conversation.loading} onClick={older} type="button">
              {conversation.loading ? 'Reading…' : 'Show earlier messages'}
            </button>
          ) : null}
          {conversation.failure === null ? null : <FailureText failure={conversation.failure} />}
          {lines.map((line) =>
            line.kind === 'card' ? (
              <div className="pl-16 max-mid:pl-0" key={line.id}>
                <LiveCard id={line.executionId} place="conversation" />
              </div>
            ) : (
              <MessageLine calls={line.calls} key={line.message.id} message={line.message} />
            ),
          )}
          {status === null ? null : (
            <p className="pl-16 text-ink-2 max-mid:pl-0" data-testid="turn-status">
              {status}
            </p>
          )}
        </div>
      </section>
      {away ? (
        <button
          className="btn btn-small absolute right-6 bottom-3"
          onClick={() => {
            const box = scroller.current
            if (box !== null) box.scrollTop = box.scrollHeight
          }}
          type="button"
        >
          Go to the end
        </button>
      ) : null}
    </div>
  )
}
