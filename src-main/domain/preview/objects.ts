import { type Document, isScalar, parseAllDocuments, visit } from 'yaml'
import { z } from 'zod'

/** One object of a cluster as a manifest names it. */
export interface NamedObject {
  /** In small letters, as the cluster's own tool prints it. */
  readonly kind: string
  /** Empty for the core group. */
  readonly group: string
  readonly name: string
  readonly namespace: string | null
}

/** Characters of one manifest that are read at most: longer ones keep everything else waiting for too long. */
export const MOST_MANIFEST = 64 * 1024
/** Objects that one preview asks for at most. */
export const MOST_OBJECTS = 100
/** Lists within lists, at most. */
const DEEPEST = 3

const Name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9:._-]*$/)
const Manifest = z.object({
  apiVersion: z.string().regex(/^(?:[a-z0-9][a-z0-9.-]*\/)?v[a-z0-9]+$/),
  kind: z.string().regex(/^[A-Za-z][A-Za-z0-9]*$/),
  metadata: z.object({ name: Name, namespace: Name.nullish() }),
})
const List = z.object({ kind: z.string().regex(/List$/), items: z.array(z.unknown()) })

/** Ends of lines for YAML 1.1, which the cluster's own tool reads; for 1.2 a comment goes on behind them. */
const OTHER_LINE_ENDS = /\r(?!\n)|[\u0085\u2028\u2029]/
/** The end of a document that is not the end of the text. The tool reads nothing between this and the next `---`. */
const ENDS_EARLY = /^\.\.\.\s(?=[\s\S]*\S)/m

/** Why the tool may see other objects in a text than stand in it, in words; null where it sees the same. */
function readOtherwise(text: string): string | null {
  // A key without its last line takes all that comes behind it, and nobody can tell any more how much that was.
  if (text.includes('‹redacted: private key›')) return 'a private key was taken out of it, maybe with other lines.'
  if (OTHER_LINE_ENDS.test(text)) return 'it holds characters that end a line for some and not for others.'
  return ENDS_EARLY.test(text) ? 'something stands behind a line with "...".' : null
}

/** The same for what a document is made of. */
function ambiguous(document: Document.Parsed): string | null {
  if (document.warnings.length > 0) return 'it holds a tag of its own.'
  let fault: string | null = null
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>()
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value) : null
        // The tool knows the merging of YAML 1.1.
        if (name === null || name === '<<') fault = 'it merges mappings, or has a key that is no word.'
        else if (names.has(name)) fault = 'it has a key twice.'
        else names.add(name)
      }
      return fault === null ? undefined : visit.BREAK
    },
  })
  return fault
}

/** The objects of all documents of a manifest, or why they cannot be told, in words. */
export function namedObjects(text: string): readonly NamedObject[] | string {
  const objects: NamedObject[] = []
  const why = readOtherwise(text)
  if (why !== null) return why
  try {
    // Where a secret was taken out the colon would make a mapping of what was a word. No name can be that word.
    const plain = text.replace(/‹redacted[^›\n]*›/g, '‹redacted›')
    // Keys that occur twice are looked for below: the parser compares every key with every other one.
    for (const document of parseAllDocuments(plain, { logLevel: 'error', prettyErrors: false, uniqueKeys: false })) {
      if (!('toJS' in document)) continue
      if (document.errors.length > 0) return 'it is not valid YAML or JSON.'
      const fault = ambiguous(document) ?? collect(document.toJS({ maxAliasCount: 50 }), objects, 0)
      if (fault !== null) return fault
    }
  } catch {
    // Aliases that would become more than anybody can hold.
    return 'it cannot be read as YAML or JSON.'
  }
  return objects.length === 0 ? 'it names nothing.' : objects
}

function collect(value: unknown, into: NamedObject[], depth: number): string | null {
  if (value === null || value === undefined) return null
  const list = List.safeParse(value)
  if (list.success) {
    if (depth >= DEEPEST) return 'it holds lists within lists.'
    for (const item of list.data.items) {
      const fault = collect(item, into, depth + 1)
      if (fault !== null) return fault
    }
    return null
  }
  // The tool takes whatever has items for a list, and nothing else of it.
  if (typeof value === 'object' && 'items' in value) return 'something that is no list has items.'
  const manifest = Manifest.safeParse(value)
  if (!manifest.success) {
    const field = manifest.error.issues[0]?.path.join('.') ?? ''
    return `one of its objects has no plain ${field === '' ? 'form' : field}.`
  }
  const { apiVersion, kind, metadata } = manifest.data
  const slash = apiVersion.indexOf('/')
  into.push({
    kind: kind.toLowerCase(),
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    name: metadata.name,
    namespace: metadata.namespace ?? null,
  })
  return null
}

/** `deployment.apps/web`: what names it in a question, and in the answer. */
export const idOf = ({ kind, group, name }: NamedObject): string => `${kind}${group === '' ? '' : `.${group}`}/${name}`
