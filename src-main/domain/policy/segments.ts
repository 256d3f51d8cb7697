import type { Span } from '../../../src-preload/contract/model'
import { duplicates, toNull } from '../risk/classify'
import { harmlessAssignment } from '../risk/match'
import { findInvisible, parseShell, SHELLS, type SimpleCommand, suspectedName, unfold } from '../shell'
import { SHELL_ONLY } from '../shell/argv'
import { unsuitable } from './unsuitable'

/** One program a command would start, with exactly the words it would be given. */
export interface Segment {
  /** `argv[0]` is as typed (`rg`, `./rg`, `/usr/bin/rg`). Never empty. */
  readonly argv: readonly string[]
  readonly span: Span
  /** Behind plain `sudo`, or a program of its kind starts somewhere inside (`xargs sudo rm`, `find -exec doas rm {} +`). */
  readonly viaSudo: boolean
  /** Wrappers that were taken off, as typed, outermost first (`sudo`, `nice`, `/usr/bin/timeout`). */
  readonly wrappers: readonly string[]
}

/** A segment after the place was asked what its first word is there. */
export interface ResolvedSegment extends Segment {
  /** Absolute path the first word leads to, symlinks not followed; null when there is none or the place cannot tell. */
  readonly path: string | null
  /** The same with all symlinks followed. */
  readonly real: string | null
  /** Both lie in folders that only the administrator of the place can write (`safeBinTrustedDirs`). */
  readonly trusted: boolean
  /** Every wrapper lies in such a folder too. Without it a segment with wrappers is not trusted; nothing to say without wrappers. */
  readonly wrappersTrusted?: boolean
}

/** More segments than this are never matched: a payload behind sixty harmless commands is not looked for by anybody. */
export const MAX_SEGMENTS = 64

const MAX_UNWRAPPED = 8
const SYSTEM_FOLDER = /^\/(?:usr\/)?s?bin\/([^/]+)$/

/** The wrapper a word names: by its bare name or in a folder of the system. */
function wrapperName(word: string): string {
  return SYSTEM_FOLDER.exec(word)?.[1] ?? word
}

/** Gains rights, changes the root or the machine: never taken off, and an entry for the wrapper would let everything through. */
const NEVER: ReadonlySet<string> = new Set(
  'sudo-rs doas pkexec run0 su runuser sg setpriv capsh chroot nsenter unshare systemd-run busybox toybox'.split(' '),
)

/** What runs others with other rights. */
const PRIVILEGE: ReadonlySet<string> = new Set('sudo sudo-rs doas pkexec run0 su runuser sg'.split(' '))

const lastPart = (word: string): string => word.slice(word.lastIndexOf('/') + 1)

const NUMBER = /^-?\d+$/
const DURATION = /^\d+(?:\.\d+)?[smhd]?$/
const SIGNAL = /^[A-Z0-9]+$/i
const BUFFER = /^(?:0|L|\d+[KMG]?B?)$/

/** An option of a wrapper: a flag (null) or one with a value of a form, glued or as the next word. */
type Options = Readonly<Record<string, RegExp | null>>

const WRAPPERS: Readonly<
  Record<string, { readonly options: Options; readonly first?: RegExp; readonly glued?: RegExp }>
> = {
  nice: { options: { '-n': NUMBER, '--adjustment': NUMBER }, glued: /^-{1,2}\d+$/ },
  ionice: {
    options: {
      '-c': /^[0-3]$/,
      '-n': /^[0-7]$/,
      '-t': null,
      '--class': /^[0-3]$/,
      '--classdata': /^[0-7]$/,
      '--ignore': null,
    },
  },
  nohup: { options: {} },
  stdbuf: {
    options: { '-i': BUFFER, '-o': BUFFER, '-e': BUFFER, '--input': BUFFER, '--output': BUFFER, '--error': BUFFER },
  },
  time: { options: { '-p': null, '--portability': null, '-v': null, '--verbose': null } },
  timeout: {
    options: {
      '-k': DURATION,
      '--kill-after': DURATION,
      '-s': SIGNAL,
      '--signal': SIGNAL,
      '--foreground': null,
      '--preserve-status': null,
      '-v': null,
      '--verbose': null,
    },
    first: DURATION,
  },
  command: { options: {} },
  sudo: { options: { '-n': null, '--non-interactive': null } },
}

