import type { LedgerEntry } from '../../../src-preload/contract'
import { visibleText } from '../../parts/visible'
import { ANSWERED_FROM, RISK_WORD, STATE_WORD, surfaceWord } from '../../parts/words'

type Data = LedgerEntry['data']

/** What an entry is about, known from the entry of its request or from the card. */
export interface Subject {
  readonly target: string
  readonly command: string
}

function text(data: Data, name: string): string | null {
  const value = data[name]
  if (typeof value === 'string' && value !== '') return visibleText(value)
  return typeof value === 'number' ? String(value) : null
}

function inner(data: Data, outer: string, name: string): string | null {
  const value = data[outer]
  return typeof value === 'object' && value !== null ? text(value as Data, name) : null
}

function stateWord(value: string | null): string | null {
  if (value === null) return null
  const states: Readonly<Record<string, string>> = STATE_WORD
  return states[value] ?? value.replaceAll('_', ' ')
}

function shortened(value: string): string {
  const line = value.split('\n')[0] ?? ''
  if (line.length > 160) return `${line.slice(0, 159)}…`
  return line === value ? line : `${line} …`
}

const SWITCH_WORD: Readonly<Record<string, string>> = {
  askAboutEverything: 'Ask about everything',
  pauseAutomatic: 'Pause automatic runs',
}

const REFUSED_WORD: Readonly<Record<string, string>> = {
  already_settled: 'it was settled before',
  expired: 'it had expired',
  drift: 'what was shown was no longer what waited',
  wrong_phrase: 'the phrase was not the right one',
  phrase_paused: 'there were too many wrong phrases',
  forbidden: 'it was not the operator, or not the place to answer',
}

const ANNOUNCED_WORD: Readonly<Record<string, string>> = {
  window: 'in the window',
  notification: 'on a notification',
  tray: 'in the tray',
  cli: 'at a watching terminal',
}

/** Who did it, in words. */
export function actorWord(actor: string): string {
  if (actor === 'operator') return 'You'
  if (actor === 'main' || actor === 'agent') return 'The agent'
  if (actor === 'fallback') return 'The fallback'
  if (actor.startsWith('mcp:')) return `${visibleText(actor.slice(4))} (over MCP)`
  if (actor.startsWith('runbook:')) return `The runbook ${visibleText(actor.slice(8))}`
  if (['system', 'gate', 'time', 'recovery', 'nomos'].includes(actor)) return 'Nomos'
  return visibleText(actor)
}

