import { MAX_CARRIED, MAX_WRAPPERS } from './limits'
import { stageOutput } from './literal'
import { parseShell } from './parse'
import type { Finding, ParsedShell, SimpleCommand, Word } from './types'
import { SHELLS, suspectedName, type Unwrapped, unwrap } from './unwrap'

/** One program being started, by itself or through any number of wrappers. */
export interface Invocation {
  readonly words: readonly Word[]
  /** Names of the wrappers around it, outermost first. */
  readonly via: readonly string[]
  readonly command: SimpleCommand
  /** Text it reads on its standard input, when that is literal. */
  readonly input: string | null
  /** True when a command before it in its pipeline starts with or carries a program of this name. */
  readonly fedBy: (name: string) => boolean
  readonly remote: boolean
}

export interface Destination {
  readonly program: string
  readonly name: string
}

export interface Unfolded {
  readonly invocations: readonly Invocation[]
  /** Every command of the text and of every text it carries. */
  readonly commands: readonly SimpleCommand[]
  readonly functions: readonly string[]
  readonly findings: readonly Finding[]
  /** Other machines and containers that commands are carried on to, by the program that carries them. */
  readonly destinations: readonly Destination[]
  /** Texts that a shell will read again (`sh -c`, `ssh host …`), decoded. */
  readonly scripts: readonly string[]
  /** A cap was met on the way: there may be more. */
  readonly cut: boolean
}

const NOTHING: Unwrapped = { carried: [], remote: false }

/** Given no command, these hand what they are fed to a shell. */
const TAKES_SCRIPT: ReadonlySet<string> = new Set(['at', 'batch', 'ssh', 'su', 'runuser'])

/** A feeding program stands within the first words of its stage (`sudo -u bob env A=1 curl …`). */
const FEEDER_WORDS = 12

/** `${x:-rm}`: a variable nobody has set stands for what is written behind it. */
const FALLBACK = /^\$\{[A-Za-z_][A-Za-z0-9_]*:?[-=+]([\s\S]+)\}$/

/** `$(echo cm0= | base64 -d)` and `<(…)` as a whole word stand for their output, when literal text decides it. */
function resolved(word: Word): string {
  const fallback = word.dynamic.includes('expansion') ? FALLBACK.exec(word.shape)?.[1] : undefined
  if (fallback !== undefined) return fallback
  if (!word.dynamic.includes('substitution')) return word.shape
  if (word.shape.length < 4) return word.shape
  const match = /^(?:[$<]\(([\s\S]*)\)|`([^`]*)`)$/.exec(word.shape)
  const inner = match?.[1] ?? match?.[2]
  if (inner === undefined || inner.length > 4096) return word.shape
  let output: string | null = null
  const { commands, plain } = parseShell(inner, word)
  for (const command of commands) output = stageOutput(command, output)
  if (!plain) return word.shape
  return output === null ? word.shape : output.trim()
}

/** Lists every program a text starts, wrappers taken off to the end. Work is bounded by the caps of `limits`. */
export function unfold(parsed: ParsedShell): Unfolded {
  const invocations: Invocation[] = []
  const commands: SimpleCommand[] = []
  const functions: string[] = [...parsed.functions]
  const findings: Finding[] = []
  const destinations: Destination[] = []
  const scripts: string[] = []
  let carriedLength = 0
  let cut = false

  const script = (
    text: string,
    span: { start: number; end: number },
    via: readonly string[],
    remote: boolean,
  ): void => {
    carriedLength += text.length
    scripts.push(text)
    if (carriedLength > MAX_CARRIED || via.length > MAX_WRAPPERS) {
      cut = true
      return
    }
    const inner = parseShell(text, { start: span.start, end: span.end })
    functions.push(...inner.functions)
    findings.push(...inner.findings)
    list(inner.commands, via, remote)
  }

  const invoke = (
    command: SimpleCommand,
    words: readonly Word[],
    via: readonly string[],
    input: string | null,
    fedBy: (name: string) => boolean,
    remote: boolean,
  ): void => {
    const head = words[0]
    if (!head) return
    if (via.length > MAX_WRAPPERS) {
      cut = true
      return
    }
    if (head.dynamic.length > 0) {
      const text = resolved(head)
      // `X='rm -rf'; $X /`: the shell splits what comes out of a variable or a substitution.
      if (/\s/.test(text.trim()) && !text.includes('$(') && !text.includes('`')) {
        script(
          `${text} ${words
            .slice(1)
            .map((word) => word.shape)
            .join(' ')}`,
          head,
          [...via, '$'],
          remote,
        )
        return
      }
      if (text !== head.shape) {
        invoke(command, [{ ...head, shape: text, dynamic: ['unknown'] }, ...words.slice(1)], via, input, fedBy, remote)
        return
      }
    }
    invocations.push({ words, via, command, input, fedBy, remote })
    const name = suspectedName(head)
    const next = [...via, name]
    const unwrapped = unwrap(words) ?? (name === 'source' || name === '.' || TAKES_SCRIPT.has(name) ? NOTHING : null)
    if (!unwrapped) return
    if (unwrapped.destination) destinations.push({ program: name, name: unwrapped.destination })
    for (const carried of unwrapped.carried) {
      if (carried.kind === 'words') invoke(command, carried.words, next, input, fedBy, remote || unwrapped.remote)
      else {
        const whole = resolved({ ...command, value: null, shape: carried.text, dynamic: ['substitution'], prefix: '' })
        script(whole, carried.span, next, remote || unwrapped.remote)
      }
    }
    // `source <(echo …)`: the file is what comes out.
    if (SHELLS.has(name) || name === 'source' || name === '.')
      for (const word of words.slice(1)) {
        if (!word.shape.startsWith('<(') || !word.dynamic.includes('substitution')) continue
        const text = resolved(word)
        if (text !== word.shape) script(text, word, [...next, '<'], remote)
      }
    if (input !== null && (SHELLS.has(name) || TAKES_SCRIPT.has(name)) && unwrapped.carried.length === 0)
      script(input, command, [...next, '|'], remote || unwrapped.remote)
  }

  const list = (some: readonly SimpleCommand[], via: readonly string[], remote: boolean): void => {
    interface Pipeline {
      output: string | null
      readonly stages: SimpleCommand[]
      /** The first stage a program name was seen in; made when somebody asks. */
      names: Map<string, number> | null
    }
    const firstStage = (state: Pipeline, name: string): number | undefined => {
      if (state.names === null) {
        state.names = new Map()
        for (const { words, place } of state.stages)
          for (let i = 0; i < words.length && i < FEEDER_WORDS; i++) {
            const seen = suspectedName(words[i])
            if (!state.names.has(seen)) state.names.set(seen, place.stage)
          }
      }
      return state.names.get(name)
    }
    const pipelines = new Map<number, Pipeline>()
    for (const command of some) {
      commands.push(command)
      const { pipeline, stage } = command.place
      let state = pipelines.get(pipeline)
      if (!state) {
        state = { output: null, stages: [], names: null }
        pipelines.set(pipeline, state)
      }
      const own = state
      state.stages.push(command)
      state.names = null
      let input = stage > 0 ? state.output : null
      for (const redirection of command.redirections)
        if (redirection.operator === '<<<') input = redirection.target ? resolved(redirection.target) : null
        else if (redirection.body !== null) input = redirection.body
        else if (redirection.operator === '<' && redirection.target?.shape.startsWith('<(')) {
          const text = resolved(redirection.target)
          if (text !== redirection.target.shape) input = text
        }
      state.output = stageOutput(command, input)
      const fedBy = (name: string): boolean => (firstStage(own, name) ?? stage) < stage
      invoke(command, command.words, via, input, fedBy, remote)
    }
  }

  list(parsed.commands, [], false)
  return { invocations, commands, functions, findings, destinations, scripts, cut }
}

