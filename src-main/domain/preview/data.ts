import { z } from 'zod'
import type { OptionNames } from '../shell'

const Names = z.string().regex(/^[a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*$/, 'names, separated by one space')
const Options = z
  .string()
  .regex(/^--?[A-Za-z0-9][A-Za-z0-9-]*(?: --?[A-Za-z0-9][A-Za-z0-9-]*)*$/, 'names of options, separated by one space')
const Sentence = z
  .string()
  .regex(/^[A-Z].*\.$/s, 'a sentence that begins with a capital letter and ends with a full stop')
const Label = z.string().regex(/^What [^.]+$/, 'a text that begins with "What"')

const Heading = z.string().regex(/^[A-Z].*:$/, 'a text that begins with a capital letter and ends with a colon')

/** One command with the reads its preview begins with. */
const Example = z.strictObject({ of: z.string().min(1), reads: z.array(z.string().min(1)) })

const shared = {
  id: z.string().regex(/^[a-z][a-z0-9-]*$/),
  label: Label,
  /** What the preview does not show. */
  note: Sentence.optional(),
  examples: z.array(Example).min(1),
  /** Commands that have no preview by this entry or any other. */
  never: z.array(z.string().min(1)).min(1),
}

const understood = {
  programs: Names,
  /** The sub-commands it is for, e.g. `compose up`; left out: the program has none. */
  commands: z.array(Names).min(1).optional(),
  /** Every option that is understood. With any other there is no preview. */
  flags: Options.optional(),
  values: Options.optional(),
  /** Options with a glued value or none. */
  optional: Options.optional(),
  /** What each operand must be, as a pattern of the whole word; left out: any word but the empty one. */
  operands: z.string().optional(),
  min: z.number().int().min(0).optional(),
  max: z.number().int().min(0).optional(),
  /** Of these options one must be there. */
  require: Options.optional(),
  /** With one of these there is no preview by this entry. */
  unless: Options.optional(),
}

/** `policies/preview.yaml`. */
export const PreviewFile = z.strictObject({
  previews: z
    .array(
      z.discriminatedUnion('form', [
        /** The same command with options that make it tell what it would do. */
        z.strictObject({
          form: z.literal('simulate'),
          ...shared,
          ...understood,
          add: Options,
          /** Options that are left out of the simulating form. */
          drop: Options.optional(),
        }),
        /** Another command, which shows what it is about. */
        z.strictObject({
          form: z.literal('instead'),
          ...shared,
          ...understood,
          /** Its words, or several with a heading each; `{operands}` stands for the operands, `{options}` for those of `pass`. */
          run: z.union([z.string().min(1), z.array(z.strictObject({ head: Heading, run: z.string().min(1) })).min(2)]),
          pass: Options.optional(),
          /** `keep`: `sudo` stays in front, as what it shows is another thing for root; `never`: with `sudo` the entry is not for it. */
          sudo: z.enum(['keep', 'never']).optional(),
        }),
        /** The objects that a manifest names, asked for one by one (`kubectl apply -f`). */
        z.strictObject({
          form: z.literal('objects'),
          ...shared,
          ...understood,
          /** Options whose value is a manifest. */
          files: Options,
          /** Options whose value is the namespace of what names none. */
          namespace: Options,
          /** As in `instead`. `run` shows the objects, `names` says by name which are there. */
          run: z.string().min(1),
          names: z.string().min(1),
          pass: Options.optional(),
        }),
        /** The files and folders it works on, counted. */
        z.strictObject({
          form: z.literal('count'),
          ...shared,
          ...understood,
          /** Options with which it goes into folders; left out: it always does. */
          recursive: Options.optional(),
          /** How many operands come before the paths (the mode of `chmod`). */
          skip: z.number().int().min(0).max(1).optional(),
          /** The last operand is where they go. */
          to: z.boolean().optional(),
        }),
        /** A file against what a script makes of it (`sed -i`). */
        z.strictObject({ form: z.literal('edit'), ...shared, ...understood }),
        /** A file against the one that is put in its place. */
        z.strictObject({ form: z.literal('copy'), ...shared, ...understood }),
        /** A file against what is written into it: `>` and `>>` behind a command that only reads. */
        z.strictObject({ form: z.literal('redirection'), ...shared }),
        /** A file against a here-document that `tee` writes into it. */
        z.strictObject({ form: z.literal('tee'), ...shared, ...understood }),
      ]),
    )
    .min(1),
})
export type PreviewFile = z.infer<typeof PreviewFile>
type Entry = PreviewFile['previews'][number]
export type EntryOf<F extends Entry['form']> = Extract<Entry, { form: F }>
/** An entry that is found by the name of a program. */
export type ProgramEntry = Exclude<Entry, { form: 'redirection' }>

const setOf = (text: string | undefined): ReadonlySet<string> => new Set(text?.split(' ') ?? [])

/** An entry with its names taken apart. */
export interface CompiledEntry<E extends ProgramEntry = ProgramEntry> {
  readonly entry: E
  readonly names: OptionNames
  readonly commands: readonly (readonly string[])[]
  readonly operand: RegExp | null
  readonly require: ReadonlySet<string>
  readonly unless: ReadonlySet<string>
}

/** How previews are made, ready for use. */
export interface PreviewRules {
  readonly programs: ReadonlyMap<string, readonly CompiledEntry[]>
  readonly redirection: EntryOf<'redirection'> | null
}

/** No previews at all: where the data cannot be used. */
export const NO_PREVIEWS: PreviewRules = { programs: new Map(), redirection: null }

/** @throws Error with a sentence for a pattern that is none. */
export function compilePreviews(file: PreviewFile): PreviewRules {
  const programs = new Map<string, CompiledEntry[]>()
  let redirection: EntryOf<'redirection'> | null = null
  for (const entry of file.previews) {
    if (entry.form === 'redirection') {
      if (redirection !== null) throw new Error(`"${entry.id}" is a second entry for redirections; keep one.`)
      redirection = entry
      continue
    }
    let operand: RegExp | null = null
    try {
      operand = entry.operands === undefined ? null : new RegExp(`^(?:${entry.operands})$`, 's')
    } catch {
      throw new Error(`"operands" of "${entry.id}" is not a regular expression. Mend the pattern.`)
    }
    const compiled: CompiledEntry = {
      entry,
      names: { flags: setOf(entry.flags), values: setOf(entry.values), optional: setOf(entry.optional) },
      commands: (entry.commands ?? []).map((words) => words.split(' ')),
      operand,
      require: setOf(entry.require),
      unless: setOf(entry.unless),
    }
    for (const name of entry.programs.split(' ')) programs.set(name, [...(programs.get(name) ?? []), compiled])
  }
  return { programs, redirection }
}
