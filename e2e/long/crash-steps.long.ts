import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkCrash } from '../support/crash-check'

/** Places to die at: before and after each of so many commits, which are several requests from being asked to their end. */
const STEPS = 100

describe('kill -9 before and after each commit', () => {
  it(`of the headless core, at ${STEPS} places: nothing lost, nothing run twice, no approval settled without its row`, async () => {
    const base = mkdtempSync(join(tmpdir(), 'nomos-steps-'))
    const home = join(base, 'home')
    const folder = join(base, 'written')
    mkdirSync(folder)
    const asked = new Set<string>()
    let next = 0
    let killed = 0
    for (let step = 1; step <= STEPS; step++) {
      const child = spawn(
        process.execPath,
        [resolve(import.meta.dirname, '../support/core-step-child.mjs'), home, folder, String(next), String(step)],
        { stdio: ['ignore', 'pipe', 'pipe'] },
      )
      let output = ''
      let errors = ''
      child.stdout.on('data', (bytes: Buffer) => {
        output += bytes.toString('utf8')
      })
      child.stderr.on('data', (bytes: Buffer) => {
        errors += bytes.toString('utf8')
      })
      const signal = await new Promise((go) => child.once('close', (_code, how) => go(how)))
      expect([step, signal, errors]).toEqual([step, 'SIGKILL', ''])
      killed += 1
      for (const [, n, id] of output.matchAll(/asked (\d+) (\S+)/g)) {
        asked.add(id ?? '')
        next = Math.max(next, Number(n) + 1)
      }
      // A request whose answer was cut off may be there all the same: its number is not used again.
      next += 4
    }
    await new Promise((go) => setTimeout(go, 500))
    const report = checkCrash(home, asked)
    console.log(JSON.stringify({ killed, ...report }))
    // The places are spread over all of a request: some came to their end before, some were cut off while they ran.
    expect(report.states.completed ?? 0).toBeGreaterThan(STEPS / 4)
    expect((report.states.unknown ?? 0) + (report.states.running ?? 0)).toBeGreaterThan(0)
    rmSync(base, { recursive: true, force: true })
  })
})
