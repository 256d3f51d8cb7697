import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Message, type MessageBus, sessionBus } from '@jellybrick/dbus-next'

/** A session bus for one test: nothing is on it but what the test puts there, and nothing starts by itself. */
export interface TestBus {
  readonly address: string
  readonly folder: string
  /** The environment of whoever is to be on this bus. */
  readonly env: Readonly<Record<string, string>>
  /** A connection of the test, ended with the bus. */
  connect(): Promise<MessageBus>
  ownerOf(name: string): Promise<string | null>
  stop(): Promise<void>
}

/** Ends a child and waits until it is gone. */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((go) => child.once('exit', go))
  child.kill(signal)
  await gone
}

/** Waits until something holds. */
export async function until(what: string, holds: () => Promise<boolean> | boolean, ms = 10_000): Promise<void> {
  const end = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${ms / 1000} s`)
    await new Promise((go) => setTimeout(go, 40))
  }
}

/** Starts one, at a socket of one's choice when it is to be the same again. */
export async function startBus(at?: string): Promise<TestBus> {
  const folder = mkdtempSync(join(tmpdir(), 'nomos-bus-'))
  const socket = at ?? join(folder, 'bus')
  // A socket of before lay in a folder that went with its bus.
  mkdirSync(dirname(socket), { recursive: true })
  const file = join(folder, 'bus.conf')
  writeFileSync(
    file,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=${socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`,
  )
  const child = spawn('dbus-daemon', [`--config-file=${file}`, '--nofork', '--print-address=1'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (text) => resolve(String(text).trim()))
    child.once('exit', (code) => reject(new Error(`dbus-daemon ended with ${code}`)))
  })
  const connections: MessageBus[] = []
  async function connect(): Promise<MessageBus> {
    const bus = sessionBus({ busAddress: address })
    const emitter: NodeJS.EventEmitter = bus
    emitter.on('error', () => {})
    await new Promise<void>((go) => emitter.once('connect', go))
    connections.push(bus)
    return bus
  }
  let own: Promise<MessageBus> | null = null
  return {
    address,
    folder,
    env: { DBUS_SESSION_BUS_ADDRESS: address },
    connect,
    async ownerOf(name) {
      own ??= connect()
      const reply = await (await own)
        .call(
          new Message({
            destination: 'org.freedesktop.DBus',
            path: '/org/freedesktop/DBus',
            interface: 'org.freedesktop.DBus',
            member: 'GetNameOwner',
            signature: 's',
            body: [name],
          }),
        )
        .catch(() => null)
      const owner = reply?.body[0]
      return typeof owner === 'string' ? owner : null
    },
    async stop() {
      for (const bus of connections) bus.disconnect()
      await end(child)
      for (const used of [folder, dirname(socket)]) rmSync(used, { recursive: true, force: true })
    },
  }
}
