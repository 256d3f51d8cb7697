import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStreamRedactor, mapSpan, redact } from './index'

/** Made-up values are put together here, so that no scanner takes this file for a leak. */
const j = (...parts: string[]): string => parts.join('')
const B = 'Qm9iYnkgVGFibGVzIHdhcyBoZXJl'
const PEM = [
  j('-----BEGIN OPENSSH PRIVATE', ' KEY-----'),
  'b3BlbnNzaC1rZXktdjEAAAAABG5vbmU',
  'AAAAAAAAAB',
  j('-----END OPENSSH PRIVATE', ' KEY-----'),
].join('\n')

const SECRETS: readonly (readonly [string, string])[] = [
  ['curl -H "Authorization: Bearer {}" https://a.example', j('abcdEFGH', '1234567890xyz')],
  ["curl -H 'Authorization: Basic {}' https://a.example", 'Ym9iOmh1bnRlcjI='],
  ['Authorization: token {}', 'f00dfeedcafe1234'],
  ['git clone https://bob:{}@git.example/a.git', 'hunter2'],
  ['postgres://app:{}@db:5432/shop', 's3cr3t!pw'],
  ['redis://:{}@cache:6379/0', 'r3d1spass'],
  ['mysql -u root -p{} shop', 'hunter2'],
  ['mysqldump --password={} shop', 'hunter2'],
  ['tool --password "{}" x', 'two words 1'],
  ['tool --token={}', 'abc123def456'],
  ['tool --api-key {}', 'abc123def456'],
  ['PGPASSWORD={} psql -h db', 'hunter2'],
  ['DB_TOKEN={} ./run', 'hunter2x'],
  ['STRIPE_SECRET={}', 'hunter2x'],
  ['export OPENAI_API_KEY={}', j('sk-', 'proj-abcdefghij0123456789XYZ')],
  ['MY_SERVICE_KEY={} x', 'zzz111yyy222'],
  ['{"user":"bob","password": "{}"}', 'hun"ter'.replace('"', '')],
  ['{"clientSecret":"{}"}', 'hunter2x'],
  ['aws_secret_access_key = {}', j('wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYzzzzzzzzzz')],
  ['key {} here', j('AKIA', 'ABCDEFGHIJKLMNOP')],
  ['key {} here', j('ASIA', 'ABCDEFGHIJKLMNOP')],
  ['push {}', j('ghp_', 'abcdefghijklmnopqrstuvwxyz0123456789')],
  ['push {}', j('gho_', 'abcdefghijklmnopqrstuvwxyz0123456789')],
  ['push {}', j('github_pat_', '11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz')],
  ['x {}', j('glpat-', 'abcdefghij0123456789')],
  ['x {}', j('xoxb-', '123456789012-abcdefghijkl')],
  ['x {}', j('AIza', 'SyA1234567890abcdefghijklmnopqrstuv')],
  ['x {}', j('sk-', 'ant-api03-abcdefghijklmnop0123456789')],
  ['x {}', j('sk-', 'or-v1-abcdefghijklmnop0123456789')],
  ['x {}', j('npm_', 'abcdefghijklmnopqrstuvwxyz0123456789')],
  ['x {}', j('sk_', 'live_abcdefghijklmnop0123')],
  ['x {}', j('tskey-', 'auth-kABCDEF1CNTRL-abcdefghijkl')],
  ['x {}', j('dop_v1_', 'a'.repeat(64))],
  ['x {}', j('AGE-SECRET-', 'KEY-1QQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQ')],
  ['x {}', j('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZw')],
  ['Authorization: PVEAPIToken=root@pam!mon={}', '12345678-1234-1234-1234-123456789abc'],
  ['curl -u bob:{} https://a.example', 'hunter2'],
  ["ALTER USER bob IDENTIFIED BY '{}'", 'hunter2'],
  ['sshpass -p {} ssh host', 'hunter2'],
  ['https://a.example/cb?access_token={}&x=1', 'abcdef123456'],
  ['password: {}', 'hunter2x'],
  ['machine a.example login bob password {}', 'hunter2'],
  ['root:{}:19000:0:99999:7:::', j('$6$', 'saltsalt$', 'abcdefghijklmnopqrstuvwxyz0123456789')],
  ['PrivateKey = {}', j('aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789+', '/aBcDe=')],
  ["pct set 101 --password '{}'", 'hun ter2'],
  ['HCLOUD_TOKEN={} hcloud server list', 'abcdefghij0123456789'],
]

