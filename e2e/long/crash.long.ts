import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkCrash } from '../support/crash-check'

const KILLS = 100

/** Small and seeded, so that a failure can be had again: mulberry32. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

describe('kill -9 at any moment', () => {
  it(`of the headless core, ${KILLS} times: nothing runs twice, nothing is settled without its ledger row, the chain holds`, async () => {
    const base = mkdtempSync(join(tmpdir(), 'nomos-crash-'))
    const home = join(base, 'home')
    const folder = join(base, 'written')
    mkdirSync(folder)
    const random = chance(20261129)
    const asked = new Map<string, number>()
    let next = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const child = spawn(
        process.execPath,
        [resolve(import.meta.dirname, '../support/core-child.mjs'), home, folder, String(next)],
        { stdio: ['ignore', 'pipe', 'pipe'] },
      )
      let output = ''
      let errors = ''
      child.stderr.on('data', (bytes: Buffer) => {
        errors += bytes.toString('utf8')
      })
      // So many steps are done, however long the machine takes for them; "up" is the first line.
      const lines = 1 + Math.floor(random() * 9)
      const there = new Promise<void>((go, fail) => {
        child.stdout.on('data', (bytes: Buffer) => {
          output += bytes.toString('utf8')
          if (output.split('\n').length > lines) go()
        })
        child.once('exit', () => fail(new Error(`the core did not come so far: ${errors}`)))
      })
      await there
      await new Promise((go) => setTimeout(go, random() * 60))
      const gone = new Promise((go) => child.once('close', go))
      child.kill('SIGKILL')
      await gone
      for (const [, n, id] of output.matchAll(/asked (\d+) (\S+)/g)) {
        asked.set(id ?? '', Number(n))
        next = Math.max(next, Number(n) + 1)
      }
      // A request whose answer was cut off may be in the database all the same: its number is not used again.
      next += 5
      next += (5 - (next % 5)) % 5
    }
    // Whatever was started goes on by itself for a moment.
    await new Promise((go) => setTimeout(go, 500))

    const report = checkCrash(home, asked.keys())
    expect(report.executions).toBeGreaterThan(KILLS)
    expect(Object.keys(report.states)).toEqual(expect.arrayContaining(['pending_approval', 'completed', 'unknown']))
    console.log(JSON.stringify({ kills: KILLS, ...report }))
    rmSync(base, { recursive: true, force: true })
  })
})
