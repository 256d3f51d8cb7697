import { execFileSync, spawnSync } from 'node:child_process'
import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'
import { promises as fs, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  fingerprintOf,
  hostFieldMatches,
  judge,
  KnownHostsFiles,
  KnownHostsUnreadable,
  keyTypeOf,
  knownFingerprints,
  knownHostName,
  knownHostsLine,
  lookUp,
  parseKnownHosts,
} from './known-hosts'

/** A raw ed25519 public key. */
function newKey(): Buffer {
  const { publicKey } = generateKeyPairSync('ed25519')
  const bare = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return wire('ssh-ed25519', bare)
}

function wire(...fields: (string | Buffer)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field as string)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}

function ecdsaKey(): Buffer {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return wire('ecdsa-sha2-nistp256', 'nistp256', publicKey.export({ format: 'der', type: 'spki' }).subarray(-65))
}

function line(hosts: string, key: Buffer): string {
  return `${hosts} ${keyTypeOf(key)} ${key.toString('base64')}`
}

function hashed(name: string): string {
  const salt = randomBytes(20)
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`
}

const ED = newKey()
const ED2 = newKey()
const EC = ecdsaKey()

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'nomos-known-'))
})
afterAll(() => {
  rmSync(dir, { recursive: true, force: true })
})

/** The line numbers ssh-keygen finds for a name. */
function keygenFinds(file: string, name: string): number[] {
  const { stdout } = spawnSync('ssh-keygen', ['-l', '-F', name, '-f', file], { encoding: 'utf8' })
  return [...stdout.matchAll(/^# Host .* found: line ([0-9]+)/gm)].map((found) => Number(found[1]))
}

function weFind(text: string, name: string): number[] {
  return parseKnownHosts(text, 'f')
    .entries.filter((entry) => hostFieldMatches(name, entry.hosts))
    .map((entry) => entry.line)
}

describe('the name of a host', () => {
  it.each([
    ['example.org', 22, 'example.org'],
    ['Example.ORG', 22, 'example.org'],
    ['example.org', 2222, '[example.org]:2222'],
    ['::1', 22, '::1'],
    ['::1', 2222, '[::1]:2222'],
    ['fe80::1%eth0', 22, 'fe80::1%eth0'],
  ])('%s port %i is %s', (address, port, name) => {
    expect(knownHostName(address, port)).toBe(name)
  })
})

describe('the host field', () => {
  it.each([
    ['a.example', 'a.example', true],
    ['a.example', 'A.Example', true],
    ['a.example', 'b.example,a.example', true],
    ['a.example', '*.example', true],
    ['a.example', '?.example', true],
    ['aa.example', '?.example', false],
    ['a.example', '*', true],
    ['a.example', '*.example,!a.example', false],
    ['a.example', '!a.example,*.example', false],
    ['a.example', '!b.example', false],
    ['a.example', '!b.example,*', true],
    ['[a.example]:2222', '[a.example]:2222', true],
    ['[a.example]:2222', 'a.example', false],
    ['[a.example]:2222', '[*.example]:2222', true],
    ['[a.example]:2222', '[*]:*', true],
    ['[a.example]:2222', '*', true],
    ['a.example', '[a.example]:22', false],
    ['a.example', '', false],
    ['a.example', ',,a.example', true],
    ['a.example', '!', false],
    ['192.168.1.5', '192.168.1.?', true],
    ['a.example', `${'x'.repeat(1024)},a.example`, false],
  ])('%s in %s: %s', (name, field, expected) => {
    expect(hostFieldMatches(name, field)).toBe(expected)
  })

  it('knows hashed names, and no damaged ones', () => {
    expect(hostFieldMatches('a.example', hashed('a.example'))).toBe(true)
    expect(hostFieldMatches('b.example', hashed('a.example'))).toBe(false)
    expect(hostFieldMatches('a.example', '|1|AAAA|AAAA')).toBe(false)
    expect(hostFieldMatches('a.example', '|2|x|y')).toBe(false)
    expect(hostFieldMatches('a.example', `${hashed('a.example')},a.example`)).toBe(false)
  })

  it('takes no exponential time over many stars', () => {
    const began = performance.now()
    expect(hostFieldMatches('a'.repeat(900), `${'*a'.repeat(400)}b`)).toBe(false)
    expect(performance.now() - began).toBeLessThan(500)
  })
})

describe('parsing', () => {
  it('skips comments, blank lines and CRLF, and reports what it cannot use', () => {
    const text = [
      '# a comment',
      '',
      '   # an indented one',
      `${line('good.example', ED)}\r`,
      `\t${line('indented.example', ED)} with a comment`,
      'only-a-host',
      'a.example ssh-ed25519',
      'a.example ssh-ed25519 not_base64!',
      'a.example ssh-ed25519 AAAA',
      `a.example ssh-rsa ${ED.toString('base64')}`,
      'a.example 1024 35 1234567890',
      `@strange a.example ssh-ed25519 ${ED.toString('base64')}`,
      `@revoked ${line('bad.example', ED2)}`,
      `@cert-authority ${line('*.ca.example', ED2)}`,
      line('last.example', EC),
    ].join('\n')
    const { entries, bad } = parseKnownHosts(text, 'f')
    expect(entries.map((entry) => [entry.line, entry.marker, entry.hosts, entry.keyType])).toEqual([
      [4, 'none', 'good.example', 'ssh-ed25519'],
      [5, 'none', 'indented.example', 'ssh-ed25519'],
      [13, 'revoked', 'bad.example', 'ssh-ed25519'],
      [14, 'cert-authority', '*.ca.example', 'ssh-ed25519'],
      [15, 'none', 'last.example', 'ecdsa-sha2-nistp256'],
    ])
    expect(bad.map((fault) => fault.line)).toEqual([6, 7, 8, 9, 10, 11, 12])
    expect(bad.find((fault) => fault.line === 10)?.reason).toBe('it says ssh-rsa, the key inside is ssh-ed25519')
  })
})

describe('the verdict', () => {
  const verdict = (text: string, key: Buffer, address = 'h.example', port = 22) =>
    judge(lookUp(parseKnownHosts(text, 'f').entries, address, port), key)

  it('is ok for any listed key of the algorithm', () => {
    expect(verdict(line('h.example', ED), ED)).toBe('ok')
    expect(verdict([line('h.example', ED2), line('h.example', ED)].join('\n'), ED)).toBe('ok')
    expect(verdict(line(hashed('h.example'), ED), ED)).toBe('ok')
    expect(verdict(line('[h.example]:2222', ED), ED, 'h.example', 2222)).toBe('ok')
  })

  it('is changed for another key of the same algorithm, unknown for another algorithm', () => {
    expect(verdict(line('h.example', ED), ED2)).toBe('changed')
    expect(verdict(line('h.example', ED), EC)).toBe('unknown')
    expect(verdict(line('h.example', EC), ED)).toBe('unknown')
    expect(verdict('', ED)).toBe('unknown')
  })

  it('is per port', () => {
    expect(verdict(line('h.example', ED), ED, 'h.example', 2222)).toBe('unknown')
    expect(verdict(line('h.example', ED), ED2, 'h.example', 2222)).toBe('unknown')
    expect(verdict(line('[h.example]:2222', ED), ED)).toBe('unknown')
  })

  it('is revoked over all, on every port of the host', () => {
    const text = `${line('h.example,[h.example]:2222', ED)}\n@revoked ${line('h.example', ED)}`
    expect(verdict(text, ED)).toBe('revoked')
    expect(verdict(text, ED, 'h.example', 2222)).toBe('revoked')
    expect(verdict(`@revoked ${line('*', ED)}\n${line('h.example', ED)}`, ED)).toBe('revoked')
    expect(verdict(`@revoked ${line('other.example', ED)}\n${line('h.example', ED)}`, ED)).toBe('ok')
    expect(verdict(`@revoked ${line('h.example', ED2)}\n${line('h.example', ED)}`, ED)).toBe('ok')
    expect(verdict(`${line('h.example', ED2)}\n@revoked ${line('h.example', ED)}`, ED)).toBe('revoked')
  })

  it('does not take a certificate authority for a host key', () => {
    const text = `@cert-authority ${line('h.example', ED)}`
    expect(verdict(text, ED)).toBe('unknown')
    expect(verdict(text, ED2)).toBe('unknown')
    expect(lookUp(parseKnownHosts(text, 'f').entries, 'h.example', 22).authorities).toHaveLength(1)
  })

  it('lists what is known once, sorted, without the revoked', () => {
    const text = [
      line('h.example', ED),
      line('*.example', ED),
      line('h.example', EC),
      line('h.example', ED2),
      `@revoked ${line('h.example', ED2)}`,
    ].join('\n')
    expect(knownFingerprints(lookUp(parseKnownHosts(text, 'f').entries, 'h.example', 22))).toEqual([
      { algorithm: 'ecdsa-sha2-nistp256', fingerprint: fingerprintOf(EC) },
      { algorithm: 'ssh-ed25519', fingerprint: fingerprintOf(ED) },
    ])
  })
})

describe('against ssh-keygen', () => {
  it('finds the same lines for generated files', { timeout: 120_000 }, () => {
    // A small generator with a fixed seed: a failure can be looked at again.
    let seed = 20_240_229
    const roll = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return Math.floor((seed / 0x80000000) * below)
    }
    const pick = <T>(from: readonly T[]): T => from[roll(from.length)] as T
    const hosts = ['a.example', 'b.example', 'deep.a.example', 'a', '10.0.0.1', '10.0.0.12', '::1', 'fe80::1%eth0']
    const names = hosts.flatMap((host) => [host, `[${host}]:2222`, `[${host}]:22`])
    const patterns = [
      ...names,
      '*',
      '*.example',
      '?.example',
      '10.0.0.*',
      '10.0.0.1?',
      '[*]:2222',
      '[*.example]:*',
      'A.Example',
      '*a*',
      '**.e*e',
      '?',
      '',
      '[a.example]',
    ]
    const keys = [ED, ED2, EC]
    const field = (): string => {
      if (roll(4) === 0) return hashed(pick(names))
      return Array.from({ length: 1 + roll(4) }, () => `${roll(5) === 0 ? '!' : ''}${pick(patterns)}`).join(',') || 'x'
    }
    let found = 0
    for (let round = 0; round < 25; round += 1) {
      const lines = Array.from({ length: 14 }, () => {
        const key = pick(keys)
        switch (roll(12)) {
          case 0:
            return `# ${line(pick(names), key)}`
          case 1:
            return `${pick(names)} ssh-ed25519 AAAA`
          case 2:
            return `@revoked ${line(field(), key)}`
          case 3:
            return `@cert-authority ${line(field(), key)}`
          case 4:
            return `  ${line(field(), key)}\r`
          case 5:
            return `${pick(names)} ssh-rsa ${ED.toString('base64')}`
          case 6:
            return ''
          default:
            return `${line(field(), key)}${roll(2) === 0 ? ' a comment here' : ''}`
        }
      })
      const text = lines.join('\n') + (roll(2) === 0 ? '\n' : '')
      const file = join(dir, `generated-${round}`)
      writeFileSync(file, text)
      for (const name of names) {
        const theirs = keygenFinds(file, name)
        expect({ round, name, lines: weFind(text, name) }).toEqual({ round, name, lines: theirs })
        found += theirs.length
      }
    }
    expect(found).toBeGreaterThan(300)
  })

  it('knows after ssh-keygen -H what it knew before', () => {
    const text = `${[
      line('one.example,two.example', ED),
      line('[three.example]:2222', EC),
      line('*.wild.example', ED2),
      line('10.0.0.7', ED2),
    ].join('\n')}\n`
    const file = join(dir, 'to-hash')
    writeFileSync(file, text)
    execFileSync('ssh-keygen', ['-H', '-f', file], { stdio: 'ignore' })
    const after = readFileSync(file, 'utf8')
    expect(after).not.toContain('one.example')
    for (const [address, port] of [
      ['one.example', 22],
      ['two.example', 22],
      ['three.example', 2222],
      ['three.example', 22],
      ['x.wild.example', 22],
      ['10.0.0.7', 22],
      ['10.0.0.8', 22],
    ] as const) {
      const before = knownFingerprints(lookUp(parseKnownHosts(text, 'f').entries, address, port))
      expect(knownFingerprints(lookUp(parseKnownHosts(after, 'f').entries, address, port))).toEqual(before)
    }
  })

  it('prints the fingerprints of ssh-keygen -l', () => {
    for (const [type, bits] of [
      ['ed25519', null],
      ['ecdsa', '256'],
      ['ecdsa', '384'],
      ['ecdsa', '521'],
      ['rsa', '2048'],
    ] as const) {
      const path = join(dir, `key-${type}-${bits}`)
      execFileSync('ssh-keygen', ['-q', '-t', type, ...(bits === null ? [] : ['-b', bits]), '-N', '', '-f', path])
      const theirs = execFileSync('ssh-keygen', ['-l', '-f', `${path}.pub`], { encoding: 'utf8' }).split(' ')[1]
      const [name, encoded] = readFileSync(`${path}.pub`, 'utf8').split(' ')
      const key = Buffer.from(encoded ?? '', 'base64')
      expect(fingerprintOf(key)).toBe(theirs)
      expect(keyTypeOf(key)).toBe(name)
    }
  })
})

