/** One thing that may be repeated: a character, a class, a group. */
interface Atom {
  readonly source: string
  /** Alternatives of a group; null for anything else. */
  readonly group: readonly (readonly Atom[])[] | null
  /** Matches nothing by itself (`^`, `\b`, a look-around). */
  readonly empty: boolean
  /** May be there any number of times. */
  readonly repeated: boolean
  readonly optional: boolean
}

/** How long a bounded repetition may be before it counts as one without end. */
const MANY = 32

class Reader {
  private at = 0
  private readonly source: string
  constructor(source: string) {
    this.source = source
  }

  alternatives(): Atom[][] {
    const all: Atom[][] = [[]]
    while (this.at < this.source.length && this.source[this.at] !== ')') {
      if (this.source[this.at] === '|') {
        this.at++
        all.push([])
      } else (all.at(-1) as Atom[]).push(this.atom())
    }
    return all
  }

  private atom(): Atom {
    const from = this.at
    let group: Atom[][] | null = null
    let empty = false
    const c = this.source[this.at] as string
    if (c === '(') {
      const opened = /^\((?:\?(?::|<?[=!]|<[A-Za-z_]\w*>))?/.exec(this.source.slice(this.at))?.[0] ?? '('
      empty = /[=!]$/.test(opened)
      this.at += opened.length
      group = this.alternatives()
      this.at++
    } else if (c === '[') {
      this.at++
      while (this.at < this.source.length && this.source[this.at] !== ']')
        this.at += this.source[this.at] === '\\' ? 2 : 1
      this.at++
    } else if (c === '\\') {
      empty = /[bB]/.test(this.source[this.at + 1] ?? '')
      const long = /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})/.exec(
        this.source.slice(this.at),
      )?.[0]
      this.at += long?.length ?? 2
    } else {
      empty = c === '^' || c === '$'
      this.at++
    }
    const source = this.source.slice(from, this.at)
    const quantifier = /^(?:[*+?]|\{(\d*)(,?)(\d*)\})\??/.exec(this.source.slice(this.at))
    if (quantifier === null) return { source, group, empty, repeated: false, optional: false }
    this.at += quantifier[0].length
    const sign = quantifier[0][0]
    const most =
      quantifier[2] === ''
        ? Number(quantifier[1])
        : quantifier[3] === ''
          ? Number.POSITIVE_INFINITY
          : Number(quantifier[3])
    return {
      source,
      group,
      empty,
      repeated: sign === '*' || sign === '+' || (sign === '{' && most > MANY),
      optional: sign === '*' || sign === '?' || (sign === '{' && Number(quantifier[1]) === 0),
    }
  }
}

/** Characters that stand for all kinds a pattern can tell apart. */
const SAMPLES = [...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)), '\t', '\n', 'é', '漢']

function charactersOf(atom: Atom): ReadonlySet<string> {
  if (atom.group !== null) return new Set(atom.group.flatMap((one) => one.flatMap((part) => [...charactersOf(part)])))
  const pattern = new RegExp(`^(?:${atom.source})$`)
  return new Set(SAMPLES.filter((character) => pattern.test(character)))
}

const meet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => [...a].some((one) => b.has(one))

/** Every repetition below, however deep it stands. */
function repetitions(atoms: readonly Atom[]): Atom[] {
  return atoms.flatMap((atom) => [
    ...(atom.repeated && !atom.empty ? [atom] : []),
    ...(atom.group ?? []).flatMap((one) => repetitions(one)),
  ])
}

/**
 * What is repeated ends in only one way when it begins or ends with something that must be there and that the repetitions inside
 * cannot match: `(?:/[^/]+)*` is quick, `(?:[^/]+)*` is not.
 */
function clear(alternative: readonly Atom[]): boolean {
  const inside = repetitions(alternative)
  if (inside.length === 0) return true
  const solid = alternative.filter(({ empty }) => !empty)
  return [solid[0], solid.at(-1)].some((edge) => {
    if (edge === undefined || edge.optional || edge.repeated || edge.group !== null) return false
    const own = charactersOf(edge)
    return own.size > 0 && inside.every((one) => !meet(own, charactersOf(one)))
  })
}

function worst(alternatives: readonly (readonly Atom[])[]): string | null {
  for (const atoms of alternatives)
    for (const atom of atoms) {
      if (atom.group === null) continue
      if (atom.repeated && !atom.group.every(clear)) return atom.source
      const below = worst(atom.group)
      if (below !== null) return below
    }
  return null
}

/**
 * The group of a regular expression that repeats a repetition in a way that can take for ever, or null. A simple check: it may
 * blame a pattern that is quick, and it does not see two repetitions in a row.
 */
export function nestedRepetition(source: string): string | null {
  return worst(new Reader(source).alternatives())
}
