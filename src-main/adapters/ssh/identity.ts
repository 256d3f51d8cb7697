import { promises as fs } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { BaseAgent, ParsedKey } from 'ssh2'
import { agentMissing, keyMissing, keyUnreadable, passphraseNeeded, passphraseWrong, type Refusal } from './failures'
import { ssh2 } from './library'

/** What a login is made with. */
export type Identity =
  | { readonly kind: 'key'; readonly path: string; readonly key: ParsedKey }
  | { readonly kind: 'agent'; readonly socket: string; readonly agent: BaseAgent; readonly keys: number }

export type Found<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

/** A private key is a few KB; anything much bigger is another file. */
const LARGEST_KEY_FILE = 256 * 1024

/** `~` and `~/x` of the user who runs Nomos. */
export function expandHome(path: string): string {
  if (path === '~') return homedir()
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
}

function parse(data: Buffer, passphrase: string | null): ParsedKey | Error {
  try {
    const parsed: unknown = passphrase === null ? ssh2().utils.parseKey(data) : ssh2().utils.parseKey(data, passphrase)
    // The library answers a list for some formats; one file holds one key.
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed
    if (first instanceof Error) return first
    if (typeof first === 'object' && first !== null && 'isPrivateKey' in first) return first as ParsedKey
    return new Error('Unsupported key format')
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

interface CachedKey {
  readonly stamp: string
  readonly key: ParsedKey
}

/** The private keys that were opened, and the passphrases that opened them. Both live in memory only. */
export class KeyRing {
  readonly #passphrases: Map<string, string>
  readonly #opened = new Map<string, CachedKey>()

  constructor(passphrases: Map<string, string>) {
    this.#passphrases = passphrases
  }

  /**
   * Reads and opens a private key file. A given passphrase that fits is remembered until Nomos ends.
   * @param passphrase what was just entered; null to use a remembered one
   */
  async open(keyPath: string, passphrase: string | null): Promise<Found<ParsedKey>> {
    const path = expandHome(keyPath)
    const fault = (refusal: Refusal): Found<ParsedKey> => ({ ok: false, refusal })
    let data: Buffer
    let stamp: string
    try {
      const stat = await fs.stat(path)
      if (!stat.isFile()) return fault(keyUnreadable(path, 'it is not a file', null))
      if (stat.size > LARGEST_KEY_FILE)
        return fault(keyUnreadable(path, `it has ${stat.size} bytes, no key is that long`, null))
      stamp = `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}`
      const opened = this.#opened.get(path)
      // Opening a protected key takes tenths of a second of computing; with a fresh passphrase it is always done.
      if (passphrase === null && opened?.stamp === stamp) return { ok: true, value: opened.key }
      data = await fs.readFile(path)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
      if (code === 'ENOENT' || code === 'ENOTDIR') return fault(keyMissing(path))
      return fault(keyUnreadable(path, code === 'EACCES' ? 'your user may not read it' : 'reading it failed', code))
    }
    const bare = parse(data, null)
    let key: ParsedKey
    if (bare instanceof Error) {
      // The library has one type of error; its words are the only way to tell an encrypted key from a broken one.
      if (!/passphrase given/i.test(bare.message)) {
        const encrypted = data.includes('BEGIN ENCRYPTED PRIVATE KEY')
        return fault(
          keyUnreadable(
            path,
            encrypted ? 'it is encrypted in PKCS#8 format' : 'it is not a private key that can be read',
            bare.message,
          ),
        )
      }
      const secret = passphrase ?? this.#passphrases.get(path) ?? null
      if (secret === null || secret === '') return fault(passphraseNeeded(path))
      const opened = parse(data, secret)
      if (opened instanceof Error) {
        this.#passphrases.delete(path)
        if (/unsupported/i.test(opened.message))
          return fault(keyUnreadable(path, 'its kind is not supported', opened.message))
        return fault(passphraseWrong(path))
      }
      this.#passphrases.set(path, secret)
      key = opened
    } else key = bare
    if (!key.isPrivateKey()) return fault(keyUnreadable(path, 'it holds a public key', null))
    this.#opened.set(path, { stamp, key })
    return { ok: true, value: key }
  }
}

/** Asks the agent for its keys, so that a missing or empty one is told before anything is connected to. */
export async function openAgent(socket: string | null, timeoutMs: number): Promise<Found<Identity>> {
  if (socket === null || socket === '') return { ok: false, refusal: agentMissing(null, null) }
  let agent: BaseAgent
  try {
    agent = ssh2().createAgent(socket)
  } catch (error) {
    return { ok: false, refusal: agentMissing(socket, error instanceof Error ? error.message : String(error)) }
  }
  const answer = await new Promise<{ count: number } | { cause: string }>((resolve) => {
    const timer = setTimeout(() => resolve({ cause: `no answer within ${timeoutMs} ms` }), timeoutMs)
    agent.getIdentities((error, keys) => {
      clearTimeout(timer)
      if (error) resolve({ cause: error.message })
      else resolve({ count: keys?.length ?? 0 })
    })
  })
  if ('cause' in answer) return { ok: false, refusal: agentMissing(socket, answer.cause) }
  if (answer.count === 0) return { ok: false, refusal: agentMissing(socket, 'empty') }
  return { ok: true, value: { kind: 'agent', socket, agent, keys: answer.count } }
}
