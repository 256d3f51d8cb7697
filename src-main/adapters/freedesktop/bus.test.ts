import { Message } from '@jellybrick/dbus-next'
import { afterEach, describe, expect, it } from 'vitest'
import { type Bus, busAddress, createBus } from './bus'
import { startBus, type TestBus, until } from './private-bus.fixture'

const log = { info: () => {}, warn: () => {}, error: () => {} }
const ended: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

async function world(): Promise<{ test: TestBus; bus: Bus }> {
  const test = await startBus()
  ended.push(() => test.stop())
  const bus = createBus({ kind: 'session', env: test.env, log })
  ended.push(() => bus.close())
  return { test, bus }
}

const GET_ID = {
  to: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
  member: 'GetId',
}

describe('the address of a bus', () => {
  const none = (): boolean => false
  it('is a socket and nothing that would start a program', () => {
    const at = (address: string) => busAddress('session', { DBUS_SESSION_BUS_ADDRESS: address }, none)
    expect(at('unix:path=/run/bus,guid=1')).toBe('unix:path=/run/bus,guid=1')
    expect(at('unixexec:path=/bin/sh;unix:guid=1,abstract=/tmp/x')).toBe('unix:guid=1,abstract=/tmp/x')
    expect(at('unixexec:path=/bin/sh,argv1=-c')).toBeNull()
    expect(at('tcp:host=evil,port=1')).toBeNull()
  })
  it('is looked for in the runtime folder when none is set', () => {
    const there = (path: string): boolean => path === '/run/user/1/bus'
    expect(busAddress('session', { XDG_RUNTIME_DIR: '/run/user/1' }, there)).toBe('unix:path=/run/user/1/bus')
    expect(busAddress('session', { XDG_RUNTIME_DIR: '/run/user/2' }, there)).toBeNull()
    expect(busAddress('session', {}, there)).toBeNull()
    expect(busAddress('system', {}, none)).toBeNull()
  })
})

describe('a connection to the bus', () => {
  it('says why there is none, and never hangs', async () => {
    const bus = createBus({ kind: 'session', env: {}, log })
    expect(bus.absent).toContain('DBUS_SESSION_BUS_ADDRESS')
    await expect(bus.call(GET_ID)).rejects.toThrow('no session bus')
    const dead = createBus({ kind: 'session', env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus' }, log })
    await expect(dead.call(GET_ID)).rejects.toThrow('cannot be reached')
    dead.close()
  })

  it('answers errors and silence of a service with a reason', async () => {
    const { test, bus } = await world()
    expect(await bus.call(GET_ID)).toHaveLength(1)
    await expect(bus.call({ ...GET_ID, to: 'org.example.Nobody' })).rejects.toThrow('GetId')
    const silent = await test.connect()
    silent.addMethodHandler(() => true)
    await silent.requestName('org.example.Silent')
    const began = performance.now()
    await expect(bus.call({ ...GET_ID, to: 'org.example.Silent', timeoutMs: 200 })).rejects.toThrow('0.2 s')
    expect(performance.now() - began).toBeLessThan(2000)
    expect(await bus.pidOf('org.example.Silent')).toBe(process.pid)
  })

  it('follows an owner, and comes back by itself after the bus was started anew', async () => {
    const { test, bus } = await world()
    const owners: (string | null)[] = []
    const heard: unknown[] = []
    bus.follow('org.example.Name', (owner) => owners.push(owner))
    bus.listen({ interface: 'org.example', member: 'Said' }, ({ body }) => heard.push(body[0]))
    await until('the first look', () => owners.length === 1)
    expect(owners).toEqual([null])
    const say = async (from: TestBus, word: string): Promise<void> => {
      const other = await from.connect()
      await other.requestName('org.example.Name')
      other.send(Message.newSignal('/', 'org.example', 'Said', 's', [word]))
    }
    await say(test, 'one')
    await until('the owner', () => owners.at(-1) !== null)
    await until('the word', () => heard.length === 1)

    const socket = test.address.replace(/^unix:path=/, '').replace(/,.*$/, '')
    await test.stop()
    await until('the loss', () => owners.at(-1) === null)
    const again = await startBus(socket)
    ended.push(() => again.stop())
    await until('the bus is back', () =>
      bus.owner('org.freedesktop.DBus').then(
        (owner) => owner !== null,
        () => false,
      ),
    )
    await say(again, 'two')
    await until('the owner again', () => owners.at(-1) !== null)
    await until('the second word', () => heard.includes('two'))
  })
})
