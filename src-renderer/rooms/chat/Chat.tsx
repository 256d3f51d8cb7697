import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { ExecutionView, Failure, Session } from '../../../src-preload/contract'
import { RoomHead } from '../../app/RoomHead'
import { reveal } from '../../bridge/desk'
import { shownOf, useSeen } from '../../bridge/seen'
import { useConversations, useExecutions, useWorld } from '../../bridge/stores'
import { loadMessages, ready } from '../../bridge/sync'
import { removeSession, renameSession } from '../../bridge/talk'
import { goTo, setDraft, useUi } from '../../bridge/ui'
import { FailureText } from '../../parts/FailureText'
import { Icon } from '../../parts/icons'
import { counted } from '../../parts/time'
import { Visible } from '../../parts/Visible'
import { Composer } from './Composer'
import { Messages } from './Messages'

function fill(text: string): void {
  setDraft(useUi.getState().session, text)
  document.querySelector<HTMLTextAreaElement>('[data-testid="composer"]')?.focus()
}

function Example({ text }: { readonly text: string }) {
  return (
    <button
      className="btn max-w-full whitespace-normal text-left font-normal"
      data-testid="example"
      onClick={() => fill(text)}
      type="button"
    >
      {text.startsWith('/') ? <code className="break-all font-mono text-code">{text}</code> : text}
    </button>
  )
}

function Empty() {
  const settings = useWorld((world) => world.settings)
  const modelless = settings !== null && (settings.model.baseUrl === '' || settings.model.model === '')
  return (
    <div className="min-h-0 grow overflow-y-auto">
      <div className="mx-auto max-w-[560px] space-y-4 px-4 pt-[12vh] pb-6">
        {modelless ? (
          <>
            <div className="space-y-1" data-testid="no-model">
              <h2 className="font-semibold text-read">No model is set</h2>
              <p className="text-ink-2 text-read">
                The agent needs an OpenAI-compatible endpoint: OpenRouter, OpenAI, Ollama or llama.cpp. Name its base
                URL, a model and, where it wants one, a key.
              </p>
            </div>
            <button className="btn" onClick={() => goTo('settings')} type="button">
              Set a model
            </button>
            <p className="text-ink-2 text-read">Commands run without one, through the same gate:</p>
            <Example text="/run local uname -a" />
          </>
        ) : settings === null ? null : (
          <>
            <div className="space-y-1">
              <h2 className="font-semibold text-read">Say what you want to know or to change</h2>
              <p className="text-ink-2 text-read">
                The agent proposes commands. Reads run by themselves, changes wait for your answer on a card.
              </p>
            </div>
            <div className="flex flex-wrap gap-2">
              <Example text="What fills the disk of this computer?" />
              <Example text="/run local uname -a" />
            </div>
          </>
        )}
      </div>
    </div>
  )
}

function SessionTools({ session }: { readonly session: Session }) {
  const [mode, setMode] = useState<'none' | 'rename' | 'remove'>('none')
  const [title, setTitle] = useState(session.title)
  const [failure, setFailure] = useState<Failure | null>(null)
  const done = (answer: Failure | null): void => {
    setFailure(answer)
    if (answer === null) setMode('none')
  }
  const rename = (event: FormEvent): void => {
    event.preventDefault()
    if (title.trim() !== '') void renameSession(session.id, title.trim()).then(done)
  }
  return (
    <>
      {mode === 'none' ? (
        <span className="flex shrink-0">
          <button
            aria-label="Rename this session"
            className="btn btn-plain btn-small"
            data-testid="session-rename"
            onClick={() => {
              setTitle(session.title)
              setMode('rename')
            }}
            title="Rename"
            type="button"
          >
            <Icon name="pencil" size={14} />
          </button>
          <button
            aria-label="Remove this session"
            className="btn btn-plain btn-small"
            data-testid="session-remove"
            onClick={() => setMode('remove')}
            title="Remove"
            type="button"
          >
            <Icon name="bin" size={14} />
          </button>
        </span>
      ) : null}
      {mode === 'rename' ? (
        <form className="flex basis-full gap-2 py-2" onSubmit={rename}>
          <input
            aria-label="Name of the session"
            className="input max-w-96"
            maxLength={200}
            onChange={(event) => setTitle(event.target.value)}
            ref={(input) => input?.focus()}
            value={title}
          />
          <button className="btn" disabled={title.trim() === ''} type="submit">
            Rename
          </button>
          <button className="btn btn-plain" onClick={() => setMode('none')} type="button">
            Keep the name
          </button>
        </form>
      ) : null}
      {mode === 'remove' ? (
        <div className="flex basis-full flex-wrap items-center gap-2 py-2">
          <span className="min-w-0 break-words [overflow-wrap:anywhere]">
            Remove “
            <Visible text={session.title.length > 80 ? `${session.title.slice(0, 80)}…` : session.title} />” with its
            messages? What ran stays in the ledger.
          </span>
          <button className="btn" onClick={() => setMode('none')} type="button">
            Keep it
          </button>
          <button
            className="btn btn-danger"
            data-testid="session-remove-confirm"
            onClick={() => void removeSession(session.id).then(done)}
            type="button"
          >
            Remove the session
          </button>
        </div>
      ) : null}
      {failure === null ? null : (
        <div className="basis-full pb-2">
          <FailureText failure={failure} />
        </div>
      )}
    </>
  )
}

