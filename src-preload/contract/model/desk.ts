import { z } from 'zod'
import { Risk } from './risk'

/** One place that depends on another; `steps` is 1 for a direct neighbour. */
export const Dependent = z.object({ slug: z.string(), kind: z.string(), steps: z.number().int().positive() }).readonly()
export type Dependent = z.infer<typeof Dependent>

/** What depends on the places a command changes, by the relationships that are known. At most 30 are named, `total` counts all. */
export const BlastRadius = z
  .object({
    /** The target and the known targets the command is carried on to. */
    targets: z.array(z.string()).readonly(),
    total: z.number().int().nonnegative(),
    dependents: z.array(Dependent).readonly(),
  })
  .readonly()
export type BlastRadius = z.infer<typeof BlastRadius>

/** One thing a command is known to change, and whether it can be put back afterwards. */
export const UndoItem = z
  .object({
    kind: z.enum(['file', 'unit', 'container']),
    /** Path, unit or name, redacted. */
    subject: z.string(),
    canPutBack: z.boolean(),
    /** What will be kept, or why it cannot be; one sentence. */
    sentence: z.string(),
    /** Size of what is kept, in bytes; null where nothing is. */
    bytes: z.number().int().nonnegative().nullable(),
  })
  .readonly()
export type UndoItem = z.infer<typeof UndoItem>

/**
 * What can be put back after a command, as it was seen when the request was made.
 * - `whole`: everything it is known to change · `part`: some of it · `none`: nothing of what it changes
 * - `unknown`: nobody knows what it changes, so nothing is kept
 */
export const UndoOffer = z
  .object({
    verdict: z.enum(['whole', 'part', 'none', 'unknown']),
    /** For the card: "Changes /etc/motd, which can be put back." */
    sentence: z.string(),
    items: z.array(UndoItem).readonly(),
  })
  .readonly()
export type UndoOffer = z.infer<typeof UndoOffer>

/** Whether a run can be taken back now. */
export const UndoState = z
  .object({
    /** `ready`: Undo can be asked for · `asked`: a request of it exists (`executionId`) · `gone`: what was kept is not there any more. */
    state: z.enum(['ready', 'asked', 'gone']),
    executionId: z.string().nullable(),
    sentence: z.string(),
  })
  .readonly()
export type UndoState = z.infer<typeof UndoState>

/** Where a waiting request may be answered: anywhere, on its card only (and at a terminal), or with the typed phrase. */
export const ANSWER_PLACES = ['anywhere', 'card', 'phrase'] as const
export const AnswerPlace = z.enum(ANSWER_PLACES)
export type AnswerPlace = z.infer<typeof AnswerPlace>

/** What would happen, without doing it. All text is redacted. */
export const PreviewView = z
  .object({
    kind: z.enum(['text', 'diff', 'count']),
    /** "What apt-get would do" */
    title: z.string(),
    /** The commands that were run for it, each of them read-only and through the gate. */
    commands: z.array(z.string()).readonly(),
    /** The text, or the unified lines of the difference. At most 256 KB; `truncated` says that more was there. */
    text: z.string(),
    truncated: z.boolean(),
    /** What it does not show, or how it was counted; null when there is nothing to say. */
    note: z.string().nullable(),
    at: z.number(),
  })
  .readonly()
export type PreviewView = z.infer<typeof PreviewView>

/** An approval as it was shown somewhere: its id and the digest that stood there. */
export const Shown = z.object({ id: z.string().min(1).max(64), digest: z.string().max(128) }).readonly()
export type Shown = z.infer<typeof Shown>

/** What became of one of several answers. */
export const AnswerResult = z
  .object({
    id: z.string(),
    ok: z.boolean(),
    /** The code of the failure; null when it was settled by this answer. */
    code: z.string().nullable(),
    sentence: z.string(),
  })
  .readonly()
export type AnswerResult = z.infer<typeof AnswerResult>

/** What the history of approvals can be narrowed to. Left out: all. */
export const HistoryFilter = z
  .strictObject({
    risks: z.array(Risk).max(4).optional(),
    target: z.string().max(128).optional(),
    /** A policy agent: `operator`, `main`, `mcp:<client>`, `runbook:<id>`. */
    agent: z.string().max(128).optional(),
    /** The place the answer came in by. */
    surface: z.string().max(32).optional(),
    /** Only requests that somebody was asked about. */
    asked: z.boolean().optional(),
    /** Part of the command or the purpose, in any case. */
    text: z.string().max(500).optional(),
  })
  .readonly()
export type HistoryFilter = z.infer<typeof HistoryFilter>

/** When the system's own notices are used: when no window of Nomos has the focus, always, or never. */
export const NotificationUse = z.enum(['away', 'always', 'never'])
export type NotificationUse = z.infer<typeof NotificationUse>

/** How Nomos lives on the desktop. */
export const DesktopSettings = z
  .object({
    /** Closing the last window keeps Nomos in the tray, where there is one. */
    closeToTray: z.boolean(),
    startHidden: z.boolean(),
    /** An entry that starts Nomos with the login. */
    autostart: z.boolean(),
    notifications: NotificationUse,
  })
  .readonly()
export type DesktopSettings = z.infer<typeof DesktopSettings>

/** What this desktop was found to have. A sentence each, for settings and doctor. */
export const DesktopStatus = z
  .object({
    tray: z.object({ available: z.boolean(), sentence: z.string() }).readonly(),
    notifications: z.object({ available: z.boolean(), buttons: z.boolean(), sentence: z.string() }).readonly(),
    autostart: z.object({ available: z.boolean(), on: z.boolean(), sentence: z.string() }).readonly(),
    /** Whether a locked screen can be told; where it cannot, tray and notices still refuse what takes a phrase. */
    lock: z.object({ known: z.boolean(), sentence: z.string() }).readonly(),
  })
  .readonly()
export type DesktopStatus = z.infer<typeof DesktopStatus>
