import { join } from 'node:path'
import { Message, MessageType } from '@jellybrick/dbus-next'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Notices, NoticeText } from '../../ports'
import { createBus } from './bus'
import { escapeMarkup } from './markup'
import { createNotices } from './notices'
import { startBus, type TestBus, until } from './private-bus.fixture'

const log = { info: () => {}, warn: () => {}, error: () => {} }
const NAME = 'org.freedesktop.Notifications'
const PATH = '/org/freedesktop/Notifications'

const text = (body: string, actions = ['default', 'approve', 'deny']): NoticeText => ({
  title: 'Change waits',
  body,
  urgency: 'normal',
  actions: actions.map((key) => ({ key, label: key.toUpperCase() })),
})

interface Server {
  readonly shown: { readonly replaces: number; readonly body: string; readonly actions: readonly string[] }[]
  readonly closed: number[]
  signal(member: string, signature: string, body: unknown[]): void
  leave(): Promise<void>
}

let test: TestBus
let notices: Notices
let actions: [string, string][]
let against: string | null
const ends: (() => void)[] = []
beforeEach(async () => {
  test = await startBus()
  actions = []
  against = null
  const bus = createBus({ kind: 'session', env: test.env, log })
  notices = createNotices({ bus, log, icon: null, against: () => against })
  notices.onAction((key, action) => actions.push([key, action]))
  ends.push(() => bus.close())
})
afterEach(async () => {
  for (const end of ends.splice(0)) end()
  await test.stop()
})

/** A notification service that says of itself what it can. `Notify` is answered after `delayMs`; null: never. */
async function server(capabilities: readonly string[], delayMs: number | null = 0): Promise<Server> {
  const connection = await test.connect()
  const shown: Server['shown'] = []
  const closed: number[] = []
  let last = 0
  connection.addMethodHandler((message: Message) => {
    if (message.type !== MessageType.METHOD_CALL || message.interface !== NAME) return false
    const answer = (signature: string, body: unknown[]): boolean => {
      connection.send(Message.newMethodReturn(message, signature, body))
      return true
    }
    switch (message.member) {
      case 'GetCapabilities':
        return answer('as', [capabilities])
      case 'GetServerInformation':
        return answer('ssss', ['test', 'Nomos', '1', '1.2'])
      case 'CloseNotification':
        closed.push(Number(message.body[0]))
        return answer('', [])
      case 'Notify': {
        const [, replaces, , , body, list] = message.body as [string, number, string, string, string, string[]]
        shown.push({ replaces, body, actions: list })
        if (delayMs === null) return true
        last = replaces === 0 ? last + 1 : replaces
        const id = last
        setTimeout(() => answer('u', [id]), delayMs)
        return true
      }
      default:
        return false
    }
  })
  await connection.requestName(NAME)
  return {
    shown,
    closed,
    signal: (member, signature, body) => connection.send(Message.newSignal(PATH, NAME, member, signature, body)),
    async leave() {
      await connection.releaseName(NAME)
    },
  }
}

