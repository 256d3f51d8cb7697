import { z } from 'zod'
import { EFFECT_KINDS, RISKS, type Risk } from '../../../src-preload/contract/model'

/** Words may be written as one string with spaces or as a list. */
const Words = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? value.split(/\s+/) : value).filter((word) => word !== ''))

const Pattern = z.string().superRefine((source, context) => {
  try {
    new RegExp(source)
  } catch {
    context.addIssue({ code: 'custom', message: 'is not a regular expression' })
  }
})

/**
 * What an option takes, by role:
 * - `flag` nothing; `optional` a value only when glued on (`--color=auto`, `-U3`)
 * - `text` any text; `number`; `path` a file whose name or metadata is looked at; `read` a file whose content is read; `local`
 *   the same, and never a name at another machine (`host:file`);
 *   `host` a network peer; `name` a word of letters, digits and `_.:-`; `plain` a text that
 *   names no file (`-o jsonpath=…`, never `-o go-template-file=…`); `pair` two texts (`jq --arg name value`)
 * - `script` a text that a shell will read (`su -c`); `command` the words up to `;` or `+`, which are a command (`find -exec`)
 */
export const OPTION_ROLES = [
  'flag',
  'optional',
  'text',
  'number',
  'path',
  'read',
  'local',
  'host',
  'name',
  'plain',
  'pair',
  'script',
  'command',
] as const
const OptionTable = z.strictObject({
  flag: Words.optional(),
  optional: Words.optional(),
  text: Words.optional(),
  number: Words.optional(),
  path: Words.optional(),
  read: Words.optional(),
  local: Words.optional(),
  host: Words.optional(),
  name: Words.optional(),
  plain: Words.optional(),
  pair: Words.optional(),
  script: Words.optional(),
  command: Words.optional(),
  /** Options whose value a pattern must match. */
  match: z.record(z.string(), Pattern).optional(),
})
type OptionTable = z.infer<typeof OptionTable>

/** Mini-languages that are judged by a parser of their own, in `scripts.ts`. */
export const SCRIPT_KINDS = ['sed', 'awk', 'jq', 'sql'] as const
export type ScriptKind = (typeof SCRIPT_KINDS)[number]

/** Sandbox profiles a program may be run in; `files` reads files and nothing else (no network, no other process, no `/tmp`, no `/run`). */
export const SANDBOX_PROFILES = ['files'] as const
export type SandboxProfile = (typeof SANDBOX_PROFILES)[number]

/** At least two names deep: a whole home or `/var` is no cache. */
const CachePaths = Words.superRefine((paths, context) => {
  for (const path of paths)
    if (!/^(?:~|\/[\w.-]+)(?:\/[\w.*-]*[\w-][\w.*-]*)+$/.test(path))
      context.addIssue({ code: 'custom', message: `${path} is not the path of a cache` })
})

/** Where a program runs the command it is given. */
export const CARRIERS = ['local', 'shell', 'remote'] as const
export type Carrier = (typeof CARRIERS)[number]

export interface FormData {
  summary?: string | undefined
  use?: string[] | undefined
  options?: OptionTable | undefined
  deny?: string[] | undefined
  complete?: boolean | undefined
  style?: 'getopt' | 'single' | undefined
  numeric?: boolean | undefined
  inherit?: boolean | undefined
  operands?: string[] | undefined
  min?: number | undefined
  require?: string[][] | undefined
  recursive?:
    | true
    | string[]
    | { options?: string[] | undefined; unless?: string[] | undefined; input?: boolean | undefined }
    | undefined
  unending?:
    | true
    | { options?: string[] | undefined; unless?: string[] | undefined; operands?: number | undefined }
    | undefined
  network?: boolean | undefined
  script?: ScriptKind | undefined
  carrier?: Carrier | undefined
  joined?: boolean | undefined
  assignments?: boolean | undefined
  appends?: boolean | undefined
  help?: boolean | string[] | undefined
  bare?: boolean | undefined
  dashes?: boolean | undefined
  harmless?: boolean | undefined
  paired?: boolean | undefined
  dashed?: boolean | undefined
  forms?: FormData[] | undefined
  commands?: Record<string, FormData | FormData[] | null> | undefined
}