const PLAIN: readonly string[] = [
  'git show 9f2c1e7a4b5d6c7e8f9a0b1c2d3e4f5a6b7c8d9e',
  'id 123e4567-e89b-12d3-a456-426614174000',
  'tool --token-ttl 5',
  'PATH=/usr/bin:/bin ls',
  'KEYBOARD=de ls',
  'KEY_COUNT=4',
  'MONKEY=banana',
  'passwd -S bob',
  'cat /etc/passwd',
  'grep password /var/log/auth.log',
  'ssh -i ~/.ssh/id_ed25519 host',
  'tool --password-file /etc/tool/pw',
  'tool --password $PASS',
  'DB_PASSWORD=$(cat /run/pw) ./x',
  'tool --password "$(rm -rf /srv)"',
  'mysql --port 3306 -P 3306',
  'docker run -p 8080:80 nginx',
  'https://a.example:8443/x?page=2&sort=asc',
  'SHA256:aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFg',
  `log line ${B}${B}${B}`,
  'Basic information about the bearer of bad news',
  'token: see the manual page',
  'secret = compute(x)',
  'const token = parser.next()',
  'TOKEN_TTL=30',
  'AUTH=none PASSWORD=',
  'password=********',
]

describe('redact', () => {
  it.each(SECRETS)('takes the secret out of %s', (template, secret) => {
    const { text, found } = redact(template.replace('{}', () => secret))
    expect(text).not.toContain(secret)
    expect(text).toContain('‹redacted: ')
    expect(found.length).toBeGreaterThan(0)
    expect(redact(text).text).toBe(text)
  })

  it.each(PLAIN)('leaves %s alone', (text) => {
    expect(redact(text)).toEqual({ text, found: [] })
  })

  it('keeps what stands around a secret', () => {
    expect(redact('PGPASSWORD=hunter2 psql -h db').text).toBe('PGPASSWORD=‹redacted: secret› psql -h db')
    expect(redact('tool --password "a b" --verbose').text).toBe('tool --password "‹redacted: password›" --verbose')
    expect(redact('https://bob:hunter2@a.example/x').text).toBe('https://bob:‹redacted: password›@a.example/x')
    expect(redact('PGPASSWORD=hunter2;rm -rf /srv').text).toContain(';rm -rf /srv')
  })

  it('takes whole private-key blocks, also a cut-off one', () => {
    expect(redact(`a\n${PEM}\nb`).text).toBe('a\n‹redacted: private key›\nb')
    expect(redact(`a\n${PEM.slice(0, 60)}`).text).toBe('a\n‹redacted: private key›')
    expect(redact('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----').found).toEqual([])
  })

  it('says where the replacements stand', () => {
    const text = 'PGPASSWORD=hunter2 psql; tool --token=abc123def456 x'
    const { text: out, found } = redact(text)
    for (const hit of found) {
      expect(out.slice(hit.newStart, hit.newEnd)).toBe(`‹redacted: ${hit.kind}›`)
      expect(mapSpan(found, hit)).toEqual({ start: hit.newStart, end: hit.newEnd })
    }
    const psql = text.indexOf('psql')
    const span = mapSpan(found, { start: psql, end: psql + 4 })
    expect(out.slice(span.start, span.end)).toBe('psql')
    const last = mapSpan(found, { start: text.length - 1, end: text.length })
    expect(out.slice(last.start, last.end)).toBe('x')
    const inner = mapSpan(found, { start: text.indexOf('unter'), end: text.indexOf('unter') + 2 })
    expect(out.slice(inner.start, inner.end)).toBe('‹redacted: secret›')
  })

  it('needs time in proportion to the text, whatever stands in it', () => {
    const shapes = [
      'a',
      'A_',
      'password',
      'token=',
      '--password ',
      '"password": "',
      'mysql ',
      'curl -u ',
      'eyJ',
      'http://',
      'http://a:',
      '://:',
      '-----BEGIN RSA PRIVATE',
      j('-----BEGIN PRIVATE', ' KEY-----'),
      'x-api-key:',
      'sk-',
      '$6$',
      'Authorization: ',
      "'",
      '"',
      '\\',
      'a.b-',
      'machine x login ',
      'PASSWORD',
      '?token=',
      'zip -P',
      '-',
      '_KEY=',
      'A1_',
      'identified by ',
      ' -p',
      'redis-cli -a ',
      '"aSecret":"\\',
    ]
    for (const shape of shapes) {
      const text = shape.repeat(Math.ceil(2 ** 20 / shape.length))
      const started = performance.now()
      redact(text)
      expect(performance.now() - started, shape).toBeLessThan(8000)
    }
  }, 120_000)

  it('changes nothing more the second time', () => {
    const piece = fc.oneof(
      fc.constantFrom(...SECRETS.map(([template, secret]) => template.replace('{}', () => secret))),
      fc.constantFrom(...PLAIN, PEM, '\n', ' ', '=', ':', '"', "'", '@', '‹', '›', 'password', '--token ', '://'),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom('', ' ', '\n'), (pieces, glue) => {
        const once = redact(pieces.join(glue)).text
        expect(redact(once).text).toBe(once)
      }),
      { numRuns: 1500 },
    )
  })
})

