import { type ButtonHTMLAttributes, type FormEvent, type ReactNode, type Ref, useId, useRef, useState } from 'react'
import type { ExecutionView, Failure } from '../../src-preload/contract'
import { type AlwaysChoice, AlwaysPanel, type AlwaysState } from './AlwaysPanel'
import { BlastLine } from './BlastLine'
import { RiskBadge, StateBadge } from './badges'
import { CommandText } from './CommandText'
import { rankOf } from './command'
import { DecodedWords } from './DecodedWords'
import { FailureText } from './FailureText'
import { Fold } from './Fold'
import { RISK_COLOUR, RiskSign } from './icons'
import { OutputPane } from './OutputPane'
import { PreviewPanel, type PreviewState } from './PreviewPanel'
import { clock, counted, duration, timeLeft } from './time'
import { UndoLine } from './UndoLine'
import { useNow } from './useNow'
import { Visible } from './Visible'
import { visibleText } from './visible'
import {
  cardOnlyWord,
  cardState,
  effectWord,
  flagWords,
  layerWord,
  OUTCOME_WORD,
  principalWord,
  RISK_WORD,
  STATE_MEANS,
  settledWord,
} from './words'

/** After an approval the start follows within milliseconds; a Start button that flashes for those would only be in the way. */
const START_SHOWN_AFTER = 2000

/** True when what was approved has had its time to start and did not. */
const isLeftOver = (view: ExecutionView, now: number): boolean =>
  now - (view.approval?.settlement?.at ?? view.requestedAt) >= START_SHOWN_AFTER

export interface CardActions {
  readonly approve: (phrase: string | null) => void
  readonly deny: () => void
  /** Denies with what should be different. */
  readonly requestChanges: (note: string) => void
  readonly preview: () => void
  readonly closePreview: () => void
  readonly undo: () => void
  /** Shows the card of another request. */
  readonly show: (executionId: string) => void
  /** Asks what "Always…" could store; the answer comes back as `always`. */
  readonly askAlways: () => void
  readonly approveAlways: (choice: AlwaysChoice) => void
  /** Leads to where kinds of commands are granted for a time. */
  readonly grant: () => void
  readonly stop: () => void
  readonly start: () => void
  readonly again: () => void
  readonly openWhole: () => void
  /** Shows the card of the request that "Run again…" made. */
  readonly showAgain: () => void
  /** Shows all that wait for the same. */
  readonly showAlike: () => void
}

export interface ActionCardProps {
  readonly view: ExecutionView
  /** Streamed output where there is some; else the kept part of the view is shown. */
  readonly output: {
    readonly text: string
    readonly start: number
    readonly bytes: number
    readonly truncated: boolean
  } | null
  readonly outputOpen: boolean
  readonly busy: 'approve' | 'deny' | 'changes' | 'stop' | 'start' | 'again' | 'undo' | null
  /** What "Always…" could store, once it was asked for. */
  readonly always?: AlwaysState | null | undefined
  readonly preview?: PreviewState | null | undefined
  readonly problem: Failure | null
  readonly madeAgain: boolean
  /** The request that "Undo…" made, where the card does not know it yet. */
  readonly madeUndo?: string | null
  /** The command that this one takes back, as far as it is known. */
  readonly takesBack?: string | null
  /** How many other requests wait for the same. */
  readonly alike?: number
  /** Several identical requests on one card: what stands in the head, and what answers them. */
  readonly group?: { readonly head: ReactNode; readonly answer: ReactNode } | undefined
  readonly armed: boolean
  /** Colours the parts of the command. */
  readonly highlight?: boolean
  readonly actions: CardActions
  readonly cardRef?: Ref<HTMLElement>
}

/** The words for what is asked, used in labels: "restart caddy … on lxc:caddy". */
function nameOf(view: ExecutionView): string {
  const line = visibleText(view.command.split('\n')[0] ?? '')
  return `${line.length > 60 ? `${line.slice(0, 59)}…` : line} on ${visibleText(view.target)}`
}

