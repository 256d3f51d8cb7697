import type { Host, HostTest } from '../../src-preload/contract/model'

/** What the fleet needs of the wire to a host, besides running: testing it and trusting its key. */
export interface HostProbe {
  /** Connects, authenticates, asks `uname -sr`, disconnects. Never throws: every fault is a `HostTest` with a sentence. */
  test(host: Host, passphrase: string | null): Promise<HostTest>
  /**
   * Appends the key last presented to `test` for this address and port to Nomos's own known_hosts file.
   * Throws `NomosError('conflict')` when its fingerprint is not `fingerprint`, or when another key of the same algorithm is known.
   */
  trust(host: Host, fingerprint: string): Promise<void>
  /** Forgets pooled connections of a host whose record changed. */
  forget(host: Host): void
}