/** What the turn is doing, in words; null when it does nothing. */
function turnStatus(session: Session | undefined, waiting: number, running: number): string | null {
  if (session === undefined || session.turn === 'idle') return null
  if (session.turn === 'streaming') return 'Nomos is writing…'
  if (waiting > 0) return `Waiting for your answer to ${counted(waiting, 'request', 'requests')}`
  if (running > 0) return `Waiting for ${counted(running, 'command', 'commands')} to end`
  return 'Waiting for its requests to be settled'
}

/** Where Now is folded away: that something waits, above the composer. */
function WaitingBar({ waiting }: { readonly waiting: readonly ExecutionView[] }) {
  const bar = useRef<HTMLDivElement>(null)
  const items = useMemo(() => waiting.flatMap((view) => shownOf(view) ?? []), [waiting])
  useSeen(bar, items, 'elsewhere')
  const newest = waiting.at(-1)
  if (newest === undefined) return null
  return (
    <div
      className="only-without-now flex shrink-0 items-center gap-3 border-line border-t bg-raised px-4 py-1.5"
      ref={bar}
    >
      <span className="grow">{counted(waiting.length, 'request waits', 'requests wait')} for your answer</span>
      <button className="btn btn-small" onClick={() => reveal(newest.id)} type="button">
        Review
      </button>
    </div>
  )
}

/** The conversation with the agent, and the place for the operator's own commands. */
export function Chat() {
  const id = useUi((ui) => ui.session)
  const session = useWorld((world) => world.sessions.find((one) => one.id === id))
  const conversation = useConversations((state) => (id === null ? undefined : state.bySession[id]))
  const allWaiting = useExecutions((state) => state.waiting)
  const allRunning = useExecutions((state) => state.running)
  const waiting = allWaiting.filter((view) => view.session === id && view.principal.kind !== 'operator').length
  const running = allRunning.filter((view) => view.session === id).length
  // Words reach what the agent asked for, and nothing of it that takes its card or a phrase.
  const asks = session?.turn === 'waiting' && waiting > 0

  useEffect(() => {
    if (id !== null) void ready.then(() => loadMessages(id, false))
  }, [id])

  const empty =
    id === null || (conversation !== undefined && conversation.messages.length === 0 && !conversation.loading)
  return (
    <>
      <RoomHead
        list
        title={session === undefined || session.title === '' ? 'New session' : <Visible text={session.title} />}
      >
        {session === undefined ? null : <SessionTools key={session.id} session={session} />}
        {running > 0 ? (
          <span className="tabular ml-auto flex items-center gap-1.5 whitespace-nowrap text-ink-2 max-wide:hidden">
            <span className="pulse h-2 w-2 rounded-full bg-accent" />
            {running} running
          </span>
        ) : null}
      </RoomHead>
      {empty ? (
        conversation?.failure ? (
          <div className="grow p-4">
            <FailureText failure={conversation.failure} />
          </div>
        ) : (
          <Empty />
        )
      ) : conversation === undefined || id === null ? (
        <div className="grow" />
      ) : (
        <Messages conversation={conversation} key={id} session={id} status={turnStatus(session, waiting, running)} />
      )}
      <WaitingBar waiting={allWaiting} />
      <Composer asks={asks} />
    </>
  )
}
