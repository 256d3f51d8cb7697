import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DoctorCheck, HealthProblem } from '../../../src-preload/contract/model'
import { ControlUnavailable, createControlClient, pathProblem, socketPath } from '../../adapters/control-socket'
import { atTerminal, codePrompt } from '../answering'
import { ask, homeOf, runFolder, unwrap, withApp } from '../app'
import { CliFailure, EXIT, usage } from '../exits'
import type { Io } from '../io'
import { readOptions } from '../options'
import type { Command } from '../program'
import { painter, visibleLine } from '../visible'

/** How long the app may take to open its socket again. */
const RESTART_MS = 10_000

/** `nomos doctor`: the app's own checks when it runs, else what can be seen from outside. `nomos doctor resolve` acts on a problem. */
export const doctorCommand: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const [verb, ...words] = rest
  if (verb === 'resolve') return await resolve(io, words, options.json)
  if (verb !== undefined) throw usage(`nomos doctor takes no ${JSON.stringify(verb)}.`)
  const { checks, from, problems } = await collect(io)
  const failed = checks.some((check) => check.status === 'failed')
  if (options.json) io.stdout.write(`${JSON.stringify({ from, checks, problems })}\n`)
  else {
    const paint = painter(io.stdout, io.env)
    const words = {
      ok: paint('green', 'ok     '),
      warning: paint('yellow', 'warning'),
      failed: paint('red', 'failed '),
    }
    for (const check of checks) {
      io.stdout.write(
        `${String(check.number).padStart(2)}. ${words[check.status]} ${visibleLine(check.name)}: ${visibleLine(check.found)}\n`,
      )
      if (check.remedy !== null && check.status !== 'ok') io.stdout.write(`            ${visibleLine(check.remedy)}\n`)
    }
    for (const problem of problems)
      for (const { id, label } of problem.actions)
        io.stdout.write(
          `To resolve ${problem.code} (${visibleLine(label)}): nomos doctor resolve ${problem.code} ${id}\n`,
        )
  }
  return failed ? EXIT.failed : EXIT.done
}

/** What the buttons in the window do, for a host without one. */
async function resolve(io: Io, words: readonly string[], json: boolean): Promise<number> {
  const [code, action, ...more] = words
  if (code === undefined || action === undefined || more.length > 0)
    throw usage(
      'name the problem and what to do about it, as nomos doctor shows them: nomos doctor resolve PROBLEM ACTION',
    )
  const outcome = await atTerminal(io, 'doctor resolve', async (app, terminal) => {
    const { health } = await ask(app, 'app.snapshot', {})
    const problem = health.find((one) => one.code === code)
    if (problem === undefined)
      throw new CliFailure(EXIT.failed, 'not_found', `there is no problem ${JSON.stringify(code)} now.`)
    const chosen = problem.actions.find((one) => one.id === action)
    if (chosen === undefined) {
      const ids = problem.actions.map((one) => one.id)
      throw usage(
        ids.length === 0
          ? `${code} has no action to choose: ${problem.sentence}`
          : `${code} has no ${JSON.stringify(action)}; it has: ${ids.join(', ')}.`,
      )
    }
    terminal.write(`${visibleLine(problem.sentence)}\n${visibleLine(chosen.label)}?\n`)
    try {
      unwrap(await app.client.answerWithChallenge('health.act', { code, action }, codePrompt(terminal, 'do that')))
      return 'done'
    } catch (error) {
      // To begin a new database the app restarts its inside, and its socket with it, before it can answer.
      if (error instanceof ControlUnavailable && error.kind === 'lost') return 'look'
      throw error
    }
  })
  if (outcome === 'look') await goneAfterRestart(io, code)
  io.stdout.write(json ? `${JSON.stringify({ done: true })}\n` : 'Done.\n')
  return EXIT.done
}

/** Waits until the app answers again and no longer has the problem. */
async function goneAfterRestart(io: Io, code: string): Promise<void> {
  const until = Date.now() + RESTART_MS
  for (;;) {
    try {
      const { health } = await withApp(io, (app) => ask(app, 'app.snapshot', {}))
      if (!health.some((one) => one.code === code)) return
      throw new CliFailure(EXIT.failed, code, `${code} is still there. See: nomos doctor`)
    } catch (error) {
      const starting = error instanceof CliFailure && error.exit === EXIT.noApp
      if (!starting || Date.now() > until) throw error
    }
    await new Promise((again) => setTimeout(again, 200))
  }
}