const form = z.object({
  summary: z.string().optional(),
  use: Words.optional(),
  options: OptionTable.optional(),
  /** Known options that do more than read; they matter for abbreviations and for the reason given. */
  deny: Words.optional(),
  /** Every long option of the program is named here, so abbreviations can be resolved. */
  complete: z.boolean().optional(),
  /** `single`: options are whole words (`find -name`, `terraform -json`). */
  style: z.enum(['getopt', 'single']).optional(),
  /** `-20` is a number. */
  numeric: z.boolean().optional(),
  /** The options of the level above may also stand here. */
  inherit: z.boolean().optional(),
  /** Roles in order; the last one may end with `...`. `/…/` is a pattern the whole word must match. */
  operands: Words.optional(),
  min: z.number().int().optional(),
  /** Of each line at least one option must be there. */
  require: z.array(Words).optional(),
  /**
   * The options that make it read everything below a folder, or true when it always does; `unless` lists those that keep it from
   * that, `input` says that it reads what it is fed instead when nothing is named.
   */
  recursive: z
    .union([
      z.literal(true),
      z.strictObject({ options: Words.optional(), unless: Words.optional(), input: z.boolean().optional() }),
      Words,
    ])
    .optional(),
  unending: z
    .union([
      z.literal(true),
      z.strictObject({ options: Words.optional(), unless: Words.optional(), operands: z.number().int().optional() }),
    ])
    .optional(),
  network: z.boolean().optional(),
  /** The mini-language of its script operand or option; a parser of its own must find that it only reads. */
  script: z.enum(SCRIPT_KINDS).optional(),
  /**
   * Where the command that it starts runs (roles `command` and `script`): `local` by itself, `shell` read by a shell once more, `remote`
   * on another machine or in a container. The last two are reads in the posture `every-segment` only.
   */
  carrier: z.enum(CARRIERS).optional(),
  /** The words of the command are joined with spaces and read by a shell (`ssh`). */
  joined: z.boolean().optional(),
  /** `NAME=value` words may stand before the command (`env`). */
  assignments: z.boolean().optional(),
  /** Words that nobody knows yet are added to the command (`xargs`). */
  appends: z.boolean().optional(),
  /** `<program> [sub-command…] --help` is a read, for the sub-commands of the schema and for those listed here. */
  help: z.union([z.boolean(), Words]).optional(),
  /** With sub-commands: the program alone is a read as well. */
  bare: z.boolean().optional(),
  /** Words with a dash are operands like any other (`echo --- done`). */
  dashes: z.boolean().optional(),
  /** No option of the program does anything but read: what a wildcard becomes cannot do harm. */
  harmless: z.boolean().optional(),
  /** Of two operands one may be a folder: then the file in it that is named like the other one is read (`diff`). */
  paired: z.boolean().optional(),
  /** It looks for its options among the words of the command as well, unless `--` stands before them (`kubectl exec`). */
  dashed: z.boolean().optional(),
  get forms(): z.ZodOptional<z.ZodArray<z.ZodType<FormData>>> {
    return z.array(FormSchema).optional()
  },
  get commands(): z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodType<FormData | FormData[] | null>>> {
    return z.record(z.string(), z.union([FormSchema, z.array(FormSchema), z.null()])).optional()
  },
})
const FormSchema: z.ZodType<FormData> = z.lazy(() => form.strict()) as z.ZodType<FormData>

