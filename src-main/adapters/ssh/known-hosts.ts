import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { promises as fs } from 'node:fs'
import { dirname } from 'node:path'
import type { KeyFingerprint } from '../../../src-preload/contract/model'

/** One usable line of a known_hosts file. */
export interface KnownHostEntry {
  readonly file: string
  readonly line: number
  readonly marker: 'none' | 'cert-authority' | 'revoked'
  /** The host field as written: a comma list of patterns, or one hashed name. */
  readonly hosts: string
  readonly keyType: string
  readonly key: Buffer
}

/** A line that says nothing usable. It is skipped, as OpenSSH does, and told to whoever asks. */
export interface BadLine {
  readonly file: string
  readonly line: number
  readonly reason: string
}

export interface ParsedKnownHosts {
  readonly entries: readonly KnownHostEntry[]
  readonly bad: readonly BadLine[]
}

/** What the files hold for one host and port. */
export interface HostKnowledge {
  /** `address` for port 22, else `[address]:port`. */
  readonly name: string
  readonly keys: readonly KnownHostEntry[]
  readonly revoked: readonly KnownHostEntry[]
  /** Lines of certificate authorities. Host certificates are not supported, so these alone make no host known. */
  readonly authorities: readonly KnownHostEntry[]
}

export type HostKeyVerdict = 'ok' | 'unknown' | 'changed' | 'revoked'

/** OpenSSH caps one pattern at 1,023 characters; a longer one makes the whole list match nothing. */
const LONGEST_PATTERN = 1023

