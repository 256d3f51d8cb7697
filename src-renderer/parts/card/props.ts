import type { ReactNode, Ref } from 'react'
import type { ExecutionView, Failure } from '../../../src-preload/contract'
import type { AlwaysChoice, AlwaysState } from './AlwaysPanel'
import type { PreviewState } from './PreviewPanel'

/** What a card can ask for; who binds it does the asking. */
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
