import type { LedgerEntry } from '../../../src-preload/contract'
import { visibleText } from '../../parts/visible'
import { RISK_WORD, STATE_WORD } from '../../parts/words'

type Data = LedgerEntry['data']

function text(data: Data, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = data[name]
    if (typeof value === 'string' && value !== '') return visibleText(value)
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  }
  return null
}

/** A word of a closed list as people say it; anything else as it is. */
function word(value: string | null): string | null {
  if (value === null) return null
  const states: Readonly<Record<string, string>> = STATE_WORD
  const risks: Readonly<Record<string, string>> = RISK_WORD
  return states[value] ?? risks[value] ?? value.replaceAll('_', ' ')
}

function shortened(value: string): string {
  const line = value.split('\n')[0] ?? ''
  return line.length > 140 ? `${line.slice(0, 139)}…` : line === value ? line : `${line} …`
}

function joined(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(' ')
}

/** Who did it, in words. */
export function actorWord(actor: string): string {
  if (actor === 'operator') return 'You'
  if (actor === 'main' || actor === 'agent') return 'The agent'
  if (actor === 'system' || actor === 'nomos') return 'Nomos'
  if (actor.startsWith('mcp:')) return `${actor.slice(4)} (over MCP)`
  return actor
}

/** What one ledger entry says, as a sentence and, where there is one, the command it is about. */
export function sentenceOf(entry: LedgerEntry): { readonly sentence: string; readonly command: string | null } {
  const { data } = entry
  const who = actorWord(entry.actor)
  const target = text(data, 'target')
  const on = target === null ? null : `on ${target}`
  const command = text(data, 'command')
  const risk = word(text(data, 'risk'))
  const state = word(text(data, 'state', 'outcome', 'verdict'))
  const reason = text(data, 'reason', 'stateReason', 'sentence', 'why')
  const because = reason === null ? null : `(${shortened(reason)})`
  const quoted = command === null ? null : shortened(command)
  const say = (...parts: readonly (string | null)[]) => ({ sentence: `${joined(...parts)}.`, command: quoted })
  switch (entry.kind) {
    case 'ledger.opened':
      return say('The ledger begins here')
    case 'execution.requested':
      return say(who, 'asked to run a command', on, risk === null ? null : `(${risk})`)
    case 'execution.started':
      return say('A command started', on)
    case 'execution.finished': {
      const exit = text(data, 'exitCode', 'exit')
      return say(
        'A command ended',
        on,
        state === null ? null : `as ${state}`,
        exit === null ? null : `with exit ${exit}`,
        because,
      )
    }
    case 'execution.settled':
      return say('A request was settled', on, state === null ? null : `as ${state}`, 'without running', because)
    case 'approval.requested':
      return say('Your answer was asked for', on, risk === null ? null : `(${risk})`)
    case 'approval.settled':
      return say(who, 'settled an approval', on, state === null ? null : `as ${state}`, because)
    case 'approval.refused':
      return say('An answer by', who === 'You' ? 'you' : who, 'came to nothing', because)
    case 'host.saved':
      return say(who, 'saved the host', text(data, 'slug', 'host'))
    case 'host.removed':
      return say(who, 'removed the host', text(data, 'slug', 'host'))
    case 'host.key-trusted':
      return say(who, 'trusted a key of the host', text(data, 'slug', 'host'))
    case 'setting.changed':
      return say(who, 'changed a setting:', text(data, 'name', 'setting', 'key') ?? 'see the detail')
    case 'policy.changed': {
      const on = data.on ?? data.value
      return say(
        who,
        'changed the policy:',
        text(data, 'name', 'switch', 'what') ?? 'see the detail',
        typeof on === 'boolean' ? (on ? 'is on' : 'is off') : null,
      )
    }
    case 'recovery':
      return say('Nomos cleared up after an unexpected end', because)
  }
}
