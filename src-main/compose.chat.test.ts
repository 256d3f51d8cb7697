import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ModelServer, type ScriptedCall, startModelServer } from '../e2e/support/model-server'
import type { Envelope, ExecutionView, Message, RouteArgument, RouteName, RouteOutput } from '../src-preload/contract'
import { resourcesFolder } from './adapters/system'
import { type Core, createCore, NO_SECRETS } from './compose'

const WINDOW = { surface: 'window' as const, operator: true }

let home: string
let scratch: string
let core: Core
let server: ModelServer
let session: string

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'nomos-chat-'))
  scratch = mkdtempSync(join(tmpdir(), 'chat-'))
  server = await startModelServer()
  core = open()
  await ask('settings.saveModel', { baseUrl: server.url, model: 'scripted', apiKey: null })
  session = (await ask('sessions.create', {})).id
})
afterEach(async () => {
  await core.stop()
  await server.stop()
  rmSync(home, { recursive: true, force: true })
  rmSync(scratch, { recursive: true, force: true })
})

const open = () =>
  createCore({ home, resources: resourcesFolder(), version: '0.0.1', secrets: NO_SECRETS, headless: true })

async function ask<R extends RouteName>(route: R, input: RouteArgument<R>): Promise<RouteOutput<R>> {
  const answer = (await core.dispatch(WINDOW, route, input)) as Envelope<RouteOutput<R>>
  if (!answer.ok) throw Object.assign(new Error(answer.error.message), { code: answer.error.code })
  return answer.value
}

const call = (command: string): ScriptedCall => ({
  arguments: { target: 'local', command, purpose: 'because the test wants it' },
})
const make = (name: string): string => join(scratch, name)
const pending = () => ask('approvals.pending', {})
const itemOf = (view: ExecutionView) => ({ id: view.approval?.id ?? '', digest: view.approval?.digest ?? '' })
const messages = async (): Promise<readonly Message[]> =>
  (await ask('sessions.messages', { id: session, before: null, limit: 500 })).messages
const notices = async (): Promise<readonly string[]> =>
  (await messages()).filter(({ role }) => role === 'notice').map(({ text }) => text ?? '')

/** Sends a message with everything that waits in sight, as the window does. */
async function say(text: string, shown?: readonly ExecutionView[]) {
  return await ask('chat.send', { session, text, shown: (shown ?? (await pending())).map(itemOf) })
}

/** Has the agent ask for these commands, and waits until as many wait. */
async function proposed(commands: readonly string[], waiting = commands.length): Promise<readonly ExecutionView[]> {
  server.push({ kind: 'calls', calls: commands.map(call) })
  await ask('chat.send', { session, text: 'do it for me, would you' })
  await expect.poll(async () => (await pending()).length, { timeout: 15_000 }).toBe(waiting)
  await expect
    .poll(async () => (await ask('app.snapshot', {})).sessions.find(({ id }) => id === session)?.turn)
    .toBe('waiting')
  return await pending()
}

const idle = () =>
  expect
    .poll(async () => (await ask('app.snapshot', {})).sessions.find(({ id }) => id === session)?.turn, {
      timeout: 15_000,
    })
    .toBe('idle')

