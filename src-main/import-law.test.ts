import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseSync } from 'oxc-parser'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')

interface Import {
  readonly from: string
  /** A path from the root for our own files, else the name of the package. */
  readonly to: string
  readonly typeOnly: boolean
}

const files = (folder: string): string[] =>
  readdirSync(join(root, folder)).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(join(root, path)).isDirectory()) return files(path)
    return /\.tsx?$/.test(name) ? [path] : []
  })

/** Tests, and the beds they share, may build their world out of anything. */
const isTest = (path: string): boolean => /\.(test|fixture)\.tsx?$|(^|\/)testbed\.ts$|^src-renderer\/dev\//.test(path)

function importsOf(path: string): Import[] {
  const text = readFileSync(join(root, path), 'utf8')
  const { module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const found: Import[] = []
  const add = (request: string, typeOnly: boolean): void => {
    const to = request.startsWith('.')
      ? relative(root, resolve(root, dirname(path), request))
          .split(sep)
          .join('/')
      : request
    found.push({ from: path, to, typeOnly })
  }
  for (const one of module.staticImports) {
    // `import 'x'` has no entries and runs x; `import type` and `import { type A }` vanish.
    add(one.moduleRequest.value, one.entries.length > 0 && one.entries.every(({ isType }) => isType))
  }
  for (const one of module.staticExports) {
    for (const entry of one.entries) if (entry.moduleRequest !== null) add(entry.moduleRequest.value, entry.isType)
  }
  for (const one of module.dynamicImports) {
    add(text.slice(one.moduleRequest.start, one.moduleRequest.end).replace(/^['"`]|['"`]$/g, ''), false)
  }
  // Anything that is loaded by name at run time counts as well.
  for (const [, name] of text.matchAll(/\brequire\(\s*['"]([^'"]+)['"]\s*\)/g)) if (name) add(name, false)
  return found
}

const sources = ['src-main', 'src-preload', 'src-renderer'].flatMap(files).filter((path) => !isTest(path))
const imports = sources.flatMap(importsOf)
const within = (path: string, ...folders: string[]): boolean =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
const from = (...folders: string[]): Import[] => imports.filter((one) => within(one.from, ...folders))
const isOurs = (path: string): boolean =>
  within(path, 'src-main', 'src-preload', 'src-renderer', 'policies', 'package.json')
const breaches = (list: readonly Import[]): string[] => list.map((one) => `${one.from} → ${one.to}`)

describe('the import law', () => {
  it('sees imports at all', () => {
    expect(imports.length).toBeGreaterThan(100)
    expect(from('src-main/domain').some(({ to }) => to === 'unbash')).toBe(true)
    expect(from('src-main/index.ts').some(({ to }) => to === 'electron')).toBe(true)
  })

  it('domain imports only the shared models, itself and its pure libraries', () => {
    const wrong = from('src-main/domain').filter(
      ({ to }) =>
        !within(to, 'src-main/domain', 'src-preload/contract/model') &&
        !['zod', 'unbash', 're2js', 'minimatch', 'yaml', 'node:crypto'].includes(to),
    )
    expect(breaches(wrong)).toEqual([])
  })

  it('domain has no clock, no chance, no process and no network', () => {
    const wrong = sources
      .filter((path) => within(path, 'src-main/domain'))
      .filter((path) =>
        /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.|\bfetch\(|\bsetTimeout\b|\brandomBytes\b|\bperformance\./.test(
          withoutComments(path),
        ),
      )
    expect(wrong).toEqual([])
  })

  it('ports import only the contract and each other', () => {
    expect(
      breaches(from('src-main/ports').filter(({ to }) => !within(to, 'src-main/ports', 'src-preload/contract'))),
    ).toEqual([])
  })

  it('services import domain, ports, the contract and each other', () => {
    const wrong = from('src-main/services').filter(
      ({ to }) =>
        !within(to, 'src-main/services', 'src-main/domain', 'src-main/ports', 'src-preload/contract') && to !== 'zod',
    )
    expect(breaches(wrong)).toEqual([])
  })

  it('adapters never import services, the shell or each other', () => {
    const wrong = from('src-main/adapters').filter(({ from: file, to }) => {
      const own = file.split('/').slice(0, 3).join('/')
      return isOurs(to) && !within(to, own, 'src-main/ports', 'src-main/domain', 'src-preload/contract')
    })
    expect(breaches(wrong)).toEqual([])
  })

  it('only the shell, index.ts and the bridge import electron; the shell imports ports and the contract', () => {
    const wrong = imports.filter(
      ({ from: file, to }) =>
        to === 'electron' && !within(file, 'src-main/shell', 'src-main/index.ts', 'src-preload/index.ts'),
    )
    expect(breaches(wrong)).toEqual([])
    const shell = from('src-main/shell').filter(
      ({ to }) =>
        isOurs(to) && !within(to, 'src-main/shell', 'src-main/ports', 'src-preload/contract', 'src-preload/channels'),
    )
    expect(breaches(shell)).toEqual([])
  })

  it('the core that runs without a window reaches no electron', () => {
    const seen = new Set<string>()
    const walk = (path: string): void => {
      if (seen.has(path)) return
      seen.add(path)
      for (const { to } of imports.filter((one) => one.from === path)) {
        expect(to).not.toBe('electron')
        for (const candidate of [`${to}.ts`, `${to}.tsx`, `${to}/index.ts`])
          if (sources.includes(candidate)) walk(candidate)
      }
    }
    walk('src-main/compose.ts')
    expect(seen.size).toBeGreaterThan(40)
  })

  it('the preload and the contract import nothing of main or the window', () => {
    const wrong = from('src-preload').filter(
      ({ to }) => !within(to, 'src-preload') && !['zod', 'electron'].includes(to),
    )
    expect(breaches(wrong)).toEqual([])
  })

  it('the window imports types of the contract and nothing of main', () => {
    const wrong = from('src-renderer').filter(
      ({ to, typeOnly }) => within(to, 'src-main') || (within(to, 'src-preload') && !typeOnly),
    )
    expect(breaches(wrong)).toEqual([])
  })

  it('rooms never import rooms, parts import no store and no bridge', () => {
    const room = (path: string): string => path.split('/').slice(0, 3).join('/')
    const rooms = from('src-renderer/rooms').filter(
      ({ from: file, to }) => within(to, 'src-renderer/rooms') && room(to) !== room(file),
    )
    expect(breaches(rooms)).toEqual([])
    const parts = from('src-renderer/parts').filter(
      ({ to }) => to === 'zustand' || (isOurs(to) && !within(to, 'src-renderer/parts', 'src-preload/contract')),
    )
    expect(breaches(parts)).toEqual([])
  })

  it('no drawer for everything', () => {
    const bad = sources.filter((path) =>
      path.split('/').some((part) => /^(utils?|helpers?|managers?|common|misc)(\.tsx?)?$/.test(part)),
    )
    expect(bad).toEqual([])
  })
})

describe('one door', () => {
  it('only the runners may start a process or open a channel', () => {
    const starters = ['node:child_process', 'child_process', 'ssh2', 'node:cluster', 'node:worker_threads', 'node-pty']
    const wrong = imports.filter(
      ({ from: file, to, typeOnly }) =>
        starters.includes(to) &&
        !typeOnly &&
        !within(file, 'src-main/adapters/local', 'src-main/adapters/ssh', 'src-main/adapters/lxc'),
    )
    expect(breaches(wrong)).toEqual([])
  })

  it('only compose knows the runners, and hands them to the gate alone', () => {
    const wrong = imports.filter(
      ({ from: file, to }) =>
        within(to, 'src-main/adapters/local', 'src-main/adapters/ssh', 'src-main/adapters/lxc') &&
        !within(file, to.split('/').slice(0, 3).join('/'), 'src-main/compose.ts'),
    )
    expect(breaches(wrong)).toEqual([])
    const compose = withoutComments('src-main/compose.ts')
    // As a runner they stand in one place; besides, the fleet has the probe, the socket the process groups, the end their close().
    expect(compose.match(/\brunners:/g)).toHaveLength(1)
    expect(compose).not.toMatch(/\b(local|ssh)\.(start|prepare)\b/)
  })

  it('only the gate uses its halves', () => {
    const wrong = imports.filter(
      ({ from: file, to, typeOnly }) =>
        /^src-main\/services\/gate-(judge|runs)$/.test(to) && !typeOnly && file !== 'src-main/services/gate.ts',
    )
    expect(breaches(wrong)).toEqual([])
  })

  it('among the services only the gate speaks to a runner', () => {
    const wrong = sources
      .filter(
        (path) => within(path, 'src-main/services') && !/^src-main\/services\/gate(-judge|-runs)?\.ts$/.test(path),
      )
      .filter((path) => /\bRunner\b|\bRunHandle\b/.test(withoutComments(path)))
    expect(wrong).toEqual([])
  })
})

function withoutComments(path: string): string {
  return readFileSync(join(root, path), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|[^:])\/\/.*$/gm, '$1')
}
