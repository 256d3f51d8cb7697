import { Ask, Security } from '../../src-preload/contract/model'
import { ExecHost, type SessionOverride } from '../domain/policy'

/**
 * What the composer's text is: a `/run`, a change of the session's policy (`/exec`, `/elevated`), a message for the agent, or one of these
 * commands that cannot be carried out as typed. Only what an operator types is read here: the same words in a model's text, a
 * tool's output or a forwarded message are words.
 */
export type RunCommand =
  | { readonly kind: 'run'; readonly target: string; readonly purpose: string | null; readonly command: string }
  | {
      readonly kind: 'session'
      readonly change: SessionOverride
      /** What holds from now on, for people. */
      readonly sentence: string
    }
  | ({ readonly kind: 'approve' } & ApproveCommand)
  | { readonly kind: 'message' }
  | {
      readonly kind: 'invalid'
      readonly field: 'target' | 'why' | 'command' | 'text'
      /** What is wrong, with the value, and how to write it. */
      readonly message: string
    }

/** `/approve <id> allow-once|allow-always|deny`. */
export interface ApproveCommand {
  /** An id of an approval or a request, or the beginning of one. */
  readonly id: string
  readonly decision: 'allow-once' | 'allow-always' | 'deny'
  /** How long "allow-always" holds, in ms; null: the usual time. */
  readonly forMs: number | null
}

const FORM = '/run <target> [--why "reason"] <command>'
const MAX_PURPOSE = 2000

/** Only these separate words here, as in a shell. A no-break space is part of a word and is judged as such. */
const GAP = /^[ \t\r\n]+/
const WORD = /^[^ \t\r\n]+/

/**
 * Reads `/run <target> [--why "…"] <command>`. The command is kept byte for byte: one run of white space before it is cut, nothing
 * behind it, and `--` in it is never special. Anything that does not begin with `/run` is a message.
 */
export function parseRunCommand(text: string): RunCommand {
  const head = /^[ \t\r\n]*\/run(?=[ \t\r\n]|$)/.exec(text)
  if (head === null) return sessionCommand(text) ?? approveCommand(text) ?? unknownCommand(text) ?? { kind: 'message' }
  let rest = cutGap(text.slice(head[0].length))

  const target = WORD.exec(rest)?.[0]
  if (target === undefined) {
    return invalid('target', `The target is missing. Write ${FORM}, for example: /run local uname -a`)
  }
  if (target.includes('\0')) return nul('target')
  if (target.startsWith('--why')) {
    return invalid(
      'target',
      `The target is missing before ${quote(target)}. Write ${FORM}; --why comes after the target.`,
    )
  }
  rest = cutGap(rest.slice(target.length))

  let purpose: string | null = null
  const option = WORD.exec(rest)?.[0]
  if (option?.startsWith('--why=')) {
    return invalid('why', `The reason is written with a space: --why "reason", not ${quote(option)}.`)
  }
  if (option === '--why') {
    const why = readWhy(cutGap(rest.slice(option.length)))
    if (why.kind === 'invalid') return why
    purpose = why.text.trim() === '' ? null : why.text
    rest = why.rest
  }

  if (rest.trim() === '') {
    return invalid('command', `The command for ${quote(target)} is empty. Write it after the target: ${FORM}`)
  }
  if (rest.includes('\0')) return nul('command')
  return { kind: 'run', target, purpose, command: rest }
}

const EXEC_FORM = '/exec security=deny|allowlist|full ask=off|on-miss|always host=auto|local|node'
const ELEVATED_FORM = '/elevated full, or /elevated off'

/** `/exec security=… ask=… host=…` and `/elevated full|off`, alone in the message. */
function sessionCommand(text: string): RunCommand | null {
  const [name, ...words] = text.trim().split(/[ \t\r\n]+/)
  if (name === '/elevated') {
    const [mode, ...more] = words
    if (more.length > 0 || (mode !== 'full' && mode !== 'off'))
      return invalid('text', `Write ${ELEVATED_FORM}, not ${quote(text.trim())}.`)
    return mode === 'full'
      ? {
          kind: 'session',
          change: { elevated: true },
          sentence:
            'Elevated: in this session changes run without a question, as far as the policy of the host allows. What cannot be undone still takes its phrase. It ends with /elevated off, or with the app.',
        }
      : { kind: 'session', change: { elevated: false }, sentence: 'No longer elevated.' }
  }
  if (name !== '/exec') return null
  if (words.length === 0) return invalid('text', `What should hold? Write ${EXEC_FORM}`)
  const schemas = { security: Security, ask: Ask, host: ExecHost } as const
  const change: { -readonly [K in keyof typeof schemas]?: string } = {}
  for (const word of words) {
    const [key = '', value = '', ...more] = word.split('=')
    if (!Object.hasOwn(schemas, key) || more.length > 0)
      return invalid('text', `${quote(word)} is not one of security=…, ask=…, host=…. Write ${EXEC_FORM}`)
    const field = key as keyof typeof schemas
    if (!schemas[field].safeParse(value).success)
      return invalid('text', `${key} is ${quote(value)}; it may be ${schemas[field].options.join(', ')}.`)
    if (change[field] !== undefined) return invalid('text', `${key} is there twice.`)
    change[field] = value
  }
  const set = Object.entries(change).map(([key, value]) => `${key}=${value}`)
  return {
    kind: 'session',
    change: change as SessionOverride,
    sentence: `In this session: ${set.join(', ')}. The policy of the host still caps it.`,
  }
}

