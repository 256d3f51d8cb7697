import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { ExecutionView, Failure } from '../../src-preload/contract'
import { ActionCard } from '../parts/card/ActionCard'
import type { AlwaysState } from '../parts/card/AlwaysPanel'
import type { PreviewState } from '../parts/card/PreviewPanel'
import type { ActionCardProps } from '../parts/card/props'
import { headOf } from '../parts/command'
import { Dialog } from '../parts/Dialog'
import { FailureText } from '../parts/FailureText'
import { OutputReader } from '../parts/OutputReader'
import { size } from '../parts/time'
import { visibleText } from '../parts/visible'
import { failureOf, request } from './client'
import { approve, approveAlways, deny, requestChanges, reveal, runAgain, start, stop, undo } from './desk'
import { othersLike } from './groups'
import { openGrants } from './scope'
import { shownOf, useSeen } from './seen'
import type { Place } from './sight'
import { putExecutions, useCardNotes, useExecutions, useOutputs, useWorld } from './stores'
import { catchUpOutput } from './sync'
import { useUi } from './ui'

/** The most bytes of an output that outlive the run's place in memory. */
const PERSISTED = 4096

/** True when a text can only be the kept part of an output that was cut: main says that of the kept part, not of what it still has. */
function isCut(view: ExecutionView, text: string): boolean {
  return view.truncated && text.length <= PERSISTED && new TextEncoder().encode(text).length <= PERSISTED
}

const PART = 1_048_576
/** What one layer can show without becoming slow; more is for a file, not for a window. */
const MOST_SHOWN = 8 * PART