/** The words after a wrapper's own; null when its use is not understood, an empty list when it carries nothing. */
function carriedBy(name: string, words: readonly string[]): readonly string[] | null {
  if (name === 'env') return afterEnv(words)
  const wrapper = WRAPPERS[name]
  if (wrapper === undefined) return null
  let i = 1
  for (; i < words.length; i++) {
    const word = words[i] as string
    if (word === '--') {
      i++
      break
    }
    if (!word.startsWith('-') || word === '-') break
    if (wrapper.glued?.test(word)) continue
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const option = equals >= 0 ? word.slice(0, equals) : word.startsWith('--') ? word : word.slice(0, 2)
    if (!Object.hasOwn(wrapper.options, option)) return null
    const form = wrapper.options[option] as RegExp | null
    const own = equals >= 0 ? word.slice(equals + 1) : word.startsWith('--') ? null : word.slice(2)
    if (form === null) {
      // Clusters of flags are rare enough to be asked about.
      if (own !== null && own !== '') return null
      continue
    }
    const value = own === null || own === '' ? words[++i] : own
    if (value === undefined || !form.test(value)) return null
  }
  if (wrapper.first !== undefined) {
    if (!wrapper.first.test(words[i] ?? '')) return null
    i++
  }
  return words.slice(i)
}

function afterEnv(words: readonly string[]): readonly string[] | null {
  let i = 1
  if (words[i] === '--') i++
  for (; i < words.length; i++) {
    const word = words[i] as string
    const equals = word.indexOf('=')
    if (word.startsWith('-')) return null
    if (equals < 0) break
    if (!harmlessAssignment(word.slice(0, equals), word.slice(equals + 1))) return null
  }
  return words.slice(i)
}

/** What bash itself does differently from the file of that name: it sets variables, or evaluates its words. */
function actsInShell([name, ...rest]: readonly string[]): boolean {
  if (name === 'printf' || name === 'test' || name === '[') return rest.some((word) => /^-[vR]/.test(word))
  return false
}

/** `bash -c …`, `bash -s`, or no script at all: a text that is read again, from the command line or from what it is fed. */
function runsText([name = '', ...rest]: readonly string[]): boolean {
  if (!SHELLS.has(lastPart(name))) return false
  return (
    rest.every((word) => /^[-+]/.test(word)) ||
    rest.some((word) => word === '--command' || /^[-+][A-Za-z]*[cs][A-Za-z]*$/.test(word))
  )
}

/** `cat x | python3`: what it is fed is the program, and nobody has seen that. */
function runsWhatItIsFed([name = '', ...rest]: readonly string[], stage: number): boolean {
  return stage > 0 && unsuitable(name) === 'interpreter' && rest.every((word) => word.startsWith('-'))
}

