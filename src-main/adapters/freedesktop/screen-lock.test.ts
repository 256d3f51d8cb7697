import { Message, type MessageBus, MessageType, Variant } from '@jellybrick/dbus-next'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ScreenLock } from '../../ports'
import { createBus } from './bus'
import { startBus, type TestBus, until } from './private-bus.fixture'
import { createScreenLock } from './screen-lock'

const log = { info: () => {}, warn: () => {}, error: () => {} }
let session: TestBus
let system: TestBus
const ended: (() => void)[] = []
beforeEach(async () => {
  ;[session, system] = await Promise.all([startBus(), startBus()])
})
afterEach(async () => {
  for (const end of ended.splice(0)) end()
  await session.stop()
  await system.stop()
})

function lockOf(env: NodeJS.ProcessEnv): ScreenLock {
  const both = { ...env, DBUS_SESSION_BUS_ADDRESS: session.address, DBUS_SYSTEM_BUS_ADDRESS: system.address }
  const buses = [createBus({ kind: 'session', env: both, log }), createBus({ kind: 'system', env: both, log })] as const
  ended.push(() => {
    for (const bus of buses) bus.close()
  })
  return createScreenLock({ session: buses[0], system: buses[1], env: both, log })
}

/** Answers calls of one member at one path. */
async function service(
  at: TestBus,
  name: string,
  answers: Readonly<Record<string, (body: readonly unknown[]) => readonly [string, unknown[]]>>,
): Promise<MessageBus> {
  const connection = await at.connect()
  connection.addMethodHandler((message: Message) => {
    if (message.type !== MessageType.METHOD_CALL) return false
    const answer = answers[`${message.path} ${message.member}`]
    if (answer === undefined) return false
    const [signature, body] = answer(message.body)
    connection.send(Message.newMethodReturn(message, signature, body))
    return true
  })
  await connection.requestName(name)
  return connection
}

describe('the lock of the screen', () => {
  it('is not known where nobody tells', async () => {
    const lock = lockOf({})
    await lock.begin()
    expect(lock.last()).toBeNull()
    expect(await lock.ask()).toBeNull()
  })

  it('is told by a screen saver, at once when it changes', async () => {
    let active = false
    const saver = await service(session, 'org.gnome.ScreenSaver', {
      '/org/gnome/ScreenSaver GetActive': () => ['b', [active]],
    })
    const lock = lockOf({})
    await lock.begin()
    expect(lock.last()).toBe(false)
    active = true
    saver.send(Message.newSignal('/org/gnome/ScreenSaver', 'org.gnome.ScreenSaver', 'ActiveChanged', 'b', [true]))
    await until('the lock', () => lock.last() === true)
  })

  it('is told by logind, and one that says "locked" is believed', async () => {
    let hint = false
    const login = await service(system, 'org.freedesktop.login1', {
      '/org/freedesktop/login1 GetSession': (body) => ['o', [`/org/freedesktop/login1/session/${body[0]}`]],
      '/org/freedesktop/login1/session/c7 Get': () => ['v', [new Variant('b', hint)]],
    })
    await service(session, 'org.freedesktop.ScreenSaver', {
      '/org/freedesktop/ScreenSaver GetActive': () => ['b', [false]],
    })
    const lock = lockOf({ XDG_SESSION_ID: 'c7' })
    await lock.begin()
    expect(lock.last()).toBe(false)
    hint = true
    login.send(
      Message.newSignal(
        '/org/freedesktop/login1/session/c7',
        'org.freedesktop.DBus.Properties',
        'PropertiesChanged',
        'sa{sv}as',
        ['org.freedesktop.login1.Session', { LockedHint: new Variant('b', true) }, []],
      ),
    )
    await until('the lock', () => lock.last() === true)
  })

  it('a name that only keeps the screen awake tells nothing', async () => {
    await service(session, 'org.freedesktop.ScreenSaver', {})
    const lock = lockOf({})
    await lock.begin()
    expect(lock.last()).toBeNull()
  })
})