/** Each of these reaches the machine of the same name by SSH. */
const URL_OF_MACHINE = /\b(?:ssh|scp|sftp|rsync|git\+ssh|ssh\+git):\/\/(?:[^@/\s]*@)?(\[[^\]\s]*\]|[^:/\s'"]+)/gi
/** `HostName` names another machine than the one that is typed. */
const OTHER_NAME = /^(?:-[A-Za-z0-9]*o)?hostname[= \t]+"?([^"\s]+)"?$/i
const MACHINE_AND_PATH = /^(?:[^@/:]*@)?(\[[^\]]*\]|[^@/:]+):/
const MACHINE = /^(?:[^@/:]*@)?([^@/:]+)$/
/** Programs that take `[user@]machine:path` for a place at another machine. */
const TAKE_PLACES: ReadonlySet<string> = new Set([
  'scp',
  'sftp',
  'rsync',
  'sshfs',
  'git',
  'rdiff-backup',
  'borg',
  'unison',
])
/** And those that take the name alone. */
const TAKE_NAMES: ReadonlySet<string> = new Set(['sftp', 'ssh-copy-id'])

/** Machines that are reached without a command being carried there: files are, or the name of the machine stands in a place or an option. */
function machinesNamed(command: string, { invocations, scripts }: Unfolded): readonly Destination[] {
  const found: string[] = []
  for (const text of [command, ...scripts]) for (const [, name] of text.matchAll(URL_OF_MACHINE)) found.push(name ?? '')
  for (const { words } of invocations) {
    const name = suspectedName(words[0])
    for (const word of words.slice(1)) {
      const text = word.value ?? word.shape
      const named =
        OTHER_NAME.exec(text)?.[1] ??
        (TAKE_PLACES.has(name) ? MACHINE_AND_PATH.exec(text)?.[1] : undefined) ??
        (TAKE_NAMES.has(name) ? MACHINE.exec(text)?.[1] : undefined)
      if (named !== undefined) found.push(named)
    }
  }
  const names = new Set(found.map((name) => name.replace(/^\[|\]$/g, '').replace(/\.$/, '')))
  return [...names].map((name) => ({ program: 'ssh', name }))
}

/**
 * Where a text reaches (`ssh web1 …`, `pct exec 101 …`, `scp a web1:`) and the texts it has read by a shell again, wrappers taken
 * off.
 */
export function carriedBy(command: string): Pick<Unfolded, 'destinations' | 'scripts'> {
  const unfolded = unfold(parseShell(command))
  return {
    destinations: [...unfolded.destinations, ...machinesNamed(command, unfolded)],
    scripts: unfolded.scripts,
  }
}