const ProgramSchema = form
  .extend({
    names: Words,
    summary: z.string(),
    /** The sandbox an automatic run of it may be put in without changing its answer; a test compares the two. */
    sandbox: z.enum(SANDBOX_PROFILES).optional(),
    /**
     * Caches and logs of its own that it writes although it only reads: a file, or a folder with all that is in it, `/…` or `~/…`; `*`
     * stands for anything within a name. The truth test lets it write there and nowhere else; the class of a command is not touched.
     */
    caches: CachePaths.optional(),
    read_only: z.array(z.string()).default([]),
    /** Reads in the posture `every-segment` only. */
    every_segment: z.array(z.string()).default([]),
    not_read_only: z.array(z.string()).default([]),
  })
  .strict()

const DestructiveSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9_]+$/),
  sentence: z.string(),
  programs: Words,
  /** The path of sub-commands; alternatives within one step are joined with `|`. */
  command: Words.optional(),
  /** Of each line at least one option must be there. */
  options: z.array(Words).optional(),
  /** One of these makes the rule not apply. */
  unless: Words.optional(),
  /** An option whose value must match. */
  values: z.record(z.string(), Pattern).optional(),
  /** At least one operand must match. */
  operands: Pattern.optional(),
  /** The arguments joined with one space must match. */
  text: Pattern.optional(),
  /** Only when carried by one of these. */
  via: Words.optional(),
  /** Only when one of these stands before it in the pipeline or in a substitution it is given. */
  fed_by: Words.optional(),
  ignore_case: z.boolean().optional(),
  effects: z.array(z.enum(EFFECT_KINDS)).default([]),
  destructive: z.array(z.string()).min(1),
  not_destructive: z.array(z.string()).min(1),
})

const TargetSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9_]+$/),
  sentence: z.string(),
  pattern: Pattern,
  unless: Pattern.optional(),
  destructive: z.array(z.string()).min(1),
  not_destructive: z.array(z.string()).min(1),
})

const SecretSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9_]+$/),
  sentence: z.string(),
  /** Matched against the whole path as written, `~` and variables included. */
  pattern: Pattern,
  unless: Pattern.optional(),
  /** File names a wildcard must not be able to match. */
  names: Words.default([]),
  destructive: z.array(z.string()).min(1),
  not_destructive: z.array(z.string()).min(1),
})

const TagSchema = z.strictObject({
  tag: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
  sentence: z.string(),
  /** The class a verdict becomes on a target with this tag; only ever a higher one. */
  raise: z.partialRecord(z.enum(RISKS), z.enum(RISKS)),
})

/** The content of one file under `policies/risk`. */
export const RuleFileSchema = z.strictObject({
  sets: z.record(z.string(), OptionTable).optional(),
  programs: z.array(ProgramSchema).optional(),
  destructive: z.array(DestructiveSchema).optional(),
  /** Files and devices that must not be written over by a redirection. */
  targets: z.array(TargetSchema).optional(),
  secrets: z.array(SecretSchema).optional(),
  /** Folders that hold secrets somewhere below: reading them recursively is not a plain read. */
  secret_folders: z.array(Pattern).optional(),
  /** Names of such folders that a wildcard must not be able to match. */
  secret_folder_names: Words.optional(),
  /** Folders without secrets of their own: there a wildcard is not held back for what it could match. */
  open_folders: z.array(Pattern).optional(),
  /** Folders whose content comes from another machine as soon as somebody looks. */
  network_folders: z.array(Pattern).optional(),
  /** Files that are changed or emptied by being read, or whose reading does something. */
  consumed: z.array(Pattern).optional(),
  /** Programs that hand on what a file holds; any operand that is a secret counts. */
  secret_readers: Words.optional(),
  /** Readers whose first operand is a pattern or a script. */
  secret_pattern_first: Words.optional(),
  /** Global options with a value, by program: needed to find the sub-command behind them. */
  value_options: z.record(z.string(), Words).optional(),
  /** Programs that read SQL, from an argument or from their input. */
  sql_clients: Words.optional(),
  /** Programs given a program text by an option, and those whose first operand is one. */
  inline_eval: z.record(z.string(), Words).optional(),
  inline_operand: Words.optional(),
  interactive: Words.optional(),
  /** What the tags of a target do to the class of a command. */
  tags: z.array(TagSchema).optional(),
})
export type RuleFileData = z.infer<typeof RuleFileSchema>

