import { z } from 'zod'
import { Endpoint } from '../../src-preload/contract/model'
import { PathState } from '../domain/undo'
import type { KeptRow } from '../ports'

/** Where it was, so that nothing is ever put back at another machine of the same name. */
export const Place = z.object({
  kind: z.enum(['local', 'ssh', 'lxc']),
  endpoint: Endpoint.nullable(),
  user: z.string().nullable(),
  hostKeys: z
    .array(z.object({ algorithm: z.string(), fingerprint: z.string() }))
    .readonly()
    .nullable(),
})
export type Place = z.infer<typeof Place>

/** What is kept of one thing, beside the content. Stored as JSON; an older form than these is not put back. */
export const Kept = z.discriminatedUnion('is', [
  z.object({
    v: z.literal(1),
    is: z.literal('path'),
    place: Place,
    touch: z.object({
      path: z.string().startsWith('/'),
      need: z.enum(['place', 'times', 'attributes', 'content']),
      follows: z.boolean(),
      recursive: z.boolean(),
      sudo: z.boolean(),
      goes: z.string().nullable(),
      tree: z.boolean(),
      tangled: z.boolean(),
    }),
    state: PathState,
  }),
  z.object({
    v: z.literal(1),
    is: z.literal('state'),
    place: Place,
    /** Name of the program in the rules, and as it was typed with what is carried along. */
    program: z.string(),
    word: z.string(),
    carried: z.array(z.string()).readonly(),
    name: z.string(),
    aspects: z.array(z.string()).readonly(),
    sudo: z.boolean(),
    state: z.record(z.string(), z.string()),
  }),
  z.object({
    v: z.literal(1),
    is: z.literal('rename'),
    place: Place,
    program: z.string(),
    word: z.string(),
    sudo: z.boolean(),
    from: z.string(),
    to: z.string(),
    /** What the old name belonged to. */
    id: z.string(),
  }),
])
export type Kept = z.infer<typeof Kept>

/** How it was once the run had ended; null where nobody could tell. */
export const After = z.discriminatedUnion('is', [
  z.object({ is: z.literal('path'), state: PathState }),
  z.object({ is: z.literal('state'), state: z.record(z.string(), z.string()).nullable() }),
  z.object({ is: z.literal('rename'), from: z.string().nullable(), to: z.string().nullable() }),
])
export type After = z.infer<typeof After>

/** One thing that was kept of a run, as it is stored. */
export interface Row {
  readonly row: KeptRow
  readonly kept: Kept
  readonly after: After | null
}

/** What a row was found to be at this moment. */
export interface Now {
  readonly row: Row
  readonly after: After | null
  /** What a file holds now, where that was read. */
  readonly content: Uint8Array | null
}

/** The way back as it is at this moment. */
export interface BackNow {
  readonly now: readonly Now[]
  readonly commands: readonly string[]
  /** What is put back. */
  readonly put: readonly Row[]
  /** Of these, what is moved back from where the run has put it. */
  readonly moved: readonly Row[]
  readonly left: readonly string[]
  /** What is read from the input, in order. */
  readonly fileParts: readonly Row[]
  /** What others have changed since, in sentences. */
  readonly changed: readonly string[]
}