/** `SHA256:` and base64 without padding, as `ssh-keygen -l` prints it. */
export function fingerprintOf(key: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** The algorithm named inside a raw public key; null when the bytes are no public key. */
export function keyTypeOf(key: Buffer): string | null {
  if (key.length < 4) return null
  const length = key.readUInt32BE(0)
  // A key has at least one field behind its type.
  if (length === 0 || length > 64 || key.length < 4 + length + 4) return null
  const type = key.toString('latin1', 4, 4 + length)
  return /^[A-Za-z0-9@._-]+$/.test(type) ? type : null
}

/** The name OpenSSH looks a host up by: the plain address for port 22, else `[address]:port`. */
export function knownHostName(address: string, port: number): string {
  const lower = address.toLowerCase()
  return port === 22 ? lower : `[${lower}]:${port}`
}

/** Strict base64: `Buffer.from` skips what it does not know, so a damaged line would become another key. */
function decodeBase64(text: string): Buffer | null {
  if (text.length === 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) return null
  return Buffer.from(text, 'base64')
}

/**
 * Parses the text of one known_hosts file. Comments and blank lines are nothing; what cannot be understood is listed in `bad` and skipped.
 * @param file only a name for reports
 */
export function parseKnownHosts(text: string, file: string): ParsedKnownHosts {
  const entries: KnownHostEntry[] = []
  const bad: BadLine[] = []
  const lines = text.split('\n')
  for (const [index, raw] of lines.entries()) {
    const line = index + 1
    let rest = raw.replace(/\r+$/, '').replace(/^[ \t]+/, '')
    if (rest === '' || rest.startsWith('#')) continue
    const fault = (reason: string): void => {
      bad.push({ file, line, reason })
    }
    if (rest.includes('\0')) {
      fault('it holds a NUL byte')
      continue
    }
    let marker: KnownHostEntry['marker'] = 'none'
    if (rest.startsWith('@')) {
      const word = /^@[^ \t]*/.exec(rest)?.[0] ?? '@'
      if (word === '@revoked') marker = 'revoked'
      else if (word === '@cert-authority') marker = 'cert-authority'
      else {
        fault(`the marker ${word} is not known (there are @revoked and @cert-authority)`)
        continue
      }
      rest = rest.slice(word.length).replace(/^[ \t]+/, '')
    }
    const fields = /^([^ \t]+)[ \t]+([^ \t]+)(?:[ \t]+([^ \t]+))?/.exec(rest)
    const hosts = fields?.[1]
    const keyType = fields?.[2]
    const encoded = fields?.[3]
    if (hosts === undefined || keyType === undefined || encoded === undefined) {
      fault('it needs a host, a key type and a key')
      continue
    }
    if (/^[0-9]+$/.test(keyType)) {
      fault('it is a key of SSH protocol 1, which nobody speaks any more')
      continue
    }
    const key = decodeBase64(encoded)
    const inner = key === null ? null : keyTypeOf(key)
    if (key === null || inner === null) {
      fault('the key is not readable base64 of a public key')
      continue
    }
    if (inner !== keyType) {
      fault(`it says ${keyType}, the key inside is ${inner}`)
      continue
    }
    entries.push({ file, line, marker, hosts, keyType, key })
  }
  return { entries, bad }
}

/** `*` and `?` as OpenSSH's match_pattern, in linear space and without backtracking over more than the last star. */
function wildcardMatches(text: string, pattern: string): boolean {
  let at = 0
  let p = 0
  let star = -1
  let resume = 0
  while (at < text.length) {
    const c = pattern[p]
    if (c === '*') {
      star = p
      resume = at
      p += 1
    } else if (c !== undefined && (c === '?' || c === text[at])) {
      at += 1
      p += 1
    } else if (star >= 0) {
      resume += 1
      at = resume
      p = star + 1
    } else return false
  }
  while (pattern[p] === '*') p += 1
  return p === pattern.length
}

function hashedMatches(name: string, hashed: string): boolean {
  const parts = /^\|1\|([^|]+)\|([^|]+)$/.exec(hashed)
  const salt = decodeBase64(parts?.[1] ?? '')
  const hash = decodeBase64(parts?.[2] ?? '')
  if (salt === null || hash === null || salt.length !== 20 || hash.length !== 20) return false
  return timingSafeEqual(createHmac('sha1', salt).update(name).digest(), hash)
}

/** Whether the host field of a line means this name. A negated pattern that matches wins over every other one in the list. */
export function hostFieldMatches(name: string, hosts: string): boolean {
  if (hosts.startsWith('|')) return hashedMatches(name, hosts)
  const lower = name.toLowerCase()
  let matched = false
  for (const written of hosts.split(',')) {
    const negated = written.startsWith('!')
    const pattern = (negated ? written.slice(1) : written).toLowerCase()
    if (pattern.length > LONGEST_PATTERN) return false
    if (pattern === '' || !wildcardMatches(lower, pattern)) continue
    if (negated) return false
    matched = true
  }
  return matched
}

/** Everything the lines say about one address and port. */
export function lookUp(entries: readonly KnownHostEntry[], address: string, port: number): HostKnowledge {
  const name = knownHostName(address, port)
  const plain = knownHostName(address, 22)
  const keys: KnownHostEntry[] = []
  const revoked: KnownHostEntry[] = []
  const authorities: KnownHostEntry[] = []
  for (const entry of entries) {
    const here = hostFieldMatches(name, entry.hosts)
    if (entry.marker === 'revoked') {
      // A key withdrawn for a host is withdrawn on each of its ports, also where the line names no port.
      if (here || hostFieldMatches(plain, entry.hosts)) revoked.push(entry)
    } else if (here) {
      if (entry.marker === 'cert-authority') authorities.push(entry)
      else keys.push(entry)
    }
  }
  return { name, keys, revoked, authorities }
}

/**
 * Judges a presented key. Revoked wins over all; any listed key that is equal is fine; another key of the same algorithm means
 * changed; only other algorithms, or nothing, means unknown.
 */
export function judge(knowledge: HostKnowledge, presented: Buffer): HostKeyVerdict {
  if (knowledge.revoked.some((entry) => entry.key.equals(presented))) return 'revoked'
  if (knowledge.keys.some((entry) => entry.key.equals(presented))) return 'ok'
  const type = keyTypeOf(presented)
  return knowledge.keys.some((entry) => entry.keyType === type) ? 'changed' : 'unknown'
}

/** The known keys that are not revoked, in a stable order, each once. */
export function knownFingerprints(knowledge: HostKnowledge): KeyFingerprint[] {
  const seen = new Map<string, KeyFingerprint>()
  for (const entry of knowledge.keys) {
    if (knowledge.revoked.some((other) => other.key.equals(entry.key))) continue
    const fingerprint = fingerprintOf(entry.key)
    seen.set(`${entry.keyType} ${fingerprint}`, { algorithm: entry.keyType, fingerprint })
  }
  return [...seen.entries()].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, known]) => known)
}

