/**
 * What the gate and the ledger add to a command that runs by itself: the time from the request to the written end, against a
 * plain spawn of the same command by the same shell. Both alternate within one run, so that whatever else the machine does
 * meets both. Milliseconds.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = resolve(import.meta.dirname, '../..')
const COMMAND = 'uname -s'
const WARM_UP = 20
const ROUNDS = 200

export const name = 'overhead'

const quantile = (values, q) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))]
const rounded = (value) => Math.round(value * 100) / 100
const summary = (values) => ({
  median: rounded(quantile(values, 0.5)),
  p95: rounded(quantile(values, 0.95)),
  n: values.length,
})

function plain(file, args) {
  return new Promise((done, fail) => {
    const begun = performance.now()
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.resume()
    child.stderr.resume()
    child.once('error', fail)
    child.once('close', () => done(performance.now() - begun))
  })
}

/** Runs the bench; `log` takes progress lines. */
export async function run({ log }) {
  const { createCore, NO_SECRETS } = await import(pathToFileURL(join(root, 'out/main/core.js')).href)
  const home = mkdtempSync(join(tmpdir(), 'nomos-bench-'))
  const core = createCore({ home, resources: root, version: 'bench', secrets: NO_SECRETS, headless: true })
  const waiting = new Map()
  core.subscribe(({ event }) => {
    if (event.type === 'execution' && event.state === 'completed') waiting.get(event.id)?.()
  })
  const caller = { surface: 'headless', operator: false }

  async function gated() {
    const begun = performance.now()
    const answer = await core.dispatch(caller, 'executions.request', {
      target: 'local',
      command: COMMAND,
      purpose: null,
      session: null,
    })
    if (!answer.ok) throw new Error(answer.error.message)
    const { id, state } = answer.value
    if (state === 'pending_approval')
      throw new Error(`"${COMMAND}" was asked about; it has to run by itself for this bench`)
    if (state !== 'completed') await new Promise((done) => waiting.set(id, done))
    const took = performance.now() - begun
    waiting.delete(id)
    return took
  }

  try {
    const times = { gated: [], shell: [], program: [] }
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const one = {
        gated: await gated(),
        shell: await plain('/bin/bash', ['--norc', '--noprofile', '-c', COMMAND]),
        program: await plain('/usr/bin/uname', ['-s']),
      }
      if (round < 0) continue
      for (const [key, value] of Object.entries(one)) times[key].push(value)
      if (round % 50 === 0) log(`overhead: ${round} of ${ROUNDS}`)
    }
    return {
      command: COMMAND,
      gatedMs: summary(times.gated),
      plainShellMs: summary(times.shell),
      plainProgramMs: summary(times.program),
      addedToShellMs: rounded(quantile(times.gated, 0.5) - quantile(times.shell, 0.5)),
      addedToProgramMs: rounded(quantile(times.gated, 0.5) - quantile(times.program, 0.5)),
      aim: 'addedToShellMs under 3',
    }
  } finally {
    await core.stop()
    rmSync(home, { recursive: true, force: true })
  }
}
