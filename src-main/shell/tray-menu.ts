import type { ExecutionView } from '../../src-preload/contract/model'
import { plainLine } from './plain'

/** What a waiting request is answered by. */
export interface AnswerTarget {
  readonly approvalId: string
  readonly executionId: string
  /** Of what stood there when it was shown. */
  readonly digest: string
}

/** The switches for everything. */
export type TraySwitch = 'pauseAutomatic' | 'askAboutEverything'

export type TrayAction =
  | { readonly do: 'open' }
  | { readonly do: 'approvals' }
  | { readonly do: 'review'; readonly executionId: string }
  | { readonly do: 'approve' | 'deny'; readonly target: AnswerTarget }
  | { readonly do: 'switch'; readonly name: TraySwitch; readonly on: boolean }
  | { readonly do: 'never-auto'; readonly target: string; readonly on: boolean }
  | { readonly do: 'quit' }

/** An entry of the menu, as plain data: what is compared before the menu is made anew. */
export type TrayEntry =
  | { readonly kind: 'separator' }
  | { readonly kind: 'label'; readonly label: string }
  | { readonly kind: 'action'; readonly label: string; readonly action: TrayAction }
  | { readonly kind: 'check'; readonly label: string; readonly checked: boolean; readonly action: TrayAction }
  | { readonly kind: 'menu'; readonly label: string; readonly entries: readonly TrayEntry[] }

export interface TrayState {
  /** In any order. */
  readonly pending: readonly ExecutionView[]
  readonly running: number
  readonly paused: boolean
  /** Everything is asked about. */
  readonly asking: boolean
  /** Every target there is, this computer first. */
  readonly targets: readonly string[]
  /** Targets where nothing runs by itself; one that is gone may be among them. */
  readonly neverAuto: readonly string[]
  /** null: nobody can tell. */
  readonly locked: boolean | null
}

export type TrayFace = 'idle' | 'running' | 'paused' | { readonly waiting: number }

/** Requests that stand in the menu themselves; the others are counted. */
export const MOST_ENTRIES = 10
/** Targets that stand in the menu themselves; the fleet room has the others. */
export const MOST_TARGETS = 20
const LONGEST_LABEL = 60
/** No name of a target is longer: two that were cut could look the same. */
const LONGEST_TARGET = 80

const RISK = {
  read_only: 'read',
  reversible_low: 'reversible',
  config_mutation: 'change',
  destructive: 'destructive',
} as const

const things = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** Newest first, those that stand in the menu. */
export function listed(pending: readonly ExecutionView[]): readonly ExecutionView[] {
  return pending
    .filter(({ approval }) => approval !== null && approval.state === 'pending')
    .sort((a, b) => b.requestedAt - a.requestedAt)
}

function entryOf(execution: ExecutionView, locked: boolean | null): readonly TrayEntry[] {
  const { approval } = execution
  if (approval === null) return []
  const target: AnswerTarget = { approvalId: approval.id, executionId: execution.id, digest: approval.digest }
  // Where nobody says that a card is not needed, it is.
  const here = execution.answerAt === 'anywhere'
  const approve: readonly TrayEntry[] =
    here && locked !== true ? [{ kind: 'action', label: 'Approve once', action: { do: 'approve', target } }] : []
  const note: readonly TrayEntry[] =
    here && locked === true ? [{ kind: 'label', label: 'The screen is locked: nothing is approved here' }] : []
  return [
    {
      kind: 'menu',
      label: plainLine(execution.command, LONGEST_LABEL),
      entries: [
        { kind: 'label', label: plainLine(`${RISK[execution.risk]} on ${execution.target}`, LONGEST_LABEL) },
        { kind: 'separator' },
        ...note,
        // A keyboard that opens the menu lands on its first entry, which must not be the one that runs something.
        { kind: 'action', label: 'Review…', action: { do: 'review', executionId: execution.id } },
        { kind: 'action', label: 'Deny', action: { do: 'deny', target } },
        ...approve,
      ],
    },
  ]
}

/** "Never automatic" for each target: first where it is on, since that is what somebody comes back for. */
function neverAutoEntries({ targets, neverAuto }: TrayState): readonly TrayEntry[] {
  const slugs = [...neverAuto, ...targets.filter((slug) => !neverAuto.includes(slug))]
  const more = slugs.length - MOST_TARGETS
  return [
    ...slugs.slice(0, MOST_TARGETS).map((target): TrayEntry => {
      const on = neverAuto.includes(target)
      return {
        kind: 'check',
        label: plainLine(target, LONGEST_TARGET),
        checked: on,
        action: { do: 'never-auto', target, on: !on },
      }
    }),
    ...(more > 0
      ? [{ kind: 'action', label: `and ${more} more, in the fleet room…`, action: { do: 'open' } } as const]
      : []),
  ]
}

/** The whole menu of the tray. */
export function trayMenu(state: TrayState): readonly TrayEntry[] {
  const waiting = listed(state.pending)
  const more = waiting.length - MOST_ENTRIES
  return [
    { kind: 'action', label: 'Open Nomos', action: { do: 'open' } },
    { kind: 'separator' },
    { kind: 'label', label: waiting.length === 0 ? 'Nothing waits' : things(waiting.length, 'waits', 'wait') },
    ...waiting.slice(0, MOST_ENTRIES).flatMap((execution) => entryOf(execution, state.locked)),
    ...(more > 0 ? [{ kind: 'action', label: `and ${more} more…`, action: { do: 'approvals' } } as const] : []),
    { kind: 'separator' },
    { kind: 'label', label: state.running === 0 ? 'Nothing runs' : things(state.running, 'runs', 'run') },
    {
      kind: 'check',
      label: 'Pause automatic runs',
      checked: state.paused,
      action: { do: 'switch', name: 'pauseAutomatic', on: !state.paused },
    },
    {
      kind: 'check',
      label: 'Ask about everything',
      checked: state.asking,
      action: { do: 'switch', name: 'askAboutEverything', on: !state.asking },
    },
    { kind: 'menu', label: 'Never automatic on', entries: neverAutoEntries(state) },
    { kind: 'separator' },
    { kind: 'action', label: 'Quit Nomos', action: { do: 'quit' } },
  ]
}

/** What the icon shows: what waits before all, since it needs somebody. */
export function trayFace(state: TrayState): TrayFace {
  const waiting = listed(state.pending).length
  if (waiting > 0) return { waiting }
  if (state.paused) return 'paused'
  return state.running > 0 ? 'running' : 'idle'
}

/** "Nomos: 2 wait, 1 runs, automatic runs paused" */
export function trayTip(state: TrayState): string {
  const waiting = listed(state.pending).length
  const parts = [
    ...(waiting > 0 ? [things(waiting, 'waits', 'wait')] : []),
    ...(state.running > 0 ? [things(state.running, 'runs', 'run')] : []),
    ...(state.paused ? ['automatic runs paused'] : []),
    ...(state.asking ? ['everything is asked about'] : []),
    ...(state.neverAuto.length > 0
      ? [`never automatic on ${things(state.neverAuto.length, 'target', 'targets')}`]
      : []),
  ]
  return parts.length === 0 ? 'Nomos: nothing waits' : `Nomos: ${parts.join(', ')}`
}