describe('words of the operator', () => {
  it('approve what the turn just before asked for, are quoted, and the agent goes on by itself, once', async () => {
    const [one] = await proposed([`mkdir ${make('a')}`])
    server.push({ kind: 'text', text: 'It is made.' })
    const answer = await say('OK, go ahead!')
    expect(answer).toMatchObject({
      kind: 'answer',
      sentence: expect.stringContaining('Approved by your words: “mkdir'),
    })
    await idle()
    expect(existsSync(make('a'))).toBe(true)
    const view = await ask('executions.get', { id: one?.id ?? '' })
    expect(view.approval?.settlement).toMatchObject({ by: 'operator', surface: 'chat', words: 'OK, go ahead!' })
    const after = await messages()
    expect(after.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'notice',
      'notice',
      'assistant',
    ])
    expect(after.at(-2)?.text).toMatch(/^Exec finished \(run apr_/)
    expect(server.requests.length).toBe(2)
    const told = JSON.stringify(server.requests[1]?.body.messages)
    expect(told).toContain('approved by the operator with the words')
    expect(told).toContain('OK, go ahead!')
  })

  it('approve several that are not destructive, list them, and say what takes a phrase', async () => {
    await proposed([`mkdir ${make('a')}`, `mkdir ${make('b')}`, `rm -rf ${make('c')}`])
    const { sentence } = await say('yes, do it')
    expect(sentence).toMatch(/Approved by your words: .*\/a.*\/b/)
    expect(sentence).toMatch(/takes the phrase typed on its card: “rm -rf/)
    await expect.poll(() => existsSync(make('a')) && existsSync(make('b'))).toBe(true)
    const waiting = await pending()
    expect(waiting.map(({ risk }) => risk)).toEqual(['destructive'])
    expect((await say('go ahead')).sentence).toMatch(/^Nothing was approved by these words\. Destructive/)
    server.push({ kind: 'text', text: 'Two were made.' })
    await say('no')
    await idle()
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('takes the phrase typed on its card')
  })

  it('reach nothing that the window had not shown, or showed with another digest', async () => {
    const [one] = await proposed([`mkdir ${make('a')}`])
    expect(await say('go ahead', [])).toMatchObject({ kind: 'answer', sentence: expect.stringMatching(/not in sight/) })
    const other = { ...itemOf(one as ExecutionView), digest: '0'.repeat(64) }
    expect((await ask('chat.send', { session, text: 'go ahead', shown: [other] })).sentence).toMatch(/not in sight/)
    expect(existsSync(make('a'))).toBe(false)
    expect((await pending()).length).toBe(1)
  })

  it('never reach the requests of another conversation or the operator’s own', async () => {
    await ask('chat.send', { session, text: `/run local mkdir ${make('own')}` })
    const other = (await ask('sessions.create', {})).id
    server.push({ kind: 'text', text: 'I see.' })
    const outcome = await ask('chat.send', { session: other, text: 'go ahead', shown: (await pending()).map(itemOf) })
    expect(outcome).toMatchObject({ kind: 'message', sentence: expect.stringMatching(/approved nothing.*mkdir/) })
    server.push({ kind: 'text', text: 'I see.' })
    expect(await say('yes')).toMatchObject({ kind: 'message', sentence: expect.stringMatching(/approved nothing/) })
    await idle()
    expect(existsSync(make('own'))).toBe(false)
    expect((await pending()).length).toBe(1)
  })

  it('with a condition grant nothing, are asked again, and reach the agent once it goes on', async () => {
    const waiting = await proposed([`mkdir ${make('a')}`, `mkdir ${make('b')}`])
    expect(await say(`yes but not the second one`)).toMatchObject({
      kind: 'queued',
      sentence: expect.stringMatching(/Nothing was approved.*Still waiting: “mkdir/),
    })
    expect((await pending()).length).toBe(2)
    server.push({ kind: 'text', text: 'Only the first, then.' })
    for (const view of waiting) await ask('approvals.answer', { ...itemOf(view), answer: { kind: 'deny', note: null } })
    await idle()
    const last = server.requests.at(-1)?.body.messages ?? []
    expect(JSON.stringify(last.at(-1))).toContain('yes but not the second one')
    expect(last.filter(({ role }) => role === 'tool').length).toBe(2)
    expect(existsSync(make('a'))).toBe(false)
  })

  it('deny, and leave waiting', async () => {
    await proposed([`mkdir ${make('a')}`])
    expect(await say('not yet')).toMatchObject({
      kind: 'answer',
      sentence: expect.stringMatching(/Left as it is\. Still waiting/),
    })
    expect((await pending()).length).toBe(1)
    server.push({ kind: 'text', text: 'As you wish.' })
    expect((await say('No.')).sentence).toMatch(/^Denied: “mkdir/)
    await idle()
    expect(existsSync(make('a'))).toBe(false)
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('The operator said no')
  })

  it('that come too late are told who was first', async () => {
    const [one] = await proposed([`mkdir ${make('a')}`])
    server.push({ kind: 'hang' })
    await core.dispatch({ surface: 'notification', operator: true }, 'approvals.answer', {
      ...itemOf(one as ExecutionView),
      answer: { kind: 'deny', note: null },
    })
    expect(await say('go ahead', [one as ExecutionView])).toMatchObject({
      kind: 'answer',
      sentence: expect.stringMatching(/Nothing was approved.*denied already, by the operator on a notification/),
    })
    expect(existsSync(make('a'))).toBe(false)
    await ask('chat.stop', { session })
  })
})

