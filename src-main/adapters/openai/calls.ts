/** A tool call that is complete. */
export interface CompleteCall {
  readonly callId: string
  readonly name: string
  readonly arguments: string
}

interface Part {
  index: number | null
  id: string
  name: string
  text: string
}

/**
 * Puts tool calls together from what servers stream: fragments by index (the usual way), whole calls in one piece, several calls under
 * one index that differ in id, calls without index or id, arguments as an object instead of a text.
 */
export class CallCollector {
  readonly #parts: Part[] = []

  get empty(): boolean {
    return this.#parts.length === 0
  }

  add(delta: unknown): void {
    if (typeof delta !== 'object' || delta === null) return
    const { index, id, function: called } = delta as Readonly<Record<string, unknown>>
    const { name, arguments: args } = (typeof called === 'object' && called !== null ? called : {}) as Readonly<
      Record<string, unknown>
    >
    const fragment = {
      index: typeof index === 'number' ? index : null,
      id: typeof id === 'string' ? id : '',
      name: typeof name === 'string' ? name : '',
      text: typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args),
    }
    const part = this.#partFor(fragment)
    if (part === null) {
      this.#parts.push(fragment)
      return
    }
    if (part.id === '') part.id = fragment.id
    if (part.name === '') part.name = fragment.name
    part.text += fragment.text
  }

  /** All calls in the order they began, each with an id of its own. */
  complete(newId: () => string): readonly CompleteCall[] {
    const seen = new Set<string>()
    return this.#parts.map((part) => {
      const callId = part.id === '' || seen.has(part.id) ? newId() : part.id
      seen.add(callId)
      // A call without arguments is sent as nothing at all by some servers.
      return { callId, name: part.name, arguments: part.text === '' ? '{}' : part.text }
    })
  }

  #partFor(fragment: Part): Part | null {
    const last = this.#parts.at(-1) ?? null
    const candidate =
      fragment.index !== null ? (this.#parts.findLast((part) => part.index === fragment.index) ?? null) : last
    if (candidate === null) return null
    const begins = fragment.name !== ''
    if (begins && fragment.id !== '' && candidate.id !== '' && fragment.id !== candidate.id) return null
    // The same index (or none) again with a name: a repeated header while the arguments are incomplete, a new call after that.
    if (begins && candidate.name !== '' && isComplete(candidate.text) && fragment.text !== '') return null
    return candidate
  }
}

function isComplete(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
