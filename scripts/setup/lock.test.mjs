import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { processAlive, processStart, recordChild, withLock } from './lock.mjs'
import { readStamp } from './stamp.mjs'
import { testFolder } from './test-folder.mjs'

const silent = () => {}
const options = (more) => ({
  folder: testFolder(),
  log: silent,
  pollMs: 5,
  ...more,
})

/** A process number that is certainly free: that of a process which has just ended. */
async function deadProcess() {
  const child = spawn(process.execPath, ['-e', ''])
  const pid = child.pid
  await once(child, 'exit')
  return pid
}

describe('the lock', () => {
  it('lets one in at a time and is gone afterwards', async () => {
    const shared = options()
    const order = []
    const work = (name) => async () => {
      order.push(`${name} in`)
      await sleep(30)
      order.push(`${name} out`)
    }
    await Promise.all([withLock('x', work('a'), shared), withLock('x', work('b'), shared)])
    expect(order).toHaveLength(4)
    expect(order[0].replace('in', 'out')).toBe(order[1])
    expect(order[2].replace('in', 'out')).toBe(order[3])
    expect(readdirSync(shared.folder)).toEqual([])
  })

  it('is released when the work fails', async () => {
    const shared = options()
    await expect(withLock('x', () => Promise.reject(new Error('no')), shared)).rejects.toThrow('no')
    expect(readdirSync(shared.folder)).toEqual([])
  })

  it('is taken over from a dead process, which is said', async () => {
    const lines = []
    const shared = options({ log: (line) => lines.push(line), sayTakeover: true })
    writeFileSync(path.join(shared.folder, 'x.lock'), JSON.stringify({ pid: await deadProcess(), start: '1' }))
    expect(await withLock('x', async () => 'done', shared)).toBe('done')
    expect(lines).toEqual(['an earlier set-up was interrupted: going on from there'])
    expect(readdirSync(shared.folder)).toEqual([])
  })

  it('is taken over when the number now belongs to another process', async () => {
    if (processStart(process.pid) === undefined) return
    const shared = options()
    writeFileSync(path.join(shared.folder, 'x.lock'), JSON.stringify({ pid: process.pid, start: '1' }))
    expect(await withLock('x', async () => 'done', shared)).toBe('done')
  })

  it('ends the children that a dead owner left running', async () => {
    if (processStart(process.pid) === undefined) return
    const shared = options()
    const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
    const ended = once(orphan, 'exit')
    const children = [{ pid: orphan.pid, start: processStart(orphan.pid) }]
    const owner = { pid: await deadProcess(), start: '1', children }
    writeFileSync(path.join(shared.folder, 'x.lock'), JSON.stringify(owner))
    await withLock('x', async () => {}, shared)
    expect((await ended)[1]).toBe('SIGKILL')
  })

  it('never ends a process that only carries the number of a recorded child', async () => {
    const shared = options()
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
    const owner = { pid: await deadProcess(), start: '1', children: [{ pid: other.pid, start: '1' }] }
    writeFileSync(path.join(shared.folder, 'x.lock'), JSON.stringify(owner))
    await withLock('x', async () => {}, shared)
    expect(processAlive(other.pid)).toBe(true)
    other.kill('SIGKILL')
  })

  it('writes the children of its owner down', async () => {
    const shared = options()
    await withLock(
      'x',
      async () => {
        recordChild(process.pid)
        const stamp = readStamp(path.join(shared.folder, 'x.lock'))
        expect(stamp.pid).toBe(process.pid)
        expect(stamp.children).toEqual([{ pid: process.pid, start: processStart(process.pid) }])
      },
      shared,
    )
    expect(existsSync(path.join(shared.folder, 'x.lock'))).toBe(false)
  })
})
