import type { ConnectFailure, KeyFingerprint } from '../../../src-preload/contract/model'
import type { HostKnowledge } from './known-hosts'

/** Why a connection could not be had: for code, for people, and the raw words of whoever said so. */
export interface Refusal {
  readonly failure: ConnectFailure
  readonly sentence: string
  readonly detail: string | null
}

/** Where a connection goes, as far as messages need it. */
export interface Whereto {
  readonly user: string
  readonly address: string
  readonly port: number
}

/** `address`, with the port where it is not the usual one. */
export function placeOf(to: Whereto): string {
  if (to.port === 22) return to.address
  return to.address.includes(':') ? `[${to.address}]:${to.port}` : `${to.address}:${to.port}`
}

function listed(keys: readonly KeyFingerprint[]): string {
  return keys.map((key) => `${key.algorithm} ${key.fingerprint}`).join(', ')
}

/** No key of this host is known, or none of the algorithm it showed. */
export function hostKeyUnknown(
  to: Whereto,
  presented: KeyFingerprint,
  known: readonly KeyFingerprint[],
  knowledge: HostKnowledge,
): Refusal {
  const showed = `${placeOf(to)} showed the key ${presented.algorithm} ${presented.fingerprint}`
  const why =
    known.length > 0
      ? `which is not known; known for it are other algorithms: ${listed(known)}`
      : knowledge.authorities.length > 0
        ? 'and known_hosts holds only a certificate authority (@cert-authority) for it; Nomos does not support host certificates'
        : 'which no known_hosts file holds'
  return {
    failure: 'host_key_unknown',
    sentence: `${showed}, ${why}. Nothing was sent to it. Compare the fingerprint at the host itself (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub); when it is the same, trust it in the fleet room and try again.`,
    detail: null,
  }
}

/** The host shows another key of an algorithm that is known for it. */
export function hostKeyChanged(
  to: Whereto,
  presented: KeyFingerprint,
  known: readonly KeyFingerprint[],
  places: readonly string[],
): Refusal {
  const same = known.filter((key) => key.algorithm === presented.algorithm)
  const where = places.length > 0 ? ` (${places.join(', ')})` : ''
  return {
    failure: 'host_key_changed',
    sentence: `The host key of ${placeOf(to)} is not the known one. Known${where}: ${listed(same.length > 0 ? same : known)}. Shown now: ${presented.algorithm} ${presented.fingerprint}. Either the host was set up anew or someone stands in between, so nothing was sent. If the change is yours, remove the old line with ssh-keygen -R '${to.port === 22 ? to.address : `[${to.address}]:${to.port}`}' (for Nomos's own file add -f and its path) and test the connection again.`,
    detail: null,
  }
}

/** The approval named a host key, and the verified one is another. */
export function hostKeyNotAsPlanned(
  to: Whereto,
  presented: KeyFingerprint,
  planned: readonly KeyFingerprint[],
): Refusal {
  return {
    failure: 'host_key_changed',
    sentence: `The host key of ${placeOf(to)} is not the one this command was approved for. Approved: ${listed(planned)}. Shown now: ${presented.algorithm} ${presented.fingerprint}. Nothing was run. If the new key is right, ask for the command again.`,
    detail: null,
  }
}

/** The command was planned while no key of the host was known. */
export function hostKeyNotPlanned(to: Whereto): Refusal {
  return {
    failure: 'host_key_unknown',
    sentence: `No key of ${placeOf(to)} was known when this command was planned, so its approval is bound to no host. Nothing was run. Test the connection in the fleet room, trust the key, and ask for the command again.`,
    detail: null,
  }
}

/** A known_hosts line withdraws this key. */
export function hostKeyRevoked(to: Whereto, presented: KeyFingerprint, places: readonly string[]): Refusal {
  return {
    failure: 'host_key_revoked',
    sentence: `${placeOf(to)} showed the key ${presented.algorithm} ${presented.fingerprint}, which is marked @revoked in ${places.join(', ')}. Nothing was sent to it. Give the host a new key, or remove that line if it is a mistake.`,
    detail: null,
  }
}

/** A known_hosts file is there and cannot be read. */
export function knownHostsUnreadable(file: string, cause: string): Refusal {
  return {
    failure: 'known_hosts_unreadable',
    sentence: `${file} is there but cannot be read (${cause}), so no host key can be checked and no host is connected to. Make it readable for your user (chmod u+r) or move it away, then try again.`,
    detail: cause,
  }
}

/** The form says "agent" and there is none that answers, or it is empty. */
export function agentMissing(socket: string | null, cause: string | null): Refusal {
  const what =
    socket === null
      ? 'No SSH agent is set: SSH_AUTH_SOCK was empty when Nomos was started.'
      : cause === 'empty'
        ? `The SSH agent at ${socket} holds no keys.`
        : `The SSH agent at ${socket} does not answer.`
  const remedy =
    cause === 'empty'
      ? 'Add one with ssh-add, or name a private key file in the fleet room.'
      : 'Start one (eval "$(ssh-agent)"; ssh-add) and start Nomos from that session, or name a private key file in the fleet room.'
  return { failure: 'agent_missing', sentence: `${what} ${remedy}`, detail: cause }
}

