import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { runChild, whyFailed } from './child.mjs'
import { SetupError } from './errors.mjs'
import { lastLines } from './npm.mjs'
import { root } from './paths.mjs'
import { step } from './progress.mjs'
import { readStamp, removeStamp, stampMatches, writeStamp } from './stamp.mjs'

const buildLimitMs = 10 * 60_000
const sources = ['src-main', 'src-preload', 'src-renderer', 'policies', 'resources']
const settings = ['electron.vite.config.ts', 'package-lock.json', 'package.json', 'tsconfig.json']
const testFile = /\.(test|spec)\.[cm]?[jt]sx?$/

/** What each part of the build must have left behind; a build without them was not finished. */
const results = ['main/index.js', 'main/cli.js', 'main/headless.js', 'preload/index.cjs', 'renderer/index.html']

function stampFile(checkout) {
  return path.join(checkout, 'node_modules', '.nomos', 'build.json')
}

/**
 * Every file that goes into the build, with size and time of change. Tests are left out: they change often and are
 * never bundled.
 * @param {string} checkout
 * @returns {{name: string, size: number, mtime: number}[]}
 */
export function sourceFiles(checkout) {
  const found = []
  for (const name of settings) addFile(checkout, name, found)
  for (const name of sources) walk(checkout, name, found)
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function walk(checkout, folder, found) {
  let entries = []
  try {
    entries = readdirSync(path.join(checkout, folder), { withFileTypes: true })
  } catch {
    return
  }
  for (const entry of entries) {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) walk(checkout, name, found)
    else if (!testFile.test(entry.name)) addFile(checkout, name, found)
  }
}

function addFile(checkout, name, found) {
  const stat = statSync(path.join(checkout, name), { throwIfNoEntry: false })
  if (stat) found.push({ name, size: stat.size, mtime: stat.mtimeMs })
}

function digest(lines) {
  const hash = createHash('sha256')
  for (const line of lines) hash.update(`${line}\n`)
  return hash.digest('hex')
}

/** Cheap: names, sizes and times only. */
function quickFingerprint(files) {
  return digest(files.map((file) => `${file.name} ${file.size} ${file.mtime}`))
}

/** Dear: the content. Asked only when the cheap one differs, for example after a change of branch and back. */
function contentFingerprint(checkout, files) {
  return digest(
    files.map((file) => {
      const content = createHash('sha256').update(readFileSync(path.join(checkout, file.name)))
      return `${file.name} ${content.digest('hex')}`
    }),
  )
}

function outputs(checkout) {
  const found = []
  walk(checkout, 'out', found)
  return digest(found.map((file) => `${file.name} ${file.size}`).sort())
}

/**
 * True when `out/` was built from the sources as they are now, and is still what that build left.
 * @param {string} [checkout]
 */
export function buildFresh(checkout = root) {
  const stamp = readStamp(stampFile(checkout))
  if (!stamp || stamp.outputs !== outputs(checkout)) return false
  const files = sourceFiles(checkout)
  const quick = quickFingerprint(files)
  if (stampMatches(stamp, { quick })) return true
  if (stamp.content !== contentFingerprint(checkout, files)) return false
  writeStamp(stampFile(checkout), { ...stamp, quick })
  return true
}

/**
 * Bundles main, preload and renderer.
 * @param {(line: string) => void} log
 * @param {string} [checkout]
 */
export async function buildApp(log, checkout = root) {
  removeStamp(stampFile(checkout))
  // Taken before the build: a file saved while it runs must make the next check fail, not pass.
  const files = sourceFiles(checkout)
  const quick = quickFingerprint(files)
  const content = contentFingerprint(checkout, files)
  await step(log, 'building the app', () => runBuild(checkout), { expectedSeconds: 15 })
  requireResults(checkout)
  writeStamp(stampFile(checkout), { quick, content, outputs: outputs(checkout) })
}

async function runBuild(checkout) {
  const script = path.join(checkout, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js')
  const result = await runChild(process.execPath, [script, 'build', '--logLevel', 'warn'], {
    cwd: checkout,
    // The same output runs in Node 20, in the development runtime and in the official one: compile for the oldest.
    env: { ...process.env, ELECTRON_MAJOR_VER: '33', NODE_ENV: 'production' },
    timeoutMs: buildLimitMs,
  })
  if (result.code === 0) return
  throw new SetupError(`The app could not be built: ${whyFailed(result)}.`, {
    output: lastLines(withoutStack(result.output), 40),
    remedy: 'mend the source that the lines above name, then start again.',
  })
}

/** Where inside the bundler an error was thrown tells nothing about the source that caused it. */
function withoutStack(output) {
  return output
    .split('\n')
    .filter((line) => !/^\s+at .*:\d+:\d+\)?$/.test(line))
    .join('\n')
}

function requireResults(checkout) {
  const missing = results.filter((name) => !statSync(path.join(checkout, 'out', name), { throwIfNoEntry: false }))
  if (missing.length === 0) return
  throw new SetupError(`The build ended well but did not write ${missing.map((name) => `out/${name}`).join(', ')}.`, {
    remedy: 'compare the entry points in electron.vite.config.ts with the sources.',
  })
}
