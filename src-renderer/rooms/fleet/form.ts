import type { Failure, Host, HostInput } from '../../../src-preload/contract'

/** What stands in the form: text as it was typed. */
export interface HostForm {
  readonly slug: string
  readonly address: string
  readonly port: string
  readonly user: string
  readonly auth: 'agent' | 'key'
  readonly keyPath: string
  readonly tags: string
}

export const EMPTY_FORM: HostForm = {
  slug: '',
  address: '',
  port: '22',
  user: '',
  auth: 'agent',
  keyPath: '',
  tags: '',
}

/** The form of a host that is there already. */
export function formOf(host: Host): HostForm {
  return {
    slug: host.slug,
    address: host.address,
    port: String(host.port),
    user: host.user,
    auth: host.auth,
    keyPath: host.keyPath ?? '',
    tags: host.tags.join(' '),
  }
}

/** What is sent. A port that is no number is sent as 0, which main refuses by name: the form checks nothing twice. */
export function inputOf(form: HostForm): HostInput {
  const port = /^\d{1,6}$/.test(form.port.trim()) ? Number(form.port.trim()) : 0
  return {
    slug: form.slug.trim(),
    address: form.address.trim(),
    port,
    user: form.user.trim(),
    auth: form.auth,
    keyPath: form.auth === 'key' && form.keyPath.trim() !== '' ? form.keyPath.trim() : null,
    tags: form.tags.split(/[\s,]+/).filter((tag) => tag !== ''),
  }
}

const FIELDS = ['slug', 'address', 'port', 'user', 'auth', 'keyPath', 'tags'] as const
export type FieldName = (typeof FIELDS)[number]

/** The field of the form a failure is about, from names such as `host.slug` or `host.tags.0`; null when it is about none. */
export function fieldOf(failure: Failure | null): FieldName | null {
  if (failure?.field == null) return null
  const parts = failure.field.split('.')
  return FIELDS.find((name) => parts[0] === name || (parts[0] === 'host' && parts[1] === name)) ?? null
}