/** The private key file is not there. */
export function keyMissing(path: string): Refusal {
  return {
    failure: 'key_missing',
    sentence: `The private key file ${path} does not exist. Correct its path in the fleet room, or make a key with ssh-keygen and put its public half on the host.`,
    detail: null,
  }
}

/** The private key file is there and of no use. */
export function keyUnreadable(path: string, why: string, detail: string | null): Refusal {
  return {
    failure: 'key_unreadable',
    sentence: `The private key file ${path} cannot be used: ${why}. Name a private key in OpenSSH format (ed25519, ECDSA or RSA) that your user may read; ssh-keygen -p -f '${path}' rewrites an older format.`,
    detail,
  }
}

/** The key is encrypted and no passphrase is known. */
export function passphraseNeeded(path: string): Refusal {
  return {
    failure: 'key_passphrase_needed',
    sentence: `The private key ${path} is protected by a passphrase, and Nomos does not have it: it is kept in memory only, until Nomos ends. Enter it under "Test connection" in the fleet room, or add the key to an SSH agent.`,
    detail: null,
  }
}

/** The key is encrypted with another passphrase. */
export function passphraseWrong(path: string): Refusal {
  return {
    failure: 'key_passphrase_wrong',
    sentence: `The passphrase does not open the private key ${path}. Enter it again under "Test connection" in the fleet room.`,
    detail: null,
  }
}

/** The host does not take this user with these keys. */
export function authRefused(to: Whereto, offered: string, methods: readonly string[], detail: string | null): Refusal {
  const accepts = methods.length > 0 ? ` It still accepts: ${methods.join(', ')}.` : ''
  return {
    failure: 'auth_refused',
    sentence: `${placeOf(to)} refused ${offered} for the user ${to.user}.${accepts} Put the public key into that user's ~/.ssh/authorized_keys on the host, or correct user and key in the fleet room.`,
    detail,
  }
}

/** The key was taken and the host wants something more. */
export function secondFactor(to: Whereto, methods: readonly string[]): Refusal {
  return {
    failure: 'auth_refused',
    sentence: `${placeOf(to)} took the key of ${to.user} and wants something more (${methods.join(', ')}), which Nomos cannot give. Allow this user to log in with a key alone, for example with AuthenticationMethods publickey in a Match block.`,
    detail: null,
  }
}

/** Nothing answers at all, or no longer, within the time there is. */
export function timedOut(to: Whereto, ms: number, phase: 'connect' | 'handshake' | 'login'): Refusal {
  const within = `within ${Math.round(ms / 100) / 10} s`
  const tryIt = `try ssh -p ${to.port} ${to.user}@${to.address} in a terminal`
  const sentences = {
    connect: `${placeOf(to)} did not answer ${within}. The host may be off, or a firewall drops the packets: check address and port, and ${tryIt}.`,
    handshake: `${placeOf(to)} took the connection and did not begin to speak SSH ${within}. The port may belong to another service, or the host is overloaded: check the port, and ${tryIt}.`,
    login: `${placeOf(to)} answered, but the login was not finished ${within}. The host may be overloaded, or an SSH agent waits for a confirmation: ${tryIt}.`,
  }
  return { failure: 'timeout', sentence: sentences[phase], detail: null }
}

const SOCKET_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens on that port',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  EHOSTDOWN: 'the host is down',
  ENETDOWN: 'the network of this computer is down',
  ENOTFOUND: 'the name does not exist',
  EAI_AGAIN: 'no name server answers',
  EADDRNOTAVAIL: 'the address cannot be used from here',
  EINVAL: 'the address cannot be used from here',
  EACCES: 'a firewall on this computer forbids it',
  EPERM: 'a firewall on this computer forbids it',
}

/** A fault of the network before anything was said; null when the code is none of those. */
export function unreachable(to: Whereto, code: string, detail: string): Refusal | null {
  const why = SOCKET_REASONS[code]
  if (why === undefined) return null
  return {
    failure: 'unreachable',
    sentence: `${placeOf(to)} cannot be reached: ${why} (${code}). Check address and port in the fleet room, and that the host is on and runs an SSH server.`,
    detail,
  }
}

/** The other end went away. */
export function connectionLost(to: Whereto, when: string, detail: string | null): Refusal {
  return {
    failure: 'connection_lost',
    sentence: `${placeOf(to)} closed the connection ${when}. It may limit connections (MaxStartups, fail2ban, hosts.deny) or be restarting: look at the SSH server's log there and try again.`,
    detail,
  }
}

/** What answers does not speak SSH as we do. */
export function protocolFault(to: Whereto, detail: string): Refusal {
  const mismatch = /no matching/i.test(detail)
  return {
    failure: 'protocol',
    sentence: mismatch
      ? `${placeOf(to)} and Nomos have no SSH algorithm in common (${detail}). The server there is very old or narrowly set: update it or allow current algorithms.`
      : `${placeOf(to)} does not speak SSH as expected (${detail}). Check that the port is the one of the SSH server.`,
    detail,
  }
}

/** The login works, and the shell behind it does not run what it is given. */
export function shellFault(to: Whereto, what: string, printed: string): Refusal {
  return {
    failure: 'protocol',
    sentence: `${to.user}@${placeOf(to)} logged in, but ${what}. Nothing was run. Nomos needs an account with a usable login shell and /bin/sh, without a forced command${printed === '' ? '' : '; the host said so in the detail'}.`,
    detail: printed === '' ? null : printed,
  }
}