/** A button whose spoken name begins with what stands on it and goes on with what it is about. */
function Act({
  name,
  children,
  className = 'btn',
  onClick,
  ...rest
}: { readonly name: string; readonly children: string } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      aria-label={`${children}: ${name}`}
      className={className}
      // The second click of a double click was meant for the button that was here before.
      onClick={onClick === undefined ? undefined : (event) => (event.detail > 1 ? undefined : onClick(event))}
      type="button"
      {...rest}
    >
      {children}
    </button>
  )
}

function Times({ view, now }: { readonly view: ExecutionView; readonly now: number }) {
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

function Why({ view }: { readonly view: ExecutionView }) {
  const who = principalWord(view.principal)
  if (view.purpose === null || view.purpose === '') {
    return (
      <p className="text-ink-2">
        asked by {who}
        {view.principal.kind === 'operator' ? '' : ', who gave no purpose'}
      </p>
    )
  }
  return (
    <p className="break-words text-ink-2">
      <span className="text-ink-3">why: </span>
      <span className="text-ink">
        <Visible text={view.purpose} />
      </span>
      <span className="text-ink-3"> · asked by {who}</span>
    </p>
  )
}

/** What belongs to the command without standing in it: the folder it runs in, and what runs afterwards to confirm it. */
function Around({ view }: { readonly view: ExecutionView }) {
  const waits = view.state === 'pending_approval'
  const folder = waits || (view.principal.kind !== 'operator' && view.cwd !== null)
  if (!folder && view.verify === null) return null
  return (
    <div className="space-y-0.5 text-ink-2">
      {folder ? (
        <p className="break-words" data-testid="folder">
          <span className="text-ink-3">in </span>
          {view.cwd === null ? (
            <>
              the default folder of <Place value={view.target} />
            </>
          ) : (
            <Place value={view.cwd} />
          )}
        </p>
      ) : null}
      {view.verify === null ? null : (
        <p className="break-words" data-testid="verify">
          <span className="text-ink-3">then confirms with </span>
          <Place value={view.verify} />
        </p>
      )}
    </div>
  )
}

/** Which run this one takes back. */
function TakesBack({
  view,
  command,
  onShow,
}: {
  readonly view: ExecutionView
  readonly command: string | null
  readonly onShow: (id: string) => void
}) {
  const { undoOf } = view
  if (undoOf === null || undoOf === undefined) return null
  const line = command === null ? null : visibleText(command.split('\n')[0] ?? '')
  return (
    <p className="break-words text-ink-2" data-testid="undo-of">
      <span className="text-ink-3">takes back </span>
      {line === null ? 'an earlier run' : <Place value={line.length > 160 ? `${line.slice(0, 159)}…` : line} />}{' '}
      <button className="link" onClick={() => onShow(undoOf)} type="button">
        Show it
      </button>
    </p>
  )
}

/** A folder or a user; when none is named the target's own is used. */
function Place({ value }: { readonly value: string | null }) {
  if (value === null) return 'the default of the target'
  return (
    <code className="logical break-all font-mono text-code">
      <Visible text={value} />
    </code>
  )
}

function Facts({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
      {rows.map(([name, value]) => (
        <div className="contents" key={name}>
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Findings that are read first among those of one class: the text is not what it seems, or reaches Nomos. */
const ALARMS: ReadonlySet<string> = new Set(['self', 'invisible', 'nul'])

function Reasons({ view }: { readonly view: ExecutionView }) {
  const { classification, decision } = view
  const reasons = [...classification.reasons].sort(
    (a, b) => rankOf(b.risk) - rankOf(a.risk) || Number(ALARMS.has(b.rule)) - Number(ALARMS.has(a.rule)),
  )
  const first = reasons[0]
  const flags = flagWords(classification.flags)
  const effects = classification.effects.slice(0, 2).map(effectWord)
  const more = Math.max(0, classification.effects.length - effects.length)
  const line = [
    first?.sentence ?? `Counts as ${RISK_WORD[view.risk]}.`,
    ...(effects.length > 0 ? [`${effects.join(', ')}${more > 0 ? ` and ${more} more` : ''}`] : []),
  ]
  return (
    <Fold
      label={
        <span className="line-clamp-2 break-words">
          <Visible text={line.join(' · ')} />
        </span>
      }
    >
      <div className="mt-1 space-y-2 text-ink-2" data-testid="reasons">
        {reasons.length === 0 ? null : (
          <ul className="space-y-0.5">
            {reasons.map((reason, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same rule may speak twice of different places
              <li className="flex gap-1.5" key={index}>
                <span className="mt-[3px]">
                  <RiskSign risk={reason.risk} />
                </span>
                <span className="min-w-0 break-words">
                  <span className={RISK_COLOUR[reason.risk]}>{RISK_WORD[reason.risk]}</span>{' '}
                  <Visible text={reason.sentence} />{' '}
                  <code className="logical font-mono text-code text-ink-3">
                    <Visible text={reason.rule} />
                  </code>
                </span>
              </li>
            ))}
          </ul>
        )}
        <Facts
          rows={[
            ...(classification.effects.length === 0
              ? []
              : ([['effects', <Visible key="e" text={classification.effects.map(effectWord).join(', ')} />]] as const)),
            ...(flags.length === 0 ? [] : ([['this command', flags.join(', ')]] as const)),
            ['understood', classification.coverage === 'full' ? 'all of its text' : 'only a part of its text'],
            ['declared risk', view.declaredRisk ?? 'none'],
            ['folder', <Place key="c" value={view.cwd} />],
            ['user', <Place key="u" value={view.user} />],
            ['decision', OUTCOME_WORD[decision.outcome]],
            ...(view.redacted ? ([['secrets', 'taken out of what is shown here']] as const) : []),
            [
              'request',
              <code className="font-mono text-code" key="i">
                {view.id}
              </code>,
            ],
          ]}
        />
        {decision.trace.length === 0 ? null : (
          <ol className="space-y-0.5">
            {decision.trace.map((step, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place
              <li className="break-words" key={index}>
                <span className="text-ink-3">{layerWord(step.layer)}: </span>
                <Visible text={step.sentence} />{' '}
                <code className="logical font-mono text-code text-ink-3">
                  <Visible text={step.rule} />
                </code>
              </li>
            ))}
          </ol>
        )}
      </div>
    </Fold>
  )
}

/** Who decided, how, and when. */
function Settled({ view, now }: { readonly view: ExecutionView; readonly now: number }) {
  const approval = view.approval
  const settlement = approval?.settlement
  if (approval === null || settlement === undefined || settlement === null) return null
  // What the fallback noted is why it is in this state, which stands above.
  const note = settlement.note === view.stateReason || view.state === 'undeliverable' ? null : settlement.note
  return (
    <p className="break-words text-ink-2" data-testid="settlement">
      {settledWord(view)} at {clock(settlement.at, now)}
      {settlement.words === null ? null : (
        <>
          , with the words “<Visible text={settlement.words} />”
        </>
      )}
      {note === null ? null : (
        <>
          . Note: “<Visible text={note} />”
        </>
      )}
    </p>
  )
}

/** What stands open below the buttons. One at a time, so that the card stays short. */
type Opened = 'nothing' | 'always' | 'changes'

function Answer({
  view,
  busy,
  armed,
  always,
  actions,
}: Pick<ActionCardProps, 'view' | 'busy' | 'armed' | 'always' | 'actions'>) {
  const [phrase, setPhrase] = useState('')
  const [opened, setOpened] = useState<Opened>('nothing')
  const [words, setWords] = useState('')
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
  const sendChanges = (event: FormEvent): void => {
    event.preventDefault()
    if (words.trim() !== '') actions.requestChanges(words.trim())
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
        <Act
          name={name}
          className="btn"
          data-testid="deny"
          disabled={busy !== null}
          onClick={() => actions.deny()}
          type="button"
        >
          {busy === 'deny' ? 'Denying…' : 'Deny'}
        </Act>
        {confirm ? (
          <form className="flex min-w-0 flex-wrap items-end gap-2" onSubmit={sendPhrase}>
            <div className="min-w-0">
              <label className="mb-1 block text-ink-2" htmlFor={`${id}-phrase`}>
                To run it, type{' '}
                <code className="rounded-sm bg-raised px-1 font-mono text-code text-ink">
                  <Visible text={approval.phrase ?? ''} />
                </code>
              </label>
              <input
                autoComplete="off"
                className="input font-mono text-code"
                data-testid="phrase"
                id={`${id}-phrase`}
                onChange={(event) => setPhrase(event.target.value)}
                spellCheck={false}
                value={phrase}
              />
            </div>
            <Act
              name={name}
              className="btn btn-danger"
              data-testid="phrase-confirm"
              disabled={busy !== null || phrase === ''}
              type="submit"
            >
              {busy === 'approve' ? 'Approving…' : 'Approve once'}
            </Act>
          </form>
        ) : (
          <Act
            name={name}
            className="btn"
            data-testid="approve"
            disabled={busy !== null}
            onClick={() => actions.approve(null)}
            type="button"
          >
            {busy === 'approve' ? 'Approving…' : 'Approve once'}
          </Act>
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
      <form
        className="space-y-2 rounded border border-edge px-3 py-2.5"
        hidden={opened !== 'changes'}
        id={`${id}-changes`}
        onSubmit={sendChanges}
      >
        <label className="block text-ink-2" htmlFor={`${id}-words`}>
          What should be different?{' '}
          {view.principal.kind === 'operator'
            ? 'It is denied, and the note is kept with it.'
            : 'It is denied, and the asker reads this.'}
        </label>
        <textarea
          className="input"
          data-testid="changes-note"
          ref={note}
          id={`${id}-words`}
          maxLength={2000}
          onChange={(event) => setWords(event.target.value)}
          rows={2}
          value={words}
        />
        <div className="flex flex-wrap gap-2">
          <button className="btn btn-plain" onClick={close} type="button">
            Close
          </button>
          <Act
            className="btn"
            data-testid="send-changes"
            disabled={busy !== null || words.trim() === ''}
            name={name}
            type="submit"
          >
            {busy === 'changes' ? 'Sending…' : 'Deny and send the note'}
          </Act>
        </div>
      </form>
    </div>
  )
}

/** Running it again and taking it back, each as a new request. */
function AfterEnd({
  view,
  busy,
  madeAgain,
  madeUndo = null,
  actions,
}: Pick<ActionCardProps, 'view' | 'busy' | 'madeAgain' | 'madeUndo' | 'actions'>) {
  const name = nameOf(view)
  const again = view.state === 'failed' || view.state === 'timed_out' || view.state === 'unknown'
  const undo = view.undoState ?? null
  const asked = undo?.executionId ?? madeUndo
  const undoing = undo?.state === 'ready' && asked === null
  if (!again && undo === null) return null
  return (
    <div className="space-y-1">
      {undo === null ? null : (
        <p className="break-words text-ink-2" data-state={undo.state} data-testid="undo-state">
          <Visible text={undo.sentence} />{' '}
          {asked === null ? null : (
            <button className="link" data-testid="undo-show" onClick={() => actions.show(asked)} type="button">
              Show the request
            </button>
          )}
        </p>
      )}
      {again || undoing ? (
        <div className="flex flex-wrap items-center gap-2">
          {undoing ? (
            <Act
              name={name}
              className="btn btn-small"
              data-testid="undo"
              disabled={busy !== null}
              onClick={actions.undo}
              type="button"
            >
              {busy === 'undo' ? 'Asking…' : 'Undo…'}
            </Act>
          ) : null}
          {again ? (
            <Act
              name={name}
              className="btn btn-small"
              data-testid="again"
              disabled={busy !== null}
              onClick={actions.again}
              type="button"
            >
              {busy === 'again' ? 'Asking…' : 'Run again…'}
            </Act>
          ) : null}
          {madeAgain ? (
            <span className="text-ink-2">
              Asked again as a new request.{' '}
              <button className="link" onClick={actions.showAgain} type="button">
                Show it
              </button>
            </span>
          ) : null}
        </div>
      ) : null}
    </div>
  )
}

/** The way to what a command would do, and what was seen there. */
function Preview({ view, preview = null, actions }: Pick<ActionCardProps, 'view' | 'preview' | 'actions'>) {
  const opener = useRef<HTMLButtonElement>(null)
  const label = view.state === 'pending_approval' ? (view.preview ?? null) : null
  if (label === null && preview === null) return null
  const word = preview?.kind === 'busy' ? 'Looking…' : preview === null ? 'Preview' : 'Preview again'
  const close = (): void => {
    actions.closePreview()
    opener.current?.focus({ preventScroll: true })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes what was opened, wherever in it the focus is
    <div
      className="space-y-2"
      data-keep={preview === null ? undefined : 'true'}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || preview === null) return
        event.preventDefault()
        close()
      }}
    >
      {label === null ? null : (
        <div className="flex flex-wrap items-center gap-2">
          <button
            aria-label={`${word}: ${visibleText(label)}: ${nameOf(view)}`}
            className="btn btn-small"
            data-testid="preview"
            // Not `disabled`: that would take the focus from it while it looks, and Esc would close nothing.
            aria-disabled={preview?.kind === 'busy'}
            onClick={() => (preview?.kind === 'busy' ? undefined : actions.preview())}
            ref={opener}
            type="button"
          >
            {word}
          </button>
          <span className="min-w-0 break-words text-ink-2">
            <Visible text={label} />
          </span>
        </div>
      )}
      {preview === null ? null : <PreviewPanel onClose={close} state={preview} />}
    </div>
  )
}

function Buttons({
  view,
  busy,
  armed,
  madeAgain,
  madeUndo,
  always,
  now,
  actions,
}: Pick<ActionCardProps, 'view' | 'busy' | 'armed' | 'always' | 'madeAgain' | 'madeUndo' | 'actions'> & {
  readonly now: number
}) {
  const name = nameOf(view)
  if (view.state === 'pending_approval')
    return <Answer actions={actions} always={always} armed={armed} busy={busy} view={view} />
  if (view.state === 'running') {
    return (
      <Act
        name={name}
        className="btn"
        data-testid="stop"
        disabled={busy === 'stop'}
        onClick={actions.stop}
        type="button"
      >
        {busy === 'stop' ? 'Stopping…' : 'Stop'}
      </Act>
    )
  }
  if (view.state === 'approved') {
    if (!isLeftOver(view, now)) return null
    return (
      <div className="flex flex-wrap gap-2">
        <Act name={name} className="btn" disabled={busy !== null} onClick={actions.stop} type="button">
          {busy === 'stop' ? 'Giving up…' : 'Do not start'}
        </Act>
        <Act
          name={name}
          className="btn"
          data-testid="start"
          disabled={busy !== null}
          onClick={actions.start}
          type="button"
        >
          {busy === 'start' ? 'Starting…' : 'Start'}
        </Act>
      </div>
    )
  }
  return <AfterEnd actions={actions} busy={busy} madeAgain={madeAgain} madeUndo={madeUndo ?? null} view={view} />
}

/** Until it ends a card says what could be put back; afterwards, whether it still can. */
const OFFERS_UNDO: ReadonlySet<ExecutionView['state']> = new Set([
  'requested',
  'pending_approval',
  'approved',
  'running',
])

/** A settled card need not show 200 lines; one that waits for an answer always does. */
const LINES_WHEN_SETTLED = 12

function Command({ view, highlight }: { readonly view: ExecutionView; readonly highlight: boolean }) {
  const [whole, setWhole] = useState(false)
  const lines = view.command.split('\n')
  const short =
    view.state !== 'pending_approval' && !whole && (lines.length > LINES_WHEN_SETTLED + 2 || view.command.length > 4000)
  const shown = short ? lines.slice(0, LINES_WHEN_SETTLED).join('\n').slice(0, 4000) : view.command
  return (
    <div className="rounded border border-line bg-page px-3 py-2">
      {view.command === '' ? (
        <span className="text-ink-3">an empty command</span>
      ) : (
        <CommandText command={shown} spans={view.classification.spans} tokens={highlight ? view.tokens : undefined} />
      )}
      {view.argv === null || view.argv === undefined ? null : (
        <div className="mt-1.5">
          <DecodedWords argv={view.argv} />
        </div>
      )}
      {short ? (
        <button className="link mt-1" onClick={() => setWhole(true)} type="button">
          Show the whole command ({lines.length} lines)
        </button>
      ) : null}
    </div>
  )
}

/**
 * The one card of every request. Its order never changes: risk, target, state and time; the command, whole; why; reasons and
 * effects; what depends on it; what can be put back; preview; buttons; output. Nothing on it is a default, and it never takes the focus by itself.
 */
export function ActionCard(props: ActionCardProps) {
  const { view, output, outputOpen, problem, actions, group, alike = 0 } = props
  const state = cardState(view)
  const live = view.state === 'running' || view.state === 'pending_approval'
  const now = useNow(live || view.state === 'approved' ? 1000 : null)
  const id = useId()
  const text = output ?? {
    text: view.output,
    start: 0,
    bytes: view.outputBytes,
    truncated: view.truncated,
  }
  const bytes = Math.max(text.bytes, view.outputBytes)
  const hasOutput = text.text !== '' || bytes > 0
  const quiet = !live && state !== 'approved'
  const pane = (
    <OutputPane
      bytes={bytes}
      label={`Output of ${nameOf(view)}`}
      live={view.state === 'running'}
      onOpenWhole={actions.openWhole}
      start={text.start}
      text={text.text}
      truncated={text.truncated}
    />
  )
  // A denial by the operator is told once, with who and when.
  const told = state === 'denied' && view.approval?.settlement?.by === 'operator'
  const exit = view.exitCode !== null && view.stateReason === `It ended with exit code ${view.exitCode}.`
  const means =
    told || exit || (state === 'approved' && !isLeftOver(view, now))
      ? null
      : (view.stateReason ?? STATE_MEANS[state] ?? null)
  return (
    <article
      aria-labelledby={`${id}-head`}
      className={`card min-w-0 rounded border bg-panel px-3 py-2.5 text-ui ${state === 'pending_approval' ? 'border-edge' : 'border-line'} ${quiet ? 'card-settled' : ''}`}
      data-card={view.id}
      data-group={group === undefined ? undefined : 'true'}
      data-risk={view.risk}
      data-state={view.state}
      data-testid={group === undefined ? `card-${view.id}` : `group-${view.id}`}
      ref={props.cardRef}
      tabIndex={-1}
    >
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1" id={`${id}-head`}>
        <RiskBadge risk={view.risk} />
        {view.sandbox === 'files' ? (
          <span
            className="rounded border border-edge px-1.5 text-meta text-ink-2"
            data-testid="sandboxed"
            title="It can only read files: no network, no other process, nothing it could write to."
          >
            sandboxed
          </span>
        ) : null}
        <span className="min-w-0 break-all font-mono text-code text-ink">
          <Visible text={view.target} />
        </span>
        {group?.head}
        <span className="ml-auto flex flex-wrap items-center gap-x-2">
          <StateBadge state={state} />
          <Times now={now} view={view} />
        </span>
      </div>
      <div className="space-y-2">
        <Command highlight={props.highlight === true} view={view} />
        <Around view={view} />
        <TakesBack command={props.takesBack ?? null} onShow={actions.show} view={view} />
        <Why view={view} />
        <Reasons view={view} />
        {view.blast === undefined || view.state !== 'pending_approval' ? null : <BlastLine blast={view.blast} />}
        {view.undo === null || view.undo === undefined || !OFFERS_UNDO.has(view.state) ? null : (
          <UndoLine undo={view.undo} />
        )}
        {means === null ? null : (
          <p
            className={`break-words ${state === 'unknown' ? 'text-unknown' : state === 'failed' || state === 'timed_out' ? 'text-destructive' : 'text-ink-2'}`}
            data-testid="state-reason"
          >
            <Visible text={means} />
          </p>
        )}
        <Settled now={now} view={view} />
        <Preview actions={actions} preview={props.preview} view={view} />
        {group === undefined ? (
          <Buttons
            actions={actions}
            always={props.always}
            armed={props.armed}
            busy={props.busy}
            madeAgain={props.madeAgain}
            madeUndo={props.madeUndo ?? null}
            now={now}
            view={view}
          />
        ) : (
          group.answer
        )}
        {alike === 0 || group !== undefined ? null : (
          <p className="text-ink-2" data-testid="alike">
            {counted(alike, 'more request asks', 'more requests ask')} for the same.{' '}
            <button className="link" onClick={actions.showAlike} type="button">
              Show them
            </button>
          </p>
        )}
        {problem === null ? null : <FailureText failure={problem} testId="card-problem" />}
        {!hasOutput ? null : outputOpen ? (
          pane
        ) : (
          <Fold label="Output">
            <div className="mt-1">{pane}</div>
          </Fold>
        )}
      </div>
    </article>
  )
}
