import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'

const LOG = [
  'Jan  2 03:04:05 host app[12]: started',
  'Jan  2 03:04:06 host app[12]: error: needle in the haystack',
  'Jan  2 03:04:07 host kernel: reboot',
].join('\n')

const JSON_TEXT = JSON.stringify({ name: 'app', version: '1.0.0', items: [{ id: 1, name: 'a' }], a: { b: [1, 2] } })

/** Content by the end of the name: enough for a reader of that kind to read on. */
const CONTENT: readonly (readonly [RegExp, string | Uint8Array])[] = [
  [/\.json$/, JSON_TEXT],
  [/\.ya?ml$/, 'name: app\nservices:\n  web:\n    image: nginx\n'],
  [/\.csv$/, 'id,name\n1,a\n2,b\n'],
  [/\.tsv$/, 'id\tname\n1\ta\n'],
  [/\.toml$/, 'name = "app"\n'],
  [/\.xml$/, '<a><b>1</b></a>\n'],
  [/\.html?$/, '<p>hello</p>\n'],
  [/\.(tar\.gz|tgz)$/, gzipSync(tarOf('a.txt', 'hello\n'))],
  [/\.tar$/, tarOf('a.txt', 'hello\n')],
  [/\.gz$/, gzipSync(`${LOG}\n`)],
  [/\.(sh|bash)$/, '#!/bin/sh\necho hello\n'],
  [/\.py$/, 'print("hello")\n'],
  [/\.js$/, 'console.log("hello")\n'],
  [/\.sql$/, 'select 1;\n'],
  [/\.tf$/, 'output "a" {\n  value = 1\n}\n'],
  [/\.(diff|patch)$/, '--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n'],
  [/./, `${LOG}\n`],
]

/** Traps: a project may name programs in its own files. A read that starts one of them has been led to it, and the trace shows it. */
const TRAP = '#!/bin/sh\ntouch /srv/app/trap-was-sprung\n'

const APP: Readonly<Record<string, string>> = {
  'a.txt': 'alpha\nbeta\n',
  'b.txt': 'alpha\ngamma\n',
  a: 'alpha\n',
  b: 'beta\n',
  c: 'gamma\n',
  f: 'alpha\n',
  file: 'alpha\nbeta\n',
  'README.md': '# App\n',
  Makefile: 'all:\n\ttouch trap-was-sprung\n',
  Dockerfile: 'FROM debian\n',
  'app.log': `${LOG}\n`,
  'package.json': JSON.stringify({
    name: 'app',
    version: '1.0.0',
    scripts: { preinstall: './trap', prepare: './trap', version: './trap', test: './trap' },
    dependencies: { left: '1.0.0' },
  }),
  'node_modules/left/package.json': JSON.stringify({ name: 'left', version: '1.0.0' }),
  'composer.json': JSON.stringify({ name: 'a/b', scripts: { 'pre-command-run': './trap' } }),
  'Cargo.toml': '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n',
  'Cargo.lock': 'version = 3\n\n[[package]]\nname = "app"\nversion = "0.1.0"\n',
  'build.rs': 'fn main() {}\n',
  'src/main.rs': 'fn main() {}\n',
  'src/main.c': 'int main(void) { return 0; }\n',
  'go.mod': 'module app\n\ngo 1.19\n',
  'main.go': 'package main\n\nfunc main() {}\n',
  'main.tf': 'output "a" {\n  value = 1\n}\n',
  'terraform.tfstate': JSON.stringify({
    version: 4,
    terraform_version: '1.5.0',
    serial: 1,
    lineage: 'a',
    outputs: {},
    resources: [],
  }),
  'docker-compose.yml': 'services:\n  web:\n    image: nginx\n',
  'compose.yaml': 'services:\n  web:\n    image: nginx\n',
  'Chart.yaml': 'apiVersion: v2\nname: app\nversion: 0.1.0\n',
  'values.yaml': 'replicas: 1\n',
  'templates/a.yaml': 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n',
  'data.csv': 'id,name\n1,a\n2,b\n',
  'data.json': JSON_TEXT,
  'pyproject.toml': '[project]\nname = "app"\nversion = "1.0"\n',
  'requirements.txt': 'left==1.0\n',
}

const TRAPS = [
  'trap',
  'ls',
  'git',
  'cat',
  'node_modules/.bin/left',
  '.git/hooks/pre-commit',
  '.git/hooks/post-index-change',
] as const

/**
 * Fills a disposable root. `commands`: files that they name are made, with content by the end of their names. Nothing here is random, so
 * that two runs see the same.
 */
