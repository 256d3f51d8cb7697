import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { withLock } from './lock.mjs'
import { fetchPackage } from './npm.mjs'
import { sweepTemp } from './paths.mjs'
import { testFolder } from './test-folder.mjs'

const content = 'whole content'
const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`
const wanted = { name: 'thing', version: '1.0.0', integrity, log: () => {} }

/** A set-up in a process of its own that writes half of a download and then never comes to the end of it. */
const halfWay = (cache) => `
  import { writeFileSync } from 'node:fs'
  import { runChild } from ${JSON.stringify(new URL('child.mjs', import.meta.url).href)}
  import { withLock } from ${JSON.stringify(new URL('lock.mjs', import.meta.url).href)}
  import { fetchPackage } from ${JSON.stringify(new URL('npm.mjs', import.meta.url).href)}
  const cache = ${JSON.stringify(cache)}
  const fetchInto = async (spec, temp) => {
    writeFileSync(temp + '/received.tgz', 'whole')
    const code = 'require("fs").writeFileSync(' + JSON.stringify(cache + '/child') + ', String(process.pid)); setInterval(() => {}, 1000)'
    await runChild(process.execPath, ['-e', code], { timeoutMs: 60000 })
  }
  const log = () => {}
  const work = () => fetchPackage({ ...${JSON.stringify(wanted)}, log, cache, fetchInto })
  await withLock('checkout', work, { folder: cache + '/locks', log })
`

async function until(condition) {
  const limit = Date.now() + 15_000
  while (!condition()) {
    if (Date.now() > limit) throw new Error('the interrupted set-up never got to its middle')
    await sleep(20)
  }
}

async function killedInTheMiddle(cache, signal) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', halfWay(cache)], { stdio: 'inherit' })
  await until(() => existsSync(path.join(cache, 'child')) && readFileSync(path.join(cache, 'child'), 'utf8') !== '')
  child.kill(signal)
  await once(child, 'exit')
  return Number(readFileSync(path.join(cache, 'child'), 'utf8'))
}

describe('a set-up killed in the middle', () => {
  it('is mended by the next one: lock taken over, orphan ended, temporary folder swept, download whole', async () => {
    const cache = testFolder()
    const orphan = await killedInTheMiddle(cache, 'SIGKILL')
    expect(readdirSync(path.join(cache, 'tmp'))).toHaveLength(1)
    expect(readdirSync(path.join(cache, 'locks'))).toEqual(['checkout.lock'])

    const fetchInto = async (_spec, temp) => {
      writeFileSync(path.join(temp, 'received.tgz'), content)
      return path.join(temp, 'received.tgz')
    }
    const work = async () => {
      sweepTemp(cache)
      return fetchPackage({ ...wanted, cache, fetchInto })
    }
    const file = await withLock('checkout', work, { folder: path.join(cache, 'locks'), log: () => {}, pollMs: 10 })

    expect(readFileSync(file, 'utf8')).toBe(content)
    expect(readdirSync(path.join(cache, 'tmp'))).toEqual([])
    expect(readdirSync(path.join(cache, 'locks'))).toEqual([])
    if (process.platform === 'linux') await until(() => ended(orphan))
  })
})

function ended(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ')
  } catch {
    return true
  }
}
