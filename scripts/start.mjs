import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { electronCommand, requireDisplay, requireLibraries } from './setup/launch.mjs'
import { root } from './setup/paths.mjs'
import { requireNode } from './setup/requirements.mjs'
import { ensureSetup, isMain, logToStderr, runScript } from './setup.mjs'

export { electronCommand }

/** An end sooner than this, with an error, is a failed launch and not somebody closing the window. */
const launchMs = 10_000
const graceMs = 10_000

/**
 * Runs the app in the foreground until it ends: its terminal, its exit code, its signals.
 * @param {string} executable
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{code: number, asked: boolean}>} the exit code (128 + number for a signal, as shells count), and
 *   whether it was asked to end
 */
function runForeground(executable, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(executable, args, { stdio: 'inherit', env })
    const forwarding = forwardSignals(child)
    child.once('error', (error) => {
      forwarding.stop()
      reject(error)
    })
    child.once('exit', (code, signal) => {
      resolve({ code: code ?? 128 + (os.constants.signals[signal] ?? 0), asked: forwarding.stop() })
    })
  })
}

function forwardSignals(child) {
  let asked = false
  let limit
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const handler = () => {
      // A second request, or none obeyed within the grace, is meant seriously.
      if (asked) return void child.kill('SIGKILL')
      asked = true
      limit = setTimeout(() => child.kill('SIGKILL'), graceMs)
      limit.unref()
      // At a terminal Ctrl-C has already reached the whole foreground group, the app included.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    process.on(signal, handler)
    return [signal, handler]
  })
  const stop = () => {
    clearTimeout(limit)
    for (const [signal, handler] of handlers) process.off(signal, handler)
    return asked
  }
  return { stop }
}

async function startWindow(args) {
  requireNode()
  await requireDisplay()
  await ensureSetup({ need: { electron: true, build: true, sqliteElectron: true } })
  const command = electronCommand({ args })
  await requireLibraries(command.executable)
  logToStderr(`Electron ${command.version}, ${command.kind} runtime: ${command.reason}`)
  for (const note of command.notes) logToStderr(note)
  const began = Date.now()
  const { code, asked } = await runForeground(command.executable, command.args, command.env)
  if (code !== 0 && !asked && Date.now() - began < launchMs) await explainFailedLaunch(command, code)
  return code
}

async function explainFailedLaunch(command, code) {
  await requireLibraries(command.executable, { again: true })
  await requireDisplay()
  logToStderr(`Electron ended with code ${code} soon after its start; its own messages are above`)
  if (process.platform === 'linux' && !command.flags.includes('--no-sandbox')) {
    logToStderr('if they speak of the sandbox: allow unprivileged user namespaces on this system')
  }
}

async function startHeadless(args) {
  await ensureSetup({ need: { build: true, sqliteNode: true } })
  const script = path.join(root, 'out', 'main', 'headless.js')
  return (await runForeground(process.execPath, [script, ...args], process.env)).code
}

if (isMain(import.meta.url)) {
  await runScript(() => {
    const args = process.argv.slice(2)
    const rest = args.filter((word) => word !== '--headless')
    return rest.length < args.length ? startHeadless(rest) : startWindow(args)
  })
}
