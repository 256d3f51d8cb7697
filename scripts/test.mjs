import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { runChild, whyFailed } from './setup/child.mjs'
import { installHint, missingPrograms, packageForProgram } from './setup/debian.mjs'
import { describeError, SetupError } from './setup/errors.mjs'
import { electronCommand, requireLibraries } from './setup/launch.mjs'
import { ensureSecondNode, secondNode } from './setup/node.mjs'
import { root } from './setup/paths.mjs'
import { countVitest, exitCodeFor, failuresOf, readReport, sumCounts, summaryLine } from './setup/results.mjs'
import { endCleanlyOnSignals, ensureSetup, isMain, logToStderr } from './setup.mjs'

const minute = 60_000
const reports = path.join(root, 'test-results')

/** What the tests run besides Node. Asked for at once, so that nobody installs them one failure at a time. */
const programs = [
  'xvfb-run',
  'xauth',
  'dbus-run-session',
  'dbus-launch',
  'dunst',
  'ssh',
  'sshd',
  'strace',
  'bwrap',
  'busybox',
  'dash',
  'script',
  'ps',
  'ip',
]

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} [unless] why this step is left out, if it is
 * @property {() => Promise<import('./setup/results.mjs').Counts>} run
 */

/**
 * Splits the arguments of `npm test`: everything but `--long` narrows the tests and is passed on to vitest.
 * @param {string[]} args
 */
export function parseArguments(args) {
  const filter = args.filter((word) => word !== '--long')
  return { long: filter.length < args.length, filter }
}

/**
 * The steps in their order.
 * @param {{long: boolean, filter: string[]}} options
 * @returns {Step[]}
 */
export function planSteps({ long, filter }) {
  const narrowed = filter.length > 0 ? 'a filter was given' : undefined
  const steps = [
    {
      name: 'typecheck',
      unless: narrowed,
      run: () => runCheck('typescript', 'tsc', ['-p', 'tsconfig.json', '--noEmit']),
    },
    { name: 'lint', unless: narrowed, run: () => runCheck('@biomejs/biome', 'biome', ['check', '.']) },
    { name: 'unit', run: () => runVitest({ report: 'unit', filter, limit: 20 * minute }) },
    {
      name: 'end to end',
      unless: missingConfig('vitest.e2e.config.ts'),
      run: () =>
        runVitest({ report: 'e2e', config: 'vitest.e2e.config.ts', filter, limit: 40 * minute, display: true }),
    },
  ]
  return long ? [...steps, ...longSteps(filter)] : steps
}

function longSteps(filter) {
  const linux = process.platform === 'linux' && process.arch === 'x64'
  return [
    {
      name: 'long',
      unless: missingConfig('vitest.long.config.ts'),
      run: () =>
        runVitest({ report: 'long', config: 'vitest.long.config.ts', filter, limit: 240 * minute, display: true }),
    },
    {
      name: `unit under Node ${secondNode.version}`,
      unless: linux ? undefined : `its package is for Linux on x64, this is ${process.platform} on ${process.arch}`,
      run: async () => {
        const node = await ensureSecondNode(logToStderr)
        return runVitest({ report: 'unit-node24', filter, limit: 20 * minute, node, seed: newSeed() })
      },
    },
  ]
}

function missingConfig(name) {
  return existsSync(path.join(root, name)) ? undefined : `there is no ${name}`
}

/** The script behind a command of a package. Run with Node itself: the links in `.bin` are shell files on Windows. */
function commandScript(packageName, command) {
  const folder = path.join(root, 'node_modules', packageName)
  const { bin } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  return path.join(folder, typeof bin === 'string' ? bin : bin[command])
}

/** A checker has no test cases: it counts as one. */
async function runCheck(packageName, command, args) {
  const result = await runChild(process.execPath, [commandScript(packageName, command), ...args], {
    cwd: root,
    timeoutMs: 10 * minute,
    inherit: true,
  })
  if (result.code === 0) return { passed: 1, failed: 0, skipped: 0 }
  say(`${command} failed: ${whyFailed(result)}`)
  return { passed: 0, failed: 1, skipped: 0, failures: [`${command}: what it found stands in its own part above`] }
}

