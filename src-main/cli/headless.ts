import { readFileSync } from 'node:fs'
import { version } from '../../package.json'
import type { HealthProblem } from '../../src-preload/contract/model'
import { nomosHome, resourcesFolder } from '../adapters/system'
import { createCore, NO_SECRETS } from '../compose'
import { EXIT } from './exits'
import { visibleLine } from './visible'

/** How long a clean stop may take before a second look at the clock; runs are ended politely first. */
const STOP_MS = 15_000

/** Whether SIGHUP was ignored when this process began (nohup). Only Linux tells. */
function hangupIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return mask !== undefined && (BigInt(`0x${mask}`) & 1n) === 1n
  } catch {
    return false
  }
}

/** Starts the core without a window and keeps it until it is told to stop. Answers the exit code. */
async function host(): Promise<number> {
  const home = nomosHome()
  const core = createCore({
    home,
    resources: resourcesFolder(),
    version,
    // Without a desktop session there is no keyring to ask: secrets stay in memory.
    secrets: NO_SECRETS,
    headless: true,
  })
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
    // A closed terminal stops it cleanly, unless it was started with nohup: a handler would undo that.
    if (!hangupIgnored()) process.once('SIGHUP', resolve)
  })
  await core.start()

  const snapshot = await core.dispatch({ surface: 'headless', operator: false }, 'app.snapshot', {})
  const problems = snapshot.ok ? (snapshot.value as { health: readonly HealthProblem[] }).health : []
  for (const problem of problems) {
    process.stderr.write(`nomos: ${visibleLine(problem.sentence)}\n`)
    for (const { id, label } of problem.actions)
      process.stderr.write(`  ${visibleLine(label)}: npm run -s nomos -- doctor resolve ${problem.code} ${id}\n`)
  }
  if (problems.some((problem) => problem.code === 'control_socket')) {
    // Without the socket nobody could ask or answer: running on would only look as if it worked.
    await core.stop()
    return EXIT.failed
  }
  process.stdout.write(
    `Nomos ${version} runs without a window; its folder is ${home}. Answer what waits with: npm run -s nomos -- approvals watch\n`,
  )

  const signal = await stopped
  process.stderr.write(`nomos: ${signal}: stopping what runs.\n`)
  const giveUp = setTimeout(() => {
    process.stderr.write('nomos: a run did not end in time; leaving it.\n')
    process.exit(EXIT.failed)
  }, STOP_MS)
  // The second signal means it.
  for (const again of ['SIGINT', 'SIGTERM'] as const) process.once(again, () => process.exit(EXIT.interrupted))
  await core.stop()
  clearTimeout(giveUp)
  return EXIT.done
}

try {
  process.exitCode = await host()
} catch (error) {
  process.stderr.write(`nomos: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = EXIT.failed
}
// Whatever handle a library forgot must not keep an ended host alive.
setTimeout(() => process.exit(), 1_000).unref()
