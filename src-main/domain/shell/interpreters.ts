import type { Word } from './types'

/**
 * Which word of an interpreter's command line is the script it executes.
 * - `file`: that word; it may still be one that is only known at run time
 * - `inline`: the code stands on the command line itself (`-c`, `-e`)
 * - `stdin`: it reads its code from its input
 * - `none`: it executes no file of its own (a module by name, a program text of awk)
 * - `unclear`: an option that is not known here may or may not take the next word
 */
export type Operand =
  | { readonly kind: 'file'; readonly word: Word; readonly searched: boolean }
  | { readonly kind: 'inline' | 'stdin' | 'none' }
  | { readonly kind: 'unclear'; readonly option: string }

/** The options of an interpreter, by what they mean for the words behind them. Letters are short options. */
interface Options {
  /** Letters without a value. */
  readonly flags?: string
  /** Letters with a value: the rest of the word, or the next one. */
  readonly values?: string
  /** Letters whose value, if any, is the rest of the word. */
  readonly attached?: string
  /** Letters that may be followed by digits in the same word. */
  readonly digits?: string
  /** Letters whose value is the code. */
  readonly inline?: string
  /** Letters and long options that name a script file as their value. */
  readonly files?: string
  readonly longFiles?: RegExp
  readonly longFlags?: RegExp
  readonly longValues?: RegExp
  readonly longInline?: RegExp
  /** Ends the search: what follows is no file (`python -m`). */
  readonly none?: string
  /** Only the options name script files; the first operand is program text or data. */
  readonly optionsOnly?: boolean
  /** Options may stand behind operands. */
  readonly permuted?: boolean
  /** The script is looked for on PATH when its name has no slash. */
  readonly searched?: boolean
}

const SHELL: Options = {
  flags: 'abefhiklmnoprtuvxBCDEHOPTV',
  inline: 'c',
  longFiles: /^--(?:rcfile|init-file)$/,
  longFlags:
    /^--(?:norc|noprofile|posix|login|restricted|verbose|noediting|debugger|dump-strings|dump-po-strings|help|version)$/,
  longInline: /^--command$/,
}

const NODE: Options = {
  flags: 'chiv',
  values: 'rC',
  inline: 'ep',
  longInline: /^--(?:eval|print)$/,
  longValues:
    /^--(?:require|import|loader|experimental-loader|conditions|input-type|title|env-file|env-file-if-exists|icu-data-dir|openssl-config|redirect-warnings|diagnostic-dir|report-dir|report-directory|tsconfig|project)$/,
  longFlags:
    /^--(?:no-|trace-|experimental-|enable-|disable-|harmony|allow-|abort-|pending-|preserve-|throw-|use-|insecure-|force-|frozen-|zero-|verify-|inspect|watch|test|check|interactive|version|help|expose-gc|jitless|prof|cpu-prof|heap-prof|permission|track-heap-objects|transpile-only|esm|files|pretty|swc)/,
}

const KNOWN: readonly (readonly [RegExp, Options])[] = [
  [/^(?:sh|bash|dash|ash|zsh|ksh|ksh93|mksh|rbash|fish|csh|tcsh|yash|hush)$/, SHELL],
  [/^(?:source|\.)$/, { searched: true }],
  [
    /^(?:python|pypy)[\d.]*$/,
    {
      flags: 'bBdEhiIOPqRsSuvVx?',
      values: 'WXQ',
      inline: 'c',
      none: 'm',
      longValues: /^--check-hash-based-pycs$/,
      longFlags: /^--(?:version|help|help-env|help-xoptions|help-all)$/,
    },
  ],
  [/^(?:node|nodejs|tsx|ts-node)$/, NODE],
  [
    /^perl[\d.]*$/,
    {
      flags: 'acfghnpsStTuUvwWX',
      values: 'I',
      inline: 'eE',
      attached: 'iDFMmxdV',
      digits: '0lC',
      longFlags: /^--help$/,
    },
  ],
  [
    /^ruby[\d.]*$/,
    {
      flags: 'acdhlnpsSvwUy',
      values: 'IrCEX',
      inline: 'e',
      attached: '0FiKTWx',
      longFlags: /^--(?:enable|disable|jit|yjit|rjit|verbose|version|debug|copyright|help)/,
    },
  ],
  [/^php[\d.]*$/, { flags: 'aCinqvswelm?', values: 'cdtSgz', inline: 'rRBE', files: 'fF', longFiles: /^--file$/ }],
  [/^lua(?:jit)?[\d.]*$/, { flags: 'ivEW', values: 'lej' }],
  [/^(?:tclsh|wish)[\d.]*$/, {}],
  [/^expect$/, { flags: 'dDinNv', values: 'c', files: 'fb' }],
  [/^(?:Rscript|osascript)$/, { inline: 'e', values: 'ls', longFlags: /^--/ }],
  [
    /^(?:awk|gawk|mawk|nawk)$/,
    {
      flags: 'bcCghInNOPrsStVM',
      values: 'vFlLWi',
      inline: 'e',
      files: 'fE',
      longFiles: /^--(?:file|exec)$/,
      longFlags: /^--/,
      optionsOnly: true,
    },
  ],
  [
    /^(?:sed|gsed)$/,
    {
      flags: 'nrEsuz',
      values: 'el',
      attached: 'i',
      files: 'f',
      longFiles: /^--file$/,
      longValues: /^--(?:expression|line-length)$/,
      longFlags: /^--/,
      optionsOnly: true,
      permuted: true,
    },
  ],
]

/** True for a program whose first concrete operand is a script that it executes. `name` has no folder. */
export const isInterpreter = (name: string): boolean =>
  optionsOf(name) !== null || /^(?:deno|bun|java|pwsh)$/.test(name)

