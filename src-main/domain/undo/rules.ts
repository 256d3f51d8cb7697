import { z } from 'zod'
import { type Change, type Understood, understand } from './changes'

const Names = z.array(z.string().regex(/^[a-z][a-z0-9_.-]*$/, 'a bare name of a program')).min(1)
const OptionNames = z
  .string()
  .regex(
    /^(?:--?[A-Za-z0-9][A-Za-z0-9-]*)(?: --?[A-Za-z0-9][A-Za-z0-9-]*)*$/,
    'names of options, separated by one space',
  )

/** A command and, in short, what is to be seen in it: `file /a`, `unit nginx running`; empty: nothing is changed. */
const Covered = z.strictObject({ command: z.string().min(1), changes: z.array(z.string()) })
const Examples = { covers: z.array(Covered).min(1), never: z.array(z.string()).min(1) }

const FileProgram = z.strictObject({
  names: Names,
  summary: z.string(),
  /**
   * Which operands are changed. `each`: all of them, from `first` on · `copy`: the last one, or a file in it, under the name of each of
   * the others · `move`: the same, and the others are gone · `folders`: each is a folder that is made
   */
  changes: z.enum(['each', 'copy', 'move', 'folders']),
  /** What of them. */
  keeps: z.enum(['content', 'attributes', 'times']).optional(),
  first: z.number().int().min(0).max(2).optional(),
  /** Options without a value that change nothing about that. */
  flags: OptionNames.optional(),
  /** The same with a value, glued or as the next word. */
  values: OptionNames.optional(),
  /** It takes a folder with everything in it with these; that is not kept. */
  recursive: OptionNames.optional(),
  /** The last operand is never gone into: it is the name itself. */
  exact: OptionNames.optional(),
  /** Folders above are made as well. */
  parents: OptionNames.optional(),
  /** A link at the end of a path is followed, so that another file is changed than is named. */
  follows: z.boolean().optional(),
  /** It makes links: what is written to them afterwards goes elsewhere. */
  links: z.boolean().optional(),
  /** The operand before is a script of sed, which must do no more than edit; `-i` may name an ending for a copy. */
  sed: z.boolean().optional(),
  ...Examples,
})
export type FileProgram = z.infer<typeof FileProgram>

/** Verbs in order, separated by blanks; empty: nothing has to be done. */
const Verbs = z.string().regex(/^(?:[a-z-]+(?: [a-z-]+)*)?$/, 'verbs, separated by one space')

const Aspect = z.strictObject({
  /** What says the state in the answer to `read`: its first group. */
  pattern: z.string().refine((source) => {
    try {
      return new RegExp(source, 'm') instanceof RegExp
    } catch {
      return false
    }
  }, 'is not a regular expression'),
  /** States that count as another one. */
  same: z.record(z.string(), z.string()).optional(),
  /** From the state before to that of now to the verbs that lead back. What is not in here cannot be put back. */
  back: z.record(z.string(), z.record(z.string(), Verbs)),
})

const StateProgram = z.strictObject({
  names: Names,
  summary: z.string(),
  kind: z.enum(['unit', 'container']),
  flags: OptionNames.optional(),
  values: OptionNames.optional(),
  /** Options that say which manager is meant: they stand in the read and in the way back as well. */
  carried: OptionNames.optional(),
  /** The words that read the state, behind the program and what is carried; NAME stands for the name. */
  read: z.array(z.string()).min(1),
  /** In the order in which they are put back. */
  aspects: z.record(z.string(), Aspect),
  /** Verb to the aspects it changes. */
  verbs: z.record(z.string(), z.array(z.string()).min(1)),
  /** Verbs that end in the state they began with: what happens in between cannot be taken back. */
  again: z.array(z.string()).optional(),
  /** Option to the aspects that it adds. */
  adds: z.record(z.string(), z.array(z.string())).optional(),
  /** A verb with the old and the new name, and the words that read what a name belongs to. */
  rename: z.strictObject({ verb: z.string(), read: z.array(z.string()).min(1) }).optional(),
  ...Examples,
})
export type StateProgram = z.infer<typeof StateProgram>

