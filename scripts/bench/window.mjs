import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { SetupError } from '../setup/errors.mjs'
import { cacheRoot, root } from '../setup/paths.mjs'

export const name = 'window'

/** What the product promises: no more than this many times an empty window. */
const aim = 1.5
const rounds = 12
const interactiveLimitMs = 60_000
const composer = '[data-testid="composer"]'

// `ready` comes only after the main module has been evaluated: awaiting it at top level would wait for ever.
const emptyMain = `import { app, BrowserWindow } from 'electron'
import path from 'node:path'
const [width, height] = process.env.NOMOS_BENCH_SIZE.split('x').map(Number)
app.whenReady().then(() => {
  const window = new BrowserWindow({ width, height, webPreferences: { sandbox: true } })
  window.loadFile(path.join(app.getAppPath(), 'index.html'))
})
app.on('window-all-closed', () => app.quit())
`
const emptyPage = '<!doctype html><title>empty</title><textarea data-testid="composer"></textarea>\n'

/**
 * Time from the launch until the composer takes a key, as a ratio to an Electron window that holds nothing but a text
 * field. Both are launched in the same way, with the same flags and the same window size, in alternation: what the
 * machine does at the same time touches both.
 * @param {import('../bench.mjs').BenchContext} context
 */
export async function run({ electron, log }) {
  const temp = makeFolder('bench')
  try {
    const empty = writeEmptyApp(path.join(temp, 'empty'))
    // One launch of each is not counted: it fills the disk cache, and tells the size of the real window.
    const first = await launchOnce(electron, root, temp, '1280x800')
    const size = `${first.bounds.width}x${first.bounds.height}`
    await launchOnce(electron, empty, temp, size)
    const times = await alternate(electron, { empty, nomos: root }, temp, size, log)
    return summary(times, size)
  } finally {
    // Helper processes may outlive their parent by a moment and still write.
    rmSync(temp, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

function makeFolder(purpose) {
  const parent = path.join(cacheRoot(), 'tmp')
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(path.join(parent, `${purpose}-${process.pid}-`))
}

function writeEmptyApp(folder) {
  mkdirSync(folder, { recursive: true })
  const manifest = { name: 'empty-window', version: '1.0.0', type: 'module', main: 'main.js' }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(path.join(folder, 'main.js'), emptyMain)
  writeFileSync(path.join(folder, 'index.html'), emptyPage)
  return folder
}

async function alternate(electron, folders, temp, size, log) {
  const times = { empty: [], nomos: [] }
  for (let round = 1; round <= rounds; round++) {
    // Each goes first every other time, so that neither always follows the other.
    const order = round % 2 === 0 ? ['nomos', 'empty'] : ['empty', 'nomos']
    for (const which of order) {
      const { milliseconds } = await launchOnce(electron, folders[which], temp, size)
      times[which].push(milliseconds)
    }
    log(`round ${round} of ${rounds}: empty ${times.empty.at(-1)} ms, nomos ${times.nomos.at(-1)} ms`)
  }
  return times
}

/**
 * One launch with a home of its own, measured until the composer holds the character of a pressed key.
 * @param {import('../bench.mjs').BenchContext['electron']} electron
 * @param {string} folder
 * @param {string} temp
 * @param {string} size
 */
export async function launchOnce(electron, folder, temp, size) {
  const { _electron } = await import('playwright')
  const home = mkdtempSync(path.join(temp, 'home-'))
  const began = performance.now()
  const app = await _electron.launch({
    executablePath: electron.executable,
    args: [...electron.flags, `--user-data-dir=${path.join(home, 'profile')}`, folder],
    env: { ...electron.env, DISPLAY: process.env.DISPLAY, NOMOS_HOME: home, NOMOS_BENCH_SIZE: size },
    timeout: interactiveLimitMs,
  })
  const words = collectOutput(app.process())
  try {
    const page = await app.firstWindow({ timeout: interactiveLimitMs })
    await becomeInteractive(page)
    const milliseconds = Math.round((performance.now() - began) * 10) / 10
    const bounds = await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0].getBounds())
    return { milliseconds, bounds }
  } catch (error) {
    throw new SetupError(`The window of ${folder} never took a key: ${error.message.split('\n')[0]}`, {
      output: words().split('\n').slice(-15).join('\n'),
      remedy: 'start the same app with `npm start` and mend what its output above says.',
      cause: error,
    })
  } finally {
    await endApp(app)
  }
}

/** What the app says is shown only when it fails; it has to be read all the same, or a full pipe would stop it. */
function collectOutput(child) {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text = (text + chunk).slice(-8_000)
    })
  }
  return () => text
}

async function becomeInteractive(page) {
  const field = page.locator(composer)
  await field.waitFor({ state: 'visible', timeout: interactiveLimitMs })
  // Focus waits for nothing but the element; a key pressed into a disabled field would be lost, so ask first.
  const limit = performance.now() + interactiveLimitMs
  while (!(await field.isEnabled())) requireTime(limit, 'the composer never became enabled')
  await field.focus()
  await page.keyboard.press('x')
  // Reading the value through the locator works under a strict content security policy, evaluating in the page may not.
  while (!(await field.inputValue()).includes('x')) requireTime(limit, 'the composer did not take the key')
}

function requireTime(limit, problem) {
  if (performance.now() > limit) throw new Error(`${problem} within ${interactiveLimitMs / 1000} s`)
}

/** A measured app has nothing to save: it is ended at once, and never waited for without limit. */
async function endApp(app) {
  const child = app.process()
  const gone = new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', resolve)
  })
  try {
    // Playwright starts it as the head of a group, which holds the helper processes as well.
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
  await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 5_000).unref())])
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function summary({ empty, nomos }, size) {
  const ratio = Math.round((median(nomos) / median(empty)) * 1000) / 1000
  return {
    unit: 'ms from launch until the composer holds the character of a pressed key',
    launches: rounds,
    size,
    empty: { median: median(empty), all: empty },
    nomos: { median: median(nomos), all: nomos },
    ratio,
    aim,
    met: ratio <= aim,
  }
}