function segmentOf(simple: SimpleCommand): Segment | null {
  const { place, assignments, redirections } = simple
  if (place.background || place.enclosures.length > 0 || place.functionName !== null) return null
  for (const { name, value, special } of assignments) {
    const text = value === null ? '' : value.value
    if (special || text === null || !harmlessAssignment(name, text)) return null
  }
  if (!redirections.every((one) => duplicates(one) || toNull(one))) return null
  let argv: readonly string[] = simple.words.map(({ value }) => value ?? '\0')
  if (argv.length === 0 || argv.some((word) => word.includes('\0'))) return null
  const wrappers: string[] = []
  let viaSudo = false
  for (;;) {
    const name = wrapperName(argv[0] as string)
    // A sudo in another folder is no plain one, and a doas is none anywhere.
    if (name === '' || NEVER.has(lastPart(name)) || (name !== 'sudo' && lastPart(name) === 'sudo')) return null
    if (name !== 'env' && !Object.hasOwn(WRAPPERS, name)) break
    // `sudo` counts as the first word only: a wrapper around it is no plain sudo.
    if (name === 'sudo' && wrappers.length > 0) return null
    const rest = carriedBy(name, argv)
    if (rest === null || wrappers.length >= MAX_UNWRAPPED) return null
    if (rest.length === 0) {
      // `env` and `nice` alone print something; the others alone are nothing.
      if (name !== 'env' && name !== 'nice') return null
      if (argv.length > 1) return null
      break
    }
    if (name === 'sudo') {
      viaSudo = true
      if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(rest[0] as string)) return null
    }
    // `command` is the shell itself; it is no file that could be somebody else's.
    if (name !== 'command') wrappers.push(argv[0] as string)
    else if (wrappers.length > 0) return null
    argv = rest
  }
  const name = argv[0] as string
  if (name.startsWith('-') || name.includes('=') || SHELL_ONLY.has(name)) return null
  if (actsInShell(argv) || runsText(argv) || runsWhatItIsFed(argv, place.stage)) return null
  return { argv, span: { start: simple.start, end: simple.end }, viaSudo, wrappers }
}

/**
 * True when there may be a `$'…'`: `$'\xff'` is a byte to the shell and a character to the parser. In other quotes (`'end$'`) the two
 * characters mean nothing; where a comment may hide quotes, nothing is assumed.
 */
function holdsAnsiQuotes(command: string): boolean {
  if (!command.includes("$'")) return false
  if (command.includes('#')) return true
  let quote = ''
  for (let i = 0; i < command.length; i++) {
    const c = command[i] as string
    if (quote === "'") {
      if (c === "'") quote = ''
    } else if (c === '\\') i++
    else if (quote === '"') {
      if (c === '"') quote = ''
    } else if (c === "'" || c === '"') quote = c
    else if (c === '$' && command[i + 1] === "'") return true
  }
  return false
}

/**
 * The programs a command starts, each with its exact words; null where that cannot be known: a substitution, a word that is only
 * settled at run time, a redirection other than to `/dev/null` or of descriptors, background, a loop or branch, a function, what only
 * a shell can do, a shell with a text, characters nobody sees, or a text that is too long.
 */
export function segmentsOf(command: string): readonly Segment[] | null {
  if (command.includes('\0') || holdsAnsiQuotes(command) || /\p{Surrogate}/u.test(command)) return null
  if (findInvisible(command) !== null) return null
  const parsed = parseShell(command)
  const { commands, plain, functions, findings, tooLarge, tooDeep } = parsed
  if (!plain || tooLarge || tooDeep || functions.length > 0 || findings.length > 0) return null
  if (commands.length === 0 || commands.length > MAX_SEGMENTS) return null
  const segments: Segment[] = []
  for (const simple of commands) {
    const segment = segmentOf(simple)
    if (segment === null) return null
    segments.push(segment)
  }
  const { invocations, cut } = unfold(parsed)
  if (cut) return null
  // `xargs sh -c …`: the entry for xargs says nothing about a text. Another machine's shell is that machine's.
  const text = invocations.some(
    ({ words, via, remote }) => via.length > 0 && !remote && runsText(words.map(({ shape }) => shape)),
  )
  if (text) return null
  const inside = invocations.filter(({ words, via }) => via.length > 0 && PRIVILEGE.has(suspectedName(words[0])))
  if (inside.length === 0) return segments
  return segments.map((segment) =>
    inside.some(({ words: [first] }) => first !== undefined && within(first, segment.span))
      ? { ...segment, viaSudo: true }
      : segment,
  )
}

const within = (inner: Span, outer: Span): boolean => inner.start >= outer.start && inner.end <= outer.end