describe('createStreamRedactor', () => {
  const line = fc.oneof(
    fc.constantFrom(...SECRETS.map(([template, secret]) => template.replace('{}', () => secret))),
    fc.constantFrom(...PLAIN, PEM, PEM.slice(0, 70), ''),
    fc.string({ maxLength: 30 }),
  )

  it('gives out the same as the redactor of the whole, however the text is split', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 10 }), fc.array(fc.nat(), { maxLength: 12 }), (lines, cuts) => {
        const text = lines.join('\n')
        const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
        const stream = createStreamRedactor()
        let out = ''
        let from = 0
        for (const cut of [...at, text.length]) {
          out += stream.push(text.slice(from, cut))
          from = cut
        }
        expect(out + stream.flush()).toBe(redact(text).text)
      }),
      { numRuns: 1000 },
    )
  })

  it('never lets a secret through that came character by character', () => {
    for (const [template, secret] of SECRETS) {
      const stream = createStreamRedactor()
      let out = ''
      for (const c of `before\n${template.replace('{}', () => secret)}\nafter\n`) out += stream.push(c)
      expect(out).toContain('after\n')
      expect(out + stream.flush()).not.toContain(secret)
    }
  })

  it('holds a private key back until its end and goes on behind it', () => {
    const stream = createStreamRedactor()
    let out = stream.push('a\n')
    for (let i = 0; i < PEM.length; i += 7) out += stream.push(PEM.slice(i, i + 7))
    out += stream.push('\nb\n')
    expect(out + stream.flush()).toBe('a\n‹redacted: private key›\nb\n')
  })

  it('gives out long lines before they end, without their secrets', () => {
    const stream = createStreamRedactor()
    const filler = 'lorem ipsum '.repeat(400)
    let out = ''
    for (let i = 0; i < 20; i++) out += stream.push(`${filler}PGPASSWORD=hunter${i}x `)
    expect(out.length).toBeGreaterThan(50_000)
    out += stream.flush()
    expect(out).not.toMatch(/hunter\d/)
  })
})
