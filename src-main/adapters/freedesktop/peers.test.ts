import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { RUN_MARKER as RUNNERS_MARKER } from '../local'
import { RUN_MARKER, reasonAgainst } from './peers'
import { end, until } from './private-bus.fixture'

const children: ChildProcess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) await end(child, 'SIGKILL')
})

/** A process that sleeps, under another one that sleeps. Gives the inner one. */
async function grandchild(env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn('sh', ['-c', 'sleep 60 & echo $!; wait'], { env: { PATH: process.env.PATH, ...env } })
  children.push(child)
  let pid = 0
  child.stdout.on('data', (text) => {
    pid = Number(String(text).trim())
  })
  await until('the inner process', () => pid > 0)
  return pid
}

describe('who may speak for an operator', () => {
  it('knows the mark of the runners', () => {
    expect(RUN_MARKER).toBe(RUNNERS_MARKER)
  })

  it('refuses what Nomos or a run has started, also further down, and what nobody knows', async () => {
    const pid = await grandchild({})
    expect(reasonAgainst(pid)).toContain('started by Nomos itself')
    // The same process seen by another Nomos: nothing speaks against it.
    expect(reasonAgainst(pid, 1_999_999_999)).toBeNull()
    const marked = await grandchild({ [RUN_MARKER]: 'exe_1' })
    expect(reasonAgainst(marked, 1_999_999_999)).toContain('belongs to a run')
    expect(reasonAgainst(null)).toContain('does not say')
    expect(reasonAgainst(1_999_999_998)).toContain('cannot be read')
  })

  it('looks at the mark of the ancestors, when the process itself has dropped it', async () => {
    const child = spawn('sh', ['-c', `env -u ${RUN_MARKER} sleep 60 & echo $!; wait`], {
      env: { PATH: process.env.PATH, [RUN_MARKER]: 'exe_1' },
    })
    children.push(child)
    let pid = 0
    child.stdout.on('data', (text) => {
      pid = Number(String(text).trim())
    })
    await until('the inner process', () => pid > 0)
    expect(reasonAgainst(pid, 1_999_999_999)).toContain('belongs to a run')
  })
})