/** One rule file as parsed from YAML, with the name it is known by in messages. */
export interface RuleFile {
  readonly name: string
  readonly data: unknown
}

/** Says which field of which file cannot be used. */
export class RuleDataError extends Error {
  readonly file: string
  readonly path: readonly (string | number)[]
  readonly what: string
  constructor(file: string, path: readonly (string | number)[], what: string) {
    super(`${file} (${path.join('.') || 'top level'}): ${what}`)
    this.name = 'RuleDataError'
    this.file = file
    this.path = path
    this.what = what
  }
}

export type Role =
  | 'text'
  | 'number'
  | 'path'
  | 'read'
  | 'local'
  | 'host'
  | 'name'
  | 'plain'
  | 'print'
  | 'script'
  | 'command'
  | RegExp
export type OptionRole = 'flag' | 'optional' | 'pair' | Role

export interface Form {
  readonly summary: string
  readonly options: ReadonlyMap<string, OptionRole>
  readonly denied: ReadonlySet<string>
  readonly complete: boolean
  readonly single: boolean
  readonly numeric: boolean
  readonly operands: readonly Role[]
  readonly rest: Role | null
  readonly min: number
  readonly require: readonly (readonly string[])[]
  readonly recursive: {
    readonly options: readonly string[]
    readonly unless: readonly string[]
    readonly input: boolean
  } | null
  readonly unending:
    | true
    | { readonly options: readonly string[]; readonly unless: readonly string[]; readonly operands: number | null }
    | null
  readonly network: boolean
  readonly script: ScriptKind | null
  readonly carrier: Carrier
  readonly joined: boolean
  readonly assignments: boolean
  readonly appends: boolean
  readonly bare: boolean
  readonly dashes: boolean
  readonly harmless: boolean
  readonly paired: boolean
  readonly dashed: boolean
  readonly commands: ReadonlyMap<string, readonly Form[]> | null
}

export interface Program {
  readonly names: readonly string[]
  readonly summary: string
  /** See `sandbox` of the schema. */
  readonly sandbox: SandboxProfile | null
  /** See `caches` of the schema. */
  readonly caches: readonly string[]
  readonly help: ReadonlySet<string> | null
  readonly forms: readonly Form[]
}

export interface DestructiveRule {
  readonly id: string
  readonly sentence: string
  readonly command: readonly (readonly string[])[]
  readonly options: readonly (readonly string[])[]
  readonly unless: readonly string[]
  readonly values: readonly (readonly [string, RegExp])[]
  readonly operands: RegExp | null
  readonly text: RegExp | null
  readonly via: ReadonlySet<string> | null
  readonly fedBy: ReadonlySet<string> | null
  readonly ignoreCase: boolean
  readonly effects: readonly (typeof EFFECT_KINDS)[number][]
}

export interface PathRule {
  readonly id: string
  readonly sentence: string
  readonly pattern: RegExp
  readonly unless: RegExp | null
  readonly names: readonly string[]
}

/** What a tag of a target does to the class of a command. */
export interface TagRule {
  readonly tag: string
  readonly sentence: string
  readonly raise: ReadonlyMap<Risk, Risk>
}

export interface Example {
  readonly rule: string
  readonly command: string
  readonly expected: 'read_only' | 'every_segment' | 'not_read_only' | 'destructive' | 'not_destructive'
}