/** The line that makes a key known, without a newline. */
export function knownHostsLine(address: string, port: number, key: Buffer): string {
  return `${knownHostName(address, port)} ${keyTypeOf(key) ?? 'unknown'} ${key.toString('base64')}`
}

/** A known_hosts file is there and cannot be read: no host can be judged. */
export class KnownHostsUnreadable extends Error {
  readonly file: string
  constructor(file: string, cause: string) {
    super(cause)
    this.name = 'KnownHostsUnreadable'
    this.file = file
  }
}

interface CachedFile {
  readonly stamp: string
  readonly parsed: ParsedKnownHosts
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error'
}

/** The known_hosts files of this user, of the system, and Nomos's own, which is the only one that is ever written. */
export class KnownHostsFiles {
  readonly #own: string
  readonly #files: readonly string[]
  readonly #cache = new Map<string, CachedFile>()
  #writing: Promise<void> = Promise.resolve()

  constructor(own: string, others: readonly string[]) {
    this.#own = own
    this.#files = [...new Set([own, ...others])]
  }

  /**
   * Reads every file that changed since the last time. A missing file is fine.
   * @throws KnownHostsUnreadable when one is there and cannot be read
   */
  async read(): Promise<ParsedKnownHosts> {
    const entries: KnownHostEntry[] = []
    const bad: BadLine[] = []
    for (const file of this.#files) {
      const parsed = await this.#readOne(file)
      entries.push(...parsed.entries)
      bad.push(...parsed.bad)
    }
    return { entries, bad }
  }

  async #readOne(file: string): Promise<ParsedKnownHosts> {
    try {
      const stat = await fs.stat(file)
      if (!stat.isFile()) throw new KnownHostsUnreadable(file, 'it is not a regular file')
      const stamp = `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
      const cached = this.#cache.get(file)
      // A file touched within the last two seconds may change again within the grain of its time stamp.
      if (cached !== undefined && cached.stamp === stamp && Date.now() - stat.ctimeMs > 2000) return cached.parsed
      const parsed = parseKnownHosts(await fs.readFile(file, 'utf8'), file)
      this.#cache.set(file, { stamp, parsed })
      return parsed
    } catch (error) {
      if (error instanceof KnownHostsUnreadable) throw error
      const code = codeOf(error)
      if (code === 'ENOENT' || code === 'ENOTDIR') return { entries: [], bad: [] }
      throw new KnownHostsUnreadable(file, code)
    }
  }

  /** Appends a key to Nomos's own file: written beside it and renamed over it, so that a crash leaves the old file or the new one. */
  append(address: string, port: number, key: Buffer): Promise<void> {
    const next = this.#writing.then(() => this.#append(knownHostsLine(address, port, key)))
    this.#writing = next.catch(() => undefined)
    return next
  }

  async #append(line: string): Promise<void> {
    let before = ''
    try {
      // latin1 keeps every byte of what is there as it is.
      before = await fs.readFile(this.#own, 'latin1')
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw new KnownHostsUnreadable(this.#own, codeOf(error))
    }
    if (before !== '' && !before.endsWith('\n')) before += '\n'
    await fs.mkdir(dirname(this.#own), { recursive: true, mode: 0o700 })
    const beside = `${this.#own}.${randomBytes(6).toString('hex')}`
    try {
      const handle = await fs.open(beside, 'wx', 0o600)
      try {
        await handle.writeFile(`${before}${line}\n`, 'latin1')
        await handle.sync()
      } finally {
        await handle.close()
      }
      await fs.rename(beside, this.#own)
    } catch (error) {
      await fs.rm(beside, { force: true })
      throw error
    }
  }
}