describe('notices over the bus', () => {
  it('have buttons and escaped marks where the service has them, and neither where it has not', async () => {
    const rich = await server(['actions', 'body-markup', 'persistence'])
    expect(await notices.show('a', text('<b>&</b>'))).toBe(true)
    expect(rich.shown).toEqual([
      {
        replaces: 0,
        body: '&lt;b&gt;&amp;&lt;/b&gt;',
        actions: ['default', 'DEFAULT', 'approve', 'APPROVE', 'deny', 'DENY'],
      },
    ])
    expect(notices.state()).toMatchObject({ available: true, buttons: true })
    await rich.leave()
    await until('the loss', () => !notices.state().available)
    notices.withdraw('a')
    const poor = await server([])
    expect(await notices.show('b', text('<b>'))).toBe(true)
    expect(poor.shown).toEqual([{ replaces: 0, body: '<b>', actions: [] }])
    expect(notices.state()).toMatchObject({ available: true, buttons: false })
  })

  it('take the place of the one before under the same key, and are closed when withdrawn', async () => {
    const one = await server(['actions'])
    await notices.show('a', text('1'))
    await notices.show('b', text('2'))
    await notices.show('a', text('3'))
    expect(one.shown.map(({ replaces }) => replaces)).toEqual([0, 0, 1])
    notices.withdraw('a')
    await until('the withdrawal', () => one.closed.includes(1))
    one.signal('ActionInvoked', 'us', [1, 'approve'])
    one.signal('ActionInvoked', 'us', [2, 'deny'])
    await until('the answer', () => actions.length > 0)
    expect(actions).toEqual([['b', 'deny']])
  })

  it('are closed when they were withdrawn on their way', async () => {
    const slow = await server(['actions'], 150)
    const shown = notices.show('a', text('1'))
    await until('it is on its way', () => slow.shown.length === 1)
    notices.withdraw('a')
    await shown
    await until('the withdrawal', () => slow.closed.includes(1))
  })

  it('hear only what was offered on the very notice, also when it was closed a moment before', async () => {
    const one = await server(['actions'])
    await notices.show('a', text('1', ['default', 'deny']))
    one.signal('ActionInvoked', 'us', [1, 'approve'])
    one.signal('ActionInvoked', 'us', [7, 'deny'])
    one.signal('NotificationClosed', 'uu', [1, 2])
    one.signal('ActionInvoked', 'us', [1, 'deny'])
    await until('the answer', () => actions.length > 0)
    expect(actions).toEqual([['a', 'deny']])
    // Put away: not shown anew by itself, and a new announcement is a new notice.
    await notices.show('a', text('1'))
    expect(one.shown.map(({ replaces }) => replaces)).toEqual([0, 0])
  })

  it('are not shown without a service, by a silent one, or by one that a run has started', async () => {
    expect(await notices.show('a', text('1'))).toBe(false)
    expect(notices.state().sentence).toContain('No notices on this desktop')
    notices.withdraw('a')
    against = 'process 1 belongs to a run of Nomos'
    const untrusted = await server(['actions'])
    expect(await notices.show('b', text('1'))).toBe(false)
    expect(untrusted.shown).toEqual([])
    expect(notices.state().sentence).toContain('belongs to a run')
    notices.withdraw('b')
    await untrusted.leave()
    against = null
    await server(['actions'], null)
    const began = performance.now()
    expect(await notices.show('c', text('1'))).toBe(false)
    expect(performance.now() - began).toBeLessThan(6000)
  }, 20_000)

  it('come again with a new service, and only what still stands', async () => {
    const first = await server(['actions'])
    await notices.show('a', text('1'))
    await notices.show('b', text('2'))
    notices.withdraw('b')
    await first.leave()
    await until('the loss', () => !notices.state().available)
    const second = await server(['actions'])
    await until('it is shown again', () => second.shown.length > 0)
    await new Promise((go) => setTimeout(go, 1500))
    expect(second.shown.map(({ body }) => body)).toEqual(['1'])
    // What the first would say of its numbers counts no more.
    first.signal('ActionInvoked', 'us', [1, 'approve'])
    second.signal('ActionInvoked', 'us', [1, 'deny'])
    await until('the answer', () => actions.length > 0)
    expect(actions).toEqual([['a', 'deny']])
  })
})

it('what stood when Nomos was killed is taken away by the next one', async () => {
  const one = await server(['actions'])
  const memory = join(test.folder, 'notices.json')
  const start = (): Notices => {
    const bus = createBus({ kind: 'session', env: test.env, log })
    ends.push(() => bus.close())
    return createNotices({ bus, log, icon: null, memory, against: () => null })
  }
  const killed = start()
  await killed.show('a', text('1'))
  await killed.show('b', text('2'))
  killed.withdraw('a')
  await until('the withdrawal', () => one.closed.includes(1))
  const next = start()
  await next.show('b', text('2'))
  await until('the dead one is closed', () => one.closed.includes(2))
  expect(one.closed).toEqual([1, 2])
})

it('nothing in a text opens a mark', () => {
  expect(escapeMarkup('a <a href="x">b</a> && c')).toBe('a &lt;a href="x"&gt;b&lt;/a&gt; &amp;&amp; c')
})
