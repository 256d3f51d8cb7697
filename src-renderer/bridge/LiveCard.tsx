import { useEffect, useRef, useState } from 'react'
import type { ExecutionView, Failure } from '../../src-preload/contract'
import { ActionCard } from '../parts/ActionCard'
import type { AlwaysState } from '../parts/AlwaysPanel'
import { headOf } from '../parts/command'
import { Dialog } from '../parts/Dialog'
import { FailureText } from '../parts/FailureText'
import { OutputReader } from '../parts/OutputReader'
import { size } from '../parts/time'
import { visibleText } from '../parts/visible'
import { failureOf, request } from './client'
import { approve, approveAlways, deny, reveal, runAgain, start, stop } from './desk'
import { openGrants } from './scope'
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

/** An action card bound to the stores: it shows what main last said of this execution, whoever changed it. */
export function LiveCard({ id, outputOpen = true }: { readonly id: string; readonly outputOpen?: boolean }) {
  const view = useExecutions((state) => state.byId[id])
  const output = useOutputs((state) => state.byId[id])
  const bytes = useOutputs((state) => state.bytes[id])
  const note = useCardNotes((state) => state.byId[id])
  const highlight = useWorld((world) => world.settings?.commandHighlighting ?? false)
  const armed = useUi((state) => state.armed === id)
  const wanted = useUi((state) => state.reveal === id)
  const [whole, setWhole] = useState(false)
  const [always, setAlways] = useState<AlwaysState | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const card = useRef<HTMLElement>(null)
  const missing = view === undefined
  const state = view?.state
  const longer = view !== undefined && view.outputBytes >= PERSISTED

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

  useEffect(() => {
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
          deny: (words) => void deny(view, words).then(keepFocus),
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
        always={always}
        armed={armed}
        busy={note?.busy ?? null}
        cardRef={card}
        highlight={highlight}
        madeAgain={again !== null}
        output={
          output === undefined || output.text === ''
            ? null
            : { ...output, bytes: bytes ?? view.outputBytes, truncated: isCut(view, output.text) }
        }
        outputOpen={outputOpen}
        problem={note?.problem ?? null}
        view={view}
      />
      {whole ? <WholeOutput id={id} onClose={() => setWhole(false)} /> : null}
    </>
  )
}