const APPROVE_FORM = '/approve <id> allow-once|allow-always|deny, with --for 8h for how long "always" holds'
const DECISIONS = ['allow-once', 'allow-always', 'deny'] as const
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const LONGEST_ALWAYS_MS = 365 * 86_400_000

/** `/approve <id> <decision> [--for <time>]`, alone in the message. */
function approveCommand(text: string): RunCommand | null {
  const [name, id, word, ...more] = text.trim().split(/[ \t\r\n]+/)
  if (name !== '/approve') return null
  if (id === undefined) return invalid('text', `Which request? Write ${APPROVE_FORM}.`)
  // What every id begins with names none of them.
  if (!/^(?:[a-z]{3}_)?[A-Za-z0-9]{4,60}$/.test(id))
    return invalid(
      'text',
      `${quote(id)} is no id: it takes at least four letters and digits of one that stands on a card, with or without "apr_".`,
    )
  const decision = DECISIONS.find((one) => one === word)
  if (decision === undefined)
    return invalid(
      'text',
      `${word === undefined ? 'The answer is missing' : `${quote(word)} is no answer`}. Write ${APPROVE_FORM}.`,
    )
  if (more.length === 0) return { kind: 'approve', id, decision, forMs: null }
  const [option, time, ...rest] = more
  if (option !== '--for' || rest.length > 0)
    return invalid('text', `Not understood: ${quote(more.join(' '))}. Write ${APPROVE_FORM}.`)
  if (decision !== 'allow-always') return invalid('text', '--for says how long allow-always holds; leave it out here.')
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(time ?? '') ?? []
  const forMs = Number(count ?? 0) * (UNITS[unit ?? ''] ?? 0)
  if (forMs <= 0 || forMs > LONGEST_ALWAYS_MS)
    return invalid('text', `--for takes a time such as 30m, 8h or 7d, at most 365d, not ${quote(time ?? '')}.`)
  return { kind: 'approve', id, decision, forMs }
}

/** A slip such as `/rum local …` must not leave the machine as a message. A path (`/etc/hosts is …`) is no command. */
function unknownCommand(text: string): RunCommand | null {
  const word = /^[ \t\r\n]*(\/[A-Za-z][A-Za-z-]*)(?=[ \t\r\n]|$)/.exec(text)?.[1]
  if (word === undefined) return null
  return invalid(
    'command',
    `There is no command ${quote(word)}. Known: /run, /approve, /exec, /elevated. Write ${FORM}, or begin the message with another word.`,
  )
}

type Why =
  | { readonly kind: 'why'; readonly text: string; readonly rest: string }
  | Extract<RunCommand, { kind: 'invalid' }>

function readWhy(text: string): Why {
  const mark = text[0]
  if (mark === undefined) {
    return invalid('why', `The reason after --why is missing. Write --why "reason", then the command.`)
  }
  let why: string
  let end: number
  if (mark === '"' || mark === "'") {
    const quoted = mark === '"' ? /^"((?:[^"\\]|\\[\s\S])*)"/.exec(text) : /^'([^']*)'/.exec(text)
    if (quoted === null) {
      return invalid(
        'why',
        `The reason after --why has no closing ${mark}: ${quote(text)}. Close the quote, then write the command.`,
      )
    }
    const inner = quoted[1] ?? ''
    why = mark === '"' ? inner.replace(/\\(["\\])/g, '$1') : inner
    end = quoted[0].length
  } else {
    why = WORD.exec(text)?.[0] ?? ''
    end = why.length
  }
  const behind = text.slice(end)
  if (behind !== '' && !GAP.test(behind)) {
    return invalid('why', `The reason after --why must be followed by a space, not by ${quote(behind)}.`)
  }
  if (why.includes('\0')) return nul('why')
  if (why.length > MAX_PURPOSE) {
    return invalid(
      'why',
      `The reason after --why has ${why.length} characters; at most ${MAX_PURPOSE} are kept. Shorten it.`,
    )
  }
  return { kind: 'why', text: why, rest: cutGap(behind) }
}

function cutGap(text: string): string {
  return text.replace(GAP, '')
}

function quote(value: string): string {
  const short = value.length > 60 ? `${value.slice(0, 60)}…` : value
  return JSON.stringify(short)
}

function nul(field: 'target' | 'why' | 'command'): Extract<RunCommand, { kind: 'invalid' }> {
  const name = field === 'why' ? 'reason' : field
  return invalid(field, `The ${name} holds a NUL character, which a shell drops silently. Remove it and send again.`)
}

function invalid(
  field: 'target' | 'why' | 'command' | 'text',
  message: string,
): Extract<RunCommand, { kind: 'invalid' }> {
  return { kind: 'invalid', field, message }
}