interface Findings {
  readonly from: 'app' | 'local'
  readonly checks: readonly DoctorCheck[]
  readonly problems: readonly HealthProblem[]
}

async function collect(io: Io): Promise<Findings> {
  const client = createControlClient(runFolder(io))
  try {
    await client.connect()
    const checks = unwrap(await client.request('doctor.run', {}))
    return { from: 'app', checks, problems: unwrap(await client.request('app.snapshot', {})).health }
  } catch (error) {
    if (!(error instanceof ControlUnavailable)) throw error
    return { from: 'local', checks: await localChecks(io, error.message, error.kind), problems: [] }
  } finally {
    client.close()
  }
}

type Finding = Omit<DoctorCheck, 'number'>

async function localChecks(io: Io, unavailable: string, kind: string): Promise<readonly DoctorCheck[]> {
  const home = homeOf(io)
  const app: Finding = {
    name: 'Nomos runs',
    // Not running is no fault: it is why the checks are made from outside.
    status: kind === 'absent' ? 'warning' : 'failed',
    found: unavailable,
    remedy: kind === 'absent' ? null : 'Look at who owns the run folder, or restart Nomos.',
  }
  const findings = [nodeVersion(), folder(home), await database(home), await approvalsFile(home), socketLength(io), app]
  return findings.map((finding, index) => ({ number: index + 1, ...finding }))
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const good = major > 20 || (major === 20 && minor >= 18)
  return {
    name: 'Node',
    status: good ? 'ok' : 'failed',
    found: process.versions.node,
    remedy: good ? null : 'Install Node 20.19 or newer.',
  }
}

function folder(home: string): Finding {
  const name = "Nomos's folder"
  const found = statSync(home, { throwIfNoEntry: false })
  if (found === undefined)
    return { name, status: 'warning', found: `${home} is not there yet`, remedy: 'It is made at the first start.' }
  if (!found.isDirectory())
    return {
      name,
      status: 'failed',
      found: `${home} is not a folder`,
      remedy: 'Set NOMOS_HOME to a folder of its own.',
    }
  const mode = found.mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    return {
      name,
      status: 'failed',
      found: `${home} can be opened by others (mode ${mode.toString(8).padStart(4, '0')})`,
      remedy: `chmod 700 '${home}'`,
    }
  if (found.uid !== (process.getuid?.() ?? found.uid))
    return { name, status: 'failed', found: `${home} belongs to another user`, remedy: 'Use the user that owns it.' }
  return { name, status: 'ok', found: home, remedy: null }
}

async function database(home: string): Promise<Finding> {
  const name = 'Ledger'
  const { openReadOnlyLedger, DATABASE_FILE } = await import('../../adapters/sqlite')
  const path = join(home, DATABASE_FILE)
  if (!existsSync(path))
    return { name, status: 'ok', found: `${path} is not there yet: nothing was recorded`, remedy: null }
  try {
    const ledger = openReadOnlyLedger(home)
    try {
      const report = ledger.verify()
      if (report.intact) return { name, status: 'ok', found: `intact, ${report.entries} entries`, remedy: null }
      const where = report.problem === null ? '' : `: row ${report.problem.seq}: ${report.problem.what}`
      return {
        name,
        status: 'failed',
        found: `not intact${where}`,
        remedy:
          'Keep a copy of the file. Starting Nomos shows what can be done; it runs nothing until you have chosen.',
      }
    } finally {
      ledger.close()
    }
  } catch (error) {
    return {
      name,
      status: 'failed',
      found: error instanceof Error ? error.message : String(error),
      remedy: 'Keep a copy of the file and start Nomos: it says what is wrong and what you can choose.',
    }
  }
}

async function approvalsFile(home: string): Promise<Finding> {
  const name = 'Approvals file'
  const { createApprovalsFile } = await import('../../adapters/approvals-file')
  const found = createApprovalsFile(home).read()
  if (found.kind === 'absent')
    return { name, status: 'ok', found: `${found.path} is absent: the cautious preset holds`, remedy: null }
  if (found.kind === 'file') return { name, status: 'ok', found: found.path, remedy: null }
  return {
    name,
    status: 'failed',
    found: `${found.path}: ${found.problem}`,
    remedy: 'Mend it or move it away. Until then every command is denied.',
  }
}

function socketLength(io: Io): Finding {
  const name = 'Control socket'
  const path = socketPath(runFolder(io))
  const problem = pathProblem(path)
  if (problem === null) return { name, status: 'ok', found: path, remedy: null }
  return { name, status: 'failed', found: problem, remedy: 'Set NOMOS_HOME to a shorter folder.' }
}