async function runVitest({ report, config, filter, limit, display = false, node = process.execPath, seed }) {
  const file = path.join(reports, `${report}.json`)
  mkdirSync(reports, { recursive: true })
  // A report of an earlier run must not be counted for a run that crashed before it wrote its own.
  rmSync(file, { force: true })
  const args = [commandScript('vitest', 'vitest'), 'run', '--reporter=default', '--reporter=json']
  args.push(`--outputFile.json=${file}`)
  if (config) args.push('--config', config)
  if (filter.length > 0) args.push('--passWithNoTests', ...filter)
  const [command, ...rest] = display ? onOwnDisplay([node, ...args]) : [node, ...args]
  const result = await runChild(command, rest, {
    cwd: root,
    env: testEnvironment({ display, node, seed }),
    timeoutMs: limit,
    inherit: true,
  })
  const content = readReport(file)
  if (result.code !== 0) say(`vitest (${report}): ${whyFailed(result)}`)
  // With a filter that matches nothing vitest is content and may write no report.
  if (!content && result.code === 0 && filter.length > 0) return { passed: 0, failed: 0, skipped: 0 }
  return { ...countVitest(content, { ok: result.code === 0 }), failures: failuresOf(content, root) }
}

/** A screen and a session bus of their own: the tests neither disturb the developer's desktop nor depend on it. */
function onOwnDisplay(command) {
  if (process.platform !== 'linux') return command
  return ['dbus-run-session', '--', 'xvfb-run', '-a', '-s', '-screen 0 1600x1000x24', ...command]
}

/** The seed of the properties in a long run, which is to try what no run has tried. */
function newSeed() {
  const seed = Date.now() % 2 ** 31
  say(`the properties begin with NOMOS_SEED=${seed}`)
  return seed
}

function testEnvironment({ display, node, seed }) {
  const env = { ...process.env }
  if (seed !== undefined) env.NOMOS_SEED = String(seed)
  if (node !== process.execPath) env.PATH = `${path.dirname(node)}${path.delimiter}${env.PATH ?? ''}`
  if (display && process.platform === 'linux') {
    delete env.DISPLAY
    delete env.WAYLAND_DISPLAY
    delete env.DBUS_SESSION_BUS_ADDRESS
  }
  return env
}

function requirePrograms() {
  if (process.platform !== 'linux') return
  const missing = missingPrograms(programs)
  if (missing.length === 0) return
  throw new SetupError(`The tests need programs that are not installed: ${missing.join(', ')}.`, {
    remedy: `${installHint(missing.map(packageForProgram))}, then start again.`,
  })
}

function say(line) {
  process.stdout.write(`${line}\n`)
}

async function runStep({ name, unless, run }) {
  if (unless) {
    say(`\n== ${name}: left out (${unless})`)
    return undefined
  }
  say(`\n== ${name}`)
  const began = Date.now()
  const counts = await run().catch((error) => {
    say(describeError(error))
    return { passed: 0, failed: 1, skipped: 0 }
  })
  return { name, counts, seconds: (Date.now() - began) / 1000 }
}

function sayReport(results) {
  const failures = results.flatMap(({ counts }) => counts.failures ?? [])
  if (failures.length > 0) say(`\n== what failed\n${failures.join('\n\n')}`)
  say('\n== what ran')
  for (const { name, counts, seconds } of results) {
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    say(`${name.padEnd(24)} ${seconds.toFixed(1).padStart(8)} s   ${summaryLine(counts)}${skipped}`)
  }
}

/**
 * Runs everything and returns what came of it. A set-up that fails counts as one failure.
 * @param {string[]} args
 */
async function main(args) {
  const options = parseArguments(args)
  const began = Date.now()
  try {
    requirePrograms()
    await ensureSetup({ need: { electron: true, build: true, sqliteNode: true, sqliteElectron: true } })
    const command = electronCommand()
    await requireLibraries(command.executable)
    logToStderr(`Electron ${command.version}, ${command.kind} runtime: ${command.reason}`)
  } catch (error) {
    say(describeError(error))
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const results = [{ name: 'set-up', counts: sumCounts([]), seconds: (Date.now() - began) / 1000 }]
  for (const step of planSteps(options)) {
    const result = await runStep(step)
    if (result) results.push(result)
  }
  sayReport(results)
  return sumCounts(results.map((result) => result.counts))
}

if (isMain(import.meta.url)) {
  const stopWatching = endCleanlyOnSignals()
  const total = await main(process.argv.slice(2))
  stopWatching()
  if (total.passed + total.failed === 0) say('\nnothing ran: no test matches')
  say(summaryLine(total))
  process.exitCode = exitCodeFor(total)
}
