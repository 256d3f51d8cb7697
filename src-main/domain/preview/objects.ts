import { parseAllDocuments } from 'yaml'
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

/** The objects of all documents of a manifest, or why they cannot be told, in words. */
export function namedObjects(text: string): readonly NamedObject[] | string {
  const objects: NamedObject[] = []
  try {
    // Where a secret was taken out the colon would make a mapping of what was a word. No name can be that word.
    const plain = text.replace(/‹redacted[^›\n]*›/g, '‹redacted›')
    for (const document of parseAllDocuments(plain, { logLevel: 'error' })) {
      if (!('toJS' in document)) continue
      if (document.errors.length > 0) return 'it is not valid YAML or JSON.'
      const fault = collect(document.toJS({ maxAliasCount: 50 }), objects, 0)
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
