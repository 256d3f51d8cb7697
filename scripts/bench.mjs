import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installHint } from './setup/debian.mjs'
import { SetupError } from './setup/errors.mjs'
import { electronCommand, requireLibraries } from './setup/launch.mjs'
import { ensureSetup, isMain, logToStderr, runScript } from './setup.mjs'

const folder = fileURLToPath(new URL('bench', import.meta.url))

/**
 * @typedef {object} BenchContext
 * @property {ReturnType<typeof electronCommand>} [electron] the runtime: executable, flags, args for this checkout, env; there is none
 *   when all benches asked for are `standalone`
 * @property {(line: string) => void} log progress, on standard error
 */

/**
 * The benches asked for, or all of them.
 * @param {string[]} names
 * @returns {Promise<{name: string, run: (context: BenchContext) => Promise<object>}[]>}
 */
export async function loadBenches(names) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.mjs') && !file.endsWith('.test.mjs'))
  const modules = await Promise.all(files.sort().map((file) => import(pathToFileURL(path.join(folder, file)).href)))
  const benches = modules.filter((module) => module.name !== undefined)
  const known = benches.map((bench) => bench.name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new SetupError(`There is no bench named ${unknown.join(', ')}.`, {
      remedy: `name one of ${known.join(', ')}.`,
    })
  }
  return names.length === 0 ? benches : benches.filter((bench) => names.includes(bench.name))
}

/**
 * Gives the benches a screen when there is none.
 * @returns {Promise<() => void>} takes it away again
 */
async function provideDisplay() {
  if (process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY) return () => {}
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const number = await displayNumber(server).catch((error) => {
    server.kill('SIGKILL')
    throw error
  })
  process.env.DISPLAY = `:${number}`
  const stop = () => server.kill('SIGKILL')
  process.once('exit', stop)
  return () => {
    process.off('exit', stop)
    server.kill('SIGTERM')
    delete process.env.DISPLAY
  }
}

function displayNumber(server) {
  return new Promise((resolve, reject) => {
    const refuse = (reason) =>
      reject(
        new SetupError(`No virtual display could be started: ${reason}.`, { remedy: installHint(['xvfb', 'xauth']) }),
      )
    const limit = setTimeout(() => refuse('Xvfb gave no sign within 20 s'), 20_000)
    const settle = (act) => {
      clearTimeout(limit)
      act()
    }
    let text = ''
    server.stdio[3].on('data', (chunk) => {
      text += chunk
      if (text.includes('\n')) settle(() => resolve(text.trim()))
    })
    server.once('error', (error) => settle(() => refuse(error.message)))
    server.once('exit', (code) => settle(() => refuse(`Xvfb ended with code ${code}`)))
  })
}

/** @param {ReturnType<typeof electronCommand> | undefined} electron */
function machine(electron) {
  return {
    platform: `${process.platform} ${process.arch}`,
    cpu: os.cpus()[0]?.model,
    cores: os.cpus().length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    node: process.versions.node,
    ...(electron && { electron: `${electron.version} (${electron.kind})` }),
  }
}

async function main(names) {
  const benches = await loadBenches(names)
  // A standalone bench needs the packages only: no build, no runtime, no display.
  const app = !benches.every((bench) => bench.standalone === true)
  await ensureSetup({ need: app ? { electron: true, build: true, sqliteNode: true, sqliteElectron: true } : {} })
  const removeDisplay = app ? await provideDisplay() : () => {}
  try {
    const electron = app ? electronCommand() : undefined
    if (electron) await requireLibraries(electron.executable)
    const results = {}
    for (const bench of benches) {
      logToStderr(`bench ${bench.name}`)
      results[bench.name] = await bench.run({ electron, log: (line) => logToStderr(`bench ${bench.name}: ${line}`) })
    }
    const document = { at: new Date().toISOString(), machine: machine(electron), results }
    process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`)
    return 0
  } finally {
    removeDisplay()
  }
}

if (isMain(import.meta.url)) {
  // A bench ends on a signal like any program; the virtual display goes with it.
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ]) {
    process.once(signal, () => process.exit(128 + number))
  }
  await runScript(() => main(process.argv.slice(2)))
}
