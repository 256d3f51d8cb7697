import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idOf, namedObjects } from './objects'

const ids = (text: string): readonly string[] | string => {
  const named = namedObjects(text)
  return typeof named === 'string' ? named : named.map((one) => `${one.namespace ?? ''}:${idOf(one)}`)
}

describe('the objects of a manifest', () => {
  it('are those of every document, of lists, and of JSON', () => {
    expect(
      ids(
        '# the shop\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n---\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: "web"\n',
      ),
    ).toEqual(['shop:deployment.apps/web', ':service/web'])
    expect(
      ids(
        '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"system:web"}}]}',
      ),
    ).toEqual([':clusterrole.rbac.authorization.k8s.io/system:web'])
  })
  it('cannot be told where one has no plain name, kind or group', () => {
    const of = (fields: string): string => `{apiVersion: v1, kind: Pod, metadata: {name: a}, ${fields}}`
    expect(ids('kind: Job\napiVersion: batch/v1\nmetadata: {generateName: a-}\n')).toContain('metadata.name')
    for (const [text, what] of [
      ['{apiVersion: v1, kind: Pod, metadata: {name: "--kubeconfig=x"}}', 'metadata.name'],
      ['{apiVersion: v1, kind: Pod, metadata: {name: "a,b"}}', 'metadata.name'],
      ['{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: "-A"}}', 'metadata.namespace'],
      ['{apiVersion: v1, kind: "pod/a", metadata: {name: a}}', 'kind'],
      ['{apiVersion: "http://evil.example/v1", kind: Pod, metadata: {name: a}}', 'apiVersion'],
      ['{kind: Pod, metadata: {name: a}}', 'apiVersion'],
      ['just a text', 'form'],
      ['a: [', 'not valid'],
      ['', 'names nothing'],
      [`${of('')}\n---\nsecret: x\n`, 'apiVersion'],
    ] as const)
      expect(ids(text), text).toContain(what)
  })
  it('are told although secrets were taken out of it, unless a name was one', () => {
    const secret =
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: NAME\nstringData:\n  password: ‹redacted: secret›\n'
    expect(ids(secret.replace('NAME', 'db'))).toEqual([':secret/db'])
    expect(ids(secret.replace('NAME', '‹redacted: token›'))).toContain('metadata.name')
  })
  it('cannot be told where the tool of the cluster reads it in another way', () => {
    const pod = (metadata: string): string => `apiVersion: v1\nkind: Pod\nmetadata: ${metadata}\n`
    for (const [text, what] of [
      // It merges, and so it takes the namespace from there.
      [`x: &x {namespace: prod}\n${pod('{name: a, <<: *x}')}`, 'merge'],
      [pod('{name: a, name: b}'), 'twice'],
      [pod('{name: !own a}'), 'tag'],
      [pod('{name: !!binary Zm9vYmFy}'), 'metadata.name'],
      // For it a line ends there, and the comment with it.
      ...['\r', '\u0085', '\u2028', '\u2029'].map(
        (end) => [pod(`\n  name: a #${end}  namespace: prod`), 'line'] as const,
      ),
      // It looks at the items of whatever has any.
      [`${pod('{name: a}')}items:\n- {apiVersion: v1, kind: Secret, metadata: {name: db}}\n`, 'items'],
      [`${pod('{name: a}')}items: null\n`, 'items'],
      // Nothing behind this is read.
      [`${pod('{name: a}')}...\n${pod('{name: b}')}`, '...'],
      // This takes away whatever comes behind it.
      [`${pod('{name: a}')}---\n# ‹redacted: private key›`, 'private key'],
    ] as const)
      expect(ids(text), text).toContain(what)
    expect(ids(`${pod('{name: a}')}...\n`)).toEqual([':pod/a'])
    expect(ids(pod('{name: a}').replaceAll('\n', '\r\n'))).toEqual([':pod/a'])
  })
  it('takes no longer for many keys than for few', () => {
    const keys = Array.from({ length: 16_000 }, (_, i) => `  k${i}:`).join('\n')
    const before = performance.now()
    expect(ids(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${keys}\n`)).toEqual([':configmap/a'])
    // Compared each with each they take four times this.
    expect(performance.now() - before).toBeLessThan(5000)
  })
  it('an alias that grows without end is refused, and nothing it is given makes it throw', () => {
    const layers = Array.from({ length: 12 }, (_, i) => `a${i}: &a${i} [${`*a${i - 1},`.repeat(i === 0 ? 0 : 9)}x]`)
    expect(ids(`${layers.join('\n')}\n`)).toContain('cannot be read')
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'-:{}[]&*!|>\'"# \nab,%@`?') }), (text) => {
        expect(['string', 'object']).toContain(typeof namedObjects(text))
      }),
    )
  })
})