interface Whole {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Everything of one output that main still has. */
function WholeOutput({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const view = useExecutions((state) => state.byId[id])
  const [whole, setWhole] = useState<Whole | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  useEffect(() => {
    let gone = false
    const read = async (): Promise<void> => {
      let have: Whole | null = null
      try {
        for (;;) {
          const offset: number = have === null ? 0 : have.start + have.text.length
          const page = await request('executions.output', { id, offset, limit: PART })
          if (gone) return
          have =
            have === null
              ? { text: page.text, start: page.offset, end: page.end }
              : { text: have.text + page.text, start: have.start, end: page.end }
          setWhole(have)
          if (page.text === '' || have.start + have.text.length >= page.end || have.text.length >= MOST_SHOWN) return
        }
      } catch (error) {
        if (!gone) setFailure(failureOf(error))
      }
    }
    void read()
    return () => {
      gone = true
    }
  }, [id])
  const text = whole !== null && whole.text !== '' ? whole : { text: view?.output ?? '', start: 0, end: 0 }
  return (
    <Dialog
      onClose={onClose}
      title={
        view === undefined
          ? 'Output'
          : `Output of ${visibleText(headOf(view.command).line).slice(0, 80)} on ${visibleText(view.target)}`
      }
      wide
    >
      <OutputReader start={text.start} text={text.text} />
      <div className="space-y-1 border-line border-t px-4 py-2 text-ink-2">
        <p>
          {size(view?.outputBytes ?? 0)} in all.
          {text.start > 0 ? ' The beginning is no longer kept.' : ''}
          {view !== undefined && isCut(view, text.text) ? ' Only this part of it was kept.' : ''}
          {text.text.length >= MOST_SHOWN ? ' Only the first part is shown here.' : ''}
        </p>
        {failure === null ? null : <FailureText failure={failure} />}
      </div>
    </Dialog>
  )
}

/** The command that another execution ran, read when it is not known; null while it is not, and where main has none. */
function useCommandOf(id: string | null): string | null {
  const known = useExecutions((state) => (id === null ? undefined : state.byId[id]?.command))
  const missing = id !== null && known === undefined
  useEffect(() => {
    if (!missing || id === null) return
    request('executions.get', { id }).then(
      (got) => putExecutions([got]),
      // The link to it stays, and says there what is wrong.
      () => undefined,
    )
  }, [id, missing])
  return known ?? null
}

/** An action card bound to the stores: it shows what main last said of this execution, whoever changed it. */
export function LiveCard({
  id,
  outputOpen = true,
  place = 'elsewhere',
  group,
  ids,
}: {
  readonly id: string
  readonly outputOpen?: boolean
  readonly place?: Place
  /** Set where this card stands for several identical requests. */
  readonly group?: ActionCardProps['group']
  /** All of them, where it stands for several. */
  readonly ids?: readonly string[]
}) {
  const view = useExecutions((state) => state.byId[id])
  const output = useOutputs((state) => state.byId[id])
  const bytes = useOutputs((state) => state.bytes[id])
  const note = useCardNotes((state) => state.byId[id])
  const highlight = useWorld((world) => world.settings?.commandHighlighting ?? false)
  const armed = useUi((state) => state.armed === id)
  const wanted = useUi(
    (state) => state.reveal !== null && (state.reveal === id || ids?.includes(state.reveal) === true),
  )
  const [whole, setWhole] = useState(false)
  const [always, setAlways] = useState<AlwaysState | null>(null)
  const [preview, setPreview] = useState<PreviewState | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const card = useRef<HTMLElement>(null)
  const takesBack = useCommandOf(view?.undoOf ?? null)
  const alike = useExecutions((state) =>
    place === 'conversation' && view !== undefined ? othersLike(view, state.waiting).length : 0,
  )
  const byId = useExecutions((state) => (ids === undefined ? null : state.byId))
  const items = useMemo(
    () =>
      (ids === undefined || byId === null ? [view] : ids.map((one) => byId[one])).flatMap((one) =>
        one === undefined ? [] : (shownOf(one) ?? []),
      ),
    [view, ids, byId],
  )
  useSeen(card, items, place, '[data-answer]')
  const missing = view === undefined
  const state = view?.state
  const longer = view !== undefined && view.outputBytes >= PERSISTED

  // Where several identical ones are on one card, another of them may come to stand for all.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was opened belongs to the one that was shown
  useEffect(() => {
    setPreview(null)
    setAlways(null)
  }, [id])

  useEffect(() => {
    if (!missing) return
    request('executions.get', { id }).then(
      (got) => putExecutions([got]),
      (error) => setFailure(failureOf(error)),
    )
  }, [id, missing])

  useEffect(() => {
    // The view holds only the beginning of an output; what runs or ran longer is read from where this window stands.
    if (state === 'running' || (state !== undefined && longer)) void catchUpOutput(id, state !== 'running')
  }, [id, state, longer])

  // With the picture, not after it: the next key is meant for this card already.
  useLayoutEffect(() => {
    if (!wanted || card.current === null) return
    card.current.scrollIntoView({ block: 'center' })
    card.current.focus({ preventScroll: true })
    useUi.setState({ reveal: null })
  }, [wanted])

  if (view === undefined) {
    return (
      <div className="rounded border border-line bg-panel px-3 py-2.5 text-ink-2">
        {failure === null ? 'Reading this request…' : <FailureText failure={failure} />}
      </div>
    )
  }
  const again = note?.again ?? null
  // The button that was pressed goes away with its state; the keyboard stays on the card it was used on.
  const keepFocus = (): void => {
    const focused = document.activeElement
    if (focused === null || focused === document.body) card.current?.focus({ preventScroll: true })
  }
  return (
    <>
      <ActionCard
        actions={{
          approve: (phrase) => void approve(view, phrase).then(keepFocus),
          deny: () => void deny(view).then(keepFocus),
          requestChanges: (words) => void requestChanges(view, words).then(keepFocus),
          preview: () => {
            setPreview({ kind: 'busy' })
            request('executions.preview', { id }).then(
              (got) => setPreview({ kind: 'shown', preview: got }),
              (error) => setPreview({ kind: 'failed', failure: failureOf(error) }),
            )
          },
          closePreview: () => setPreview(null),
          undo: () => void undo(id).then(keepFocus),
          show: reveal,
          showAlike: () => reveal(id, 'approvals'),
          askAlways: () => {
            const { approval } = view
            if (approval === null) return
            setAlways({ kind: 'reading' })
            request('approvals.alwaysOffer', { id: approval.id }).then(
              (offer) => setAlways({ kind: 'offer', offer }),
              (error) => setAlways({ kind: 'failed', failure: failureOf(error) }),
            )
          },
          approveAlways: (choice) => void approveAlways(view, choice).then(keepFocus),
          grant: () => openGrants(view),
          stop: () => void stop(id).then(keepFocus),
          start: () => void start(id).then(keepFocus),
          again: () => void runAgain(id).then(keepFocus),
          openWhole: () => setWhole(true),
          showAgain: () => {
            if (again !== null) reveal(again)
          },
        }}
        alike={alike}
        always={always}
        armed={armed}
        busy={note?.busy ?? null}
        cardRef={card}
        highlight={highlight}
        group={group}
        madeAgain={again !== null}
        madeUndo={note?.undo ?? null}
        output={
          output === undefined || output.text === ''
            ? null
            : { ...output, bytes: bytes ?? view.outputBytes, truncated: isCut(view, output.text) }
        }
        outputOpen={outputOpen}
        preview={preview}
        problem={note?.problem ?? null}
        takesBack={takesBack}
        view={view}
      />
      {whole ? <WholeOutput id={id} onClose={() => setWhole(false)} /> : null}
    </>
  )
}