/** What one ledger entry says, as a sentence and, where there is one, the command it is about. */
export function sentenceOf(
  entry: LedgerEntry,
  subject: Subject | null = null,
): { readonly sentence: string; readonly command: string | null } {
  const { data } = entry
  const who = actorWord(entry.actor)
  const target = text(data, 'target') ?? subject?.target ?? null
  const on = target === null ? '' : ` on ${target}`
  const command = text(data, 'command') ?? (subject === null ? null : visibleText(subject.command))
  const reason = text(data, 'reason') ?? text(data, 'stateReason')
  const because = reason === null ? '' : ` (${shortened(reason).replace(/\.$/, '')})`
  const say = (sentence: string) => ({
    sentence: `${sentence}.`,
    command: command === null ? null : shortened(command),
  })
  switch (entry.kind) {
    case 'ledger.opened':
      return say('The ledger begins here')
    case 'execution.requested': {
      if (data.again === true) return say(`The same was asked for again${on}`)
      const risks: Readonly<Record<string, string>> = RISK_WORD
      const risk = risks[text(data, 'risk') ?? '']
      return say(`${who} asked for a command${on}${risk === undefined ? '' : `: ${risk}`}${because}`)
    }
    case 'execution.started':
      return say(`The command started${on}`)
    case 'execution.finished': {
      const exit = text(data, 'exitCode')
      const state = stateWord(text(data, 'state'))
      return say(
        `The command ended${on}${state === null ? '' : `: ${state}`}${exit === null || exit === '0' ? '' : `, exit ${exit}`}${exit === null || exit === '0' ? because : ''}`,
      )
    }
    case 'execution.settled':
      return say(`The request was closed${on}: ${stateWord(text(data, 'state')) ?? 'settled'}${because}`)
    case 'approval.requested':
      return say(`An answer was asked for${on}${text(data, 'outcome') === 'confirm' ? ', with a typed phrase' : ''}`)
    case 'approval.settled': {
      const to = text(data, 'to') ?? 'settled'
      if (to === 'expired') return say(`Nobody answered in time${on}: it expired`)
      if (text(data, 'execution') === 'undeliverable') return say(`Nobody could be asked${on}: it was undeliverable`)
      const note = text(data, 'note')
      const surface = ANSWERED_FROM.find((one) => one === text(data, 'surface') && one !== 'window' && one !== 'system')
      const place = surface === undefined ? '' : ` ${surfaceWord(surface)}`
      return say(
        `${who} ${to === 'settled' ? 'settled' : to} it${on}${place}${note === null ? because : ` (${shortened(note).replace(/\.$/, '')})`}`,
      )
    }
    case 'approval.refused': {
      const code = text(data, 'code')
      const why = code === null ? because : `: ${REFUSED_WORD[code] ?? code.replaceAll('_', ' ')}`
      return say(`${who === 'You' ? 'Your answer' : `An answer of ${who}`} was refused${on}${why}`)
    }
    case 'approval.announced': {
      const shown = Array.isArray(data.shown) ? data.shown.map(String) : []
      return say(
        shown.length === 0
          ? `Nobody could be told that it waits${on}`
          : `It was shown${on}: ${shown.map((surface) => ANNOUNCED_WORD[surface] ?? surface).join(', ')}`,
      )
    }
    case 'undo.kept':
      return say(`What it changes${on} was kept, so that it can be put back`)
    case 'host.saved': {
      const slug = inner(data, 'host', 'slug') ?? text(data, 'slug') ?? 'unnamed'
      const before = text(data, 'replaces')
      return say(
        before === null
          ? `${who} added host:${slug}`
          : before === slug
            ? `${who} changed host:${slug}`
            : `${who} renamed host:${before} to host:${slug}`,
      )
    }
    case 'host.removed':
      return say(`${who} removed host:${text(data, 'slug') ?? 'unnamed'}`)
    case 'host.key-trusted':
      return say(`${who} trusted a key of host:${text(data, 'slug') ?? 'unnamed'}`)
    case 'setting.changed': {
      const name = text(data, 'name')
      const model = text(data, 'model')
      if (name === 'model') return say(`${who} set the model${model === null ? '' : ` to ${model}`}`)
      if (name === 'compound') {
        const every = text(data, 'compound') === 'every-segment'
        return say(
          `${who} ${every ? 'let lines of several reads run by themselves' : 'had lines of several commands always asked about'}`,
        )
      }
      return say(`${who} changed a setting${name === null ? '' : `: ${name}`}`)
    }
    case 'policy.changed': {
      const name = text(data, 'switch')
      if (name !== null) return say(`${who} switched “${SWITCH_WORD[name] ?? name}” ${data.on === true ? 'on' : 'off'}`)
      if (text(data, 'setAside') !== null) return say(`${who} set a broken policy file aside`)
      if (text(data, 'restored') !== null) return say(`${who} restored the last good copy of a policy file`)
      if (text(data, 'changed') !== null)
        return say(`A policy file was changed outside Nomos: ${text(data, 'changed')}`)
      if (text(data, 'grantRevoked') !== null) return say(`${who} revoked a grant`)
      const place = inner(data, 'grant', 'target')
      if (place !== null) {
        const { kinds } = data.grant as Data
        const names = Array.isArray(kinds)
          ? visibleText(kinds.filter((kind) => typeof kind === 'string').join(', '))
          : ''
        return say(`${who} granted ${names === '' ? 'commands' : names} on ${place} for a time`)
      }
      if (text(data, 'session') !== null) {
        if (data.cleared === true || data.elevated === false) return say(`${who} ended what was typed for a session`)
        return say(`${who} ${data.elevated === true ? 'raised a session' : 'changed the policy of a session'}`)
      }
      const what = text(data, 'what')
      if (what !== null) return say(`${who} changed the policy: ${what}`)
      return say(`${who} changed the policy`)
    }
    case 'recovery':
      return say(
        `Nomos set something right after a fault${text(data, 'what') === null ? because : `: ${text(data, 'what')}`}`,
      )
  }
}
