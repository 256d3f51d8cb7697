import { NomosError } from '../../src-preload/contract/errors'
import type { Host, HostInput, HostTest, Target } from '../../src-preload/contract/model'
import type { Destination } from '../domain/shell'
import type { Clock, Feed, HostProbe, Store } from '../ports'
import type { ResolvedTarget } from './gate'

/** Where commands can run: this computer and the hosts. */
export interface Fleet {
  targets(): readonly Target[]
  /** @throws NomosError `target_unknown` with which targets exist. */
  resolve(slug: string): ResolvedTarget
  /** Those of the places a command is carried on to that are known targets: by name or address, whatever the user. */
  reached(destinations: readonly Destination[]): readonly ResolvedTarget[]
  hosts(): readonly Host[]
  save(input: HostInput, replaces: string | null): Host
  remove(slug: string): void
  test(input: HostInput, passphrase: string | null): Promise<HostTest>
  trust(input: HostInput, fingerprint: string): Promise<void>
}

const LOCAL: Target = { slug: 'local', kind: 'local', tags: [], policySource: 'app' }

const targetOf = (host: Host): Target => ({
  slug: `host:${host.slug}`,
  kind: 'ssh',
  tags: host.tags,
  policySource: 'app',
})

const hostOf = (input: HostInput): Host => ({
  slug: input.slug,
  address: input.address,
  port: input.port,
  user: input.user,
  auth: input.auth,
  keyPath: input.auth === 'key' ? input.keyPath : null,
  tags: [...new Set(input.tags)].sort(),
})

export function createFleet(deps: {
  readonly store: Store
  readonly probe: HostProbe
  readonly clock: Clock
  readonly feed: Feed
}): Fleet {
  const { store, probe, clock, feed } = deps
  const fleet: Fleet = {
    targets: () => [LOCAL, ...store.hosts().map(targetOf)],

    resolve(slug) {
      if (slug === LOCAL.slug)
        return { target: LOCAL, user: null, endpoint: null, dependents: store.dependents('local') }
      const host = slug.startsWith('host:') ? store.host(slug.slice(5)) : null
      if (host === null) {
        const known = ['local', ...store.hosts().map((one) => `host:${one.slug}`)].join(', ')
        throw new NomosError(
          'target_unknown',
          `There is no target "${slug}". Known: ${known}. Hosts are added in the fleet room of the window.`,
          {
            field: 'target',
          },
        )
      }
      return {
        target: targetOf(host),
        user: host.user,
        endpoint: { address: host.address, port: host.port, auth: host.auth, keyPath: host.keyPath },
        dependents: store.dependents(slug),
      }
    },

    reached(destinations) {
      const names = destinations.flatMap(({ program, name }) =>
        /^(?:ssh|autossh|mosh|rsh)$/.test(program) ? [name.replace(/^.*@/, '').toLowerCase()] : [],
      )
      if (names.length === 0) return []
      return store
        .hosts()
        .filter(({ slug, address }) => names.includes(slug.toLowerCase()) || names.includes(address.toLowerCase()))
        .map(({ slug }) => fleet.resolve(`host:${slug}`))
    },

    hosts: () => store.hosts(),

    save(input, replaces) {
      const host = hostOf(input)
      if (replaces !== host.slug && store.host(host.slug) !== null) {
        throw new NomosError(
          'conflict',
          `There is a host "${host.slug}" already. Choose another name, or edit that one.`,
          {
            field: 'host.slug',
          },
        )
      }
      const before = replaces === null ? null : store.host(replaces)
      if (replaces !== null && before === null) {
        throw new NomosError('not_found', `The host "${replaces}" is not there any more. Save it as a new one.`, {
          field: 'replaces',
        })
      }
      store.saveHost(host, replaces, clock.now())
      if (before !== null) probe.forget(before)
      feed.publish({ type: 'hosts' })
      return host
    },

    remove(slug) {
      const host = store.host(slug)
      if (host === null || !store.removeHost(slug, clock.now())) {
        throw new NomosError('not_found', `There is no host "${slug}".`, { field: 'slug' })
      }
      probe.forget(host)
      feed.publish({ type: 'hosts' })
    },

    test: (input, passphrase) => probe.test(hostOf(input), passphrase),

    async trust(input, fingerprint) {
      const host = hostOf(input)
      await probe.trust(host, fingerprint)
      store.appendLedger(
        {
          kind: 'host.key-trusted',
          actor: 'operator',
          executionId: null,
          approvalId: null,
          data: { slug: host.slug, address: host.address, port: host.port, fingerprint },
        },
        clock.now(),
      )
      feed.publish({ type: 'hosts' })
    },
  }
  return fleet
}