const optionsOf = (name: string): Options | null => KNOWN.find(([pattern]) => pattern.test(name))?.[1] ?? null

/**
 * The scripts that a command line of an interpreter executes, in order; more than one where an option names one as well
 * (`bash --rcfile a b`). Null for a program that is no interpreter. `name` is the program's name without its folder.
 */
export function scriptsOf(name: string, words: readonly Word[]): readonly Operand[] | null {
  if (name === 'deno') return deno(words)
  if (name === 'bun') return bun(words)
  if (name === 'java') {
    const at = words.findIndex(({ value }) => value === '-jar')
    const jar = at < 0 ? undefined : words[at + 1]
    return [jar === undefined ? { kind: 'none' } : file(jar)]
  }
  if (name === 'pwsh') {
    const at = words.findIndex(({ shape }) => /^-f(?:ile)?$/i.test(shape))
    const script = at < 0 ? words[1] : words[at + 1]
    return [script === undefined || script.shape.startsWith('-') ? { kind: 'none' } : file(script)]
  }
  const options = optionsOf(name)
  return options === null ? null : scan(words, options)
}

const file = (word: Word, searched = false): Operand => ({ kind: 'file', word, searched })

function scan(words: readonly Word[], options: Options): readonly Operand[] {
  const found: Operand[] = []
  let searched = options.searched === true
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as Word
    const text = word.value ?? word.shape
    if (text === '--') {
      const next = words[i + 1]
      return options.optionsOnly || next === undefined ? rest(found, options) : [...found, file(next, searched)]
    }
    // Reading from the input is asked for by name; a shell takes it for the end of its options.
    if (text === '-') return [...found, { kind: 'stdin' }]
    if (!/^[-+]./.test(text) || (text.startsWith('+') && options !== SHELL)) {
      if (options.permuted) continue
      return options.optionsOnly ? rest(found, options) : [...found, file(word, searched)]
    }
    if (word.value === null) return [...found, { kind: 'unclear', option: word.shape }]
    if (text.startsWith('--')) {
      const equals = text.indexOf('=')
      const name = equals < 0 ? text : text.slice(0, equals)
      if (options.longInline?.test(name)) return [...found, { kind: 'inline' }]
      if (options.longFiles?.test(name)) {
        const value = equals < 0 ? words[++i] : partOf(word, equals + 1)
        if (value !== undefined) found.push(file(value))
      } else if (options.longValues?.test(name)) {
        if (equals < 0) i++
      } else if (equals < 0 && !options.longFlags?.test(name)) return [...found, { kind: 'unclear', option: name }]
      continue
    }
    // Each `o` of a shell takes a word of its own, wherever it stands (`-euo pipefail`).
    const named = options === SHELL ? (text.match(/[oO]/g) ?? []).length : 0
    for (let k = 1; k < text.length; k++) {
      const letter = text[k] as string
      if (options === SHELL && letter === 's') return [...found, { kind: 'stdin' }]
      if (options.inline?.includes(letter)) return [...found, { kind: 'inline' }]
      if (options.none?.includes(letter)) return [...found, { kind: 'none' }]
      if (letter === 'S' && options.flags?.includes('S') && options !== SHELL) searched = true
      if (options.files?.includes(letter)) {
        const value = k === text.length - 1 ? words[++i] : partOf(word, k + 1)
        if (value !== undefined) found.push(file(value))
        break
      }
      if (options.values?.includes(letter)) {
        if (k === text.length - 1) i++
        break
      }
      if (options.attached?.includes(letter)) break
      if (options.digits?.includes(letter)) {
        while (/\d/.test(text[k + 1] ?? '')) k++
        continue
      }
      if (!options.flags?.includes(letter)) return [...found, { kind: 'unclear', option: text }]
    }
    i += named
  }
  return rest(found, options)
}

/** What is left when no operand came: the scripts that options named, or the input. */
function rest(found: readonly Operand[], options: Options): readonly Operand[] {
  if (found.length > 0) return found
  return [{ kind: options.optionsOnly ? 'none' : 'stdin' }]
}

const partOf = (word: Word, from: number): Word => ({
  ...word,
  value: word.value?.slice(from) ?? null,
  shape: word.shape.slice(from),
})

/** `deno run [options] file`. An option with a value always has it behind `=`, apart from a few. */
function deno(words: readonly Word[]): readonly Operand[] {
  const verb = words[1]?.value
  if (verb === 'eval' || verb === 'repl') return [{ kind: 'inline' }]
  if (verb !== 'run' && verb !== 'serve') {
    return verb !== null && verb !== undefined && /\.[cm]?[jt]sx?$/.test(verb)
      ? [file(words[1] as Word)]
      : [{ kind: 'none' }]
  }
  return scan(words.slice(1), {
    flags: 'ARWNESqr',
    values: 'cLP',
    longValues: /^--(?:config|import-map|cert|location|seed|env-file|preload|require)$/,
    longFlags: /^--/,
  })
}

/** `bun file`, `bun run file`: a word that is no path names a script of the package, which stays unbound as `npm run` does. */
function bun(words: readonly Word[]): readonly Operand[] {
  const from = words[1]?.value === 'run' ? 1 : 0
  const found = scan(words.slice(from), {
    flags: 'bi',
    values: 'rcd',
    inline: 'ep',
    longInline: /^--(?:eval|print)$/,
    longValues: /^--(?:preload|require|import|config|cwd|env-file)$/,
    longFlags: /^--/,
  })
  const named = found.some((one) => one.kind === 'file' && one.word.value !== null && !/[./]/.test(one.word.value))
  return named ? [{ kind: 'none' }] : found
}