export function furnish(root: string, commands: readonly string[]): void {
  const app = join(root, 'srv/app')
  for (const [name, content] of Object.entries(APP)) put(join(app, name), content)
  repository(app)
  for (const name of TRAPS) {
    put(join(app, name), TRAP)
    chmodSync(join(app, name), 0o755)
  }
  for (const home of ['home/ann', 'root']) {
    put(join(root, home, 'notes.txt'), 'alpha\n')
    put(join(root, home, '.bashrc'), 'touch ~/trap-was-sprung\n')
    put(join(root, home, '.profile'), 'touch ~/trap-was-sprung\n')
    put(join(root, home, '.bash_history'), 'ls\n')
    put(join(root, home, '.ssh/config'), 'Host web\n  HostName 192.0.2.1\n')
    put(
      join(root, home, '.ssh/id_ed25519.pub'),
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPUv0xJ9R8CqVwYQzqK0Zr0w2m8b1mX3a1cXQe0qf0aB ann@host\n',
    )
    put(
      join(root, home, '.ssh/known_hosts'),
      '192.0.2.1 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPUv0xJ9R8CqVwYQzqK0Zr0w2m8b1mX3a1cXQe0qf0aB\n',
    )
  }
  for (const name of [
    'syslog',
    'messages',
    'auth.log',
    'kern.log',
    'nginx/access.log',
    'nginx/error.log',
    'dpkg.log',
    'apt/history.log',
  ])
    put(join(root, 'var/log', name), `${LOG}\n`)
  put(join(root, 'var/log/syslog.2.gz'), gzipSync(`${LOG}\n`))
  for (const name of [
    'var/lib/dpkg',
    'var/lib/apt/lists/partial',
    'var/cache/apt/archives/partial',
    'var/tmp',
    'run/lock',
    'run/user/0',
    'opt/app',
    'var/lib/misc',
    'var/spool/cron/crontabs',
  ])
    mkdirSync(join(root, name), { recursive: true })
  // Never an absolute link: outside, it would lead to the machine's own.
  symlinkSync('../run', join(root, 'var/run'))
  symlinkSync('../run/lock', join(root, 'var/lock'))
  for (const path of commands.flatMap(filesNamed)) {
    const at = join(root, path)
    try {
      if (lstatSync(at, { throwIfNoEntry: false }) !== undefined || !inside(root, at)) continue
      put(at, CONTENT.find(([pattern]) => pattern.test(path))?.[1] ?? '')
    } catch {
      // A file stands where a folder would be needed: another command names it.
    }
  }
}

/** The nearest folder that is there lies in the root: a link that came along with `/etc` may lead to the machine itself. */
function inside(root: string, path: string): boolean {
  let at = dirname(path)
  while (!existsSync(at)) {
    // A link that leads nowhere would be followed all the same.
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) return false
    at = dirname(at)
  }
  return `${realpathSync(at)}/`.startsWith(`${realpathSync(root)}/`)
}

const PLACES = /^\/(?:srv\/app|home\/ann|root|etc|var|opt|mnt|tmp\/work)\//

/** Absolute paths of what looks like a file in a command. */
function filesNamed(command: string): readonly string[] {
  return command
    .split(/[\s|;&<>()=]+/)
    .map((word) => word.replace(/^['"]|['"]$/g, ''))
    .filter((word) => /^[\w~./-]+$/.test(word) && !word.startsWith('-') && !word.endsWith('/') && /[a-zA-Z]/.test(word))
    .filter(
      (word) => word.startsWith('/') || word.startsWith('~/') || /\.[a-zA-Z0-9]+$/.test(word) || word.includes('/'),
    )
    .filter((word) => !/(?:^|\/)(?:\.git\/|\.[^/]*$)/.test(word))
    .map((word) => posix.resolve('/srv/app', word.replace(/^~\//, '/home/ann/')))
    .filter((path) => PLACES.test(path))
}

/** A repository with a past: two commits, a branch, a tag, a stash, a remote, something staged and something not. */
function repository(app: string): void {
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ann',
    GIT_AUTHOR_EMAIL: 'ann@a.example',
    GIT_COMMITTER_NAME: 'Ann',
    GIT_COMMITTER_EMAIL: 'ann@a.example',
    GIT_AUTHOR_DATE: '2024-01-02T03:04:05Z',
    GIT_COMMITTER_DATE: '2024-01-02T03:04:05Z',
  }
  const git = (...words: string[]): void => {
    spawnSync('git', words, { cwd: app, env, stdio: 'ignore' })
  }
  git('init', '-q', '-b', 'main')
  git('add', 'a.txt', 'b.txt', 'src', 'README.md')
  git('commit', '-qm', 'First')
  git('tag', 'v1.0')
  git('branch', 'dev')
  writeFileSync(join(app, 'a.txt'), 'alpha\nbeta\ndelta\n')
  git('commit', '-qam', 'Second')
  git('remote', 'add', 'origin', 'https://git.example/app.git')
  writeFileSync(join(app, 'b.txt'), 'stashed\n')
  git('stash')
  writeFileSync(join(app, 'b.txt'), 'not staged\n')
  git('add', 'Makefile')
}

function tarOf(name: string, text: string): Uint8Array {
  const head = Buffer.alloc(512)
  head.write(name, 0)
  head.write('0000644\0', 100)
  head.write('0000000\0', 108)
  head.write('0000000\0', 116)
  head.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124)
  head.write('00000000000\0', 136)
  head.write('        ', 148)
  head.write('0', 156)
  head.write('ustar\x0000', 257)
  head.write(
    `${head
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512)
  body.write(text)
  return Buffer.concat([head, body, Buffer.alloc(1024)])
}

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}