/** Compiled rule data. */
export interface RuleSet {
  /** Identifies the exact data the set was made from; it goes into the policy version of a plan. */
  readonly version: string
  readonly programs: ReadonlyMap<string, Program>
  readonly destructive: ReadonlyMap<string, readonly DestructiveRule[]>
  readonly targets: readonly PathRule[]
  readonly secrets: readonly PathRule[]
  /** Matches where any of them does: most paths are none, and one look is enough to tell. */
  readonly anySecret: RegExp
  readonly secretFolders: readonly RegExp[]
  readonly secretFolderNames: readonly string[]
  readonly openFolders: readonly RegExp[]
  /** Files that reading them changes or empties. */
  readonly consumed: readonly RegExp[]
  readonly networkFolders: readonly RegExp[]
  readonly secretReaders: ReadonlySet<string>
  readonly secretPatternFirst: ReadonlySet<string>
  readonly valueOptions: ReadonlyMap<string, ReadonlySet<string>>
  readonly sqlClients: ReadonlySet<string>
  readonly inlineEval: ReadonlyMap<string, readonly string[]>
  readonly inlineOperand: ReadonlySet<string>
  readonly interactive: ReadonlySet<string>
  readonly tags: ReadonlyMap<string, TagRule>
  /** Every example of the data; they are run as tests. */
  readonly examples: readonly Example[]
}

interface Context {
  readonly file: string
  readonly sets: Readonly<Record<string, OptionTable>>
  readonly patterns: Patterns
}

function addOptions(into: Map<string, OptionRole>, table: OptionTable, patterns: Patterns): void {
  for (const role of OPTION_ROLES) for (const option of table[role] ?? []) into.set(option, role)
  for (const [names, source] of Object.entries(table.match ?? {}))
    for (const option of names.split(' ')) into.set(option, pattern(source, patterns))
}

function checkOptions(table: OptionTable, file: string, path: readonly (string | number)[]): void {
  for (const role of OPTION_ROLES)
    for (const option of table[role] ?? [])
      if (option.length < 2 || (option[0] !== '-' && option[0] !== '+'))
        throw new RuleDataError(file, [...path, role], `${option} is not an option`)
}

const ROLES: ReadonlySet<string> = new Set([
  'text',
  'number',
  'path',
  'read',
  'local',
  'host',
  'name',
  'plain',
  'print',
  'script',
  'command',
])

/** Patterns are used again and again across programs; one object each is enough. */
type Patterns = Map<string, RegExp>

function role(text: string, patterns: Patterns): Role {
  if (ROLES.has(text)) return text as Exclude<Role, RegExp>
  const known = patterns.get(text)
  if (known) return known
  if (!text.startsWith('/') || !text.endsWith('/') || text.length < 3) throw new SyntaxError(`${text} is not a role`)
  return pattern(text.slice(1, -1), patterns)
}

function pattern(source: string, patterns: Patterns): RegExp {
  const key = `/${source}/`
  const compiled = patterns.get(key) ?? new RegExp(`^(?:${source})$`)
  patterns.set(key, compiled)
  return compiled
}

function rolesOf(data: FormData): { fixed: readonly string[]; rest: string | null } {
  const roles = (data.operands ?? []).filter((text) => text !== 'none')
  const last = roles[roles.length - 1]
  if (last?.endsWith('...')) return { fixed: roles.slice(0, -1), rest: last.slice(0, -3) }
  return { fixed: roles, rest: null }
}

/** Finds what a form cannot be compiled for, so that compiling can wait until its program is met. */
function checkForm(data: FormData, context: Context, path: readonly (string | number)[]): void {
  if (data.options) checkOptions(data.options, context.file, [...path, 'options'])
  for (const name of data.use ?? [])
    if (!context.sets[name]) throw new RuleDataError(context.file, [...path, 'use'], `there is no set named ${name}`)
  const { fixed, rest } = rolesOf(data)
  for (const text of rest === null ? fixed : [...fixed, rest])
    try {
      role(text, context.patterns)
    } catch {
      throw new RuleDataError(context.file, [...path, 'operands'], `${text} is not a role`)
    }
  data.forms?.forEach((one, i) => {
    checkForm(one, context, [...path, 'forms', i])
  })
  const seen = new Set<string>()
  for (const [names, sub] of Object.entries(data.commands ?? {})) {
    const here = [...path, 'commands', names]
    for (const name of names.split('|')) {
      if (seen.has(name)) throw new RuleDataError(context.file, here, `${name} is named twice`)
      seen.add(name)
    }
    if (Array.isArray(sub))
      sub.forEach((one, i) => {
        checkForm(one, context, [...here, i])
      })
    else if (sub) checkForm(sub, context, here)
  }
}