describe('/approve', () => {
  const waitsFor = async (command: string): Promise<ExecutionView> => {
    await ask('chat.send', { session, text: `/run local ${command}` })
    const found = (await pending()).find((view) => view.command === command)
    if (found === undefined) throw new Error(`${command} should wait`)
    return found
  }
  const approve = (text: string) => ask('chat.send', { session, text: `/approve ${text}` })

  it('takes an id or its beginning, once, and says what became of one that is settled', async () => {
    const one = await waitsFor(`mkdir ${make('a')}`)
    const id = itemOf(one).id
    expect((await approve(`${id.slice(0, -3)} allow-once`)).sentence).toMatch(/^Approved once: “mkdir/)
    await expect.poll(() => existsSync(make('a'))).toBe(true)
    await expect(approve(`${id} deny`)).rejects.toThrow(/approved already, by the operator in the chat/)
    expect((await ask('executions.get', { id: one.id })).approval?.settlement?.words).toBe(
      `/approve ${id.slice(0, -3)} allow-once`,
    )
  })

  it('refuses what may be several, what is nothing, what nobody was asked about, and what takes a phrase', async () => {
    const [one, two] = [await waitsFor(`mkdir ${make('a')}`), await waitsFor(`rm -rf ${make('b')}`)]
    const common = itemOf(one).id.slice(0, 8)
    expect(itemOf(two).id.startsWith(common)).toBe(true)
    await expect(approve(`${common} allow-once`)).rejects.toThrow(/may be several/)
    await expect(approve('apr_zzzzzzzz deny')).rejects.toThrow(/There is no request/)
    await expect(approve(`${itemOf(two).id} allow-once`)).rejects.toThrow(/typed phrase/)
    await expect(approve(`${itemOf(two).id} allow-always`)).rejects.toThrow(/never allowed for always/)
    const read = await ask('executions.request', { target: 'local', command: 'uname', purpose: null, session })
    await expect(approve(`${read.id} allow-once`)).rejects.toThrow(/waits for no answer/)
    expect((await pending()).length).toBe(2)
  })

  it('allows always with an end', async () => {
    const one = await waitsFor(`mkdir -p ${make('a')}`)
    expect((await approve(`${itemOf(one).id} allow-always --for 2h`)).sentence).toMatch(/run unasked on local until/)
    await expect.poll(() => existsSync(make('a'))).toBe(true)
    const again = await ask('executions.request', {
      target: 'local',
      command: `mkdir -p ${make('a')}`,
      purpose: null,
      session,
    })
    expect(again.decision.outcome).toBe('auto')
    const list = await ask('policy.inspect', { agent: 'main', target: 'local', session })
    expect(JSON.stringify(list)).toContain('"expiresAt":1')
  })
})

describe('an agent that is refused', () => {
  it('is stopped after the third no to the same, however it is said', async () => {
    const command = `mkdir ${make('a')}`
    await proposed([command])
    for (let n = 1; n <= 3; n++) {
      server.push({ kind: 'calls', calls: [call(command)] })
      await expect.poll(async () => (await pending()).length).toBe(1)
      await say('no')
    }
    await idle()
    expect((await notices()).at(-1)).toMatch(/asked 3 times for what was not let through/)
    expect(server.requests.length).toBe(3)
  })

  it('is offered nothing that an earlier run of the same command had shown', async () => {
    const command = `mkdir ${make('a')} && echo a-word-of-the-first-run`
    await proposed([command])
    server.push({ kind: 'text', text: 'Made.' })
    await say('go ahead')
    await idle()
    await proposed([command])
    server.push({ kind: 'text', text: 'Not again, then.' })
    const before = server.requests.length
    await say('no')
    await idle()
    const results = (request: number): readonly string[] =>
      (server.requests[request]?.body.messages ?? [])
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => content ?? '')
    expect(results(before - 1).join()).toContain('a-word-of-the-first-run')
    expect(results(before).join()).not.toContain('output (data')
    expect(results(before)[0]).toMatch(/denied later in this conversation/)
    expect(results(before)[1]).toMatch(/state: denied/)
  })

  it('ends the turn when nobody speaks in between', async () => {
    const command = `mkdir ${make('a')}`
    await proposed([command])
    for (let n = 0; n < 3; n++) {
      server.push({ kind: 'calls', calls: [call(command)] })
      await expect.poll(async () => (await pending()).length).toBe(1)
      await ask('approvals.answer', {
        ...itemOf((await pending())[0] as ExecutionView),
        answer: { kind: 'deny', note: null },
      })
    }
    await idle()
    expect((await notices()).at(-1)).toMatch(/asked 3 times for what was not let through/)
    expect(server.requests.length).toBe(3)
    expect((await pending()).length).toBe(0)
  })
})