/** `policies/undo.yaml`. */
export const UndoFile = z.strictObject({ files: z.array(FileProgram).min(1), states: z.array(StateProgram).min(1) })
export type UndoFile = z.infer<typeof UndoFile>

export interface UndoRules {
  readonly files: ReadonlyMap<string, FileProgram>
  readonly states: ReadonlyMap<string, StateProgram>
}

/** Knows no program: everything is unknown, so nothing is kept. */
export const NO_UNDO_RULES: UndoRules = { files: new Map(), states: new Map() }

/** Puts the file into a form to look things up in. */
export function compileUndo(file: UndoFile): UndoRules {
  const by = <T extends { readonly names: readonly string[] }>(list: readonly T[]): Map<string, T> =>
    new Map(list.flatMap((one) => one.names.map((name) => [name, one] as const)))
  return { files: by(file.files), states: by(file.states) }
}

export interface UndoFault {
  readonly path: readonly (string | number)[]
  readonly what: string
}

function inShort(change: Change): string {
  switch (change.kind) {
    case 'file':
      return `file ${change.path}${change.need === 'content' ? '' : ` ${change.need}`}`
    case 'copy':
    case 'move':
      return `${change.kind} ${change.sources.join(' ')} to ${change.target}`
    case 'folder':
      return `folder ${change.path}`
    case 'state':
      return `${change.program.kind} ${change.name} ${change.aspects.join(' ')}`
    case 'rename':
      return `rename ${change.from} to ${change.to}`
  }
}

/** What is seen in a command, one short line for each change; null where what it changes is not known. */
export function changesInShort(understood: Understood | null): readonly string[] | null {
  if (understood === null || (understood.partly && understood.changes.length === 0)) return null
  const lines = understood.changes.map(inShort)
  return understood.partly ? [...lines, 'more'] : lines
}

/** All that is wrong in the file: names used twice, aspects that are not there, and every example that does not hold. */
export function undoFaults(file: UndoFile): readonly UndoFault[] {
  const faults: UndoFault[] = []
  const seen = new Set<string>()
  const rules = compileUndo(file)
  // Which programs only read is the risk rules' word; an example needs no more than these.
  const onlyReads = (argv: readonly string[]): boolean => /^(?:echo|printf|cat|head|true)$/.test(argv[0] ?? '')
  for (const list of ['files', 'states'] as const)
    for (const [index, program] of file[list].entries()) {
      for (const name of program.names) {
        if (seen.has(name)) faults.push({ path: [list, index, 'names'], what: `${name} is named twice` })
        seen.add(name)
      }
      const examine = (command: string, path: (string | number)[], wanted: readonly string[] | null): void => {
        const found = changesInShort(understand(command, { rules, cwd: '/w', onlyReads }))
        if (JSON.stringify(found) === JSON.stringify(wanted)) return
        const say = (lines: readonly string[] | null): string =>
          lines === null ? 'not known' : JSON.stringify(lines.join(', '))
        faults.push({
          path,
          what: `${JSON.stringify(command)} should change ${say(wanted)}, and what is seen is ${say(found)}`,
        })
      }
      for (const [at, { command, changes }] of program.covers.entries())
        examine(command, [list, index, 'covers', at], changes)
      for (const [at, command] of program.never.entries()) examine(command, [list, index, 'never', at], null)
    }
  for (const [index, { aspects, verbs, adds, again }] of file.states.entries()) {
    const known = Object.keys(aspects)
    for (const [verb, names] of [...Object.entries(verbs), ...Object.entries(adds ?? {})])
      for (const name of names)
        if (!known.includes(name))
          faults.push({ path: ['states', index], what: `${verb} names the aspect ${name}, which is not there` })
    for (const verb of again ?? [])
      if (!Object.hasOwn(verbs, verb))
        faults.push({ path: ['states', index, 'again'], what: `${verb} is not among the verbs` })
  }
  return faults
}
