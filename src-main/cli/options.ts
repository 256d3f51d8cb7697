import { usage } from './exits'
import { nearest } from './near'

export interface OptionSpec {
  readonly [name: string]: { readonly kind: 'flag' | 'text' | 'list'; readonly short?: string }
}

type Values<S extends OptionSpec> = {
  readonly [K in keyof S]: S[K]['kind'] extends 'flag'
    ? boolean
    : S[K]['kind'] extends 'list'
      ? readonly string[]
      : string | null
}

export interface Parsed<S extends OptionSpec> {
  readonly options: Values<S>
  readonly rest: readonly string[]
}

/**
 * Reads `--name`, `--name value`, `--name=value` and one-letter short forms.
 * - `anywhere`: options and words may be mixed, `--` ends the options
 * - `before`: the first word ends the options, `--` too and is dropped: what follows is a command with options of its own
 * - `words-only`: the first word ends the options and `--` is a word like any other
 */
export function readOptions<const S extends OptionSpec>(
  args: readonly string[],
  spec: S,
  order: 'anywhere' | 'before' | 'words-only' = 'anywhere',
): Parsed<S> {
  const found: Record<string, boolean | string | null | string[]> = {}
  for (const [name, option] of Object.entries(spec))
    found[name] = option.kind === 'flag' ? false : option.kind === 'list' ? [] : null
  const rest: string[] = []
  let at = 0
  while (at < args.length) {
    const word = args[at] ?? ''
    if (word === '--' && order !== 'words-only') {
      rest.push(...args.slice(at + 1))
      break
    }
    if (!word.startsWith('-') || word === '-' || word === '--') {
      if (order === 'anywhere') {
        rest.push(word)
        at += 1
        continue
      }
      rest.push(...args.slice(at))
      break
    }
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const typed = equals === -1 ? word : word.slice(0, equals)
    const name = Object.keys(spec).find((key) => `--${key}` === typed || `-${spec[key]?.short}` === typed)
    const option = name === undefined ? undefined : spec[name]
    if (name === undefined || option === undefined) {
      const near = nearest(typed.replace(/^-+/, ''), Object.keys(spec))
      throw usage(`unknown option ${typed}.${near === null ? '' : ` Did you mean --${near}?`} See: nomos help`)
    }
    if (option.kind === 'flag') {
      if (equals !== -1) throw usage(`--${name} takes no value.`)
      found[name] = true
      at += 1
      continue
    }
    const value = equals === -1 ? args[at + 1] : word.slice(equals + 1)
    if (value === undefined) throw usage(`--${name} needs a value.`)
    const list = found[name]
    if (Array.isArray(list)) list.push(value)
    else found[name] = value
    at += equals === -1 ? 2 : 1
  }
  return { options: found as Values<S>, rest }
}

/** A whole number between `low` and `high`. */
export function readCount(name: string, text: string | null, fallback: number, low: number, high: number): number {
  if (text === null) return fallback
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < low || number > high)
    throw usage(`${name} takes a whole number from ${low} to ${high}, not ${JSON.stringify(text)}.`)
  return number
}