function compileForms(
  data: FormData,
  summary: string,
  above: ReadonlyMap<string, OptionRole> | null,
  context: Context,
): Form[] {
  if (data.forms) {
    const { forms, ...common } = data
    return forms.flatMap((one) =>
      compileForms({ ...common, ...one, options: merge(common.options, one.options) }, summary, above, context),
    )
  }
  const options = new Map<string, OptionRole>()
  if (data.inherit && above) for (const [name, value] of above) options.set(name, value)
  for (const name of data.use ?? []) addOptions(options, context.sets[name] ?? {}, context.patterns)
  if (data.options) addOptions(options, data.options, context.patterns)
  const { fixed, rest } = rolesOf(data)
  const own = data.summary ?? summary
  let commands: Map<string, readonly Form[]> | null = null
  if (data.commands) {
    commands = new Map()
    for (const [names, sub] of Object.entries(data.commands)) {
      const list = sub === null ? [{}] : Array.isArray(sub) ? sub : [sub]
      const compiled = list.flatMap((one) =>
        compileForms(
          { ...one, inherit: one.inherit ?? data.inherit, style: one.style ?? data.style },
          own,
          options,
          context,
        ),
      )
      for (const name of names.split('|')) commands.set(name, compiled)
    }
  }
  const { recursive, unending } = data
  return [
    {
      summary: own,
      options,
      denied: new Set(data.deny ?? []),
      complete: data.complete === true,
      single: data.style === 'single',
      numeric: data.numeric === true,
      operands: fixed.map((text) => role(text, context.patterns)),
      rest: rest === null ? null : role(rest, context.patterns),
      min: data.min ?? 0,
      require: data.require ?? [],
      recursive:
        recursive === undefined
          ? null
          : recursive === true
            ? { options: [], unless: [], input: false }
            : Array.isArray(recursive)
              ? { options: recursive, unless: [], input: false }
              : {
                  options: recursive.options ?? [],
                  unless: recursive.unless ?? [],
                  input: recursive.input === true,
                },
      unending:
        unending === undefined
          ? null
          : unending === true
            ? true
            : { options: unending.options ?? [], unless: unending.unless ?? [], operands: unending.operands ?? null },
      network: data.network === true,
      script: data.script ?? null,
      carrier: data.carrier ?? 'local',
      joined: data.joined === true,
      assignments: data.assignments === true,
      appends: data.appends === true,
      bare: data.bare === true,
      dashes: data.dashes === true,
      harmless: data.harmless === true,
      paired: data.paired === true,
      dashed: data.dashed === true,
      commands,
    },
  ]
}

function merge(a: OptionTable | undefined, b: OptionTable | undefined): OptionTable | undefined {
  if (!a || !b) return a ?? b
  const out: OptionTable = { ...a }
  for (const key of OPTION_ROLES) if (b[key]) out[key] = [...(a[key] ?? []), ...b[key]]
  if (b.match) out.match = { ...a.match, ...b.match }
  return out
}

/** A small stable digest (FNV-1a, twice): it names a version, it does not protect anything. */
function digest(text: string): string {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    a = Math.imul(a ^ c, 0x01000193)
    b = Math.imul(b ^ c, 0x85ebca6b) ^ (b >>> 13)
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0')
}

