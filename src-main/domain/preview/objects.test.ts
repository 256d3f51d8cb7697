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