describe('the files', () => {
  it('reads several, takes a missing one for empty, and sees a change', async () => {
    const own = join(dir, 'several-own')
    const other = join(dir, 'several-other')
    writeFileSync(own, line('one.example', ED))
    writeFileSync(other, `${line('two.example', EC)}\nrubbish\n`)
    const files = new KnownHostsFiles(own, [other, join(dir, 'missing')])
    const first = await files.read()
    expect(first.entries.map((entry) => entry.hosts)).toEqual(['one.example', 'two.example'])
    expect(first.bad).toEqual([{ file: other, line: 2, reason: 'it needs a host, a key type and a key' }])
    writeFileSync(own, line('six.example', ED))
    expect((await files.read()).entries.map((entry) => entry.hosts)).toEqual(['six.example', 'two.example'])
  })

  it('fails when one is there and is no readable file', async () => {
    const folder = join(dir, 'a-folder')
    await fs.mkdir(folder)
    await expect(new KnownHostsFiles(folder, []).read()).rejects.toThrow(KnownHostsUnreadable)
    const loop = join(dir, 'a-loop')
    await fs.symlink(loop, loop)
    await expect(new KnownHostsFiles(join(dir, 'none'), [loop]).read()).rejects.toMatchObject({ file: loop })
    if (process.getuid?.() !== 0) {
      const secret = join(dir, 'secret')
      writeFileSync(secret, '', { mode: 0o000 })
      await expect(new KnownHostsFiles(secret, []).read()).rejects.toThrow(KnownHostsUnreadable)
    }
  })

  it('appends lines that ssh-keygen finds, repairs a missing last newline, and is private', async () => {
    const own = join(dir, 'fresh', 'deep', 'known_hosts')
    const files = new KnownHostsFiles(own, [])
    await files.append('new.example', 22, ED)
    expect(statSync(own).mode & 0o777).toBe(0o600)
    writeFileSync(own, `# mine\n${line('old.example', EC)}`)
    await Promise.all([
      files.append('New.Example', 2222, ED2),
      files.append('::1', 2200, EC),
      files.append('ten.example', 22, ED),
    ])
    const text = readFileSync(own, 'utf8')
    expect(text.startsWith(`# mine\n${line('old.example', EC)}\n`)).toBe(true)
    expect(text.endsWith('\n')).toBe(true)
    expect(text.trim().split('\n')).toHaveLength(5)
    for (const name of ['old.example', '[new.example]:2222', '[::1]:2200', 'ten.example']) {
      expect(keygenFinds(own, name)).toHaveLength(1)
    }
    expect(statSync(own).mode & 0o777).toBe(0o600)
    expect(await fs.readdir(join(dir, 'fresh', 'deep'))).toEqual(['known_hosts'])
    expect(judge(lookUp((await files.read()).entries, 'new.example', 2222), ED2)).toBe('ok')
    expect(knownHostsLine('h.example', 22, ED)).toBe(line('h.example', ED))
  })
})