/** Validates and compiles the rule files. Throws a `RuleDataError` for the first one that cannot be used; half a policy is none. */
export function compileRules(files: readonly RuleFile[]): RuleSet {
  const programs = new Map<string, Program>()
  const destructive = new Map<string, DestructiveRule[]>()
  const targets: PathRule[] = []
  const secrets: PathRule[] = []
  const secretFolders: RegExp[] = []
  const secretFolderNames: string[] = []
  const openFolders: RegExp[] = []
  const consumed: RegExp[] = []
  const networkFolders: RegExp[] = []
  const secretReaders = new Set<string>()
  const secretPatternFirst = new Set<string>()
  const valueOptions = new Map<string, Set<string>>()
  const sqlClients = new Set<string>()
  const inlineEval = new Map<string, readonly string[]>()
  const inlineOperand = new Set<string>()
  const interactive = new Set<string>()
  const tags = new Map<string, TagRule>()
  const examples: Example[] = []
  const ids = new Set<string>()
  const patterns: Patterns = new Map()
  const note = (rule: string, expected: Example['expected'], commands: readonly string[]): void => {
    for (const command of commands) examples.push({ rule, command, expected })
  }
  const claim = (file: string, id: string): void => {
    if (ids.has(id)) throw new RuleDataError(file, ['id'], `${id} is used twice`)
    ids.add(id)
  }
  for (const { name: file, data } of files) {
    const parsed = RuleFileSchema.safeParse(data)
    if (!parsed.success) {
      const issue = deepest(parsed.error.issues)
      throw new RuleDataError(file, issue.path, issue.message)
    }
    const rules = parsed.data
    const context: Context = { file, sets: rules.sets ?? {}, patterns }
    for (const [set, table] of Object.entries(context.sets)) checkOptions(table, file, ['sets', set])
    rules.programs?.forEach((entry, index) => {
      const key = entry.names[0]
      if (!key) throw new RuleDataError(file, ['programs', index, 'names'], 'names at least one program')
      checkForm(entry, context, ['programs', index])
      // Compiled when the program is first met: most of the schemas are not needed in most sessions.
      let forms: readonly Form[] | null = null
      const program: Program = {
        names: entry.names,
        summary: entry.summary,
        sandbox: entry.sandbox ?? null,
        caches: entry.caches ?? [],
        help: entry.help === undefined || entry.help === false ? null : new Set(entry.help === true ? [] : entry.help),
        get forms() {
          forms ??= compileForms(entry, entry.summary, null, context)
          return forms
        },
      }
      for (const name of entry.names) {
        if (programs.has(name))
          throw new RuleDataError(file, ['programs', index, 'names'], `${name} has a schema already`)
        programs.set(name, program)
      }
      note(key, 'read_only', entry.read_only)
      note(key, 'every_segment', entry.every_segment)
      note(key, 'not_read_only', entry.not_read_only)
    })
    rules.destructive?.forEach((entry) => {
      claim(file, entry.id)
      const rule: DestructiveRule = {
        id: entry.id,
        sentence: entry.sentence,
        command: (entry.command ?? []).map((step) => step.split('|')),
        options: entry.options ?? [],
        unless: entry.unless ?? [],
        values: Object.entries(entry.values ?? {}).map(([option, source]) => [option, new RegExp(source)] as const),
        operands: entry.operands === undefined ? null : new RegExp(entry.operands, entry.ignore_case ? 'i' : ''),
        text: entry.text === undefined ? null : new RegExp(entry.text, entry.ignore_case ? 'i' : ''),
        via: entry.via ? new Set(entry.via) : null,
        fedBy: entry.fed_by ? new Set(entry.fed_by) : null,
        ignoreCase: entry.ignore_case === true,
        effects: entry.effects,
      }
      for (const name of entry.programs) {
        const list = destructive.get(name)
        if (list) list.push(rule)
        else destructive.set(name, [rule])
      }
      note(entry.id, 'destructive', entry.destructive)
      note(entry.id, 'not_destructive', entry.not_destructive)
    })
    const paths = (list: typeof rules.targets | typeof rules.secrets, into: PathRule[]): void => {
      for (const entry of list ?? []) {
        claim(file, entry.id)
        into.push({
          id: entry.id,
          sentence: entry.sentence,
          // Some file systems do not tell capital letters from small ones.
          pattern: new RegExp(entry.pattern, 'i'),
          unless: entry.unless === undefined ? null : new RegExp(entry.unless),
          names: 'names' in entry ? (entry.names as readonly string[]) : [],
        })
        note(entry.id, 'destructive', entry.destructive)
        note(entry.id, 'not_destructive', entry.not_destructive)
      }
    }
    paths(rules.targets, targets)
    paths(rules.secrets, secrets)
    for (const source of rules.secret_folders ?? []) secretFolders.push(new RegExp(source))
    secretFolderNames.push(...(rules.secret_folder_names ?? []))
    for (const source of rules.open_folders ?? []) openFolders.push(new RegExp(source))
    for (const source of rules.network_folders ?? []) networkFolders.push(new RegExp(source))
    for (const source of rules.consumed ?? []) consumed.push(new RegExp(source))
    for (const name of rules.secret_readers ?? []) secretReaders.add(name)
    for (const name of rules.secret_pattern_first ?? []) secretPatternFirst.add(name)
    for (const [name, list] of Object.entries(rules.value_options ?? {})) {
      const known = valueOptions.get(name) ?? new Set()
      for (const option of list) known.add(option)
      valueOptions.set(name, known)
    }
    for (const name of rules.sql_clients ?? []) sqlClients.add(name)
    for (const [name, list] of Object.entries(rules.inline_eval ?? {})) inlineEval.set(name, list)
    for (const name of rules.inline_operand ?? []) inlineOperand.add(name)
    for (const name of rules.interactive ?? []) interactive.add(name)
    rules.tags?.forEach((entry, index) => {
      const raise = new Map<Risk, Risk>()
      for (const [from, to] of Object.entries(entry.raise) as [Risk, Risk][]) {
        if (RISKS.indexOf(to) <= RISKS.indexOf(from))
          throw new RuleDataError(file, ['tags', index, 'raise', from], `a tag may only raise, and ${to} is no higher`)
        raise.set(from, to)
      }
      if (tags.has(entry.tag)) throw new RuleDataError(file, ['tags', index, 'tag'], `${entry.tag} is named twice`)
      tags.set(entry.tag, { tag: entry.tag, sentence: entry.sentence, raise })
    })
  }
  return {
    version: digest(JSON.stringify(files.map((file) => [file.name, file.data]))),
    programs,
    destructive,
    targets,
    secrets,
    anySecret: new RegExp(secrets.map(({ pattern: { source } }) => `(?:${source})`).join('|') || '(?!)', 'i'),
    secretFolders,
    secretFolderNames,
    openFolders,
    consumed,
    networkFolders,
    secretReaders,
    secretPatternFirst,
    valueOptions,
    sqlClients,
    inlineEval,
    inlineOperand,
    interactive,
    tags,
    examples,
  }
}

/** What the programs that were found to read may write for themselves: the paths of their schemas (`caches`), each once. */
export function cachesOf(reasons: readonly { readonly rule: string }[], { programs }: RuleSet): readonly string[] {
  const named = reasons.flatMap(({ rule }) => (rule.startsWith('program:') ? [rule.slice('program:'.length)] : []))
  return [...new Set(named.flatMap((name) => programs.get(name)?.caches ?? []))]
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly errors?: readonly (readonly Issue[])[]
}

/** Unions report one level for all their branches; the branch that came furthest says where the fault is. */
function deepest(issues: readonly Issue[]): { path: (string | number)[]; message: string } {
  let best: { path: (string | number)[]; message: string } = { path: [], message: 'is not valid' }
  let length = -1
  const visit = (list: readonly Issue[], prefix: readonly (string | number)[]): void => {
    for (const issue of list) {
      const path = [...prefix, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))]
      if (path.length > length) {
        length = path.length
        best = { path, message: issue.message }
      }
      for (const branch of issue.errors ?? []) visit(branch, path)
    }
  }
  visit(issues, [])
  return best
}
